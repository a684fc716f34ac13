"""The weight of a difference between two states of a page, block by block, with reasons; marked noise has none.

Blocks weigh nothing if an earlier check saw them, if they only moved between blocks, if other pages of the site share
them or if the user marked them as noise. `_Scales` weighs the rest.

Noise is marked by a text's shape, and a price, a version or a bare figure has none: marking "From $9" once must not
silence every later price.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.difference import (
    NO_ADDRESS,
    Replacement,
    StateDifference,
    StateSide,
    bags,
    labels,
    replacements,
    shape,
    slot_of,
)
from actors.content.changes.memory import (
    BARE,
    COOKIES,
    FIGURE,
    FIGURES,
    LABEL,
    LETTERS,
    LONG,
    LONGEST_LABEL,
    MIDDLE,
    NUMBER,
    VERSION,
    SettledState,
    Zone,
    is_fact,
    is_value,
    may_count,
    names_currency,
    ticker_shape,
    weigh,
)
from actors.content.pages.traits import CELL, CONTROL, TOP, is_round
from actors.content.pages.walls import asks_for_consent
from actors.content.wording.canonical import canonical, differ_by_count, key
from actors.content.wording.dates import dates_in, days_moved, has_time, is_clock, is_same_stamp, keep_pace
from actors.content.wording.words import digest16, words_in


def noise_keys(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of noise for blocks with these texts, whatever their figures, inside and outside table cells."""
    found: dict[str, None] = {}
    for text in texts:
        for cell in (False, True):
            found[key(text, cell=cell)] = None
            if shape := _shape(text, canonical(text, cell=cell)):
                found[shape] = None
    return tuple(found)


def _shape(text: str, canonical_text: str) -> str:
    if names_currency(text) or VERSION.search(canonical_text) or not LETTERS.search(canonical_text):
        return ""
    shape, figures = NUMBER.subn("0", canonical_text)
    return digest16(f"noise {shape}") if figures else ""


_GONE = 0.6  # weight of a removed block relative to an added one
_FLICKER = 0.06  # the same for a block that has been away before
ENTRY = 0.5  # weight of a list item outside text pages, whatever its words, and of any block that lasts there
LASTS = 2  # light or returning blocks count from this many checks after the first
_MASKED = "⟨"
SURE = 2  # checks that must find a replacing text again before it is reported
_STAYS = 8  # the same for a new entry of a list that leaves out another entry each time
_YOUNG = 2  # checks after the first in which a text that a server may write for each request waits for a second check
OLD, _ALIKE, _FEW = 1 << 30, 0.25, 2
_MOST_MOVED, _MOVED_LENGTH = 0.8, 12
_MANY, _MOST_ASIDE = 8, 0.8
"""Size of a group added or removed together, and the share that is furniture on the other side, to ignore it all."""
_SOME, _LITTLE = 4, 0.2  # furniture blocks that a redesign brings into the content, and the most that lost blocks weigh
AMID = "it is among page furniture"
MOVED = "it belongs to something else now, until it stays"
_MOST_CONTROLS = 4  # more controls that come or go at once are a menu
CONTROLS = "a control by itself, until it stays"
_AMOUNT = re.compile(r"\d\.\d|\d,\d\d?(?!\d)|[$€£¥]")
"""In a button or field, other figures are counters: likes, comments, days."""
COUNTER = "a counter, by its words"
MAY_COUNT = "a figure that may be a counter, until it stays"
RESTLESS = "this place changes at nearly every check"
ID = "an id that may change at each check; reported if it stays"
_PENDING = frozenset({MAY_COUNT, ID, CONTROLS})
"""Rules of replacements that wait beside a report, unless they are long, like a page's description."""
PACE = "a date or time that moves with the clock; reported if it stays"
SEEN = "seen in an earlier check"
COPY, COPIES = "one more copy of a text that is there", "another copy is still there"
NULL = "a null says as much as no member"
_LIGHT = frozenset({"", LABEL, BARE, COPY, COPIES, NULL})


