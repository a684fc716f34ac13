"""A library of 3,000 sources: tag a folder, pause all, undo, restore deleted ones, sort, and show dense rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.browser.conftest import NewTab
from tests.api.browser.service import Service, a_service
from tests.api.browser.tab import Tab
from tests.support.library import fill

COUNT = 3_000
DENSE = 25


@pytest.fixture(scope="module")
def service(chromium: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("service") / "data"
    fill(data, COUNT)
    with a_service(data) as service:
        yield service


def in_all(tab: Tab, act: str) -> None:
    tab.page.locator("[name=every]").check()
    tab.press(act)


def test_a_folder_is_tagged_all_are_paused_and_it_is_undone(new_tab: NewTab) -> None:
    tab = new_tab()
    tab.open("/sources").page.locator("header").get_by_role("link", name="0 429").click()
    tab.page.locator("[name=every]").check()
    tab.page.locator("#f-tag").fill("winter")
    tab.press("Add tag")
    tab.sees("429 sources tagged “winter”.")
    tab.open("/sources")
    in_all(tab, "Pause")
    tab.sees("3,000 sources paused.")
    tab.press("Undo").sees("3,000 sources resumed.")


def test_deleted_sources_are_had_back_without_a_script(new_tab: NewTab) -> None:
    tab = new_tab(java_script_enabled=False)
    tab.open("/sources?tag=topic:11&q=section/11/").page.locator("[name=every]").check()
    tab.press("Delete…").fill(confirm="delete 1").press("Delete 1 source")
    tab.sees("1 source deleted. You can restore it for 10 minutes.")
    tab.open("/sources/deleted").sees("Notes of section 11")
    tab.press("Restore the selected sources").sees("1 source back.")
    tab.open("/sources?q=section/11/").sees("Notes of section 11")


def test_a_head_sorts_and_a_second_press_turns_it(new_tab: NewTab) -> None:
    tab = new_tab()
    tab.open("/sources").follow("Source")
    assert tab.page.locator("thead [aria-sort=ascending]").inner_text().startswith("Source")
    assert "section 0" in tab.page.locator("tbody tr").first.inner_text()
    tab.page.locator("thead [aria-sort] a").click()
    assert "section 999" in tab.page.locator("tbody tr").first.inner_text()


def test_compact_rows_are_many(new_tab: NewTab) -> None:
    tab = new_tab()
    tab.open("/sources").run("document.documentElement.dataset.density = 'compact'")
    rows = "[...document.querySelectorAll('tbody tr')].filter(row => row.getBoundingClientRect().bottom <= innerHeight)"
    assert tab.run(f"{rows}.length") >= DENSE
    assert tab.run("document.documentElement.scrollWidth <= innerWidth")
