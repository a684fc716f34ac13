"""Looks at which nothing that is read of a page has changed: known by a digest, without blocks, keys or a judgement.

A digest stands for the rows that were walked, and the blocks are made of nothing else. Another, which costs no walk,
stands for the tree without what no walk reads. A memory *at rest* has nothing
pending, held or in doubt: a judgement that finds no block that came or went leaves it as it is, whatever else it is
asked. So where both hold the judgement is known: "unchanged", and the memory but for its count of looks.

The digests are those of a look that told something or found nothing to tell. What moves without being told (a menu, a
hidden form) makes them stale, so they are renewed; each renewal is a memory to be stored, and only the first, third,
seventh ... look after one that told something may ask for that.
"""

from __future__ import annotations

from msgspec.structs import replace

from actors.content.changes.churn import UNCHANGED, Verdict
from actors.content.changes.memory import HeldPage, PageMemory
from actors.content.messages.requests import PageRequest
from actors.content.pages.blocks import Blocks
from actors.content.pages.page import OpenedPage
from actors.content.pages.walls import is_ample


def known(memory: PageMemory | None, opened: OpenedPage, number: int) -> Verdict | None:
    """Return the verdict on a look at what was seen before, None where it has to be judged."""
    if memory is None or not memory.seen or not _at_rest(memory):
        return None
    if not number:
        memory = replace(memory, looks=memory.looks + 1)
    if memory.rough != opened.rough:
        if memory.seen != opened.seen:
            return None
        if _is_due(memory, number):
            memory = replace(memory, rough=opened.rough, seen_at=number or memory.looks)
    return Verdict("unchanged", memory, None, None, 0.0, UNCHANGED)


def remembered(verdict: Verdict, opened: OpenedPage, blocks: Blocks, asked: PageRequest) -> PageMemory:
    """Return the memory after a look that was judged, with the digests of it where it may be known again."""
    memory = verdict.memory
    if not _at_rest(memory) or not memory.keys or blocks.partial or verdict.kind in {"churn", "held"}:
        return memory
    if verdict.kind == "unchanged" and not _is_due(memory, asked.number):
        return memory
    # On a page of few words it depends on more than its blocks whether it is the page at all.
    if asked.selector is None and not is_ample(blocks):
        return replace(memory, seen=b"", rough=b"") if memory.seen else memory
    # In this order: the second takes from the tree what the first does not need.
    seen, rough, at = opened.seen, opened.rough, asked.number or memory.looks
    return memory if seen == memory.seen else replace(memory, seen=seen, rough=rough, seen_at=at)


def _is_due(memory: PageMemory, number: int) -> bool:
    return (number or memory.looks) - memory.told > 2 * (memory.seen_at - memory.told)


def _at_rest(memory: PageMemory) -> bool:
    waits = memory.pending or memory.missing or memory.doubts or memory.face.says
    return not waits and memory.held == HeldPage()
