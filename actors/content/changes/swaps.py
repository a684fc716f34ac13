"""Another page in this one's place, and pages that go back to an earlier state.

Such a page usually vanishes after a while, and would cause two reports. Two signs identify it: nearly all reported
blocks are missing, and either little is there or the title, address, canonical link or language is another page's. It
is *held*. If the reported page returns, nothing is reported; if the other one stays, one report follows:

- under the same title and address the page itself was rewritten: a second check decides;
- another page must stay for four checks and half an hour; a page that declares a redirect, for twelve checks;
- a page that declares itself an error or a wall is never content: from the twelfth check on the source fails with that
  reason. A login fails too, but is also reported once: the page has moved behind it, as no error passes so late.

A-B-A with B unreported is silent and never comes here. With B reported, A is a change again: a status, a price or a
stock goes back and forth, and readers wait for each turn. Servers that pick one of several texts per visitor go back
as well, but their stays are brief. A *text* rotates if it returns after another's stay of one or two checks; a *value*
of a few words rotates after three such returns within a day. A rotating block is silent until it lasts, and must last
longer after each turn. A text's turns count until a day passes without a return.

Boxes that come and go as a whole, and rows that each have a date.

A *box* is a few blocks added where nothing was removed, or removed where nothing was added, without headings, entries
or cells. Sites show the same boxes on every page: a sale, works on Sunday, "chat with us". Their words do not matter.

- Above the page's own heading a box belongs to the site, not the page: it is reported once it lasts.
- Elsewhere, on pages without running text, a box may be shown to one visitor in two: a second and a third check decide.
- On any page, two things are boxes: a heading with only links or buttons (a call to action), and a paragraph with
  several buttons (a dialog). Links right above the copyright line are boxes too, each by itself.
- A text near others of its kind that came and went unreported is one more of them, until it lasts.
- Texts that replace each other together stay in doubt until all of them have lasted.

A lone past date only says when a page was edited, and is not reported. If several entries have one each, the date
belongs to its entry: if one date changes and its entry stays, that entry has changed.

Answers to "why didn't I get this?": the place of a text in a page, and the reasons why a check did not report it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from actors.content.bodies.text import normalise
from actors.content.changes.difference import BRIEF, Replacement, StateDifference
from actors.content.changes.memory import (
    FIGURE,
    LETTERS,
    LONG,
    LONGEST_LABEL,
    MIDDLE,
    NUMBER,
    HeldPage,
    PageIdentity,
    PageMemory,
    SettledState,
    decode_memory,
    packed,
    settled_of,
    states_in,
    unpack_keys,
)
from actors.content.changes.news import COPIES, COPY, SURE, KnownBlocks, WeighedBlock, WeighedDifference
from actors.content.errors import ContentError
from actors.content.messages import LONGEST_TEXT, Findings, FindRequest, Spot, Withheld
from actors.content.pages.page import PageReading, blocks_in, open_page, reading_of, tongue_of
from actors.content.pages.traits import ASIDE, CELL, CONTROL, FURNITURE, HEADING, ITEM, LINK, TOP, words_of
from actors.content.pages.walls import LITTLE, kind_of, kind_of_head, path_of, titles_differ, titles_of
from actors.content.wording import json_text
from actors.content.wording.canonical import canonical, key
from actors.content.wording.dates import is_only_date
from actors.content.wording.json_text import form
from actors.content.wording.words import folded, holds, words_in

_REPLACED = 0.4  # a Jaccard index of blocks below this may mean another page
_HARDLY = 0.2  # below this, hardly any block is left
_LITTLE, _SAME_OTHER = 0.35, 0.5
_LOOKS, _FOR = 4, 30 * 60_000
_APART = 5 * 60_000  # checks this soon after another count as one: they were made to settle a doubt
_LOOKS_WITH_WORDS, _LOOKS_SAME_FACE, _HEADS = 12, 2, 4
_FIRST_SHORT, _SHORT_WORDS = 5, 16
MOST_LOOKS = 16  # checks without the reported page after which any other page in its place is reported
SOON = 3  # checks of a held page that follow within minutes; after these the source's schedule is enough
_MOST_TITLE = 200
_SEVERAL, _FEW = 3, 4
_REDIRECT, LOGIN = "redirect", "login"


class SwapReaction(Enum):
    """Reaction to another page: wait, report it, or fail the source."""

    WAITS = 1
    TELL = 2
    FAILS = 3


class PageSwap(Struct, frozen=True, dict=True):
    """Two states of a page with their identities: the reported one, and the current one from `reading`. gone: keys of
    blocks removed in earlier reports; a page that was reported once may return at any time.
    """

    before: SettledState
    now: SettledState
    told: PageIdentity
    face: PageIdentity
    reading: PageReading
    gone: frozenset[str] = frozenset()

    @cached_property
    def stand_in(self) -> str:
        """The kind of stand-in the page declares itself, "" for most: a search for words of 38 languages."""
        return stand_in(self.reading)

    def is_one(self) -> bool:
        if self.gone and sum(key in self.gone for key in self.now.keys) >= _SAME_OTHER * len(self.now.keys) > 0:
            return False
        told, now = set(self.before.keys), set(self.now.keys)
        went, came = _words_of(self.before, now), _words_of(self.now, told)
        # Each block has a word, so few of many need no count.
        is_most = 2 * went >= len(self.before.texts) and 2 * went >= sum(self.before.words)
        if is_most and came < _LITTLE * went:
            return True
        if len(told - now) >= _SEVERAL and self._headed(self.before) not in {"", *now} and self._signs():
            return True
        if went >= 2 * came and self._announces_error(told):
            return True
        if 2 * len(told & now) >= len(told) or alike(self.before.keys, self.now.keys, _REPLACED):
            return False
        members = _members_of(self.before.texts)
        if members and members == _members_of(self.now.texts):
            return False  # JSON with the same members: all of a small record may change at once
        return not alike(self.before.keys, self.now.keys, _HARDLY) or self._signs() > 1

    def stays(self, held: HeldPage, at: int) -> SwapReaction:
        """Decide about the page in this one's place, by how long it has stayed. at: in milliseconds, or 0."""
        if self.stand_in == LOGIN and held.away >= _LOOKS_WITH_WORDS:
            return SwapReaction.TELL
        if self.stand_in and self.stand_in != _REDIRECT:
            return SwapReaction.FAILS if held.away >= _LOOKS_WITH_WORDS else SwapReaction.WAITS
        if held.away >= MOST_LOOKS:
            return SwapReaction.TELL
        if not alike(unpack_keys(held.keys), self.now.keys):
            return SwapReaction.WAITS
        held = once_more(held, self.now, at)
        # Without its main heading and half of its blocks it is an excuse, whatever its words.
        headless = self._headed(self.before) not in {"", *self.now.keys}
        excuses = headless and 2 * len(self.now.keys) <= len(self.before.keys)
        if self.stand_in:
            stands = held.spaced >= _LOOKS_WITH_WORDS
        elif sum(self.now.words) < _LITTLE * sum(self.before.words) or self._signs() or excuses:
            stands = held.spaced >= _LOOKS and (not at or at - held.since >= _FOR)
        else:
            stands = held.looks >= _LOOKS_SAME_FACE
        return SwapReaction.TELL if stands else SwapReaction.WAITS

    def _announces_error(self, told: set[str]) -> bool:
        """Whether a few blocks replaced many, and announce an error or are still loading."""
        came = [text for text, key in zip(self.now.texts, self.now.keys, strict=False) if key not in told]
        return 0 < len(came) <= _FEW and any(map(kind_of, came)) and len(set(self.now.keys)) + _FEW <= len(told)

    def moved(self) -> bool:
        return bool(self.told.address) and self.told.address != self.face.address

    @staticmethod
    def _headed(state: SettledState) -> str:
        rows = [(key, trait) for key, trait in zip(state.keys, state.traits, strict=False) if trait & HEADING]
        return next((key for key, trait in rows if trait & TOP), rows[0][0] if rows else "")

    def _signs(self) -> int:
        """Count the signs, other than blocks, of another page."""
        told, face = self.told, self.face
        declared = told.language.partition("-")[0], face.language.partition("-")[0]
        spoken = declared if all(declared) else (tongue_of(self.before.texts), tongue_of(self.now.texts))
        return sum(
            (
                bool(told.title) != bool(face.title) or titles_differ(told.title, face.title),
                self.moved(),
                bool(face.canonical) and told.canonical != face.canonical,
                spoken[0] != spoken[1],
                bool(self.stand_in),
            )
        )


