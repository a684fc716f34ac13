"""The watched sources, their changes and the defaults of their tags, in SQL.

A source's number in `source_key` outlives it: its events stay findable. A deleted source keeps its row for ten
minutes, with `deleted:<when>:<id>` as its URL: undo restores it whole. An engine shared by nodes has the table
`source_change`.

Days of checks and shifts in SQL. The day number leads the key, so a day's rows are adjacent: new days are written at
one end and old ones deleted at the other. One source's year takes some hundred look-ups of single rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from storage.append import Lease
from storage.errors import Duplicate, StateMoved
from storage.records import source as records
from storage.records.coverage import MOST_SHIFTS, Day, Shift, following, summed, united
from storage.records.identity import Millis, SourceId
from storage.records.source import FIRST, Source, SourceState, TagDefaults, Version, WatchedSource
from storage.secrets import COOKIES, HELLOS, Connection, Vault
from storage.sql.writing import MOST_ROWS, Store, Transaction, fenced, found, in_transaction, read_only, write_one

_decode = msgspec.json.Decoder(Source).decode
_WATCHED = """SELECT s.body, s.sealed, h.body, b.body, h.version, h.jar FROM source_key k JOIN source s ON s.key=k.key
    JOIN source_hot h ON h.key=k.key JOIN source_base b ON b.key=k.key """
_DELETED = "deleted:"  # prefix of a deleted source's `url` column, which no URL has; its deletion time and id follow
_THERE = "(s.url < 'deleted:' OR s.url >= 'deleted;')"
_CHANGED = """SELECT s.body FROM source_change c JOIN source s ON s.key=c.key
    WHERE c.number>? AND s.sealed IS NULL AND """
_GIVE_VERSION = "UPDATE source_hot SET version=? WHERE key=(SELECT key FROM source_key WHERE id=?)"
_STANDS = """SELECT s.body, s.sealed, h.version FROM source_key k JOIN source s ON s.key=k.key
    JOIN source_hot h ON h.key=k.key WHERE k.id=?"""
_BY_URL = "SELECT body, sealed FROM source WHERE url=?"
_WRITE_HOT = "UPDATE source_hot SET body=?, version=? WHERE key=(SELECT key FROM source_key WHERE id=?)"
_READ_JAR = "SELECT jar FROM source_hot WHERE key=(SELECT key FROM source_key WHERE id=?)"
_WRITE_JAR = COOKIES.put
_WRITE_BASE = "UPDATE source_base SET body=? WHERE key=(SELECT key FROM source_key WHERE id=?)"

_encode = msgspec.msgpack.Encoder().encode
decode_hot = msgspec.msgpack.Decoder(records.SourceRuntime).decode


def encode_hot(hot: records.SourceRuntime) -> bytes:
    return _encode(hot.without_secret)


class Sources(Store):
    """The watched sources. Methods ignore recently deleted sources unless they say otherwise."""

    async def add(self, source: Source, state: SourceState, lease: Lease, known: int | None = None) -> None:
        """Add a source with its first state. Raises Duplicate with the existing one if the URL is watched, or if
        another node added the same feed after the change `known`, the last that the caller has seen. None: not checked.
        """
        await self._writer.submit(fenced(lease, lambda it: insert(it, source, state, known)), rows=3)

    @in_transaction(holds=lambda source, *_, **__: [("source", source.id)])
    def update(
        self,
        transaction: Transaction,
        source: Source,
        lease: Lease,
        version: Version = FIRST,
        state: SourceState | None = None,
        *,
        before: Source | None,
    ) -> None:
        """Replace a source's settings and give its state this version, so that a harvest under way is refused. The
        state stays except for `state`. An unknown id is ignored. Raises Duplicate. Raises StateMoved if the stored
        record is not `before`, or the stored state not the one that `state` derives from (`since`); None and FIRST
        match any.
        """
        transaction.fence(lease)
        existing = _by_url(transaction, source.url)
        if existing is not None and existing.id != source.id:
            raise Duplicate(existing)
        _check_unmoved(transaction, before, FIRST if state is None else state.since)
        update = "UPDATE source SET url=?, body=?, sealed=? WHERE key=(SELECT key FROM source_key WHERE id=?)"
        transaction.execute(update, (_url(source), *_row(source, transaction.vault), source.id))
        transaction.place(source)
        transaction.execute(_GIVE_VERSION, (version, source.id))
        if state is not None:
            write_state(transaction, state)

    @in_transaction(rows=lambda *_, **__: 3, holds=lambda source, *_, **__: [("source", source)])
    def delete(self, transaction: Transaction, source: SourceId, lease: Lease, *, before: Source | None = None) -> None:
        """Delete a source and its state; its events stay in the log. `before` as in `update`."""
        transaction.fence(lease)
        _check_unmoved(transaction, before)
        transaction.execute("DELETE FROM source WHERE key=(SELECT key FROM source_key WHERE id=?)", (source,))

    @in_transaction(rows=lambda *_: 3)
    def forget_deleted(self, transaction: Transaction, before: Millis, limit: int) -> int:
        """Erase at most `limit` sources deleted before a moment (`deleted_at`); return how many."""
        query = "SELECT key FROM source WHERE url>=? AND url<? ORDER BY url LIMIT ?"
        keys = transaction.execute(query, (_DELETED, _deleted_at(before), limit)).fetchall()
        transaction.executemany("DELETE FROM source WHERE key=?", keys)
        return len(keys)

    @read_only
    def deleted(self, connection: Connection, since: Millis, limit: int) -> Sequence[Source]:
        """Return sources deleted at a moment or later, newest first."""
        query = "SELECT body, sealed FROM source WHERE url>=? AND url<'deleted;' ORDER BY url DESC LIMIT ?"
        rows = connection.execute(query, (_deleted_at(since), limit)).fetchall()
        return [_source(body, sealed, self._vault) for body, sealed in rows]

    async def get(self, source: SourceId, *, deleted: bool = False) -> WatchedSource | None:
        """Return one source; with `deleted`, only one that has a `deleted_at`, whose URL is free."""
        watched = await self._first(lambda *row: watched_of(row, self._vault), _WATCHED + "WHERE k.id=?", source)
        return watched if watched is not None and (watched.source.deleted_at is not None) is deleted else None

    async def by_url(self, url: str) -> Source | None:
        return await self._first(lambda body, sealed: _source(body, sealed, self._vault), _BY_URL, url)

    @read_only
    def page(self, connection: Connection, after: SourceId | None, limit: int) -> Sequence[WatchedSource]:
        """Return sources in id order (at start, all of them, page by page)."""
        rows = connection.execute(_WATCHED + f"WHERE k.id>? AND {_THERE} ORDER BY k.id LIMIT ?", (after or "", limit))
        return [watched_of(row, self._vault) for row in rows.fetchall()]


def insert(transaction: Transaction, source: Source, state: SourceState, known: int | None) -> int:
    """Raises Duplicate."""
    existing = _by_url(transaction, source.url) or _twin(transaction, source, known)
    if existing is not None:
        raise Duplicate(existing)
    transaction.execute("INSERT INTO source_key(id) VALUES(?) ON CONFLICT DO NOTHING", (source.id,))
    (key,) = transaction.execute("SELECT key FROM source_key WHERE id=?", (source.id,)).fetchone()
    row = "INSERT INTO source(key, url, body, sealed) VALUES(?,?,?,?)"
    transaction.execute(row, (key, _url(source), *_row(source, transaction.vault)))
    transaction.place(source)
    hot = (key, encode_hot(state.hot), state.version)
    transaction.execute("INSERT INTO source_hot(key, body, version) VALUES(?,?,?)", hot)
    write_jars(transaction, ((source.id, state.hot.cookies),))
    transaction.execute("INSERT INTO source_base VALUES(?,?)", (key, state.base or b""))
    return int(key)


def _twin(transaction: Transaction, source: Source, known: int | None) -> Source | None:
    """Return the source of the same feed that another node has added since this one knew all."""
    if known is None or not transaction.SHARED or not source.tier.has_entries:
        return None
    others = (_decode(body) for (body,) in transaction.execute(_CHANGED + _THERE, (known,)).fetchall())
    return next((other for other in others if records.same_feed(source, other)), None)


def _by_url(transaction: Transaction, url: str) -> Source | None:
    return found(transaction, lambda body, sealed: _source(body, sealed, transaction.vault), _BY_URL, url)


def write_state(transaction: Transaction, state: SourceState) -> None:
    """Write a source's state, regardless of the stored one; skip an unknown source."""
    transaction.execute(_WRITE_HOT, (encode_hot(state.hot), state.version, state.source))
    write_jars(transaction, ((state.source, state.hot.cookies),))
    if state.base is not None:
        transaction.execute(_WRITE_BASE, (state.base, state.source))


