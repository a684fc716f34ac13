"""The context of every operation. `api.route.Call` and a screen's visit implement it."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from actors.app_context import AppContext
from actors.errors import NotFound
from api.ratelimit import Limiter
from api.streams.streams import Streams


class OperationContext(Protocol):
    """The parts of the service that a face may use."""

    @property
    def context(self) -> AppContext:
        """Mailboxes and storage."""

    @property
    def streams(self) -> Streams:
        """The open streams and the alert channels."""

    @property
    def limiter(self) -> Limiter:
        """Buckets for operations with a rate limit."""

    @property
    def by(self) -> str:
        """The caller's name for `updated_by`: a key's name, or a face of the service."""

    def may(self, scope: str) -> bool:
        """Return whether the caller has a scope, in addition to the call's own."""

    @property
    def request_id(self) -> str:
        """The request's id, for log lines."""


def known_id(text: str, noun: str) -> str:
    """Return a normalised id. Raises NotFound for an invalid one."""
    try:
        return str(UUID(text))
    except ValueError:
        raise NotFound(f"There is no such {noun}.") from None
