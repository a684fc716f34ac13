"""Hardships that others make: a pooler between, a limit on idle transactions, a lock, a node that is suspended."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import psycopg
import pytest
import trio
from msgspec.structs import replace

from extras.cluster.postgres import engine
from extras.cluster.postgres.database import open_postgres
from extras.cluster.postgres.engine import APPENDS, examine, lock_of
from sanderling.real_world import wall
from storage.append import events_of
from storage.errors import Unavailable
from storage.records.destination import Match, Outcome
from storage.records.event import EVERYTHING
from storage.records.identity import START, Millis, Seq
from storage.secrets import SIZE, Vault
from storage.sql.storage import Storage
from tests.extras.cluster.postgres.engine.test_members import opened
from tests.rules.source_files import ROOT
from tests.storage.contract.builders import (
    NOW,
    CountingMint,
    a_destination,
    a_harvest,
    a_source,
    a_state,
    an_alert,
    stamp,
)
from tests.storage.contract.test_contract_following import following
from tests.support.pooler import PROGRAM, a_pooler
from tests.support.postgres import cluster
from tests.support.waiting import HANG, until

pytestmark = pytest.mark.real
needs_pgbouncer = pytest.mark.skipif(PROGRAM is None, reason="no PgBouncer here: install Debian's package")
BOUNDS = engine.BOUNDS  # the conftest's are more patient


@pytest.fixture
def url() -> str:
    return cluster().url(cluster().fresh())


@pytest.fixture
async def storage(url: str) -> AsyncIterator[Storage]:
    storage = await opened(url, "a")
    await prepare(storage)
    yield storage
    await storage.aclose()


async def prepare(storage: Storage) -> None:
    await storage.sources.add(a_source(), a_state(), storage.lease)
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())


async def append(storage: Storage, title: str) -> Seq:
    answers = await storage.log.append([a_harvest(1, title)], storage.lease, CountingMint(), stamp)
    return events_of(answers)[-1].seq


async def titles(storage: Storage) -> list[str]:
    page = await storage.log.read(START, 100, EVERYTHING)
    return [msgspec.json.decode(event.body)["title"] for event in page.events]


# --- a pooler ----------------------------------------------------------------------------------------------------


@needs_pgbouncer
@pytest.mark.parametrize("listens", [True, False])
@pytest.mark.parametrize("mode", ["session", "transaction"])
async def test_nodes_behind_a_pooler_see_each_event_once_in_order_and_deliver_it_once(mode: str, listens: bool) -> None:
    name = cluster().fresh()
    said: list[str] = []
    with a_pooler(cluster(), mode) as place:
        direct = cluster().url(name) if listens else None
        more = {"vault": Vault(bytes(SIZE)), "warn": said.append, "safe": (), "shares": True, "listen_url": direct}
        a, b = [await open_postgres(f"{place} dbname={name}", clock=wall, owner=node, **more) for node in "ab"]  # type: ignore[arg-type]
        await prepare(a)

        async def work(node: Storage) -> None:
            for turn in range(20):
                seq = await append(node, f"{node.lease.epoch} {turn}")
                await node.outbox.enqueue([Match("hook", seq, Millis(NOW))], node.lease)
                for claimed in await node.outbox.claim("hook", Millis(NOW), 9, node.lease):
                    sent.append(claimed.seq)
                    await node.outbox.settle([Outcome("hook", claimed.seq, "sent", Millis(NOW), 200)], node.lease)

        sent: list[Seq] = []
        async with following(a), following(b):
            async with trio.open_nursery() as nursery:
                for node in (a, b):
                    nursery.start_soon(work, node)
            last = (await a.log.bounds()).newest
            for node in (a, b):
                while node.tail.head < last:
                    await node.tail.wait_past(node.tail.head)
                seen = [recent.stored.seq for recent in node.tail.since(START) or ()]
                assert len(seen) == 40 and seen == sorted(seen)
        assert sorted(sent) == seen
        for node in (a, b):
            await node.aclose()
    assert [sentence for sentence in said if "clock" not in sentence] == (
        []
        if listens
        else ["PostgreSQL: a pooler such as PgBouncer passes no notices on: events reach streams up to a second later. "
              "Set listen_url to the server's own address."] * 2
    )  # fmt: skip


@needs_pgbouncer
async def test_a_pooler_that_lets_no_transaction_through_is_refused_with_the_remedy() -> None:
    with a_pooler(cluster(), "statement") as place:
        url = f"{place} dbname={cluster().fresh()}"
        with pytest.raises(Unavailable, match="pool_mode = transaction"):
            await opened(url, "a")
        with pytest.raises(Unavailable, match="pool_mode = transaction"):
            examine(url, wall, None, listens=False)


# --- a limit of the operator's -----------------------------------------------------------------------------------


async def test_a_limit_on_idle_transactions_ends_no_write_that_pauses(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """Ours is as long as a second one of the operator's, and a pause may be."""
    assert "SET LOCAL idle_in_transaction_session_timeout='2s'" in BOUNDS
    monkeypatch.setattr(engine, "BOUNDS", BOUNDS.replace("'2s'", f"'{HANG:.0f}s'"))
    with psycopg.connect(url, autocommit=True) as other:
        name = other.info.dbname
        other.execute(f"ALTER DATABASE {name} SET idle_in_transaction_session_timeout='50ms'".encode())
    storage = await opened(url, "a")
    try:
        await prepare(storage)

        def pause(before: object) -> None:
            time.sleep(0.3)

        await storage.alerts.edit_destination("hook", lambda it: (pause(it), replace(it, label="later"))[1])
        found = await storage.alerts.destination("hook")
        assert found is not None and found.label == "later"
    finally:
        await storage.aclose()
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(f"ALTER DATABASE {name} RESET idle_in_transaction_session_timeout".encode())


