"""The texts of an event that an alert looks at, by its subject: the change of a page, one side of it, or the page.

An event of a page has a diff. `change` looks at the title, at what came and what went; `added` and `removed` at one
side of that, with the title (`sides.py`); `page` at title and content. What has no diff (feeds, push, events of old
logs) is matched by title and content whatever an alert is about. A diff that was cut does not have all that came, so
the content stands in for the rest.
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
    """What came, what went and what was altered on a page, as far as matching needs it."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Altered, ...] = ()
    truncated: bool = False


class EventView(Struct, frozen=True, kw_only=True):
    """What matching needs of an event's wire JSON; fields beyond these are skipped."""

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
    """A text of an event. place: which of the diff's list. other: the other side of an altered block, where only what
    stands on this side counts."""

    name: PartName
    text: str
    place: int = 0
    other: str | None = None


_told = msgspec.json.Decoder(EventView)


def told_in(body: bytes) -> EventView:
    """Return what matching needs of an event as it is stored. Raises msgspec.MsgspecError."""
    return _told.decode(body)


def parts_of(told: EventView, match: Match) -> tuple[Part, ...]:
    """Return the texts that an alert looks at, the title first."""
    return Part("title", told.title), *_rest(told, match)


def text_of(told: EventView, match: Match) -> Analysed | Side:
    """Return the texts that an alert looks at, for queries."""
    title, *rest = parts_of(told, match)
    if match in ("added", "removed") and _diff(told) is not None:
        return Side(title.text, [(part.text, part.other) for part in rest], told.facts)
    return Analysed(title.text, *(part.text for part in rest), facts=told.facts)


class Texts:
    """The texts of one event, each made when an alert first asks for it. Without a diff they are all the same one."""

    def __init__(self, told: EventView) -> None:
        self.told = told
        self._made: dict[Match, Analysed | Side] = {}

    def of(self, match: Match) -> Analysed | Side:
        """Return the texts that an alert looks at."""
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
