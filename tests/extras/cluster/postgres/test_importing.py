from __future__ import annotations

import psycopg
import pytest
import trio
from psycopg import sql

from extras.cluster.postgres.commands import NotEmpty, begin_import, end_import, is_half, open_postgres_snapshot
from storage.append import events_of
from storage.errors import Locked
from storage.records.event import EVERYTHING
from storage.records.identity import START
from storage.records.member import Says
from storage.secrets import SIZE, Connection, Vault
from tests.extras.cluster.postgres.engine.test_members import opened
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_state, stamp
from tests.support.postgres import cluster

pytestmark = pytest.mark.real


@pytest.fixture
def url() -> str:
    return cluster().url(cluster().fresh())


async def test_an_interrupted_import_is_noticed_and_starts_over_on_an_empty_database(url: str) -> None:
    assert not is_half(url)
    begin_import(url)
    assert is_half(url)
    storage = await opened(url, "import", shares=False)
    await storage.sources.add(a_source(), a_state(), storage.lease)
    await storage.log.append([a_harvest(1, "news")], storage.lease, CountingMint(), stamp)
    await storage.aclose()
    begin_import(url)
    again = await opened(url, "import", shares=False)
    assert not await again.sources.page(None, 9) and not (await again.log.read(START, 9, EVERYTHING)).events
    await again.aclose()
    end_import(url)
    assert not is_half(url)


async def test_a_database_that_holds_something_or_that_a_node_works_on_is_not_filled(url: str) -> None:
    storage = await opened(url, "a")
    await storage.members.beat(Says())
    with pytest.raises(Locked, match="stop all services first"):
        begin_import(url)
    await storage.members.leave()
    await storage.sources.add(a_source(), a_state(), storage.lease)
    with pytest.raises(NotEmpty) as caught:
        begin_import(url)
    assert caught.value.there == "sources" and not is_half(url)
    await storage.aclose()


async def test_a_snapshot_is_one_moment_despite_concurrent_writes(url: str) -> None:
    storage = await opened(url, "a")
    await storage.sources.add(a_source(), a_state(), storage.lease)
    (first,) = events_of(
        await storage.log.append([a_harvest(1, "first")], storage.lease, mint := CountingMint(), stamp)
    )
    async with open_postgres_snapshot(url, Vault(bytes(SIZE))) as moment:
        await storage.log.append([a_harvest(1, "second")], storage.lease, mint, stamp)
        await storage.sources.delete(a_source().id, storage.lease)
        async with trio.open_nursery() as nursery:  # also by two at once
            for _ in range(2):
                nursery.start_soon(moment.sources.page, None, 9)
        assert [event.seq for event in (await moment.log.read(START, 9, EVERYTHING)).events] == [first.seq]
        assert len(await moment.sources.page(None, 9)) == 1
    await storage.aclose()


async def test_a_limit_of_the_server_on_idle_transactions_ends_neither_a_read_nor_an_export(url: str) -> None:
    def limit(connection: Connection) -> str:
        return str(connection.execute("SHOW idle_in_transaction_session_timeout").fetchone()[0])

    with psycopg.connect(url, autocommit=True) as other:
        name = sql.Identifier(other.info.dbname)
        other.execute(sql.SQL("ALTER DATABASE {} SET idle_in_transaction_session_timeout='1s'").format(name))
        try:
            storage = await opened(url, "a")
            assert await storage.log._readers.run(limit) == "5s"
            await storage.aclose()
            async with open_postgres_snapshot(url, Vault(bytes(SIZE))) as moment:
                assert await moment.log._readers.run(limit) == "0"
        finally:
            other.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(name))
