"""Keyboard navigation and focus."""

from __future__ import annotations

from tests.api.browser import axe
from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Entry, Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab

FOCUS = "(e => e.id || e.name || e.textContent.trim())(document.activeElement)"


def test_the_first_key_leads_past_the_navigation(tab: Tab) -> None:
    tab.open("/sources").page.keyboard.press("Tab")
    assert tab.run(FOCUS) == "Skip to content"
    assert tab.page.locator(".skip").bounding_box()["y"] >= 0  # type: ignore[index]
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("Tab")
    assert tab.run(FOCUS) == "paste"


def test_every_stop_shows_that_it_has_the_focus(tab: Tab) -> None:
    tab.open("/keys/new")
    stops = []
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        if tab.run("document.activeElement === document.body"):
            break
        stops.append(tab.run(FOCUS))
        style = tab.run("(s => [s.outlineStyle, parseFloat(s.outlineWidth)])(getComputedStyle(document.activeElement))")
        assert style[0] != "none" and style[1] >= 2, stops[-1]
    assert {"Today", "Sign out", "f-name", "f-rate", "Make the key"} <= set(stops)


def test_keys_search_go_and_explain_themselves(tab: Tab) -> None:
    keyboard = tab.open("/alerts").page.keyboard
    keyboard.press("?")
    dialog = tab.page.get_by_role("dialog", name="Keys")
    dialog.wait_for()
    assert "Sources" in dialog.inner_text()
    keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    keyboard.press("g")
    keyboard.press("l")
    tab.page.wait_for_url("**/stream")
    keyboard.press("/")
    assert tab.run(FOCUS) == "keyword"
    keyboard.type("g s ?")
    assert tab.page.locator("#keyword").input_value() == "g s ?"
    keyboard.press("Enter")
    tab.page.wait_for_url("**/stream?*keyword=g+s*")


def test_the_palette_goes_to_places_and_sources(tab: Tab, service: Service, origin: Origin) -> None:
    source = service.add(origin.feed("/palette", "Tides", [Entry("High")]), title="Tide tables of the palette")
    keyboard = tab.open("/keys").page.keyboard
    keyboard.press("Control+k")
    dialog = tab.page.get_by_role("dialog", name="Go to a page or a source")
    assert dialog.get_by_role("option", name="Destinations").is_visible()
    assert axe.check(tab) == []
    keyboard.type("tables of the pal")
    dialog.get_by_role("option", name="Tide tables of the palette").wait_for()
    keyboard.press("Enter")
    tab.page.wait_for_url(f"**/sources/{source['id']}")
    keyboard.press("Control+k")
    keyboard.type("syst")
    keyboard.press("Enter")
    tab.page.wait_for_url("**/system")
    keyboard.press("Control+k")
    keyboard.type("tables of the pal")
    keyboard.press("Enter")
    tab.page.wait_for_url(f"**/sources/{source['id']}")


def test_letters_walk_a_list_and_reach_the_field_for_a_url(tab: Tab, service: Service, origin: Origin) -> None:
    service.add(origin.feed("/walk", "Walk", [Entry("High")]), title="First in the walk")
    keyboard = tab.open("/sources?q=first+in+the+walk").page.keyboard
    keyboard.press("j")
    assert tab.run(FOCUS) == "First in the walk"
    keyboard.press("k")
    assert tab.run(FOCUS) == "First in the walk"
    keyboard.press("n")
    assert tab.run(FOCUS) == "paste"
    keyboard = tab.open("/system").page.keyboard
    keyboard.press("/")
    assert tab.run(FOCUS) == "filter", "it unfolds the parts"


def test_after_a_refused_form_the_focus_is_at_the_error(tab: Tab) -> None:
    tab.open("/keys/new").fill(name="Newsroom", rate="much").page.keyboard.press("Enter")
    tab.sees("Please check these fields:")
    assert tab.run(FOCUS) == "faults"
    assert tab.page.title().startswith("Error: ")
    tab.page.locator("#faults a", has_text="Requests a minute").click()
    assert tab.run(FOCUS) == "f-rate"
    assert tab.page.locator("#f-rate").get_attribute("aria-describedby") == "e-rate"
    assert tab.page.locator("#f-name").input_value() == "Newsroom"


def test_new_events_slide_in_and_wait_while_paused(new_tab: NewTab, service: Service, origin: Origin) -> None:
    tab = new_tab(permissions=["clipboard-read", "clipboard-write"])
    source = service.add(origin.feed("/live", "Live", [Entry("first")]), tags=["live"])["id"]

    def publish(*titles: str) -> None:
        origin.feed("/live", "Live", [Entry(title) for title in titles])
        service.look(source)

    tab.open("/stream?tag=label:live").sees("Live")
    publish("first", "second")
    tab.sees("second")
    tab.press("Pause").sees("Paused")
    publish("first", "second", "third")
    tab.sees("Paused, 1 new")
    assert tab.page.get_by_text("third").count() == 0
    tab.press("Continue").sees("third")
    assert tab.page.locator("#events li").first.inner_text().startswith("third")
    tab.unfold("Take it with you").press("Copy the command").sees("Copied")
    assert "tag=label" in tab.page.evaluate("navigator.clipboard.readText()")
    tab.open("/stream?tag=label:nothing").sees("Nothing yet")


def test_the_focus_is_not_lost_when_the_row_that_has_it_slides_out(tab: Tab, service: Service, origin: Origin) -> None:
    entries = [Entry(f"tide {number}") for number in range(61)]
    source = service.add(origin.feed("/tides", "Tides", entries[:1]), tags=["tides"])["id"]

    def publish(upto: int) -> None:
        origin.feed("/tides", "Tides", entries[:upto])
        service.look(source)
        tab.sees(entries[upto - 1].title)

    tab.open("/stream?tag=label:tides")
    publish(2)
    tab.page.locator("#events a", has_text="tide 1").focus()
    publish(61)
    assert tab.run(FOCUS) == "tide 1"
    assert tab.page.locator("#events li").count() == 51
    tab.page.keyboard.press("Shift+Tab")
    assert tab.run("!document.querySelector('#events li:nth-child(51)')?.contains(document.activeElement)")
    assert tab.run("document.activeElement.closest('#events') !== null")
