"""All stores of an engine on one writer and its readers; engines differ only in where these run."""

from __future__ import annotations

from typing import NamedTuple

from storage.append import Lease
from storage.damage import Damage
from storage.interface.members import Members
from storage.interface.sharing import Sharing
from storage.interface.shipping import Shipping
from storage.records.identity import Seq
from storage.secrets.vault import Vault
from storage.sql.noticing import FencedWriter, NoticingLookups, NoticingReaders, NoticingWriter
from storage.sql.stores.alerts import SqlAlerts
from storage.sql.stores.alone import Alone
from storage.sql.stores.bins import SqlBins
from storage.sql.stores.calls import SqlCalls
from storage.sql.stores.coverage import SqlCoverage
from storage.sql.stores.keys import SqlKeys
from storage.sql.stores.log import SqlLog
from storage.sql.stores.outbox import SqlOutbox
from storage.sql.stores.people import SqlPeople
from storage.sql.stores.pictures import SqlPictures
from storage.sql.stores.publications import SqlPublications
from storage.sql.stores.saved_views import SqlSavedViews
from storage.sql.stores.sources import SqlSources
from storage.sql.stores.subscriptions import SqlSubscriptions
from storage.sql.stores.tag_defaults import SqlTagDefaults
from storage.sql.transaction import Lookups, Readers, Space, Writer
from storage.tail import Tail


class Places(NamedTuple):
    """Where an engine's stores run. The appender writes the log and the sources' states, the writer everything else."""

    appender: Writer
    writer: Writer
    readers: Readers
    lookups: Lookups


class Stores:
    """All stores of an engine. `known`: the newest position that any reader has seen."""

    sharing: Sharing | None = None
    shipping: Shipping | None = None

    def __init__(self, places: Places, space: Space, lease: Lease, known: Seq, vault: Vault) -> None:
        self.lease, self.damage = lease, Damage()
        appender, delivering = NoticingWriter(places.appender, self.damage), NoticingWriter(places.writer, self.damage)
        writer = FencedWriter(delivering, lease)
        readers, own = NoticingReaders(places.readers, self.damage), NoticingLookups(places.lookups, self.damage)
        self.tail = Tail(known)
        self.members: Members = Alone(f"{lease.owner}-{lease.epoch}")
        self.log = SqlLog(appender, readers, space, known, self.tail)
        self.sources = SqlSources(appender, readers, vault)
        self.keys = SqlKeys(writer, readers, own, vault)
        self.alerts = SqlAlerts(writer, readers, vault)
        self.bins = SqlBins(writer, readers, own)
        self.calls = SqlCalls(writer)
        self.coverage = SqlCoverage(writer, readers)
        self.people = SqlPeople(writer, readers, own)
        self.outbox = SqlOutbox(delivering, readers)
        self.pictures = SqlPictures(writer, readers)
        self.saved_views = SqlSavedViews(writer, readers)
        self.tag_defaults = SqlTagDefaults(writer, readers)
        self.publications = SqlPublications(writer, readers, own, vault)
        self.subscriptions = SqlSubscriptions(writer, readers, vault)

    async def follow(self) -> None:
        await self.log.follower.run()
