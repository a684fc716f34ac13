"""The revision of a record: a short hash of what somebody has set, the same until somebody sets something else. Pure.

Two editors who started from the same revision would overwrite each other; whoever names the revision that he has read
is refused once it is no longer the present one. What a record learns by itself (counters, states, times of looks and
deliveries) is no part of it: an editor does not collide with a delivery. Secrets are none either, since a hash shown to
readers would let them be guessed; whoever changes one moves `updated_at`.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

import msgspec

from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.records.publication import Publication
from storage.records.source import Source
from storage.records.tag_defaults import TagDefaults

Record = Alert | Destination | Source | Publication | TagDefaults
Expected = frozenset[str] | None
"""Revisions of which the present one must be one; `ANY` in it admits all, None asks for nothing."""
ANY: Final = "*"
NOTHING: Final[frozenset[str]] = frozenset((" ",))
"""Expected of what is to be made: that it is not there yet. No revision, and no entity tag, is a space."""
_NOT_SET: dict[type[Record], frozenset[str]] = {
    Alert: frozenset(("last_match_at", "match_count")),
    Destination: frozenset(
        (
            "secrets",
            "private",
            "state",
            "failing_since",
            "last_delivery_at",
            "told",
            "owes",
            "missed_after",
            "was_enabled",
        ),
    ),
    Source: frozenset(("hello", "headers", "found_title", "deleted_at")),
    Publication: frozenset(("token", "token_hash")),
    TagDefaults: frozenset(),
}


def revision_of(record: Record) -> str:
    """Return the revision of a record, 24 hexadecimal digits."""
    unset = _NOT_SET[type(record)]
    fields = {name: getattr(record, name) for name in record.__struct_fields__ if name not in unset}
    return blake2b(msgspec.json.encode(fields, order="sorted"), digest_size=12).hexdigest()


def is_expected(record: Record, expected: Expected) -> bool:
    """Return whether a record is at one of the expected revisions."""
    return expected is None or ANY in expected or revision_of(record) in expected
