"""The memory of a feed's seen entries, 28 bytes each, and which edits of them to report. Pure.

A record holds hashes of an entry's key, its link with and without the query, its title and its text, and its date in
minutes. Records are sorted by when they were last in the document, longest absent first. So an entry that a feed drops
and adds again is still known, while the memory stays bounded: at least `KEPT` records, and twice the document's
entries. The first byte has the version, the feed's manner of changing and whether it was empty at the last check, which
distinguishes "nothing seen yet" (no bytes) from "saw an empty feed".

An entry with an unknown key may still be known: keys depend on neighbours, some feeds change an entry's guid or the
session in its link in every response, and a move renames all (see `_Matcher`).

Edits follow the rules of pages (`changes.difference`). Lines that change alike in most entries are furniture. A text
that returns after a brief other one, a line that is replaced repeatedly, and an edit of nearly all entries at once,
which may be another server's rendering, are held until they have stayed for some checks.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.difference import BRIEF, MOST_BRIEF
from storage.records.identity import Millis

_HEAD = 8  # bytes of the prints of title and text; those of the lines follow
_LINE = 3
_MOST_LINES = 40 * _LINE
_FEWEST = 3
_FEWEST_AT_ONCE = 5
_NEARLY_ALL = 0.8
_LASTS = 4  # checks that a held edit must survive; doubled after each further return
_MOST_TURNS = 4
_MOST_FURNITURE = 200 * _LINE
_FORMERS = 3 * _HEAD


class EditHistory(Struct, frozen=True, array_like=True):
    """at: the check of the last change. formers: prints reported before. brief_replacements: consecutive ones of one
    line. returns: how often a former text returned. held_text: its print, there since the check `since`.
    """

    at: int
    formers: bytes = b""
    brief_replacements: int = 0
    returns: int = 0
    held_text: bytes = b""
    since: int = 0


class Edit(NamedTuple):
    """A known entry with another text. reported: the prints of its title and text; lines: of its lines, or b""."""

    reported: bytes
    lines: bytes
    prints: bytes
    history: EditHistory | None

    def difference(self) -> frozenset[bytes]:
        return _lines(self.lines) ^ _lines(self.prints[_HEAD:])

    def is_retitled(self) -> bool:
        return self.reported[:4] != self.prints[:4]

    def replaces_one_line(self) -> bool:
        before, now = _lines(self.lines), _lines(self.prints[_HEAD:])
        return len(before - now) == len(now - before) == 1 < len(before) and not self.is_retitled()


class EditVerdict(NamedTuple):
    """Whether to report an edit. is_held: report it if it stays."""

    is_reported: bool
    is_held: bool
    history: EditHistory | None


def judge(
    edits: Mapping[int, Edit], compared: int, reverted: int, number: int, furniture: bytes
) -> tuple[dict[int, EditVerdict], bytes]:
    """Return the verdicts on one document's edits, and the furniture's lines, updated. compared: the known entries in
    it. reverted: held entries that returned to the reported text. number: of the check.
    """
    rows = {at: edit.difference() for at, edit in edits.items() if edit.lines and not edit.is_retitled()}
    rows = {at: lines for at, lines in rows.items() if lines or len(edits[at].lines) < _MOST_LINES}
    furniture += b"".join(_in_most(rows, compared) - _lines(furniture))
    furniture_only = {at for at, lines in rows.items() if lines <= _lines(furniture)}
    at_once = reverted + sum(bool(edit.lines) for at, edit in edits.items() if at not in furniture_only)
    is_doubtful = at_once >= max(_FEWEST_AT_ONCE, _NEARLY_ALL * compared)
    verdicts = {
        at: EditVerdict(False, False, edit.history)
        if at in furniture_only
        else _verdict(edit, number, is_doubtful=is_doubtful)
        for at, edit in edits.items()
    }
    return verdicts, furniture[-_MOST_FURNITURE:]


def settle(history: EditHistory, number: int) -> EditHistory:
    return replace(history, at=number, held_text=b"") if history.held_text else history


def _in_most(rows: Mapping[int, frozenset[bytes]], compared: int) -> frozenset[bytes]:
    """Return the lines that came or went in several entries, if most entries differ only in these."""
    counts = Counter(line for lines in rows.values() for line in lines)
    common = [lines for lines in rows.values() if lines and all(counts[line] > 1 for line in lines)]
    is_most = len(common) > 1 and len(common) >= min(compared, max(_FEWEST, compared / 2))
    return frozenset.union(*common) if is_most else frozenset()


def _verdict(edit: Edit, number: int, *, is_doubtful: bool) -> EditVerdict:
    print_ = edit.prints[:_HEAD]
    last = edit.history or EditHistory(at=-BRIEF - 1)
    is_change = print_ != last.held_text
    brief = number - last.at <= BRIEF
    formers = [last.formers[at : at + _HEAD] for at in range(0, len(last.formers), _HEAD)]
    is_return = print_ in formers and (brief or last.returns > 0)
    returns = min(last.returns + (is_change and is_return), _MOST_TURNS)
    in_a_row = last.brief_replacements
    if is_change:
        in_a_row = last.brief_replacements + 1 if brief and edit.replaces_one_line() else 0
    history = EditHistory(number if is_change else last.at, last.formers, in_a_row, returns)
    since = number if is_change else last.since
    is_held = is_doubtful or is_return or in_a_row > MOST_BRIEF or not is_change
    if is_held and number - since < _LASTS << max(0, returns - 1):
        return EditVerdict(False, True, replace(history, held_text=print_, since=since))
    return EditVerdict(True, False, replace(history, formers=(last.formers + edit.reported)[-_FORMERS:]))


def _lines(prints: bytes) -> frozenset[bytes]:
    return frozenset(prints[at : at + _LINE] for at in range(0, len(prints), _LINE))


KEPT = 1_000
_EMPTY = 0x80  # bit of the first byte
FEWEST = 3  # below this number of entries, distinct links prove nothing
DISTINCT = 0.9
_LINES_KEPT = 500  # entries whose lines are stored
_MINUTE = 60_000
_DAY = 1_440
_RECORD = struct.Struct(">8s4s4s4s4sI")
_OLD_RECORD = struct.Struct(">8s4s8s")
_OLD = 0xFFFFFFFF  # the date of a record from before titles and dates: its 8 bytes are of the whole text
_LAST_DATE = _OLD - 1
_NONE = bytes(4)  # bytes of the prints of title and text; those of the lines follow


class Manner(IntEnum):
    """The feed's recent manner of changing."""

    PLAIN = 8
    HELD = 9
    """Its last change replaced all entries, and was held."""
    TURNS_OVER = 10
    """It replaces all entries repeatedly: that is its pace."""
    RENAMED = 11
    """Its last change gave most entries other ids and links."""


