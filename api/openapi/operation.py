"""The text of a route, in addition to its `Route`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The text and examples of one route.

    name: its operationId, which becomes a method of generated clients. tag: of `nouns.NOUNS`.
    explains: Markdown: paragraphs, `code`, and lists whose lines begin with "- ".
    asks: examples of the body by title. shows: the answer's example by status (`Several`: one for each variant);
    without one, that of the answer's type (`examples.py`). An answer that is not JSON: by media type.
    others: examples of a JSON answer's other media types.
    leads: names of operations that use a part of the answer, with a JSON Pointer to the value of their `id`.
    """

    name: str
    tag: str
    explains: str
    asks: Mapping[str, Any] = field(default_factory=dict)
    shows: Mapping[int, Any] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    leads: Mapping[str, str] = field(default_factory=dict)


class Several(dict[str, Any]):
    """Examples of one answer by title."""