def write_jars(transaction: Transaction, jars: Iterable[records.StoredJar]) -> None:
    """Write cookies over strictly older ones."""
    for source, kept in jars:
        if not kept:
            continue
        if (row := transaction.execute(_READ_JAR, (source,)).fetchone()) is None:
            continue
        if row[0] is None or records.is_younger(kept, transaction.vault.open(COOKIES.kind, source, row[0]).decode()):
            transaction.execute(_WRITE_JAR, (transaction.vault.seal(COOKIES.kind, source, kept.encode()), source))


def _url(source: Source) -> str:
    """Return the unique value of the `url` column: the URL, or for a deleted source its deletion time and id."""
    return source.url if source.deleted_at is None else f"{_deleted_at(source.deleted_at)}:{source.id}"


def _deleted_at(moment: Millis) -> str:
    return f"{_DELETED}{max(0, moment):015d}"


def _check_unmoved(transaction: Transaction, before: Source | None, since: Version = FIRST) -> None:
    if before is None:
        return
    row = transaction.execute(_STANDS, (before.id,)).fetchone()
    if row is not None and (_source(row[0], row[1], transaction.vault) != before or since not in (FIRST, row[2])):
        raise StateMoved(before.id)


def watched_of(row: tuple[bytes, bytes | None, bytes, bytes, int, bytes | None], vault: Vault) -> WatchedSource:
    """Decode a source from a row: record, sealed, hot, base, version, jar."""
    body, sealed, hot, base, version, jar = row
    source, runtime = _source(body, sealed, vault), decode_hot(hot)
    if jar is not None:
        runtime = replace(runtime, cookies=vault.open(COOKIES.kind, source.id, jar).decode())
    return WatchedSource(source, runtime, base, Version(version))


