"""The guarantees of every storage engine: SQLite (its writer is a thread or the loop itself) and PostgreSQL.

One file for each noun. `tests/storage/contract` runs one suite over all engines. Three guarantees matter most: `append`
is one transaction (events and source states, all or nothing) in the order of the ids; a read ends with its page;
durable cursors move by compare-and-set in one transaction with their effects. A cancelled write may still happen, and
its caller must read to find out. Every write names a `Lease`, whose epoch is the fencing token: where one start owns
the data, writes of earlier starts raise `Fenced`. On shared data (PostgreSQL) each write compares its starting point:
a source's version, a cursor, the alerts' revision, a row's claim.
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
    """One opened engine."""

    @property
    def log(self) -> EventLog:
        """The event log."""

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
        """Idempotent calls."""

    @property
    def coverage(self) -> Coverage:
        """Past days of checks, and shifts."""

    @property
    def pictures(self) -> Pictures:
        """Screenshots of rendered pages."""

    @property
    def people(self) -> People:
        """The dashboard's password and sessions."""

    @property
    def saved_views(self) -> SavedViews:
        """The dashboard's saved views."""

    @property
    def tag_defaults(self) -> TagsDefaults:
        """Defaults of tags."""

    @property
    def sharing(self) -> Sharing | None:
        """Access to other nodes' changes; None where only one process may open the data."""

    @property
    def shipping(self) -> Shipping | None:
        """The changes for a replica; None where the engine has its own replication."""

    @property
    def members(self) -> Members:
        """The processes that work on the data."""

    @property
    def tail(self) -> Tail:
        """The newest events, and the wake-up of waiting readers. Filled by `follow`."""

    async def follow(self) -> None:
        """Publish commits to readers, in order, until cancelled; one task. Retries while the log is unreadable."""

    @property
    def damage(self) -> Damage:
        """Known damage to the data. Callers that hit damage also got Corrupt."""

    @property
    def lease(self) -> Lease:
        """The lease of this start."""

    def writer_moved_at(self) -> float:
        """Return when the writer last finished a job or was idle, on trio's clock (for /healthz)."""

    async def wait_ended(self) -> str:
        """Wait until this opened storage can never be written again; return why, "" after a close."""

    def stands(self) -> bool:
        """Return False if the data folder was deleted or replaced: the next start would not find this data."""

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes on disk of each file by its content; empty if it has no files."""

    async def aclose(self) -> None:
        """Finish pending writes, fsync, close. Safe to call twice."""
