"""A receiver's memory of earlier deliveries: enough to know a repeated id and a late one. Pure, and bounded."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256

REMEMBERED = 10_000
"""Ids that are remembered; at a thousand a second a duplicate still has ten seconds."""


@dataclass(frozen=True, slots=True)
class Entry:
    """number: of this delivery, from 1. times: how often its id has come, with this one; `first` is the delivery that
    brought it first. altered: the body is another than then. late: a greater id has come before.
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
    """Takes deliveries in the order of their coming. Ids are UUIDv7: their text sorts as they were made."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._count = 0
        self._greatest = ""

    def take(self, webhook_id: str, body: bytes) -> Entry:
        """Enter a delivery and return what is notable about it."""
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
