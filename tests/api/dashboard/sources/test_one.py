from __future__ import annotations

from ast import literal_eval
from typing import Any

import msgspec
import pytest

from actors.errors import TooSoon, Unprocessable
from actors.messages.sources import CheckNow, EditSource, ExplainSource, PreviewSource
from actors.messages.views import PushView, ReportedBlock, ReportedPage, SourceView
from actors.signatures import jwks, new_signing_key
from api.dashboard.drawing import named
from api.dashboard.sources.one import came_of_it, untold_since
from sanderling_client.verify import check_encoded
from storage.append import events_of
from storage.records import source as states
from storage.records.checks import Note, StoredMemory, Verdict, add_note, add_row, check_row, pack_memory
from storage.records.event import (
    Change,
    ChangeKind,
    Delta,
    DeltaStats,
    Diff,
    Op,
    StandingValue,
    StandingValues,
    TypedChange,
    Value,
    ValueType,
)
from storage.records.identity import Millis, day_of, rfc3339
from storage.records.source import BreakerState, Harvest, Health, SourceRuntime, SourceState
from tests.api.dashboard.browser import Browser
from tests.api.dashboard.sources.previews import of_a_page
from tests.api.dashboard.sources.test_listing import put
from tests.api.house import House, stamp
from tests.support.build import NOW, a_draft, a_source, a_source_id

DELTA = Delta((Op("replace", 0, before="It costs 19", after="It costs 29"),), DeltaStats(0, 0, 1, 6))
DIFF = Diff((), (), (Change("It costs 19", "It costs 29"),))
LOOKS = add_row(
    add_row(b"", check_row(NOW, Verdict.CHANGED, 200, size=2048, ms=31)), check_row(NOW, Verdict.LOCAL, None)
)
HOT = SourceRuntime(trail=LOOKS, last_look_at=NOW, next_look_at=Millis(NOW + 600_000), looks=2, last_event_at=NOW)


async def told(house: House, *drafts: Any, notes: tuple[Note, ...] = ()) -> list[str]:
    """Commit events of source 1 as the recorder would; return their ids, oldest first."""
    packed = b""
    for one in notes:
        packed = add_note(packed, one)
    source = a_source_id()
    if await house.storage.sources.get(source) is None:
        stored = house.registry.views[source].source
        await house.storage.sources.add(stored, SourceState(source, SourceRuntime()), house.storage.lease)
    base = pack_memory(StoredMemory(b"\x01", packed)) if notes else None
    harvest = Harvest(source, tuple(drafts), SourceState(source, SourceRuntime(), base))
    done = events_of(await house.storage.log.append([harvest], house.storage.lease, house.mint, stamp))
    return [str(event.body) for event in done]


def here(number: int = 1) -> str:
    return f"/sources/{a_source_id(number)}"


async def test_a_source_shows_health_next_check_and_reason(house: House, browser: Browser) -> None:
    put(house, hot=HOT, title="Tides", tags=("label:sea",))
    await browser.get(here())
    for words in ("Tides", "https://site1.test/feed", "It answers.", "Because.", "about one in 1 h", "2.0 KiB, 31 ms"):
        assert words in browser.text
    (said,) = browser.page.xpath("//svg[@class='timeline']/@aria-label")
    assert said == "The last 2 checks: 1 with an event, 1 waited"
    assert browser.page.xpath("//*[contains(@class,'due')]") and browser.page.xpath("//*[@data-refresh='15']")


async def test_a_source_shows_its_coverage_and_receipt(house: House, browser: Browser) -> None:
    put(house, hot=HOT)
    await browser.get(here())
    assert "The last 7 days: Nothing is known of this time" in " ".join(browser.text.split())
    answer = await browser.get(f"{here()}/coverage")
    assert answer.headers["Content-Disposition"].endswith("coverage.json")
    assert check_encoded(answer.content, jwks([new_signing_key(bytes(32), Millis(0))])).valid


