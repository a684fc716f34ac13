from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sanderling.environment import environ
from tests.api.browser.origin import Origin, an_origin
from tests.api.browser.service import Service, a_service

CHROMIUM = Path("/usr/bin/chromium")
PASSWORD = "a long walk on the beach"
try:
    from playwright.sync_api import Browser, sync_playwright

    MISSING = "" if CHROMIUM.exists() else f"there is no {CHROMIUM}: install Debian's package chromium"
except ImportError:
    MISSING = "the package playwright is not installed"
if not MISSING:
    from tests.api.browser.tab import Tab
NewTab = Callable[..., "Tab"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.real)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all tests here; its driver must stop before Trio tests start."""
    if MISSING:
        (pytest.fail if environ().get("CI") == "true" else pytest.skip)(MISSING)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    with an_origin() as origin:
        yield origin


@pytest.fixture(scope="module")
def service(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with a_service(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


@pytest.fixture(scope="module")
def cookies(chromium: Browser, service: Service) -> Any:
    """The browser state after setting the password."""
    with chromium.new_context() as context:
        tab = Tab(context, service.url).open(service.set_up_link())
        tab.fill(password=PASSWORD, again=PASSWORD).press("Set the password and begin")
        tab.page.wait_for_url(f"{service.url}/")
        assert tab.problems == []
        return context.storage_state()


@pytest.fixture
def new_tab(chromium: Browser, service: Service, request: pytest.FixtureRequest) -> Iterator[NewTab]:
    """Open tabs, signed in unless `stranger`; fail at teardown if any tab had a problem."""
    tabs = []
    with ExitStack() as contexts:

        def opened(*, stranger: bool = False, **options: Any) -> Tab:
            state = None if stranger else request.getfixturevalue("cookies")
            options = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"} | options
            context = contexts.enter_context(chromium.new_context(storage_state=state, **options))
            tabs.append(Tab(context, service.url))
            return tabs[-1]

        yield opened
        assert [problem for tab in tabs for problem in tab.problems] == []


@pytest.fixture
def tab(new_tab: NewTab) -> Tab:
    return new_tab()
