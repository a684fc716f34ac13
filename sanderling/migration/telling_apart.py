"""Names by which alerts of a plan are found again, whatever the file gains, loses or has in another order. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

import msgspec
from msgspec.structs import replace

from sanderling.migration.limits import LONGEST_TITLE
from sanderling.migration.plan import PlannedAlert, shortened

Key = tuple[str, str, str]
_DIGITS: Final = 8


def key_of(alert: PlannedAlert, name: str | None = None) -> Key:
    """Return by what an alert is the same: name, query and language; by another name of it, when that is given."""
    return alert.body.name if name is None else name, alert.body.filter_query, alert.body.language


def told_apart(alerts: Iterable[PlannedAlert]) -> Iterator[PlannedAlert]:
    """Yield alerts of which no two have a key in common.

    Where some would, each has a mark in its name, a digest of whom it tells what. Parts of one that is over too many
    sources are numbered: they tell the same to the same. `other` is the name with a mark of one that has none, and
    without it of one that has: the one that it has been called by if its namesakes come or go.
    """
    every = [(alert, _mark(alert)) for alert in alerts]
    marks: dict[Key, set[str]] = {}
    for alert, mark in every:
        marks.setdefault(key_of(alert), set()).add(mark)
    parts: Counter[tuple[Key, str]] = Counter()
    for alert, mark in every:
        key = key_of(alert)
        parts[key, mark] += 1
        number = "" if parts[key, mark] == 1 else str(parts[key, mark])
        names = _called(alert.body.name, number), _called(alert.body.name, mark, number)
        name, other = names if len(marks[key]) == 1 else names[::-1]
        yield replace(alert, body=replace(alert.body, name=name), other=other)


def _mark(alert: PlannedAlert) -> str:
    return sha256(msgspec.json.encode(alert.destinations)).hexdigest()[:_DIGITS]


def _called(name: str, *marks: str) -> str:
    mark = " ".join(filter(None, marks))
    return f"{shortened(name, LONGEST_TITLE - len(mark) - 3)} [{mark}]" if mark else name
