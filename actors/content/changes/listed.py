"""New items of a list, compared with its memory. Pure.

The memory holds all addresses of a page, not only those of its items: the detection of items may waver with the markup,
and an old link is no new item. A record has 10 bytes: 48 bits of the address (without scheme, tracking and session) and
32 bits of the title. Records of absent addresses stay for a while, since lists drop items and add them again.

Three cases look new and are not:

- an item with a new address: its title is known, and the item that had it has left the page (a session in the path);
- items that move up from the next page after deletions: they come at the end of a list that grows at its top;
- a list that is entirely new, for example after a move: it is held and reported once, as for feeds (`feed.reset`). If
  the next change renews the whole list again, the list is just fast and is reported from then on.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.messages.listings import Item, item_form

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
