"""The response to a POST, of any status. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PostMethod = Literal["POST", "PUT", "GET"]


@dataclass(frozen=True, slots=True)
class PostResult:
    """The response to a POST. body: its beginning, undecoded. retry_after: seconds from now.

    moved_to: the target of a redirect, "" for none.
    """

    status: int
    latency_ms: int
    body: bytes
    retry_after: float | None
    moved_to: str = ""
