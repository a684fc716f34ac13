"""The list of alerts, and the details of one alert with its destinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from sanderling.client.alerts import alert_page
from sanderling.console.lines import Lines, Picks, Reading, key
from sanderling.console.text import Line, between, fit, right
from sanderling.console.view import BACK, View
from sanderling.console.words import STYLES, ago
from storage.records.states import ALERTS

PAGE = 100
"""Maximum alerts fetched."""
_STATE, _MET, _LAST = 5, 9, 9


class AlertsScreen(View):
    """One row per alert, oldest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        key("enter,l,right", "enter", "detail", "what it asks, and where its matches go", shown="⏎"),
        key("e", "switch(False)", "pause", "pause an alert"),
        key("e", "switch(True)", "resume", "resume an alert"),
        BACK,
    ]

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Mapping[str, Any]] | None = None
        self.picks = Picks(self._line, self._seen, empty=self._empty, id="rows")

    def middle(self) -> Sequence[Widget]:
        return (Lines(self._heading, id="heading"), self.picks)

    def on_mount(self) -> None:
        self.picks.focus()
        self.ask_for("rows", self._read)

    def connected(self) -> None:
        self.ask_for("rows", self._read)

    async def _read(self) -> None:
        self.rows = await self.console_app.link.get("/v1/alerts", limit=PAGE)
        self.picks.resize_to(len(self.rows or ()))
        self.redraw()

    def _seen(self, first: int, last: int) -> None:
        if self.is_mounted:
            self.offer()

    def _here(self) -> Mapping[str, Any] | None:
        return self.rows[self.picks.cursor] if self.rows else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer pause for active alerts, resume for paused ones."""
        if action != "switch":
            return True
        alert = self._here()
        return alert is not None and alert["enabled"] is not parameters[0]

    def _heading(self, width: int, height: int) -> Sequence[Line]:
        shown = len(self.rows or ())
        place = f"{self.picks.cursor + 1}/{shown} " if shown else "0 "
        words = f" {fit('state', _STATE)} {right('met', _MET)} {fit('last', _LAST)} name and query"
        return [[(between(" alerts", place, width), "dim")], [(fit(words, width), "bold")]]

    def _line(self, position: int, width: int) -> Line:
        return alert_line((self.rows or ())[position], width, self.now)

    def _empty(self) -> str:
        return "…" if self.rows is None else "There is no alert yet."

    def action_enter(self) -> None:
        alert = self._here()
        if alert is not None:
            self.app.push_screen(AlertScreen(alert))

    def action_switch(self, on: bool) -> None:
        """Pause or resume the alert under the cursor."""
        alert = self._here()
        if alert is None:
            return

        async def run() -> str:
            await self.console_app.link.patch(f"/v1/alerts/{alert['id']}", {"enabled": on})
            await self._read()
            return f"{alert['name']}: {'resumed' if on else 'paused'}"

        self.confirmed(f"{'Resume' if on else 'Pause'} it?  {alert['name']}", run)


class AlertScreen(View):
    """One alert: query, sources, matches, destinations."""

    BINDINGS: ClassVar[list[BindingType]] = [BACK]

    def __init__(self, alert: Mapping[str, Any]) -> None:
        super().__init__()
        self._alert = alert
        self._destinations: Sequence[Mapping[str, Any]] = ()

    def middle(self) -> Sequence[Widget]:
        return (Reading(self._whole, id="reading"),)

    def on_mount(self) -> None:
        self.query_one(Reading).focus()
        self.ask_for("alert", self._read)

    async def _read(self) -> None:
        self._destinations = await self.console_app.link.get(f"/v1/alerts/{self._alert['id']}/destinations", limit=PAGE)
        self.redraw()

    def _whole(self, width: int) -> Sequence[Line]:
        return [[(fit(f" {line}", width), "")] for line in alert_page(self._alert, self._destinations)]


def alert_line(alert: Mapping[str, Any], width: int, now: str) -> Line:
    """Return an alert as a line of exactly so many cells."""
    state = ALERTS["active" if alert["enabled"] else "paused"]
    query = "" if alert["name"] == alert["filter_query"] else f"  {alert['filter_query'] or 'everything'}"
    last = ago(alert["last_match_at"], now) if now else ""
    return [
        (" ", ""),
        (fit(state.short, _STATE), STYLES[state.mood]),
        (f" {right(format(alert['match_count'], ','), _MET)} {fit(last, _LAST)} ", ""),
        (fit(f"{alert['name']}{query}", width - _STATE - _MET - _LAST - 4), ""),
    ]