def _members_of(texts: Sequence[str]) -> frozenset[str]:
    if len(texts) == 1 and texts[0][:1] == "{":
        value = json_text.loaded(texts[0])
        return frozenset(value if isinstance(value, dict) else ())
    names = (json_text.named(text)[0] for text in texts if text[:1] == '"')
    return frozenset(filter(None, names))


def face_of(reading: PageReading, address: str) -> PageIdentity:
    evidence = reading.evidence
    title = (evidence.title or reading.title)[:_MOST_TITLE]
    return PageIdentity(title, path_of(address) if address else "", evidence.canonical, evidence.language)


def stand_in(reading: PageReading) -> str:
    """Return the kind of stand-in a page is: an error, a login, a redirect, or an empty shell; "" for most.

    Parts of the title and of the h1 must name nothing else. On a page of little text, the first headings and short
    blocks count too, and may contain more. It is one sign among others, never sufficient.
    """
    if reading.evidence.leads_away:
        return _REDIRECT
    shell, titles = "loading" if reading.evidence.shell else "", (reading.evidence.title, reading.title)
    rows = list(zip(reading.blocks, reading.traits or (0,) * len(reading.blocks), strict=True))
    top = next((text for text, trait in rows if trait & TOP), "")
    if kind := next((kind for head in (*titles, top) if (kind := kind_of_head(head))), ""):
        return kind
    if sum(words_in(text) for text, trait in rows if not trait & FURNITURE) >= LITTLE:
        return shell
    content = [row for row in rows if not row[1] & ASIDE]
    heads = [*titles, *(text for text, trait in content if trait & HEADING)][:_HEADS]
    short = [text for text, _ in content if words_in(text) <= _SHORT_WORDS][:_FIRST_SHORT]
    return next((kind for text in (*heads, *short) if (kind := kind_of(text))), shell)


