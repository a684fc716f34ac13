"""One source's headers that sign in others: given once, sent only to their hosts, revoked at once."""

from __future__ import annotations

import pytest
import trio
from msgspec.structs import replace

from actors.egress.url import parse_url
from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest, NewSource, SourcePatch
from actors.messages.sources import AddSource, DetectUrl, EditSource
from actors.sources.lending import Lenders
from actors.sources.ports import LiveSource
from extras.picking.operations import PickFromUrl
from extras.picking.records import PickWish
from storage.records.identity import SourceId
from storage.records.source import SourceRuntime, Validators
from tests.actors.sources.checks.test_access import SIGN_IN, TEXT, URL
from tests.actors.sources.checks.test_source_fetch import Renewing
from tests.actors.sources.harness import SITE, Watching, page, watching
from tests.storage.contract.builders import a_source
from tests.support.in_loop import Disk
from tests.support.memory_network import Answer, ReceivedRequest, web

OTHER = f"https://{SITE}/plans"
BELOW, APART = "https://api.site.example/x", "https://other.example/x"
HEADERS = "Cookie: session=s3cret"


class Site:
    """Three hosts that show their pages with the session's cookie, and a login form without."""

    def __init__(self, run: Watching) -> None:
        self.session, self.price, self.tagged = "s3cret", 10, False
        self.asked: list[ReceivedRequest] = []
        for n, host in enumerate((SITE, "api.site.example", "other.example")):
            run.network.names[host] = [(f"93.184.216.{50 + n}",)]
            run.network.servers[f"93.184.216.{50 + n}", 443] = web(self.answer, self.asked)

    def answer(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/robots.txt":
            return Answer(404)
        member = f"session={self.session}" in asked.headers.get("cookie", "")
        body = page(TEXT.replace("10", str(self.price))) if member else SIGN_IN
        if asked.headers.get("if-none-match") == '"same"':
            return Answer(304)
        return Answer(200, body, {"content-type": "text/html", "etag": '"same"'} if self.tagged else {})

    def cookies(self, target: str, host: str = SITE) -> list[str | None]:
        return [
            asked.headers.get("cookie")
            for asked in self.asked
            if (asked.target, asked.headers["host"]) == (target, host)
        ]


async def edited(run: Watching, source: SourceId, **patch: object) -> None:
    await run.registry_box.ask(lambda reply: EditSource(source, SourcePatch(**patch), reply))  # type: ignore[arg-type]


def hot_of(run: Watching, source: SourceId) -> SourceRuntime:
    return run.registry.table.describe(source).hot


async def test_only_sources_without_headers_borrow_them(
    autojump_clock: object,
) -> None:
    async with watching() as (run, _):
        site = Site(run)
        lender = (await run.add(URL, headers=HEADERS, headers_for=("*.site.example",))).view.source
        same, below, apart = [(await run.add(url)).view for url in (OTHER, BELOW, APART)]
        assert (same.headers_from, below.headers_from, apart.headers_from) == (lender.id, lender.id, None)
        assert not same.source.detection.asks_password and apart.source.detection.asks_password
        assert same.source.headers is None
        site.price = 12
        await trio.sleep(3_000)
        assert set(site.cookies("/plans")) == set(site.cookies("/x", "api.site.example")) == {"session=s3cret"}
        assert set(site.cookies("/x", "other.example")) == {None}
        news = [event["source_id"] for event in await run.events() if "12 euros" in event["content"]]
        assert sorted(news) == sorted((lender.id, same.source.id, below.source.id))
        assert "s3cret" not in repr(run.logged) + repr(await run.events()) + repr(same) + repr(run.ports.lenders)


async def test_a_preview_is_that_of_a_member_too_and_says_nothing_of_others(autojump_clock: object) -> None:
    async with watching() as (run, _):
        Site(run)
        await run.add(URL, headers=HEADERS, headers_for=(SITE,))
        for url, asks in ((OTHER, False), (BELOW, True)):
            seen = await run.registry_box.ask(lambda reply, url=url: DetectUrl(DetectRequest(url), reply, reads=True))
            assert seen.detection.asks_password is asks


@pytest.mark.parametrize(
    ("reads", "sent"), [(False, []), (True, [(SITE, "/plans")])], ids=["a key that writes only", "who reads too"]
)
async def test_a_trial_borrows_for_readers_at_the_lenders_own_origin_only(
    reads: bool, sent: list[tuple[str, str]], autojump_clock: object
) -> None:
    async with watching() as (run, _):
        site = Site(run)
        await run.add(URL, headers=HEADERS, headers_for=("*.site.example", "other.example"))
        site.asked.clear()
        for url in (OTHER, BELOW, APART):
            wish = DetectRequest(url)
            await run.registry_box.ask(lambda reply, wish=wish: DetectUrl(wish, reply, reads=reads))
            await run.registry_box.ask(lambda reply, wish=wish: PickFromUrl(wish, PickWish(), reply, reads))
        assert [(one.headers["host"], one.target) for one in site.asked if "cookie" in one.headers] == sent


async def test_a_source_is_classified_without_headers_for_keys_that_may_not_read(
    autojump_clock: object,
) -> None:
    async with watching() as (run, _):
        site = Site(run)
        await run.add(URL, headers=HEADERS, headers_for=(SITE,))
        await run.registry_box.ask(lambda reply: AddSource(NewSource(OTHER), reply))
        assert site.cookies("/plans") == [None]
        await trio.sleep(3_000)
        assert site.cookies("/plans")[-1] == "session=s3cret"


async def test_starting_or_ending_shared_headers_starts_a_new_baseline(
    autojump_clock: object,
) -> None:
    async with watching() as (run, _):
        site = Site(run)
        site.tagged = True
        source = (await run.add(OTHER)).view.source.id
        await trio.sleep(1_000)
        lender = (await run.add(URL, headers=HEADERS, headers_for=(SITE,))).view.source.id
        await trio.sleep(3_000)
        assert site.cookies("/plans")[-1] == "session=s3cret" and hot_of(run, source).lent
        asked = [one for one in site.asked if one.target == "/plans"]
        first = next(one for one in asked if "cookie" in one.headers)
        assert "if-none-match" in asked[1].headers and "if-none-match" not in first.headers
        site.session, site.tagged = "another", False
        run.registry.table.get(source).hot = replace(hot_of(run, source), validators=Validators())
        await trio.sleep(3_000)
        assert "signed out: " in (hot_of(run, source).last_error or ""), "though strangers had seen the form before"
        site.session = "s3cret"
        await edited(run, lender, headers_for=())
        await trio.sleep(3_000)
        assert site.cookies("/plans")[-1] is None and not hot_of(run, source).lent
        assert await run.news() == []


async def test_a_lost_login_is_reported_at_each_source_and_new_headers_reopen_all(
    autojump_clock: object,
) -> None:
    async with watching() as (run, _):
        site = Site(run)
        lender = (await run.add(URL, headers=HEADERS, headers_for=(SITE,), title="The login")).view.source.id
        source = (await run.add(OTHER)).view.source.id
        site.session = "another"
        await trio.sleep(3_000)
        error = hot_of(run, source).last_error or ""
        assert error.startswith("signed out: ") and error.endswith("; they are those of The login")
        assert hot_of(run, lender).last_error is not None
        assert [event for event in await run.news() if event == "Page"] == []
        site.price, looks = 15, len(site.cookies("/plans"))
        await edited(run, lender, headers="Cookie: session=another")
        await trio.sleep(20)
        assert len(site.cookies("/plans")) == looks + 1 and hot_of(run, source).last_error is None
        await trio.sleep(600)
        assert "Page" in await run.news(), "what has changed meanwhile is told"


async def test_all_at_one_origin_go_on_with_one_session_also_after_a_restart(autojump_clock: object) -> None:
    disk, site = Disk(), Renewing()
    site.renews = True
    async with watching(disk=disk) as (run, _):
        site.join(run)
        lender = (await run.add(URL, headers="Cookie: session=t0", headers_for=(SITE,))).view.source.id
        sources = [(await run.add(f"https://{SITE}/{n}")).view.source.id for n in range(2)]
        await trio.sleep(1_200)
        looks = site.looks()
        assert len(looks) > 4 and looks == [f"session=t{n}" for n in range(len(looks))]
        assert {hot_of(run, source).last_error for source in (lender, *sources)} == {None}
        assert [hot_of(run, source).cookies for source in sources] == ["", ""]
    async with watching(disk=disk) as (run, _):
        site.join(run)
        await trio.sleep(1_200)
        assert site.looks() == [f"session=t{n}" for n in range(len(site.looks()))]


async def test_a_preview_of_a_borrower_goes_on_with_the_lenders_session_and_an_old_one_does_not_bring_it_back(
    autojump_clock: object,
) -> None:
    async with watching() as (run, _):
        site = Renewing()
        site.join(run)
        lender = (await run.add(URL, headers="Cookie: session=t0", headers_for=(SITE,))).view.source.id
        await trio.sleep(70)
        await run.registry_box.ask(lambda reply: DetectUrl(DetectRequest(OTHER), reply, reads=True))
        await run.check(lender)
        await trio.sleep(20)
        looks = len(site.looks())
        await run.registry_box.ask(lambda reply: DetectUrl(DetectRequest(OTHER), reply, reads=True))
        assert len(site.looks()) == looks >= 3, "it was shown a short while ago"
        await trio.sleep(3_000)
        assert site.looks() == [f"session=t{n}" for n in range(len(site.looks()))] and len(site.looks()) > 3
        assert hot_of(run, lender).last_error is None


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        ({"headers_for": (SITE,)}, "it has no headers to send for others"),
        ({"headers": "POST\nX: 1\n\nbody", "headers_for": (SITE,)}, "a posted body is not sent"),
        ({"headers": HEADERS, "headers_for": ("*",)}, "headers_for: "),
        ({"headers": HEADERS, "headers_for": ("*.com",)}, "every host of a top-level domain"),
        ({"headers": HEADERS, "headers_for": ("a.example/x",)}, "a host has no path"),
        ({"headers": HEADERS, "headers_for": ("user@a.example",)}, "headers_for: "),
        ({"headers": HEADERS, "headers_for": ("http://a.example",)}, "headers_for: "),
    ],
)
async def test_headers_that_cannot_be_shared_are_refused(
    wish: dict[str, object], says: str, autojump_clock: object
) -> None:
    async with watching() as (run, _):
        Site(run)
        with pytest.raises(Unprocessable, match=says):
            await run.add(URL, **wish)


