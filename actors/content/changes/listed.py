"""One check of a list, a page or a sitemap: its new items and addresses, compared with their memory. Pure.

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
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.bodies.text import absolute
from actors.content.errors import ContentError
from actors.content.feeds import MOST_ADDRESSES, Sitemap, is_sitemap, read_sitemap
from actors.content.messages import FILE, Item, ItemPage, Kind, ListLook, ListRequest, PageRequest, is_same, item_form
from actors.content.pages.listing import base_of, items_of
from actors.content.pages.page import OpenedPage, blocks_in, event_text, open_page, reading_of
from actors.content.pages.plain import ROOT, format_of
from actors.content.wording.words import content_hash, simhash

FEWEST = 10  # an entirely new list with at least this many items has been reset
MOST_ABSENT = 2_000  # records of addresses that have left the page
FLOOD = 20
FLOODS = 3  # new items that make a flood if they are most of the list; floods in a row that are reported
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

    @property
    def is_whole(self) -> bool:
        return len(self.records) % _RECORD == 0


class ListChange(Struct, frozen=True):
    """new: items to report. held: items withheld because all are new at once. say: this must be reported."""

    memory: ListMemory
    new: tuple[Item, ...] = ()
    held: tuple[Item, ...] = ()
    say: bool = False
    renamed: int = 0
    moved_up: int = 0


def compare_list(memory: ListMemory | None, items: Sequence[Item], addresses: Sequence[str]) -> ListChange:
    """Compare a page with its memory; without one, report nothing. addresses: of all links, menus included."""
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
    kept = [(key, title) for key, title in before.items() if key not in now][-max(MOST_ABSENT, len(now)) :]
    after = replace(memory, records=_packed(dict(kept) | now), present=len(now))
    if not news:
        return ListChange(after, renamed=len(renamed), moved_up=len(moved_up))
    return _with_news(replace(after, manner=memory.manner), items, news, was_empty=not last)


def _with_news(memory: ListMemory, items: Sequence[Item], news: Sequence[Item], *, was_empty: bool) -> ListChange:
    if len(items) >= FEWEST and len(news) == len(items) and not was_empty:
        if memory.manner == Manner.PLAIN:
            return ListChange(replace(memory, manner=Manner.HELD), held=tuple(news), say=True)
        memory = replace(memory, manner=Manner.TURNS_OVER)
    elif memory.manner == Manner.HELD:
        memory = replace(memory, manner=Manner.PLAIN)
    place = [item in news for item in items]
    floods = memory.floods + 1 if len(news) >= max(FLOOD, len(items) / 2) else 0
    tops, ends = memory.tops + (place[0] and not place[-1]), memory.ends + (place[-1] and not place[0])
    memory = replace(memory, floods=min(floods, 99), tops=min(tops, 999), ends=min(ends, 999))
    return ListChange(memory, new=tuple(news))


def _renamed(unknown: Sequence[Item], before: dict[bytes, bytes], now: dict[bytes, bytes]) -> list[Item]:
    here = Counter(now.values())
    left = Counter(title for key, title in before.items() if key not in now)
    stay = {title for key, title in before.items() if key in now}
    return [
        item
        for item in unknown
        if (title := title_key(item.title)) != _NO_TITLE and here[title] == 1 and left[title] == 1 and title not in stay
    ]


def _moved_up(items: Sequence[Item], news: list[Item], last: list[bytes], now: dict[bytes, bytes]) -> tuple[Item, ...]:
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


def address_key(url: str) -> bytes:
    return hashlib.blake2b(item_form(url).encode("utf-8", "replace"), digest_size=_ADDRESS).digest()


def title_key(title: str) -> bytes:
    folded = "".join(letter for letter in title.casefold() if letter.isalnum())
    return hashlib.blake2b(folded.encode("utf-8", "replace"), digest_size=_TITLE).digest() if folded else _NO_TITLE


def _records(records: bytes) -> Iterator[tuple[bytes, bytes]]:
    for start in range(0, len(records), _RECORD):
        yield records[start : start + _ADDRESS], records[start + _ADDRESS : start + _RECORD]


def _packed(records: dict[bytes, bytes]) -> bytes:
    return b"".join(key + title for key, title in records.items())


MOST_FILES = 500
MOST_TOLD = 500  # new addresses of one check that are reported one by one; of more, only the number is reported
BLIND = 3  # rounds of new dates without new addresses after which dates are ignored
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
    def is_whole(self) -> bool:
        return len(self.keys) % _KEY == 0

    @property
    def is_blind(self) -> bool:
        """Whether dates are useless: there are none, or all are new on each check."""
        are_dated = any(file.modified for file in self.files)
        return self.is_index and (self.idle >= BLIND * max(1, len(self.files)) or not are_dated)


class MapChange(Struct, frozen=True):
    """new: items to report. bulk: their number if there are too many to report one by one. due: files to read now."""

    memory: MapMemory
    new: tuple[Item, ...] = ()
    bulk: int = 0
    due: tuple[str, ...] = ()


Memory = TypeVar("Memory", ListMemory, MapMemory)


def decode(memory: bytes, type: type[Memory]) -> Memory | None:
    """Decode a memory; None if it has another version or is something else."""
    try:
        found = msgspec.msgpack.decode(memory, type=type)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.version == type().version and found.is_whole else None


def compare_map(memory: MapMemory | None, found: Sitemap, file: str = "") -> MapChange:
    """Compare a sitemap with its memory, if any. file: an index file, "" for the source's own URL."""
    if found.is_index and not file:
        return _indexed(memory or MapMemory(is_index=True), found)
    known = memory or MapMemory()
    begins = not known.begun
    keys = {known.keys[start : start + _KEY] for start in range(0, len(known.keys), _KEY)}
    fresh = {address_key(address.url): address for address in found.addresses}
    new = [address for key, address in fresh.items() if key not in keys]
    keys |= fresh.keys()
    after = replace(known, keys=b"".join(sorted(keys)[:MOST_ADDRESSES]))
    after = _after_file(after, file, news=bool(new)) if file else replace(after, begun=True)
    if begins or len(keys) > MOST_ADDRESSES:
        return MapChange(after)
    if len(new) > MOST_TOLD or (len(new) >= FEWEST and len(new) == len(fresh) and not file):
        return MapChange(after, bulk=len(new))
    new.sort(key=lambda one: one.modified)
    return MapChange(after, new=tuple(Item(address.url, address.title, address.published_at) for address in new))