async def test_a_source_in_trouble_has_its_reason_at_the_top(house: House, browser: Browser) -> None:
    broken = BreakerState("open", 5, 2, Millis(NOW + 900_000))
    hot = SourceRuntime(
        health=Health(0.1, "rotten", "5 checks in a row have failed"), breaker=broken, last_error="timeout"
    )
    put(house, hot=hot)
    await browser.get(here())
    assert browser.page.xpath("//p[@class='note bad']")[0].text == "Timeout."
    assert "resting" in browser.text and "0.10 rotten 5 checks in a row have failed" in browser.text
    assert "5, tries again" in browser.text
    put(house, hot=SourceRuntime(last_error="503: busy", last_look_at=NOW))
    await browser.get(here())
    assert "The last check failed: 503: busy" in browser.text


async def test_a_new_source_says_that_its_baseline_is_stored(house: House, browser: Browser) -> None:
    put(house, hot=SourceRuntime())
    await browser.get(here())
    assert "No events yet. The first check stored the baseline" in browser.text
    assert not browser.page.xpath("//svg[@class='timeline']") and "new" in browser.text


async def test_a_push_source_shows_its_connection(house: House, browser: Browser) -> None:
    source = put(house, type="push", url="wss://a.test/", hot=SourceRuntime(last_look_at=NOW))
    seen = PushView(connected_since=NOW, subprotocol="v2", frames=9, admitted=4, filtered=5)
    house.registry.views[source] = msgspec.structs.replace(house.registry.views[source], push=seen)
    await browser.get(here())
    assert "9: 4 reported, 5 that no alert or filter matches" in browser.text and "(v2)" in browser.text
    assert not browser.page.xpath("//form[contains(@action,'/check')]")


async def test_its_events_are_paged_with_the_latest_difference_in_words(house: House, browser: Browser) -> None:
    put(house, type="html", hot=HOT)
    many = [a_draft(f"News {number}", source_type="html") for number in range(24)]
    await told(house, *many, a_draft("It costs 29", source_type="html", diff=DIFF, delta=DELTA))
    await browser.get(here())
    titles = browser.page.xpath("//section[@aria-labelledby='events']//li//a/text()")
    assert titles[:2] == ["News 23", "News 22"] and len(titles) == 9
    assert "The latest change It costs 29" in browser.text and "Earlier events" in browser.text
    assert browser.page.xpath("//div[@class='diff']//del//del/text()") == ["19"]
    assert browser.page.xpath("//div[@class='diff']//ins//ins/text()") == ["29"]
    (more,) = browser.page.xpath("//a[@rel='next']/@href")
    await browser.get(more.partition("#")[0])
    assert browser.page.xpath("//section[@aria-labelledby='events']//li//a/text()")[0] == "News 14"
    await browser.get(f"{here()}?cursor=nonsense")
    assert browser.answer.status_code == 400


def test_an_unreported_change_after_the_latest_event_is_shown_with_it() -> None:
    told_at = rfc3339(NOW)
    later = check_row(Millis(NOW + 60_000), Verdict.NOTHING_TO_TELL, 200)
    assert untold_since(told_at, [later, check_row(Millis(NOW + 90_000), Verdict.UNCHANGED, 304)]) == later.last_at
    assert untold_since(told_at, [msgspec.structs.replace(later, last_at=NOW)]) is None
    assert untold_since(told_at, [check_row(Millis(NOW + 60_000), Verdict.UNCHANGED, 304)]) is None


async def test_the_latest_change_mentions_later_unreported_ones(house: House, browser: Browser) -> None:
    await test_its_events_are_paged_with_the_latest_difference_in_words(house, browser)
    turned = add_row(b"", check_row(Millis(house.context.world.now() + 60_000), Verdict.NOTHING_TO_TELL, 200))
    put(house, type="html", hot=msgspec.structs.replace(HOT, trail=turned))
    await browser.get(here())
    assert "Later changes, the last" in browser.text and "were ignored as noise." in browser.text


async def test_the_health_history_shows_the_recorded_reasons(house: House, browser: Browser) -> None:
    put(house, hot=HOT)
    notice = a_draft("A source works again", alert_type="source_recovered", content="Before that: timeout")
    await told(house, a_draft("News"), notice)
    await browser.get(here())
    assert "recovered Before that: timeout" in browser.text


