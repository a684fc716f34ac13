from __future__ import annotations

from typing import Any

from actors.messages.views import SourceView
from storage.records.checks import Verdict, add_row, check_row
from storage.records.identity import Millis, SourceId
from storage.records.source import Health, SourceRuntime
from tests.api.dashboard.browser import Browser
from tests.api.house import House
from tests.support.build import NOW, a_source, a_source_id

ROTTEN = Health(0.1, "rotten", "12 checks in a row have failed, for 2 h: timeout")


def put(house: House, number: int = 1, *, hot: SourceRuntime | None = None, **source: Any) -> SourceId:
    """Add a source to the registry; return its id."""
    made = a_source(number, **source)
    house.registry.views[made.id] = SourceView(made, hot or SourceRuntime(last_look_at=NOW, next_look_at=NOW))
    return made.id


def rows(browser: Browser) -> list[str]:
    return [" ".join(row.text_content().split()) for row in browser.page.xpath("//table//tbody/tr")]


async def test_without_a_source_the_page_teaches_and_has_one_thing_to_do(browser: Browser) -> None:
    await browser.get("/sources")
    assert "Nothing is watched yet" in browser.text and "Paste any URL" in browser.text
    assert browser.page.xpath("//a[@href='/sources/add']") and not browser.page.xpath("//table")


async def test_each_source_has_its_state_reason_ticks_and_times(house: House, browser: Browser) -> None:
    looks = add_row(b"", check_row(Millis(NOW - 60_000), Verdict.CHANGED, 200))
    for minute in range(3):
        looks = add_row(looks, check_row(Millis(NOW + minute * 60_000), Verdict.REMOTE_TRANSIENT, 503))
    put(house, 1, hot=SourceRuntime(health=ROTTEN, trail=looks, last_look_at=NOW), tags=("label:sea",), title="Tides")
    put(house, 2, enabled=False)
    await browser.get("/sources")
    first, second = rows(browser)
    assert "rotten" in first and "Tides" in first and "12 checks in a row have failed" in first and "sea" in first
    assert "paused" in second and "site2.test/feed" in second
    (said,) = browser.page.xpath("//tbody/tr[1]//svg/@aria-label")
    assert said == "The last 4 checks: 1 with an event, 3 failed"
    assert "2 in all" in browser.text and "1 ok" in browser.text and "1 paused" in browser.text


async def test_the_filter_form_of_the_list_keeps_its_input(house: House, browser: Browser) -> None:
    for number in range(1, 6):
        put(house, number, type="html" if number % 2 else "feed", tags=("topic:sea",) if number > 3 else ())
    await browser.get("/sources?q=site3")
    assert len(rows(browser)) == 1 and browser.page.xpath("//input[@name='q']/@value") == ["site3"]
    await browser.get("/sources?q=&state=&kind=feed&tag=topic%3Asea")
    assert len(rows(browser)) == 1 and "site4" in rows(browser)[0]
    for nothing in ("state=failing", "health=rotten"):
        await browser.get(f"/sources?{nothing}")
        assert "No source matches" in browser.text
    await browser.get("/sources?state=nonsense")
    assert browser.answer.status_code == 400


async def test_the_next_page_keeps_the_filter(house: House, browser: Browser) -> None:
    looks = b""
    for number in range(40):  # no two equal checks in a row
        looks = add_row(looks, check_row(Millis(NOW + number * 60_000), Verdict(number % 8), 200))
    for number in range(1, 96):
        tags = ("label:harbour", "topic:timetables")
        put(house, number, type="html", hot=SourceRuntime(trail=looks), title=f"Timetable {number}", tags=tags)
    await browser.get("/sources?kind=html")
    sizes = [len(rows(browser))]
    while more := browser.page.xpath("//a[@rel='next']/@href"):
        assert "kind=html" in more[0] and len(browser.answer.content) < 60_000
        await browser.get(more[0])
        sizes.append(len(rows(browser)))
    assert sizes == [30, 30, 30, 5]


async def test_a_cursor_of_another_list_is_refused(house: House, browser: Browser) -> None:
    for number in range(1, 60):
        put(house, number)
    await browser.get("/sources")
    (more,) = browser.page.xpath("//a[@rel='next']/@href")
    await browser.get(more + "&q=site")
    assert browser.answer.status_code == 400


