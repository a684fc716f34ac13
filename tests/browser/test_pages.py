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
