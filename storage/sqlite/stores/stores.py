"""All stores of an engine on one writer and its readers; what differs between engines is only where these run."""

from __future__ import annotations

import sqlite3

from storage.append import Lease
from storage.damage import Damage
from storage.records.identity import Seq
from storage.sqlite.engine.noticing import NoticingReaders, NoticingWriter, OwnConnection
from storage.sqlite.engine.readers import Readers
from storage.sqlite.engine.writer import Writer
from storage.sqlite.secrets.vault import Vault
from storage.sqlite.stores.alerts import SqliteAlerts
from storage.sqlite.stores.bins import SqliteBins
from storage.sqlite.stores.calls import SqliteCalls
from storage.sqlite.stores.keys import SqliteKeys
from storage.sqlite.stores.log import SqliteLog
from storage.sqlite.stores.outbox import SqliteOutbox
from storage.sqlite.stores.people import SqlitePeople
from storage.sqlite.stores.publications import SqlitePublications
from storage.sqlite.stores.sources import SqliteSources
from storage.sqlite.stores.subscriptions import SqliteSubscriptions
from storage.tail import Tail


class Stores:
    """The tables by their nouns. `reading`: the loop's own connection; `known`: the newest position anyone has seen."""

    def __init__(  # noqa: PLR0917  # each is another part of an engine
        self, writer: Writer, readers: Readers, reading: sqlite3.Connection, lease: Lease, known: Seq, vault: Vault
    ) -> None:
        self.lease, self.damage = lease, Damage()
        writer, readers = NoticingWriter(writer, self.damage), NoticingReaders(readers, self.damage)
        own = OwnConnection(reading, self.damage)
        self.tail = Tail(known)
        self.log = SqliteLog(writer, readers, known, self.tail)
        self.sources = SqliteSources(writer, readers, vault)
        self.keys = SqliteKeys(writer, readers, own, lease, vault)
        self.alerts = SqliteAlerts(writer, readers, lease, vault)
        self.bins = SqliteBins(writer, readers, own, lease)
        self.calls = SqliteCalls(writer, lease)
        self.people = SqlitePeople(writer, readers, own, lease)
        self.outbox = SqliteOutbox(writer, readers)
        self.publications = SqlitePublications(writer, readers, own, lease, vault)
        self.subscriptions = SqliteSubscriptions(writer, readers, lease, vault)

    async def follow(self) -> None:
        """Show what is committed to readers; see `storage.interface.Storage`."""
        await self.log.follower.run()
