"""A feed look's notes for a person who asks why: numbers, and a few titles with their identities. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actors.content.messages.readings import Entry
from actors.sources.explanation.sentences import THERE
from storage.records.identity import Millis
from storage.records.note import MOST_PARTS, Came, Note, Part

NEW = "new: nothing with its identity had been seen"
EDITED = "edited: its identity was known, its text is another"
HELD = "held (in the log as change:reset, for no alert): all of the feed was new at once, as after a move, by old dates"


def baseline_note(entries: Sequence[Entry], told: Sequence[Entry], at: Millis) -> Note:
    """Return the note of the first look; `told` is what a backfill asked for."""
    known = frozenset(entry.key for entry in told)
    rows = [*_parts(told, NEW, told=True), *_parts([e for e in entries if e.key not in known], THERE)]
    reason = f"First look: {len(entries)} entries were there."
    return Note(at, "baseline", reason, parts=tuple(rows[:MOST_PARTS]), counts=_counts(entries, told=len(told)))


class Turned(NamedTuple):
    """What became of a document's entries: of the new ones some are told, the rest held; all edited ones are told."""

    new: Sequence[Entry] = ()
    told: Sequence[Entry] = ()
    edited: Sequence[Entry] = ()


def turn_note(entries: Sequence[Entry], turned: Turned, at: Millis, since: Millis | None) -> Note:
    """Return the note of a later look, compared with the good one at `since`."""
    news = frozenset(entry.key for entry in turned.told)
    held = [entry for entry in turned.new if entry.key not in news]
    rows = [*_parts(turned.told, NEW, told=True), *_parts(turned.edited, EDITED, told=True), *_parts(held, HELD)]
    told, edited = len(turned.told) + len(turned.edited), len(turned.edited)
    counts = _counts(entries, new=len(turned.new), told=told, edited=edited, held=len(held))
    came: Came = "told" if told else "held" if held else "churn"
    return Note(at, came, _reason(counts), since, parts=tuple(rows[:MOST_PARTS]), counts=counts)


def _reason(counts: dict[str, int]) -> str:
    if not counts["new"] and not counts["edited"]:
        return (
            f"All {counts['entries']} entries had been seen and say what they said: "
            "only dates, order, white space or the document around them changed."
        )
    words = [f"{counts[name]} {name}" for name in ("new", "edited", "held") if counts[name]]
    return f"Of {counts['entries']} entries: {', '.join(words)}."


def _counts(entries: Sequence[Entry], **more: int) -> dict[str, int]:
    different = len({entry.key for entry in entries})
    return {"entries": different, "duplicates": len(entries) - different, **more}


def _parts(entries: Sequence[Entry], rule: str, *, told: bool = False) -> Iterator[Part]:
    for entry in entries:
        yield Part(entry.title or entry.content, rule, entry.key, told=told)
