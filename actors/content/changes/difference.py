"""A difference between two states of a page: its sides, each block's place, replaced blocks, texts with a new owner.

Unchanged neighbours identify a place, never a number: the gaps between two states (patience diff over keys) provide it.
If a gap has as many blocks before as after, each has its place; elsewhere only blocks that differ in figures or dates
do. So "Operational, Outage, Operational" to three times "Operational" changes in the middle, and a new entry above a
list moves nothing.

The owner of a cell is its row and column; of a value, the label before it; of another short text, the heading above it.
Rows, cards and sections that only change their order keep their owners.

Words do not tell a counter from a limit: "12 readers" and "12 users" are alike. Their duration does. A place is
*restless* if several new blocks in a row stayed only briefly. A later block there is reported only once it stays.

Measured on 80 hosts with several pages: *two* pages usually share real changes (a headline on the front page and in its
section, a release on three project pages). Ignoring those lost ten changes for each false alarm avoided. So furniture
must be on nearly all of at least four different pages, and is never a table cell or a page's own heading. It then
weighs nothing when it comes or goes; it stays in the page, as it may be part of its structure. The watcher of a host
collects the keys of its pages' memories (`stored_keys`) and sends those the others share (`shared_keys`) with a check.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.memory import (
    LETTERS,
    LONG,
    MOST_SLOTS,
    NUMBER,
    SIGNED,
    PageMemory,
    SettledState,
    Slot,
    decode_memory,
    placed,
    ticker_shape,
    unpack_keys,
)
from actors.content.pages.traits import BETWEEN, CELL, HEADING, LINK, TOP
from actors.content.values.reading import availability_in, has_price
from actors.content.wording.canonical import canonical
from actors.content.wording.dates import around, dates_in
from actors.content.wording.json_text import form
from actors.content.wording.words import Gap, digest16, gaps, words_in
from storage.records.event import MOST_CONTEXT, Context, Op

_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}")
NO_ADDRESS = "email protected"  # the text in place of an address hidden from robots


class StateSide(Struct, frozen=True):
    """Blocks in only one of two states: their positions there, and their canonical texts."""

    positions: tuple[int, ...]
    canonicals: tuple[str, ...]

    def by_position(self) -> dict[int, str]:
        return dict(zip(self.positions, self.canonicals, strict=True))


class StateDifference(Struct, frozen=True):
    """Blocks that came, blocks that went, and the gaps between unchanged runs of two states. moved: positions, now and
    before, of texts that are on both sides with different owners.
    """

    came: StateSide
    went: StateSide
    spans: tuple[Gap, ...]
    moved: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())


def apart(before: SettledState, now: SettledState) -> StateDifference:
    """Return the added and removed blocks, without moved ones and those without a stored text."""
    found = tuple(gaps(before.keys[: len(before.texts)], now.keys[: len(now.texts)]))
    if not found:
        return StateDifference(StateSide((), ()), StateSide((), ()), ())
    # Outside the gaps, both sides are equal.
    moved = [i for gap in found for i in range(gap[2], gap[3])], [i for gap in found for i in range(gap[0], gap[1])]
    new, old = (_count(state, side) for state, side in zip((now, before), moved, strict=True))
    return StateDifference(_beyond(now, new - old, moved[0]), _beyond(before, old - new, moved[1]), found)


def _count(state: SettledState, positions: Iterable[int]) -> Counter[str]:
    return Counter([*map(state.keys.__getitem__, positions), *state.keys[len(state.texts) :]])


def _beyond(state: SettledState, more: Counter[str], moved: Sequence[int]) -> StateSide:
    positions = []
    for i in reversed(moved):
        key = state.keys[i]
        if more[key]:
            more[key] -= 1
            positions.append(i)
    return side_of(state, positions[::-1])


def side_of(state: SettledState, positions: Sequence[int]) -> StateSide:
    texts = ((form(state.texts[i]) if state.json else state.texts[i], state.traits[i]) for i in positions)
    canonicals = (canonical(text, cell=bool(trait & CELL)) for text, trait in texts)
    return StateSide(tuple(positions), tuple(canonicals))


def shapes(state: SettledState, side: StateSide) -> list[str]:
    rows = zip(side.positions, side.canonicals, strict=True)
    found = (ticker_shape(state.texts[i], text, state.traits[i]) for i, text in rows)
    return [digest16(shape) for shape in found if shape]


def labels(side: StateSide) -> set[str]:
    """Return the short texts that have a figure, with 0 for each."""
    found = (NUMBER.subn("0", text) for text in side.canonicals if words_in(text) <= LONG)
    return {text for text, figures in found if figures}


def bags(state: SettledState, side: StateSide, hidden: bool) -> list[str]:
    texts: Iterable[str] = side.canonicals
    if hidden:
        texts = (canonical(_ADDRESS.sub(NO_ADDRESS, state.texts[i])) for i in side.positions)
    return [" ".join(sorted(text.split())) for text in texts]


LONGEST_GAP = 4
_LONGEST_SHAPE = 40  # maximum words of a block matched by shape, in a gap with more blocks on one side
_MOST_SOUGHT = 200

What: TypeAlias = Literal["ids", "figures", "dates", "words"]
_ID = re.compile(
    r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{10,}"
    r"|(?=[0-9a-f]{0,40}\d)(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{10,})\b"
)
"""A checksum, a long number, or a machine-made id; only time can tell."""
_DRAWN = re.compile(r"(?<!\w)(?=[0-9a-f]*[a-f])(?=[a-f]*\d)[0-9a-f]{4,9}(?!\w)", re.I)
"""A shorter hexadecimal number, as written: a figure of a server, as of a request."""


class Replacement(Struct, frozen=True):
    """A block and its replacement: positions before and now, the new key, canonical texts, and the key of the place.
    what: only long ids differ (or a label has one on both sides), only figures, only dates, or words.
    """

    old: int
    new: int
    key: str
    before: str
    after: str
    slot: str
    what: What


def shape(canonical: str) -> str:
    return SIGNED.sub("0", _ID.sub("0", canonical))


def dateless(canonical: str) -> str:
    dates = dates_in(canonical)
    return f"{len(dates)} {' | '.join(around(canonical, dates))}" if dates else ""


def replacements(
    before: SettledState, now: SettledState, spans: Iterable[Gap], went: dict[int, str], came: dict[int, str]
) -> Iterator[Replacement]:
    """Yield the replacements. went, came: canonical texts of blocks on only one side, by position. Both may lack blocks
    of a gap: those that moved, and are elsewhere on the other side.
    """
    for a, b, c, d in spans:
        old = {i: went[i] for i in range(a, b) if i in went}
        new = {j: came[j] for j in range(c, d) if j in came}
        if not old or not new:
            continue
        for i, j in _paired(before.traits, now.traits, old, new):
            shapes = _shape(before, i, went[i]), _shape(now, j, came[j])
            what = _what(went[i], came[j], same=shapes[0] == shapes[1])
            slot = slot_of(before, i, shapes[1] if what in {"ids", "figures"} else "")
            yield Replacement(i, j, now.keys[j], went[i], came[j], slot, what)


def slot_of(before: SettledState, i: int, shaped: str = "") -> str:
    """Return the key of the place after the block before `i`; shaped: for figures, their `shape`."""
    left = before.keys[i - 1] if i else ""
    return digest16(f"slot {left} {shaped}")


def _shape(state: SettledState, i: int, canonical_text: str) -> str:
    """Return the shape of a block; a hexadecimal number counts as a figure."""
    text, figures = _DRAWN.subn("0", state.texts[i])
    return shape(canonical(text, cell=bool(state.traits[i] & CELL)) if figures else canonical_text)


def _what(before: str, after: str, *, same: bool) -> What:
    """Return the kind of a difference between two canonical texts. same: their shapes are equal."""
    if (said := dateless(before)) and said == dateless(after):
        return "dates"
    if _ID.sub("0", before) == _ID.sub("0", after) or all(
        words_in(text) <= _VALUE_WORDS and _ID.search(text) for text in (before, after)
    ):
        return "ids"
    return "figures" if same else "words"


def _paired(
    before: Sequence[int], now: Sequence[int], old: dict[int, str], new: dict[int, str]
) -> Iterator[tuple[int, int]]:
    """Pair the blocks of a gap. before, now: traits. old, new: canonical texts by position."""
    if len(old) == len(new) <= LONGEST_GAP:
        # A row of times is a cell only while it has times.
        yield from (pair for pair in zip(old, new, strict=True) if before[pair[0]] | CELL == now[pair[1]] | CELL)
        return
    alike: dict[tuple[str, int], deque[int]] = defaultdict(deque)
    for i, text in islice(old.items(), _MOST_SOUGHT):
        if words_in(text) <= _LONGEST_SHAPE:
            alike[dateless(text) or shape(text), before[i]].append(i)
    for j, text in islice(new.items(), _MOST_SOUGHT):
        if found := alike.get((dateless(text) or shape(text), now[j])):
            yield found.popleft(), j


_CUT = "…"
_PERMALINK = " ¶"  # the suffix many documentation generators give a heading: a link to itself


class StateContexts(Sequence[Context]):
    """The context of each block with known text, made on demand: a difference needs few. A heading is placed below the
    page's main one, since its level is not stored. The block's own text is left out.
    """

    def __init__(self, state: SettledState) -> None:
        self._state = state
        traits = state.traits[: len(state.texts)]
        self._headings = [i for i, trait in enumerate(traits) if trait & (HEADING | TOP)]
        self._tops = [i for i in self._headings if traits[i] & TOP]

    def __len__(self) -> int:
        return len(self._state.texts)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self._context(i) for i in range(*at.indices(len(self)))]
        return self._context(range(len(self))[at])

    def _context(self, i: int) -> Context:
        state, text = self._state, self._state.texts[i]
        row, column = (state.places[i] if i < len(state.places) else None) or ("", "")
        return Context(_fitting(self._heading(i), text), _fitting(row, text), _fitting(column, text))

    def _heading(self, i: int) -> str:
        state = self._state
        trait = state.traits[i] if i < len(state.traits) else 0
        if trait & TOP:
            return ""
        above = self._tops if trait & HEADING else self._headings
        nearest = bisect_left(above, i)
        return state.texts[above[nearest - 1]] if nearest else ""


def _fitting(part: str, text: str) -> str:
    part = part.rstrip(_PERMALINK) if part != text else ""
    return part if len(part) <= MOST_CONTEXT else part[: MOST_CONTEXT - 1].rstrip() + _CUT


_VALUE_WORDS = 3
_FAR = 4  # blocks before a value that are searched for its label


class _Owner(NamedTuple):
    kind: str
    parts: tuple[str, ...]


class _Owners:
    """The owners of a state's blocks."""

    def __init__(self, state: SettledState) -> None:
        self.state, self.contexts, self._counts = state, StateContexts(state), Counter(state.keys)
        self._known = {"", *state.texts, *state.keys}

    def of(self, i: int) -> _Owner:
        at = self.contexts[i]
        if at.row:
            return _Owner("cell", (at.row, at.column))
        if not self.state.traits[i] & CELL and self._is_value(i):
            near = range(i - 1, max(-1, i - 1 - _FAR), -1)
            label = next((self.state.keys[n] for n in near if not self._is_value(n)), "")
            return _Owner("label", (label,))
        return _Owner("heading" if words_in(self.state.texts[i]) < LONG else "", (at.heading,))

    def has(self, owner: _Owner) -> bool:
        """Whether an owner's words occur on this side; a reworded heading moves nothing."""
        return self._known.issuperset(part for own in owner.parts for part in own.split(BETWEEN))

    def _is_value(self, i: int) -> bool:
        text = self.state.texts[i]
        if self.state.traits[i] & HEADING or words_in(text) > _VALUE_WORDS:
            return False
        if self._counts[self.state.keys[i]] > 1 or has_price(text) or not LETTERS.search(text):
            return True
        return any(True for _ in availability_in(text.lower()))


