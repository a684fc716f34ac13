"""Mail through the whole service: requested, confirmed, sent, refused, stopped."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
import lxml.html
import pytest
import trio

from actors.destination_kinds.email import Login, Mail, MailServer, recipient_of, server_of
from actors.destination_kinds.messengers.messenger import built_in
from actors.destination_kinds.table import kinds_of
from actors.errors import UrlRefused
from actors.language.sentences import message_languages
from actors.recorder.actor import signing_keys
from actors.settings import Settings
from actors.system import System
from api.server.server import serve
from extras.migrate.whole.reading import arrived, moved
from supervision import ChildSpec
from tests.actors.destination_kinds.email.post_office import PostOffice
from tests.actors.test_delivering import HOUR, Town, asked
from tests.api.house import BASE_URL, FakeChild, FakeRegistry, House

SENDER = "watch@sanderling.test"
SERVER = MailServer("mail.test", 587, "starttls", SENDER)


class Parish(Town):
    """A town with a mail server."""

    def __init__(self, nursery: trio.Nursery, server: MailServer | None = SERVER, login: Login | None = None) -> None:
        super().__init__(nursery)
        self.office = PostOffice()
        for port in (25, 465, 587):
            self.network.add("mail.test", "93.184.216.40", self.office.serve, port)
        self.mail, self.login = server, login
        self.logged: list[dict[str, Any]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[httpx.AsyncClient]:
        async def login() -> Login | None:
            return self.login

        keys = await signing_keys(self.world, self.storage)
        system = System(
            self.world,
            Settings(base_url=BASE_URL),
            self.storage,
            keys,
            lambda context: [ChildSpec("web", partial(serve, context))],
            kinds=kinds_of(built_in(), Mail(self.mail, login, BASE_URL), languages=message_languages("en")),
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(system.run)
            await trio.sleep(1)
            house = House(system.context, self.storage, FakeRegistry(), self.listener, FakeChild())
            self.house = house
            async with await house.client() as client:
                yield client
            nursery.cancel_scope.cancel()

    async def told(self, client: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
        """Watch the feed; return Anna's destination, which she has not confirmed."""
        await asked(client, "/v1/sources", url="http://news.test/feed")
        alert = await asked(client, "/v1/alerts", filter_query="", name="Fares of the ferry")
        body = {"kind": "email", "url": "Anna@Bücher.example"} | more
        return await asked(client, f"/v1/alerts/{alert['id']}/destinations", **body)

    def link(self) -> str:
        """Return the path of the link in the newest mail."""
        text = self.office.mails[-1][2].get_body(("plain",))
        assert text is not None
        (link,) = re.findall(rf"{BASE_URL}(/mail/\S+)", text.get_content())
        return str(link)

    async def post(self, path: str, **fields: str) -> httpx.Response:
        """Post a form as a browser or a mail service does, without cookie or token."""
        async with self.house.stranger(Origin="https://mail.example", Connection="close") as somebody:
            return await somebody.post(path, data=fields)

    async def read(self, path: str) -> str:
        async with self.house.stranger(Connection="close") as somebody:
            answer = await somebody.get(path)
            return " ".join(lxml.html.fromstring(answer.text).text_content().split())


async def test_a_swedish_recipient_gets_question_and_mails_in_swedish(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            await town.told(client, options={"language": "sv"})
            question = town.office.mails[0][2]
            assert question["Subject"] == "Vill du ha de här mejlen?"
            assert "det som bevakningen ”Fares of the ferry” träffar" in question.get_content()
            await town.post(town.link(), wish="agree")
            town.titles.append("New fares")
            await trio.sleep(2 * HOUR)
            mail = town.office.mails[1][2]
            text = mail.get_body(("plain",)).get_content()
            assert mail["Subject"] == "New fares", "what a feed wrote stays as it is"
            assert "Du får det här för att du har sagt ja till det. Sluta få det:" in text
            assert "Sluta få mejlen" in mail.get_body(("html",)).get_content()


async def test_an_unknown_language_is_refused(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="", name="Fares")
            body = {"kind": "email", "url": "anna@example.com", "options": {"language": "tlh"}}
            answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json=body)
            assert answer.status_code == 422 and answer.json()["errors"][0]["location"] == "body.options.language"


