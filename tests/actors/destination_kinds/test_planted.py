"""Planted bugs in notifications: a messenger, a mail server or a reader of the output notices each."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import httpx
import pytest
import trio
from msgspec.structs import replace

from actors.delivery import actor
from actors.destination_kinds import email, webhook
from actors.destination_kinds import email as session
from actors.destination_kinds import kind as templating
from actors.destination_kinds import kind as values
from actors.destination_kinds.contract import Answer
from actors.destination_kinds.kind import Values
from actors.destination_kinds.messengers import kind
from actors.notification import dialects, fitting, headline
from actors.notification.dialects import DIALECTS
from actors.notification.message_language import ENGLISH, MessageLanguage
from api.nouns import destinations
from storage.records.destination import Destination
from tests.actors.destination_kinds.email.test_email import Parish
from tests.actors.destination_kinds.messengers.peers import PEERS, code
from tests.actors.destination_kinds.messengers.test_messengers import Square
from tests.actors.test_delivering import HOUR, Town, asked
from tests.support.memory_network import Answer as Answered

Plant = Callable[[], AbstractContextManager[Any]]
TITLE = "Fares rise: 5 < 6 \u202eesir"


async def told(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    await asked(client, "/v1/sources", url="http://news.test/feed")
    alert = await asked(client, "/v1/alerts", filter_query="")
    return await asked(client, f"/v1/alerts/{alert['id']}/destinations", **body)


async def in_a_chat() -> Sequence[str]:
    """Telegram: it rate-limits, refuses a message, repeats the token in an error, and removes the bot."""
    peer, wrong = PEERS["telegram"], list[str]()
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.slow, peer.good)
        async with town.running() as client:
            made = await told(client, kind="telegram", url=peer.url, options=dict(peer.options))
            where = f"/v1/destinations/{made['id']}"

            async def news(title: str, *replies: Answered) -> dict[str, Any]:
                town.answers = list(replies)
                town.titles.append(title)
                await trio.sleep(3 * HOUR)
                line: dict[str, Any] = (await client.get(f"{where}/deliveries")).json()[0]
                return line

            if (await news(TITLE, peer.slow, peer.good))["result"] != "sent":
                wrong.append("lost")
            if len(town.texts) != 2 or town.texts[0] != town.texts[1]:
                wrong.append("not repeated as it was")
            elif town.times[1] - town.times[0] < peer.slow_for - 0.01:
                wrong.append("not as slow as it was asked to be")
            if "5 &lt; 6" not in town.texts[0] or "\u202e" in town.texts[0]:
                wrong.append("a page's words act")
            assert peer.refused is not None
            if (await news("Two", peer.refused, peer.good))["result"] != "given_up":
                wrong.append("refused, and sent again")
            echo = Answered(500, b"no such path: /bot123:k3y0fTelegram/sendMessage")
            line = await news("Three", echo, peer.good)
            everything = json.dumps([line, (await client.get(f"{where}/deliveries")).json()])
            everything += json.dumps((await client.get(where)).json())
            if "k3y0f" in everything:
                wrong.append("a secret is shown")
            line = await news("Four", peer.revoked)
            if ((await client.get(where)).json()["state"], line["result"]) != ("disabled", "given_up"):
                wrong.append("revoked, and nobody hears of it")
    return wrong


async def with_an_error_inside() -> Sequence[str]:
    """WeCom answers everything with 200, and limits a text to 2,048 bytes."""
    peer, wrong = PEERS["wecom"], list[str]()
    async with trio.open_nursery() as nursery:
        town = Square(nursery, peer, peer.good)
        async with town.running() as client:
            made = await told(client, kind="wecom", url=peer.url, delivery_mode="hourly")
            if "k3y0f" in json.dumps(made):
                wrong.append("an address is shown whole")
            town.titles += [f"Notice number {number} of the harbour" for number in range(60)]
            await trio.sleep(3 * HOUR)
            (text,) = town.texts or ("",)
            shown = text.count("Notice number")
            if f"and {60 - shown} more events" not in text:
                wrong.append("what is left out is not said")
            town.answers = [code(93000, "invalid webhook url")]
            town.titles.append("Late")
            await trio.sleep(3 * HOUR)
            if (await client.get(f"/v1/destinations/{made['id']}")).json()["state"] != "disabled":
                wrong.append("an error inside is taken for success")
    return wrong


async def by_mail() -> Sequence[str]:
    """Anna confirms; a server greylists; then she unsubscribes."""
    wrong = list[str]()
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            made = await town.told(client)
            where = f"/v1/destinations/{made['id']}"
            if not town.office.mails:
                return ["nobody was asked"]
            if "STARTTLS" not in town.office.commands:
                wrong.append("said in the clear")
            link = town.link()
            await town.read(link)
            town.titles.append("Too early")
            await trio.sleep(2 * HOUR)
            if len(town.office.mails) != 1:
                wrong.append("told before she agreed")
            await town.post(link, wish="agree")
            town.office.said["recipient"] = [b"451 4.7.1 greylisted\r\n"]
            town.titles.append("Fares\r\nBcc: all@example.com")
            await trio.sleep(2 * HOUR)
            if len(town.office.mails) != 2 or (await client.get(where)).json()["state"] != "active":
                wrong.append("greylisting is taken for a refusal")
            else:
                mail = town.office.mails[1][2]
                if mail["Bcc"] is not None:
                    wrong.append("a title adds a header")
                if made["id"] not in str(mail["Message-ID"]):
                    wrong.append("a repetition is not known")
            await town.post(link, **{"List-Unsubscribe": "One-Click"})
            town.titles.append("Too late")
            await trio.sleep(2 * HOUR)
            if len(town.office.mails) > 2:
                wrong.append("told after she stopped it")
    return wrong


async def by_webhook() -> Sequence[str]:
    """A receiver that requires a token."""
    wrong = list[str]()
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            made = await told(client, url="https://hook.test/in", options={"token": "k3y0fHook"})
            town.titles.append("News")
            await trio.sleep(2 * HOUR)
            if [arrival.headers.get("authorization") for arrival in town.arrived] != ["Bearer k3y0fHook"]:
                wrong.append("not let in")
            if any("webhook-signature" not in arrival.headers for arrival in town.arrived):
                wrong.append("not signed")
            if "k3y0f" in json.dumps(made):
                wrong.append("a secret is shown")
    return wrong


def _open(found: Values) -> Values:
    return Values({**found.options, **{name: one.value for name, one in found.private.items()}}, {})


def _whole(kind: object, url: str) -> str:
    return url


def _told_at_once(hook: Destination, *_: object) -> Destination:
    return replace(hook, confirmed=True)


NEVER = property(lambda it: False)
CHECKED, READ, TEXT = values.validated, headline.notification_of, fitting.text_of


def _another_each_time() -> AbstractContextManager[Any]:
    count = iter(range(10**6))

    def read(id: str, body: bytes, voice: MessageLanguage = ENGLISH, *more: Any) -> Any:
        found = READ(id, body, voice, *more)
        (item,) = found.items
        return found._replace(title=f"{found.title} ({next(count)})", items=(item,))

    return patch.object(templating, "notification_of", read)


def _agreed_by_looking() -> AbstractContextManager[Any]:
    find = destinations.of_link

    async def wrong(call: Any, id: str, secret: str) -> Any:
        await destinations.agree(call, id, secret)
        return await find(call, id, secret)

    return patch.object(destinations, "of_link", wrong)


def _in_the_clear() -> AbstractContextManager[Any]:
    begin = session.Session._open

    async def wrong(self: Any, security: Any, name: str) -> None:
        await begin(self, "none", name)

    return patch.object(session.Session, "_open", wrong)


def _ids_cut() -> AbstractContextManager[Any]:
    begun = email._new_message

    def wrong(envelope: Any, subject: str, id: str) -> Any:
        return begun(envelope, subject, id.partition(".")[0])

    return patch.object(email, "_new_message", wrong)


PLANTED: Sequence[tuple[str, Callable[[], Awaitable[Sequence[str]]], Plant]] = (
    ("an error inside is success", with_an_error_inside, lambda: patch.object(kind, "_matches", lambda *_: False)),
    (
        "revoked is a failure like any other",
        in_a_chat,
        lambda: patch.object(Answer, "gone", NEVER),
    ),
    ("refused is tried again", in_a_chat, lambda: patch.object(Answer, "refused", NEVER)),
    ("a wish to wait is not read", in_a_chat, lambda: patch.object(kind, "_seconds", lambda *_: None)),
    ("slow is a failure like any other", in_a_chat, lambda: patch.object(kind, "_at", lambda *_: None)),
    ("an answer is kept as it is", in_a_chat, lambda: patch.object(actor, "masked", lambda answer, hook: answer)),
    (
        "an address is no secret",
        with_an_error_inside,
        lambda: patch.object(values, "visible_address", lambda k, u: u),
    ),
    (
        "private values lie open",
        by_webhook,
        lambda: patch.object(destinations, "validated", lambda *given: _open(CHECKED(*given))),
    ),
    (
        "HTML of a page stands",
        in_a_chat,
        lambda: patch.dict(DIALECTS, {"telegram": DIALECTS["telegram"]._replace(escape=lambda text: text)}),
    ),
    ("overrides of direction stand", in_a_chat, lambda: patch.object(dialects, "_CONTROLS", dialects._SPACES)),
    (
        "a text is as long as it is",
        with_an_error_inside,
        lambda: patch.object(fitting, "text_of", lambda told, name, most, *more, **said: TEXT(told, name, 10**6)),
    ),
    ("what is left out is not counted", with_an_error_inside, lambda: patch.object(fitting, "_omitted", lambda *_: 1)),
    ("a repetition is another message", in_a_chat, _another_each_time),
    ("nobody is asked", by_mail, lambda: patch.object(destinations, "_unasked", _told_at_once)),
    ("to look is to agree", by_mail, _agreed_by_looking),
    ("greylisting is a refusal", by_mail, lambda: patch.object(session, "_verdict", lambda reply: "revoked")),
    ("mail goes out in the clear", by_mail, _in_the_clear),
    ("stopping is not heard", by_mail, lambda: patch.object(destinations, "decline", destinations.of_link)),
    ("a mail's id is the event's alone", by_mail, _ids_cut),
    ("the token is left out", by_webhook, lambda: patch.object(webhook, "access_headers", lambda values: {})),
)


@pytest.mark.parametrize("scenario", [in_a_chat, with_an_error_inside, by_mail, by_webhook])
async def test_without_a_bug_nothing_is_wrong(
    autojump_clock: object, scenario: Callable[[], Awaitable[Sequence[str]]]
) -> None:
    assert list(await scenario()) == []


@pytest.mark.parametrize(("name", "scenario", "plant"), PLANTED, ids=[name for name, *_ in PLANTED])
async def test_a_planted_bug_is_noticed(
    autojump_clock: object, name: str, scenario: Callable[[], Awaitable[Sequence[str]]], plant: Plant
) -> None:
    with plant():
        wrong = []
        try:
            wrong = list(await scenario())
        except* AssertionError as refused:  # a peer could not parse a request
            wrong = [str(refused)]
    assert wrong != [], name