_OLD_MANNERS = {4: Manner.PLAIN, 5: Manner.HELD, 6: Manner.TURNS_OVER}


class EntryFingerprint(NamedTuple):
    """The compared parts of an entry. fingerprint: 16 hex digits; prints: see `Entry`. has_id: its id is no link."""

    key: str
    fingerprint: str
    link: str = ""
    aliases: tuple[str, ...] = ()
    prints: bytes = b""
    date: Millis | None = None
    has_id: bool = False


class Comparison(NamedTuple):
    """A document's positions compared with the memory, and the memory to store (None: unchanged). moved: known under
    another id and link; some may be in `updated`. quiet: edits that are not reported; some will be if they stay
    (`unsettled`). newest: the latest date seen before. left_out: the cut entry.
    """

    new: tuple[int, ...]
    updated: tuple[int, ...]
    memory: bytes | None
    moved: tuple[int, ...] = ()
    quiet: tuple[int, ...] = ()
    unsettled: bool = False
    newest: Millis | None = None
    left_out: int | None = None


class _KnownEntry(NamedTuple):
    link: bytes
    place: bytes
    title: bytes
    text: bytes
    date: int


class _Row(NamedTuple):
    position: int
    key: bytes
    now: _KnownEntry
    mark: EntryFingerprint
    prints: bytes

    def has_same_text(self, known: _KnownEntry) -> bool:
        if known.date == _OLD:
            return known.title + known.text == bytes.fromhex(self.mark.fingerprint)
        return (known.title, known.text) == (self.now.title, self.now.text)


