"""The words about a route, beside what its `Route` declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The words and examples of one route.

    name: its operationId, which generated clients make a method of. tag: of `nouns.NOUNS`.
    explains: Markdown: paragraphs, `code`, and lists whose lines begin with "- ".
    asks: examples of the body by what they show. shows: an example of the answer by status (`Several`: of each thing
    that it can be); without one, that of the answer's type (`examples.py`). An answer that is no JSON: by media type.
    others: examples of the other media types that a JSON answer can be in, by these.
    leads: names of operations that go on with something of an answer: JSON Pointer to what their `id` is.
    """

    name: str
    tag: str
    explains: str
    asks: Mapping[str, Any] = field(default_factory=dict)
    shows: Mapping[int, Any] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    leads: Mapping[str, str] = field(default_factory=dict)


class Several(dict[str, Any]):
    """Examples of one answer by what they show."""
