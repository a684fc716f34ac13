"""One check of a list, a page or a sitemap, and the reading of an item's own page, in a worker."""

from __future__ import annotations

import msgspec

from actors.content.bodies.text import absolute
from actors.content.changes.listed import (
    FLOODS,
    MOST_FILES,
    ListChange,
    ListMemory,
    MapMemory,
    compare_list,
    compare_map,
    decode_list,
    decode_map,
    next_file,
)
from actors.content.documents.sitemaps import MOST_ADDRESSES, Sitemap, is_sitemap, read_sitemap
from actors.content.errors import ContentError
from actors.content.messages.readings import FILE, is_same
from actors.content.messages.requests import ItemPage, Kind, ListLook, ListRequest, PageRequest
from actors.content.pages.event_text import event_text
from actors.content.pages.listing import items_of
from actors.content.pages.page import OpenedPage, blocks_in, head_of, open_page, reading_of
from actors.content.pages.plain import ROOT, format_of
from actors.content.wording.fingerprint import content_hash, simhash

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
    if asked.memory and decode_map(asked.memory) is not None:
        raise ContentError("The sitemap has become something else.")
    opened = open_page(asked.body, asked.content_type, asked.selector, asked.ignore, asked.was)
    if not opened.watched and (not opened.empty or opened.root.tag == ROOT):
        raise ContentError(f"This is no page with links ({format_of(opened.root)}): there is nothing to follow in it.")
    if asked.was and not is_same(format_of(opened.root), asked.was):
        raise ContentError("The page has become a document of another kind.")
    memory = decode_list(asked.memory) if asked.memory else None
    blocks = blocks_in(opened)
    reading = reading_of(opened.root, blocks, "", narrowed=asked.selector is not None)
    if reading.trouble is not None:
        if memory is None:
            raise ContentError(f"The page cannot be watched yet: {reading.trouble}.")
        return ListLook("unchanged", "", reading.title, trouble=reading.trouble)
    items = items_of(opened.root, opened.watched, asked.url, judged=opened.judged)
    change = compare_list(memory, items, _addresses(opened, asked.url))
    return _of_page(reading.title, memory, change, len(items))


def _addresses(opened: OpenedPage, url: str) -> list[str]:
    """Return the targets of all links in the watched part, menus included."""
    found = dict[str, None]()
    base = next((one.get("href") for one in opened.root.iter("base") if one.get("href")), None)
    start = absolute(base, url) if base else url
    for element in opened.watched:
        for link in element.iter("a"):
            if address := absolute(link.get("href") or "", start or url):
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
        return msgspec.structs.replace(look, kind="reset", reason=reason, held=change.held, say=change.say)
    if change.new:
        reason = f"Of {_items(count)} {len(change.new)} new.{_left_out(change)}"
        return msgspec.structs.replace(look, kind="news", reason=reason, new=change.new)
    return msgspec.structs.replace(look, reason=look.reason + _left_out(change))


def _items(count: int) -> str:
    return f"{count} item is" if count == 1 else f"{count} items"


def _left_out(change: ListChange) -> str:
    says = ""
    if change.renamed:
        says += f" {change.renamed} that were known have another address."
    if change.moved_up:
        says += f" {change.moved_up} moved up from a next page."
    return says


def _look_at_sitemap(asked: ListRequest) -> ListLook:
    memory = decode_map(asked.memory) if asked.memory else None
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
    reading = reading_of(opened.root, blocks, "", narrowed=False)
    text = event_text(blocks, reading.blocks, None, whole=opened.root.tag == ROOT)
    return ItemPage(
        title=head_of(opened.root).title,
        author=reading.author,
        published_at=reading.published_at,
        content=text.content,
        content_hash=content_hash(text.whole),
        simhash=simhash(text.whole or reading.title),
        truncated=text.truncated,
        trouble=reading.trouble,
    )
