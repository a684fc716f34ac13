"""New items of lists and new addresses of sitemaps, compared with their memory. Pure.

The memory holds all addresses of a page, not only those of its items: the detection of items may waver with the markup,
and an old link is no new item. A record has 10 bytes: 48 bits of the address (without scheme, tracking and session) and
32 bits of the title. Records of absent addresses stay for a while, since lists drop items and add them again.

Three cases look new and are not:

- an item with a new address: its title is known, and the item that had it has left the page (a session in the path);
- items that move up from the next page after deletions: they come at the end of a list that grows at its top;
- a list that is entirely new, for example after a move: it is held and reported once, as for feeds (`feed.reset`). If
  the next change renews the whole list again, the list is just fast and is reported from then on.

The memory of a sitemap has no dates. A date (`lastmod`) only selects the index files to read, since many sites renew
all dates on every check. If all dates were new in several checks without new addresses, they are ignored and the files
are read in turn. The first reading of a file is its baseline and reports nothing, unless all others have been read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.documents.sitemaps import MOST_ADDRESSES, Address, Sitemap
from actors.content.messages.requests import Item, item_form

FEWEST = 10
"""An entirely new list with at least this many items has been reset."""
KEPT = 2_000
"""Records of addresses that have left the page."""
FLOOD = 20
FLOODS = 3
"""New items that make a flood if they are most of the list; floods in a row that are reported."""
_ADDRESS, _TITLE = 6, 4
_RECORD = _ADDRESS + _TITLE
_NO_TITLE = bytes(_TITLE)


class Manner(IntEnum):
    """How a list has changed lately; the numbers are stored."""

    PLAIN = 0
    HELD = 1
    """Its last change made it entirely new, and was held."""
    TURNS_OVER = 2
    """It is entirely new again and again: that is its pace."""


class ListMemory(Struct, frozen=True, array_like=True):
    """The memory of a list page. records: absent addresses first, the longest absent first, then the `present` ones in
    page order. tops, ends: checks with new items above all known ones, or below. floods: floods in a row.
    """

    version: int = 1
    records: bytes = b""
    present: int = 0
    manner: int = Manner.PLAIN
    tops: int = 0
    ends: int = 0
    floods: int = 0


class ListChange(Struct, frozen=True):
    """new: items to report. held: items withheld because all are new at once. say: this must be reported."""

    memory: ListMemory
    new: tuple[Item, ...] = ()
    held: tuple[Item, ...] = ()
    say: bool = False
    renamed: int = 0
    moved_up: int = 0


def decode_list(memory: bytes) -> ListMemory | None:
    """Decode a memory; None if it has another version or is something else."""
    try:
        found = msgspec.msgpack.decode(memory, type=ListMemory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.version == 1 and len(found.records) % _RECORD == 0 else None


def compare_list(memory: ListMemory | None, items: Sequence[Item], addresses: Sequence[str]) -> ListChange:
    """Compare a page with its memory; without one, report nothing.

    addresses: of all links on the page, menus included.
    """
    titles = {address_key(item.url): title_key(item.title) for item in items}
    now = dict.fromkeys(map(address_key, addresses), _NO_TITLE) | titles
    if memory is None:
        return ListChange(ListMemory(records=_packed(now), present=len(now)))
    before = dict(_records(memory.records))
    last = [key for key, title in list(_records(memory.records))[len(before) - memory.present :] if title != _NO_TITLE]
    unknown = [item for item in items if address_key(item.url) not in before]
    renamed = _renamed(unknown, before, now)
    news = [item for item in unknown if item not in renamed]
    moved_up = _moved_up(items, news, last, now) if memory.tops > memory.ends else ()
    news = [item for item in news if item not in moved_up]
    after = _remembered(memory, before, now)
    if not news:
        return ListChange(after, renamed=len(renamed), moved_up=len(moved_up))
    return _told(replace(after, manner=memory.manner), items, news, was_empty=not last)


def _told(memory: ListMemory, items: Sequence[Item], news: Sequence[Item], *, was_empty: bool) -> ListChange:
    if len(items) >= FEWEST and len(news) == len(items) and not was_empty:
        if memory.manner == Manner.PLAIN:
            return ListChange(replace(memory, manner=Manner.HELD), held=tuple(news), say=True)
        memory = replace(memory, manner=Manner.TURNS_OVER)
    elif memory.manner == Manner.HELD:
        memory = replace(memory, manner=Manner.PLAIN)
    place = [item in news for item in items]
    floods = memory.floods + 1 if len(news) >= max(FLOOD, len(items) / 2) else 0
    tops, ends = memory.tops + (place[0] and not place[-1]), memory.ends + (place[-1] and not place[0])
    return ListChange(
        replace(memory, floods=min(floods, 99), tops=min(tops, 999), ends=min(ends, 999)), new=tuple(news)
    )


def _renamed(unknown: Sequence[Item], before: dict[bytes, bytes], now: dict[bytes, bytes]) -> list[Item]:
    """Return items that had another address: the title occurs once here, and once among the absent."""
    here = Counter(now.values())
    left = Counter(title for key, title in before.items() if key not in now)
    stay = {title for key, title in before.items() if key in now}
    return [
        item
        for item in unknown
        if (title := title_key(item.title)) != _NO_TITLE and here[title] == 1 and left[title] == 1 and title not in stay
    ]


def _moved_up(
    items: Sequence[Item], news: Sequence[Item], last: Sequence[bytes], now: dict[bytes, bytes]
) -> tuple[Item, ...]:
    """Return new items at the very end that replace others, which left elsewhere than at the end."""
    behind = list[Item]()
    for item in reversed(items):
        if item not in news:
            break
        behind.append(item)
    gone = [key not in now for key in last]
    while gone and gone[0]:
        gone.pop(0)  # items that leave at the top of a list that grows at its end
    return tuple(behind) if len(behind) <= sum(gone) and len(behind) < len(items) else ()


def _remembered(memory: ListMemory, before: dict[bytes, bytes], now: dict[bytes, bytes]) -> ListMemory:
    absent = [(key, title) for key, title in before.items() if key not in now]
    kept = absent[-max(KEPT, len(now)) :]
    return replace(memory, records=_packed(dict(kept) | now), present=len(now))


def address_key(url: str) -> bytes:
    return hashlib.blake2b(item_form(url).encode("utf-8", "replace"), digest_size=_ADDRESS).digest()


def title_key(title: str) -> bytes:
    """Hash a title, ignoring case and punctuation."""
    folded = "".join(letter for letter in title.casefold() if letter.isalnum())
    return hashlib.blake2b(folded.encode("utf-8", "replace"), digest_size=_TITLE).digest() if folded else _NO_TITLE


def _records(records: bytes) -> Iterator[tuple[bytes, bytes]]:
    for start in range(0, len(records), _RECORD):
        yield records[start : start + _ADDRESS], records[start + _ADDRESS : start + _RECORD]


def _packed(records: dict[bytes, bytes]) -> bytes:
    return b"".join(key + title for key, title in records.items())


MOST_FILES = 500
MOST_TOLD = 500
"""New addresses of one check that are reported one by one; of more, only the number is reported."""
BLIND = 3
"""Rounds of new dates without new addresses after which dates are ignored."""
_KEY = 6


class MapFile(Struct, frozen=True, array_like=True):
    """A file of an index. modified: its listed date at the last reading. read: whether it has been read."""

    url: str
    modified: str = ""
    read: bool = False


class MapMemory(Struct, frozen=True, array_like=True):
    """The memory of a sitemap. keys: of its addresses, sorted. files: of an index, the longest unread first. idle:
    files in a row that a new date caused to be read, without news. begun: all files listed at first have been read.
    version: distinguishes it from a page's memory.
    """

    version: str = "map 1"
    keys: bytes = b""
    files: tuple[MapFile, ...] = ()
    idle: int = 0
    begun: bool = False
    is_index: bool = False

    @property
    def is_blind(self) -> bool:
        """Whether dates are useless: there are none, or all are new on each check."""
        return self.is_index and (
            self.idle >= BLIND * max(1, len(self.files)) or not any(f.modified for f in self.files)
        )


class MapChange(Struct, frozen=True):
    """new: items to report. bulk: their number if there are too many to report one by one. due: files to read now."""

    memory: MapMemory
    new: tuple[Item, ...] = ()
    bulk: int = 0
    due: tuple[str, ...] = ()


def decode_map(memory: bytes) -> MapMemory | None:
    """Decode a memory; None if it has another version or is something else."""
    try:
        found = msgspec.msgpack.decode(memory, type=MapMemory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.version == "map 1" and len(found.keys) % _KEY == 0 else None


def compare_map(memory: MapMemory | None, found: Sitemap, file: str = "") -> MapChange:
    """Compare a sitemap with its memory, if any. file: an index file, "" for the source's own URL."""
    if found.is_index and not file:
        return _indexed(memory or MapMemory(is_index=True), found)
    known = memory or MapMemory()
    begins = not known.begun
    keys = _keys(known.keys)
    fresh = {address_key(one.url): one for one in found.addresses}
    new = [one for key, one in fresh.items() if key not in keys]
    keys |= fresh.keys()
    after = replace(known, keys=b"".join(sorted(keys)[:MOST_ADDRESSES]))
    after = _after_file(after, file, news=bool(new)) if file else replace(after, begun=True)
    if begins or len(keys) > MOST_ADDRESSES:
        return MapChange(after)
    if len(new) > MOST_TOLD or (len(new) >= FEWEST and len(new) == len(fresh) and not file):
        return MapChange(after, bulk=len(new))
    return MapChange(after, new=tuple(map(_item, _oldest_first(new))))


