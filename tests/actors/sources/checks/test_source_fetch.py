"""Sessions that a site renews at each check: followed as a browser would, stored, and never leaked."""

from __future__ import annotations

import trio

from actors.messages.requests import DetectRequest, SourcePatch
from actors.messages.sources import DetectUrl, EditSource
from storage.records.identity import SourceId
from storage.records.source import Age, SourceRuntime, parted
from tests.actors.sources.checks.test_access import OTHER, OTHER_ADDRESS, SIGN_IN, TEXT, URL
from tests.actors.sources.harness import ADDRESS, Watching, page, watching
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest, web
from tests.support.scripted_browser import ScriptedBrowser, rendered

HEADERS = "Cookie: session=t0; theme=dark\nX-Team: a"


class Renewing:
    """A site that renews the session with each answer, and signs out older sessions.

    ends: cookie attributes after each session. fails: answers to give first.
    """

    def __init__(self, ends: str = "; Path=/; Secure; HttpOnly") -> None:
        self.number, self.ends, self.text, self.price = 0, ends, TEXT, 10
        self.fails: list[Answer] = []
        self.renews, self.elsewhere = True, False
        self.asked: list[ReceivedRequest] = []
        self.others: list[ReceivedRequest] = []

    def join(self, service: Watching) -> None:
        service.network.names[OTHER] = [(OTHER_ADDRESS,)]
        service.network.servers[ADDRESS, 443] = web(self.answer, self.asked)
        service.network.servers[OTHER_ADDRESS, 443] = web(self._other, self.others)

    def _other(self, asked: ReceivedRequest) -> Answer:
        sets = {"set-cookie": "session=theirs; Path=/", "location": URL}
        return Answer(404) if asked.target == "/robots.txt" else Answer(302, b"", sets)

    def answer(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/robots.txt":
            return Answer(404)
        if self.fails:
            return self.fails.pop(0)
        if self.elsewhere and asked.target == "/prices":
            self.elsewhere = False
            return Answer(302, b"", {"location": f"https://{OTHER}/sso"})
        if f"session=t{self.number}" not in asked.headers.get("cookie", "").split("; "):
            return Answer(200, SIGN_IN, {"content-type": "text/html", "set-cookie": "session=stranger; Path=/"})
        return Answer(200, page(self.text.replace("10", str(self.price))), self._head())

    def _head(self) -> dict[str, str]:
        self.price += 1
        if not self.renews:
            return {"content-type": "text/html"}
        self.number += 1
        return {"content-type": "text/html", "set-cookie": f"session=t{self.number}{self.ends}"}

    def looks(self) -> list[str]:
        return [asked.headers.get("cookie", "") for asked in self.asked if asked.target != "/robots.txt"]


def hot_of(service: Watching, source: SourceId) -> SourceRuntime:
    return service.registry.table.describe(source).hot


async def stored(service: Watching, source: SourceId) -> SourceRuntime:
    found = await service.storage.sources.get(source)
    assert found is not None
    return found.hot


async def test_each_check_sends_the_session_that_the_last_one_got(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(6_000)
        looks = site.looks()
        assert len(looks) > 3 and looks == [f"session=t{n}; theme=dark" for n in range(len(looks))]
        assert hot_of(service, source).last_error is None
        assert all(asked.headers["x-team"] == "a" for asked in site.asked if asked.target != "/robots.txt")
        shown = repr(service.logged) + repr(await service.events()) + repr(service.registry.table.describe(source))
        assert "t1" not in shown.replace("content1", "") and "session=" not in shown


async def test_a_session_outlives_a_restart_and_is_stored_in_a_box(autojump_clock: object) -> None:
    disk, site = Disk(), Renewing()
    async with watching(disk=disk) as (service, _):
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(3_000)
        known = site.number
        assert f"t{known}" in (await stored(service, source)).cookies, "with the look, and not with the next sweep"
    rows = disk.connection.execute("SELECT body, jar FROM source_hot").fetchall()
    assert len(rows) == 1 and b"theme" not in rows[0][0] + rows[0][1]
    async with watching(disk=disk) as (service, _):
        site.join(service)
        await trio.sleep(3_000)
        assert site.number > known and hot_of(service, source).last_error is None


async def test_a_new_session_is_stored_with_an_unchanged_check_too(
    autojump_clock: object,
) -> None:
    async with watching(sweep=86_400.0) as (service, _):
        site = Renewing()
        site.join(service)
        site.fails = [Answer(200, page(TEXT), {"set-cookie": f"session=t{n}; Path=/"}) for n in range(1, 40)]
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(1_500)
        renewed = 39 - len(site.fails)
        assert renewed > 2 and f'"t{renewed}"' in (await stored(service, source)).cookies


async def test_a_moving_date_alone_writes_nothing(autojump_clock: object) -> None:
    site = Renewing()
    async with watching(sweep=86_400.0) as (service, _):
        site.join(service)
        site.fails = [Answer(200, page(TEXT), {"set-cookie": "session=t0; Max-Age=9000"}) for _ in range(30)]
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(1_500)
        began, looks = (await stored(service, source)).cookies, len(site.looks())
        await trio.sleep(3_000)
        assert len(site.looks()) > looks and (await stored(service, source)).cookies == began != ""
        assert hot_of(service, source).cookies != began


async def test_new_headers_from_the_user_end_the_stored_session(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(1_200)
        site.number, site.renews = 70, False
        await service.registry_box.ask(
            lambda reply: EditSource(source, SourcePatch(headers="Cookie: session=t70"), reply)
        )
        assert parted((await stored(service, source)).cookies) == (Age(1), "")
        await trio.sleep(1_200)
        assert site.looks()[-1] == "session=t70" and hot_of(service, source).last_error is None
        await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(title="Mine"), reply))
        await trio.sleep(1_200)
        assert site.looks()[-1] == "session=t70"


async def test_another_change_of_the_source_keeps_the_session(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(1_200)
        for patch in (SourcePatch(title="Mine"), SourcePatch(selector="main"), SourcePatch(hours="mon-sun 00-24 UTC")):
            await service.registry_box.ask(lambda reply, patch=patch: EditSource(source, patch, reply))
            await trio.sleep(1_200)
            assert (
                hot_of(service, source).last_error is None
                and site.looks()[-1] == f"session=t{site.number - 1}; theme=dark"
            )


async def test_being_signed_out_leaves_the_session_as_it_was_for_a_site_that_was_mistaken(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        stranger = {"content-type": "text/html", "set-cookie": "session=stranger; Path=/"}
        away = Answer(302, b"", {"set-cookie": "session=stranger; Path=/", "location": "/entry"})
        site.fails = [Answer(200, SIGN_IN, stranger), away, Answer(401), away, Answer(403, b"", stranger)]
        await trio.sleep(9_000)
        assert not site.fails and hot_of(service, source).last_error is None
        looks = [asked.headers["cookie"] for asked in site.asked if asked.target == "/prices"]
        assert "session=stranger" not in "".join(looks)


async def test_the_reason_names_an_expired_cookie_or_a_sign_out_by_the_site(
    autojump_clock: object,
) -> None:
    for ends, said in (("; Path=/; Max-Age=2000", True), ("; Path=/; Max-Age=500000", False)):
        async with watching() as (service, _):
            site = Renewing(ends)
            site.join(service)
            source = (await service.add(URL, headers=HEADERS)).view.source.id
            site.renews = False
            site.number = 1 if said else 99
            await trio.sleep(6_000)
            error = hot_of(service, source).last_error or ""
            assert "signed out: the page asks for a password now" in error
            assert ("its cookie had expired by the site's own date, at 20" in error) is said


async def test_a_session_that_is_renewed_on_the_way_is_the_next_requests(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        hop = {"location": "/refresh", "set-cookie": "session=t7; Path=/"}
        site.fails, site.number = [Answer(302, b"", hop), Answer(500, b"")], 7
        await trio.sleep(6_000)
        assert "session=t7; theme=dark" in site.looks() and hot_of(service, source).last_error is None


async def test_cookies_of_another_origin_are_neither_taken_nor_sent(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        site.elsewhere = True
        await trio.sleep(3_000)
        there = [asked for asked in site.others if asked.target == "/sso"]
        assert there and not [asked for asked in site.others if "cookie" in asked.headers]
        assert "theirs" not in "".join(site.looks())
        assert "theirs" not in (await stored(service, source)).cookies


async def test_headers_without_a_cookie_get_none(autojump_clock: object) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        site.fails = [Answer(200, page(TEXT), {"set-cookie": "session=t0; Path=/"}) for _ in range(3)]
        source = (await service.add(URL, headers="Authorization: Bearer x")).view.source.id
        await trio.sleep(3_000)
        assert not any(site.looks()) and (await stored(service, source)).cookies == ""


async def test_the_first_check_follows_the_page_to_its_advertised_feed(autojump_clock: object) -> None:
    link = b'<link rel="alternate" type="application/rss+xml" href="/feed">'
    feed = b"<rss version='2.0'><channel><title>T</title><item><guid>a</guid><title>a</title></item></channel></rss>"
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        site.fails = [
            Answer(200, page(TEXT).replace(b"<head>", b"<head>" + link), {"set-cookie": "session=t1; Path=/"}),
            Answer(200, feed, {"set-cookie": "session=t2; Path=/"}),
            Answer(200, feed, {"set-cookie": "session=t3; Path=/"}),
        ]
        view = (await service.add(URL, headers=HEADERS)).view
        assert view.source.type == "feed"
        await trio.sleep(3_000)
        assert site.looks()[:3] == [f"session=t{n}; theme=dark" for n in range(3)]


async def test_a_browser_gets_the_session_and_returns_its_cookies(autojump_clock: object) -> None:
    browser = ScriptedBrowser()
    browser.pages[URL] = rendered(page(TEXT))._replace(set_cookies=("session=t1; Path=/", "seen=1; Domain=example"))
    async with watching(browser=browser) as (service, _):
        site = Renewing()
        site.join(service)
        site.fails = [Answer(200, page(TEXT))]
        source = (await service.add(URL, headers=HEADERS, render="always")).view.source.id
        await trio.sleep(3_000)
        given = [dict(request.headers)["Cookie"] for request in browser.asked]
        assert given[:2] == ["session=t0; theme=dark", "session=t1; theme=dark"]
        assert "t1" in (await stored(service, source)).cookies


async def test_a_rendered_failure_renews_the_session_unless_it_refused_access(
    autojump_clock: object,
) -> None:
    browser = ScriptedBrowser()
    browser.pages[URL] = rendered(page(TEXT))._replace(set_cookies=("session=t1; Path=/",))
    async with watching(browser=browser) as (service, _):
        site = Renewing()
        site.join(service)
        site.fails = [Answer(200, page(TEXT))]
        await service.add(URL, headers=HEADERS, render="always")
        for status, given in ((500, "t2"), (401, "t3")):
            browser.pages[URL] = rendered(b"")._replace(status=status, set_cookies=(f"session={given}; Path=/",))
            await trio.sleep(6_000)
        sent = [dict(request.headers)["Cookie"].partition(";")[0] for request in browser.asked]
        assert list(dict.fromkeys(sent)) == ["session=t0", "session=t1", "session=t2"]


async def test_adding_a_previewed_page_keeps_the_session_of_the_preview(
    autojump_clock: object,
) -> None:
    async with watching() as (service, _):
        site = Renewing()
        site.join(service)
        for _ in range(2):
            wish = DetectRequest(URL, headers=HEADERS)
            seen = await service.registry_box.ask(lambda reply, wish=wish: DetectUrl(wish, reply))
            assert not seen.detection.asks_password
            await trio.sleep(120)
        source = (await service.add(URL, headers=HEADERS)).view.source.id
        await trio.sleep(3_000)
        assert site.looks() == [f"session=t{n}; theme=dark" for n in range(len(site.looks()))]
        assert hot_of(service, source).last_error is None
