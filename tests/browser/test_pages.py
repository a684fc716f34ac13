"""Every page in its states: what axe says of it, how heavy it is, how it prints, and what it looks like."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser import axe
from tests.browser.conftest import NewTab
from tests.browser.origin import Origin
from tests.browser.service import Service
from tests.browser.tab import Tab
from tests.browser.world import World, furnish
from tests.rules.source_files import ROOT

PICTURES = ROOT / "build/pictures"
EMPTY = ("/", "/first-steps", "/sources", "/alerts", "/destinations", "/destinations/new", "/webhook-bins", "/stream")


def wrong_with(tab: Tab, pages: dict[str, str]) -> dict[str, list[str]]:
    found = {}
    for name, path in pages.items():
        tab.open(path)
        if wrong := axe.check(tab):
            found[name] = wrong
    return found


def test_axe_finds_nothing_on_the_pages_of_an_empty_service(new_tab: NewTab) -> None:
    assert wrong_with(new_tab(), {path: path for path in EMPTY}) == {}


def test_axe_finds_nothing_on_the_way_in(new_tab: NewTab, service: Service) -> None:
    new_tab()  # so that the password is set
    tab = new_tab(stranger=True)
    assert wrong_with(tab, {"sign in": "/sign-in", "set up": service.set_up_link(), "bad link": "/set-up?key=x"}) == {}
    tab.open("/sign-in").fill(password="something else").press("Sign in").sees("That is not the password.")
    assert axe.check(tab) == []


@pytest.fixture(scope="module")
def world(service: Service, origin: Origin) -> Iterator[World]:
    return furnish(service, origin)


def test_axe_finds_nothing_on_the_pages_of_a_busy_service(new_tab: NewTab, world: World) -> None:
    assert wrong_with(new_tab(), world.pages) == {}


def test_the_check_would_notice(tab: Tab) -> None:
    tab.open("/keys")
    tab.run("document.querySelector('h1').style.color = '#ccc'; document.querySelector('main').append(new Image())")
    tab.run("document.querySelector('main').style.minWidth = '400px'")
    wrong = "\n".join(axe.check(tab))
    assert "light 1280: color-contrast" in wrong and "image-alt" in wrong and "dark 360: 40" in wrong


SEEN = (
    "today",
    "source, changed",
    "alert, edited",
    "system",
    "sources",
    "event, changed",
    "destination, failing",
    "bin",
)


def test_pictures_for_who_wants_to_look(new_tab: NewTab, world: World) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        for width, height, name in ((1280, 800, "desktop"), (360, 740, "phone")):
            tab = new_tab(color_scheme=scheme, viewport={"width": width, "height": height}, device_scale_factor=1)
            for page in SEEN:
                tab.open(world.pages[page])
                if page == "alert, edited":
                    tab.sees("The newest of them")
                path = PICTURES / f"{page.replace(', ', '-')}-{scheme}-{name}.png"
                tab.page.screenshot(path=path, full_page=True)
                assert path.stat().st_size > 10_000