def next_file(memory: MapMemory) -> str:
    """Return the next file to read if dates are useless, "" if they work or the first round is not over."""
    return memory.files[0].url if memory.is_blind and memory.begun and memory.files else ""


def _indexed(memory: MapMemory, found: Sitemap) -> MapChange:
    listed = {address.url: address.modified for address in found.addresses[:MOST_FILES]}
    known = {file.url: file for file in memory.files}
    files = [file for file in memory.files if file.url in listed]
    files += [MapFile(url) for url in listed if url not in known]
    after = replace(memory, files=tuple(files), is_index=True, begun=memory.begun or not listed)
    sure = any(listed.values()) and not after.is_blind
    due = [
        each.url for each in files if not each.read or (sure and listed[each.url] and listed[each.url] != each.modified)
    ]
    dated = tuple(replace(file, modified=listed[file.url]) for file in files)
    return MapChange(replace(after, files=dated), due=tuple(due))


def _after_file(memory: MapMemory, url: str, *, news: bool) -> MapMemory:
    others = tuple(file for file in memory.files if file.url != url)
    mine = next((file for file in memory.files if file.url == url), None)
    if mine is None:
        return memory  # it left the index in between
    idle = 0 if news else memory.idle + 1
    files = (*others, replace(mine, read=True))
    return replace(memory, files=files, idle=min(idle, 10_000), begun=memory.begun or all(file.read for file in files))


_MOST_LINKS = 5_000
_FLOODS_SAY = (
    "Most addresses of its list are new at each check, as with sessions, calendars and filters in addresses. "
    "Choose the list itself with a selector."
)
_BLIND_SAYS = (
    "The dates in its index say nothing (none are there, or all are new at each check): its files are read in turn."
)


def look_list(asked: ListRequest) -> ListLook:
    """Read a list and compare it with its memory. Raises ContentError unless it is a page with links or a sitemap."""
    if asked.file or is_sitemap(asked.body):
        return _look_at_sitemap(asked)
    if asked.memory and decode(asked.memory, MapMemory) is not None:
        raise ContentError("The sitemap has become a document of another kind.")
    opened = open_page(asked.body, asked.content_type, asked.selector, asked.ignore, asked.was)
    if not opened.watched and (not opened.empty or opened.root.tag == ROOT):
        raise ContentError(f"This is no page with links ({format_of(opened.root)}): there is nothing to follow in it.")
    if asked.was and not is_same(format_of(opened.root), asked.was):
        raise ContentError("The page has become a document of another kind.")
    memory = decode(asked.memory, ListMemory) if asked.memory else None
    blocks = blocks_in(opened)
    reading = reading_of(opened, blocks, narrowed=asked.selector is not None)
    if reading.trouble is not None:
        if memory is None:
            raise ContentError(f"The page cannot be watched yet: {reading.trouble}.")
        return ListLook("unchanged", "", reading.title, trouble=reading.trouble)
    items = items_of(opened.root, opened.watched, asked.url, judged=opened.judged)
    change = compare_list(memory, items, _addresses(opened, asked.url))
    return _of_page(reading.title, memory, change, len(items))


