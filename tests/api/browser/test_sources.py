"""Sources on a phone: paste, preview, try a selector, watch, check; and import a list of feeds."""

from __future__ import annotations

import re

from tests.api.browser import axe
from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Answer, Entry, Origin
from tests.api.browser.tab import Tab
from tests.api.browser.world import TICKETS

LOOKED = re.compile("checked just now|The check is requested", re.IGNORECASE)
"""A fast machine hits the rate limit, a busy one does not wait for the result."""


def fits(tab: Tab) -> bool:
    return bool(tab.run("document.documentElement.scrollWidth <= innerWidth"))


def test_a_page_is_pasted_seen_tried_and_watched_and_a_list_comes_in(new_tab: NewTab, origin: Origin) -> None:
    tab = new_tab(viewport={"width": 360, "height": 740})
    tab.open("/").page.keyboard.press("g")
    tab.page.keyboard.press("s")
    tab.follow("Add the first source").fill(urls=origin.page("/page", "The beach", TICKETS[:2])).press("Preview")
    tab.sees("2 blocks")
    tab.unfold("Options").fill(selector="main p:first-child").press("Try these selectors").sees(
        "The selector keeps 1 element"
    )
    title = tab.page.locator("#f-title")  # the page's own title, until the user sets one
    assert (title.input_value(), title.get_attribute("placeholder")) == ("", "The beach") and fits(tab)
    tab.press("Start").sees("Next check in")
    assert fits(tab)
    tab.press("Check now").sees(LOOKED)
    outline = f'<outline xmlUrl="{origin.feed("/feed", "Notes", [Entry("a note")])}" text="Notes" category="sea"/>'
    tab.open("/sources/import").unfold("Or paste its content").fill(
        text=f'<opml version="2.0"><body>{outline}</body></opml>'
    )
    tab.press("Preview").press("Add 1").sees("1 of 1 done: 1 new")  # without a reload
    tab.open("/sources?tag=sea")
    assert tab.page.locator("tbody tr").count() == 1 and fits(tab)


SHOP = """<!doctype html><meta charset=utf-8><title>Shore shop</title><body><nav><a href=/>Home</a></nav><main>
<h1>Shore shop</h1><h2>Prices</h2>
<table class=prices><tr><th>Ticket<th>Price<tr><td>Adult<td>14.50 €<tr><td>Child<td>7.00 €</table>
<h2>News</h2><ul class=news><li><a href=/n/1>The harbour is open again</a>
<li><a href=/n/2>The museum is open again</a><li><a href=/n/3>The pier is open again</a></ul>
<p dir=rtl>الأسعار تتغير كل يوم<p>チケットの料金は季節によって変わります。</p><p>
"""


def test_a_block_is_picked_from_the_page_and_a_price_becomes_an_alert(new_tab: NewTab, origin: Origin) -> None:
    origin.says["/shop"] = Answer(SHOP + "A long text, and then more of it. " * 40)
    tab = new_tab(viewport={"width": 390, "height": 844})
    tab.open("/sources/add").fill(urls=f"{origin.url}/shop").press("Preview").press("Choose on the page")
    assert axe.check(tab) == [] and fits(tab)
    tab.press("Leave this out (block 2)").sees("Left out by:")
    assert axe.check(tab) == [] and fits(tab)
    tab.press("Choose more").press("Use this").press("Choose on the page").press("This is the price (block 9)")
    assert axe.check(tab) == [] and fits(tab)
    tab.page.locator("[name='price.amount']").fill("6.50")
    tab.press("Write the alert").sees("This is the alert for it.")
    assert tab.page.locator("[name=filter_query]").input_value() == 'label:"Child · Price" price<6.50EUR'
    tab.open("/sources").follow("Shore shop").follow("Choose what to watch")
    tab.press("Follow these links (block 11)").sees("It has 3 items.")
    tab.press("Save").sees("Saved.")
    assert fits(tab)
