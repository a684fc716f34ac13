"""The connection: lost, found again, refused; and the screen during an outage."""

from __future__ import annotations

import asyncio

import pytest
from textual._context import visible_screen_stack

from sanderling.console.text import cells
from tests.sanderling.console.fake_service import FakeService, event, source_id
from tests.sanderling.console.terminal import Terminal, on_terminal


def test_a_lost_connection_keeps_the_picture_dimmed_with_its_age_and_comes_back_by_itself() -> None:
    service = FakeService()

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        await terminal.press("j", "j")
        service.cut()
        await terminal.wait_for("NO CONNECTION", "connection refused", "site5.test")
        await terminal.grow_old(75)
        assert "NO CONNECTION 1m" in terminal.text
        rows = terminal.app.screen.query_one("#rows")
        assert terminal.app.screen.has_class("lost") and rows.styles.text_style.dim
        service.down, service.started, service.now = False, "2026-04-21T12:30:00.000Z", "2026-04-21T12:30:05.000Z"
        service.sources = 90
        await terminal.wait_for("up 5s", "3/95")
        assert not terminal.app.screen.has_class("lost") and not rows.styles.text_style.dim
        await terminal.tick(("event", event(1, "Again")))
        await terminal.wait_for("Again")

    on_terminal(play, service=service)


def test_a_screen_below_is_up_to_date_again_when_it_is_returned_to() -> None:
    service = FakeService()

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        await terminal.press("d")
        await terminal.wait_for("calm.test")
        service.cut()
        await terminal.wait_for("NO CONNECTION")
        service.down, service.sources = False, 90
        await terminal.wait_until(lambda: not terminal.app.figures.lost)
        await terminal.press("escape")
        await terminal.wait_for("1/95")
        assert not terminal.app.screen.has_class("lost")

    on_terminal(play, service=service)


def test_the_screen_waits_for_missing_data() -> None:
    service = FakeService()
    service.down = True

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("NOT CONNECTED", "data/admin.sock: connection refused")
        await terminal.press("j", "enter", "r", "s")
        service.down = False
        await terminal.wait_for("site0.test", "sources 60")

    on_terminal(play, service=service)


def test_a_failure_of_the_service_is_shown_at_the_top() -> None:
    service = FakeService()
    service.failing = {"watching": "no check has finished for 10 min"}

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("NOT READY  watching: no check has finished for 10 min")

    on_terminal(play, service=service)


def test_r2_deliveries_that_come_later_are_reported_at_the_top() -> None:
    service = FakeService()
    service.late = "84,210 events not matched with alerts yet"

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("MATCHING LATE  84,210 events not matched with alerts yet")

    on_terminal(play, service=service)


def test_checks_beyond_the_budget_are_reported_at_the_top() -> None:
    service = FakeService()
    service.passed = "40 checks per second"

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("OVER BUDGET 10/s for 240 s")

    on_terminal(play, service=service)


def test_only_rows_in_view_of_a_hundred_thousand_are_sent() -> None:
    service = FakeService(sources=100_000)

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("1/100,005", "site0.test")
        await terminal.press("G")
        await terminal.wait_for("site99999.test", "100,005/100,005")
        pages = [path for path in service.asked if "start=" in path]
        assert len(pages) <= 3
        await terminal.tick()
        await terminal.wait_until(lambda: "paths=" in service.asked[-1])
        assert service.asked[-1].count("paths=") == 14

    on_terminal(play, service=service)


def test_a_key_without_the_scope_gets_a_reason() -> None:
    service = FakeService()
    service.forbidden = "The key svc_1234... lacks the scope admin."

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("NOT CONNECTED", "The key svc_1234... lacks the scope admin.")

    on_terminal(play, (120, 24), service)


def test_a_slow_service_gets_no_second_request_before_it_answers() -> None:
    service = FakeService()

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        service.slow = asyncio.Event()
        asked = len(service.asked)
        service.states[f"sources/{source_id(5)}"] = "resting"
        for _ in range(4):
            await terminal.tick()
        assert len(service.asked) == asked + 1
        service.slow.set()
        await terminal.wait_for("*REST")

    on_terminal(play, service=service)


def test_a_frozen_screen_stays_when_the_service_returns_and_refreshes_afterwards() -> None:
    service = FakeService()

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        await terminal.press("space")
        service.cut()
        await terminal.wait_for("NO CONNECTION")
        service.down, service.sources = False, 90
        await terminal.wait_for("FROZEN", "1/65")
        await terminal.press("space")
        await terminal.wait_for("1/95")

    on_terminal(play, service=service)


def test_another_size_keeps_the_cursor_in_view() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        await terminal.press("pagedown")
        for size in ((120, 40), (80, 24), (100, 12)):
            await terminal.pilot.resize_terminal(*size)
            await terminal.pilot.pause()
            lines = terminal.lines()
            assert [cells(line) for line in lines] == [size[0]] * size[1]
            assert any(line.startswith(">ok") and "site8.test" in line for line in lines)
        assert "events" not in "".join(terminal.lines()[2:])

    on_terminal(play)


def colours(terminal: Terminal) -> set[str]:
    visible_screen_stack.set([])
    strips = terminal.app.screen._compositor.render_strips()
    styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
    return {colour.type.name for style in styles for colour in (style.color, style.bgcolor) if colour is not None}


def test_only_the_terminals_own_sixteen_colours_are_used() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test")
        assert colours(terminal) == {"DEFAULT", "STANDARD"}

    on_terminal(play)


def test_without_colour_nothing_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site5.test", "QUAR", "REST")
        assert colours(terminal) <= {"DEFAULT"}

    on_terminal(play)
