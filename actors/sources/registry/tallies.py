"""The tallies in a sweep: finished days go to storage, and the shifts learn how far all checks are stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from actors.sources.ports import LiveSource, Ports
from storage.errors import STANDSTILL
from storage.records import tally
from storage.records.source import SourceState, parted

DAY = 86_400_000


class TallySweep:
    """One sweep. Unstored or unconfirmed tallies are in the next one again."""

    def __init__(self, ports: Ports, *, last: bool) -> None:
        self._ports, self._shifts = ports, ports.shifts
        self._mark = None if ports.shifts is None else ports.shifts.sweep(last=last)
        self._open = 1
        self._failed = False

    async def put_away(self, part: Sequence[LiveSource]) -> None:
        """Move finished days out of these tallies to storage. If storage fails, they stay."""
        today = self._ports.world.now() // DAY
        days = {live: tally.over(live.tally, today) for live in part if tally.has_over(live.tally, today)}
        try:
            await self._ports.storage.coverage.keep([(live.source.id, day) for live in days for day in days[live]])
        except STANDSTILL as error:
            self._ports.world.log("tally.days_stay", error=str(error))
            return
        for live, away in days.items():
            live.put_tally(tally.without(live.tally, away))

    def of(
        self, part: Sequence[LiveSource], take: Callable[[LiveSource], SourceState]
    ) -> tuple[tuple[SourceState, ...], Callable[[bool], None]]:
        """Return the states of a slice, and the callback for whether they are stored."""
        states = tuple(map(take, part))
        self._open += 1
        return states, partial(self._heard, part, states)

    def begun(self) -> None:
        self._ended(stored=True)

    def _heard(self, part: Sequence[LiveSource], states: Sequence[SourceState], stored: bool) -> None:
        for live, state in zip(part, states, strict=True):
            if stored:
                live.saved_tally = state.hot.tally
                live.cookies.heard(parted(state.hot.cookies)[0], stored=True)
            else:
                live.unsaved = True
        self._ended(stored=stored)

    def _ended(self, *, stored: bool) -> None:
        self._open -= 1
        self._failed = self._failed or not stored
        if not self._open and not self._failed and self._shifts is not None and self._mark is not None:
            self._shifts.swept(self._mark)
