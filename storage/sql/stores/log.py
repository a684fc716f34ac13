"""The log of events in SQL: appends and retention on the writer, pages on the readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from storage.append import Answer, Lease, Mint, Stamp, Stories, events_of
from storage.errors import Duplicate, StateMoved
from storage.records.event import Bounds, Filter, Page, SourceSize, Stored, check_adopted, id_in, kind_of
from storage.records.identity import SERVICE, START, Seq, SourceId, seq_of
from storage.records.source import Harvest, SourceState, StoredJar, Version
from storage.records.tiers import Kind
from storage.retention import FreeSpace
from storage.secrets.sealing import Connection
from storage.secrets.vault import Vault
from storage.sql.stores import pictures, scan
from storage.sql.stores.alerts import clear_notice
from storage.sql.stores.sources import encode_hot, insert, write_jars
from storage.sql.stores.stories import StoryAssigner, StoryMarks
from storage.sql.transaction import (
    MOST_ROWS,
    Reading,
    Row,
    Space,
    Store,
    Transaction,
    Writer,
    every_row,
    fenced,
    first_row,
    in_transaction,
    read_only,
)
from storage.tail import Follower, Tail

_KEY = "SELECT h.key, h.version FROM source_key k JOIN source_hot h ON h.key=k.key WHERE k.id=?"
_KEYS = "SELECT k.id, h.key, h.version FROM source_key k JOIN source_hot h ON h.key=k.key WHERE k.id IN"
_BETWEEN = "SELECT count(*) FROM log WHERE seq>? AND seq<? AND kind NOT IN (?,?)"
_KNOW = "INSERT INTO source_key(id) VALUES(?) ON CONFLICT DO NOTHING"
_NUMBER = "SELECT key FROM source_key WHERE id=?"


class EventLog(Store):
    """`known`: the newest position that a reader may have seen. `tail` shows commits while `follower` runs."""

    def __init__(self, writer: Writer, readers: Reading, vault: Vault, space: Space, known: Seq, *, tail: Tail) -> None:
        super().__init__(writer, readers, vault)
        self._space, self._pages = space, scan.Pages(known)
        self.follower = Follower(tail, self)
        self._stories = StoryMarks()
        self._last = known  # the newest position minted, committed or not; used on the writer thread only

    async def append(
        self, harvests: Sequence[Harvest], lease: Lease, mint: Mint, stamp: Stamp, stories: Stories | None = None
    ) -> Sequence[Answer]:
        """Commit harvests in one transaction and return an answer for each, in order.

        These harvests are skipped and have no events: those of deleted sources, a notice that its debtor does not owe,
        a heartbeat that does not follow the newest. A harvest is refused alone if it derives from another state than
        the stored one, or if its new source's URL is already watched. With `stories`, each draft is stamped with its
        story, even one that began in this transaction. Returns only after the data are durable.
        Raises Fenced, DiskFull, Unavailable.
        """
        job = fenced(lease, partial(self._append, harvests, mint, stamp, stories))
        events = sum([len(harvest.drafts) or 1 for harvest in harvests])
        holds: list[Row] = [("destination", harvest.debtor) for harvest in harvests if harvest.debtor is not None]
        return await self._writer.submit(job, events=events, holds=holds)

    def _append(
        self, harvests: Sequence[Harvest], mint: Mint, stamp: Stamp, stories: Stories | None, transaction: Transaction
    ) -> Sequence[Answer]:
        before = self._last = Seq(transaction.last(self._last))
        mint.raise_floor(before)
        answers: list[Answer] = []
        rows: list[tuple[Seq, int, int, bytes]] = []
        shown, states = list[pictures.PictureRow](), _States()
        states.know(transaction, [harvest.state for harvest in harvests if harvest.state and not harvest.born])
        assigner = None if stories is None else StoryAssigner(self._stories, stories, transaction, harvests)
        for harvest in harvests:
            key = _admitted(transaction, harvest, states)
            if not isinstance(key, int):
                answers.append(() if key is None else key)
                continue
            events = list(self._minted(harvest, mint, stamp, assigner))
            rows += [(event.seq, key, event.kind, event.body) for event in events]
            if harvest.picture is not None:
                pairs = zip(harvest.drafts, events, strict=True)
                changed = (event.seq for draft, event in pairs if draft.delta is not None)
                shown.append((key, next(changed, START), harvest.picture))
            answers.append(events)
        transaction.put_events(rows)
        if assigner is not None:
            assigner.write(self._last)
        states.write(transaction)
        write_jars(transaction, (_jar(harvest.state) for harvest in harvests if harvest.state is not None))
        if shown:
            pictures.keep(transaction, shown)
        if rows:
            transaction.newest = rows[-1][0]
            transaction.afterwards.append(partial(self._show, before, answers))
        return answers

    def _show(self, before: Seq, answers: Sequence[Answer], committed: bool) -> None:
        if committed:
            self.follower.committed(before, events_of(answers))
        else:
            self.follower.unknown()

    def _minted(self, harvest: Harvest, mint: Mint, stamp: Stamp, assigner: StoryAssigner | None) -> Iterator[Stored]:
        for draft in harvest.drafts:
            seq, event_id = mint.mint()
            if seq <= self._last:
                raise ValueError(f"minted {seq} after {self._last}: positions must rise")
            self._last = seq
            story = "" if assigner is None else assigner.of(harvest.source, draft, seq)
            known = replace(draft, story=story) if story else draft
            event = Stored(seq, harvest.source, kind_of(draft), stamp(seq, event_id, harvest.source, known))
            if assigner is not None:
                assigner.add(draft, event)
            yield event

    async def adopt(self, events: Sequence[Stored], floor: Seq, lease: Lease) -> None:
        """Import a part of another instance's log unchanged, with its floor, in one transaction, without publishing.
        The sources need not be watched here. Positions must rise from above `floor` and above all positions assigned
        here. Raises ValueError and changes nothing otherwise, or if events here are at or below `floor`.
        """

        def job(transaction: Transaction) -> None:
            (newest,) = transaction.execute("SELECT coalesce(max(seq), 0) FROM log").fetchone()
            check_adopted(events, floor, Seq(transaction.last(self._last)), newest)
            ids = dict.fromkeys(event.source for event in events)
            transaction.executemany(_KNOW, [(id,) for id in ids])
            keys = {id: transaction.execute(_NUMBER, (id,)).fetchone()[0] for id in ids}
            transaction.put_events([(each.seq, keys[each.source], each.kind, each.body) for each in events])
            transaction.execute("UPDATE fact SET value=? WHERE name='floor' AND value<?", (floor, floor))
            self._last = events[-1].seq if events else max(self._last, floor)
            transaction.newest = events[-1].seq if events else START

        await self._writer.submit(fenced(lease, job), events=len(events) or 1)

    @in_transaction(rows=lambda states, _, jars=(): len(states) + len(jars))
    def save_states(
        self, transaction: Transaction, states: Sequence[SourceState], lease: Lease, jars: Sequence[StoredJar] = ()
    ) -> None:
        """Save states without events, and cookies, in one transaction. Skips states of unknown sources, and those that
        derive from another state than the stored one. Cookies, also those in the states, overwrite older ones, whatever
        state is stored: see `storage.records.source`.
        """
        transaction.fence(lease)
        admitted = _States()
        admitted.know(transaction, states)
        for state in states:
            admitted.take(transaction, state)
        admitted.write(transaction)
        write_jars(transaction, (*map(_jar, states), *jars))

    async def read(self, after: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return up to `limit` (1 to 500) events and 1 MiB, oldest first; read at most `budget` rows."""
        return await self._readers.run(lambda c: self._pages.read(c, after, scan.ScanRequest(limit, where, budget)))

    async def newer(self, after: Seq, limit: int) -> Sequence[Stored]:
        """Return up to `limit` events after `after`, oldest first, in one round trip."""
        return [scan.stored(*row) for row in await every_row(self._readers, scan.NEWER, after, limit)]

    async def read_back(self, before: Seq, limit: int, where: Filter, budget: int = 5_000) -> Page:
        """Return events before `before`, newest first. `scanned` is the lowest position read (0 at the end)."""
        wish = scan.ScanRequest(limit, where, budget)
        return await self._readers.run(lambda c: self._pages.read(c, before, wish, back=True))

    async def get(self, event_id: str) -> Stored | None:
        """Return one event; None if unknown or if the id is not a UUIDv7."""
        try:
            seq = seq_of(event_id)
        except ValueError:
            return None
        found = await self._readers.run(lambda connection: self._pages.get(connection, seq))
        # The position is only the head of the id: the rest must agree too.
        return found if found is not None and id_in(found.body) == event_id.lower() else None

    async def bounds(self) -> Bounds:
        return await self._readers.run(self._pages.bounds)

    async def count(self) -> int:
        """Count stored events without heartbeats. Scans a whole index: for the pruner, not for requests."""
        return int((await first_row(self._readers, scan.WITHOUT_HEARTBEATS))[0])

    @read_only
    def heartbeat(self, connection: Connection) -> Stored | None:
        newest = scan.newest_heartbeat(connection)
        return self._pages.get(connection, newest) if newest else None

    @in_transaction(rows=lambda _before, _keep, limit, _lease: limit)
    def forget_heartbeats(self, transaction: Transaction, before: Seq, keep: int, limit: int, lease: Lease) -> int:
        """Delete at most `limit` heartbeats before `before`, but not the newest `keep`. The floor stays."""
        transaction.fence(lease)
        return scan.forget_heartbeats(transaction.connection, min(before, scan.LAST), keep, limit)

    async def room(self) -> FreeSpace:
        """Return approximately how many bytes the storage takes, including other tables, and how many are free."""
        return await self._readers.run(self._space.room)

    async def give_back(self, limit: int, lease: Lease) -> int:
        """Return at most `limit` free bytes to the disk; return how many, 0 if none can be."""
        job = fenced(lease, lambda it: self._space.give_back(it.connection, limit))
        return await self._writer.submit(job, rows=MOST_ROWS)

    async def held(self, source: SourceId) -> SourceSize:
        """Return a source's share of the log. Events are counted; bytes are estimated from the newest ones."""
        return await self._readers.run(partial(scan.held, source=source))

    async def heaviest(self, limit: int) -> Mapping[SourceId, SourceSize]:
        """Return sources of many events, heaviest first, deleted ones and notices too. Scans a whole index."""
        return await self._readers.run(partial(scan.heaviest, limit=limit))

    async def count_between(self, after: Seq, before: Seq) -> int:
        """Count the events between two positions, without practice and heartbeats. Reads all of them."""
        where = (after, min(before, scan.LAST), Kind.PRACTICE, Kind.HEARTBEAT)
        return int((await first_row(self._readers, _BETWEEN, *where))[0])

    @in_transaction(rows=lambda _before, limit, _lease: limit)
    def retain(self, transaction: Transaction, before: Seq, limit: int, lease: Lease) -> int:
        """Delete at most `limit` of the oldest events before `before`; raise the floor; return how many."""
        transaction.fence(lease)
        oldest = "SELECT seq FROM log WHERE seq<? ORDER BY seq LIMIT ?"
        doomed = transaction.execute(oldest, (min(before, scan.LAST), limit)).fetchall()
        if doomed:
            floor = doomed[-1]
            transaction.execute("DELETE FROM log WHERE seq<=?", floor)
            transaction.execute("UPDATE fact SET value=? WHERE name='floor'", floor)
        return len(doomed)


