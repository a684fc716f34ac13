"""A heartbeat: a signed event that says in the log, at even times, that the service did its work. Pure.

Each one names the one before it and counts on, so whoever has two of them knows whether one is missing between. The log
is what is remembered: after a restart the next one comes when it was due, or at once when that has passed. By a clock
that was set back nothing was due yet, and silence would look like a failure: then one comes at once, too.
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
    """The newest heartbeat in the log: its position, id, number, and when it was due and emitted."""

    seq: Seq = START
    id: str | None = None
    number: int = 0
    due: Millis = Millis(0)
    at: Millis = Millis(0)


class Work(NamedTuple):
    """What the service does. since: when this process began. looks: that ended since `looks_since`; others: sources."""

    since: Millis
    looks: int
    looks_since: Millis
    watched: int
    failing: int
    paused: int


class Moment(NamedTuple):
    """When a heartbeat is written: it was due at `due`. head: the id of the newest event. skipped: heartbeats that were
    due before it while the process stood still.
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
    """Return what the newest heartbeat says, for the next one."""
    if event is None:
        return Last()
    told = _told.decode(event.body)
    beat = told.heartbeat
    return Last(event.seq, told.id, beat.number, parse_rfc3339(beat.due_at), parse_rfc3339(told.emitted_at))


def due_in(last: Last, every: Millis, now: Millis) -> Millis:
    """Return in how many milliseconds the next heartbeat is due; 0: now, or it is overdue."""
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