# --- locks -------------------------------------------------------------------------------------------------------

_OURS = """SELECT count(*), count(*) FILTER (WHERE wait_event_type='Lock') FROM pg_stat_activity
    WHERE datname=current_database() AND pid<>pg_backend_pid()"""


@pytest.mark.parametrize(
    "lock", ["LOCK TABLE log, outbox IN ACCESS EXCLUSIVE MODE", lock_of(APPENDS), "SELECT 1 FROM source_hot FOR UPDATE"]
)
async def test_while_somebody_else_holds_a_lock_writes_are_refused_in_time_and_no_session_piles_up(
    monkeypatch: pytest.MonkeyPatch, storage: Storage, url: str, lock: str
) -> None:
    short = BOUNDS.replace("lock_timeout='5s'", "lock_timeout='100ms'")
    assert short != BOUNDS
    monkeypatch.setattr(engine, "BOUNDS", short)
    await append(storage, "before")
    with psycopg.connect(url) as other, psycopg.connect(url, autocommit=True) as watching:
        (before, _) = watching.execute(_OURS).fetchone() or (0, 0)
        other.execute(lock.encode())
        for _ in range(5):
            with pytest.raises(Unavailable, match="lock"):
                await append(storage, "meanwhile")
        assert watching.execute(_OURS).fetchone() == (before, 0)
        other.rollback()
    await append(storage, "after")
    assert await titles(storage) == ["before", "after"]


# --- a node that is suspended ------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["append", "edit"])
async def test_a_node_that_is_stopped_in_a_transaction_holds_others_up_for_seconds_and_repeats_nothing(
    storage: Storage, url: str, what: str
) -> None:
    command = [sys.executable, "-m", "tests.extras.cluster.postgres.stopping_node", url, what]
    process = await trio.lowlevel.open_process(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    stat = Path(f"/proc/{process.pid}/stat")

    def stopped() -> bool:
        return stat.read_text("utf-8").rpartition(")")[2].split()[0] == "T"

    try:
        await until(stopped)
        with trio.fail_after(HANG):
            if what == "append":
                await append(storage, "here")
            else:
                await storage.alerts.edit_destination("hook", lambda it: replace(it, label=f"{it.label}, here"))
        assert stopped()
        process.send_signal(signal.SIGCONT)
        with trio.fail_after(HANG):
            said = b"".join([bytes(chunk) async for chunk in process.stdout]).decode().splitlines()
    finally:
        process.kill()
        with trio.move_on_after(HANG, shield=True):
            await process.wait()
    assert said[-1] == "done" and said[0].startswith("PostgreSQL"), "its transaction was ended"
    if what == "append":
        assert await titles(storage) == ["here", "stopped"]
    else:
        found = await storage.alerts.destination("hook")
        assert found is not None and found.label == "hook, here, stopped"
