"""A face: who may ask, and how refusals look. The application has one for programs and one for people.

What both have in common (request id, the caller's address, headers that every answer carries, the log line, faults) is
the application's (`app.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from api.problems import Refusal

if TYPE_CHECKING:
    from quart import Response


class Face(Protocol):
    """Called inside a request's context, after the application has set `g.request_id` and `g.address`."""

    limit: int
    """Bytes of a body, at most."""
    owner: bool
    """Whether a refusal may say what only the service's owner should know."""

    async def admit(self) -> Response | None:
        """Identify the caller and let it in, or return an answer. Raises Refusal, StorageError, HTTPException."""

    def refused(self, refusal: Refusal, error: Exception) -> Response:
        """Return a refusal as this face shows it."""

    def sign_off(self, response: Response) -> None:
        """Add the headers that all its answers carry."""

    def asker(self) -> str | None:
        """Return who asked, as the log names them."""