def with_assigned(
    apart: StateDifference, memory: PageMemory, before: SettledState, now: SettledState
) -> StateDifference:
    """Add blocks with a new owner to a difference. before: the reported state, whose places memory may have."""
    known, spans = (frozenset(apart.went.positions), frozenset(apart.came.positions)), apart.spans
    if sum(b - a for a, b, _, _ in spans) == len(known[0]) or sum(d - c for _, _, c, d in spans) == len(known[1]):
        return apart
    # If two texts swap places, one keeps its order and falls between the gaps.
    ranges = range(spans[0][0], spans[-1][1]), range(spans[0][2], spans[-1][3])
    sides = _Owners(before if before.places else placed(memory)), _Owners(now)
    owned = [
        {i: side.of(i) for i in span if i not in aside and not side.state.traits[i] & HEADING}
        for side, span, aside in zip(sides, ranges, known, strict=True)
    ]
    if any(known):
        # In lists of headlines, new ones push the old ones down.
        for side, owners in zip(sides, owned, strict=True):
            for i in [i for i, owner in owners.items() if owner.kind == "heading" and side.state.traits[i] & LINK]:
                del owners[i]
    went, came = _beyond_assigned(owned[0], owned[1], sides), _beyond_assigned(owned[1], owned[0], sides[::-1])
    if not went or not came:
        return apart
    return replace(
        apart,
        went=side_of(sides[0].state, sorted((*apart.went.positions, *went))),
        came=side_of(now, sorted((*apart.came.positions, *came))),
        moved=(frozenset(came), frozenset(went)),
    )


