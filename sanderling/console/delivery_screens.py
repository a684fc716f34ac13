"""The list of destinations, and the attempts of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.console import delivery_lines as drawn
from sanderling.console.lines import Lines, Picks, key
from sanderling.console.prompts import Ask
from sanderling.console.text import Line, between
from sanderling.console.view import BACK, View

PAGE = 100
"""Maximum destinations, and attempts, fetched."""
MOST_ROUNDS = 20
"""Maximum requests per replay: each adds a bounded batch to the outbox."""
EVERY = 2

TRY_KEYS: list[BindingType] = [
    key("t", "try_it", "test", "send it one signed sample"),
    key("R", "replay", "replay", "deliver past matches again, from a time or an event on"),
]


class _Tries(View):
    """Rows refreshed periodically, with actions on the destination under the cursor."""

    picks: Picks
    _beats = 0

    def hook(self) -> Mapping[str, Any] | None:
        """Return the row of the destination to act on."""
        raise NotImplementedError

    async def _read(self) -> None:
        """Fetch and show the rows."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.picks.focus()
        self.ask_for("rows", self._read)

    def connected(self) -> None:
        self.ask_for("rows", self._read)

    def beat(self) -> None:
        """Refresh every EVERY beats."""
        self.redraw()
        self._beats += 1
        if self._beats % EVERY == 0:
            self.ask_for("rows", self._read)

    def action_try_it(self) -> None:
        hook = self.hook()
        if hook is None:
            return

        async def run() -> str:
            answer = await self.console_app.link.post(f"/v1/destinations/{hook['id']}/test")
            status = answer["status_code"] or "no answer"
            return f"{hook['url']}: {answer['result']}, {status} in {answer['latency_ms']} ms. {answer['detail']}"

        self.confirmed(f"Send one signed sample?  {hook['url']}", run)

    def action_replay(self) -> None:
        """Ask for the start of the replay, then for confirmation."""
        hook = self.hook()
        if hook is not None:
            hint = "an event's id or a time such as 2026-04-21T10:00:00Z"
            self.console_app.ask(Ask(" replay from ", "", hint, partial(self._replay_from, hook)))

    def _replay_from(self, hook: Mapping[str, Any], since: str | None) -> None:
        if since:
            self.confirmed(f"Replay from {since}?  {hook['url']}", partial(self._replay, hook, since))

    async def _replay(self, hook: Mapping[str, Any], since: str) -> str:
        queued = 0
        place: str | None = since
        for _ in range(MOST_ROUNDS):
            answer = await self.console_app.link.post(f"/v1/destinations/{hook['id']}/replay", {"since": place})
            queued += answer["queued"]
            place = answer["next_since"]
            if place is None:
                return f"Deliveries that wait again: {queued:,}."
        return f"Deliveries that wait again: {queued:,}. There are more since {place}."


class DeliveriesScreen(_Tries):
    """One row per destination, failing ones first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("enter,l,right", "enter", "attempts", "the attempts at it", shown="⏎"),
        *TRY_KEYS,
        BACK,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Mapping[str, Any]] | None = None
        self.total = 0
        self.picks = Picks(self._line, empty=self._empty, id="rows")

    def middle(self) -> Sequence[Widget]:
        return (Lines(self._heading, id="heading"), self.picks)

    async def _read(self) -> None:
        found = await self.console_app.link.get("/v1/admin/deliveries", limit=PAGE)
        self.rows, self.total = _in_place(self.rows or (), found["rows"]), found["total"]
        self.picks.resize_to(len(self.rows))
        self.redraw()

    def _heading(self, width: int, height: int) -> Sequence[Line]:
        shown = len(self.rows or ())
        worst = f"the first {shown} of {self.total:,}, " if self.total > shown else ""
        place = f"{worst}{self.picks.cursor + 1}/{shown} " if shown else "0 "
        return [[(between(" deliveries", place, width), "dim")], drawn.heading(width)]

    def _line(self, position: int, width: int) -> Line:
        return drawn.destination_line((self.rows or ())[position], width, self.now)

    def _empty(self) -> str:
        return "…" if self.rows is None else "No alert has a destination yet."

    def hook(self) -> Mapping[str, Any] | None:
        return self.rows[self.picks.cursor] if self.rows else None

    def action_enter(self) -> None:
        hook = self.hook()
        if hook is not None:
            self.app.push_screen(AttemptsScreen(hook))


def _in_place(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Keep the old order; append new rows."""
    places = {row["id"]: place for place, row in enumerate(old)}
    return sorted(new, key=lambda row: places.get(row["id"], len(places)))


class AttemptsScreen(_Tries):
    """The attempts of one destination, newest first, with details of the one under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [*TRY_KEYS, BACK]

    def __init__(self, hook: Mapping[str, Any]) -> None:
        super().__init__()
        self._hook = hook
        self.attempts: Sequence[Mapping[str, Any]] = ()
        self.picks = Picks(self._line, self._seen, empty=lambda: "", id="rows")

    def middle(self) -> Sequence[Widget]:
        return (Lines(self._heading, id="heading"), self.picks, Lines(self._detail, id="attempt"))

    async def _read(self) -> None:
        path = f"/v1/destinations/{self._hook['id']}/deliveries"
        found = await self.console_app.link.get(path, limit=PAGE)
        new = _new(self.attempts, found)
        self.attempts = found
        self.picks.count = len(found)
        self.picks.go(self.picks.cursor + (new if self.picks.cursor else 0))
        self.redraw()

    def _seen(self, first: int, last: int) -> None:
        if self.is_mounted:
            self.query_one("#attempt").refresh()

    def _heading(self, width: int, height: int) -> Sequence[Line]:
        told = f"newest attempts: {len(self.attempts):,} "
        return [[(between(f" {self._hook['url']}", told, width), "dim")], drawn.attempt_heading(width)]

    def _line(self, position: int, width: int) -> Line:
        return drawn.attempt_line(self.attempts[position], width, self.now)

    def _detail(self, width: int, height: int) -> Sequence[Line]:
        line = self.attempts[self.picks.cursor] if self.attempts else None
        rule: Line = [("─" * width, "dim")]
        return [rule, *drawn.attempt_detail(line, str(self._hook["url"]), width)]

    def hook(self) -> Mapping[str, Any]:
        return self._hook


def _new(old: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> int:
    """Return how many attempts are newer than the previous newest."""
    if not old:
        return 0
    newest = (old[0]["webhook_id"], old[0]["at"])
    places = [place for place, line in enumerate(now) if (line["webhook_id"], line["at"]) == newest]
    return places[0] if places else 0
