"""A heartbeat: a signed event that reports at regular times that the service works. Pure.

Each one names the previous one and its number, so a reader with two of them knows whether one is missing between. The
log is the only memory: after a restart the next one comes at its due time, or at once if that has passed. If the clock
was set back, one comes at once too, since the silence would look like a failure.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors import notices
from storage.records.event import HEARTBEAT, Draft, Heartbeat, Stored
from storage.records.identity import START, Millis, Seq
from storage.records.times import parse_rfc3339, rfc3339

TAG: Final = "kind:heartbeat"


class Last(NamedTuple):
    """The newest heartbeat in the log: its position, id, number, and its due and emitted times."""

    seq: Seq = START
    id: str | None = None
    number: int = 0
    due: Millis = Millis(0)
    at: Millis = Millis(0)


class Work(NamedTuple):
    """The service's work. since: the start of this process. looks: checks since `looks_since`; others: sources."""

    since: Millis
    looks: int
    looks_since: Millis
    watched: int
    failing: int
    paused: int


class Moment(NamedTuple):
    """The time of a heartbeat, which was due at `due`. head: the id of the newest event. skipped: earlier ones that
    were due while the process was suspended.
    """

    due: Millis
    now: Millis
    every: Millis
    head: str | None
    skipped: int = 0


class _Told(Struct):
    id: str
    emitted_at: str
    heartbeat: Heartbeat


_told = msgspec.json.Decoder(_Told)


def last_of(event: Stored | None) -> Last:
    """Return the newest heartbeat's fields, for the next one."""
    if event is None:
        return Last()
    told = _told.decode(event.body)
    beat = told.heartbeat
    return Last(event.seq, told.id, beat.number, parse_rfc3339(beat.due_at), parse_rfc3339(told.emitted_at))


def due_in(last: Last, every: Millis, now: Millis) -> Millis:
    """Return the milliseconds until the next heartbeat is due; 0: now, or overdue."""
    if last.seq == START or last.at > now:
        return Millis(0)
    return Millis(max(0, min(every, last.due + every - now)))


def draft_of(last: Last, moment: Moment, work: Work, base_url: str) -> Draft:
    """Return the next heartbeat."""
    beat = Heartbeat(
        number=last.number + 1,
        every_seconds=moment.every // 1000,
        due_at=rfc3339(moment.due),
        before=last.id,
        head=moment.head,
        running_since=rfc3339(work.since),
        looks=work.looks,
        looks_since=rfc3339(work.looks_since),
        watched=work.watched,
        failing=work.failing,
        paused=work.paused,
    )
    failing = f", {work.failing:,} of them failing" if work.failing else ""
    says = f"{work.watched:,} sources are watched{failing}; {work.looks:,} looks have ended since {beat.looks_since}."
    if moment.skipped:
        says += f" Skipped before it: {moment.skipped:,}; the process stood still when they were due."
    told = notices.draft(HEARTBEAT, base_url, f"Heartbeat {beat.number:,}", says, moment.now)
    return replace(told, tags=(TAG,), heartbeat=beat)
