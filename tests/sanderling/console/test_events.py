"""The events under the rows: filled at the start, read with a cursor, shown in full, copied and opened."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from api.openapi.texts import example_of
from sanderling.console.figures import EventTail
from sanderling.console.lists import EventScreen, event_page
from sanderling.console.view import has_browser
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


@pytest.mark.parametrize(("key", "text"), [("y", "https://site0.test/news"), ("Y", source_id(0))])
def test_the_url_or_the_id_is_handed_to_the_terminals_clipboard(key: str, text: str) -> None:
    async def play(terminal: Terminal) -> None:
        written: list[str] = []
        terminal.app._driver.write = written.append  # type: ignore[union-attr,method-assign,assignment]
        await terminal.wait_for("site0.test")
        await terminal.press(key)
        await terminal.wait_for(f"Copied {text}")
        assert f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\a" in written

    on_terminal(play)


def test_without_a_browser_the_url_is_shown_on_this_screen_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("o")
        await terminal.wait_for("https://site0.test/news  (there is no browser here")
        await terminal.press("d", "escape")
        assert "no browser" not in terminal.text

    monkeypatch.setattr("sanderling.console.view.sys.platform", "linux")
    on_terminal(play)


def test_a_browser_opens_only_with_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("textual.app.App.open_url", lambda self, url: opened.append(url))

    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("o")
        await terminal.wait_for("Opened https://site0.test/news")

    on_terminal(play)
    assert opened == ["https://site0.test/news"]
    monkeypatch.setattr("sanderling.console.view.sys.platform", "linux")
    assert has_browser({"WAYLAND_DISPLAY": "w"}) and not has_browser({})


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
        await terminal.type("str")
        await terminal.press("tab", "enter")
        await terminal.wait_for("streams of north alone", "newsroom", "12m", "/v1/stream?tag=prices", "archive")
        await terminal.press("e", "n")
        assert not terminal.service.acts
        await terminal.press("e", "y")
        await terminal.wait_for("The stream of newsroom is closed.")
        assert terminal.service.acts == [("admin/streams/7/close", None)]
        await terminal.wait_until(lambda: "newsroom" not in "".join(terminal.lines()[1:-1]))

    on_terminal(play)


def test_keys_are_a_jump_away_and_can_be_deleted_once_that_is_confirmed() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("colon")
        await terminal.type("keys")
        await terminal.press("enter")
        await terminal.wait_for("newsroom", "stream:read, history:read")
        await terminal.press("e", "y")
        await terminal.wait_for("Key newsroom deleted.", "There is no key yet")
        assert terminal.service.acts == [(f"admin/keys/{terminal.service.alert['source_ids'][0]}/revoke", None)]
        await terminal.press("e")
        assert len(terminal.service.acts) == 1

    on_terminal(play)


def test_alerts_are_a_jump_away_and_can_be_paused() -> None:
    async def play(terminal: Terminal) -> None:
        await terminal.wait_for("site0.test")
        await terminal.press("colon")
        await terminal.type("al")
        await terminal.press("tab", "enter")
        name = terminal.service.alert["name"]
        await terminal.wait_for(">on ", name)
        await terminal.press("e", "y")
        await terminal.wait_for(f"{name}: paused")
        await terminal.wait_for(">pause")
        await terminal.press("e", "n", "enter")
        await terminal.wait_for("query  ")

    on_terminal(play)