def once_more(held: HeldPage, now: SettledState, at: int) -> HeldPage:
    spaced = not at or at - held.last >= _APART
    away, last = held.away + spaced, at if spaced else held.last
    if held.keys and alike(unpack_keys(held.keys), now.keys):
        return HeldPage(packed(now.keys), held.looks + 1, held.since, held.spaced + spaced, away, last)
    return HeldPage(packed(now.keys), 1, at, 1, away, last)


def alike(left: Sequence[str], right: Sequence[str], least: float = _SAME_OTHER) -> bool:
    first, second = set(left), set(right)
    return len(first & second) >= least * max(1, len(first | second))


def _words_of(state: SettledState, others: set[str]) -> int:
    return sum(words_in(text) for text, key in zip(state.texts, state.keys, strict=False) if key not in others)


_TURNS = 3
_LASTS = 4  # checks after which a rotating block lasts: for the first turn, doubled for each further one
_MOST_TURNS, _DAY, _COUNTS = 8, 24 * 3_600_000, 0.2
_TAKEN = 0.2  # the highest share of added weight in a difference that takes something back; a rotation adds more


class CheckMoment(Struct, frozen=True):
    """The number of a check, and its time in milliseconds; a time of 0 is unknown, and only numbers count."""

    number: int
    at: int


class ReturnCheck(Struct, frozen=True):
    """A check seen as a return. reverted: it goes back to a reported state. rotates: it is part of a rotation. turns:
    times of returns after a brief stay, for the memory (milliseconds).
    """

    reverted: bool
    rotates: bool
    turns: tuple[int, ...]