def _source(body: bytes, sealed: bytes | None, vault: Vault) -> Source:
    source = _decode(body)
    return source if sealed is None else source.with_secret(vault.open(HELLOS.kind, source.id, sealed).decode())


def _row(source: Source, vault: Vault) -> tuple[bytes, bytes | None]:
    """Return a record without its secret, and that sealed. Raises TypeError for a subclass, with inherited settings."""
    if type(source) is not Source:
        raise TypeError(f"a {type(source).__name__} is not a stored record of a source")
    secret = source.secret
    sealed = None if secret is None else vault.seal(HELLOS.kind, source.id, secret.encode())
    return msgspec.json.encode(source.without_secret), sealed


_decode_defaults = msgspec.json.Decoder(TagDefaults).decode
_DEFAULTS = "SELECT body FROM tag_defaults WHERE tag=?"
_PUT_DEFAULTS = "INSERT INTO tag_defaults(tag, body) VALUES(?,?) ON CONFLICT(tag) DO UPDATE SET body=excluded.body"
_REVISE = "UPDATE fact SET value=value+1 WHERE name='tag_defaults'"
_REVISION = "SELECT value FROM fact WHERE name='tag_defaults'"


DefaultsChange = Callable[[TagDefaults | None], TagDefaults | None]
"""Gets a tag's defaults and returns the new ones, None for none. If it raises, nothing changes."""


class TagsDefaults(Store):
    """Defaults, at most one record per tag."""

    async def all(self) -> Sequence[TagDefaults]:
        return await self._all(_decode_defaults, "SELECT body FROM tag_defaults ORDER BY tag")

    async def get(self, tag: str) -> TagDefaults | None:
        return await self._first(_decode_defaults, _DEFAULTS, tag)

    @in_transaction(holds=lambda *_: [("fact", "tag_defaults")])
    def edit(self, transaction: Transaction, tag: str, change: DefaultsChange) -> TagDefaults | None:
        transaction.execute(_REVISE)  # first: other writers of one wait for it
        if (changed := change(found(transaction, _decode_defaults, _DEFAULTS, tag))) is None:
            transaction.execute("DELETE FROM tag_defaults WHERE tag=?", (tag,))
        else:
            transaction.execute(_PUT_DEFAULTS, (tag, msgspec.json.encode(changed)))
        return changed

    async def revision(self) -> int:
        """Return a number that rises with each change of any of them, on any node."""
        return await self._first(int, _REVISION) or 0