def _jar(state: SourceState) -> StoredJar:
    """Return the cookies of a state. They have their own age, so they count even if the state is refused."""
    return state.source, state.hot.cookies


class _States:
    """The states that one transaction writes. Each must derive from the previous one, in storage or here."""

    def __init__(self) -> None:
        self._rows: dict[SourceId, tuple[int, SourceState]] = {}
        self._bases: dict[int, bytes] = {}
        self._known: dict[SourceId, tuple[int, Version]] = {}
        self._beaten = False

    def follows(self, transaction: Transaction, before: Seq) -> bool:
        """Admit a heartbeat that follows the newest; of several in one transaction, only the first."""
        if self._beaten or scan.newest_heartbeat(transaction.connection) != before:
            return False
        self._beaten = True
        return True

    def know(self, transaction: Transaction, states: Sequence[SourceState]) -> None:
        """Read the versions of several sources in one statement; single round trips would dominate an append."""
        ids = list(dict.fromkeys(state.source for state in states))
        if len(ids) > 1:
            marks = ",".join("?" * len(ids))
            rows = transaction.execute(f"{_KEYS} ({marks})", ids).fetchall()
            self._known = {SourceId(id): (key, Version(version)) for id, key, version in rows}

    def take(self, transaction: Transaction, state: SourceState) -> int | StateMoved | None:
        """Admit a state and return its source's number, None if there is no such source."""
        before = self._rows.get(state.source)
        if before is not None:
            key, version = before[0], before[1].version
        else:
            # An unknown source may be new in this transaction.
            found = self._known.get(state.source) or transaction.execute(_KEY, (state.source,)).fetchone()
            if found is None:
                return None
            key, version = found
        if version != state.since:
            return StateMoved(state.source)
        self.put(key, state)
        return key

    def put(self, key: int, state: SourceState) -> None:
        self._rows[state.source] = (key, state)
        if state.base is not None:
            self._bases[key] = state.base

    def write(self, transaction: Transaction) -> None:
        transaction.put_hot([(encode_hot(state.hot), state.version, key) for key, state in self._rows.values()])
        if self._bases:
            bases = [(base, key) for key, base in self._bases.items()]
            transaction.executemany("UPDATE source_base SET body=? WHERE key=?", bases)


def _admitted(transaction: Transaction, harvest: Harvest, states: _States) -> int | StateMoved | Duplicate | None:
    """Return a harvest's source number or its refusal, None to skip it; settle an owed notice, add a new source."""
    if harvest.source == SERVICE:
        if harvest.debtor is not None and not clear_notice(transaction, harvest.debtor, harvest.pays):
            return None
        if harvest.follows is not None and not states.follows(transaction, harvest.follows):
            return None
        transaction.execute(_KNOW, (SERVICE,))
        return int(transaction.execute(_NUMBER, (SERVICE,)).fetchone()[0])
    if harvest.born is not None and harvest.state is not None:
        try:
            return insert(transaction, harvest.born, harvest.state, harvest.known)
        except Duplicate as duplicate:
            return duplicate
    if harvest.state is not None:
        return states.take(transaction, harvest.state)
    found = transaction.execute(_KEY, (harvest.source,)).fetchone()
    return None if found is None else int(found[0])
