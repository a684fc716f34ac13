"""SQLite and one to four nodes on PostgreSQL side by side: real services with feeds and receivers of their own.

Every configuration gets the same load, one after the other: nothing new, then events without an alert, then each event
for two webhooks, then ever more of them until a delivery's p99 passes 2 s. Load, server and nodes share the machine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import psycopg
import trio

from bench.idle import tree
from bench.log_loads import percentile
from bench.nodes import processor_seconds
from bench.nodes_house import Load, a_load
from bench.topic import Absent, Figure, Row, Topic, size
from sanderling.client.api import Client
from tests.e2e.service import a_key as key_in
from tests.e2e.service import a_service, add
from tests.e2e.test_postgres import a_key, variables
from tests.support.postgres import Cluster, durable, is_here

FEEDS, HOSTS, WEBHOOKS = size(40, 2), 10, 2
RATE = 20.0
STEPS = size((40, 60, 80, 100, 125, 150, 200, 250, 300, 400), (20,))
"""Events a second."""
BEFORE, WINDOW, STEP, WARM = size(5.0, 1.0), size(25.0, 2.0), size(12.0, 1.0), size(25.0, 3.0)
LATEST = 2_000
"""Milliseconds that a delivery's p99 may take."""
SETTINGS = {"SANDERLING_LOOKS_PER_SECOND": "100", "SANDERLING_HOST_RATE": "100", "SANDERLING_KEY_STREAMS": "10"}
SIDES = size((0, 1, 2, 3, 4), (0, 1, 2))
"""Nodes; 0 for one service on SQLite."""
NAMES = ("SQLite", "one node", "two nodes", "three nodes", "four nodes")
_WAL = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8"
_COMMITS = "SELECT xact_commit+xact_rollback FROM pg_stat_database WHERE datname=current_database()"


def _figures() -> Iterator[tuple[str, Figure]]:
    event, hook = {1: "<= 4 ms", 3: "<= 5 ms"}, {1: "<= 5 ms", 3: "<= 6 ms"}
    for nodes, name in [(nodes, NAMES[nodes]) for nodes in SIDES]:
        most = ">= 1 x one node" if nodes == 3 else ""
        yield f"most {nodes}", Figure(f"{name}: deliveries a second until p99 passes 2 s", "/s", most, higher=True)
        yield f"event {nodes}", Figure(f"{name}: CPU of an event", "ms", event.get(nodes, ""))
        yield f"hook {nodes}", Figure(f"{name}: CPU of a webhook", "ms", hook.get(nodes, ""))
        if nodes:
            yield f"commits {nodes}", Figure(f"{name}: transactions of a webhook", "", "<= 2")
            yield f"wal {nodes}", Figure(f"{name}: WAL of an event and its two webhooks", "kB")
            yield f"server {nodes}", Figure(f"{name}: the server's CPU of an event and its two webhooks", "ms")


TOPIC = Topic(
    "Nodes side by side",
    f"Services with {FEEDS} feeds, at {RATE:g} events/s without alerts and with {WEBHOOKS} webhooks each, less what "
    "they take without events; load, server and nodes share two cores. The limit is SQLite, of deliveries one node.",
    ("extras/cluster", "storage/sql", "actors/delivery", "actors/matcher.py"),
    dict(_figures()),
)


class Used(NamedTuple):
    """What was used or done since the start, or each second: CPU seconds of nodes and server, transactions, WAL."""

    cpu: float
    server: float
    commits: float
    wal: float
    published: float
    delays: Sequence[int] = ()


