"""Names that identify a plan's alerts again after the file gained, lost or reordered others. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

import msgspec
from msgspec.structs import replace

from extras.migrate.limits import LONGEST_TITLE
from extras.migrate.plan import PlannedAlert, shortened

Key = tuple[str, str, str]
_DIGITS: Final = 8


def key_of(alert: PlannedAlert, name: str | None = None) -> Key:
    """Return an alert's identity: name, query and language, optionally under another name."""
    return alert.body.name if name is None else name, alert.body.filter_query, alert.body.language


def told_apart(alerts: Iterable[PlannedAlert]) -> Iterator[PlannedAlert]:
    """Yield the alerts with distinct keys.

    Namesakes get a mark in their names, a digest of their destinations. Parts of an alert over too many sources are
    numbered: their destinations are equal. `other` is the marked name of an unmarked alert and vice versa: the alert's
    previous name if its namesakes come or go.
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
