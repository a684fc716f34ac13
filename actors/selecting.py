"""The test whether a source is in a selection, by words, states, tags and kinds; for lists of them. Pure."""

from __future__ import annotations

from actors.messages.views import SourceView
from actors.selection import SourceSelection
from storage.records.source import Source, tag_of
from storage.records.states import SelectableState


def states_of(view: SourceView) -> tuple[SelectableState, ...]:
    """Return the states that a source is in: its health's flag, and what else is in the way of looks."""
    if not view.source.enabled:
        return ("paused",)
    hot = view.hot
    late: tuple[SelectableState, ...] = ("overdue",) if view.overdue else ()
    resting: tuple[SelectableState, ...] = ("resting",) if hot.breaker.state == "open" else ()
    return (hot.health.flag, *late, *resting)


def picks(where: SourceSelection, view: SourceView) -> bool:
    source = view.source
    if where.kinds and source.type not in where.kinds:
        return False
    if where.tags and not any(tag_of(tag) in source.tags for tag in where.tags):
        return False
    if where.states and not any(state in where.states for state in states_of(view)):
        return False
    if not where.words:
        return True
    text = text_of(source)
    return all(word.casefold() in text for word in where.words)


def text_of(source: Source) -> str:
    """Return by what words a source is found, in small letters: its address, both its names, its tags."""
    return "\n".join((source.url, source.title, source.found_title, *source.tags)).casefold()
