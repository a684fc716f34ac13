"""The ports of a source's actor, and the record that shows its state to the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import trio
from msgspec.structs import replace

from actors.coverage import Shifts
from actors.egress.traffic import Egress
from actors.hours import read_hours
from actors.inheritance import TagTable
from actors.messages.sources import SourceMessage
from actors.messages.views import PushView
from actors.messages.workers import RecorderMessage
from actors.settings import Settings
from actors.sources.admission import Admission
from actors.sources.body_cache import BodyCache
from actors.sources.dedup_window import DedupWindow
from actors.sources.lending import Lenders
from actors.sources.ranking import Ranking, StateCounts
from actors.sources.schedule.budgets import ItemPageBudget, Price
from actors.sources.schedule.cadence import Limits
from actors.sources.schedule.pause import FailureDelays, PauseSwitch
from actors.sources.session_cookies import PreviewCookies, SessionCookies
from actors.world import World
from storage.records import coverage
from storage.records.alert import Alert
from storage.records.checks import StoredMemory, Verdict, unpack_memory
from storage.records.event import Draft
from storage.records.identity import Millis, SourceId
from storage.records.source import FIRST, Source, SourceRuntime, SourceState, Version, parted
from storage.sql.storage import Storage
from supervision import Mailbox

_NO_TAGS: Final = TagTable()
_NEVER: Final = Millis(0)
SHARED_SWEEP = 60.0
SITEMAP_PACE = 3800.0  # seconds between checks of a followed sitemap: with jitter at most one an hour


class SharedPrice:
    """The price of a check, shared by all sources: each check reads it, the registry sets it."""

    price = Price()


@dataclass(frozen=True, slots=True)
class Ports:
    """Shared by all sources. `check_slots` bounds concurrent fetching and reading."""

    world: World
    settings: Settings
    storage: Storage
    egress: Egress
    recorder: Mailbox[RecorderMessage]
    admission: Admission
    check_slots: trio.CapacityLimiter
    pricing: SharedPrice = field(default_factory=SharedPrice)
    body_cache: BodyCache = field(default_factory=BodyCache)
    pause_switch: PauseSwitch = field(default_factory=PauseSwitch)

    @property
    def sweep(self) -> float:
        """Seconds until lazily saved state is stored: sooner if other nodes show it too."""
        return min(self.settings.sweep, SHARED_SWEEP) if self.storage.ownership.shared else self.settings.sweep

    failure_delays: FailureDelays = field(default_factory=FailureDelays)
    shifts: Shifts | None = None
    item_page_budget: ItemPageBudget = field(default_factory=lambda: ItemPageBudget(1000))
    lenders: Lenders = field(default_factory=Lenders)
    preview_cookies: PreviewCookies = field(default_factory=PreviewCookies)
    tag_table: TagTable = field(default_factory=TagTable)

    async def memory_of(self, source: SourceId) -> StoredMemory:
        """Read a source's memory from storage; an empty one if it has none."""
        stored = await self.storage.sources.get(source)
        return unpack_memory(stored.base if stored is not None else b"")

    async def take_alerts(self, alerts: Sequence[Alert]) -> None:
        await self.admission.set_alerts(alerts)
        await self.failure_delays.update(alerts)


