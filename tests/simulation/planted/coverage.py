"""Bugs of the record of checks: it claims too much, or too little."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from actors import coverage as shifts
from storage.records import coverage
from storage.records import coverage as tally
from storage.records.checks import Verdict
from storage.records.coverage import Hour, Shift, StoredChecks, following, stepped
from storage.records.identity import Millis
from storage.sql.stores import sources as store


def crashes_are_stops() -> AbstractContextManager[Any]:
    """After a crash, too, a start records the time since the last sweep as a stop."""

    def wrong(last: Shift | None, node: str, now: Millis, *, copied: bool) -> Shift:
        right = following(last, node, now, copied=copied)
        return right._replace(after="stop") if right.after == "crash" else right

    return patch.object(store, "following", wrong)


def failures_see_the_source() -> AbstractContextManager[Any]:
    """A failed check ends the time without one."""
    right = tally.noted

    def wrong(counted: bytes, at: Millis, verdict: Verdict, body: bytes = b"") -> bytes:
        failed = verdict in (Verdict.REMOTE_TRANSIENT, Verdict.THROTTLED, Verdict.CONTENT)
        return right(counted, at, Verdict.UNCHANGED if failed else verdict, body)

    return patch.object(tally, "noted", wrong)


def days_count_twice() -> AbstractContextManager[Any]:
    """A stored day that is still in the tally counts twice."""

    def wrong(kept: StoredChecks) -> Mapping[int, Hour]:
        days = [*kept.days, *tally.days_in(kept.tally)]
        parts = (hour for day in days for hour in tally.hours_of(day))
        return tally.merged([*parts, *tally.running(kept.tally)])

    @contextmanager
    def planted() -> Iterator[None]:
        with patch.object(coverage, "_hours", wrong), patch.object(tally, "without", lambda counted, days: counted):
            yield

    return planted()


def edges_have_no_gap() -> AbstractContextManager[Any]:
    """The time before the first check and after the last one is no gap."""
    right = coverage._gaps

    def wrong(start: Millis, end: Millis, seen: Any) -> Any:
        return list(right(start, end, seen))[1:-1]

    return patch.object(coverage, "_gaps", wrong)


def clocks_take_the_sweep_along() -> AbstractContextManager[Any]:
    """A clock step, like a crash, makes the time since the last sweep unknown, not since the last good reading."""

    def wrong(shift: Shift, checked: Millis, passed: int, now: Millis) -> tuple[Shift, Shift]:
        ended, begun = stepped(shift, checked, passed, now)
        return ended._replace(until=shift.saved), begun

    return patch.object(shifts, "stepped", wrong)
