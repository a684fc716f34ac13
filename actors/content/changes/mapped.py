"""A sitemap against what is remembered of it: which addresses are new, and which files of an index to read. Pure.

Of an address 48 bits are remembered, whatever its dates: a date (`lastmod`) says which file of an index to read, and
nothing else, for many sites date all of them at each look. Dates that were all new at looks that brought nothing say
nothing; then one file is read after the other. A file that is read for the first time is the beginning, and what is
in it is told to nobody, unless all the others have been read.
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
"""New addresses of one look that are told one by one; of more it is said how many they are."""
BLIND = 3
"""Looks in a row at which all dates were new and nothing else was, after which no date is believed."""
_KEY = 6


class MapFile(Struct, frozen=True, array_like=True):
    """A file of an index. modified: the date with which it was listed when it was read last. read: whether it was."""

    url: str
    modified: str = ""
    read: bool = False


class MapMemory(Struct, frozen=True, array_like=True):
    """What is remembered of a sitemap. keys: of its addresses, sorted. files: those of an index, the one that was read
    longest ago first. idle: files in a row that were read for their new date and brought nothing. begun: all files that
    were listed at first have been read. version: what tells it from the memory of a page.
    """

    version: str = "map 1"
    keys: bytes = b""
    files: tuple[MapFile, ...] = ()
    idle: int = 0
    begun: bool = False
    is_index: bool = False

    @property
    def is_blind(self) -> bool:
        """Whether dates say nothing: there are none, or all of them are new at each look."""
        return self.is_index and (
            self.idle >= BLIND * max(1, len(self.files)) or not any(f.modified for f in self.files)
        )


class MapChange(Struct, frozen=True):
    """What is new: to be told, or too many to be told one by one. due: files to be read now."""

    memory: MapMemory
    new: tuple[Item, ...] = ()
    bulk: int = 0
    due: tuple[str, ...] = ()


def decode_map(memory: bytes) -> MapMemory | None:
    """Return a packed memory; None for one of another version, or of something else."""
    try:
        found = msgspec.msgpack.decode(memory, type=MapMemory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.version == "map 1" and len(found.keys) % _KEY == 0 else None


def compare_map(memory: MapMemory | None, found: Sitemap, file: str = "") -> MapChange:
    """Compare a sitemap with what is remembered of it; None: nothing is. file: of an index, "" for the source's own."""
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
    """Return the file whose turn it is where dates say nothing, "" where they do or none is left to begin with."""
    return memory.files[0].url if memory.is_blind and memory.begun and memory.files else ""


def _indexed(memory: MapMemory, found: Sitemap) -> MapChange:
    """Compare an index: which files are listed, and which of them to read."""
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
    """Return the memory after a file was read: it is the last in the row."""
    others = tuple(file for file in memory.files if file.url != url)
    mine = next((file for file in memory.files if file.url == url), None)
    if mine is None:
        return memory  # it has left the index meanwhile
    idle = 0 if news else memory.idle + 1
    files = (*others, replace(mine, read=True))
    return replace(memory, files=files, idle=min(idle, 10_000), begun=memory.begun or all(file.read for file in files))


def _item(one: Address) -> Item:
    return Item(one.url, one.title, one.published_at)


def _oldest_first(found: list[Address]) -> list[Address]:
    return sorted(found, key=lambda one: one.modified)


def _keys(packed: bytes) -> set[bytes]:
    return {packed[start : start + _KEY] for start in range(0, len(packed), _KEY)}
