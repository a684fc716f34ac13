"""New addresses of a sitemap, compared with its memory, and the index files to read. Pure.

The memory holds 48 bits of each address, without dates. A date (`lastmod`) only selects the index files to read, since
many sites renew all dates on every check. If all dates were new in several checks without new addresses, they are
ignored and the files are read in turn. The first reading of a file is its baseline and reports nothing, unless all
others have been read.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.listed import FEWEST, address_key
from actors.content.documents.sitemaps import MOST_ADDRESSES, Address, Sitemap
from actors.content.messages.listings import Item

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