def _beyond_assigned(own: dict[int, _Owner], others: dict[int, _Owner], sides: tuple[_Owners, _Owners]) -> list[int]:
    """Return the blocks with another one on the other side, if their own exists there; a bare label only moved."""
    keys = sides[1].state.keys
    left = Counter((keys[i], owner) for i, owner in others.items())
    there = {keys[i]: owner.kind for i, owner in others.items()}
    taken = frozenset(others.values())
    found = []
    for i, each in own.items():
        key = sides[0].state.keys[i]
        if left[key, each]:
            left[key, each] -= 1
        elif (
            each.kind
            and there.get(key) == each.kind
            and (each in taken if each.kind == "label" else sides[1].has(each))
        ):
            found.append(i)
    return found


def steps_of(before: SettledState, after: SettledState, apart: StateDifference) -> tuple[Op, ...]:
    """Return the visible steps of moved texts: a cell's or label's old and new text, or an insertion and a deletion."""
    came, went = apart.moved
    now, was = _Owners(after), _Owners(before)
    left = {i: was.of(i) for i in sorted(went)}
    steps = []
    for i in sorted(came):
        owner = now.of(i)
        old = next((n for n, other in left.items() if other == owner and owner.kind != "heading"), None)
        if old is None:
            steps.append(Op("insert", i, text=after.texts[i], context=now.contexts[i]))
        else:
            del left[old]
            steps.append(Op("replace", i, before=before.texts[old], after=after.texts[i], context=now.contexts[i]))
    return (*steps, *(Op("delete", i, text=before.texts[i], context=was.contexts[i]) for i in left))