async def test_headers_are_named_again_before_they_go_to_a_further_place(autojump_clock: object) -> None:
    async with watching() as (run, _):
        site = Site(run)
        lender = (await run.add(URL, headers=HEADERS, headers_for=("api.site.example",))).view.source.id
        await run.add(APART)
        for places in (("other.example",), ("api.site.example", "other.example"), ("*.other.example",)):
            with pytest.raises(Unprocessable, match=f"given for https://{SITE}"):
                await edited(run, lender, headers_for=places)
        await trio.sleep(3_000)
        assert set(site.cookies("/x", "other.example")) == {None}
        await edited(run, lender, headers_for=())
        with pytest.raises(Unprocessable, match="again: the stored value"):
            await edited(run, lender, headers_for=("api.site.example",))
        await edited(run, lender, headers_for=("other.example",), headers=HEADERS)
        await trio.sleep(3_000)
        assert site.cookies("/x", "other.example")[-1] == "session=s3cret"


async def test_a_lender_can_not_be_left_without_headers(autojump_clock: object) -> None:
    async with watching() as (run, _):
        Site(run)
        lender = (await run.add(URL, headers=HEADERS, headers_for=(SITE,))).view.source.id
        with pytest.raises(Unprocessable, match="it has no headers"):
            await edited(run, lender, headers=None)
        await edited(run, lender, headers=None, headers_for=())
        assert not run.registry.table.describe(lender).source.headers_for


