"""Sources on a phone: paste, see, try a selector, watch, look at it; a list of feeds in."""

from __future__ import annotations

from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Entry, Origin
from tests.api.browser.tab import Tab
from tests.api.browser.world import TICKETS


def fits(tab: Tab) -> bool:
    return bool(tab.run("document.documentElement.scrollWidth <= innerWidth"))


def test_a_page_is_pasted_seen_tried_and_watched_and_a_list_comes_in(new_tab: NewTab, origin: Origin) -> None:
    tab = new_tab(viewport={"width": 360, "height": 740})
    tab.open("/").page.keyboard.press("g")
    tab.page.keyboard.press("s")
    tab.follow("Add the first source").fill(urls=origin.page("/page", "The beach", TICKETS[:2])).press("Look at it")
    tab.sees("2 blocks")
    tab.fill(selector="main p:first-child").press("Try these selectors").sees("The selector keeps 1 element")
    title = tab.page.locator("#f-title")  # what the page calls itself, until its user names it
    assert (title.input_value(), title.get_attribute("placeholder")) == ("", "The beach") and fits(tab)
    tab.press("Watch it").sees("Next look in")
    assert fits(tab)
    tab.press("Check now").sees("It was looked at just now")
    outline = f'<outline xmlUrl="{origin.feed("/feed", "Notes", [Entry("a note")])}" text="Notes" category="sea"/>'
    tab.open("/sources/import").fill(text=f'<opml version="2.0"><body>{outline}</body></opml>')
    tab.press("Show what is in it").press("Add 1").sees("1 of 1 done: 1 new")  # without a reload
    tab.open("/sources?tag=sea")
    assert tab.page.locator("tbody tr").count() == 1 and fits(tab)