async def test_no_mail_is_sent_before_consent_or_after_unsubscribing(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            made = await town.told(client)
            where = f"/v1/destinations/{made['id']}"
            assert (made["url"], made["needs_agreement"], made["invited"]["result"]) == (
                "mailto:Anna@xn--bcher-kva.example",
                True,
                "sent",
            )
            ((sender, recipient, question),) = town.office.mails
            assert (sender, recipient) == (SENDER, "Anna@xn--bcher-kva.example")
            assert question["Subject"] == "Do you want these mails?" and "Fares of the ferry" in question.get_content()
            assert "STARTTLS" in town.office.commands and town.network.secured == ["mail.test"]
            town.titles.append("Too early")
            await trio.sleep(2 * HOUR)
            assert len(town.office.mails) == 1
            refused = await client.patch(where, json={"enabled": True})
            assert refused.status_code == 409 and "not agreed yet" in refused.text

            link = town.link()
            assert "Do you want these mails?" in await town.read(link)
            assert "This link no longer works" in await town.read(link[:-1] + "x")
            assert (await town.post(link[:-1] + "x", wish="agree")).status_code == 404
            assert len(town.office.mails) == 1  # opening the page confirms nothing
            assert "You get these mails" in (await town.post(link, wish="agree")).text
            town.titles.append("New fares: <b>31</b> kr\r\nBcc: all@example.com")
            await trio.sleep(2 * HOUR)
            assert len(town.office.mails) == 2
            mail = town.office.mails[1][2]
            assert mail["Subject"] == "New fares: 31 kr Bcc: all@example.com" and mail["Bcc"] is None
            assert mail["To"] == recipient and mail["From"] == f"Sanderling <{SENDER}>"
            assert mail["List-Unsubscribe"] == f"<{BASE_URL}{link}>"
            assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
            assert mail["Auto-Submitted"] == "auto-generated"
            events = (await client.get("/v1/events")).json()["events"]
            event = next(each for each in events if each["title"].startswith("New fares"))
            assert mail["Message-ID"] == f"<{event['id']}.{made['id']}@sanderling.test>"
            assert mail["References"] == f"<{event['source_id']}.{made['id']}@sanderling.test>"
            raw = town.office.raw[1].decode()  # mail programs find no header inside an encoded word
            assert f"\r\nList-Unsubscribe: <{BASE_URL}{link}>\r\n" in raw
            assert f"\r\nMessage-ID: <{event['id']}.{made['id']}@sanderling.test>\r\n" in raw
            assert f"\r\nReferences: <{event['source_id']}.{made['id']}@sanderling.test>\r\n" in raw
            page = mail.get_body(("html",))
            assert page is not None and f'href="{BASE_URL}{link}"' in page.get_content()

            stopped = await town.post(link, **{"List-Unsubscribe": "One-Click"})
            assert stopped.status_code == 200
            assert (await client.get(where)).json()["state"] == "disabled"
            assert "You get no more of these mails" in await town.read(link)
            town.titles.append("Too late")
            await trio.sleep(2 * HOUR)
            assert len(town.office.mails) == 2
            secret = link.rpartition("/")[2]
            everything = json.dumps([made, (await client.get(where)).json()])
            assert secret not in everything


@pytest.mark.parametrize(
    ("stage", "reply", "status", "result", "state", "says"),
    [
        ("recipient", b"550 5.1.1 no such user\r\n", 550, "given_up", "disabled", "accepts no mail for this address"),
        ("recipient", b"451 4.7.1 greylisted, come back\r\n", 451, "retry", "active", "451 4.7.1 greylisted"),
        ("recipient", b"552 5.2.2 mailbox full\r\n", 552, "retry", "active", "mailbox full"),
        ("data", b"554 no\r\n", 554, "given_up", "active", "does not take this mail"),
        ("content", b"550 5.7.1 looks like spam\r\n", 550, "given_up", "active", "does not take this mail"),
        ("content", b"452 4.3.1 no room\r\n", 452, "retry", "active", "452 4.3.1"),
        ("content", b"", None, "retry", "active", "closed the connection"),
        ("sender", b"553 5.7.1 not yours\r\n", None, "retry", "active", "takes no mail from mail_from"),
        ("login", b"535 5.7.8 bad credentials\r\n", None, "retry", "active", "refuses our login"),
        ("hello", b"421 4.3.2 going down\r\n", None, "retry", "active", "421 4.3.2"),
        ("greeting", b"554 go away\r\n", None, "retry", "active", "554 go away"),
        ("greeting", b"SSH-2.0-OpenSSH_9.2\r\n", None, "retry", "active", "not a mail server"),
        ("greeting", b"220-" + b"x" * 5000, None, "retry", "active", "not a mail server"),
        ("recipient", "450 4.2.0 på väg\r\n".encode(), 450, "retry", "active", "450 4.2.0 på väg"),
        ("tls", b"220 go\r\n250 smuggled\r\n", None, "retry", "active", "sent data between STARTTLS and TLS"),
    ],
)
async def test_the_mail_servers_reply_decides_a_mails_outcome(
    autojump_clock: object,
    stage: str,
    reply: bytes,
    status: int | None,
    result: str,
    state: str,
    says: str,
) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery, login=Login("watch", "k3y0fMail"))
        async with town.running() as client:
            made = await town.told(client)
            await town.post(town.link(), wish="agree")
            town.office.said[stage] = [reply]
            town.titles.append("News")
            await trio.sleep(HOUR)
            where = f"/v1/destinations/{made['id']}"
            lines = (await client.get(f"{where}/deliveries")).json()
            first = lines[-1]
            assert (first["status_code"], first["result"]) == (status, result), first
            assert says in first["error"]
            assert (await client.get(where)).json()["state"] == state
            assert len(town.office.mails) == (2 if result == "retry" else 1)
            if result == "retry":
                assert lines[0]["result"] == "sent"
            assert "k3y0f" not in json.dumps(lines)


