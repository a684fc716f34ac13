"""Whether a page has really changed: one look against the page's memory. A decision, never an extraction.

Blocks are compared as a multiset of canonical keys, so order, masks and mark-up do not matter. What came or went is
weighed (`weights`); what was seen in an earlier look, what merely moved between blocks, and furniture weigh nothing.
From `EMIT` the change is told. The comparison is with the state that was last *told*, so A-B-A is silent and A-C is
told whatever lay between.

A page of which nearly everything is replaced by little is *held*: most such pages are queues, errors and walls that go
away. If the next look finds the old page, nothing was; if it finds the same little page, that is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from actors.content.blocks import CELL, FORM, FURNITURE
from actors.content.canonical import canonical
from actors.content.diff import compare
from actors.content.memory import PageMemory, Settled, decode_memory, encode, pack, settled_of, unpack_keys
from actors.content.pages import PageReading
from actors.content.weights import weight, zone_of
from storage.records.event import Delta, Diff

__all__ = ["EMIT", "PageMemory", "Verdict", "decode_memory", "encode", "judge"]

EMIT = 0.5
_GONE = 0.6
"""What a block that went weighs beside one that came."""
_SWAPPED = 0.4
_SHRUNK = 0.35
_MOVED_LENGTH = 12


class Verdict(Struct, frozen=True):
    """What a look is worth. `diff` and `delta` are set exactly for `changed`, and are never empty.

    `memory` is what to remember; `reason` is a sentence for the look's trail.
    """

    kind: Literal["baseline", "unchanged", "churn", "held", "changed"]
    memory: PageMemory
    diff: Diff | None
    delta: Delta | None
    score: float
    reason: str


class _Side(Struct, frozen=True):
    """Blocks that are only in one of two states: their positions there, and their canonical texts."""

    positions: tuple[int, ...]
    canonicals: tuple[str, ...]


def judge(memory: PageMemory | None, reading: PageReading) -> Verdict:
    """Return the verdict on a look at a page, and what to remember of it."""
    if reading.trouble is not None:
        return Verdict("held", memory or PageMemory(), None, None, 0.0, f"Not the page: {reading.trouble}.")
    now = content_of(reading)
    if memory is None or not memory.keys:
        return Verdict("baseline", pack(now), None, None, 0.0, f"First look: {len(now.keys)} blocks.")
    before = settled_of(memory)
    came = _beyond(now, before)
    went = _beyond(before, now)
    if not came.positions and not went.positions:
        return Verdict("unchanged", _released(memory), None, None, 0.0, "Every block is as it was.")
    return _decide(memory, before, now, came, went)


def content_of(reading: PageReading) -> Settled:
    """Return the blocks that count: those outside of furniture, or all where that leaves none."""
    traits = reading.traits or (0,) * len(reading.blocks)
    kept = [i for i, trait in enumerate(traits) if not trait & (FURNITURE | FORM)] or range(len(traits))
    return Settled(
        tuple(reading.blocks[i] for i in kept), tuple(reading.keys[i] for i in kept), tuple(traits[i] for i in kept)
    )


def _decide(memory: PageMemory, before: Settled, now: Settled, came: _Side, went: _Side) -> Verdict:
    recent = unpack_keys(memory.recent)
    if _is_swap(before, now) and not _alike(unpack_keys(memory.held), now.keys):
        held = pack(before, recent, now.keys)
        return Verdict("held", held, None, None, 0.0, "Nearly everything is replaced by little: look again soon.")
    score = _score(before, now, came, went, frozenset(recent))
    flux = [now.keys[i] for i in came.positions] + [before.keys[i] for i in went.positions]
    if score < EMIT:
        reason = f"{len(came.positions)} blocks came and {len(went.positions)} went, none of them news."
        return Verdict("churn", pack(before, [*recent, *flux]), None, None, score, reason)
    after = _told(before, now)
    diff, delta = compare(before.texts, after.texts)
    reason = f"{len(diff.added)} added, {len(diff.removed)} removed, {len(diff.changed)} changed."
    return Verdict("changed", pack(after, [*recent, *flux]), diff, delta, score, reason)


def _score(before: Settled, now: Settled, came: _Side, went: _Side, recent: frozenset[str]) -> float:
    """Return the weight of all that came and went; see `weights`."""
    known = frozenset(before.keys)
    left = frozenset(now.keys)
    lost = f" {' '.join(went.canonicals)} "
    found = f" {' '.join(came.canonicals)} "
    zone, old_zone = zone_of(now.texts, now.traits), zone_of(before.texts, before.traits)
    score = 0.0
    for i, text in zip(came.positions, came.canonicals, strict=True):
        key = now.keys[i]
        if key in known or key in recent or _moved(text, lost):
            continue
        score += weight(now.texts[i], text, now.traits[i], i, zone)
    for i, text in zip(went.positions, went.canonicals, strict=True):
        key = before.keys[i]
        if key in left or _moved(text, found):
            continue
        score += _GONE * weight(before.texts[i], text, before.traits[i], i, old_zone) * (0.1 if key in recent else 1.0)
    return score


def _moved(text: str, others: str) -> bool:
    """Return whether a block's words stand together on the other side: it was split, merged or re-wrapped."""
    return len(text) > _MOVED_LENGTH and f" {text} " in others


def _beyond(one: Settled, other: Settled) -> _Side:
    """Return the blocks of one state that the other has not, counted; blocks whose text is not kept are left out."""
    left = Counter(other.keys)
    positions = []
    for i, key in enumerate(one.keys[: len(one.texts)]):
        if left[key]:
            left[key] -= 1
        else:
            positions.append(i)
    canonicals = (canonical(one.texts[i], cell=bool(one.traits[i] & CELL)) for i in positions)
    return _Side(tuple(positions), tuple(canonicals))


def _is_swap(before: Settled, now: Settled) -> bool:
    return not _alike(before.keys, now.keys, _SWAPPED) and _words(now.texts) < _SHRUNK * _words(before.texts)


def _alike(one: Sequence[str], other: Sequence[str], least: float = 0.5) -> bool:
    """Return whether the Jaccard index of two sets of keys reaches `least`."""
    first, second = set(one), set(other)
    return len(first & second) >= least * max(1, len(first | second))


def _words(texts: Iterable[str]) -> int:
    return sum(text.count(" ") + 1 for text in texts)


def _told(before: Settled, now: Settled) -> Settled:
    """Return the new state with the old wording where only what is masked differs: it is not part of what is told."""
    worded: dict[str, list[str]] = {}
    for key, text in zip(before.keys, before.texts, strict=False):
        worded.setdefault(key, []).append(text)
    for wordings in worded.values():
        wordings.reverse()
    texts = tuple(worded[key].pop() if worded.get(key) else text for key, text in zip(now.keys, now.texts, strict=True))
    return Settled(texts, now.keys, now.traits)


def _released(memory: PageMemory) -> PageMemory:
    """Return the memory without a held page: the old one is back."""
    return (
        PageMemory(memory.version, memory.texts, memory.keys, memory.traits, memory.recent) if memory.held else memory
    )