class KnownBlocks(Struct, frozen=True):
    """Known keys and places that are not worth reporting: keys of earlier checks, of today's furniture, of the host's
    shared parts and of marked noise; `restless` places change on nearly every check, `nearly` ones if they now show a
    text that was never reported (`gone` has the keys of reported ones, 8 bytes each). waits: for each added block, the
    earlier checks that had it. absent: for each removed block, the checks that missed it. today: the ordinal of the
    check's day, 0 if unknown. passed: days since the last report, 0 if unknown.
    """

    recent: frozenset[str] = frozenset()
    aside: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    noise: frozenset[str] = frozenset()
    restless: frozenset[str] = frozenset()
    nearly: frozenset[str] = frozenset()
    gone: bytes = b""
    waits: Mapping[str, int] = {}
    absent: Mapping[str, int] = {}
    today: int = 0
    passed: float = 0.0
    chosen: bool = False
    """Each block is content: the user has chosen so few, or the document is JSON."""
    age: int = OLD
    """Checks since the first one, while no report has removed a block: what changes by itself is still unknown."""


class WeighedBlock(Struct, frozen=True):
    """An added or removed block with its weight, and the reason for a low weight, else "". waits: it may weigh more if
    it stays. doubted: it may be one of many rotating texts. moved: it belongs to something else than before.
    """

    text: str
    key: str
    came: bool
    score: float
    rule: str
    waits: bool = False
    doubted: bool = False
    moved: bool = False


Rows: TypeAlias = dict[int, WeighedBlock]


class WeighedDifference(Struct, frozen=True):
    """All added and removed blocks with weights, in page order, added first; and the replacements."""

    blocks: tuple[WeighedBlock, ...]
    replaced: tuple[Replacement, ...]


def weighed(before: SettledState, now: SettledState, apart: StateDifference, known: KnownBlocks) -> WeighedDifference:
    came, went = apart.came, apart.went
    lost, found = f" {' '.join(went.canonicals)} ", f" {' '.join(came.canonicals)} "
    hidden = NO_ADDRESS in lost or NO_ADDRESS in found
    came_bags, went_bags = bags(now, came, hidden), bags(before, went, hidden)
    shuffled = set(came_bags) & set(went_bags)
    figured = labels(came) & labels(went)
    pairs = replacements(before, now, apart.spans, went.by_position(), came.by_position())
    # A text that was there before the other one left has not replaced it, as in a shuffled list.
    replaced = tuple(
        each for each in pairs if known.waits.get(each.key, 0) <= known.absent.get(before.keys[each.old], 0)
    )
    arrivals = _Scales(now, came, came_bags, _OtherState(lost, shuffled, figured, apart.moved[0]), known)
    departures = _Scales(before, went, went_bags, _OtherState(found, shuffled, figured, apart.moved[1]), known)
    told, left = frozenset(before.keys), frozenset(now.keys) | known.aside
    arrived = arrivals.came(told, {pair.new for pair in replaced if pair.what != "words"})
    departed = departures.went(left, {pair.old for pair in replaced if pair.what != "words"})
    if not known.chosen:
        _without_furniture(arrived, departed, apart, known, before)
    controls = sum(block.rule == CONTROLS for block in (*arrived.values(), *departed.values()))
    is_menu = controls > _MOST_CONTROLS
    many = sum(pair.what == "words" and not known.waits.get(pair.key) for pair in replaced) > 1
    for each in replaced if not known.chosen else ():
        if each.new in apart.moved[0] and each.old in apart.moved[1]:
            continue
        if is_menu and arrivals.is_text and arrived[each.new].rule == CONTROLS:
            continue
        pair = arrived[each.new], departed[each.old]
        arrived[each.new], departed[each.old] = _in_place(each, pair, (arrivals, departures), known, alone=not many)
    sides = arrived, departed
    for side, positions in _exchanged(replaced, (arrivals, departures), sides, apart, alone=not many):
        for i in positions:
            side[i] = replace(side[i], doubted=True)
    for i in departed if known.restless and not known.chosen else ():
        if slot_of(before, i) in known.restless:
            departed[i] = replace(departed[i], score=0.0, rule=RESTLESS)
    blocks = (*arrived.values(), *departed.values())
    return WeighedDifference(_unshifted(blocks, replaced, before), replaced)


