"""Whether a page has really changed: one look against the page's memory. A decision, never an extraction.

Blocks are compared as a multiset of canonical keys, so order, masks and mark-up do not matter. What came or went is
weighed (`weights`); what was seen in an earlier look, what merely moved between blocks, and furniture weigh nothing.
From `EMIT` the change is told. The comparison is with the state that was last *told*, so A-B-A is silent and A-C is
told whatever lay between.

A page of which nearly everything is replaced, by little or in another language, is *held*: most such pages are queues,
errors, walls and guesses at the reader's country that go away. If the next look finds the old page, nothing was; if it
finds the same other page, that is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from actors.content import withheld
from actors.content.contexts import StateContexts
from actors.content.diff import Where, compare
from actors.content.language import language_of
from actors.content.memory import (
    PageMemory,
    Settled,
    decode_memory,
    encode,
    pack,
    packed,
    packed_recent,
    placed,
    settled_of,
    state_of,
    unpack_keys,
    with_state,
)
from actors.content.news import Known, Side, Weighed, beyond, shapes, weighed
from actors.content.pages import PageReading
from actors.content.requests import EMIT, Withheld
from actors.content.traits import ASIDE
from actors.content.wording import words_in
from storage.records.event import Delta, Diff

__all__ = ["EMIT", "MINOR", "PageMemory", "Verdict", "decode_memory", "encode", "judge"]

MINOR = 0.2
"""The score from which a difference that is not told is worth a line in the look's trail."""
_SWAPPED = 0.4
_SHRUNK = 0.35
_FLIPPED = 0.2


class Verdict(Struct, frozen=True):
    """What a look is worth. `diff` and `delta` are set exactly for `changed`, and are never empty.

    `memory` is what to remember; `reason` is a sentence for the look's trail, `withheld` what was not told.
    `weighed` is what made it `changed`.
    """

    kind: Literal["baseline", "unchanged", "churn", "held", "changed"]
    memory: PageMemory
    diff: Diff | None
    delta: Delta | None
    score: float
    reason: str
    withheld: tuple[Withheld, ...] = ()
    weighed: tuple[Withheld, ...] = ()


class _Look(Struct, frozen=True):
    """What a decision is made of. `recent` are keys of earlier looks, oldest first, `aside` of today's furniture."""

    reading: PageReading
    before: Settled
    now: Settled
    came: Side
    went: Side
    recent: tuple[str, ...]
    aside: tuple[str, ...]
    shared: frozenset[str]
    noise: frozenset[str]
    bar: float


def judge(
    memory: PageMemory | None,
    reading: PageReading,
    shared: Sequence[str] = (),
    *,
    noise: Sequence[str] = (),
    bar: float = EMIT,
) -> Verdict:
    """Return the verdict on a look at a page, and what to remember of it.

    `shared` are keys of the host's furniture (`sites`), `noise` of what the user has marked (`noise`): neither is news.
    """
    if reading.trouble is not None:
        return Verdict("held", memory or PageMemory(), None, None, 0.0, f"Not the page: {reading.trouble}.")
    now = content_of(reading)
    aside = tuple(k for k, t in zip(reading.keys, reading.traits, strict=False) if t & ASIDE)
    if memory is None or not memory.keys:
        return Verdict("baseline", pack(now, aside), None, None, 0.0, f"First look: {len(now.keys)} blocks.")
    memory = _unshelved(memory, now)
    before = settled_of(memory)
    came, went = beyond(now, before), beyond(before, now)
    recent = unpack_keys(memory.recent)
    look = _Look(reading, before, now, came, went, recent, aside, frozenset(shared), frozenset(noise), bar)
    if not came.positions and (reading.partial or not went.positions):
        # What lies beyond the depth or the length that is read is missing, and need not be gone.
        says = "Every block is as it was." if not went.positions else "Cut short, with nothing new before the cut."
        return Verdict("unchanged", _released(memory), None, None, 0.0, says, _withheld(look, []))
    swapped = _is_swap(before, now)
    if swapped and not _alike(unpack_keys(memory.held), now.keys):
        return _held(memory, look)
    shelf = encode(_released(memory)) if swapped and not memory.shelf else memory.shelf
    return _decide(memory, look, shelf)