def next_file(memory: MapMemory) -> str:
    """Return the next file to read if dates are useless, "" if they work or the first round is not over."""
    return memory.files[0].url if memory.is_blind and memory.begun and memory.files else ""


def _indexed(memory: MapMemory, found: Sitemap) -> MapChange:
    """Compare an index: the listed files, and those to read."""
    listed = {one.url: one.modified for one in found.addresses[:MOST_FILES]}
    known = {file.url: file for file in memory.files}
    files = [file for file in memory.files if file.url in listed]
    files += [MapFile(url) for url in listed if url not in known]
    after = replace(memory, files=tuple(files), is_index=True, begun=memory.begun or not listed)
    believed = any(listed.values()) and not after.is_blind
    due = [
        file.url
        for file in files
        if not file.read or (believed and listed[file.url] and listed[file.url] != file.modified)
    ]
    dated = tuple(replace(file, modified=listed[file.url]) for file in files)
    return MapChange(replace(after, files=dated), due=tuple(due))


def _after_file(memory: MapMemory, url: str, *, news: bool) -> MapMemory:
    """Update the memory after a file was read: it becomes the last in turn."""
    others = tuple(file for file in memory.files if file.url != url)
    mine = next((file for file in memory.files if file.url == url), None)
    if mine is None:
        return memory  # it left the index in between
    idle = 0 if news else memory.idle + 1
    files = (*others, replace(mine, read=True))
    return replace(memory, files=files, idle=min(idle, 10_000), begun=memory.begun or all(file.read for file in files))


def _item(one: Address) -> Item:
    return Item(one.url, one.title, one.published_at)


def _oldest_first(found: list[Address]) -> list[Address]:
    return sorted(found, key=lambda one: one.modified)


def _keys(packed: bytes) -> set[bytes]:
    return {packed[start : start + _KEY] for start in range(0, len(packed), _KEY)}