def _without_furniture(
    arrived: Rows, departed: Rows, apart: StateDifference, known: KnownBlocks, before: SettledState
) -> None:
    """Set the weight to 0 for blocks in a group of furniture, and for those a redesign brings."""
    went = (_widened(range(gap[0], gap[1]), before.keys, known.aside) for gap in apart.spans)
    for i in _amid(arrived, (range(gap[2], gap[3]) for gap in apart.spans), known.recent):
        arrived[i] = replace(arrived[i], score=0.0, rule=AMID, waits=False)
    for i in _amid(departed, went, known.aside, before.keys):
        departed[i] = replace(departed[i], score=0.0, rule=AMID, waits=False)
    for i in _redressed(arrived, departed, known):
        arrived[i] = replace(arrived[i], score=0.0, rule=arrived[i].rule or AMID)


def _widened(span: range, keys: Sequence[str], aside: Collection[str]) -> range:
    """Extend a gap by adjacent blocks that became furniture and are still there."""
    start = next((i for i in range(span.start, 0, -1) if keys[i - 1] not in aside), 0)
    return range(start, next((i for i in range(span.stop, len(keys)) if keys[i] not in aside), len(keys)))


def _amid(rows: Rows, ranges: Iterable[range], aside: Collection[str], keys: Sequence[str] = ()) -> Iterator[int]:
    """Yield positions in a group that is mostly furniture on the other side. keys: of all blocks, if others count."""
    for span in ranges:
        found = [i for i in span if i in rows]
        company = [rows[i].key for i in found] + [keys[i] for i in span if keys and i not in rows and keys[i] in aside]
        if len(company) >= _MANY and sum(key in aside for key in company) >= _MOST_ASIDE * len(company):
            yield from found


def _redressed(arrived: Rows, departed: Rows, known: KnownBlocks) -> Iterator[int]:
    """Yield short blocks of a redesign: nothing is missing, half of the new blocks were known. Some may stay."""
    seen = sum(block.key in known.recent for block in arrived.values())
    if seen < _SOME or 2 * seen < len(arrived) or sum(block.score for block in departed.values()) >= _LITTLE:
        return
    for i, block in arrived.items():
        if words_in(block.text) < LONG and known.waits.get(block.key, 0) < LASTS:
            yield i


def _in_place(
    one: Replacement, pair: tuple[WeighedBlock, WeighedBlock], scales: _Pair, known: KnownBlocks, *, alone: bool
) -> tuple[WeighedBlock, WeighedBlock]:
    new, old = pair[0], pair[1] if scales[1].is_text else replace(pair[1], score=_GONE * pair[1].score)
    stood = known.waits.get(new.key, 0)
    is_next = not stood and new.score and one.slot in known.nearly and bytes.fromhex(one.key) not in known.gone
    if stood < LASTS and (is_next or one.slot in known.restless):
        rule = "a figure that changes by itself" if one.what == "figures" else RESTLESS
        return replace(new, score=0.0, rule=rule), replace(old, score=0.0, rule=rule)
    if is_same_stamp(one.before, one.after):
        return replace(new, score=0.0, rule=FIGURES), replace(old, score=0.0, rule=FIGURES)
    if scales[0].keeps_pace(one, old.text):
        return replace(new, score=0.0, rule=PACE, waits=True), replace(old, score=0.0, rule=PACE)
    if new.rule == old.rule == NULL:
        return new, old
    if new.rule == old.rule == CONTROLS:
        if not scales[0].is_below_heading(one.new) or (one.what == "figures" and not _AMOUNT.search(one.after)):
            return new, old
        if not stood:
            return replace(new, waits=True), old
        return replace(new, score=FIGURE, rule="", waits=False), replace(old, score=_GONE * FIGURE, rule="")
    if one.what == "ids" and not stood:
        return replace(new, score=0.0, rule=ID, waits=True), replace(old, score=0.0, rule=ID)
    is_value = scales[0].is_value(one.new, one.after) and scales[1].is_value(one.old, one.before)
    if known.age <= _YOUNG and not stood and scales[0].may_tick(one, old.text):
        new, old = replace(new, doubted=True), replace(old, doubted=True)
    if one.what == "figures" and scales[0].may_count(one, old.text):
        light = new.rule in {*_LIGHT, FIGURES} and old.rule in {*_LIGHT, FIGURES}
        if light and not stood and words_in(one.after) >= MIDDLE:
            return replace(new, doubted=True), replace(old, doubted=True)
        if light and not stood:
            return replace(new, score=0.0, rule=MAY_COUNT, waits=True), replace(old, score=0.0, rule=MAY_COUNT)
        if light and is_value:
            return replace(new, score=max(FIGURE, new.score), rule=""), replace(old, score=_GONE * FIGURE, rule="")
        return new, old
    rules = _LIGHT | {FIGURES} if one.what == "ids" else _LIGHT
    if new.rule in rules and old.rule in rules and new.score <= FIGURE and is_value:
        new, old = replace(new, score=FIGURE, rule=""), replace(old, score=_GONE * FIGURE, rule="")
    # Sites rewrite their text, but choose the texts around it for each visitor.
    is_drawn = one.what == "words" and not scales[0].is_text and _unlike(one, alone=alone)
    if is_drawn and stood < SURE and new.score:
        new, old = replace(new, doubted=True), replace(old, doubted=True)
    return new, old


