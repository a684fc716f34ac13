"""Idempotent calls: a request under a client's idempotency key, and its stored response."""

from __future__ import annotations

from msgspec import Struct

from storage.records.identity import Millis

LIFE = Millis(24 * 3_600_000)
"""How long a response is kept."""
MOST = 100_000
"""Most responses kept, newest first. A repeat of an older call is a new call."""


class KeptCall(Struct, frozen=True):
    """A call and its response, None while it runs or if it was cut off.

    key: a hash of the caller and its idempotency key. fingerprint: a hash of the request. id: the id of the record to
    create, chosen in advance so that a resumed call finds it. answer: sealed, opaque here. node: the member that runs
    the call or ran it when it was cut off.
    """

    key: str
    fingerprint: str
    at: Millis
    id: str
    answer: bytes | None = None
    node: str = ""
