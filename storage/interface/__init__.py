"""The promises of every storage engine: SQLite, whose writer is a thread or the loop itself, and PostgreSQL.

One file for each noun. `tests/storage/contract` runs one suite over all engines. Three promises carry the product:
`append` is one transaction (events and source states, all or nothing) and its order is the ids' order; a read never
outlives its page; durable cursors move by compare-and-set together with what they caused. A cancelled write may still
happen: its caller knows nothing until it looks. Every write names a `Lease`, whose epoch is the fencing token: where
one start owns the data, a write of an earlier one raises `Fenced`. Where several share them (PostgreSQL), each write
compares what it began with: a source's version, a cursor, the alerts' revision, the claim on a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from storage.append import Lease
from storage.damage import Damage
from storage.interface.alerts import Alerts
from storage.interface.bins import Bins
from storage.interface.calls import Calls
from storage.interface.coverage import Coverage
from storage.interface.keys import Keys
from storage.interface.log import EventLog
from storage.interface.members import Members
from storage.interface.outbox import Outbox
from storage.interface.people import People
from storage.interface.pictures import Pictures
from storage.interface.publications import Publications
from storage.interface.saved_views import SavedViews
from storage.interface.sharing import Sharing
from storage.interface.shipping import Shipping
from storage.interface.sources import Sources
from storage.interface.subscriptions import Subscriptions
from storage.interface.tag_defaults import TagsDefaults
from storage.tail import Tail


class Storage(Protocol):
    """One opened engine. `tail` is published to by whoever appends."""

    @property
    def log(self) -> EventLog:
        """The log of events."""

    @property
    def sources(self) -> Sources:
        """The watched sources."""

    @property
    def keys(self) -> Keys:
        """API keys and signing keys."""

    @property
    def alerts(self) -> Alerts:
        """Alerts and destinations."""

    @property
    def bins(self) -> Bins:
        """Webhook bins."""

    @property
    def publications(self) -> Publications:
        """Publications, and retracted events."""

    @property
    def subscriptions(self) -> Subscriptions:
        """Subscriptions to published feeds."""

    @property
    def outbox(self) -> Outbox:
        """Durable cursors and the outbox."""

    @property
    def calls(self) -> Calls:
        """Calls that may be repeated."""

    @property
    def coverage(self) -> Coverage:
        """What is known of looks."""

    @property
    def pictures(self) -> Pictures:
        """Pictures of rendered pages."""

    @property
    def people(self) -> People:
        """Who may use the dashboard."""

    @property
    def saved_views(self) -> SavedViews:
        """Filters of the dashboard's lists, under names."""

    @property
    def tag_defaults(self) -> TagsDefaults:
        """Settings of the sources with a tag."""

    @property
    def sharing(self) -> Sharing | None:
        """What nodes need that share it; None where only one process may open it."""

    @property
    def shipping(self) -> Shipping | None:
        """What a copy elsewhere is made of; None where the engine has means of its own."""

    @property
    def members(self) -> Members:
        """Who works on these data."""

    @property
    def tail(self) -> Tail:
        """The newest events, and the wake-up of all cursors. Filled by `follow`."""

    async def follow(self) -> None:
        """Show readers what is committed, in order, until cancelled; one task. Waits out what can't be read."""

    @property
    def damage(self) -> Damage:
        """What is known of damage to the data; whoever met it was told by Corrupt."""

    @property
    def lease(self) -> Lease:
        """The lease of this start."""

    def writer_moved_at(self) -> float:
        """Return when the writer last finished something or was idle, on trio's clock (for /healthz)."""

    async def wait_ended(self) -> str:
        """Wait until nothing can be written any more for as long as this is open; return why, nothing at a close."""

    def stands(self) -> bool:
        """Return whether what is open is what a next start would find: not when its folder was deleted or replaced."""

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk of each of its files by what they hold; nothing when it has none."""

    async def aclose(self) -> None:
        """Finish the writes under way, fsync, close. Safe to call twice."""