def _exchanged(
    replaced: Sequence[Replacement], scales: _Pair, sides: tuple[Rows, Rows], apart: StateDifference, *, alone: bool
) -> list[tuple[Rows, set[int]]]:
    """Return all exchanged positions on both sides if some are new, since none is sure then. Some teasers of a box stay
    and some move, so entries that came while others went count too, as does each swap in a shuffled list.
    """
    if scales[0].is_text or scales[0].is_chosen:
        return []
    known = scales[0].known
    words = [pair for pair in replaced if pair.what == "words"]
    shuffled = sum(b - a for a, b, _, _ in apart.spans) - len(apart.went.positions) >= _FEW
    paired = [pair for pair in words if (shuffled and pair.new in scales[0].listed) or _unlike(pair, alone=alone)]
    found = {pair.new for pair in paired}, {pair.old for pair in paired}
    placed = {pair.new for pair in replaced}, {pair.old for pair in replaced}
    single = tuple(scale.entries(rows, at) for scale, rows, at in zip(scales, sides, placed, strict=True))
    doubted = any(block.doubted for block in sides[0].values())
    ages = [known.waits.get(sides[0][i].key, 0) for i in (found[0] if shuffled else ())]
    if all(single):
        found = found[0] | single[0], found[1] | single[1]
        ages += [known.waits.get(sides[0][i].key, 0) for i in single[0]]
        if max(ages) < _STAYS:
            # A list that leaves out other entries each time has shown the same new ones for a while.
            ages += [known.absent.get(sides[1][i].key, 0) for i in single[1]]
            doubted = doubted or any(block.moved for side in sides for block in side.values())
    return list(zip(sides, found, strict=True)) if doubted or min(ages, default=SURE) < SURE else []


def _unlike(pair: Replacement, *, alone: bool) -> bool:
    """Whether a text replaced one with hardly a word in common, as rotating texts do; a single label is a value."""
    old, new = set(pair.before.split()), set(pair.after.split())
    is_label = words_in(pair.before) < MIDDLE or words_in(pair.after) < MIDDLE
    if is_label and (alone or (NUMBER.search(pair.before) and NUMBER.search(pair.after))):
        return False
    return len(old & new) < _ALIKE * len(old | new)