def turn_of(
    memory: PageMemory,
    blocks: Sequence[WeighedBlock],
    successors: Mapping[str, str],
    stood: Mapping[str, int],
    *,
    state: bytes,
    when: CheckMoment,
) -> ReturnCheck:
    """Classify a check. state: its digest. successors: the replacing key, by the removed one. stood: for each added or
    removed block, the number of earlier checks that had it, or missed it.
    """
    gone = frozenset(unpack_keys(memory.gone))
    counted = [block for block in blocks if block.score >= _COUNTS]
    came = [block for block in counted if block.came]
    if not came:
        # What replaced the removed blocks weighs nothing, since it was seen before and is back. They may have been
        # reported with other changes, in a state that is new.
        back = {successors.get(block.key) for block in counted}
        came = [] if None in back else [block for block in blocks if block.came and block.key in back]
    was_told = state in states_in(memory.states)[:-1]
    if not counted or not (was_told or (came and all(block.key in gone for block in came))):
        quick = any(block.came and block.key in gone and not stood.get(block.key) for block in blocks)
        # A return that weighs nothing, since the text was there just now, shows that it continues.
        return ReturnCheck(False, False, (*memory.turns[:-1], when.at) if memory.turns and quick else memory.turns)
    taken = sum(block.score for block in came) < _TAKEN * sum(block.score for block in counted)
    once = not came or (taken and not memory.turns)
    prose = any(words_in(block.text) >= MIDDLE for block in came or counted)
    most = (1 if once else 0) if prose else _TURNS
    since = when.at - _DAY if when.at else -1
    goes_on = prose and bool(memory.turns) and memory.turns[-1] > since
    turns = memory.turns if goes_on else tuple(then for then in memory.turns if then > since)
    waited = [stood.get(block.key, 0) for block in came or counted]
    # Once it rotates, each return is one more turn, however long the stay was.
    if not any(waited) and (when.number - memory.told <= BRIEF or len(turns) > most):
        turns = (*turns, when.at)[-_MOST_TURNS:]
    lasts = _LASTS << max(0, len(turns) - most - 1)
    return ReturnCheck(True, len(turns) > most and min(waited) < lasts, turns)


LASTS = 8  # checks after the first that must find a box above the heading again before it is reported
EARLY = 6  # checks after the first during which a doubt takes one check longer
_MOST_BLOCKS, _MOST_WORDS = 4, 60
_PARAGRAPH = 16
"""A box in the content with this many words is a paragraph: sites do not write so much for some visitors only."""
_ABOVE = "above the page's heading, where sites put their banners: reported if it lasts"
_NEAR = 2  # blocks on either side that belong to the same box
_MOST_OFFERED = 7
_BOX_TURNS = 4  # checks after the first that must find a text near rotating ones again before it is reported
_AMONG = "next to texts that come and go"
_ROWS = 3  # lone dates that make a list of dated rows
_MOST = 0.5  # the share of dates that may change at once; if all do, they show the page's current day
_GONE = 0.6  # weight of a removed date relative to the added one
_RULES = frozenset({"", "only a date", "a date by itself", COPY, COPIES})


class BoxContext(Struct, frozen=True):
    """Two states of a page, their difference, the page's title, and keys that came and went unreported. early: one of a
    source's first checks, when the page's rotating parts are still unknown.
    """

    before: SettledState
    now: SettledState
    apart: StateDifference
    title: str
    untold: frozenset[str]
    early: bool = False


def _offered(state: SettledState, found: Sequence[int], *, alone: bool) -> Iterator[int]:
    """Yield headings of links or buttons, and paragraphs with buttons. alone: the other side has no blocks here."""
    for n, i in enumerate(found):
        first, run = state.traits[i], [i]
        for k in found[n + 1 :]:
            if k != run[-1] + 1 or len(run) > _MOST_OFFERED or not state.traits[k] & (LINK | CONTROL):
                break
            run.append(k)
        is_call = alone and first & HEADING and not first & LINK and 1 < len(run) == len(found) <= _MOST_OFFERED
        buttons = sum(state.traits[k] & CONTROL > 0 for k in run[1:])
        if is_call or (buttons > 1 and not first & (CELL | ITEM | LINK) and state.words[i] >= LONG):
            yield from run


def _foot(state: SettledState) -> range:
    end = state.zone.foot
    if end >= len(state.texts):
        return range(0)
    start = end
    while start and state.traits[start - 1] & LINK:
        start -= 1
    return range(start, end)


