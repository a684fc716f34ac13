"""The texts of an event that an alert reads, by its setting: the change of a page, one side of it, or the page.

A page's event has a diff. `change` reads the title, added and removed texts; `added` and `removed` read one side, with
the title (`sides.py`); `page` reads title and content. Events without a diff (feeds, push, old logs) always match by
title and content. A truncated diff lacks some added texts, so the content is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from actors.query.analysis import Analysed
from actors.query.facts import Fact, Facts
from actors.query.sides import Side

Match = Literal["change", "added", "removed", "page"]
PartName = Literal["title", "content", "added", "removed", "before", "after"]


class Altered(Struct, frozen=True):
    """A block before and after its change."""

    before: str = ""
    after: str = ""


class Difference(Struct, frozen=True):
    """The added, removed and changed blocks of a page, as far as matching needs them."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Altered, ...] = ()
    truncated: bool = False


class EventView(Struct, frozen=True, kw_only=True):
    """The fields of an event's wire JSON that matching needs; others are skipped."""

    title: str = ""
    content: str = ""
    source_type: str = ""
    diff: Difference | None = None
    alert_type: str | None = None
    changes: tuple[Fact, ...] = ()
    emitted_at: str = ""
    story: str = ""

    @property
    def facts(self) -> Facts:
        return Facts(self.changes, self.emitted_at)


class Part(NamedTuple):
    """A text of an event. place: in its list of the diff. other: a changed block's other side, if only one counts."""

    name: PartName
    text: str
    place: int = 0
    other: str | None = None


_told = msgspec.json.Decoder(EventView)


def told_in(body: bytes) -> EventView:
    """Decode the fields of a stored event that matching needs. Raises msgspec.MsgspecError."""
    return _told.decode(body)


def parts_of(told: EventView, match: Match) -> tuple[Part, ...]:
    """Return the texts that an alert reads, the title first."""
    return Part("title", told.title), *_rest(told, match)


def text_of(told: EventView, match: Match) -> Analysed | Side:
    """Return the texts that an alert reads, for queries."""
    title, *rest = parts_of(told, match)
    if match in ("added", "removed") and _diff(told) is not None:
        return Side(title.text, [(part.text, part.other) for part in rest], told.facts)
    return Analysed(title.text, *(part.text for part in rest), facts=told.facts)


class Texts:
    """The texts of one event, made on demand. Without a diff they are all the same."""

    def __init__(self, told: EventView) -> None:
        self.told = told
        self._made: dict[Match, Analysed | Side] = {}

    def of(self, match: Match) -> Analysed | Side:
        asked: Match = "page" if _diff(self.told) is None else match
        found = self._made.get(asked)
        if found is None:
            found = self._made[asked] = text_of(self.told, asked)
        return found


def _diff(told: EventView) -> Difference | None:
    return told.diff if told.source_type == "html" else None


def _rest(told: EventView, match: Match) -> Iterator[Part]:
    diff = _diff(told)
    if diff is None or match == "page":
        yield Part("content", told.content)
        return
    if match != "removed":
        yield from (Part("added", text, number) for number, text in enumerate(diff.added))
    if match != "added":
        yield from (Part("removed", text, number) for number, text in enumerate(diff.removed))
    for number, block in enumerate(diff.changed):
        if match != "added":
            yield Part("before", block.before, number, block.after if match == "removed" else None)
        if match != "removed":
            yield Part("after", block.after, number, block.before if match == "added" else None)
    if diff.truncated and match != "removed":
        yield Part("content", told.content)