def as_reported(
    difference: WeighedDifference, before: SettledState, now: SettledState, apart: StateDifference, bar: float
) -> tuple[WeighedDifference, dict[int, int]]:
    """Return the difference that an event shows, and the replacements that wait: positions before, by position now.
    Figures in doubt wait, like ids and buttons: shown, a counter would be in each event; forgotten, a limit in none.
    Counters in cells weigh nothing beside a sure change; alone they count, since a table may be about visitors.
    """
    rows, waiting, counters = list(difference.blocks), dict[int, int](), list[int]()
    came, went = ({i: n for n, i in enumerate(side.positions)} for side in (apart.came, apart.went))
    for pair in difference.replaced:
        if pair.new in apart.moved[0] or pair.old in apart.moved[1]:
            continue
        new, old = came[pair.new], len(came) + went[pair.old]
        if pair.what == "figures" and rows[new].doubted:
            rows[new] = replace(rows[new], score=0.0, rule=MAY_COUNT, waits=True)
            rows[old] = replace(rows[old], score=0.0, rule=MAY_COUNT)
        if rows[new].waits and rows[new].rule in _PENDING and words_in(pair.after) < LONG:
            waiting[pair.new] = pair.old
        elif pair.what == "figures" and now.traits[pair.new] & CELL and _counts(before.texts[pair.old], now, pair.new):
            counters += (new, old)
    sure = sum(block.score for n, block in enumerate(rows) if n not in counters)
    for n in counters if sure >= bar else ():
        rows[n] = replace(rows[n], score=0.0, rule=COUNTER)
    return replace(difference, blocks=tuple(rows)), waiting


def _counts(was: str, now: SettledState, i: int) -> bool:
    """Whether the words of a cell, or its labels, say that its figure is a counter, which a plan's limit is not."""
    text, labels = now.texts[i], (now.places[i] if i < len(now.places) else None) or ("",)
    return not is_round(text) and any(differ_by_count(f"{label} {was}", f"{label} {text}") for label in labels)


def _unshifted(
    blocks: tuple[WeighedBlock, ...], replaced: Sequence[Replacement], before: SettledState
) -> tuple[WeighedBlock, ...]:
    """Set the weight to 0 if all dates of a page's labels moved by one same day: a time zone changed."""
    steps = {pair: days_moved(pair.before, pair.after) for pair in replaced if pair.what == "dates"}
    moved = [pair for pair in steps if words_in(pair.after) <= LONG]
    if len(moved) < _FEW or len({steps[pair] for pair in moved}) > 1 or not steps[moved[0]]:
        return blocks
    # An ASCII text without figures has no date.
    labels = (text for text in before.texts if len(text) <= LONGEST_LABEL)
    dated = (text for text in labels if not text.isascii() or NUMBER.search(text))
    # Stop once there are enough to decide.
    found = islice((text for text in dated if dates_in(canonical(text))), int(len(moved) / _MOST_MOVED) + 1)
    if len(moved) < _MOST_MOVED * sum(1 for _ in found):
        return blocks
    keys = {pair.key for pair in moved} | {before.keys[pair.old] for pair in moved}
    rule = "all dates moved by a day"
    return tuple(replace(block, score=0.0, rule=rule) if block.key in keys else block for block in blocks)


_Pair: TypeAlias = "tuple[_Scales, _Scales]"


class _OtherState(Struct, frozen=True):
    """The other side of a difference. words: in order. bags: words of blocks on both sides, sorted. labels: on both
    sides, with 0 for figures. moved: positions of texts with a new owner."""

    words: str
    bags: set[str]
    labels: set[str]
    moved: frozenset[int]