def _is_box(state: SettledState, found: Sequence[int], *, above: bool) -> bool:
    if len(found) > _MOST_BLOCKS or sum(state.words[i] for i in found) > _MOST_WORDS:
        return False
    if any(state.traits[i] & (HEADING | CELL | ITEM) for i in found):
        return False
    rows = state.entries
    # The lines of a banner may form a row; links in a row are headlines.
    return not any(i in rows and (not above or state.traits[i] & LINK) for i in found)


def _heading(state: SettledState, title: str) -> int:
    """Return the position of the page's heading: its h1, else the text of its title; 0 if unknown."""
    found = next((i for i, trait in enumerate(state.traits[: len(state.texts)]) if trait & TOP), None)
    if found is not None:
        return found
    named = titles_of(title)
    return next((i for i, text in enumerate(state.texts) if text in named), 0)


def weighed_boxes(difference: WeighedDifference, around: BoxContext, known: KnownBlocks) -> WeighedDifference:
    rows = _RevisedBlocks(difference, around, known)
    rows.weigh_dates(difference.replaced)
    rows.hold_boxes()
    rows.doubt_offers()
    if around.early:
        rows.doubt_early(difference.replaced)
    rows.doubt_turning()
    return replace(difference, blocks=tuple(rows.blocks))


class _RevisedBlocks:
    """The blocks of a difference while their weights are revised. Sides: before (False) and now (True)."""

    def __init__(self, difference: WeighedDifference, around: BoxContext, known: KnownBlocks) -> None:
        self.blocks = list(difference.blocks)
        self._around, self._known, self._sides = around, known, (around.before, around.now)
        self._running, self._untold = (around.before.zone.text, around.now.zone.text), around.untold - known.aside
        came, went = around.apart.came.positions, around.apart.went.positions
        self._at = {(True, i): n for n, i in enumerate(came)} | {(False, i): n for n, i in enumerate(went, len(came))}
        self._gaps = [
            ([i for i in range(a, b) if (False, i) in self._at], [i for i in range(c, d) if (True, i) in self._at])
            for a, b, c, d in around.apart.spans
        ]
        """The positions of removed and added blocks in each gap."""

    def _stood(self, block: WeighedBlock) -> int:
        return (self._known.waits if block.came else self._known.absent).get(block.key, 0)

    def _doubt(self, came: bool, i: int) -> None:
        block = self.blocks[self._at[came, i]]
        if block.score and self._stood(block) < SURE:
            self.blocks[self._at[came, i]] = replace(block, doubted=True)

    def weigh_dates(self, replaced: Sequence[Replacement]) -> None:
        now, told = self._around.now, frozenset(self._around.before.keys)
        dates = (pair for pair in replaced if pair.what == "dates" and pair.slot not in self._known.restless)
        found = [pair for pair in dates if is_only_date(pair.before) and is_only_date(pair.after)]
        short = (i for i, text in enumerate(now.texts) if len(text) <= LONGEST_LABEL and NUMBER.search(text))
        dated = [i for i in short if is_only_date(canonical(now.texts[i]))] if found else []
        if len(dated) < _ROWS or len(found) > _MOST * len(dated):
            return
        for pair in found:
            # The entry is before or after its date, and has stayed.
            beside = (i for i in (pair.new - 1, pair.new + 1) if 0 <= i < len(now.keys) and i not in dated)
            if any(now.keys[i] in told for i in beside):
                for place, least in (((True, pair.new), FIGURE), ((False, pair.old), _GONE * FIGURE)):
                    block = self.blocks[self._at[place]]
                    if block.rule in _RULES:
                        self.blocks[self._at[place]] = replace(block, score=max(block.score, least), rule="")

    def hold_boxes(self) -> None:
        """Hold boxes above the heading, and doubt short ones elsewhere, until they last."""
        heads = [_heading(state, self._around.title) for state in self._sides]
        for old, new in self._gaps:
            came, found = bool(new), new or old
            state, head = self._sides[came], heads[came]
            if bool(old) == bool(new):
                continue
            above = found[-1] < head if head else not found[0]
            if not _is_box(state, found, above=above):
                continue
            is_short = sum(state.words[i] for i in found) <= _PARAGRAPH
            for i in found:
                block = self.blocks[self._at[came, i]]
                if above and self._stood(block) < LASTS:
                    self.blocks[self._at[came, i]] = replace(block, score=0.0, rule=_ABOVE, waits=block.came)
                elif not above and not self._running[came] and is_short:
                    self._doubt(came, i)

    def doubt_offers(self) -> None:
        """Doubt offers, and links right above the copyright line: sites show them to some visitors only."""
        feet = [_foot(state) for state in self._sides]
        visits = [(came, i) for came, i in self._at if i in feet[came]]
        for old, new in self._gaps:
            alone = not (old and new)
            visits += ((False, i) for i in _offered(self._around.before, old, alone=alone))
            visits += ((True, i) for i in _offered(self._around.now, new, alone=alone))
        for came, i in visits:
            self._doubt(came, i)

    def doubt_early(self, replaced: Sequence[Replacement]) -> None:
        for pair in replaced if not self._running[1] else ():
            n = self._at[True, pair.new]
            # It has waited, so it was in doubt; an early rotating text may last for some checks.
            if pair.what == "words" and self.blocks[n].score and 0 < self._known.waits.get(pair.key, 0) <= SURE:
                self.blocks[n] = replace(self.blocks[n], doubted=True)

    def doubt_turning(self) -> None:
        """Doubt changes in places that show a few of many texts, until all of them last."""
        for old, new in self._gaps if not any(self._running) else ():
            stood = [self._known.waits.get(self._around.now.keys[i], 0) for i in new]
            turns = self._turns(old, self._around.before) or self._turns(new, self._around.now)
            mixed = len(new) > 1 and min(stood) < SURE and max(stood) > min(stood)
            least = _BOX_TURNS if turns else SURE
            if not (turns or mixed) or (stood and min(stood) >= least):
                continue
            for n in (self._at[came, i] for came, found in ((False, old), (True, new)) for i in found):
                block = self.blocks[n]
                if not turns or block.came:
                    self.blocks[n] = replace(block, doubted=bool(block.score))
                elif stood or self._known.absent.get(block.key, 0) < _BOX_TURNS:
                    self.blocks[n] = replace(block, score=0.0, rule=_AMONG)

    def _turns(self, positions: Sequence[int], state: SettledState) -> bool:
        """Whether one of the blocks, or a near one, is a text of their kind that came and went unreported."""
        if not positions or any(state.traits[i] & CELL for i in positions):
            return False
        traits = {state.traits[i] for i in positions}
        near = range(max(0, positions[0] - _NEAR), min(len(state.texts), positions[-1] + _NEAR + 1))
        return any(
            state.keys[n] in self._untold
            and state.traits[n] in traits
            and LETTERS.search(state.texts[n]) is not None
            and not NUMBER.search(state.texts[n])
            for n in near
        )


