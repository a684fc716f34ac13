"""Rendered checks: their steps, the blame for their failures, and their limits."""

from __future__ import annotations

import time
from functools import partial

import pytest
import trio

from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest, Previewed, SourcePatch
from actors.messages.sources import DetectUrl, EditSource, ExamineSource
from actors.messages.views import SourceView
from actors.sources.checks.rendering import may_be_shell
from actors.world import FilledBy, RenderFailed
from storage.records.checks import Verdict, read_rows
from storage.records.identity import SourceId
from tests.actors.sources.harness import SITE, Origin, Watching, page, rss, watching
from tests.support.memory_network import Answer, ReceivedRequest, web
from tests.support.scripted_browser import ScriptedBrowser, rendered

URL = f"https://{SITE}/app"
SHELL = b"<html><head><title>Shop</title></head><body><div id=root></div><script src=/main.js></script></body></html>"
LONG = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it, at {} euros."
BEFORE, AFTER = page(LONG.format(10), "Open daily from nine to five."), page(LONG.format(25), "Open daily from nine.")


def a_browser(html: bytes = BEFORE) -> ScriptedBrowser:
    browser = ScriptedBrowser()
    browser.pages[URL] = html
    return browser


def seen(service: Watching, source: SourceId) -> SourceView:
    return service.registry.table.describe(source)


async def look(service: Watching, source: SourceId) -> SourceView:
    """Wait for at least one check: the longest interval is 45 minutes."""
    await trio.sleep(3000)
    return seen(service, source)


async def edited(service: Watching, source: SourceId, **patch: object) -> SourceView:
    change = SourcePatch(**patch)  # type: ignore[arg-type]
    view: SourceView = await service.registry_box.ask(lambda reply: EditSource(source, change, reply))
    await trio.sleep(100)
    return view