class _Scales:
    """One side of a difference, with the methods that weigh its blocks."""

    def __init__(
        self, state: SettledState, side: StateSide, bags: Sequence[str], across: _OtherState, known: KnownBlocks
    ) -> None:
        self._state, self._rows = state, list(zip(side.positions, side.canonicals, bags, strict=True))
        self._across, self.known = across, known
        self._zone: Zone = replace(state.zone, today=known.today)
        self.is_chosen, self.is_text = known.chosen, self._zone.text
        self.listed = frozenset() if self.is_text else state.entries
        self._controls = sum(state.traits[i] & CONTROL > 0 for i in side.positions)
        self._top = next((i for i, trait in enumerate(state.traits) if trait & TOP), None)

    def is_below_heading(self, i: int) -> bool:
        """Whether a control is part of the content: below the page's heading, and on a text page inside the text."""
        return (self._top is None or i > self._top) and (not self.is_text or self._zone.holds(i))

    def is_value(self, i: int, canonical_text: str) -> bool:
        return is_value(canonical_text, self._state.traits[i], i, self._zone)

    def entries(self, rows: Rows, placed: Collection[int]) -> set[int]:
        return {i for i, block in rows.items() if block.score and i in self.listed and i not in placed}

    def may_count(self, pair: Replacement, before: str) -> bool:
        """Whether the text that replaced `before` may be a counter: not in a cell, and no sentence."""
        text, trait = self._state.texts[pair.new], self._state.traits[pair.new]
        if trait & CELL or self.is_chosen or not may_count((before, pair.before), (text, pair.after)):
            return False
        if ticker_shape(text, pair.after, trait):
            return True
        return words_in(pair.after) < LONG and not is_fact(text, pair.after, trait, pair.new, self._zone)

    def keeps_pace(self, pair: Replacement, before: str) -> bool:
        """Whether the times or dates of a text moved as far as the clock did since the last report."""
        if pair.what == "dates":
            return self._is_alone(pair.new) and keep_pace(pair.before, pair.after, self.known.today, self.known.passed)
        return pair.what == "figures" and is_clock(before, self._state.texts[pair.new], self.known.passed)

    def may_tick(self, pair: Replacement, before: str) -> bool:
        """Whether a server may write a text for each request: a date a day later, or several changed figures."""
        text = self._state.texts[pair.new]
        if pair.what == "dates":
            return self._is_alone(pair.new) and not has_time(text) and days_moved(pair.before, pair.after) > 0
        if pair.what == "words" or not may_count((before, pair.before), (text, pair.after), dated=True):
            return False
        figures = zip(NUMBER.findall(pair.before), NUMBER.findall(pair.after), strict=False)
        return _MASKED in pair.after or sum(old != new for old, new in figures) > 1

    def _is_alone(self, i: int) -> bool:
        """Whether a date is neither in a table nor in a list where others have one: there it belongs to its row."""
        is_placed = self._state.traits[i] & CELL > 0
        return not is_placed and (i not in self.listed or all(n == i for n in self._dated))

    @cached_property
    def _dated(self) -> Sequence[int]:
        """The positions of two entries with a date, enough to find another one."""
        figured = ((n, self._state.texts[n]) for n in self.listed if NUMBER.search(self._state.texts[n]))
        return list(islice((n for n, text in figured if dates_in(canonical(text))), 2))

    def came(self, told: frozenset[str], figures: Collection[int]) -> dict[int, WeighedBlock]:
        """Weigh the added blocks by position. told: keys of the reported ones. figures: where only figures differ."""
        state, recent, rows = self._state, self.known.recent, Rows()
        for i, text, bag in self._rows:
            key, trait = state.keys[i], state.traits[i]
            stood = self.known.waits.get(key, 0)
            if i in self._across.moved:
                rows[i] = self._moved(i, stood, came=True)
                continue
            # Another copy of a text is not reported, except in a table: "0" may be in a hundred cells.
            if self.is_chosen:
                rule = self._idle(i, text, bag, stood)
            elif key in told and not trait & CELL and i not in self.listed:
                rule = COPY
            elif key in recent and stood < LASTS and (key not in told or not trait & CELL):
                rule = SEEN
            else:
                rule = self._idle(i, text, bag, stood)
            score, why = (0.0, rule) if rule else self._weight(i, text, entry=i not in figures)
            if why == CONTROLS:
                waits = self._may_stay(i, text)
                score, why = (ENTRY, "") if waits and stood >= LASTS else (0.0, why)
                rows[i] = WeighedBlock(state.texts[i], key, True, score, why, waits and stood < LASTS)
                continue
            # Lasting blocks are reported, except on text pages: there every release would report the footer's version.
            waits = not self.is_text and (rule == SEEN or why == LABEL) and _MASKED not in text
            if waits and stood >= LASTS and rule != SEEN:
                score, why = ENTRY, ""
            rows[i] = WeighedBlock(state.texts[i], key, True, score, why, waits and stood < LASTS)
        return rows

    def went(self, left: frozenset[str], figures: Collection[int]) -> dict[int, WeighedBlock]:
        state, rows = self._state, Rows()
        for i, text, bag in self._rows:
            key, trait = state.keys[i], state.traits[i]
            absent, stays = self.known.absent.get(key, 0), key in left
            if i in self._across.moved:
                rows[i] = self._moved(i, absent, came=False)
                continue
            beside = i not in self.listed or key in self.known.aside
            copied = stays and not trait & CELL and beside and not self.is_chosen
            rule = COPIES if copied else self._idle(i, text, bag, absent)
            score, why = (0.0, rule) if rule else self._weight(i, text, entry=i not in figures)
            if key in self.known.recent and not stays and not rule and not self.is_chosen:
                score, why = _FLICKER * score, "it has come and gone before"
            if self.is_text:
                score *= _GONE
            waits = (why == LABEL and not self.is_text) or (why == CONTROLS and self._may_stay(i, text))
            if waits and absent >= LASTS:
                score, why = ENTRY, ""
            rows[i] = WeighedBlock(state.texts[i], key, False, score, why, waits and absent < LASTS)
        return rows

    def _may_stay(self, i: int, canonical_text: str) -> bool:
        """Whether a control may be reported by itself: below the heading of a shop or form, not on a text page."""
        below = not self.is_text and self._top is not None and i > self._top
        return below and words_in(canonical_text) < MIDDLE and self._controls <= _MOST_CONTROLS

    def _moved(self, i: int, stood: int, *, came: bool) -> WeighedBlock:
        """Weigh a text with a new owner; texts that a page shuffles on each check do not stay there."""
        text, key = self._state.texts[i], self._state.keys[i]
        if self.is_text and self._state.traits[i] & CONTROL and not self.is_chosen:
            return WeighedBlock(text, key, came, 0.0, CONTROLS)
        if stood or self.is_chosen:
            return WeighedBlock(text, key, came, ENTRY if came else _GONE * ENTRY, "")
        return WeighedBlock(text, key, came, 0.0, MOVED, waits=True, moved=True)

    def _weight(self, i: int, canonical_text: str, *, entry: bool) -> tuple[float, str]:
        state = self._state
        if state.traits[i] & CONTROL and not self.is_chosen:
            return 0.0, CONTROLS
        score, why = weigh(state.texts[i], canonical_text, state.traits[i], i, self._zone)
        if self.is_chosen and canonical_text:
            return max(score, ENTRY), ""
        if entry and i in self.listed and 0.05 < score < ENTRY:
            return ENTRY, ""
        labels = self._across.labels
        if score >= FIGURE or not labels or shape(canonical_text) not in labels:
            return score, why
        return (FIGURE, "") if is_fact(state.texts[i], canonical_text, state.traits[i], i, self._zone) else (score, why)

    def _idle(self, i: int, canonical_text: str, bag: str, since: int) -> str:
        """Return the reason why a block is not reported, "" if it may be. since: checks since it came or went."""
        state, known = self._state, self.known
        if known.noise and not known.noise.isdisjoint((state.keys[i], _shape(state.texts[i], canonical_text))):
            return "marked as noise"
        if state.json and state.texts[i].endswith(": null"):
            return NULL
        if known.chosen:
            return ""
        if len(canonical_text) > _MOVED_LENGTH and f" {canonical_text} " in self._across.words:
            return "moved: its words stand together elsewhere"
        if bag in self._across.bags:
            return "moved: the same words in another order"
        if state.keys[i] in known.shared:
            return "shared by other pages of this site"
        if not self.is_text and self._asks_for_consent(state.texts[i]):
            return "a banner that asks for consent"
        shaped = "" if since else ticker_shape(state.texts[i], canonical_text, state.traits[i])
        return "a line of figures that changes at every check" if shaped and digest16(shaped) in known.recent else ""

    def _asks_for_consent(self, text: str) -> bool:
        """Whether a block belongs to a consent banner, by its words or as one of at most two that name cookies."""
        if asks_for_consent(text):
            return True
        return COOKIES.search(text) is not None and sum(1 for _ in filter(COOKIES.search, self._state.texts)) <= _FEW
