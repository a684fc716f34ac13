"""The row of the kind `email`: its fields, and the sending of a mail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from email.message import EmailMessage
from typing import Final, NamedTuple

import trio

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.email.letter import LIMITS, Envelope, letter_of, question_of
from actors.destination_kinds.email.replies import answer_of
from actors.destination_kinds.email.server import MAILTO, MailServer, recipient_of
from actors.destination_kinds.email.session import Login, Session
from actors.destination_kinds.fields import LANGUAGE, AddressField, for_people
from actors.destination_kinds.kind import Admitted, Consent, DestinationKind, Outlet
from actors.destination_kinds.writing import written
from actors.egress.failures import Blame, LookFailed
from actors.errors import UrlRefused
from actors.notification.reading import notification_of
from actors.notification.speech import NO_OTHER, Speech, Voice
from actors.settings import Settings
from actors.world import World
from storage.records.destination import EMAIL, LINK, Destination
from storage.sql.storage import Storage

WITHIN: Final = 60.0
"""Seconds for a whole session: mail servers inspect a mail before they accept it."""
_TOKEN = 20


class Mail(NamedTuple):
    """The way out for mail. login: called for each session, as tokens expire; or None. public: our own address."""

    server: MailServer | None
    login: Callable[[], Awaitable[Login | None]]
    public: str


def email_kind(mail: Mail, speech: Speech = NO_OTHER) -> DestinationKind:
    """Return the kind for mail."""

    def voice_of(destination: Destination) -> Voice:
        return speech.voice(destination.values.get(LANGUAGE, ""))

    async def admit(text: str, world: World, storage: Storage, settings: Settings) -> Admitted:
        if mail.server is None:
            says = "no mail server is set: see mail_server and mail_from in docs/mail.md"
            raise UrlRefused("url-mail", says)
        recipient = recipient_of(text)
        return Admitted(MAILTO + recipient, recipient)

    async def send(outlet: Outlet, destination: Destination, id: str, body: bytes, world: World) -> Answer:
        server = _needed(mail)
        voice = voice_of(destination)
        told = await written(world, LIMITS, destination.values, notification_of(id, body, voice))
        thread = f"{told.items[0].source}.{destination.id}" if told.items and not told.is_digest else ""
        envelope = _envelope(mail, server, destination, world)._replace(thread=thread)
        # Two destinations may have one address: each gets its own mail.
        letter = letter_of(told._replace(id=f"{id}.{destination.id}"), envelope, voice)
        return await _handed_over(mail, server, outlet, letter, envelope)

    async def invite(outlet: Outlet, destination: Destination, about: str, world: World) -> Answer:
        id = f"{destination.id}.{world.entropy(6).hex()}"
        server = _needed(mail)
        envelope = _envelope(mail, server, destination, world)
        question = question_of(id, envelope, about, voice_of(destination))
        return await _handed_over(mail, server, outlet, question, envelope)

    return DestinationKind(
        id=EMAIL,
        label="Email",
        family="mail",
        where="Write the address of one person or list. It gets one mail that asks, and more once it has agreed.",
        documentation="https://www.rfc-editor.org/rfc/rfc5321",
        address=AddressField(label="Address", example="anna@example.com"),
        fields=for_people(speech.codes),
        admit=admit,
        new_secret=None,
        send=send,
        consent=Consent(LINK, lambda world: world.entropy(_TOKEN).hex(), invite),
        limits=LIMITS,
        speech=speech,
    )


def _needed(mail: Mail) -> MailServer:
    """Return the server. Raises LookFailed if the setting has been removed since."""
    if mail.server is None:
        raise LookFailed(Blame.LOCAL, "no mail server is set any more: see mail_server in docs/mail.md")
    return mail.server


def _envelope(mail: Mail, server: MailServer, destination: Destination, world: World) -> Envelope:
    stop = f"{mail.public}/mail/{destination.id}/{destination.values.get(LINK, '')}"
    return Envelope(server.sender, recipient_of(destination.url), world.now(), stop)


async def _handed_over(
    mail: Mail, server: MailServer, outlet: Outlet, letter: EmailMessage, envelope: Envelope
) -> Answer:
    """Hand a mail to the server. Raises LookFailed."""
    login, start = await mail.login(), trio.current_time()
    dialer = outlet.dial_plain if server.security == "none" else outlet.dial
    with trio.move_on_after(WITHIN):
        stream = await dialer.connect(server.host, server.port)
        session = Session(stream, lambda stream: dialer.secure(stream, server.host, ()))
        try:
            reply = await session.transmit(
                letter,
                envelope.sender,
                envelope.recipient,
                security=server.security,
                login=login,
                name=_name(mail.public),
            )
        finally:
            await trio.aclose_forcefully(session.stream)
        return answer_of(reply, round((trio.current_time() - start) * 1000))
    raise LookFailed(Blame.REMOTE_TRANSIENT, f"the mail server was not done after {WITHIN:g} s")


def _name(public: str) -> str:
    """Return our name for EHLO: the host's name, or an address in brackets (RFC 5321, 4.1.3)."""
    host = public.partition("://")[2].partition("/")[0]
    host = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
    if host.startswith("["):
        return f"[IPv6:{host[1:-1]}]"
    return f"[{host}]" if host.replace(".", "").isdigit() else host or "localhost"