async def test_its_worst_score_of_each_day_is_drawn_from_the_second_day_on(house: House, browser: Browser) -> None:
    day = day_of(house.context.world.now())
    put(house, hot=msgspec.structs.replace(HOT, scores=states.scored(b"", day, 1.0)))
    await browser.get(here())
    assert not browser.page.xpath("//*[@class='course']")
    kept = b""
    for at, score in ((day - 3, 1.0), (day - 2, 0.0), (day, 0.5)):
        kept = states.scored(kept, at, score)
    put(house, hot=msgspec.structs.replace(HOT, scores=kept))
    await browser.get(here())
    rects = browser.page.xpath("//*[@class='course']//rect")
    assert [float(rect.get("height")) for rect in rects] == [40.0, 1.0, 0.0, 20.0]
    assert f"worst score since {named(day - 3)}: 0.00 at the lowest, on {named(day - 2)}" in browser.text


async def test_each_check_is_recorded(house: House, browser: Browser) -> None:
    put(house, hot=HOT)
    await told(house, a_draft("News"), notes=(Note(Millis(NOW + 300), "told", "Of 3 entries: 1 new."),))
    await browser.get(here())
    (row,) = [row for row in browser.page.xpath("//tr") if "changed" in row.text_content()]
    assert "Of 3 entries: 1 new." in row.text_content()


async def test_why_a_text_was_not_reported_is_explained_with_an_optional_check(house: House, browser: Browser) -> None:
    put(house, hot=HOT)
    await browser.get(f"{here()}?text=%3Cb%3Eday+ticket")
    assert "Seen, not reported. All is well." in browser.text
    assert browser.page.xpath("//input[@name='text']/@value")[0] == "<b>day ticket"
    await browser.submit(f"{here()}/why")
    asked = [message for message in house.registry.seen if isinstance(message, ExplainSource)]
    assert [(one.text, one.check_now) for one in asked] == [("<b>day ticket", False), ("<b>day ticket", True)]


async def test_a_missing_source_is_not_found(browser: Browser) -> None:
    for path in (here(9), "/sources/nonsense", f"{here(9)}/edit"):
        await browser.get(path)
        assert browser.answer.status_code == 404
    assert "It may have been deleted" in browser.text
    assert browser.page.xpath("//form[@action='/sources']//input/@name") == ["q"]
    assert {"/", "/sources", "/stream"} <= {*browser.page.xpath("//main//a/@href")}


