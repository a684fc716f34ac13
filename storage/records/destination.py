"""Destinations: the addresses to which an alert's matches are delivered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from storage.records.identity import Millis, Seq
from storage.records.managed import Managed

WEBHOOK, EMAIL, WEBPUSH = "webhook", "email", "webpush"
"""The kinds without a file: a signed POST to a program, mail, and a device whose browser has subscribed.

See `actors/destination_kinds/`.
"""
ADDRESS = "url"
"""The name of the private value that is the whole address, where that is a secret."""
LINK = "link"
"""The name of the private value by which who is told agrees to it, and stops it; without it they are asked anew."""
DeliveryMode = Literal["instant", "15min", "hourly", "daily"]
Format = Literal["event", "cloudevents"]
"""What a webhook's body is: the event or digest as it is, or in an envelope (CloudEvents 1.0.2)."""
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)
Notice = Literal["destination_failing", "destination_disabled"]


class Secret(Struct, frozen=True):
    """A `whsec_` signing secret and when it stops signing (None: the current one)."""

    value: str
    until: Millis | None = None

    def __repr__(self) -> str:
        """Hide the value."""
        return f"Secret(until={self.until})"


class Private(Struct, frozen=True):
    """A value that lets somebody in: a token, a password, an address that nobody else may know."""

    value: str

    def __repr__(self) -> str:
        """Hide the value."""
        return "Private()"


class QuietHours(Struct, frozen=True):
    """When instant deliveries wait: from `start` (HH:MM) on the named days to the next `end`, in a time zone."""

    start: str = field(name="from")
    end: str = field(name="to")
    timezone: str = "UTC"
    weekdays: tuple[Weekday, ...] = WEEKDAYS


class Destination(Struct, frozen=True):
    """An address of a kind, and when it is delivered to.

    url: the address, or what of it may be seen. secrets: what deliveries are signed with, the newest first, at most
    five; none of a kind that signs nothing. options, private: what its kind asks for, by name, open and sealed.
    private_names: the names that `private` had when somebody set it; what is missing there now, nobody knows here.
    """

    id: str
    alert_id: str
    kind: str
    url: str
    delivery_mode: DeliveryMode
    label: str
    secrets: tuple[Secret, ...]
    created_at: Millis
    updated_at: Millis
    digest_hour: int = 8
    digest_timezone: str = "UTC"
    enabled: bool = True
    quiet_hours: QuietHours | None = None
    state: Literal["active", "failing", "disabled"] = "active"
    failing_since: Millis | None = None
    last_delivery_at: Millis | None = None
    told: int = 0
    """How many notices there were of the present row of failures."""
    owes: Notice | None = None
    """The kind of the notice that is due and not yet in the log."""
    missed_after: Seq | None = None
    """After this position there may be matches that were neither delivered nor wait; None: there are none."""
    was_enabled: bool | None = None
    """Nobody knows its secret, as it came here without it, and this is whether it was enabled before; None: else."""
    format: Format = "event"
    most_at_once: int = 0
    """More events than this that wait to be told at once become one digest; 0: each is told by itself."""
    options: Mapping[str, str] = {}
    private: Mapping[str, Private] = {}
    private_names: tuple[str, ...] = ()
    confirmed: bool = True
    """Whether who is told has agreed, where they have to; until then nothing is sent but the question."""
    updated_by: str = ""
    """Who set something last: a key's name, the dashboard, this machine; "" for the service itself."""
    managed: Managed | None = None
    """The files that describe it, if any do."""

    @property
    def works(self) -> bool:
        """Whether anything is sent to it: nobody has paused it, and it is not disabled after failures."""
        return self.enabled and self.state != "disabled"

    @property
    def address(self) -> str:
        """The whole address, which must not be shown or logged."""
        whole = self.private.get(ADDRESS)
        return self.url if whole is None else whole.value

    @property
    def values(self) -> dict[str, str]:
        """What its kind asked for, open and private."""
        return {**self.options, **{name: one.value for name, one in self.private.items()}}

    @property
    def lost(self) -> tuple[str, ...]:
        """The private values that were given once, and that nobody knows here."""
        return tuple(name for name in self.private_names if name not in self.private)

    def missing(self, after: Seq) -> Destination:
        """Return it with matches missed after a position."""
        return replace(self, missed_after=after if self.missed_after is None else min(self.missed_after, after))

    def replayed(self, after: Seq, to: Seq, *, whole: bool) -> Destination:
        """Return it once what it missed after one position and up to another waits or was sent."""
        if self.missed_after is None or not after <= self.missed_after <= to:
            return self
        open = self.enabled and self.state != "disabled"
        return replace(self, missed_after=None if whole and open else to)