async def test_a_rendered_page_reports_the_text_its_scripts_wrote(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always")).view.source
        assert (source.render, seen(service, source.id).hot.rendered) == ("always", True)
        browser.pages[URL] = AFTER
        await look(service, source.id)
        told = (await service.events())[0]
        assert "25 euros" in told["content"]
        assert told["url"] == URL


async def test_pages_that_differ_in_their_route_are_two_sources(
    autojump_clock: object,
) -> None:
    browser = a_browser()
    prices, jobs = f"{URL}#/prices", f"{URL}#!jobs"
    browser.pages |= {prices: BEFORE, jobs: page("A job that is open for all who can swim and like the sea, it says.")}
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        one = (await service.add(prices, render="always")).view.source
        other = (await service.add(jobs, render="always")).view.source
        assert (one.url, other.url, one.watch_url) == (prices, jobs, prices) and one.id != other.id
        browser.pages[prices] = AFTER
        await look(service, one.id)
        (told,) = await service.events()
        assert (told["source_id"], told["url"]) == (one.id, prices) and "25 euros" in told["content"]
        assert {request.url for request in browser.asked} == {prices, jobs}
        assert {asked.target for asked in origin.looks("/app")} == {"/app"}


async def test_a_check_that_always_renders_asks_robots_once_and_the_page_only_by_the_browser(
    autojump_clock: object,
) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always", wait_for="main p")).view.source.id
        plain = len(origin.looks("/app"))
        await look(service, source)
        assert len(origin.looks("/app")) == plain
        assert {request.wait_for for request in browser.asked} == {"main p"}
        assert all(request.user_agent.startswith("sanderling/") for request in browser.asked)


async def test_a_page_that_robots_forbids_is_not_rendered(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = BEFORE
        source = (await service.add(URL, render="never")).view.source.id
        origin.bodies["/robots.txt"] = b"User-agent: *\nDisallow: /app"
        await trio.sleep(86_400)  # the cached robots.txt expires
        await trio.sleep(3_600)
        await edited(service, source, render="always")
        assert browser.asked == []


async def test_a_page_that_redirects_to_a_forbidden_url_is_not_read(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always")).view.source.id
        origin.bodies["/robots.txt"] = b"User-agent: *\nDisallow: /private"
        await trio.sleep(86_400)  # the cached robots.txt expires
        await trio.sleep(3_600)
        browser.pages[URL] = rendered(AFTER, f"https://{SITE}/private")
        view = await look(service, source)
        assert "robots.txt" in (view.hot.last_error or "")
        assert await service.news() == []


@pytest.mark.parametrize(
    ("there", "says"),
    [(f"http://{SITE}/app", "from https to http"), ("chrome-error://chromewebdata/", "chrome-error")],
)
async def test_a_page_behind_a_refused_redirect_is_not_read(there: str, says: str, autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always")).view.source.id
        browser.pages[URL] = rendered(AFTER, there)
        view = await look(service, source)
        assert says in (view.hot.last_error or "")
        assert await service.news() == []


@pytest.mark.parametrize(
    ("failure", "verdict", "failures"),
    [
        (RenderFailed("the page did not answer", blame="remote"), Verdict.REMOTE_TRANSIENT, 1),
        (RenderFailed("answered 404", blame="remote", status=404), Verdict.REMOTE_PERMANENT, 1),
        (RenderFailed("10.0.0.1 is a private address", blame="refused"), Verdict.REMOTE_PERMANENT, 1),
        (RenderFailed("the browser died", blame="local"), Verdict.LOCAL, 0),
    ],
)
async def test_a_failure_is_attributed_to_the_side_at_fault(
    failure: RenderFailed, verdict: Verdict, failures: int, autojump_clock: object
) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always")).view.source.id
        await trio.sleep(3000)
        browser.pages[URL] = failure
        await service.check(source)
        await trio.sleep(10)
        view = seen(service, source)
        assert (read_rows(view.hot.trail)[-1].verdict, view.hot.breaker.failures) == (verdict, failures)
        assert failure.reason in (view.hot.last_error or "")


async def test_a_browser_that_dies_for_days_costs_no_health_and_the_state_says_so(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always")).view.source.id
        browser.pages[URL] = RenderFailed("the browser died", blame="local")
        await trio.sleep(3 * 86_400)
        view = seen(service, source)
        assert (view.hot.health.score, view.hot.breaker.failures, view.state) == (1.0, 0, "unrendered")
        assert view.hot.last_error == "it could not be rendered: the browser died"
        assert view.hot.health.reason == "It could not be rendered: the browser died."
        assert await service.alerts() == []
        browser.pages[URL] = AFTER
        assert (await look(service, source)).state == "ok"
        assert len(await service.news()) == 1


async def test_a_page_that_kills_the_browser_is_tried_at_its_own_pace(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always")).view.source.id
        await trio.sleep(86_400)
        browser.pages[URL], before = RenderFailed("the browser died", blame="local"), len(browser.asked)
        await trio.sleep(86_400)
        pace = seen(service, source).hot.interval
        assert len(browser.asked) - before < 3 * 86_400 / pace


async def test_a_browser_that_ends_while_a_page_settles_is_not_retried_endlessly(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always")).view.source.id
        browser.pages[URL] = RenderFailed("the page did not answer", blame="remote")
        await trio.sleep(4 * 3600)
        assert seen(service, source).hot.breaker.state != "closed"
        browser.missing, before = "no Chromium is installed", seen(service, source).hot.looks
        await trio.sleep(4 * 3600)
        assert seen(service, source).hot.looks - before < 4 * 60


async def test_unreachable_pages_do_not_delay_checks_of_others(autojump_clock: object) -> None:
    browser = ScriptedBrowser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        for number in range(9):
            name, address = f"app{number}.example", f"93.184.217.{number}"
            service.network.add(name, address, web(origin, []))
            service.network.servers[address, 443] = service.network.servers[address, 80]
            browser.pages[f"https://{name}/app"] = BEFORE
            await service.add(f"https://{name}/app", render="always")
        await trio.sleep(3600)
        browser.pages = dict.fromkeys(browser.pages, RenderFailed("no answer", blame="remote"))
        await trio.sleep(4 * 3600)
        assert not any(name == "egress.down" for name, _ in service.logged)


async def test_a_browser_that_says_nothing_is_given_up_and_the_host_is_not_blamed(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies |= {"/app": SHELL, "/other": BEFORE}
        source = (await service.add(URL, render="always")).view.source.id
        other = (await service.add(f"https://{SITE}/other")).view.source.id
        browser.takes = 1e9
        await trio.sleep(2 * 86_400)
        view = seen(service, source)
        assert "said nothing for 120 s" in (view.hot.last_error or "")
        assert seen(service, other).hot.breaker.failures == 0
        browser.takes = 0.5
        assert (await look(service, source)).state == "ok"


async def test_headers_go_to_the_browser_for_their_own_origin_only(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        await service.add(URL, render="always", headers="Cookie: session=1")
        assert [request.headers for request in browser.asked] == [(("Cookie", "session=1"),)]


async def test_headers_are_not_sent_to_another_host(autojump_clock: object) -> None:
    there = "https://elsewhere.example/app"
    browser = ScriptedBrowser()
    browser.pages[there] = BEFORE

    def elsewhere(asked: ReceivedRequest) -> Answer:
        return Answer(200, SHELL) if asked.target == "/app" else Answer(404, b"")

    class Leads(Origin):
        def __call__(self, asked: ReceivedRequest) -> Answer:
            return Answer(302, b"", {"location": there}) if asked.target == "/app" else super().__call__(asked)

    async with watching(Leads(), browser=browser) as (service, _):
        service.network.add("elsewhere.example", "93.184.216.40", web(elsewhere, []))
        service.network.servers["93.184.216.40", 443] = service.network.servers["93.184.216.40", 80]
        await service.add(URL, headers="Cookie: session=1")
        assert [(request.url, request.headers) for request in browser.asked] == [(there, ())]


async def test_a_rendered_page_that_asks_for_a_password_is_signed_out_and_no_change(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL, render="always", headers="Cookie: session=1")).view.source.id
        browser.pages[URL] = page(LONG.format(10)) + b"<form><input type=password></form>"
        view = await look(service, source)
        assert "signed out" in (view.hot.last_error or "")
        assert await service.news() == []


@pytest.mark.parametrize("how", ["auto", "always"])
async def test_feeds_are_never_rendered(how: str, autojump_clock: object) -> None:
    browser = ScriptedBrowser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(f"https://{SITE}/feed", render=how)).view.source
        origin.bodies["/feed"] = rss("b", "a")
        await look(service, source.id)
        assert (source.render, browser.asked, await service.news()) == ("never", [], ["b"])


async def test_json_is_never_rendered_even_on_request(autojump_clock: object) -> None:
    browser = ScriptedBrowser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/items"] = b'{"items": [{"name": "Day ticket", "price": 10}]}'
        source = (await service.add(f"https://{SITE}/items", render="always", wait_for="p")).view.source
        assert (source.render, source.wait_for) == ("never", None)
        with pytest.raises(Unprocessable, match="only a page is rendered"):
            await edited(service, source.id, render="always")
        origin.bodies["/items"] = b'{"items": [{"name": "Day ticket", "price": 25}]}'
        await look(service, source.id)
        assert (browser.asked, len(await service.news())) == ([], 1)


async def test_a_document_that_no_browser_shows_is_refused(autojump_clock: object) -> None:
    async with watching(browser=a_browser()) as (service, origin):
        origin.bodies |= {"/app": BEFORE, "/feed": rss("a")}
        for url, wish, says in (
            (URL, {"wait_for": "$.price"}, "is not CSS"),
            (URL, {"wait_for": "div["}, "div"),
            (URL, {"render": "always", "headers": "POST\nX-A: b\n\nq=1"}, "POST can't be rendered"),
            (f"https://{SITE}/feed", {"type": "feed", "render": "always"}, "only a page is rendered"),
            (f"wss://{SITE}/live", {"render": "always"}, "only a page is rendered"),
            (f"wss://{SITE}/live", {"wait_for": "p"}, "only a page has it"),
        ):
            with pytest.raises(Unprocessable, match=says.replace("[", r"\[")):
                await service.add(url, **wish)


# --- auto ------------------------------------------------------------------------------------------------------------


async def test_an_empty_page_is_rendered_by_itself_and_one_with_text_never(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies |= {"/app": SHELL, "/text": BEFORE}
        source = (await service.add(URL)).view.source
        text = (await service.add(f"https://{SITE}/text")).view.source
        assert (source.render, text.render) == ("auto", "auto")
        assert "empty without JavaScript" in source.detection.evidence
        browser.pages[URL], origin.bodies["/text"] = AFTER, AFTER
        await look(service, source.id)
        await look(service, text.id)
        assert len(await service.news()) == 2
        assert {request.url for request in browser.asked} == {URL}
        assert not seen(service, text.id).hot.rendered


async def test_an_unchanged_shell_is_rendered_at_each_check(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL)).view.source.id
        await look(service, source)
        asked = len(browser.asked)
        browser.pages[URL] = AFTER
        await look(service, source)
        assert len(browser.asked) > asked
        assert not any("if-none-match" in each.headers for each in origin.looks("/app"))
        assert len(await service.news()) == 1


async def test_a_page_that_becomes_a_shell_and_back_gets_a_new_baseline_and_no_event(
    autojump_clock: object,
) -> None:
    browser = a_browser(AFTER)
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = BEFORE
        source = (await service.add(URL)).view.source.id
        origin.bodies["/app"] = SHELL
        assert (await look(service, source)).hot.rendered
        origin.bodies["/app"] = BEFORE
        assert not (await look(service, source)).hot.rendered
        assert await service.news() == []
        origin.bodies["/app"] = AFTER
        await look(service, source)
        assert len(await service.news()) == 1


async def test_without_a_browser_an_empty_page_is_refused_with_a_reason(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/app"] = SHELL
        with pytest.raises(Unprocessable, match="this service has no browser"):
            await service.add(URL)


async def test_without_a_browser_a_rendered_source_can_be_added_and_waits_for_one(
    autojump_clock: object,
) -> None:
    browser = a_browser()
    browser.missing = "no Chromium is installed"
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        with pytest.raises(Unprocessable, match="no Chromium is installed"):
            await service.add(URL, render="always")
        source = (await service.add(URL, render="always", verify="later")).view.source.id
        view = await look(service, source)
        assert "no Chromium is installed" in (view.hot.last_error or "")
        browser.missing = ""
        await look(service, source)
        browser.pages[URL] = AFTER
        view = await look(service, source)
        assert (view.state, view.source.detection.pending, len(await service.news())) == ("ok", False, 1)


async def test_a_removed_browser_leaves_rendered_sources_alone_and_reports_nothing(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL)).view.source.id
        browser.missing = "no Chromium is installed"
        view = await look(service, source)
        assert (view.state, view.hot.health.score) == ("unrendered", 1.0)
        assert view.hot.last_error == "it could not be rendered: no Chromium is installed"
        browser.missing, browser.pages[URL] = "", AFTER
        await look(service, source)
        assert len(await service.news()) == 1


async def test_a_page_that_is_still_empty_in_a_browser_has_failed_and_has_lost_nothing(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL)).view.source.id
        browser.pages[URL] = SHELL
        view = await look(service, source)
        assert "a browser shows it, and it is still empty" in (view.hot.last_error or "")
        assert await service.news() == []


async def test_another_way_of_showing_is_a_new_beginning(autojump_clock: object) -> None:
    browser = a_browser(AFTER)
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = BEFORE
        source = (await service.add(URL, render="never")).view.source.id
        await edited(service, source, render="always")
        assert seen(service, source).hot.rendered
        await edited(service, source, render="never")
        assert not seen(service, source).hot.rendered
        assert await service.news() == []


# --- previews --------------------------------------------------------------------------------------------------------


async def test_a_preview_of_an_empty_page_offers_rendering_and_its_json(autojump_clock: object) -> None:
    browser = ScriptedBrowser()
    filled = (
        FilledBy(f"https://{SITE}/api/me", 40),
        FilledBy(f"https://{SITE}/api/items", 14_000),
        FilledBy("blob:x", 9_000_000),
    )
    browser.pages[URL] = rendered(BEFORE, filled_by=filled)
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        asked = DetectRequest(URL)
        found: Previewed = await service.registry_box.ask(lambda reply: DetectUrl(asked, reply))
        says = found.preview.rendering
        assert says is not None
        assert (says.done, says.costs, [one.url for one in says.filled_by]) == (
            True,
            100,
            [f"https://{SITE}/api/items"],
        )
        assert says.says.startswith("This page is empty without JavaScript (<div id=root> is empty")
        assert "as much as 100 plain ones" in says.says
        assert found.preview.page is not None
        assert found.preview.page.watched > 1
        await service.registry_box.ask(lambda reply: DetectUrl(asked, reply))
        assert len(browser.asked) == 1  # a render from the last minute is reused


def test_a_glance_at_a_body_takes_little_however_it_is_made() -> None:
    for body in (b"<script>" + b"<" * 600_000, b"<script>x</script>" + b"<a " * 200_000, b"<svg" * 150_000):
        began = time.process_time()
        may_be_shell(body)
        assert time.process_time() - began < 1.0


# --- costs -----------------------------------------------------------------------------------------------------------


async def test_a_rendered_check_is_planned_and_counted_as_a_hundred(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies["/app"] = SHELL
        source = (await service.add(URL)).view.source.id
        await trio.sleep(6 * 3600)
        view, table = seen(service, source), service.registry.table
        wait = ((view.hot.next_look_at or 0) - (view.hot.last_look_at or 0)) / 1000
        assert await table.planned_rate() == pytest.approx(100 / wait)
        metrics = service.world.metrics
        assert metrics.rendered_looks.total() == metrics.looks.total() > 3


async def test_the_budget_is_passed_by_few_rendered_checks(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser, looks_per_second=0.2) as (service, origin):
        for number in range(10):  # one for each half minute
            origin.bodies[f"/app{number}"] = SHELL
            browser.pages[f"{URL}{number}"] = browser.pages[URL]
            await service.add(f"{URL}{number}", render="always", schedule="1m")
        await trio.sleep(3600)
        assert service.registry.overdue_monitor.check_rate.passed > 1000  # 10 a minute count as 17 plain ones a second


async def test_the_cost_of_a_check_is_shown_with_the_next_ones_reason(autojump_clock: object) -> None:
    browser = a_browser()
    async with watching(browser=browser) as (service, origin):
        origin.bodies |= {"/app": SHELL, "/text": BEFORE}
        for url, costs in ((URL, True), (f"https://{SITE}/text", False)):
            source = (await service.add(url)).view.source.id
            await trio.sleep(3600)
            found = await service.registry_box.ask(partial(ExamineSource, source))
            assert ("each check costs as much as 100 plain ones" in str(found.next_look)) is costs
