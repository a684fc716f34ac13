"""The tree: open branches, drawing, and the actions on each row."""

from __future__ import annotations

from typing import Any

import pytest

from sanderling.console import rows
from sanderling.console.parts import possible
from sanderling.console.rows import Fold
from tests.sanderling.console.fake_service import NOW, FakeService, source_id
from tests.sanderling.console.terminal import Terminal, on_terminal

SERVICE = FakeService()


def drawn(row: dict[str, Any] | None, width: int, **at: Any) -> str:
    return "".join(text for text, _ in rows.line_of(row, width, rows.Context(NOW, **at)))


def test_the_first_screen_has_the_parts_in_order_and_failing_ones_below() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("tree, worst first", "└─ site3.test")
        shown = [line[21:44].rstrip() for line in terminal.lines()[4:13]]
        bad = [f"{'└─' if n == 3 else '├─'} site{n}.test/news" for n in range(4)]
        assert shown == ["  log", "! sources  60  worst: Q", *bad, "! destinations  0", "  matcher", "  web"]

    on_terminal(play, flat=False)


def test_a_part_is_folded_and_opened_step_by_step_and_the_cursor_stays_on_it() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("└─ site3.test")
        await terminal.press("j", "left")
        await terminal.wait_for("▸ sources  60  worst: QUAR", "2/5")
        await terminal.press("right")
        await terminal.wait_for("! sources", "2/9")
        await terminal.press("l")
        await terminal.wait_for("▾ sources", "2/65", "├─ site5.test")
        await terminal.press("j", "j", "h")
        await terminal.wait_for("2/65")

    on_terminal(play, flat=False)


def test_t_shows_the_list_worst_first_and_again_the_tree() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("└─ site3.test")
        await terminal.press("t")
        await terminal.wait_for(" worst first", "1/65", "site5.test")
        assert "─ site" not in terminal.text
        await terminal.press("t")
        await terminal.wait_for("tree, worst first", "/9")

    on_terminal(play, flat=False)


def test_a_filter_shows_all_matches_even_in_folded_branches() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("└─ site3.test")
        await terminal.press("z", "slash")
        await terminal.type("site59")
        await terminal.press("enter")
        await terminal.wait_for("filter site59", "└─ site59.test")

    on_terminal(play, flat=False)


def test_a_part_shows_more_step_by_step() -> None:
    fold = Fold()
    assert fold.query == {"tree": True, "open": [], "troubled": ["sources", "destinations"]}
    assert fold.turn("sources", wider=True) and not fold.turn("sources", wider=True)
    assert fold.query == {"tree": True, "open": ["sources"], "troubled": ["destinations"]}
    assert not fold.turn("log", wider=True) and fold.of("log") == ""


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (80, "state hlth rst next name last error"),
        (100, "state hlth rst next age queue every name last error"),
        (120, "state hlth rst next age queue every last checks name last error"),
    ],
)
def test_a_wider_screen_has_more_columns(width: int, heads: str) -> None:
    words = "".join(text for text, _ in rows.table_at(width).heading(width))
    assert " ".join(words.split()) == heads


def test_a_well_source_says_which_page_it_is_at_80_cells_and_a_long_url_keeps_both_ends() -> None:
    page = SERVICE.row(20) | {"name": "https://shop.test/catalogue/kettles/of/steel/and/copper/prices-of-today"}
    assert "shop.test/catalogue/kettles/o" in drawn(page, 80) and drawn(page, 80).endswith("/prices-of-today")
    failing = drawn(page | {"error": "503"}, 80)
    assert "shop.test/cata…" in failing and "rices-of-today" in failing and "503" in failing


def test_a_row_has_its_last_checks_pace_and_queue() -> None:
    assert "    1   10m ......XXXXXX " in drawn(SERVICE.row(1), 120)
    assert "..............XXXXXX" in drawn(SERVICE.row(1), 200)
    assert "    0     - " in drawn(SERVICE.find("log"), 120)


def test_a_destination_is_distinguished_from_a_source() -> None:
    hook = SERVICE.row(20) | {"path": "destinations/1", "kind": "destination", "name": "https://hooks.test/in"}
    assert "to hooks.test/in" in drawn(hook, 80)


@pytest.mark.parametrize(
    ("row", "acts"),
    [
        ({"path": "log", "state": "ok"}, {"restart"}),
        ({"path": "log", "state": "quarantined"}, {"restart", "release"}),
        ({"path": "sources/1", "state": "ok"}, {"restart", "check", "disable"}),
        ({"path": "sources/1", "state": "paused"}, {"enable"}),
        ({"path": "destinations/1", "state": "failing"}, {"restart"}),
        ({"path": "sources/1", "state": "gone"}, set()),
        (None, set()),
    ],
)
def test_an_action_is_offered_only_on_rows_that_support_it(row: dict[str, Any] | None, acts: set[str]) -> None:
    assert set(possible(row)) == acts


def test_the_footer_has_only_actions_of_the_row() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("└─ site3.test")
        foot = terminal.lines()[-1]
        assert "r restart" in foot and not any(word in foot for word in ("check", "release", "pause", "why"))
        await terminal.press("c", "e", "u", "x")
        assert terminal.app.question is None
        await terminal.press("j", "j")
        await terminal.wait_until(lambda: "c check" in terminal.lines()[-1] and "u release" in terminal.lines()[-1])
        assert f"sources/{source_id(0)}" == terminal.app.screen.subject()["path"]  # type: ignore[attr-defined]

    on_terminal(play, (160, 30), flat=False)


def test_a_high_terminal_shows_the_selected_row_in_words() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("└─ site3.test", "── selected")
        await terminal.press("j", "j")
        await terminal.wait_for("https://site0.test/news", "It crashed too often.", "last error  ParseError")
        await terminal.press("j")
        await terminal.wait_for("https://site1.test/news")

    on_terminal(play, (140, 40), flat=False)

    async def low(terminal: Terminal) -> None:
        await terminal.wait_for("└─ site3.test")
        assert "── selected" not in terminal.text

    on_terminal(low, flat=False)