BRIEF = 2  # a stay of at most this many checks is brief
MOST_BRIEF = 2  # brief stays in a row that make a place restless


def restless_places(slots: Iterable[Slot]) -> frozenset[str]:
    return frozenset(slot.key for slot in slots if slot.brief >= MOST_BRIEF)


def is_restless(memory: PageMemory, state: SettledState, i: int) -> bool:
    places = restless_places(memory.slots)
    shaped = _shape(state, i, canonical(state.texts[i], cell=bool(state.traits[i] & CELL))) if places else ""
    return not places.isdisjoint((slot_of(state, i), slot_of(state, i, shaped)))


def nearly_restless(slots: Iterable[Slot], number: int) -> frozenset[str]:
    """Return the places that become restless if their block is replaced at the check with this number."""
    return frozenset(slot.key for slot in slots if slot.brief == MOST_BRIEF - 1 and number - slot.since <= BRIEF)


def remark_of(memory: PageMemory) -> str:
    """Return a sentence on the page's restless places, "" if it has none."""
    count = len(restless_places(memory.slots))
    if not count:
        return ""
    places = "One place on the page shows" if count == 1 else f"{count} places on the page show"
    return f"{places} another text at nearly every check, which is reported if it stays."


def slots_after(
    memory: PageMemory, replaced: Iterable[Replacement], came: Container[str], number: int
) -> tuple[Slot, ...]:
    """Return the slots after the check with this number. came: keys of blocks added in this check. A block that was
    reported there before is not new, but its return ends a stay as well.
    """
    slots = {slot.key: slot for slot in memory.slots}
    gone = frozenset(unpack_keys(memory.gone))
    for pair in replaced:
        if pair.key in came and (pair.key not in gone or pair.slot in slots):
            last = slots.pop(pair.slot, Slot(pair.slot, 0, memory.told))
            brief = last.brief
            if pair.key not in gone:
                brief = last.brief + 1 if number - last.since <= BRIEF else 0
            slots[pair.slot] = Slot(pair.slot, brief, number)
    return tuple(slots.values())[-MOST_SLOTS:]


LEAST_OTHERS = 3
MOST_TOLD = 600  # keys of a page that are compared, from its beginning and its end, where furniture is
_TWINS, _SHARE = 0.5, 0.8


def stored_keys(memory: bytes) -> tuple[str, ...]:
    """Return at most `MOST_TOLD` content keys of a memory, from both ends of the page; () if unreadable."""
    decoded = decode_memory(memory)
    if decoded is None:
        return ()
    rows = zip(unpack_keys(decoded.keys), decoded.traits, strict=False)
    keys = tuple(key for key, trait in rows if not trait & (CELL | TOP))
    return keys if len(keys) <= MOST_TOLD else keys[: MOST_TOLD // 2] + keys[-MOST_TOLD // 2 :]


def shared_keys(others: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the keys that nearly all other pages of the host have, if there are enough; of pages that are half the
    same (two addresses of one page) only one counts.
    """
    different: list[frozenset[str]] = []
    for keys in map(frozenset, others):
        if keys and all(len(keys & other) < _TWINS * len(keys | other) for other in different):
            different.append(keys)
    if len(different) < LEAST_OTHERS:
        return ()
    counts = Counter(key for keys in different for key in keys)
    return tuple(sorted(key for key, count in counts.items() if count >= _SHARE * len(different)))
