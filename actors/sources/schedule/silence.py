"""A source's silences, as stored in its runtime record: the newest ones, and the length of the current one.

Peaks over threshold: only long silences show how long a silence may be. With `u` the third quartile of the newest
gaps, `p` the share of all gaps above it and `b` the mean of the newest m <= 64 excesses over it, the chance that an
unchanged source is silent for longer than `age` is that of an exponential excess whose mean is known from m samples
(Lomax):

    S = p * (1 + (age - u) / (b * m)) ** -m

For a Poisson source this is the plain test of its rate; bursts, nights and weekends need no special case. With under 4
excesses (a nearly regular source) the newest gaps are the sample: u = 0, p = 1.

There is no verdict (S = 1) before 8 gaps and 14 days of watching are known, nor while the silence is at most half as
long again as the longest of the last 90 days. Gaps and ages count only time while the source was watched and answered.
Gaps are stored as 16-bit logarithms, exact to 0.03 %; the whole memory is at most 296 bytes. Pure.

The monitor of watching itself: it must never be silent about its own silence. Pure. A source is overdue if its due
check has not happened; a busy host alone makes many of those. But if some are overdue and no check has ended for ten
minutes, for any reason (a stuck host queue, a full worker pool, a lost task, an unresponsive recorder), watching has
stalled. While our uplink is down checks pause on purpose, which is reported elsewhere.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from actors.sources.schedule.budgets import CheckRate
from storage.records.identity import Millis, SourceId
from storage.records.source import Flag

VERSION: Final = 1
DAY: Final = 86_400.0
KEPT: Final = 64  # gaps, and as many long ones, which reach further back
FADE: Final = 0.998  # factor on the counts, at each gap
FEWEST_GAPS: Final = 8
FEWEST_EXCESSES: Final = 4
WATCHED_LEAST: Final = 14 * DAY
LONGEST_TIMES: Final = 1.5
QUARTER: Final = 45 * DAY
"""The longest silence is stored for this period of watching and for the previous one: together up to 90 days."""
WINDOW: Final = 20  # checks that reached the source, whose share of unreadable answers is stored
_SCALE: Final = 3000.0
_FLAGS: Final[tuple[Flag, ...]] = ("ok", "degraded", "rotten")
_NUMBERS: Final = struct.Struct("<BBBBId6f")


class SilenceState(Struct, frozen=True):
    """Spans are seconds of being watched. `gaps` are the newest `KEPT`, and `peaks` the newest that were long when they
    ended, both oldest first; of `seen` gaps `above` were long. `defects` has a bit for each of the newest `WINDOW`
    checks that reached the source, 1 if it was unreadable. `confirmed` checks in a row since `stuck_since` failed for a
    permanent reason. `waiting` is a flag that one check has asked for and the next must confirm.
    """

    gaps: tuple[int, ...] = ()
    peaks: tuple[int, ...] = ()
    seen: float = 0.0
    above: float = 0.0
    age: float = 0.0
    watched: float = 0.0
    longest: float = 0.0
    longest_before: float = 0.0
    defects: int = 0
    confirmed: int = 0
    stuck_since: Millis = Millis(0)
    waiting: Flag | None = None

    @property
    def partial(self) -> float:
        return self.defects.bit_count() / WINDOW

    def __repr__(self) -> str:
        return f"<SilenceState {len(self.gaps)} gaps, silent {self.age:.0f} s of {self.watched:.0f} s watched>"


def decode(memory: bytes) -> SilenceState:
    """Return the memory from the bytes of `encode`; a fresh one for any other bytes."""
    if len(memory) < _NUMBERS.size or memory[0] != VERSION or (len(memory) - _NUMBERS.size) % 2:
        return SilenceState()
    _, confirmed, flag, count, defects, stuck, seen, above, age, watched, longest, before = _NUMBERS.unpack_from(memory)
    codes = struct.unpack_from(f"<{(len(memory) - _NUMBERS.size) // 2}H", memory, _NUMBERS.size)
    waiting, since = None if flag == 0 else _FLAGS[(flag - 1) % len(_FLAGS)], Millis(int(stuck))
    gaps, peaks = codes[:count], codes[count:]
    return SilenceState(gaps, peaks, seen, above, age, watched, longest, before, defects, confirmed, since, waiting)


def encode(state: SilenceState) -> bytes:
    flag = 0 if state.waiting is None else 1 + _FLAGS.index(state.waiting)
    codes = (*state.gaps, *state.peaks)
    spans = (state.seen, state.above, state.age, state.watched, state.longest, state.longest_before)
    numbers = _NUMBERS.pack(VERSION, state.confirmed, flag, len(state.gaps), state.defects, state.stuck_since, *spans)
    return numbers + struct.pack(f"<{len(codes)}H", *codes)


def after_watching(state: SilenceState, seconds: float, *, defect: bool) -> SilenceState:
    """Return the memory after `seconds` of being watched, up to a check that reached the source."""
    age, watched = state.age + seconds, state.watched + seconds
    defects = (state.defects << 1 | defect) & (1 << WINDOW) - 1
    if watched // QUARTER > state.watched // QUARTER:
        state = replace(state, longest=0.0, longest_before=state.longest)
    return replace(state, age=age, watched=watched, defects=defects)


def after_change(state: SilenceState) -> SilenceState:
    if state.watched == 0.0:
        return state
    gap = min(0xFFFF, round(_SCALE * math.log1p(max(0.0, state.age))))
    gaps = (*state.gaps, gap)[-KEPT:]
    long = gap > _quartile(gaps)
    peaks = (*state.peaks, gap)[-KEPT:] if long else state.peaks
    seen, above, longest = state.seen * FADE + 1, state.above * FADE + long, max(state.longest, state.age)
    return replace(state, gaps=gaps, peaks=peaks, seen=seen, above=above, longest=longest, age=0.0)


def silence_chance(state: SilenceState) -> float:
    """Return S, the chance of a silence as long as the current one if nothing has changed."""
    gaps = state.gaps
    if len(gaps) < FEWEST_GAPS or state.watched < WATCHED_LEAST:
        return 1.0
    longest = max(state.longest, state.longest_before, _seconds(max(gaps)))
    if state.age <= LONGEST_TIMES * longest:
        return 1.0
    quartile = _quartile(gaps)
    above = [_seconds(gap) for gap in state.peaks if gap > quartile]
    start, share = _seconds(quartile), state.above / state.seen
    if len(above) < FEWEST_EXCESSES:
        start, share, above = 0.0, 1.0, [_seconds(gap) for gap in gaps]
    excess = sum(above) - start * len(above)
    return share * (1 + (state.age - start) / excess) ** -len(above)


def _quartile(gaps: tuple[int, ...]) -> int:
    return sorted(gaps)[3 * len(gaps) // 4]


def _seconds(code: int) -> float:
    return math.expm1(code / _SCALE)


EVERY = 30.0  # seconds between rounds
PATIENCE = 600.0  # twice the longest Crawl-delay: a library may properly go that long without a check


@dataclass(frozen=True, slots=True)
class OverdueRound:
    """One round's figures. sources, overdue: watched and late sources. worst: the one that has been late longest.
    tiers, breakers: watched sources by tier and by breaker state. looks: ended checks of pages and feeds. waiting: late
    ones.
    """

    sources: int = 0
    overdue: int = 0
    waiting: int = 0
    worst: SourceId | None = None
    looks: int = 0
    tiers: Mapping[str, int] = field(default_factory=dict)
    breakers: Mapping[str, int] = field(default_factory=dict)


class OverdueMonitor:
    """Keeps the last round, and since when no check has ended. `now`: of a monotonic clock, s."""

    def __init__(self) -> None:
        self.last = OverdueRound()
        self.check_rate = CheckRate()
        self._stalled_since: float | None = None
        self.stalled = False

    def update(self, round: OverdueRound, now: float, *, on_hold: bool) -> bool:
        """Take a round; return whether watching has stalled or resumed. on_hold: checks are paused on purpose."""
        has_progress = round.looks != self.last.looks or not round.waiting or on_hold
        self.last = round
        if has_progress or self._stalled_since is None:
            self._stalled_since = None if has_progress else now
        before, self.stalled = self.stalled, self._stalled_since is not None and now - self._stalled_since >= PATIENCE
        return before != self.stalled

    def fault(self) -> str:
        if not self.stalled:
            return ""
        return f"no check has finished for {PATIENCE / 60:.0f} min, and {self.last.overdue} sources are overdue"
