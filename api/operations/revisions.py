"""Changes that start from a revision: refused inside the transaction if the record has moved on. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from actors.errors import Stale
from storage.records.revision import Expected, Record, is_expected

R = TypeVar("R", bound=Record)


def refuse_stale(record: Record, expected: Expected) -> None:
    """Raise Stale unless a record is at an expected revision."""
    if not is_expected(record, expected):
        raise Stale


def guarded(expected: Expected, change: Callable[[R], R]) -> Callable[[R], R]:
    """Return a change that refuses a record that is not at an expected revision."""

    def checked(record: R) -> R:
        refuse_stale(record, expected)
        return change(record)

    return checked