async def test_check_now_shows_its_result(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    source = put(house, hot=HOT)
    await browser.get(here())
    await browser.submit(f"{here()}/check")
    assert "waits for its host's turn" in browser.text and browser.path == here()
    handle = house.registry._handle

    def looks(message: Any) -> Any:
        if isinstance(message, CheckNow):
            view = house.registry.views[source]
            row = check_row(NOW, Verdict.UNCHANGED, 304, ms=12)
            after = {"trail": add_row(view.hot.trail, row), "looks": view.hot.looks + 1}
            house.registry.views[source] = SourceView(view.source, SourceRuntime(**after))
        return handle(message)

    monkeypatch.setattr(house.registry, "_handle", looks)
    await browser.submit(f"{here()}/check")
    assert "Checked just now: nothing has changed. (304, 12 ms)" in browser.text


async def test_a_check_that_rate_limits_forbid_is_reported_on_the_page(
    house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(house, hot=HOT)
    handle = house.registry._handle

    def refuses(message: Any) -> Any:
        if isinstance(message, CheckNow):
            raise TooSoon("it was checked just now: again in 42 s", 42)
        return handle(message)

    monkeypatch.setattr(house.registry, "_handle", refuses)
    await browser.get(here())
    await browser.submit(f"{here()}/check")
    assert browser.page.xpath("//p[@role='alert']/text()") == ["It was checked just now: again in 42 s."]


@pytest.mark.parametrize(
    ("verdict", "says", "bad"),
    [
        (Verdict.CHANGED, "there is a change", False),
        (Verdict.NOTHING_TO_TELL, "but not enough to report", False),
        (Verdict.REMOTE_TRANSIENT, "failed. timeout", True),
        (Verdict.THROTTLED, "throttled", True),
    ],
)
def test_the_result_of_a_check_as_a_sentence(verdict: Verdict, says: str, bad: bool) -> None:
    hot = SourceRuntime(trail=add_row(b"", check_row(NOW, verdict, 200)), last_error="timeout")
    words, is_bad = came_of_it(SourceView(a_source(), hot))
    assert says in words and is_bad is bad


async def test_it_is_paused_and_watched_again(house: House, browser: Browser) -> None:
    source = put(house, hot=HOT)
    await browser.get(here())
    await browser.submit(f"{here()}/pause")
    assert not house.registry.views[source].source.enabled and "paused" in browser.text
    assert not browser.page.xpath("//form[contains(@action,'/check')]")
    await browser.submit(f"{here()}/resume")
    assert house.registry.views[source].source.enabled and "Resumed." in browser.text


async def test_a_deletion_takes_its_word(house: House, browser: Browser) -> None:
    put(house, hot=HOT, title="Tides")
    await browser.get(here())
    await browser.submit(f"{here()}/delete", {"confirm": "yes"})
    assert browser.answer.status_code == 422 and "To confirm, type: delete" in browser.text and house.registry.views
    await browser.submit(f"{here()}/delete", {"confirm": "delete"})
    assert not house.registry.views and browser.path == "/sources" and "Deleted: Tides" in browser.text


async def test_an_edit_starts_from_the_current_values_and_changes_only_the_edited_ones(
    house: House, browser: Browser
) -> None:
    source = put(house, type="html", title="Tides", tags=("label:sea", "topic:a"), selector="main", ignore=(".ad", "b"))
    await browser.get(f"{here()}/edit")
    form = browser.form(f"{here()}/edit")
    values = {name: form.fields[name] for name in ("title", "tags", "selector")}
    assert values == {"title": "Tides", "tags": "sea, topic:a", "selector": "main"}
    assert form.fields["ignore"].strip() == ".ad\nb"
    change = {"title": " New  name ", "tags": "one", "selector": "", "ignore": "", "schedule": "90s", "bar": "0.7"}
    await browser.submit(f"{here()}/edit", change)
    edited = house.registry.views[source].source
    assert (edited.title, edited.selector, edited.ignore, edited.schedule, edited.bar) == (
        "New name",
        None,
        (),
        90,
        0.7,
    )
    (asked,) = [message for message in house.registry.seen if isinstance(message, EditSource)]
    assert asked.patch.tags == ("label:one",)
    assert "The next check stores the new part as the baseline" in browser.text


async def test_an_edit_names_the_other_hosts_that_are_fetched(house: House, browser: Browser) -> None:
    source = put(house, type="html", follow="new_links", follow_hosts=("a.example", "*"))
    await browser.get(f"{here()}/edit")
    assert browser.form(f"{here()}/edit").fields["follow_hosts"] == "a.example, *"
    await browser.submit(f"{here()}/edit", {"follow_hosts": "b.example,\nc.example "})
    edited = house.registry.views[source].source
    assert (edited.follow, edited.follow_hosts) == ("new_links", ("b.example", "c.example"))


async def test_an_edit_shows_the_headers_shared_with_and_from_other_sources(house: House, browser: Browser) -> None:
    source = put(house, type="html", headers="X: s3cret", headers_for=("*.a.example",))
    await browser.get(f"{here()}/edit")
    assert browser.form(f"{here()}/edit").fields["headers_for"] == "*.a.example"
    await browser.submit(f"{here()}/edit", {"headers_for": "*.a.example, b.example"})
    assert "Give headers again: the stored value was given for" in browser.text
    typed = {"headers_for": "*.a.example, b.example", "headers": "X: s3cret"}
    await browser.submit(f"{here()}/edit", typed)
    edited = house.registry.views[source].source
    assert (edited.headers, edited.headers_for) == ("X: s3cret", ("*.a.example", "b.example"))
    await browser.get(here())
    assert "Its headers are sent for" in browser.text and "*.a.example, b.example" in browser.text
    house.registry.views[source] = msgspec.structs.replace(house.registry.views[source], headers_from=a_source_id(7))
    await browser.get(here())
    assert f'href="/sources/{a_source_id(7)}"' in browser.answer.text


async def test_an_edit_of_a_push_source_keeps_its_first_message_unless_named(house: House, browser: Browser) -> None:
    source = put(house, type="push", url="wss://a.test/", hello="s3cret", headers="X-Key: s3cret", filter="tide")
    await browser.get(f"{here()}/edit")
    assert "s3cret" not in browser.answer.text and "One is stored" in browser.text and "Some are stored" in browser.text
    await browser.submit(f"{here()}/edit", {"subprotocols": "v2, v1", "everything": "true"})
    edited = house.registry.views[source].source
    assert (edited.hello, edited.subprotocols) == ("s3cret", ("v2", "v1"))
    await browser.get(f"{here()}/edit")
    await browser.submit(f"{here()}/edit", {"forget_hello": "true"})
    edited = house.registry.views[source].source
    assert (edited.hello, edited.headers) == (None, "X-Key: s3cret")


async def test_an_edit_of_a_page_keeps_its_headers_unless_named(house: House, browser: Browser) -> None:
    source = put(house, type="html", headers="Cookie: s3cret=1")
    await browser.get(f"{here()}/edit")
    assert "s3cret" not in browser.answer.text and "Some are stored" in browser.text
    await browser.submit(f"{here()}/edit", {"title": "Mine"})
    assert house.registry.views[source].source.headers == "Cookie: s3cret=1"
    await browser.get(f"{here()}/edit")
    await browser.submit(f"{here()}/edit", {"headers": "Cookie: s=2"})
    assert house.registry.views[source].source.headers == "Cookie: s=2"
    await browser.get(f"{here()}/edit")
    await browser.submit(f"{here()}/edit", {"forget_headers": "true"})
    assert house.registry.views[source].source.headers is None


async def test_a_refused_edit_keeps_the_input(house: House, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    put(house, type="html")
    await browser.get(f"{here()}/edit")
    await browser.submit(f"{here()}/edit", {"title": "Mine", "schedule": "5s", "tags": "kind:x"})
    assert browser.answer.status_code == 422 and browser.form(f"{here()}/edit").fields["title"] == "Mine"
    assert browser.page.xpath("//small[@class='wrong']/text()")
    handle = house.registry._handle

    def refuses(message: Any) -> Any:
        if isinstance(message, EditSource | PreviewSource):
            raise Unprocessable("no CSS at character 3", "body.selector", "a[")
        return handle(message)

    monkeypatch.setattr(house.registry, "_handle", refuses)
    await browser.submit(f"{here()}/edit", {"selector": "a[", "schedule": "", "tags": ""})
    assert browser.page.xpath("//small[@id='e-selector']/text()") == ["No CSS at character 3."]
    await browser.post(f"{here()}/try", {"selector": "a["})
    assert browser.page.xpath("//small[@id='e-selector']/text()") == ["No CSS at character 3."]


async def test_the_second_of_two_concurrent_editors_gets_a_warning_and_keeps_the_input(
    house: House, browser: Browser
) -> None:
    source = put(house, type="html", title="Tides")
    await browser.get(f"{here()}/edit")
    put(house, type="html", title="By another")
    await browser.submit(f"{here()}/edit", {"title": "Mine"})
    assert browser.answer.status_code == 422 and "changed in another place" in browser.text
    assert browser.form(f"{here()}/edit").fields["title"] == "Mine"
    assert house.registry.views[source].source.title == "By another"
    await browser.submit(f"{here()}/edit")
    assert browser.answer.status_code == 422, "what was typed goes on from the revision that was shown"
    await browser.get(f"{here()}/edit")
    await browser.submit(f"{here()}/edit", {"title": "Mine"})
    assert house.registry.views[source].source.title == "Mine"


async def test_selectors_are_tried_out_without_a_change(house: House, browser: Browser) -> None:
    source = put(house, type="html")
    house.registry.preview = of_a_page()
    await browser.get(f"{here()}/edit")
    await browser.post(f"{here()}/try", {"selector": "main", "title": "Mine", "revision": "x"})
    assert "The selector keeps 1 element" in browser.text and "Day ticket: 12 euros." in browser.text
    assert browser.form(f"{here()}/edit").fields["selector"] == "main"
    assert browser.form(f"{here()}/edit").fields["title"] == "Mine"
    assert browser.form(f"{here()}/edit").fields["revision"] == "x"
    assert house.registry.views[source].source.selector is None


async def test_text_of_a_source_and_its_events_stays_text(house: House, browser: Browser) -> None:
    hostile = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'{{7919*7927}}"
    bad = SourceRuntime(health=Health(0.1, "rotten", hostile), last_error=hostile, trail=LOOKS, last_look_at=NOW)
    put(house, type="html", title=hostile, tags=(f"label:{hostile}",), selector=hostile, url="javascript:x", hot=bad)
    diff = Diff((hostile,), (hostile,), (Change(hostile, f"{hostile} b"),))
    draft = a_draft(hostile, source_type="html", diff=diff, url="javascript:alert(1)")
    await told(house, draft, notes=(Note(NOW, "told", hostile),))
    for path in (here(), f"{here()}/edit", f"{here()}?text={'%3Cscript%3E' * 3}"):
        await browser.get(path)
        assert browser.answer.status_code == 200 and "alert(1)" in browser.text and "62773913" not in browser.text
        assert not browser.page.xpath("//main//script | //main//img | //@onerror")
        assert not [href for href in browser.page.xpath("//@href") if href.startswith("javascript")]


async def test_an_events_own_page_shows_the_same_difference_whole(house: House, browser: Browser) -> None:
    put(house, type="html", hot=HOT)
    await told(house, a_draft("It costs 29", source_type="html", diff=DIFF, delta=DELTA))
    await browser.get(here())
    (event,) = set(browser.page.xpath("//a[starts-with(@href,'/events/')]/@href"))
    await browser.get(event)
    assert browser.answer.status_code == 200
    assert browser.page.xpath("//div[@class='diff']//del//del/text()") == ["19"]
    assert browser.page.xpath("//div[@class='diff']//ins//ins/text()") == ["29"]


def changed_price(before: int, after: int, **more: Any) -> TypedChange:
    old, new = (Value(f"€{number}", "money", number, 0, "EUR") for number in (before, after))
    return TypedChange("price", "Team · Price", before=old, after=new, **more)


async def test_prices_are_drawn_with_their_history(house: House, browser: Browser) -> None:
    put(house, hot=HOT, type="html", created_at=NOW)
    await browser.get(here())
    assert not browser.page.xpath("//h2[@id='values']"), "nothing to draw yet"
    assert len(browser.page.xpath("//a[starts-with(@href, '/alerts/new?source=')][text()='Notify me']")) == 1
    for number, change in enumerate((changed_price(20, 30), changed_price(30, 10)), 1):
        at = Millis(NOW + number * 60_000)
        await told(
            house,
            a_draft(f"Plans {number}", source_type="html", diff=DIFF, delta=DELTA, fetched_at=at, changes=(change,)),
        )
    await browser.get(here())
    (said,) = browser.page.xpath("//svg[@class='steps']/@aria-label")
    assert said == "Team · Price: 3 values, from €10 to €30, now €10"
    assert len(browser.page.xpath("//svg[@class='steps']/path[@class='mark']/title")) == 3
    for words in ("€10", "€30 until", "lowest €10", "highest €30"):
        assert words in browser.text


async def test_the_first_change_of_a_counter_is_not_drawn_beside_a_price(house: House, browser: Browser) -> None:
    put(house, hot=HOT, type="html", created_at=NOW)
    figures = [Value(f"{number} people", "number", number, 0, "") for number in (30, 19, 24)]
    steps = zip(figures, figures[1:], (changed_price(349, 289), changed_price(289, 279)), strict=False)
    for number, (old, new, price) in enumerate(steps, 1):
        counter = TypedChange("number", "Delivery", before=old, after=new)
        at = Millis(NOW + number * 60_000)
        both = (price, counter)
        await told(
            house, a_draft(f"Kettle {number}", source_type="html", diff=DIFF, delta=DELTA, fetched_at=at, changes=both)
        )
        await browser.get(here())
        says = browser.page.xpath("//svg[@class='steps']/@aria-label")
        assert [one.partition(":")[0] for one in says] == ["Team · Price", "Delivery"][:number]


async def test_states_versions_and_dates_are_drawn_as_steps_and_removed_ones_have_an_end(
    house: House, browser: Browser
) -> None:
    put(house, hot=HOT, type="html", created_at=NOW)

    def changed(kind: ChangeKind, type: ValueType, *says: tuple[str, str]) -> TypedChange:
        before, after = (Value(text, type, value=value) for text, value in says)
        return TypedChange(kind, kind.title(), before=before, after=after)

    state = changed("availability", "availability", ("In stock", "in_stock"), ("Sold <out>", "out_of_stock"))
    version = changed("version", "version", ("v2.9", "2.9"), ("v2.10", "2.10"))
    date = changed("date", "date", ("1 May 2027", "2027-05-01"), ("3 March 2027", "2027-03-03"))
    went = TypedChange("removed", "Version", before=version.after)
    for number, changes in enumerate(((state, version, date), (went,)), 1):
        at = Millis(NOW + number * 60_000)
        told_so = a_draft(f"Plans {number}", source_type="html", diff=DIFF, delta=DELTA, fetched_at=at, changes=changes)
        await told(house, told_so)
    await browser.get(here())
    says = browser.page.xpath("//svg[@class='steps']/@aria-label")
    assert says[0] == "Availability: 2 values, now Sold <out>" and "the last 2.10, gone since" in says[1]
    assert says[2] == "Date: 2 values, from 2027-03-03 to 2027-05-01, now 2027-03-03"
    paths = [path.rpartition("H")[2] for path in browser.page.xpath("//svg[@class='steps']/path[@class='line']/@d")]
    assert paths[0] == paths[2] == "640" and float(paths[1]) < 640, "its line ends where it went"
    assert browser.page.xpath("//strong[@class='figure muted']/text()") == ["2.10"]
    for words in ("From below: Sold <out>, In stock", "gone ", "earliest 2027-03-03", "lowest 2.9", "highest 2.10"):
        assert words in browser.text


async def test_an_event_shows_its_changes_by_kind(house: House, browser: Browser) -> None:
    put(house, hot=HOT, type="html")
    price = changed_price(20, 10, lowest_since="2026-01-01T00:00:00.000Z")
    gone = TypedChange("availability", before=Value("In stock", "availability", value="in_stock"))
    plain = TypedChange("text", before=Value("one wording"), after=Value("another <b>"))
    (body,) = await told(
        house, a_draft("Plans", source_type="html", diff=DIFF, delta=DELTA, changes=(price, gone, plain))
    )
    await browser.get(f"/events/{msgspec.json.decode(literal_eval(body))['id']}")
    lines = [" ".join(one.text_content().split()) for one in browser.page.xpath("//ul[@aria-label='By kind']/li")]
    assert lines[0].startswith("price Team · Price: €20 → €10 lowest since") and lines[1:] == ["availability In stock"]


async def test_an_event_shows_its_changes_in_the_whole_text_too(house: House, browser: Browser) -> None:
    put(house, hot=HOT, type="html")
    draft = a_draft("Plans", source_type="html", content="About it\nIt costs 29", diff=DIFF, delta=DELTA)
    (body,) = await told(house, draft)
    id = msgspec.json.decode(literal_eval(body))["id"]
    await browser.get(f"/events/{id}")
    assert browser.page.xpath("//h2[text()='The text now']")
    await browser.get(f"/events/{id}?show=text")
    (diff,) = browser.page.xpath("//div[@class='diff']")
    assert " ".join(diff.text_content().split()) == "About it − removed: It costs 19 + added: It costs 29"
    assert not browser.page.xpath("//h2[text()='The text now']")
    assert (await browser.get(f"/events/{id}?show=else")).status_code == 400


async def test_a_rendered_page_states_its_cost_and_a_missing_browser(house: House, browser: Browser) -> None:
    missing = "it could not be rendered: no Chromium is installed"
    ill = msgspec.structs.replace(HOT, rendered=True, last_error=missing)
    id = put(house, hot=ill, type="html", render="auto", wait_for="#p")
    await browser.get(f"/sources/{id}")
    for words in (
        "not rendered",
        "It could not be rendered: no Chromium is installed.",
        "a check costs 100 plain ones",
        "#p",
    ):
        assert words in browser.text


async def test_the_first_values_are_large_and_the_others_a_table(house: House, browser: Browser) -> None:
    id = put(house, hot=HOT, type="html", created_at=NOW)
    standing = [StandingValue(Value(f"{n} EUR", "money", n, 0, "EUR"), 0, f"Plan {n}") for n in range(220)]
    sold_out = StandingValue(Value("Sold out <b>", "availability", value="out_of_stock"), 0, "Team · Stock")
    page = ReportedPage([ReportedBlock("x", False, False, False, "", "")], 0, 0)
    house.registry.told[id] = page._replace(standing=StandingValues((sold_out, *standing), 5, NOW))
    await browser.get(here())
    first = browser.page.xpath("//ul[@class='values']/li")
    (rest,) = browser.page.xpath("//section[@aria-labelledby='values']//tbody")
    assert (len(first), len(rest.xpath("tr"))) == (8, 192)
    assert " ".join(first[3].text_content().split()) == "Plan 3 €3"
    assert "217 more values" not in browser.text and "218 more values" in browser.text
    assert "26 values are not shown." in browser.text
    house.registry.told[id] = page._replace(standing=StandingValues((sold_out,), 0, NOW))
    await browser.get(here())
    assert "Sold out <b>" in browser.text, "in the page's own words, and never as markup"
    assert not browser.page.xpath("//svg[@class='steps']"), "nothing has changed"


async def test_numbers_read_from_prose_are_folded_and_have_no_chart(house: House, browser: Browser) -> None:
    id = put(house, hot=HOT, type="html", created_at=NOW)
    year = Value("1921", "number", 1921, 0, "")
    prose = (StandingValue(year, 0, "made in Sheffield since … It whistles"), StandingValue(year, 0, "we close at"))
    page = ReportedPage([ReportedBlock("x", False, False, False, "", "")], 0, 0)
    house.registry.told[id] = page._replace(standing=StandingValues(prose, 0, NOW))
    await browser.get(here())
    assert not browser.page.xpath("//h2[@id='values']") and "2 more values" in browser.text
    (row, _) = browser.page.xpath("//div[@id='each']//details//tbody/tr")
    assert " ".join(row.text_content().split()).startswith("made in Sheffield since1921"), "without the words after it"
    seats = StandingValue(Value("8", "number", 8, 0, ""), 0, "", "$.plans[Team].seats")
    version = StandingValue(Value("2.5.0", "version", value="2.5.0"), 0, "Version … released on")
    house.registry.told[id] = page._replace(standing=StandingValues((*prose, seats, version), 0, NOW))
    await browser.get(here())
    shown = [" ".join(one.text_content().split()) for one in browser.page.xpath("//ul[@class='values']/li")]
    assert shown == ["Version 2.5.0", "$.plans[Team].seats 8"]
    changed = TypedChange("number", "to … On", before=Value("17", "number", 17), after=Value("18", "number", 18))
    await told(house, a_draft("Hours", source_type="html", diff=DIFF, delta=DELTA, changes=(changed,)))
    await browser.get(here())
    assert not browser.page.xpath("//svg[@class='steps']")


async def test_the_page_of_a_source_begins_with_its_value_and_folds_the_rest(house: House, browser: Browser) -> None:
    put(house, hot=msgspec.structs.replace(HOT, private_since=NOW), type="html", created_at=NOW)
    await told(house, a_draft("Plans", source_type="html", diff=DIFF, delta=DELTA, changes=(changed_price(20, 10),)))
    await browser.get(here())
    parts = browser.page.xpath("//main//h2[not(@class)]/@id | //main/details/summary/text()")
    assert parts == [
        "values",
        "latest",
        "events",
        "looks",
        "Why was this not reported?",
        "How it is watched",
        "Delete this source",
    ]
    assert browser.page.xpath("//a[@href='#each']/span[text()='private']")
    assert browser.page.xpath("//a[text()='Notify me']/@href")[0].endswith("&when=below"), "it has a price"
