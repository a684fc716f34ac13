"""Pages behind a login: headers go to one origin only, and a login page is no change."""

from __future__ import annotations

import pytest
import trio

from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest, Previewed, SourcePatch
from actors.messages.sources import DetectUrl, EditSource
from storage.records.identity import SourceId
from tests.actors.sources.harness import ADDRESS, SITE, Watching, page, rss, watching
from tests.support.memory_network import Answer, ReceivedRequest, web

URL, HEADERS = f"https://{SITE}/prices", "Cookie: session=s3cret\nX-Team: a:b"
OTHER, OTHER_ADDRESS = "elsewhere.example", "93.184.216.35"
TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it, at 10 euros."
WORDS = ("red", "blue", "old", "new", "small", "large", "cheap", "dear", "round", "square", "light", "heavy", "warm")
TEASER = "What we sell is well made, and members see on this page what each of the things costs today and tomorrow."
SIGN_IN = page(*(f"{TEASER} {number} of them are {word}." for number, word in enumerate(WORDS))).replace(
    b"</main>", b"<form><input name=p type=password></form></main>"
)


class Members:
    """A site that shows its page with the session's cookie, and a login form without."""

    def __init__(self) -> None:
        self.session, self.text, self.leads_to, self.status = "s3cret", TEXT, "", 200
        self.asked: list[ReceivedRequest] = []
        self.elsewhere: list[ReceivedRequest] = []

    def join(self, service: Watching) -> None:
        service.network.names[OTHER] = [(OTHER_ADDRESS,)]
        service.network.servers[ADDRESS, 443] = web(self.answer, self.asked)
        service.network.servers[OTHER_ADDRESS, 443] = web(self._other, self.elsewhere)

    def answer(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/robots.txt":
            return Answer(404)
        if self.leads_to:
            return Answer(302, b"", {"location": self.leads_to})
        if f"session={self.session}" in asked.headers.get("cookie", ""):
            return Answer(200, page(self.text), {"content-type": "text/html"})
        return Answer(self.status, SIGN_IN, {"content-type": "text/html"})

    def _other(self, asked: ReceivedRequest) -> Answer:
        return Answer(404) if asked.target == "/robots.txt" else Answer(200, page(TEXT), {"content-type": "text/html"})

    def looks(self) -> list[ReceivedRequest]:
        return [asked for asked in self.asked if asked.target != "/robots.txt"]


async def edited(service: Watching, source: SourceId, headers: str | None) -> None:
    await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(headers=headers), reply))


async def detected(service: Watching, url: str, **wish: str) -> Previewed:
    return await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(url, **wish), reply))