MOST = 24
_COUNTED = 0.2  # a lighter block hardly contributes to a reported change
_MASK = re.compile(r"⟨(\w+)⟩")
MADE = "only ids or times differ that change, or may change, at each check"
_SPELLING = "only its spelling or punctuation differs"
_MASKED = {
    "stamp": "when the page was made",
    "copyright": "a copyright year",
    "ago": "how long ago",
    "server": "a server's or a request's id",
    "took": "how long the page took",
    "when": "a date with a time of day",
    "clock": "a time of day",
    "count": "a counter",
    "degrees": "a temperature",
}


def of_blocks(blocks: Iterable[WeighedBlock], *, told: bool, instead: str = "") -> list[Withheld]:
    """Return a difference's unreported blocks, heaviest first; if `told`, the ones that hardly counted."""
    rows = [block for block in blocks if not told or block.score < _COUNTED]
    rows.sort(key=lambda block: (-block.score, -len(block.text)))
    return [
        Withheld(b.text[:LONGEST_TEXT], instead or b.rule or "too small to report", b.key, b.came, round(b.score, 3))
        for b in rows[:MOST]
    ]


def counted(blocks: Iterable[WeighedBlock]) -> tuple[Withheld, ...]:
    rows = sorted((block for block in blocks if block.score >= _COUNTED), key=lambda block: -block.score)
    return tuple(Withheld(b.text[:LONGEST_TEXT], "", b.key, b.came, round(b.score, 3)) for b in rows[:MOST])


