"""A template in the form of its file. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from storage.records.alert import Matching
from storage.records.tiers import SourceType

MOST_SOURCES = 100
"""Maximum sources of one instantiation, for any values."""
REGISTRY_BASE = "registry_base"
"""The one name between braces that is a setting, not a parameter."""

Line = Annotated[str, Meta(min_length=1, max_length=200)]
Slug = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$(?!\n)")]
Key = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}$(?!\n)")]
Count = Annotated[int, Meta(ge=1, le=50)]


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter for the caller: from `min` to `max` values. A domain is bare (`domain.py`), a string is free text."""

    key: Key
    type: Literal["domain", "string"]
    description: Line
    example: Line
    min: Count = 1
    max: Count = 1


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """A source. Its URL and tags may contain `{key}` for the value of a parameter."""

    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    type: SourceType
    tags: Annotated[tuple[Line, ...], Meta(max_length=20)] = ()


class Suggestion(Struct, frozen=True, forbid_unknown_fields=True):
    """An alert over the template's sources. `key` identifies it, so it must never change."""

    key: Slug
    name: Line
    query: Annotated[str, Meta(max_length=4096)]
    language: Annotated[str, Meta(max_length=20)] = "en"
    channel: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$(?!\n)")] | None = None
    match: Matching = "change"


class Template(Struct, frozen=True, forbid_unknown_fields=True):
    """A template. Its `version` rises with each change to its contents."""

    id: Slug
    version: Annotated[int, Meta(ge=1, le=1_000_000)]
    name: Line
    summary: Annotated[str, Meta(min_length=1, max_length=1000)]
    category: Slug
    sources: Annotated[tuple[Pattern, ...], Meta(min_length=1, max_length=50)]
    parameters: Annotated[tuple[Parameter, ...], Meta(max_length=5)] = ()
    alerts: Annotated[tuple[Suggestion, ...], Meta(max_length=20)] = ()

    @property
    def tag(self) -> str:
        """The tag of its sources, and so of their events."""
        return f"template:{self.id}"

    def alert_key(self, suggestion: Suggestion) -> str:
        """Return the stored key of the alert for a suggestion."""
        return f"{self.id}/{suggestion.key}"
