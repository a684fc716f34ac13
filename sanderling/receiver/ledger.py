"""A receiver's memory of deliveries, to recognise repeated and late ids. Pure and bounded."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256

REMEMBERED = 10_000
"""Ids remembered; at a thousand per second a duplicate has ten seconds."""


@dataclass(frozen=True, slots=True)
class Entry:
    """number: of this delivery, from 1. times: how often its id has arrived; `first` is the number of its first
    delivery. altered: the body differs from the first. late: a greater id arrived before.
    """

    number: int
    times: int
    first: int
    altered: bool
    late: bool


@dataclass(slots=True)
class _Seen:
    first: int
    times: int
    digest: bytes


class Ledger:
    """Takes deliveries in order of arrival. Ids are UUIDv7: their text sorts by creation time."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._count = 0
        self._greatest = ""

    def take(self, webhook_id: str, body: bytes) -> Entry:
        """Record a delivery and return its observations."""
        self._count += 1
        digest = sha256(body).digest()
        seen = self._seen.get(webhook_id) if webhook_id else None
        if seen is not None:
            seen.times += 1
            return Entry(self._count, seen.times, seen.first, digest != seen.digest, late=False)
        late = bool(webhook_id) and webhook_id < self._greatest
        self._greatest = max(self._greatest, webhook_id)
        if webhook_id:
            self._seen[webhook_id] = _Seen(self._count, 1, digest)
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        return Entry(self._count, 1, self._count, altered=False, late=late)
