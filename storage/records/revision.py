"""The revision of a record: a short hash of its settings, the same until someone changes one. Pure.

Two editors who start from the same revision would overwrite each other, so an edit that names an outdated revision is
refused. Fields that the service updates itself (counters, states, times of checks and deliveries) do not count: an
editor does not collide with a delivery. Secrets do not count either, since readers could guess them from the hash; a
change of a secret moves `updated_at`.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

import msgspec

from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.records.publication import Publication
from storage.records.source import Source, TagDefaults

Record = Alert | Destination | Source | Publication | TagDefaults
Expected = frozenset[str] | None  # the accepted revisions; one with `ANY` accepts all, None makes no demand
ANY: Final = "*"
NOTHING: Final[frozenset[str]] = frozenset((" ",))
"""Expects that the record does not exist yet. No revision and no entity tag is a space."""
_NOT_SET: dict[type[Record], frozenset[str]] = {
    Alert: frozenset(("last_match_at", "match_count")),
    Destination: frozenset(
        "secrets private state failing_since last_delivery_at told owes missed_after was_enabled".split()  # noqa: SIM905
    ),
    Source: frozenset(("hello", "headers", "found_title", "deleted_at")),
    Publication: frozenset(("token", "token_hash")),
    TagDefaults: frozenset(),
}


def revision_of(record: Record) -> str:
    unset = _NOT_SET[type(record)]
    fields = {name: getattr(record, name) for name in record.__struct_fields__ if name not in unset}
    return blake2b(msgspec.json.encode(fields, order="sorted"), digest_size=12).hexdigest()


def is_expected(record: Record, expected: Expected) -> bool:
    return expected is None or ANY in expected or revision_of(record) in expected
