"""Requested tags in the form that events carry. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from actors.errors import Unprocessable
from storage.records.source import tag_of


def tags_in(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags as events carry them, each once; a bare word is a label. Raises Unprocessable for an empty one.

    >>> tags_in(("mine", "topic:ai", " label:mine "))
    ('label:mine', 'topic:ai')
    """
    found: dict[str, None] = {}
    for index, text in enumerate(tags):
        space, _, word = tag_of(text.strip()).partition(":")
        if not space or not word:
            raise Unprocessable("write <namespace>:<value>, or a word", f"body.tags[{index}]", text)
        found[f"{space}:{word}"] = None
    return tuple(found)