_SELECT: Final = "SELECT number, node, began, saved, until, after FROM shift "
_INSERT: Final = "INSERT INTO shift(node, began, saved, until, after) VALUES(?,?,?,?,?) RETURNING number"
_SAVE: Final = "UPDATE shift SET saved=?, until=? WHERE number=?"
_SPARE: Final = "DELETE FROM shift WHERE number<=(SELECT max(number) FROM shift)-?"
_PAST: Final = "DELETE FROM shift WHERE coalesce(until, saved)<? AND number<(SELECT max(number) FROM shift)"
_CUT: Final = "UPDATE shift SET began=?, after='retention' WHERE began<?"
_PUT: Final = """INSERT INTO look_day(day, key, body, sums) VALUES(?,?,?,?)
    ON CONFLICT(day, key) DO UPDATE SET body=excluded.body, sums=excluded.sums"""
_FORGET: Final = """DELETE FROM look_day WHERE (day, key) IN
    (SELECT day, key FROM look_day WHERE day<? ORDER BY day, key LIMIT ?)"""
_DAYS: Final = """WITH RECURSIVE asked(day) AS (
        SELECT CAST(? AS BIGINT) UNION ALL SELECT day + 1 FROM asked WHERE day < ?
    ) SELECT d.day, d.body, d.sums FROM asked JOIN look_day d ON d.day=asked.day AND d.key=? ORDER BY d.day"""
"""Looks up each day, since the day leads the key: a range of days would read all sources' days."""
_HAS_DAY: Final = "SELECT k.key, d.body FROM source_key k LEFT JOIN look_day d ON d.key=k.key AND d.day=? WHERE k.id=?"
_DAY_MS: Final = 86_400_000


class Coverage(Store):
    """Days of checks, and shifts. Every write raises the same errors as a write to the log."""

    @in_transaction()
    def begin(self, transaction: Transaction, node: str, now: Millis) -> Shift:
        last = found(transaction, Shift, _SELECT + "WHERE node=? ORDER BY number DESC LIMIT 1", node)
        copied = transaction.execute("DELETE FROM fact WHERE name='restored'").rowcount > 0
        return _inserted(transaction, following(last, node, now, copied=copied))

    @in_transaction()
    def step(self, transaction: Transaction, before: Shift, after: Shift) -> Shift:
        transaction.execute(_SAVE, (before.saved, before.until, before.number))
        return _inserted(transaction, after)

    async def save(self, shift: Shift) -> None:
        await write_one(self._writer, _SAVE, shift.saved, shift.until, shift.number)

    async def shifts(self) -> Sequence[Shift]:
        return await self._all(Shift, _SELECT + "ORDER BY number")

    async def keep(self, days: Sequence[tuple[SourceId, Day]]) -> None:
        """Store past days in one transaction, also grown ones. Skips unknown sources."""
        if not days:
            return

        def job(transaction: Transaction) -> None:
            for source, day in days:
                _put(transaction, source, day)

        await self._writer.submit(job, rows=len(days))

    @read_only
    def days(self, connection: Connection, source: SourceId, first: int, last: int) -> Sequence[Day]:
        """Return a source's stored days between two days, both included."""
        row = connection.execute("SELECT key FROM source_key WHERE id=?", (source,)).fetchone()
        if row is None:
            return ()
        return [Day(*each) for each in connection.execute(_DAYS, (first, last, row[0])).fetchall()]

    @in_transaction(rows=lambda _before, limit: min(limit, MOST_ROWS))
    def forget(self, transaction: Transaction, before: int, limit: int) -> int:
        """Delete days before one and let the shifts' record begin there; return how many."""
        begins = before * _DAY_MS
        if transaction.execute("SELECT 1 FROM shift WHERE began<?", (begins,)).fetchone() is not None:
            transaction.execute(_PAST, (begins,))
            transaction.execute(_CUT, (begins, begins))
        return transaction.execute(_FORGET, (before, limit)).rowcount


def _inserted(transaction: Transaction, shift: Shift) -> Shift:
    (number,) = transaction.execute(_INSERT, shift[1:]).fetchone()
    if transaction.execute(_SPARE, (MOST_SHIFTS,)).rowcount:
        transaction.execute("UPDATE shift SET after='retention' WHERE number=(SELECT min(number) FROM shift)")
    return shift._replace(number=number)


def _put(transaction: Transaction, source: SourceId, day: Day) -> None:
    """Store one day of a source. Hours repeated by a clock set back go after the stored ones."""
    if (row := transaction.execute(_HAS_DAY, (day.number, source)).fetchone()) is None:
        return
    key, there = row
    grown = day if there is None else united(Day(day.number, there), day)
    if grown.body != there:
        transaction.execute(_PUT, (day.number, key, grown.body, summed(grown)))
