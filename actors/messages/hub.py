"""Messages to the hub (WebSub): subscription requests. Records only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Intent:
    """A request to subscribe or unsubscribe, which its callback has yet to confirm.

    topic: the URL of the feed, which contains the rest. lease: seconds. secret: None without one. client: the
    requester's network address.
    """

    mode: Literal["subscribe", "unsubscribe"]
    topic: str
    publication: str
    token_hash: str
    ending: str
    callback: str
    lease: int
    secret: str | None
    client: str

    def __repr__(self) -> str:
        """Show the request without its URLs, which are credentials, and its secret."""
        return f"Intent({self.mode!r}, {self.publication!r}, {self.ending!r})"


HubMessage = Intent
