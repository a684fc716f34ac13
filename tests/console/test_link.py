"""The connection: lost, found again, refused; and what is on the screen meanwhile."""

from __future__ import annotations

from tests.console.fake_service import FakeService, event
from tests.console.terminal import Terminal, on_terminal


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


def test_what_is_not_there_yet_is_waited_for() -> None:
    service = FakeService()
    service.down = True

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("NOT CONNECTED", "data/admin.sock: connection refused")
        await terminal.press("j", "enter", "r", "s")
        service.down = False
        await terminal.wait_for("site0.test", "sources 60")

    on_terminal(play, service=service)


def test_what_fails_in_the_service_is_told_at_the_top() -> None:
    service = FakeService()
    service.failing = {"watching": "no look has ended for 10 min"}

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("NOT READY  watching: no look has ended for 10 min")

    on_terminal(play, service=service)


def test_of_a_hundred_thousand_rows_only_those_in_view_travel() -> None:
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
