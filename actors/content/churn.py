"""Whether a page has really changed: one look against the page's memory. A decision, never an extraction.

Blocks are compared as a multiset of canonical keys, so order, masks and mark-up do not matter. What came or went is
weighed (`weights`); what was seen in an earlier look, what merely moved between blocks, and furniture weigh nothing.
From `EMIT` the change is told. The comparison is with the state that was last *told*, so A-B-A is silent and A-C is
told whatever lay between.

A page of which nearly everything is replaced by little is *held*: most such pages are queues, errors and walls that go
away. If the next look finds the old page, nothing was; if it finds the same little page, that is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.content.canonical import canonical
from actors.content.diff import compare
from actors.content.fingerprint import digest16
from actors.content.memory import (
    PageMemory,
    Settled,
    decode_memory,
    encode,
    pack,
    packed,
    packed_recent,
    settled_of,
    state_of,
    unpack_keys,
    with_state,
)
from actors.content.pages import PageReading
from actors.content.traits import ASIDE, CELL
from actors.content.weights import ticker_shape, weight, zone_of
from storage.records.event import Delta, Diff

__all__ = ["EMIT", "MINOR", "PageMemory", "Verdict", "decode_memory", "encode", "judge"]

EMIT, MINOR = 0.5, 0.2
"""Scores from which a difference is told, and from which it is worth a line in the look's trail."""
_GONE = 0.6
"""What a block that went weighs beside one that came."""
_FLICKER = 0.06
"""The same for one that has been away before."""
_SWAPPED = 0.4
_SHRUNK = 0.35
_MOVED_LENGTH = 12
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}")
_NO_ADDRESS = "email protected"


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


class _Look(Struct, frozen=True):
    """All that a decision is made of. `recent` and `aside` are keys: of earlier looks, and of today's furniture."""

    before: Settled
    now: Settled
    came: _Side
    went: _Side
    recent: tuple[str, ...]
    aside: tuple[str, ...]
    shared: frozenset[str]


def judge(memory: PageMemory | None, reading: PageReading, shared: Sequence[str] = ()) -> Verdict:
    """Return the verdict on a look at a page, and what to remember of it.

    `shared` are keys of the host's furniture (see `sites`): it is no news when such a block goes.
    """
    if reading.trouble is not None:
        return Verdict("held", memory or PageMemory(), None, None, 0.0, f"Not the page: {reading.trouble}.")
    now = content_of(reading)
    aside = tuple(k for k, t in zip(reading.keys, reading.traits, strict=False) if t & ASIDE)
    if memory is None or not memory.keys:
        return Verdict("baseline", pack(now, aside), None, None, 0.0, f"First look: {len(now.keys)} blocks.")
    memory = _unshelved(memory, now)
    before = settled_of(memory)
    came, went = _beyond(now, before), _beyond(before, now)
    if not came.positions and not went.positions:
        return Verdict("unchanged", _released(memory), None, None, 0.0, "Every block is as it was.")
    swapped = _is_swap(before, now)
    if swapped and not _alike(unpack_keys(memory.held), now.keys):
        held = replace(memory, held=packed(now.keys))
        return Verdict("held", held, None, None, 0.0, "Nearly everything is replaced by little: look again soon.")
    shelf = encode(_released(memory)) if swapped and not memory.shelf else memory.shelf
    return _decide(memory, _Look(before, now, came, went, unpack_keys(memory.recent), aside, frozenset(shared)), shelf)


def content_of(reading: PageReading) -> Settled:
    """Return the blocks that count: those outside of furniture, or all where that leaves none."""
    traits = reading.traits or (0,) * len(reading.blocks)
    kept = [i for i, trait in enumerate(traits) if not trait & ASIDE] or range(len(traits))
    return Settled(
        tuple(reading.blocks[i] for i in kept), tuple(reading.keys[i] for i in kept), tuple(traits[i] for i in kept)
    )


def _decide(memory: PageMemory, look: _Look, shelf: bytes) -> Verdict:
    states = with_state(memory.states, state_of(look.now))
    is_return = states == memory.states
    score = 0.0 if is_return else _score(look)
    shapes = [*_shapes(look.now, look.came), *_shapes(look.before, look.went)]
    came = [look.now.keys[i] for i in look.came.positions]
    went = [look.before.keys[i] for i in look.went.positions]
    reason = f"{len(came)} blocks came and {len(went)} went"
    if score >= EMIT:
        after = _told(look.before, look.now)
        diff, delta = compare(_known_texts(look.before, after), after.texts)
        if diff.added or diff.removed or diff.changed:
            remembered = pack(after, _grown(look.recent, look.aside, went, shapes), shelf, states)
            return Verdict("changed", remembered, diff, delta, score, f"{reason}.")
        reason += ", with the same texts"
    recent = packed_recent(_grown(look.recent, look.aside, came, went, shapes))
    reason += ": the page is as it was in an earlier look." if is_return else ": not news."
    return Verdict("churn", replace(memory, recent=recent, held=b"", states=states), None, None, score, reason)


