"""A call that its client may repeat: what was asked under a key of the client's own, and what was answered."""

from __future__ import annotations

from msgspec import Struct

from storage.records.identity import Millis

LIFE = Millis(24 * 3_600_000)
"""For how long an answer is kept."""
MOST = 100_000
"""Most answers that are kept, the newest; a repeat after that is a new call."""


class KeptCall(Struct, frozen=True):
    """A call and its answer, None as long as there is none (it runs, or was cut off).

    key: a hash of who asked and of the key that he gave. fingerprint: a hash of what was asked. id: that of the thing
    which is made, chosen before it is made, so that whoever takes the call up again finds it. answer: sealed, opaque
    here. node: the member that runs it, or was cut off while it did.
    """

    key: str
    fingerprint: str
    at: Millis
    id: str
    answer: bytes | None = None
    node: str = ""