async def test_each_check_sends_the_headers_and_they_are_never_shown(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Members()
        site.join(service)
        view = (await service.add(URL, headers=HEADERS)).view
        site.text = TEXT.replace("10 euros", "12 euros")
        await trio.sleep(7200)
        assert await service.titles() and len(site.looks()) > 1
        for asked in site.looks():
            assert (asked.headers["cookie"], asked.headers["x-team"]) == ("session=s3cret", "a:b")
            assert asked.headers["user-agent"].startswith("sanderling/")
        robots = [asked for asked in site.asked if asked.target == "/robots.txt"]
        assert robots and not [asked for asked in robots if "cookie" in asked.headers]
        assert "s3cret" not in repr(service.logged) + repr(view) + repr(view.source)


async def test_a_header_of_theirs_takes_the_place_of_our_accept(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Members()
        site.join(service)
        await service.add(URL, headers=f"{HEADERS}\naccept: text/html;level=1")
        assert site.looks()[0].headers["accept"] == "text/html;level=1"


async def test_no_redirect_takes_them_to_another_origin(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Members()
        site.join(service)
        await service.add(URL, headers=HEADERS)
        site.leads_to = f"https://{OTHER}/prices"
        await trio.sleep(7200)
        led = [asked for asked in site.elsewhere if asked.target == "/prices"]
        assert led and not [asked for asked in site.elsewhere if {"cookie", "x-team"} & asked.headers.keys()]


async def test_a_feed_that_a_page_advertises_on_another_host_gets_no_headers(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site, asked_of_feed = Members(), list[ReceivedRequest]()
        site.join(service)
        link = f'<link rel="alternate" type="application/rss+xml" href="https://{OTHER}/feed">'.encode()
        body = page(TEXT).replace(b"<head>", b"<head>" + link)
        service.network.servers[ADDRESS, 443] = web(
            lambda asked: Answer(404) if asked.target == "/robots.txt" else Answer(200, body), site.asked
        )
        service.network.servers[OTHER_ADDRESS, 443] = web(
            lambda asked: Answer(404) if asked.target == "/robots.txt" else Answer(200, rss("a")), asked_of_feed
        )
        view = (await service.add(URL, headers=HEADERS)).view
        assert view.source.watch_url == f"https://{OTHER}/feed"
        await trio.sleep(7200)
        assert len(asked_of_feed) > 2 and not [asked for asked in asked_of_feed if "cookie" in asked.headers]
        assert "cookie" in site.looks()[0].headers


@pytest.mark.parametrize(
    ("status", "says"),
    [(200, "signed out: the page asks for a password now"), (401, "the source's headers no longer sign in")],
)
async def test_being_signed_out_is_a_failure_and_no_change(autojump_clock: object, status: int, says: str) -> None:
    async with watching() as (service, _):
        site = Members()
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        site.session, site.status = "another", status
        await trio.sleep(7200)
        assert not [title for title in await service.titles() if title == "Page"]
        assert says in (service.registry.table.describe(source).hot.last_error or "")
        site.text = TEXT.replace("10 euros", "15 euros")
        await edited(service, source, "Cookie: session=another")
        await trio.sleep(7200)
        told = [title for title in await service.titles() if title == "Page"]
        assert told == ["Page"], "what has changed meanwhile is told: new headers are no new page"


async def test_adding_or_removing_headers_starts_a_new_baseline(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        site = Members()
        site.join(service)
        source = (await service.add(URL)).view.source
        assert source.detection.asks_password
        await edited(service, source.id, HEADERS)
        await trio.sleep(7200)
        view = service.registry.table.describe(source.id)
        assert await service.titles() == [] and view.hot.last_error is None
        await edited(service, source.id, None)
        await trio.sleep(7200)
        assert await service.titles() == [] and "cookie" not in site.looks()[-1].headers


async def test_a_page_of_members_with_a_field_for_a_password_stays_one_when_the_headers_are_renewed(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        site = Members()
        site.join(service)
        site.status, site.session = 200, "nobody's"  # every visitor gets the page with a password field
        source = (await service.add(URL, headers=HEADERS)).view.source
        assert source.detection.asks_password
        await edited(service, source.id, "Cookie: session=renewed")
        await trio.sleep(7200)
        hot = service.registry.table.describe(source.id).hot
        assert hot.last_error is None and hot.looks > 1


async def test_a_preview_with_headers_is_not_shared_with_one_without(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Members()
        site.join(service)
        stranger = await detected(service, URL)
        member = await detected(service, URL, headers=HEADERS)
        assert stranger.detection.asks_password and not member.detection.asks_password
        wrong = await detected(service, URL, headers="Cookie: session=old")
        assert "do the headers sign in?" in wrong.detection.evidence
        assert len(site.looks()) == 3
        await detected(service, URL, headers=HEADERS)
        assert len(site.looks()) == 3


async def test_an_unsendable_header_is_refused(autojump_clock: object) -> None:
    async with watching() as (service, _):
        for headers in ("User-Agent: Mozilla/5.0", "Cookie", "Host: a"):
            with pytest.raises(Unprocessable, match="headers: "):
                await service.add(URL, headers=headers)


QUERY = '{"query": "{ prices { team } }"}'
POSTED = f"POST\nX-Key: s3cret\n\n{QUERY}"


class Api:
    """A service that answers POST and refuses GET."""

    def __init__(self) -> None:
        self.price, self.asked, self.leads_to = 12, list[ReceivedRequest](), ""

    def answer(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/robots.txt":
            return Answer(404)
        if self.leads_to:
            return Answer(307, b"", {"location": self.leads_to})
        if (asked.method, asked.body.decode(), asked.headers.get("x-key")) != ("POST", QUERY, "s3cret"):
            return Answer(405)
        body = f'{{"prices": {{"team": {self.price}}}}}'.encode()
        return Answer(200, body, {"content-type": "application/json", "etag": '"1"'})


async def test_a_check_may_post_a_body_and_never_asks_conditionally_with_it(autojump_clock: object) -> None:
    async with watching() as (service, _):
        api = Api()
        service.network.servers[ADDRESS, 443] = web(api.answer, api.asked)
        view = (await service.add(URL, headers=POSTED)).view
        assert view.source.detection.format == "json"
        api.price = 15
        await trio.sleep(7200)
        (event,) = await service.events()
        assert '"team": 15' in event["content"]
        looks = [asked for asked in api.asked if asked.target != "/robots.txt"]
        assert len(looks) > 1 and {asked.method for asked in looks} == {"POST"}
        assert {asked.headers["content-type"] for asked in looks} == {"application/json"}
        assert not [asked for asked in looks if "if-none-match" in asked.headers]
        assert "s3cret" not in repr(service.logged) + repr(view) + repr(view.source)


async def test_a_request_body_is_not_sent_to_a_redirects_target(autojump_clock: object) -> None:
    async with watching() as (service, _):
        api = Api()
        service.network.servers[ADDRESS, 443] = web(api.answer, api.asked)
        source = (await service.add(URL, headers=POSTED)).view.source.id
        api.leads_to = "/elsewhere"
        await trio.sleep(7200)
        assert not [asked for asked in api.asked if asked.target == "/elsewhere"]
        error = service.registry.table.describe(source).hot.last_error
        assert error is not None and "use the new address" in error


@pytest.mark.parametrize(
    ("text", "says"),
    [("POST\nHost: x\n\na", "Host is set by the look itself"), ("POST\nno colon\n\na", "write each as Name: value")],
)
async def test_a_wrong_request_body_names_its_error(text: str, says: str, autojump_clock: object) -> None:
    async with watching() as (service, _):
        with pytest.raises(Unprocessable, match=says):
            await service.add(URL, headers=text)