@dataclass(slots=True, eq=False, repr=False)
class LiveSource:
    """A source's current state: its actor writes it, the registry reads it, in one Trio run without a lock.

    `unsaved`: `hot` is newer than storage; the registry's sweep clears it. `requested_at`: the last check requested by
    a user. `ranking` tracks the health and `states` the state, once the source is in them. `push` and `window` are a
    push source's connection state and its recently admitted frames (None until its actor has read them).
    `uncertain_frames`: admitted frames (mark, own id, draft) of an earlier run of the actor that may not be stored.
    `version` is that of the stored state which `hot` came from. `tally` counts checks and is ahead of any stored state:
    a check counts when it ends, even if its harvest is lost. `saved_tally` is certainly stored. Likewise `cookies`,
    which all users of the same headers share: renewed ones stay, whether or not harvest and record do. `source` is the
    stored record; `effective` adds the settings inherited from tags. It is recomputed when the record, its tags'
    defaults or their table change (`inherit`), not at each check. `memory` is `hot` without newly renewed cookies, an
    attribute for loops over all sources. `compared_as`: the settings of the memory's last comparison, None before this
    process's first check. `unconfirmed`: it was unwatched for a while, so no trouble is reported before the next check.
    `sleeps_until`: the end of its actor's sleep by the loop's clock, which can't be set; None: it does not sleep.
    """

    source: Source
    memory: SourceRuntime
    version: Version = FIRST
    tags: TagTable = _NO_TAGS
    unsaved: bool = False
    unconfirmed: bool = False
    requested_at: Millis = _NEVER
    sleeps_until: float | None = None
    ranking: Ranking | None = None
    compared_as: Source | None = None
    states: StateCounts | None = None
    push: PushView | None = None
    window: DedupWindow | None = None
    uncertain_frames: Sequence[tuple[bytes, str, Draft]] = ()
    tally: bytes = field(init=False)
    saved_tally: bytes = field(init=False)
    cookies: SessionCookies = field(init=False)
    mailbox: Mailbox[SourceMessage] = field(init=False)
    _effective: Source = field(init=False)
    _inherited_for: Source = field(init=False)

    def __post_init__(self) -> None:
        self._effective = self._inherited_for = self.source
        self.tally = self.saved_tally = self.memory.tally
        self.cookies = SessionCookies(self.source.id, self.memory.cookies)
        self.mailbox = Mailbox(f"source/{self.source.id}", 2)

    @property
    def effective(self) -> Source:
        if self._inherited_for is not self.source:
            self.inherit()
        return self._effective

    def inherit(self) -> bool:
        before, after = self._effective, self.tags.of(self.source)
        self._inherited_for = self.source
        if after == before:
            return False
        self._effective = after
        return True

    @property
    def hot(self) -> SourceRuntime:
        if self.memory.cookies != self.cookies.text:
            self.memory = replace(self.memory, cookies=self.cookies.text)
        return self.memory

    @hot.setter
    def hot(self, hot: SourceRuntime) -> None:
        if hot.tally is not self.tally:
            hot = replace(hot, tally=self.tally)
        before, self.memory = self.memory.health, hot
        if self.ranking is not None and hot.health is not before:
            self.ranking.put(self.source.id, hot.health)
        if self.states is not None:
            self.states.put(self.source, hot)

    def count(self, at: Millis, verdict: Verdict, body: bytes = b"") -> None:
        self.set_tally(coverage.noted(self.tally, at, verdict, body))

    def set_tally(self, tally: bytes) -> None:
        self.tally = tally
        self.memory = replace(self.memory, tally=tally)

    def mark_stored(self, hot: SourceRuntime) -> None:
        self.saved_tally = hot.tally
        self.cookies.on_saved(parted(hot.cookies)[0], saved=True)

    @property
    def needs_save(self) -> bool:
        return self.unsaved or self.tally is not self.saved_tally or self.cookies.needs_save

    def state_to_save(self) -> SourceState:
        return SourceState(self.source.id, self.hot, None, self.version, self.version)

    def __repr__(self) -> str:
        return f"LiveSource({self.source.type} {self.source.watch_url!r}, next {self.hot.next_look_at})"


def new_version(world: World) -> Version:
    return Version(int.from_bytes(world.entropy(8), "big") >> 2)


def limits_of(source: Source, settings: Settings) -> Limits:
    schedule = None if source.schedule is None else float(source.schedule)
    if schedule is None and source.follow != "none" and source.detection.is_sitemap:
        schedule = SITEMAP_PACE
    return _limits(settings.cadence_floor, settings.cadence_ceiling, schedule, source.hours)


@lru_cache(maxsize=1024)  # sources with the same bounds share one record
def _limits(floor: float, ceiling: float, schedule: float | None, hours: str | None) -> Limits:
    try:
        return Limits(floor, ceiling, schedule, None if hours is None else read_hours(hours))
    except ValueError:  # a zone that this machine does not know
        return Limits(floor, ceiling, schedule)
