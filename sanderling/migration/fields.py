"""Foreign fields about which there is only something to say: a table a program, and the loop over it. Pure.

What is carried over has code of its own in the reader. docs/moving.md shows the same tables, and a test compares.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sanderling.migration.drafting import Drafting
from sanderling.migration.plan import Grade, NotReadable

MOST_ITEMS = 100_000
_UNUSED: tuple[Any, ...] = (None, "", 0, False, [], {})


class Field(NamedTuple):
    """A field that says something unless it is unset, or has the value that its program gives it by itself."""

    name: str
    grade: Grade
    says: str
    by_itself: Collection[Any] = ()


def tell_of(drafting: Drafting, place: str, record: Mapping[str, Any], fields: Sequence[Field]) -> None:
    """Note each field of the table that a record makes use of."""
    for field in fields:
        value = record.get(field.name)
        if value not in _UNUSED and value not in field.by_itself:
            drafting.note(place, field.name, field.grade, field.says)


def text(record: Mapping[str, Any], name: str) -> str:
    """Return a text of a record, "" for what is none."""
    value = record.get(name)
    return value.strip() if isinstance(value, str) else ""


def texts(record: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a list, or the lines of a text."""
    value = record.get(name)
    if isinstance(value, str):
        value = value.splitlines()
    if not isinstance(value, list):
        return []
    return [line.strip() for line in value if isinstance(line, str) and line.strip()]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def records(value: Any, what: str) -> list[Mapping[str, Any]]:
    """Return those items of a list that are objects. Raises NotReadable for what is no list, and for too many."""
    if not isinstance(value, list):
        raise NotReadable(f"It has no list of {what}.")
    if len(value) > MOST_ITEMS:
        raise NotReadable(f"It has {len(value)} {what}; at most {MOST_ITEMS} are read.")
    return [item for item in value if isinstance(item, dict)]


def truth(value: Any) -> bool:
    """Return whether a value says yes, in the words of JSON, of YAML, or as a number."""
    return value.strip().lower() in ("true", "yes", "on", "1") if isinstance(value, str) else bool(value)
