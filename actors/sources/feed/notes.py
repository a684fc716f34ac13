"""Notes on a feed's checks, for explanations: counts, and a few titles with their identities. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actors.content.messages.readings import Entry, FeedReading
from actors.sources.explanation.sentences import THERE
from storage.records.identity import Millis
from storage.records.note import MOST_PARTS, Came, Note, Part

NEW = "new: nothing with its identity had been seen"
EDITED = "edited: its identity was known, its text is another"
HELD = "held (in the log as change:reset, for no alert): the feed has moved, or all of it was new at once, by old dates"
QUIET = "not reported: its lines changed as in most entries, or take turns (an edit that stays is reported)"


def baseline_note(feed: FeedReading, told: Sequence[Entry], at: Millis) -> Note:
    """Return the note on the first check; `told` is the requested backfill."""
    entries, known = feed.entries, frozenset(entry.key for entry in told)
    rows = [*_parts(told, NEW, told=True), *_parts([e for e in entries if e.key not in known], THERE)]
    reason = f"First look: {len(entries)} entries were there.{_less(feed)}"
    return Note(at, "baseline", reason, parts=tuple(rows[:MOST_PARTS]), counts=_counts(entries, told=len(told)))


class Turned(NamedTuple):
    """The fate of a document's entries: of the new ones some are reported, the rest held, as are moved ones."""

    new: Sequence[Entry] = ()
    told: Sequence[Entry] = ()
    edited: Sequence[Entry] = ()
    held: Sequence[Entry] = ()
    quiet: Sequence[Entry] = ()


def turn_note(feed: FeedReading, turned: Turned, at: Millis, since: Millis | None) -> Note:
    """Return the note on a later check, compared with the successful one at `since`."""
    rows = [*_parts(turned.told, NEW, told=True), *_parts(turned.edited, EDITED, told=True)]
    rows += [*_parts(turned.held, HELD), *_parts(turned.quiet, QUIET)]
    told, edited = len(turned.told) + len(turned.edited), len(turned.edited)
    held, quiet = len(turned.held), len(turned.quiet)
    counts = _counts(feed.entries, new=len(turned.new), told=told, edited=edited, held=held)
    counts |= {"quiet": quiet} if quiet else {}
    came: Came = "told" if told else "held" if held else "churn"
    return Note(at, came, _reason(counts) + _less(feed), since, parts=tuple(rows[:MOST_PARTS]), counts=counts)


def _reason(counts: dict[str, int]) -> str:
    words = [f"{counts[name]} {name}" for name in ("new", "edited", "held", "quiet") if counts.get(name)]
    if not words:
        return (
            f"All {counts['entries']} entries had been seen and say what they said: "
            "only dates, order, white space or the document around them changed."
        )
    return f"Of {counts['entries']} entries: {', '.join(words)}."


def _less(feed: FeedReading) -> str:
    less = " The document ends early: what it lacks is not gone." if feed.cut else ""
    return f"{less} {feed.left_out:,} more entries were left out." if feed.left_out else less


def _counts(entries: Sequence[Entry], **more: int) -> dict[str, int]:
    different = len({entry.key for entry in entries})
    return {"entries": different, "duplicates": len(entries) - different, **more}


def _parts(entries: Sequence[Entry], rule: str, *, told: bool = False) -> Iterator[Part]:
    for entry in entries:
        yield Part(entry.title or entry.content, rule, entry.key, told=told)
