"""An event's changes by kind, one line each: changed values, names and negations. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from storage.records.event import ChangeKind, Event, TypedChange, Value

_SHOWN: frozenset[ChangeKind] = frozenset({"price", "availability", "date", "number", "version", "name", "negation"})
MOST = 12


class TypedLine(NamedTuple):
    """kind: as the event has it. record: of a price: highest or lowest, and since when (RFC 3339)."""

    kind: str
    label: str
    before: str
    after: str
    record: tuple[str, str] | None


def typed_lines(event: Event) -> Sequence[TypedLine]:
    """Return an event's first changes that are more than added or removed text."""
    changes = event.changes if isinstance(event.changes, tuple) else ()
    return list(_lines(changes))[:MOST]


def _lines(changes: Sequence[TypedChange]) -> Iterator[TypedLine]:
    for one in changes:
        value = one.before if not isinstance(one.after, Value) else one.after
        is_value = isinstance(value, Value) and isinstance(value.type, str)
        if one.kind in _SHOWN or is_value:
            before, after = (side.text if isinstance(side, Value) else "" for side in (one.before, one.after))
            yield TypedLine(one.kind, one.path or one.label, before, after, _record(one))


def _record(change: TypedChange) -> tuple[str, str] | None:
    if isinstance(change.lowest_since, str):
        return "lowest", change.lowest_since
    return ("highest", change.highest_since) if isinstance(change.highest_since, str) else None