class Side:
    """One configuration at work."""

    def __init__(self, pids: Sequence[int], load: Load, database: psycopg.Connection[tuple[float]] | None) -> None:
        self._pids, self._load, self._database = pids, load, database

    def _used(self, rate: float) -> Used:
        cpu = sum(processor_seconds(each) for pid in self._pids for each in tree(pid))
        server = commits = wal = 0.0
        if self._database is not None:
            (postmaster,) = self._database.execute("SELECT pg_read_file('postmaster.pid')").fetchone() or ("0",)
            server = sum(map(processor_seconds, tree(int(str(postmaster).split()[0]))))
            (commits,), (wal,) = [self._database.execute(query).fetchone() or (0.0,) for query in (_COMMITS, _WAL)]
        published, delays = self._load.at(rate)
        return Used(cpu, server, commits, wal, published, delays)

    async def at(self, rate: float, seconds: float) -> Used:
        """Return what a rate takes each second."""
        self._load.at(rate)
        await trio.sleep(BEFORE)
        before, began = self._used(rate), time.perf_counter()
        await trio.sleep(seconds)
        after, took = self._used(rate), time.perf_counter() - began
        each = [(late - early) / took for early, late in zip(before[:5], after[:5], strict=True)]
        return Used._make((*each, after.delays))

    async def most(self) -> float:
        """Return the most deliveries a second whose p99 was in time."""
        best = 0.0
        for rate in STEPS:
            found = await self.at(rate, STEP)
            done = len(found.delays) / STEP
            if not found.delays or percentile(found.delays, 99) > LATEST or done < 0.8 * WEBHOOKS * rate:
                break
            best = done
        return best


async def _beside(nodes: int, cluster: Cluster | None, folder: Path) -> Mapping[str, float]:
    with a_load(HOSTS, FEEDS) as load:
        async with AsyncExitStack() as stack:
            named = SETTINGS if cluster is None else SETTINGS | await variables(folder, cluster)
            key = key_in(folder / "0") if cluster is None else ""
            services = [
                await stack.enter_async_context(
                    a_service(folder / str(number), wait=False, SANDERLING_NODE_NAME=f"node{number}", **named)
                )
                for number in range(nodes or 1)
            ]
            for service in services:
                await service.wait_ready()
            database = None
            if cluster is not None:
                key = await a_key(folder / "0", named)
                address = (await trio.Path(named["SANDERLING_STORAGE_URL_FILE"]).read_text("utf-8")).strip()
                database = stack.enter_context(psycopg.connect(address, autocommit=True))
            client = await stack.enter_async_context(Client(services[0].url, key))
            return await _measured(client, load, Side([each.process.pid for each in services], load, database))


async def _measured(client: Client, load: Load, side: Side) -> Mapping[str, float]:
    load.at(RATE)
    await trio.sleep(BEFORE)
    sources = [(await add(client, load.url("feed", number)))["id"] for number in range(FEEDS)]
    await trio.sleep(WARM)
    bare = await side.at(RATE, WINDOW)
    alert = (await client.ask("POST", "/v1/alerts", json={"filter_query": "", "private_source_ids": sources})).json()
    for number in range(WEBHOOKS):
        there = {"url": load.url("hook", number)}
        await client.ask("POST", f"/v1/alerts/{alert['id']}/destinations", json=there)
    full = await side.at(RATE, WINDOW)
    most = await side.most()
    idle = await side.at(0.0, WINDOW)
    events, hooks = bare.published, len(full.delays) / WINDOW or 1.0

    return {
        "most": most,
        "event": 1e3 * (bare.cpu - idle.cpu) / events,
        "hook": 1e3 * (full.cpu - bare.cpu) / hooks,
        "commits": (full.commits - bare.commits) / hooks,
        "wal": (full.wal - idle.wal) / full.published / 1e3,
        "server": 1e3 * (full.server - idle.server) / full.published,
    }


def rows() -> Iterator[Row]:
    if not is_here():
        raise Absent("PostgreSQL: Debian's package postgresql")
    found: dict[int, Mapping[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for nodes in SIDES:
            Path(folder, str(nodes)).mkdir()
            found[nodes] = trio.run(_beside, nodes, durable() if nodes else None, Path(folder, str(nodes)))
            for what, ours in found[nodes].items():
                if f"{what} {nodes}" not in TOPIC.figures:
                    continue
                if what == "most":
                    yield Row(f"most {nodes}", ours, found[1]["most"] if nodes > 1 else None)
                else:
                    yield Row(f"{what} {nodes}", ours, found[0][what] if nodes and what in ("event", "hook") else None)
