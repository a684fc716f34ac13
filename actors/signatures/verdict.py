"""The verdict on a signature."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Cause(Enum):
    """All results of a check. The values are for machines, the verdict's sentence is for people."""

    VERIFIED = "verified"
    ROTATED = "verified-rotated"
    """A secret was rotated: it verifies, but with the token of an older secret."""
    NOT_CHECKED = "not-checked"
    UNREADABLE = "unreadable"
    NO_SIGNATURE = "no-signature"
    MISSING_HEADER = "missing-header"
    BAD_TIMESTAMP = "bad-timestamp"
    STALE = "stale"
    WRONG_SECRET = "wrong-secret"  # noqa: S105 - a word
    ID_CHANGED = "id-changed"
    RESERIALISED = "re-serialised"
    CHANGED = "changed"
    UNKNOWN_KEY = "unknown-key"
    BAD_KEY_SET = "bad-key-set"
    NO_MATCH = "no-match"
    """Nothing matches, and no other evidence explains why."""


class Verdict(NamedTuple):
    """reason: always a sentence. key_id: the event's key, if the body names one."""

    cause: Cause
    reason: str
    key_id: str | None = None

    @property
    def valid(self) -> bool:
        return self.cause in (Cause.VERIFIED, Cause.ROTATED)

    @property
    def failed(self) -> bool:
        """Whether the signature was checked and is invalid."""
        return not self.valid and self.cause is not Cause.NOT_CHECKED