@pytest.mark.parametrize(
    ("hello", "login", "said"),
    [
        (("mail.test", "STARTTLS", "AUTH PLAIN LOGIN"), Login("anna", "p"), ("PLAIN", "\0anna\0p")),
        (("mail.test", "STARTTLS", "AUTH LOGIN"), Login("anna", "p"), ("LOGIN", "anna", "p")),
        (
            ("mail.test", "STARTTLS", "AUTH PLAIN XOAUTH2"),
            Login("anna", "t0", token=True),
            ("XOAUTH2", "user=anna\x01auth=Bearer t0\x01\x01"),
        ),
        (("mail.test", "STARTTLS"), None, None),
    ],
)
async def test_the_login_is_one_that_the_server_offers(
    autojump_clock: object, hello: tuple[str, ...], login: Login | None, said: tuple[str, ...] | None
) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery, login=login)
        town.office.hello = hello
        async with town.running() as client:
            made = await town.told(client)
            assert made["invited"]["result"] == "sent"
            assert town.office.logins == ([] if said is None else [said])


async def test_nothing_is_sent_in_plain_text_to_a_server_without_tls(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery, login=Login("anna", "k3y0fMail"))
        town.office.hello = ("mail.test", "AUTH PLAIN")
        async with town.running() as client:
            made = await town.told(client)
            assert made["invited"]["result"] == "retry" and "no STARTTLS" in made["invited"]["detail"]
            assert town.office.mails == [] and town.office.logins == []
            town.office.hello = ("mail.test", "STARTTLS", "AUTH PLAIN")
            again = await asked(client, f"/v1/destinations/{made['id']}/invite")
            assert again["result"] == "sent" and len(town.office.mails) == 1


async def test_without_tls_only_opened_networks_are_reached(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery, MailServer("mail.test", 25, "none", SENDER))
        async with town.running() as client:
            made = await town.told(client)
            assert made["invited"]["result"] != "sent" and town.office.commands == []


async def test_tls_from_the_start(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery, MailServer("mail.test", 465, "tls", SENDER))
        async with town.running() as client:
            assert (await town.told(client))["invited"]["result"] == "sent"
            assert town.network.secured == ["mail.test"] and "STARTTLS" not in town.office.commands


