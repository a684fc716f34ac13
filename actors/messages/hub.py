"""Messages to the hub (WebSub): wishes to subscribe. Nothing here does anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Intent:
    """A wish to subscribe or to end that, which its callback has yet to confirm.

    topic: the address of the feed, of which the rest is a part. lease: seconds. secret: None for none.
    client: the network address of who wished it.
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
        """Name the wish without its addresses, which let somebody in, and its secret."""
        return f"Intent({self.mode!r}, {self.publication!r}, {self.ending!r})"


HubMessage = Intent
