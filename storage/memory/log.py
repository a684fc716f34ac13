"""The log of events in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from storage.interface import Lease, Mint, Stamp
from storage.memory.disk import Apply, Disk
from storage.memory.writer import Writer
from storage.records.body import id_in
from storage.records.cursor import Bounds, Filter, Held, Page
from storage.records.event import Kind, Stored, check_adopted, kind_of
from storage.records.identity import SERVICE, START, Seq, SourceId, seq_of
from storage.records.source import Harvest, SourceState, Watched
from storage.retention import Room

MOST = 500


class MemoryLog:
    """See `storage.interface.EventLog`."""

    def __init__(self, disk: Disk, writer: Writer) -> None:
        self._disk, self._writer = disk, writer
        self._last = disk.head()

    async def append(self, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp) -> Sequence[Stored]:
        """Commit harvests in one transaction; see EventLog."""

        def job() -> tuple[Sequence[Stored], Apply]:
            mint.raise_floor(self._last)
            events: list[Stored] = []
            states: list[SourceState] = []
            paid: dict[str, None] = {}
            for harvest in harvests:
                if self._admits(harvest, paid):
                    if harvest.state is not None:
                        states.append(harvest.state)
                    events.extend(self._minted(harvest, mint, stamp))

            def apply() -> None:
                self._disk.append(events)
                self._save(states)
                for id in paid:
                    if id in self._disk.destinations:
                        self._disk.destinations[id] = replace(self._disk.destinations[id], owes=None)

            return events, apply

        return await self._writer.commit(lease, job, name="log")

    def _admits(self, harvest: Harvest, paid: dict[str, None]) -> bool:
        """Whether a harvest is to be committed; a debt that it pays goes into `paid`."""
        if harvest.source != SERVICE:
            return harvest.source in self._disk.sources
        if harvest.debtor is None:
            return True
        debtor = self._disk.destinations.get(harvest.debtor)
        owed = debtor is not None and harvest.debtor not in paid and harvest.pays(debtor.owes)
        if owed:
            paid[harvest.debtor] = None
        return owed

    def _minted(self, harvest: Harvest, mint: Mint, stamp: Stamp) -> Iterable[Stored]:
        for draft in harvest.drafts:
            seq, event_id = mint.mint()
            if seq <= self._last:
                raise ValueError(f"minted {seq} after {self._last}: positions must rise")
            self._last = seq
            body = stamp(seq, event_id, harvest.source, draft)
            yield Stored(seq, harvest.source, kind_of(draft), body)

    async def adopt(self, events: Sequence[Stored], floor: Seq, lease: Lease) -> None:
        """Take over a part of another instance's log; see EventLog."""

        def job() -> tuple[None, Apply]:
            disk = self._disk
            check_adopted(events, floor, self._last, disk.seqs[-1] if disk.seqs else START)
            self._last = events[-1].seq if events else max(self._last, floor)

            def apply() -> None:
                disk.floor = max(disk.floor, floor)
                disk.append(events)

            return None, apply

        await self._writer.commit(lease, job, name="log")

    async def save_states(self, states: Sequence[SourceState], lease: Lease) -> None:
        """Save states in one transaction; see EventLog."""
        await self._writer.commit(lease, lambda: (None, lambda: self._save(states)), name="states")

    def _save(self, states: Sequence[SourceState]) -> None:
        sources = self._disk.sources
        for state in states:
            old = sources.get(state.source)
            if old is not None:
                base = old.base if state.base is None else state.base
                sources[state.source] = Watched(old.source, state.hot, base)

    async def read(self, after: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return a page forward; see EventLog."""
        disk, head = self._disk, max(self._disk.head(), after)
        start = disk.index_after(after)
        looked = disk.events[start : start + budget]
        events, scanned = _sift(looked, limit, where, head if len(looked) < budget else looked[-1].seq)
        return Page(events, scanned, disk.head(), disk.floor)

    async def read_back(self, before: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return a page back; see EventLog."""
        disk = self._disk
        end = bisect_left(disk.seqs, before)
        looked = disk.events[max(0, end - budget) : end][::-1]
        events, scanned = _sift(looked, limit, where, START if len(looked) < budget else looked[-1].seq)
        return Page(events, scanned, disk.head(), disk.floor)

    async def get(self, event_id: str) -> Stored | None:
        """Return one event; see EventLog."""
        try:
            found = self._disk.event_at(seq_of(event_id))
        except ValueError:
            return None
        return found if found is not None and id_in(found.body) == event_id.lower() else None

    async def bounds(self) -> Bounds:
        """Return the log's ends; see EventLog."""
        disk = self._disk
        return Bounds(disk.floor, disk.seqs[0] if disk.seqs else START, disk.head())

    async def count(self) -> int:
        """Return how many events are kept; see EventLog."""
        return len(self._disk.seqs)

    async def room(self) -> Room:
        """Return the bytes of all events, none of them free; see EventLog."""
        return Room(sum(len(event.body) for event in self._disk.events), 0)

    async def give_back(self, limit: int, lease: Lease) -> int:
        """Return 0: memory keeps nothing free; see EventLog."""
        return 0

    async def held(self, source: SourceId) -> Held:
        """Return what there is of a source; see EventLog."""
        return self._held().get(source, Held(0, 0))

    async def heaviest(self, limit: int) -> Mapping[SourceId, Held]:
        """Return the heaviest; see EventLog."""
        ranked = sorted(self._held().items(), key=lambda item: (-item[1].bytes, item[0]))
        return dict(ranked[:limit])

    def _held(self) -> dict[SourceId, Held]:
        found: dict[SourceId, Held] = {}
        for event in self._disk.events:
            events, size = found.get(event.source, Held(0, 0))
            found[event.source] = Held(events + 1, size + len(event.body))
        return found

    async def count_between(self, after: Seq, before: Seq) -> int:
        """Return how many events lie between two positions; see EventLog."""
        disk = self._disk
        found = disk.events[disk.index_after(after) : bisect_left(disk.seqs, before)]
        return sum(event.kind != Kind.PRACTICE for event in found)

    async def retain(self, before: Seq, limit: int, lease: Lease) -> int:
        """Delete the oldest events; see EventLog."""

        def job() -> tuple[int, Apply]:
            disk = self._disk
            count = min(limit, bisect_left(disk.seqs, before))

            def apply() -> None:
                if count:
                    disk.floor = disk.seqs[count - 1]
                    del disk.seqs[:count], disk.events[:count]

            return count, apply

        return await self._writer.commit(lease, job, name="retention")


def _sift(looked: Sequence[Stored], limit: int, where: Filter, end: Seq) -> tuple[Sequence[Stored], Seq]:
    """Return the first events that pass, and how far the look got: to its end, or to the last event of a full page."""
    limit = min(limit, MOST)
    assert limit > 0, f"a page of {limit} events makes no progress"
    found: list[Stored] = []
    for event in looked:
        if where.admits(event):
            found.append(event)
            if len(found) == limit:
                return found, event.seq
    return found, end
