"""A list against what is remembered of it: which items are new. Pure.

All addresses of a page are remembered, not only those of its items: what counts as an item may waver with the mark-up
around it, and a link that was there before is no news. A record is 10 bytes: 48 bits of the address (without scheme,
tracking and session), 32 bits of the item's title. Records of what has left the page stay for a while, for lists drop
items and add them again.

What looks new and is not:

- an item with another address: its title is known, and the item that had it has left the page (a session in the path);
- items that move up from the next page because others were deleted: they come at the end of a list that grows at its
  top;
- a list that is new as a whole, as after a move: it is held, and said once, as for feeds (`feed.reset`). A list that is
  new as a whole at its next change again is fast, and is told from then on.
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
"""Items from which on a list that is new as a whole has been reset."""
KEPT = 2_000
"""Records of addresses that have left the page."""
FLOOD = 20
FLOODS = 3
"""New items from which on a look is a flood when they are most of the list, and floods in a row that are said."""
_ADDRESS, _TITLE = 6, 4
_RECORD = _ADDRESS + _TITLE
_NO_TITLE = bytes(_TITLE)


class Manner(IntEnum):
    """How a list has changed of late; the numbers are stored."""

    PLAIN = 0
    HELD = 1
    """Its last change made it new as a whole, and was held."""
    TURNS_OVER = 2
    """It is new as a whole again and again: that is its pace."""


class ListMemory(Struct, frozen=True, array_like=True):
    """What is remembered of a list page. records: of addresses, first those that have left, the longest absent first,
    then the `present` ones in the order of the page. tops, ends: looks at which news came above all that was known, or
    below it. floods: looks in a row that brought new addresses in crowds.
    """

    version: int = 1
    records: bytes = b""
    present: int = 0
    manner: int = Manner.PLAIN
    tops: int = 0
    ends: int = 0
    floods: int = 0


class ListChange(Struct, frozen=True):
    """What is new: to be told, or held because all of it is new at once; `say`: that is to be said."""

    memory: ListMemory
    new: tuple[Item, ...] = ()
    held: tuple[Item, ...] = ()
    say: bool = False
    renamed: int = 0
    moved_up: int = 0


def decode_list(memory: bytes) -> ListMemory | None:
    """Return a packed memory; None for one of another version, or of something else."""
    try:
        found = msgspec.msgpack.decode(memory, type=ListMemory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.version == 1 and len(found.records) % _RECORD == 0 else None


def compare_list(memory: ListMemory | None, items: Sequence[Item], addresses: Sequence[str]) -> ListChange:
    """Compare a page with what is remembered of it; None: nothing is, and nothing is told.

    addresses: of all its links, menus included.
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
    """Return items that had another address: their titles, each once there and once here, are of what has left."""
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
    """Return new items at the very end that fill the places of others, which have left elsewhere than from the end."""
    behind = list[Item]()
    for item in reversed(items):
        if item not in news:
            break
        behind.append(item)
    gone = [key not in now for key in last]
    while gone and gone[0]:
        gone.pop(0)  # what leaves at the top of a list that grows at its end
    return tuple(behind) if len(behind) <= sum(gone) and len(behind) < len(items) else ()


def _remembered(memory: ListMemory, before: dict[bytes, bytes], now: dict[bytes, bytes]) -> ListMemory:
    absent = [(key, title) for key, title in before.items() if key not in now]
    kept = absent[-max(KEPT, len(now)) :]
    return replace(memory, records=_packed(dict(kept) | now), present=len(now))


def address_key(url: str) -> bytes:
    return hashlib.blake2b(item_form(url).encode("utf-8", "replace"), digest_size=_ADDRESS).digest()


def title_key(title: str) -> bytes:
    """Return what stands for a title, whatever its case and its marks."""
    folded = "".join(letter for letter in title.casefold() if letter.isalnum())
    return hashlib.blake2b(folded.encode("utf-8", "replace"), digest_size=_TITLE).digest() if folded else _NO_TITLE


def _records(records: bytes) -> Iterator[tuple[bytes, bytes]]:
    for start in range(0, len(records), _RECORD):
        yield records[start : start + _ADDRESS], records[start + _ADDRESS : start + _RECORD]


def _packed(records: dict[bytes, bytes]) -> bytes:
    return b"".join(key + title for key, title in records.items())
