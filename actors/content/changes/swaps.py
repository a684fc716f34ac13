"""Another page in this one's place, and pages that go back to an earlier state.

Such a page usually vanishes after a while, and would cause two reports. Two signs identify it: nearly all reported
blocks are missing, and either little is there or the title, address, canonical link or language is another page's. It
is *held*. If the reported page returns, nothing is reported; if the other one stays, one report follows:

- under the same title and address the page itself was rewritten: a second check decides;
- another page must stay for four checks and half an hour; a page that declares a redirect, for twelve checks;
- a page that declares itself an error or a wall is never content: from the twelfth check on the source fails with that
  reason. A login fails too, but is also reported once: the page has moved behind it, as no error passes so late.

A-B-A with B unreported is silent and never comes here. With B reported, A is a change again: a status, a price or a
stock goes back and forth, and readers wait for each turn. Servers that pick one of several texts per visitor go back as
well, but their stays are brief. A *text* rotates if it returns after another's stay of one or two checks; a *value* of
a few words rotates after three such returns within a day. A rotating block is silent until it lasts, and must last
longer after each turn. A text's turns count until a day passes without a return.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property

from msgspec import Struct

from actors.content.changes.difference import BRIEF
from actors.content.changes.memory import (
    HeldPage,
    PageIdentity,
    PageMemory,
    SettledState,
    packed,
    states_in,
    unpack_keys,
)
from actors.content.changes.news import WeighedBlock
from actors.content.changes.weights import MIDDLE
from actors.content.pages.event_text import tongue_of
from actors.content.pages.page import PageReading
from actors.content.pages.traits import ASIDE, FURNITURE, HEADING, TOP
from actors.content.pages.walls import LITTLE, kind_of, kind_of_head, path_of, titles_differ
from actors.content.wording import json_text
from actors.content.wording.words import words_in

_REPLACED = 0.4
"""A Jaccard index of blocks below this may mean another page."""
_HARDLY = 0.2
"""Below this, hardly any block is left."""
_LITTLE = 0.35
_SAME_OTHER = 0.5
_LOOKS, _FOR = 4, 30 * 60_000
_APART = 5 * 60_000
"""Checks this soon after another count as one: they were made to settle a doubt."""
_LOOKS_WITH_WORDS = 12
_LOOKS_SAME_FACE = 2
_HEADS = 4
_FIRST_SHORT = 5
_SHORT_WORDS = 16
MOST_LOOKS = 16
"""Checks without the reported page after which any other page in its place is reported."""
SOON = 3
"""Checks of a held page that follow within minutes; after these the source's schedule is enough."""
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
    def says(self) -> str:
        """The kind of stand-in the page declares itself, "" for most: a search for words of 38 languages."""
        return says(self.reading)

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
        if self._is_same_record():
            return False
        return not alike(self.before.keys, self.now.keys, _HARDLY) or self._signs() > 1

    def stays(self, held: HeldPage, at: int) -> SwapReaction:
        """Decide about the page in this one's place, by how long it has stayed. at: in milliseconds, or 0."""
        if self.says == LOGIN and held.away >= _LOOKS_WITH_WORDS:
            return SwapReaction.TELL
        if self.says and self.says != _REDIRECT:
            return SwapReaction.FAILS if held.away >= _LOOKS_WITH_WORDS else SwapReaction.WAITS
        if held.away >= MOST_LOOKS:
            return SwapReaction.TELL
        if not alike(unpack_keys(held.keys), self.now.keys):
            return SwapReaction.WAITS
        held = once_more(held, self.now, at)
        if self.says:
            stands = held.spaced >= _LOOKS_WITH_WORDS
        elif sum(self.now.words) < _LITTLE * sum(self.before.words) or self._signs() or self._lost_its_head():
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

    def _is_same_record(self) -> bool:
        """Whether both are JSON with the same members: all of a small record may change at once."""
        told = _members_of(self.before.texts)
        return bool(told) and told == _members_of(self.now.texts)

    def _lost_its_head(self) -> bool:
        """Whether the main heading is gone and half of all blocks: an excuse, whatever its words."""
        headless = self._headed(self.before) not in {"", *self.now.keys}
        return headless and 2 * len(self.now.keys) <= len(self.before.keys)

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
                bool(self.says),
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


def says(reading: PageReading) -> str:
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


def alike(one: Sequence[str], other: Sequence[str], least: float = _SAME_OTHER) -> bool:
    first, second = set(one), set(other)
    return len(first & second) >= least * max(1, len(first | second))


def _words_of(state: SettledState, others: set[str]) -> int:
    return sum(words_in(text) for text, key in zip(state.texts, state.keys, strict=False) if key not in others)


_TURNS = 3
_LASTS = 4
"""Checks after which a rotating block lasts: for the first turn, doubled for each further one."""
_MOST_TURNS = 8
_DAY = 24 * 3_600_000
_COUNTS = 0.2
_TAKEN = 0.2
"""The highest share of added weight in a difference that takes something back; a rotation adds more."""


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