def _addresses(opened: OpenedPage, url: str) -> list[str]:
    found, base = dict[str, None](), base_of(opened.root, url)
    for element in opened.watched:
        for link in element.iter("a"):
            if address := absolute(link.get("href") or "", base):
                found[address] = None
            if len(found) >= _MOST_LINKS:
                return list(found)
    return list(found)


def _of_page(title: str, memory: ListMemory | None, change: ListChange, count: int) -> ListLook:
    packed = None if change.memory == memory else msgspec.msgpack.encode(change.memory)
    remark = _FLOODS_SAY if change.memory.floods >= FLOODS else ""
    if memory is None:
        return ListLook("baseline", f"First check: {_items(count)} there.", title, packed, count)
    look = ListLook("unchanged", f"Of {_items(count)} none is new.", title, packed, count, remark=remark)
    if change.held:
        reason = f"All {count} items are new at once, as after a move: they are held."
        return replace(look, kind="reset", reason=reason, held=change.held, say=change.say)
    if change.new:
        reason = f"Of {_items(count)} {len(change.new)} new.{_left_out(change)}"
        return replace(look, kind="news", reason=reason, new=change.new)
    return replace(look, reason=look.reason + _left_out(change))


def _items(count: int) -> str:
    return f"{count} item is" if count == 1 else f"{count} items"


def _left_out(change: ListChange) -> str:
    says = f" {change.renamed} that were known have another address." if change.renamed else ""
    return says + (f" {change.moved_up} moved up from a next page." if change.moved_up else "")


def _look_at_sitemap(asked: ListRequest) -> ListLook:
    memory = decode(asked.memory, MapMemory) if asked.memory else None
    if asked.memory and memory is None:
        raise ContentError("The page has become a sitemap.")
    # An index file that is gone has no body: it counts as read.
    found = read_sitemap(asked.body) if asked.body or not asked.file else Sitemap(is_index=False, addresses=())
    if asked.file and found.is_index:
        raise ContentError("This file of an index is itself an index, which is not supported.")
    change = compare_map(memory, found, asked.file)
    kind: Kind = "news" if change.new or change.bulk else "unchanged" if memory is not None else "baseline"
    noun = "files" if found.is_index else "addresses"
    reason = f"{len(found.addresses):,} {noun}, of which {len(change.due if found.is_index else change.new):,} "
    reason += "are to be read." if found.is_index else "are new."
    return ListLook(
        kind,
        reason,
        memory=None if change.memory == memory else msgspec.msgpack.encode(change.memory),
        count=len(found.addresses),
        new=change.new,
        bulk=change.bulk,
        say=change.bulk > 0,
        files=change.due,
        next_file=next_file(change.memory),
        remark=_remark(found, change.memory),
    )


def _remark(found: Sitemap, memory: MapMemory) -> str:
    if found.partial or len(memory.keys) // 6 >= MOST_ADDRESSES:
        return f"It has more addresses than are compared: the first {MOST_ADDRESSES:,} are."
    if found.is_index and len(found.addresses) > MOST_FILES:
        return f"It has more files than are read: the first {MOST_FILES} are."
    return _BLIND_SAYS if memory.is_blind else ""


def read_item(asked: PageRequest) -> ItemPage:
    """Read an item's own page for its text. Raises ContentError if it has none."""
    opened = open_page(asked.body, asked.content_type, None, ())
    if format_of(opened.root) == FILE:
        raise ContentError("It is not a text file.")
    blocks = blocks_in(opened)
    reading = reading_of(opened, blocks, narrowed=False)
    text = event_text(blocks, reading.blocks, None, whole=opened.root.tag == ROOT)
    return ItemPage(
        title=opened.head.title,
        author=reading.author,
        published_at=reading.published_at,
        content=text.content,
        content_hash=content_hash(text.whole),
        simhash=simhash(text.whole or reading.title),
        truncated=text.truncated,
        trouble=reading.trouble,
    )
