"""Where an alert's matches are delivered."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from storage.records.identity import Millis

DeliveryMode = Literal["instant", "15min", "hourly", "daily"]
Notice = Literal["destination_failing", "destination_disabled"]


class Secret(Struct, frozen=True):
    """A `whsec_` signing secret and when it stops signing (None: the current one)."""

    value: str
    until: Millis | None = None

    def __repr__(self) -> str:
        """Hide the value."""
        return f"Secret(until={self.until})"


class Destination(Struct, frozen=True):
    """A webhook. `secrets` are newest first, at most five."""

    id: str
    alert_id: str
    kind: Literal["webhook"]
    url: str
    delivery_mode: DeliveryMode
    label: str
    secrets: tuple[Secret, ...]
    created_at: Millis
    updated_at: Millis
    digest_hour: int = 8
    digest_timezone: str = "UTC"
    enabled: bool = True
    state: Literal["active", "failing", "disabled"] = "active"
    failing_since: Millis | None = None
    last_delivery_at: Millis | None = None
    told: int = 0
    """How many notices there were of the present row of failures."""
    owes: Notice | None = None
    """The kind of the notice that is due and not yet in the log."""