def masked(before: SettledState, now: SettledState) -> Iterator[Withheld]:
    """Yield the blocks whose wording changed but not their key: only masked parts differ."""
    worded, known = frozenset(before.texts), frozenset(before.keys[: len(before.texts)])
    for text, known_as, trait in zip(now.texts, now.keys, now.traits, strict=True):
        if text not in worded and known_as in known:
            names = _MASK.findall(canonical(text, cell=bool(trait & CELL)))
            what = " and ".join(dict.fromkeys(_MASKED[name] for name in names if name in _MASKED))
            rule = f"only what changes by itself differs: {what}" if what else _SPELLING
            if now.json and key(form(text), cell=True) != known_as:
                rule = MADE
            yield Withheld(text[:LONGEST_TEXT], rule, known_as, came=True)


def furniture(reading: PageReading, known: Collection[str]) -> Iterator[Withheld]:
    for text, known_as, trait in zip(reading.blocks, reading.keys, reading.traits, strict=True):
        if trait & FURNITURE and known_as not in known:
            yield Withheld(text[:LONGEST_TEXT], _aside(trait), known_as, came=True)


def capped(first: Sequence[Withheld], *others: Iterator[Withheld]) -> tuple[Withheld, ...]:
    rows = list(first[:MOST])
    for rest in others:
        rows += islice(rest, MOST - len(rows))
    return tuple(rows)


def find_text(asked: FindRequest) -> Findings:
    """Find a text; case, accents and white space do not matter."""
    wanted = folded(asked.text)
    memory = decode_memory(asked.memory) if asked.memory else None
    told, cut = None, False
    if memory is not None:
        state = settled_of(memory)
        told, cut = _spot(state.texts, (), wanted), len(state.texts) < len(state.keys)
    if asked.body is None:
        return Findings(told=told, cut=cut)
    try:
        now, elsewhere, trouble = _today(asked, asked.body, wanted)
    except ContentError as error:
        return Findings(told=told, cut=cut, trouble=str(error))
    if memory is not None and now is not None:
        keys = {key(now.text, cell=cell) for cell in (False, True)}
        if not keys.isdisjoint(unpack_keys(memory.keys)):
            now = replace(now, known="same")
        elif not keys.isdisjoint((*unpack_keys(memory.recent), *unpack_keys(memory.pending))):
            now = replace(now, known="seen")
    return Findings(told, now, elsewhere, cut, trouble)


def _spot(texts: Sequence[str], traits: Sequence[int], wanted: str) -> Spot | None:
    found: Spot | None = None
    for place, text in enumerate(texts, 1):
        if not holds(text, wanted):
            continue
        trait = traits[place - 1] if traits else 0
        spot = Spot(place, normalise(text), _aside(trait))
        if not spot.aside:
            return spot
        found = found or spot
    return found


def _aside(trait: int) -> str:
    sign = words_of(trait)
    return "" if not trait & FURNITURE else f"furniture: {sign}" if sign else "furniture"


def _today(asked: FindRequest, body: bytes, wanted: str) -> tuple[Spot | None, Spot | None, str | None]:
    """Return the text's place in the watched part and in the rest, and the page's trouble."""
    narrowed = asked.selector is not None or bool(asked.ignore)
    page = open_page(body, asked.content_type, None, ())
    whole = blocks_in(page)
    elsewhere = _spot(whole.texts, whole.traits, wanted)
    stand_in = reading_of(page, whole, narrowed=False).trouble
    trouble = None if stand_in is None else str(stand_in)
    if not narrowed:
        return elsewhere, None, trouble
    part = open_page(body, asked.content_type, asked.selector, asked.ignore)
    if part.empty:
        return None, elsewhere, "The selector matches nothing now."
    blocks = blocks_in(part)
    return _spot(blocks.texts, blocks.traits, wanted), elsewhere, None