async def test_the_ticked_ones_are_paused_and_resumed(house: House, browser: Browser) -> None:
    ids = [put(house, number) for number in range(1, 4)]
    await browser.get("/sources?q=site")
    await browser.submit("/sources/many", {"source": ids[:2], "act": "pause"})
    assert [view.source.enabled for view in house.registry.views.values()] == [False, False, True]
    assert "2 sources paused." in browser.text and browser.path == "/sources?q=site"
    await browser.submit("/sources/many", {"source": ids, "act": "resume"})
    assert all(view.source.enabled for view in house.registry.views.values())
    assert "3 sources resumed." in browser.text


async def test_ticked_sources_are_tagged_untagged_checked_and_scheduled(house: House, browser: Browser) -> None:
    ids = [put(house, number, tags=("topic:sea",)) for number in range(1, 4)]
    await browser.get("/sources")
    await browser.submit("/sources/many", {"source": ids[:2], "act": "tag", "tag": "shops"})
    assert [view.source.tags for view in house.registry.views.values()] == [
        *[("topic:sea", "label:shops")] * 2,
        ("topic:sea",),
    ]
    assert "2 sources tagged “shops”." in browser.text
    await browser.submit("/sources/many", {"source": ids, "act": "untag", "tag": "topic:sea"})
    assert all("topic:sea" not in view.source.tags for view in house.registry.views.values())
    await browser.submit("/sources/many", {"source": ids, "act": "tag", "tag": "kind:mine"})
    assert "0 sources tagged" in browser.text and "service's own" in browser.text
    await browser.submit("/sources/many", {"source": ids, "act": "tag", "tag": " "})
    assert browser.answer.status_code == 422 and "Type a tag." in browser.text
    await browser.submit("/sources/many", {"source": ids, "act": "schedule", "schedule": "10m", "tag": ""})
    assert {view.source.schedule for view in house.registry.views.values()} == {600}
    assert "3 sources checked every 10m." in browser.text
    await browser.submit("/sources/many", {"source": ids, "act": "schedule", "schedule": "", "tag": ""})
    assert {view.source.schedule for view in house.registry.views.values()} == {None}
    await browser.submit("/sources/many", {"source": ids, "act": "schedule", "schedule": "often", "tag": ""})
    assert browser.answer.status_code == 422
    await browser.get("/sources")
    await browser.submit("/sources/many", {"source": ids, "act": "check"})
    assert "3 sources to be checked now." in browser.text


async def test_a_page_has_the_requested_number_of_rows_and_remembers_it(house: House, browser: Browser) -> None:
    for number in range(1, 131):
        put(house, number)
    await browser.get("/sources?kind=feed")
    assert len(rows(browser)) == 30
    (more,) = browser.page.xpath("//span[starts-with(., 'On a page')]/a[text()='100']/@href")
    await browser.get(more)
    assert len(rows(browser)) == 100
    (following,) = browser.page.xpath("//nav[@class='pager']/a[@rel='next']/@href")
    assert "size=100" in following and "kind=feed" in following
    await browser.get(following)
    assert len(rows(browser)) == 30
    await browser.get("/sources?size=5000")
    assert browser.answer.status_code == 400


async def test_a_failure_is_reported_and_affects_no_other_source(house: House, browser: Browser) -> None:
    ids = [put(house, 1), put(house, 2)]
    await browser.get("/sources")
    del house.registry.views[ids[1]]
    await browser.submit("/sources/many", {"source": ids, "act": "pause"})
    assert "1 source paused. 1 not: There is no such source." in browser.text
    await browser.submit("/sources/many", {"act": "pause"})
    assert "Nothing was done: no source is ticked." in browser.text


async def test_a_deletion_asks_first_and_takes_its_word_exactly(house: House, browser: Browser) -> None:
    ids = [put(house, number, title=f"Title {number}") for number in range(1, 4)]
    await browser.get("/sources")
    await browser.submit("/sources/many", {"source": ids[:2], "act": "delete"})
    assert len(house.registry.views) == 3 and "Title 1" in browser.text and "delete 2" in browser.text
    await browser.submit("/sources/many/delete", {"confirm": "yes"})
    assert (
        browser.answer.status_code == 422 and "To confirm, type: delete 2" in browser.text and "Title 2" in browser.text
    )
    await browser.submit("/sources/many/delete", {"confirm": "delete 2"})
    assert list(house.registry.views) == [ids[2]] and "2 sources deleted." in browser.text


