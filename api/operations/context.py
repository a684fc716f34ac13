"""The context of every operation: `api.route.Call` has it, and so has the visit of a screen."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from actors.app_context import AppContext
from actors.errors import NotFound
from api.ratelimit import Limiter
from api.streams.streams import Streams


class OperationContext(Protocol):
    """The service, as a face of it may touch it."""

    @property
    def context(self) -> AppContext:
        """Mailboxes and storage."""

    @property
    def streams(self) -> Streams:
        """The open streams, and the channels of alerts."""

    @property
    def limiter(self) -> Limiter:
        """Buckets for what has a rate of its own."""

    @property
    def by(self) -> str:
        """Who asks, for the record of who set something last: a key's name, or what face of the service."""

    def may(self, scope: str) -> bool:
        """Return whether who asks has a scope, beside those that the call needs."""

    @property
    def request_id(self) -> str:
        """The request's id, for log lines."""


def known_id(text: str, noun: str) -> str:
    """Return an id in its one spelling. Raises NotFound for what can't be one."""
    try:
        return str(UUID(text))
    except ValueError:
        raise NotFound(f"There is no such {noun}.") from None
