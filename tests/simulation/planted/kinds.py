"""Bugs in notifications for people; finding them takes a correspondence with messengers and a mail server."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.delivery.actor import Sender
from actors.destination_kinds import email
from actors.destination_kinds import email as session
from actors.destination_kinds.contract import Answer
from actors.destination_kinds.email import Session, mail_message_of
from actors.destination_kinds.messengers import kind
from actors.destination_kinds.messengers.kind import request_of
from actors.egress.failures import CheckFailed
from actors.notification import fitting
from api.nouns import destinations
from storage.records.destination import Destination

Plant = AbstractContextManager[Any]
_NEVER = property(lambda answer: False)


def errors_inside_are_success() -> Plant:
    """A 200 counts as success even with an error in its body."""
    return patch.object(kind, "_matches", lambda *_: False)


def revoked_is_a_failure() -> Plant:
    """A revoked token is retried again and again."""
    return patch.object(Answer, "gone", _NEVER)


def refused_is_tried_again() -> Plant:
    """A permanent refusal is retried."""
    return patch.object(Answer, "refused", _NEVER)


def own_wishes_unread() -> Plant:
    """The wait is read from a header only, and not from the messenger's own field."""
    return patch.object(kind, "_seconds", lambda *_: None)


def unreadable_is_success() -> Plant:
    """A cut-off answer counts by its status."""
    right = Sender.attempt

    async def wrong(self: Sender, destination: Destination, id: str, body: bytes) -> Answer:
        answer = await right(self, destination, id, body)
        return answer._replace(status=200, verdict="delivered") if answer.timeout else answer

    return patch.object(Sender, "attempt", wrong)


def another_id_each_time() -> Plant:
    """A messenger that recognises duplicates gets another id with each attempt."""

    def wrong(messenger: Any, address: str, values: Any, told: Any, now: Any) -> Any:
        return request_of(messenger, address, values, told._replace(id=f"{told.id[:-6]}{now % 10**6:06}"), now)

    return patch.object(kind, "request_of", wrong)


def other_words_each_time() -> Plant:
    """A retry contains its own time."""

    def wrong(messenger: Any, address: str, values: Any, told: Any, now: Any) -> Any:
        return request_of(messenger, address, values, told._replace(title=f"{told.title} ({now})"), now)

    return patch.object(kind, "request_of", wrong)


def omissions_unreported() -> Plant:
    """A digest without room for all events does not mention the rest."""
    return patch.object(fitting, "_footer", lambda *_: [])


def mails_of_one_id() -> Plant:
    """All mails of a destination have one id, so that a mailbox shows the first alone."""

    def wrong(told: Any, envelope: Any, voice: Any) -> Any:
        return mail_message_of(told._replace(id=told.id.rpartition(".")[2] + ".x"), envelope, voice)

    return patch.object(email, "mail_message_of", wrong)


def cut_off_is_handed_over() -> Plant:
    """A mail counts as sent when the server hangs up instead of answering."""
    right = Session.submit

    async def wrong(self: Session, *given: Any, **named: Any) -> session.Reply:
        try:
            return await right(self, *given, **named)
        except CheckFailed:
            return session.Reply(250, b"surely", "content")

    return patch.object(Session, "submit", wrong)


def greylisting_is_a_refusal() -> Plant:
    """Greylisting counts as a refusal."""
    return patch.object(session, "_verdict", lambda reply: "refused" if reply.code >= 400 else "again")


def full_is_gone() -> Plant:
    """A full mailbox counts as a missing one."""
    right = session._verdict

    def wrong(reply: session.Reply) -> Any:
        return "revoked" if reply.stage == "recipient" and reply.code >= 500 else right(reply)

    return patch.object(session, "_verdict", wrong)


def mails_unconfirmed() -> Plant:
    """A mail destination needs no confirmation."""

    def wrong(destination: Destination, *_: Any) -> Destination:
        return replace(destination, confirmed=True)

    return patch.object(destinations, "_unasked", wrong)
