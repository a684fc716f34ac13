"""Checks that read nothing new: recognised by a digest, without blocks, keys or a judgement.

`seen` hashes the walked rows, and blocks depend on nothing else. `rough`, which costs no walk, hashes the tree without
the parts that no walk reads. A memory *at rest* has nothing pending, held or in doubt: if no block came or went, a
judgement leaves it unchanged, whatever the other inputs. So if either digest matches, the verdict is known:
"unchanged", with only the memory's count of checks raised.

The digests are of a check that reported something or found nothing to report. Unreported parts that move (a menu, a
hidden form) make them stale, so they are renewed. Each renewal costs a write, so only the first, third, seventh ...
check after a report may renew them.
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
    """Return the verdict on a page already seen, None if it must be judged."""
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
    """Return the memory after a judged check, with its digests if it may be recognised again."""
    memory = verdict.memory
    if not _at_rest(memory) or not memory.keys or blocks.partial or verdict.kind in {"churn", "held"}:
        return memory
    if verdict.kind == "unchanged" and not _is_due(memory, asked.number):
        return memory
    # On a page of few words, more than its blocks decides whether it is the page at all.
    if asked.selector is None and not is_ample(blocks):
        return replace(memory, seen=b"", rough=b"") if memory.seen else memory
    # The order matters: `rough` removes parts of the tree that `seen` needs.
    seen, rough, at = opened.seen, opened.rough, asked.number or memory.looks
    return memory if seen == memory.seen else replace(memory, seen=seen, rough=rough, seen_at=at)


def _is_due(memory: PageMemory, number: int) -> bool:
    return (number or memory.looks) - memory.told > 2 * (memory.seen_at - memory.told)


def _at_rest(memory: PageMemory) -> bool:
    waits = memory.pending or memory.missing or memory.doubts or memory.face.says
    return not waits and memory.held == HeldPage()
