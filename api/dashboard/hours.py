"""Events per hour. Past hours are counted once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from storage.records.identity import Millis, Seq, seq_at
from storage.sql.stores.log import EventLog

HOUR: Final = 3_600_000
MOST: Final = 48


class Hours:
    """The hourly counts of one log."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._over: dict[int, int] = {}

    async def last(self, now: Millis, count: int = 24) -> Sequence[int]:
        """Return the events of the last `count` hours (UTC), the current one last."""
        present = now // HOUR
        found = [await self._of(hour, over=hour < present) for hour in range(present - count + 1, present + 1)]
        for hour in [hour for hour in self._over if hour <= present - MOST]:
            del self._over[hour]
        return found

    async def _of(self, hour: int, *, over: bool) -> int:
        if hour in self._over:
            return self._over[hour]
        before = seq_at(Millis((hour + 1) * HOUR))
        count = await self._log.count_between(Seq(seq_at(Millis(hour * HOUR)) - 1), before)
        if over:
            self._over[hour] = count
        return count