def content_of(reading: PageReading) -> Settled:
    """Return the blocks that count: those outside of furniture, or all where that leaves none."""
    traits = reading.traits or (0,) * len(reading.blocks)
    kept = [not trait & ASIDE for trait in traits]
    if not any(kept):
        kept = [True] * len(traits)
    return Settled(
        tuple(compress(reading.blocks, kept)),
        tuple(compress(reading.keys, kept)),
        tuple(compress(traits, kept)),
        tuple(compress(reading.places, kept)),
    )


def _held(memory: PageMemory, look: _Look) -> Verdict:
    blocks = withheld.of_blocks(_weighed(look), told=False, instead="held until the next look: the page was replaced")
    reason = "Nearly everything is replaced, by little or in another language: look again soon."
    return Verdict(
        "held", replace(memory, held=packed(look.now.keys)), None, None, 0.0, reason, _withheld(look, blocks)
    )


def _decide(memory: PageMemory, look: _Look, shelf: bytes) -> Verdict:
    states = with_state(memory.states, state_of(look.now))
    is_return = states == memory.states
    blocks = _weighed(look)
    score = 0.0 if is_return else sum(block.score for block in blocks)
    shaped = [*shapes(look.now, look.came), *shapes(look.before, look.went)]
    came = [block.key for block in blocks if block.came]
    went = [block.key for block in blocks if not block.came]
    reason = f"{len(came)} {'block' if len(came) == 1 else 'blocks'} came and {len(went)} went"
    if score >= look.bar:
        after = _told(look.before, look.now)
        where = Where(StateContexts(placed(memory)), StateContexts(after))
        diff, delta = compare(_known_texts(look.before, after), after.texts, where)
        if diff.added or diff.removed or diff.changed:
            remembered = pack(after, _grown(look.recent, look.aside, went, shaped), shelf, states)
            why = _withheld(look, withheld.of_blocks(blocks, told=True))
            counted = withheld.counted(blocks)
            return Verdict("changed", remembered, diff, delta, score, f"{reason}.", why, counted)
        reason += ", with the same texts"
    grown = replace(memory, recent=packed_recent(_grown(look.recent, look.aside, came, went, shaped)))
    returned = "the page is as it was in an earlier look" if is_return else ""
    why = _withheld(look, withheld.of_blocks(blocks, told=False, instead=returned))
    reason += f": {returned or 'not news'}."
    return Verdict("churn", replace(grown, held=b"", states=states), None, None, score, reason, why)


def _weighed(look: _Look) -> list[Weighed]:
    known = Known(frozenset(look.recent), frozenset(look.aside), look.shared, look.noise)
    return weighed(look.before, look.now, look.came, look.went, known)


def _withheld(look: _Look, blocks: Sequence[Withheld]) -> tuple[Withheld, ...]:
    """Return why blocks were not told: those of the difference, then what is masked, then new furniture."""
    reading = look.reading
    known = frozenset(look.recent).union(look.before.keys)
    furniture = withheld.furniture(reading.blocks, reading.keys, reading.traits, known)
    return withheld.capped(blocks, withheld.masked(look.before, look.now), furniture)


def _grown(recent: Sequence[str], *others: Sequence[str]) -> list[str]:
    """Return the recent keys and the new ones after them; the same when none is new, so that nothing need be saved."""
    known = frozenset(recent)
    return [*recent, *(key for keys in others for key in keys if key not in known)]


def _is_swap(before: Settled, now: Settled) -> bool:
    """Return whether little stands in the page's place, or the page in another language, as servers choose by guess."""
    if _alike(before.keys, now.keys, _SWAPPED):
        return False
    if _words(now.texts) < _SHRUNK * _words(before.texts):
        return True
    return not _alike(before.keys, now.keys, _FLIPPED) and language_of(before.texts) != language_of(now.texts)


def _alike(one: Sequence[str], other: Sequence[str], least: float = 0.5) -> bool:
    """Return whether the Jaccard index of two sets of keys reaches `least`."""
    first, second = set(one), set(other)
    return len(first & second) >= least * max(1, len(first | second))


def _words(texts: Iterable[str]) -> int:
    return sum(words_in(text) for text in texts)


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
    return Settled(texts, now.keys, now.traits, now.places)


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
    return pack(placed(shelved), recent, states=shelved.states)


def _released(memory: PageMemory) -> PageMemory:
    """Return the memory without a held page: the old one is back."""
    return replace(memory, held=b"") if memory.held else memory