async def test_the_way_back_is_only_ever_a_page_of_ours(house: House, browser: Browser) -> None:
    source = put(house)
    await browser.get("/sources")
    await browser.submit("/sources/many", {"source": [source], "act": "pause", "back": "//evil.test/"}, follow=False)
    assert browser.answer.headers["Location"].startswith("/") and "evil" not in browser.answer.headers["Location"]


async def test_a_sources_title_stays_text(house: House, browser: Browser) -> None:
    hostile = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'{{7919*7927}}"
    bad = Health(0.1, "rotten", hostile)
    put(
        house,
        title=hostile,
        tags=(f"label:{hostile}",),
        url="https://a.test/?q=<script>",
        hot=SourceRuntime(health=bad),
    )
    await browser.get("/sources")
    assert browser.text.count("<script>alert(1)</script>") >= 3 and "62773913" not in browser.text
    assert not browser.page.xpath("//main//script | //main//img | //@onerror")


async def test_an_action_on_all_matches_covers_every_page_and_nothing_else(house: House, browser: Browser) -> None:
    for number in range(1, 76):
        put(house, number, tags=("label:shops",) if number > 5 else ())
    await browser.get("/sources?tag=shops")
    assert "all that match, on every page" in browser.text
    await browser.submit("/sources/many", {"act": "pause", "every": "1"})
    assert "70 sources paused." in browser.text
    paused = [view.source.id for view in house.registry.views.values() if not view.source.enabled]
    assert len(paused) == 70 and a_source_id(3) not in paused
    await browser.get("/sources")
    assert "all 75, on every page" in browser.text


async def test_all_that_match_are_deleted_once_their_number_is_typed(house: House, browser: Browser) -> None:
    for number in range(1, 76):
        put(house, number, tags=("label:shops",) if number > 5 else ())
    await browser.get("/sources?tag=shops")
    await browser.submit("/sources/many", {"act": "delete", "every": "1"})
    assert "Delete 70 sources" in browser.text and "and 20 more" in browser.text
    assert not browser.page.xpath("//input[@name='source']"), "thousands of ids do not fit a form"
    await browser.submit("/sources/many/delete", {"confirm": "delete 69"})
    assert "To confirm, type: delete 70" in browser.text and len(house.registry.views) == 75
    await browser.submit("/sources/many/delete", {"confirm": "delete 70"})
    assert "70 sources deleted." in browser.text and len(house.registry.views) == 5


async def test_a_list_that_is_none_means_no_source(house: House, browser: Browser) -> None:
    put(house, 1)
    await browser.get("/sources")
    form = {"act": "pause", "every": "1", "back": "/sources?state=nonsense"}
    await browser.submit("/sources/many", form)
    assert "Filter it again" in browser.text and house.registry.views[a_source_id()].source.enabled


async def test_the_list_comes_in_another_order_and_keeps_it(house: House, browser: Browser) -> None:
    for number in range(1, 62):
        put(house, number, title=f"{(number * 37) % 61:02} things")
    await browser.get("/sources?sort=name")
    names = [row.partition(" things")[0][-2:] for row in rows(browser)]
    assert names == [f"{number:02}" for number in range(30)] and "Sources, by name" in browser.text
    assert browser.page.xpath("//thead//th[@aria-sort]/@aria-sort") == ["ascending"]
    assert browser.page.xpath("//thead//th[@aria-sort]/a/@href") == ["/sources?sort=-name"], "another press turns it"
    (more,) = browser.page.xpath("//a[@rel='next']/@href")
    assert "sort=name" in more
    await browser.get(more)
    assert "30 things" in rows(browser)[0]
    assert browser.page.xpath("//form[@role='search']//input[@name='sort']/@value") == ["name"]
    await browser.get("/sources?sort=else")
    assert browser.answer.status_code == 400