async def test_another_address_is_another_person(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            made = await town.told(client)
            old = town.link()
            await town.post(old, wish="agree")
            where = f"/v1/destinations/{made['id']}"
            moved = (await client.patch(where, json={"url": "bo@example.com"})).json()
            assert (moved["url"], moved["needs_agreement"]) == ("mailto:bo@example.com", True)
            assert "This link no longer works" in await town.read(old)
            assert (await town.post(old, wish="agree")).status_code == 404
            await asked(client, f"{where}/invite")
            assert town.office.mails[-1][1] == "bo@example.com" and town.link() != old
            await town.post(town.link(), wish="agree")
            assert (await client.get(where)).json()["enabled"] is True
            assert (await client.post(f"{where}/invite")).status_code == 409


async def test_a_recipient_added_without_a_link_needs_a_new_confirmation(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            made = await town.told(client)
            await town.post(town.link(), wish="agree")
            old = await town.storage.alerts.destination(made["id"])
            assert old is not None
            there = arrived(moved(old, None), "")
            assert (there.confirmed, there.enabled, there.was_enabled, there.lost) == (False, False, True, ("link",))
            await town.storage.alerts.put_destination(there)
            where = f"/v1/destinations/{made['id']}"
            assert (await client.patch(where, json={"enabled": True})).status_code == 409
            assert (await asked(client, f"{where}/invite"))["result"] == "sent"
            await town.post(town.link(), wish="agree")
            found = (await client.get(where)).json()
            assert (found["enabled"], found["needs_agreement"], found["needs_secret"]) == (True, False, False)
            town.titles.append("News")
            await trio.sleep(2 * HOUR)
            assert len(town.office.mails) == 3


async def test_a_removed_mail_server_loses_nothing_and_blames_no_destination(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            made = await town.told(client)
            await town.post(town.link(), wish="agree")
        town.mail = None
        where = f"/v1/destinations/{made['id']}"
        async with town.running() as client:
            town.titles.append("News")
            await trio.sleep(HOUR)
            line = (await client.get(f"{where}/deliveries")).json()[0]
            assert (line["result"], "no mail server is set" in line["error"]) == ("retry", True)
            again = await asked(client, f"{where}/test")
            assert again["result"] == "retry" and (await client.get(where)).json()["state"] == "active"


async def test_without_a_mail_server_there_is_no_mail(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery, None)
        async with town.running() as client:
            alert = await asked(client, "/v1/alerts", filter_query="")
            body = {"kind": "email", "url": "anna@example.com"}
            answer = await client.post(f"/v1/alerts/{alert['id']}/destinations", json=body)
            assert answer.status_code == 422 and "no mail server is set" in answer.text


@pytest.mark.parametrize(
    "address",
    [
        *("", "anna", "anna@", "@example.com", "anna@example", "a b@example.com", "a@b@example.com"),
        *("anna@example.com,bo@x.org", "anna@exa mple.com", "a\r\nBcc: x@example.com", "<a@example.com>"),
        *("a" * 65 + "@example.com", "a@" + "b" * 300 + ".com", "mailto:anna@example.com?bcc=x@example.com"),
        *("a\u202e@example.com", "anna@[127.0.0.1]", '"a b"@example.com'),
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UrlRefused):
        recipient_of(address)


def test_servers_are_read_as_they_are_written() -> None:
    assert server_of("", "") is None
    assert server_of("smtp://mail.test:2525", SENDER) == MailServer("mail.test", 2525, "starttls", SENDER)
    assert server_of("smtp+plain://127.0.0.1", SENDER) == MailServer("127.0.0.1", 25, "none", SENDER)
    for address, sender in (
        ("mail.test", SENDER),
        ("https://mail.test", SENDER),
        ("smtp://anna:pw@mail.test", SENDER),
        ("smtp://mail.test:0", SENDER),
        ("smtp://mail.test:99999", SENDER),
        ("smtp://mail.test", ""),
        ("smtp://mail.test", "nobody"),
    ):
        with pytest.raises(ValueError, match=r"."):
            server_of(address, sender)


async def test_both_parts_of_a_mail_follow_its_template(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            options = {"message": "Hej & <hej>, {{ title }}\n{{ link }}", "message_title": "{{ host }}: {{ title }}"}
            await town.told(client, options=options)
            await town.post(town.link(), wish="agree")
            town.titles.append("Fares")
            await trio.sleep(3 * HOUR)
            mail = town.office.mails[-1][2]
            assert mail["Subject"] == "news.test: Fares"
            plain, html = (mail.get_body((kind,)) for kind in ("plain", "html"))
            assert plain is not None and html is not None
            assert plain.get_content().splitlines()[:2] == ["Hej & <hej>, Fares", "https://site.example/Fares"]
            assert "Hej &amp; &lt;hej&gt;, Fares" in html.get_content()


async def test_a_recipient_must_agree_again_for_an_alert_from_a_tag(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Parish(nursery)
        async with town.running() as client:
            made = await town.told(client)
            await town.post(town.link(), wish="agree")
            assert not (await client.get(f"/v1/destinations/{made['id']}")).json()["needs_agreement"]
            first = town.link()
            answer = await client.put("/v1/tags/fares", json={"destinations": [made["id"]]})
            assert answer.status_code == 200, answer.text
            alert = await asked(client, "/v1/alerts", filter_query="", name="Other fares", tags=["fares"])
            (copy,) = await town.storage.alerts.destinations(alert["id"])
            assert not copy.confirmed and not copy.enabled and town.link() != first
            assert "Other fares" in town.office.mails[-1][2].get_content()
