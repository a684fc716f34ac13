"""The verdict on a signature."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Cause(Enum):
    """Everything that a check can find. The values are for machines, the sentence of a verdict is for people."""

    VERIFIED = "verified"
    ROTATED = "verified-rotated"
    """A secret was rotated: it verifies, but with the token of an older secret than the newest."""
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
    """Nothing matches, and there is no witness to say why."""


class Verdict(NamedTuple):
    """`reason` is a sentence in every case; `key_id` names the event's key where the body named one."""

    cause: Cause
    reason: str
    key_id: str | None = None

    @property
    def valid(self) -> bool:
        return self.cause in (Cause.VERIFIED, Cause.ROTATED)

    @property
    def failed(self) -> bool:
        """Whether the signature was checked and does not hold."""
        return not self.valid and self.cause is not Cause.NOT_CHECKED