class _Memory(Struct, array_like=True):
    """cut: digest of the last document if it was cut. is_part: the first one was cut too, and the rest is unknown.
    furniture: lines that changed in most entries. is_old: it was read from the former format.
    """

    records: bytes = b""
    lines: dict[bytes, bytes] = {}
    histories: dict[bytes, EditHistory] = {}
    cut: bytes = b""
    is_part: bool = False
    furniture: bytes = b""
    is_old: bool = False


def compare(
    memory: bytes,
    entries: Sequence[EntryFingerprint],
    *,
    number: int = 0,
    now: Millis | None = None,
    cut: bool = False,
    cut_entry: bool = False,
) -> Comparison:
    """Compare a document's entries with the memory; a repeated key counts at its first place. number: of the check.
    now: dates far after it are ignored. cut: the document ends early; cut_entry: within its last entry, which is
    ignored until the same document comes again. Raises ValueError for a memory of another version.
    """
    stored, records = _unpack(memory)
    digest = _key("".join(f"{entry.key} {entry.fingerprint}" for entry in entries)) if cut else b""
    partial = len(entries) - 1 if cut_entry and entries and digest != stored.cut else None
    document, newest = _Document(entries, partial), _newest(records, now)
    matches = _Matcher(records, document, newest).matches if memory else {}
    matched = {row.position: key for row in document.rows if (key := matches.get(row.position) or row.key) in records}
    edits = {
        row.position: Edit(
            records[key].title + records[key].text, stored.lines.get(key, b""), row.prints, stored.histories.get(key)
        )
        for row in document.rows
        if (key := matched.get(row.position, b"")) in records and not row.has_same_text(records[key])
    }
    held = {key for key, turns in stored.histories.items() if turns.held_text}
    reverted = sum(name in held for at, name in matched.items() if at not in edits)
    known = sum(key in stored.lines for key in matched.values())
    verdicts, furniture = judge(edits, known, reverted, number, stored.furniture)
    after = Comparison(
        new=tuple(_new(document, matched, records, stored)),
        updated=tuple(at for at, verdict in verdicts.items() if verdict.is_reported),
        memory=None,
        moved=tuple(row.position for row in document.rows if _is_moved(row, matches, records)),
        quiet=tuple(at for at, verdict in verdicts.items() if not verdict.is_reported),
        unsettled=any(verdict.is_held for verdict in verdicts.values()),
        newest=newest,
        left_out=partial,
    )
    changed = after.new or edits or matches or reverted or stored.is_old or stored.is_part or digest != stored.cut
    if memory and not changed:
        return after
    new_memory = _Memory(cut=digest, furniture=furniture, is_part=cut and (not memory or stored.is_part))
    for row in document.rows:
        known_key, verdict = matched.get(row.position, row.key), verdicts.get(row.position)
        turns = stored.histories.get(known_key) if verdict is None else verdict.history
        if turns is not None:
            new_memory.histories[row.key] = turns if verdict else settle(turns, number)
        is_held = verdict is not None and verdict.is_held
        if is_held:
            document.present[row.key] = row.now._replace(title=records[known_key].title, text=records[known_key].text)
        new_memory.lines[row.key] = stored.lines[known_key] if is_held else row.prints[_HEAD:]
    half = None if partial is None else entries[partial]
    new_memory.records = _pack(records, document, frozenset(matched.values()), half)
    new_memory.lines = dict(islice((new_memory.lines | (stored.lines | new_memory.lines)).items(), _LINES_KEPT))
    encoded = msgspec.msgpack.encode(new_memory)
    return after._replace(memory=bytes([Manner.PLAIN | (0 if entries else _EMPTY)]) + encoded)


def _new(
    document: _Document, matched: Mapping[int, bytes], records: Mapping[bytes, _KnownEntry], stored: _Memory
) -> Iterator[int]:
    """Yield the places of new entries, except those that an older memory, or one of a cut document, can't know."""
    last = max(matched, default=-1) if stored.is_part else math.inf
    for row in document.rows:
        # An older memory has one name for entries that share id, link and title.
        shared = stored.is_old and any(_key(alias) in records for alias in row.mark.aliases)
        if row.position not in matched and not shared and row.position < last:
            yield row.position


def _is_moved(row: _Row, matches: Mapping[int, bytes], records: Mapping[bytes, _KnownEntry]) -> bool:
    if row.position not in matches:
        return False
    entry = records[matches[row.position]]
    return entry.link != row.now.link if row.mark.has_id else entry.place != row.now.place


