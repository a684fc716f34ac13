"""Eight faults that a review once planted by hand and two minutes of simulation did not find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.mutants.drawing import Mutant
from bench.mutants.kinds import Change


class Planted(NamedTuple):
    """`old` occurs once in the file; `new` replaces it."""

    says: str
    room: str
    path: str
    old: str
    new: str


PLANTED: Sequence[Planted] = (
    Planted(
        "push frames are not restored when the recorder gives no answer",
        "source",
        "actors/sources/push/actor.py",
        "self._pipeline.restore(taken)",
        "pass",
    ),
    Planted(
        "a filtered resume is off by one at a page's end",
        "reader",
        "api/streams/reader.py",
        "page.scanned if page.scanned > self.cursor",
        "page.scanned + 1 if page.scanned > self.cursor",
    ),
    Planted(
        "a digest's window has its end in it",
        "digest",
        "storage/sql/stores/outbox.py",
        "o.first_due>=? AND o.first_due<?",
        "o.first_due>=? AND o.first_due<=?",
    ),
    Planted(
        "of one event's match the rows beyond 500 are cut off",
        "matcher",
        "actors/matcher.py",
        "self._rows, self._storage.lease",
        "self._rows[:500], self._storage.lease",
    ),
    Planted(
        "the lazy state of the cadence is never saved",
        "source",
        "actors/sources/polling.py",
        "self._live.hot, self._live.unsaved = hot, True",
        "self._live.hot, self._live.unsaved = hot, False",
    ),
    Planted(
        "a host's probe that ends without a word stays half-open",
        "hosts",
        "actors/egress/hosts.py",
        "let another one probe soon.\n                self._fail(state)",
        "let another one probe soon.\n                pass",
    ),
    Planted(
        "no 410 while the page that retention has overtaken still has events",
        "reader",
        "api/streams/reader.py",
        "if page.floor > self.cursor:",
        "if page.floor > self.cursor and not page.events:",
    ),
    Planted(
        "a harvest without an answer is not read back",
        "source",
        "actors/sources/polling.py",
        "            await self._reload()\n        else:",
        "            pass\n        else:",
    ),
)


def named(root: Path) -> list[Mutant]:
    """Return them as mutants. Raises ValueError if a file no longer contains the text to change."""
    return [_mutant(each, (root / each.path).read_text("utf-8")) for each in PLANTED]


def _mutant(each: Planted, text: str) -> Mutant:
    before, found, after = text.partition(each.old)
    if not found or each.old in after:
        raise ValueError(f"{each.path} has {each.old!r} not once")
    first = before.count("\n") + 1
    start = len(before.encode())
    place = (start, start + len(each.old.encode()), each.old, each.new)
    return Mutant(each.room, each.path, each.says, Change("planted", *place, first, first + each.old.count("\n")))
