"""The test whether a source is in a selection, by words, states, tags and kinds; for lists of them. Pure."""

from __future__ import annotations

from actors.messages.views import SourceView
from actors.selection import SourceSelection
from storage.records.source import Source, tag_of


def picks(where: SourceSelection, view: SourceView) -> bool:
    source = view.source
    if where.kinds and source.type not in where.kinds:
        return False
    if where.tags and not any(tag_of(tag) in source.tags for tag in where.tags):
        return False
    if where.states and view.state not in where.states:
        return False
    if where.flags and (not source.enabled or view.hot.health.flag not in where.flags):
        return False
    if not where.words:
        return True
    text = text_of(source)
    return all(word.casefold() in text for word in where.words)


def text_of(source: Source) -> str:
    """Return by what words a source is found, in small letters: its address, both its names, its tags."""
    return "\n".join((source.url, source.title, source.found_title, *source.tags)).casefold()
