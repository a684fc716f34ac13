"""Tables of foreign fields that only produce a note, and helpers to read fields. Pure.

Imported fields have code in their reader. docs/moving.md shows the same tables, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from extras.migrate.drafting import Drafting
from extras.migrate.plan import Grade, NotReadable

MOST_ITEMS = 100_000
_UNUSED: tuple[Any, ...] = (None, "", 0, False, [], {})


class Field(NamedTuple):
    """A field to note, unless it is unset or has its program's default."""

    name: str
    grade: Grade
    says: str
    by_itself: Collection[Any] = ()


def tell_of(drafting: Drafting, place: str, record: Mapping[str, Any], fields: Sequence[Field]) -> None:
    """Note each field of the table that a record uses."""
    for field in fields:
        value = record.get(field.name)
        if value not in _UNUSED and value not in field.by_itself:
            drafting.note(place, field.name, field.grade, field.says)


def text(record: Mapping[str, Any], name: str) -> str:
    """Return a text field; "" if it is no text."""
    value = record.get(name)
    return value.strip() if isinstance(value, str) else ""


def texts(record: Mapping[str, Any], name: str) -> list[str]:
    """Return a list of texts, or the lines of a text."""
    value = record.get(name)
    if isinstance(value, str):
        value = value.splitlines()
    if not isinstance(value, list):
        return []
    return [line.strip() for line in value if isinstance(line, str) and line.strip()]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping; empty for anything else."""
    return value if isinstance(value, dict) else {}


def records(value: Any, what: str) -> list[Mapping[str, Any]]:
    """Return the objects in a list. Raises NotReadable if it is no list, or too long."""
    if not isinstance(value, list):
        raise NotReadable(f"It has no list of {what}.")
    if len(value) > MOST_ITEMS:
        raise NotReadable(f"It has {len(value)} {what}; at most {MOST_ITEMS} are read.")
    return [item for item in value if isinstance(item, dict)]


def truth(value: Any) -> bool:
    """Return whether a value means yes in JSON, YAML or as a number."""
    return value.strip().lower() in ("true", "yes", "on", "1") if isinstance(value, str) else bool(value)
