"""A window of the log as one file, written while it is read: a cursor, a page in memory; CSV (RFC 4180).

The export fixes its end when it begins, so a growing log does not make it endless. A slow client delays only its own
export; one that stops reading is cut. An incomplete export never looks complete: the connection ends without the last
chunk, and a JSON array stays open. An export also fails this way if retention deletes events before it has read them.

Spreadsheets run cells that begin like a formula, and the owner of a watched page controls every text here. Such cells
get a leading apostrophe, which marks them as text. Programs that need the exact bytes should use NDJSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import trio

from api.problems import later
from api.ratelimit import counted
from api.streams.keepalives import Writer
from api.streams.reader import EventFilter, FellBehind
from storage.records.access import Holder, Session
from storage.records.event import Stored
from storage.records.identity import Seq
from storage.sql.stores.log import EventLog

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Prefixes that start a formula. The last four are full-width forms, which some spreadsheets treat alike."""
_QUOTED = ('"', ",", "\r", "\n")
_PLAIN = (
    *("emitted_at", "source_type", "source_url", "url", "title", "author", "published_at", "fetched_at", "tags"),
    *("alert_type", "content", "id", "source_id", "content_hash"),
)
COLUMNS = (*_PLAIN, "added", "removed", "changed", "summary")
"""Append new columns at the end, so that readers by number keep working."""
HEADER = ",".join(COLUMNS).encode() + b"\r\n"


def line_of(body: bytes) -> bytes:
    """Return the CSV line of an event's wire JSON, with its line end.

    >>> line_of(b'{"title":"=1+1","tags":["a","b"]}')
    b",,,,'=1+1,,,,a; b,,,,,,,,,\\r\\n"
    """
    event: dict[str, Any] = msgspec.json.decode(body)
    diff = event.get("diff") or {}
    cells = ["; ".join(value) if isinstance(value, list) else value or "" for value in map(event.get, _PLAIN)]
    cells += ["\n".join(diff.get(side, ())) for side in ("added", "removed")]
    cells.append("\n".join(f"{change['before']} → {change['after']}" for change in diff.get("changed", ())))
    return ",".join(map(cell, (*cells, event.get("summary", "")))).encode() + b"\r\n"


def cell(text: str) -> str:
    if text.startswith(FORMULA):
        text = f"'{text}"
    text = text.replace("\0", "\ufffd")  # RFC 4180 has no NUL, and many programs end a file at one
    if any(sign in text for sign in _QUOTED):
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text


Format = Literal["json", "ndjson", "csv"]
MEDIA: dict[Format, str] = {
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8; header=present",
}
PAGE = 100  # events in memory per export; each may be 100 KB
PIECE = 64 << 10  # bytes per piece
KEY_CHECK = 0.5  # seconds between two checks of the key or session
MOST, MOST_OF_KEY = 4, 2  # concurrent exports, in total and per key or session
_TRIES = 3
_BEGIN: dict[Format, bytes] = {"json": b"[", "ndjson": b"", "csv": HEADER}
_END: dict[Format, bytes] = {"json": b"\n]\n", "ndjson": b"", "csv": b""}


class Revoked(Exception):
    """The export's key was deleted, or its session ended."""


@dataclass(frozen=True, slots=True)
class ExportStatistics:
    """An export at one instant: events held, read, and written."""

    held: int
    looked: int
    written: int


class Export:
    """One export's position in the log. Call `begin`, then `take` until it returns None."""

    def __init__(self, log: EventLog, event_filter: EventFilter, form: Format, *, after: Seq, before: Seq) -> None:
        self._log, self._filter, self._form = log, event_filter, form
        self._at, self._before = after, before
        self._page: list[Stored] = []
        self._exhausted = self._ended = False
        self._looked = self._written = 0
        self._pending = _BEGIN[form]
        self.first = after
        """The position after which it really began."""

    async def begin(self) -> None:
        """Read the first page, from the log's floor at least. Raises StorageError, as an error beats a broken file."""
        for _ in range(_TRIES):
            self._at = max(self._at, (await self._log.bounds()).floor)
            self.first = self._at
            with suppress(FellBehind):
                return await self._read()
        raise later("unavailable", "Retention is at work in this window.", 5)

    async def take(self) -> bytes | None:
        """Return the next piece, perhaps empty; None after the last. Raises FellBehind, StorageError."""
        if self._ended:
            return None
        if not self._page and not self._exhausted:
            await self._read()
        pieces, self._pending = [self._pending], b""
        size, some = 0, self._page[::-1]
        some = some[: self._filter.portion(some)]
        for event, passes in zip(some, await self._filter.sift(some), strict=True):
            self._page.pop()
            self._looked += 1
            if passes:
                pieces.append(self._encoded(event.body))
                size += len(pieces[-1])
                self._written += 1
                if size >= PIECE:
                    break
        if self._exhausted and not self._page:
            pieces.append(_END[self._form])
            self._ended = True
        return b"".join(pieces)

    def statistics(self) -> ExportStatistics:
        return ExportStatistics(len(self._page), self._looked, self._written)

    def __repr__(self) -> str:
        return f"<Export {self._form} at {self._at} before {self._before}, {self._written} written>"

    def _encoded(self, body: bytes) -> bytes:
        if self._form == "csv":
            return line_of(body)
        if self._form == "ndjson":
            return body + b"\n"
        return (b",\n" if self._written else b"\n") + body

    async def _read(self) -> None:
        page = await self._log.read(self._at, PAGE, self._filter.where)
        if page.floor > self._at:
            raise FellBehind
        self._page = [event for event in reversed(page.events) if event.seq < self._before]
        self._exhausted = page.scanned >= self._before - 1 or page.scanned in (self._at, page.head)
        self._at = page.scanned


class Exports:
    """The running exports."""

    def __init__(self) -> None:
        self._of_key: Counter[str] = Counter()

    def check_room(self, key: Holder) -> None:
        """Raise Refusal if too many run: 429 for this key or session, 503 in total."""
        if self._of_key[key.id] >= MOST_OF_KEY:
            whose = "browser" if isinstance(key, Session) else "key"
            raise later("rate-limited", f"This {whose} has {MOST_OF_KEY} exports under way; wait for one to end.", 10)
        if len(self) >= MOST:
            raise later("unavailable", f"{MOST} exports are under way; there is no room for more.", 10)

    @contextmanager
    def running(self, key: Holder) -> Iterator[None]:
        """Count an export within the block. Raises Refusal if there is no room."""
        self.check_room(key)
        with counted(self._of_key, key.id):
            yield

    def __len__(self) -> int:
        return self._of_key.total()

    def __repr__(self) -> str:
        return f"<Exports {len(self)} of {len(self._of_key)} keys>"


async def pour(export: Export, writer: Writer, has_gone: Callable[[], Awaitable[bool]]) -> None:
    """Write a whole export. Raises the writer's errors, FellBehind, StorageError, Revoked.

    At most one piece is in flight: the next is made when the client has taken it.
    has_gone: whether its key was deleted, or its session ended.
    """
    checked = trio.current_time()
    while (piece := await export.take()) is not None:
        rest = writer.send_nowait(piece)
        if rest:
            await writer.send(rest)
        else:
            await trio.lowlevel.checkpoint()
        if trio.current_time() >= checked + KEY_CHECK:
            checked = trio.current_time()
            if await has_gone():
                raise Revoked