def _grown(recent: Sequence[str], *others: Sequence[str]) -> list[str]:
    """Return the recent keys and the new ones after them; the same when none is new, so that nothing need be saved."""
    known = frozenset(recent)
    return [*recent, *(key for keys in others for key in keys if key not in known)]


def _score(look: _Look) -> float:
    """Return the weight of all that came and went; see `weights`."""
    before, now, came, went = look.before, look.now, look.came, look.went
    known, recent = frozenset(before.keys), frozenset(look.recent)
    left = frozenset(now.keys).union(look.aside)
    lost, found = f" {' '.join(went.canonicals)} ", f" {' '.join(came.canonicals)} "
    hidden = _NO_ADDRESS in lost or _NO_ADDRESS in found
    came_bags, went_bags = _bags(now, came, hidden), _bags(before, went, hidden)
    shuffled = set(came_bags) & set(went_bags)
    zone, old_zone = zone_of(now.texts, now.traits), zone_of(before.texts, before.traits)
    score = 0.0
    for i, text, bag in zip(came.positions, came.canonicals, came_bags, strict=True):
        key, trait = now.keys[i], now.traits[i]
        # One more copy of a text is no news but in a table, where "0" may stand in a hundred cells.
        stale = not trait & CELL if key in known else key in recent
        stale = stale or _ticks(now.texts[i], text, trait, recent)
        if not (stale or _moved(text, lost) or bag in shuffled):
            score += weight(now.texts[i], text, trait, i, zone)
    for i, text, bag in zip(went.positions, went.canonicals, went_bags, strict=True):
        key, trait = before.keys[i], before.traits[i]
        stays = key in left
        if (stays and not trait & CELL) or _moved(text, found) or bag in shuffled:
            continue
        if key in look.shared or _ticks(before.texts[i], text, trait, recent):
            continue
        comes_and_goes = key in recent and not stays
        score += (_FLICKER if comes_and_goes else _GONE) * weight(before.texts[i], text, trait, i, old_zone)
    return score


def _shapes(state: Settled, side: _Side) -> list[str]:
    """Return the keys of the shapes of those blocks that are lines of figures."""
    rows = zip(side.positions, side.canonicals, strict=True)
    shapes = (ticker_shape(state.texts[i], text, state.traits[i]) for i, text in rows)
    return [digest16(shape) for shape in shapes if shape]


def _ticks(text: str, canonical: str, trait: int, recent: frozenset[str]) -> bool:
    """Return whether a block is a line of figures that have changed before."""
    shape = ticker_shape(text, canonical, trait)
    return bool(shape) and digest16(shape) in recent


def _moved(text: str, others: str) -> bool:
    """Return whether a block's words stand together on the other side: it was split, merged or re-wrapped."""
    return len(text) > _MOVED_LENGTH and f" {text} " in others


def _bags(state: Settled, side: _Side, hidden: bool) -> list[str]:
    """Return each block's words in no order; with `hidden`, addresses as what hides them from robots."""
    texts: Iterable[str] = side.canonicals
    if hidden:
        texts = (canonical(_ADDRESS.sub(_NO_ADDRESS, state.texts[i])) for i in side.positions)
    return [" ".join(sorted(text.split())) for text in texts]


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
    same = frozenset(before.texts)
    masked = {key for key, text in zip(now.keys, now.texts, strict=True) if text not in same}
    worded: dict[str, list[str]] = {}
    for key, text in zip(reversed(before.keys[: len(before.texts)]), reversed(before.texts), strict=True):
        if key in masked:
            worded.setdefault(key, []).append(text)
    if not worded:
        return now
    texts = tuple(worded[key].pop() if worded.get(key) else text for key, text in zip(now.keys, now.texts, strict=True))
    return Settled(texts, now.keys, now.traits)


def _known_texts(before: Settled, after: Settled) -> list[str]:
    """Return the told texts; those beyond what memory keeps come from the new state, where the key is still there."""
    texts = dict(zip(after.keys, after.texts, strict=True))
    beyond = before.keys[len(before.texts) :]
    return [*before.texts, *(texts[key] for key in beyond if key in texts)]


def _unshelved(memory: PageMemory, now: Settled) -> PageMemory:
    """Return the memory from before a swap when the page of that time is back, else the memory as it is."""
    shelved = decode_memory(memory.shelf) if memory.shelf else None
    if shelved is None or not _alike(unpack_keys(shelved.keys), now.keys, _SWAPPED):
        return memory
    if _alike(unpack_keys(memory.keys), now.keys, _SWAPPED):
        return memory
    recent = [*unpack_keys(shelved.recent), *unpack_keys(memory.recent), *unpack_keys(memory.keys)]
    return pack(settled_of(shelved), recent, states=shelved.states)


def _released(memory: PageMemory) -> PageMemory:
    """Return the memory without a held page: the old one is back."""
    return replace(memory, held=b"") if memory.held else memory