def a_lender(number: int, url: str, *places: str) -> LiveSource:
    return LiveSource(a_source(number, url=url, headers="X: 1", headers_for=places), SourceRuntime())


def test_the_most_specific_of_several_lenders_is_used() -> None:
    lenders = Lenders()
    for number, url, places in (
        (1, "https://one.example/", ("*.example.com",)),
        (2, "https://two.example/", ("*.a.example.com", "http.example")),
        (3, "https://three.example/", ("x.a.example.com",)),
        (4, "https://y.a.example.com/", ("z.example",)),
        (5, "https://five.example/", ("*.example.com",)),
    ):
        lenders.put(a_lender(number, url, *places))

    def number_of(url: str) -> str | None:
        found = lenders.at(parse_url(url))
        return None if found is None else found.source.url

    assert number_of("https://x.a.example.com/") == "https://three.example/"
    assert number_of("https://y.a.example.com/p") == "https://y.a.example.com/"
    assert number_of("https://w.a.example.com/") == "https://two.example/"
    assert number_of("wss://b.example.com/") == "https://one.example/", "of equals the older one"
    for stranger in (
        "https://example.com/",
        "https://notexample.com/",
        "http://b.example.com/",
        "http://http.example/",
    ):
        assert number_of(stranger) is None
    assert number_of("https://b.example.com:8443/") is None
    lenders.drop(SourceId(a_source(1).id))
    assert number_of("https://b.example.com/") == "https://five.example/"
