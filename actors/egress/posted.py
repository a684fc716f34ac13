"""The answer to a POST, whatever it says. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PostMethod = Literal["POST", "PUT", "GET"]


@dataclass(frozen=True, slots=True)
class PostResult:
    """What came of a POST. body: its beginning, as it was on the wire. retry_after: seconds from now.

    moved_to: the address that a redirect names, "" for none.
    """

    status: int
    latency_ms: int
    body: bytes
    retry_after: float | None
    moved_to: str = ""
