"""A face: access control and the form of refusals. The application has one for programs and one for people.

The application (`app.py`) does the common part: request id, client address, common headers, log line, faults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from api.problems import Refusal

if TYPE_CHECKING:
    from quart import Response


class Face(Protocol):
    """Called in a request's context, after the application has set `g.request_id` and `g.address`."""

    limit: int
    """The longest body, in bytes."""
    owner: bool
    """Whether refusals may reveal details that only the service's owner should know."""

    async def admit(self) -> Response | None:
        """Identify and admit the caller, or return an answer. Raises Refusal, StorageError, HTTPException."""

    def refused(self, refusal: Refusal, error: Exception) -> Response:
        """Render a refusal."""

    def sign_off(self, response: Response) -> None:
        """Add the headers that all answers of this face carry."""

    def asker(self) -> str | None:
        """Return the caller's name for the log."""
