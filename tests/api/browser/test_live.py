"""Live lists in many tabs: equal lists share one stream, hidden tabs have none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Entry, Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab
from tests.support.waiting import wait_until

TABS = 8
"""More than the six connections that a browser opens to one host."""


@pytest.fixture
def tabs(new_tab: NewTab, service: Service) -> Sequence[Tab]:
    """Visible tabs of one browser, all with the same list."""
    first = new_tab()
    found = [first, *(Tab(first.context, service.url) for _ in range(TABS - 1))]
    for tab in found:
        tab.open("/stream").sees("Live")
    return found


def publish(service: Service, origin: Origin, *titles: str) -> None:
    url = origin.feed("/tides", "Tides", [Entry(title) for title in titles])
    known = [source["id"] for source in service.ask("GET", "/v1/sources") if source["url"] == url]
    if known:
        service.look(known[0])
    else:
        service.add(url)


def test_eight_tabs_share_one_stream_and_all_show_new_events(
    tabs: Sequence[Tab], service: Service, origin: Origin
) -> None:
    publish(service, origin, "low water")
    wait_until(lambda: service.streams() == 1)
    publish(service, origin, "low water", "spring tide")
    for tab in tabs:
        tab.sees("spring tide")
    assert service.streams() == 1
    assert {tab.page.get_by_text("spring tide").count() for tab in tabs} == {1}


def test_a_tab_that_comes_back_to_the_list_misses_nothing(
    tabs: Sequence[Tab], service: Service, origin: Origin
) -> None:
    away, *others = tabs
    hide(away, hidden=True)
    publish(service, origin, "ebb")
    publish(service, origin, "ebb", "flood")
    for tab in others:
        tab.sees("flood")
    assert not away.page.get_by_text("flood").count()
    hide(away, hidden=False)
    away.sees("flood")
    for tab in others:
        tab.page.close()
    publish(service, origin, "ebb", "flood", "slack water")
    away.sees("slack water")
    hide(away, hidden=True)
    wait_until(lambda: service.streams() == 0)


def test_events_after_marking_all_as_read_show_as_new_at_once_and_after_a_reload(
    new_tab: NewTab, service: Service, origin: Origin
) -> None:
    publish(service, origin, "neap tide")
    publish(service, origin, "neap tide", "slack tide")
    tab = new_tab().open("/stream").press("Mark all as read")
    tab.sees("Nothing new since you marked all as read.")
    tab.sees("Live")
    publish(service, origin, "neap tide", "slack tide", "king tide")
    new = tab.page.locator("#events li").filter(has=tab.page.get_by_text("new", exact=True))
    for _ in range(2):
        tab.sees("king tide")
        assert new.locator("a").all_inner_texts() == ["king tide"]
        tab.open("/stream")


def test_a_live_event_equals_the_reloaded_one(new_tab: NewTab, service: Service, origin: Origin) -> None:
    publish(service, origin, "ebb tide")
    tab = new_tab().open("/stream")
    tab.sees("Live")
    publish(service, origin, "ebb tide", "rip tide", "spring flood")
    tab.sees("spring flood")
    live = tab.page.locator("#events li p:last-child").first.inner_text()
    assert live.endswith("feed · Tides")
    rows = tab.page.locator("#events li a").all_inner_texts()
    assert tab.open("/stream").page.locator("#events li a").all_inner_texts() == rows


def hide(tab: Tab, *, hidden: bool) -> None:
    """Make a page believe that it is hidden or visible: a headless tab is always visible."""
    said = "true" if hidden else "false"
    tab.run(
        f"Object.defineProperty(document, 'hidden', {{value: {said}, configurable: true}}),"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