def _newest(records: Mapping[bytes, _KnownEntry], now: Millis | None) -> Millis | None:
    latest = _OLD if now is None else now // _MINUTE + _DAY
    newest = max((known.date for known in records.values() if known.date < latest), default=0)
    return Millis(newest * _MINUTE) if newest else None


class _Document:
    """The hashed entries of a document: the first with each key, without the cut one (`partial`)."""

    def __init__(self, entries: Sequence[EntryFingerprint], partial: int | None) -> None:
        self.present: dict[bytes, _KnownEntry] = {}
        self.rows: list[_Row] = []
        for position, entry in enumerate(entries):
            key = _key(entry.key)
            if key not in self.present and position != partial:
                prints = entry.prints or _NONE + _hash(entry.fingerprint)
                place = entry.link.partition("?")[0].partition(";")[0]
                date = 0 if entry.date is None else min(max(entry.date // _MINUTE, 1), _LAST_DATE)
                known = _KnownEntry(_hash(entry.link), _hash(place), prints[:4], prints[4:_HEAD], date)
                self.present[key] = known
                self.rows.append(_Row(position, key, known, entry, prints))
        links = Counter(known.link for known in self.present.values())
        self._links = links
        named = len(links) - (_NONE in links)
        self.has_distinct_links = len(self.rows) >= FEWEST and named >= DISTINCT * len(self.rows)

    def is_sole(self, link: bytes) -> bool:
        return link != _NONE and self._links[link] == 1


class _Matcher:
    """Matches unknown entries, by position, with the keys of known ones that have left the document, each once; the
    most reliable rule goes first.
    """

    def __init__(self, known: Mapping[bytes, _KnownEntry], document: _Document, newest: Millis | None) -> None:
        self._known, self._document = known, document
        self._unmatched = dict.fromkeys(key for key in known if key not in document.present)
        self._newest = newest or 0
        self.matches: dict[int, bytes] = {}
        self._indexed: dict[tuple[object, ...], list[bytes]] = defaultdict(list)
        self._match([row for row in document.rows if row.key not in known])

    def _match(self, unknown: Sequence[_Row]) -> None:
        if not unknown or not self._unmatched:
            return
        wanted_parts = frozenset(part for row in unknown for part in row.now[:4]) - {_NONE}
        for key, known in self._known.items():
            if not wanted_parts.isdisjoint(known[:4]):
                for name in _names(known):
                    self._indexed[name].append(key)
        present = (known for known in self._document.present.values() if not wanted_parts.isdisjoint(known[:4]))
        self._counts = Counter({name: len(keys) for name, keys in self._indexed.items()})
        self._present_counts = Counter(name for known in present for name in _names(known))
        for rule in (self._same, self._by_name, self._likely):
            for row in unknown:
                before = None if row.position in self.matches else rule(row)
                if before is not None:
                    self.matches[row.position] = before
                    del self._unmatched[before]

    def _same(self, row: _Row) -> bytes | None:
        """Find an entry with the same title, text and date; without dates, with both title and text, or the place."""
        now = row.now
        for date in _dates(now):
            if (key := self._first(("whole", now.title, now.text, date))) is not None:
                return key
        if _NONE not in (now.title, now.text):
            undated = ("whole", now.title, now.text, 0) if now.date else ("words", now.title, now.text)
            if (key := self._first(undated)) is not None:
                return key
        placed = self._unmatched_with(("place", now.place)) if now.place != _NONE else ()
        return next((key for key in placed if self._is_unchanged(row, key)), None)

    def _by_name(self, row: _Row) -> bytes | None:
        """Find an entry by another of its names, or by a link that only it has."""
        is_sole = self._document.is_sole(row.now.link)
        for alias in map(_key, row.mark.aliases):
            if alias in self._unmatched:
                if self._is_unchanged(row, alias):
                    return alias
                if is_sole and self._known[alias].link == row.now.link:
                    return alias
        if not is_sole:
            return None
        linked = self._unmatched_with(("link", row.now.link))
        if self._document.has_distinct_links and len(linked) == 1:
            return linked[0]
        return next((key for key in linked if self._is_unchanged(row, key)), None)

    def _likely(self, row: _Row) -> bytes | None:
        """Find an edited entry: by date and title, date and text, or place and title."""
        now = row.now
        names: list[tuple[object, ...]] = []
        for date in _dates(now):
            names += [("titled", now.title, date)] if now.title != _NONE else []
            names += [("worded", now.text, date)] if now.text != _NONE and self._is_rare(("text", now.text)) else []
        if not now.date and _NONE not in (now.title, now.place):
            names.append(("put", now.place, now.title))
        return next((key for name in names if self._is_rare(name) and (key := self._first(name))), None)

    def _is_rare(self, name: tuple[object, ...]) -> bool:
        return self._counts[name] <= 1 and self._present_counts[name] <= 1

    def _is_unchanged(self, row: _Row, key: bytes) -> bool:
        known = self._known[key]
        later = known.date not in (0, _OLD) and row.now.date > known.date + 1
        return row.has_same_text(known) and not (later and row.now.date * _MINUTE > self._newest)

    def _first(self, name: tuple[object, ...]) -> bytes | None:
        return next(iter(self._unmatched_with(name)), None)

    def _unmatched_with(self, name: tuple[object, ...]) -> list[bytes]:
        keys = self._indexed.get(name)
        if not keys:
            return []
        self._indexed[name] = free = [key for key in keys if key in self._unmatched]
        return free


def _names(known: _KnownEntry) -> Iterator[tuple[object, ...]]:
    yield "link", known.link
    yield "place", known.place
    if known.date != _OLD:
        yield "text", known.text
        yield "words", known.title, known.text
        yield "put", known.place, known.title
        yield "whole", known.title, known.text, known.date
        yield "titled", known.title, known.date
        yield "worded", known.text, known.date


def _dates(now: _KnownEntry) -> tuple[int, ...]:
    """Return the dates that count as equal; none for an entry without a date."""
    return (now.date, now.date - 1, now.date + 1) if now.date else ()


def manner_of(memory: bytes) -> Manner:
    """Return the manner in a memory. Raises ValueError for a memory of another version."""
    if not memory:
        return Manner.PLAIN
    code = memory[0] & ~_EMPTY
    try:
        return _OLD_MANNERS.get(code) or Manner(code)
    except ValueError:
        raise ValueError(f"a memory of entries in an unknown form ({memory[:1]!r})") from None


def was_empty(memory: bytes) -> bool:
    return len(memory) == 1 or bool(memory and memory[0] & _EMPTY)


def with_emptiness(memory: bytes, *, empty: bool) -> bytes:
    return bytes([memory[0] | _EMPTY if empty else memory[0] & ~_EMPTY]) + memory[1:]


def with_manner(memory: bytes, manner: Manner) -> bytes:
    return bytes([manner | memory[0] & _EMPTY]) + memory[1:]


def _key(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _hash(form: str) -> bytes:
    return hashlib.blake2b(form.encode("utf-8", "surrogatepass"), digest_size=4).digest() if form else _NONE


def _unpack(memory: bytes) -> tuple[_Memory, dict[bytes, _KnownEntry]]:
    if not memory:
        return _Memory(), {}
    manner_of(memory)
    if memory[0] & ~_EMPTY in _OLD_MANNERS:
        old = _OLD_RECORD.iter_unpack(memory[1:])
        known = {key: _KnownEntry(link, _NONE, whole[:4], whole[4:], _OLD) for key, link, whole in old}
        return _Memory(is_old=True), known
    stored = msgspec.msgpack.decode(memory[1:], type=_Memory)
    return stored, {key: _KnownEntry(*rest) for key, *rest in _RECORD.iter_unpack(stored.records)}


def _pack(
    records: Mapping[bytes, _KnownEntry], document: _Document, matched: Container[bytes], half: EntryFingerprint | None
) -> bytes:
    """Return the records of a document and of the entries that left it. half: its cut entry, which has not left."""
    present = document.present
    absent = {key: record for key, record in records.items() if key not in present and key not in matched}
    if half is not None and (key := _key(half.key)) in absent:
        present[key] = absent.pop(key)
    room = max(KEPT, 2 * len(present)) - len(present)
    absent_kept = list(absent.items())[-room:] if room else []
    # Documents list the newest first, and the oldest will leave first.
    rows = (*absent_kept, *reversed(present.items()))
    return b"".join(_RECORD.pack(key, *row) for key, row in rows)
