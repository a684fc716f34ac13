"""What a check of a signature found."""

from __future__ import annotations

from typing import NamedTuple


class Verdict(NamedTuple):
    """`reason` is a sentence in either case; `key_id` names the event's key where the body named one."""

    valid: bool
    reason: str
    key_id: str | None = None
