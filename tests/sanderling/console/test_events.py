"""The events under the rows: filled at the start, read with a cursor, shown in full, copied and opened."""

from __future__ import annotations

from api.openapi.document import example_of
from sanderling.console.lists import EventScreen, event_page
from sanderling.console.text import EventTail
from storage.records.event import Event
from tests.sanderling.console.fake_service import FakeService, event, source_id
from tests.sanderling.console.terminal import Terminal, on_terminal


def with_a_past() -> FakeService:
    service = FakeService()
    change = event(2, "Prices") | {
        "summary": "Team: $9 → $12",
        "diff": {"added": ["$12"], "removed": ["$9"], "changed": [], "truncated": False},
    }
    service.past = [change, event(1, "Hello")]
    return service


def test_earlier_events_appear_at_once_with_their_changes() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("Hello", "Team: $9 → $12 · Prices")
        await terminal.tick(("event", event(3, "Page") | {"headline": "Sunday: closed · Page"}))
        await terminal.wait_for("Sunday: closed · Page")
        assert terminal.text.index("Hello") < terminal.text.index("Team:") < terminal.text.index("Sunday")

    on_terminal(play, service=with_a_past())


def test_events_pause_while_you_browse_them_and_each_opens_in_full() -> None:
    service = with_a_past()

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("Team: $9 → $12")
        await terminal.press("tab", "k")
        await terminal.tick(("event", event(3, "Later")))
        await terminal.wait_for("held, 1 more")
        assert ">12:00:31" in terminal.text and "Later" not in terminal.text
        await terminal.press("enter")
        assert isinstance(terminal.app.screen, EventScreen)
        await terminal.wait_until(lambda: any(f"/v1/events/{event(1, '')['id']}" in path for path in service.asked))
        await terminal.press("escape", "escape")
        await terminal.wait_for("Later", ">QUAR")
        assert ">12:00:31" not in terminal.text

    on_terminal(play, service=service)


def test_an_event_is_reported_with_every_change_and_its_place() -> None:
    told = example_of(Event)
    words = ["".join(text for text, _ in line).strip() for line in event_page(told, 100)]
    changes = [line for line in words if line[:2] in ("+ ", "- ")]
    assert changes and told["id"] in words[3] and told["url"][:40] in words[2]


def test_events_received_meanwhile_are_not_shown_twice_after_the_history_loads() -> None:
    tail = EventTail()
    tail.take(event(2, "b"))
    tail.fill([event(1, "a"), event(2, "b")])
    assert [one["title"] for one in tail.shown] == ["a", "b"]


def test_x_says_why_of_a_source() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("x")
        await terminal.wait_until(lambda: f"/v1/sources/{source_id(0)}/why" in terminal.service.asked)
        await terminal.wait_until(lambda: bool(getattr(terminal.app.screen, "answer", None)))

    on_terminal(play)


def test_open_streams_are_a_jump_away_and_can_be_closed() -> None:
    async def play(terminal: Terminal) -> None:
        terminal.service.node = "north"
        await terminal.wait_for("site0.test")
        await terminal.press("colon")
        await terminal.type("streams")
        await terminal.press("enter")
        await terminal.wait_for("streams of north alone", "newsroom", "12m", "/v1/stream?tag=prices", "archive")
        await terminal.press("e", "n")
        assert not terminal.service.acts
        await terminal.press("e", "y")
        await terminal.wait_for("The stream of newsroom is closed.")
        assert terminal.service.acts == [("admin/streams/7/close", None)]
        await terminal.wait_until(lambda: "newsroom" not in "".join(terminal.lines()[1:-1]))

    on_terminal(play)
