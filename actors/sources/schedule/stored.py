"""The cadence's memory of one source, as stored in `HotState.pace`: the learned rhythm, and the origin's last hints.

Some 220 bytes: a version, the rhythm's numbers in single and half precision, the hints in MessagePack. An unreadable
memory, or one of another version, is replaced by a fresh one that begins at the source's last interval; relearning
costs only some checks. Pure.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec
from msgspec import Struct

from actors.sources.schedule.cadence import START_INTERVAL, Hints
from actors.sources.schedule.change_rate import BELIEF, PRIOR_EVENTS, Rhythm, observed
from actors.sources.schedule.look_price import COURTESY
from storage.records.identity import Millis

VERSION: Final = 2
_NUMBERS: Final = struct.Struct("<Bd6f24e7e15e15e")
_LONGEST_GAP: Final = 7 * 86_400.0
"""Longest credible gap in seconds, so that a jump of the clock does not make a source a quiet one."""
_HISTORY: Final = 28 * 86_400.0
_MOST_HISTORY: Final = 64
"""Age and number of entry dates that are believed at a first check."""


class Pace(Struct, frozen=True):
    """When a source changes, as learned, and its own hints."""

    rhythm: Rhythm = Rhythm()
    hints: Hints = Hints()


def decode(memory: bytes, interval: float = START_INTERVAL) -> Pace:
    """Return the memory from the bytes of `encode`; for any other bytes a fresh one with about this interval."""
    if len(memory) < _NUMBERS.size or memory[0] != VERSION:
        return Pace(fresh(interval))
    _, last, events, seconds, quick, slow, followed, judged, *shares = _NUMBERS.unpack_from(memory)
    hours, days, came, awaited = shares[:24], shares[24:31], shares[31:46], shares[46:]
    rhythm = Rhythm(
        events,
        seconds,
        tuple(hours),
        tuple(days),
        quick,
        slow,
        followed,
        judged,
        last,
        tuple(came),
        tuple(awaited),
    )
    try:
        return Pace(rhythm, msgspec.msgpack.decode(memory[_NUMBERS.size :], type=Hints))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Pace(rhythm)


def encode(pace: Pace) -> bytes:
    of = pace.rhythm
    scales = (of.last, of.events, of.seconds, of.quick, of.slow, of.followed, of.judged)
    numbers = _NUMBERS.pack(VERSION, *scales, *of.hours, *of.days, *of.came, *of.awaited)
    return numbers + msgspec.msgpack.encode(pace.hints)


def learned(rhythm: Rhythm, now: Millis, before: Millis | None, times: Sequence[Millis], changed: bool) -> Rhythm:
    """Return the rhythm after a check at `now`; the previous one was at `before`, None without one.

    `times` are the source's own dates of its changes, used if they are between the two checks. A change without one is
    placed in the middle. At the first check they are the history.
    """
    moment = now / 1000
    if before is None:
        return _history(rhythm, moment, sorted(at / 1000 for at in times))
    gap = max(0.0, min(_LONGEST_GAP, (now - before) / 1000))
    start = moment - gap
    if not changed:
        return observed(rhythm, moment, gap, ())
    told = sorted(at / 1000 for at in times if start <= at / 1000 <= moment) or [moment - gap / 2]
    return observed(rhythm, moment, gap, told)


def fresh(interval: float) -> Rhythm:
    """Return a new rhythm whose unconstrained wait is this interval."""
    rate = 2 * COURTESY / (interval * interval)
    return Rhythm(seconds=PRIOR_EVENTS * (1 - BELIEF) / rate)


def _history(rhythm: Rhythm, now: float, times: Sequence[float]) -> Rhythm:
    """Return the rhythm from the entry dates at the first check, as if each had been watched."""
    known = [at for at in times if now - _HISTORY <= at <= now][-_MOST_HISTORY:]
    for before, at in pairwise(known):
        rhythm = observed(rhythm, at, at - before, (at,))
    return observed(rhythm, now, now - known[-1], ()) if len(known) > 1 else rhythm
