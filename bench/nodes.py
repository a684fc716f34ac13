"""The PostgreSQL engine, and several nodes on it (SC1, 2, 5, 11 and 14), each figure with its limit.

The server is a private cluster from Debian's package, with `fsync`.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any

import psycopg
import trio

from bench.idle import tree
from bench.log_loads import median, opened, percentile
from bench.log_material import DRAFTS, NOW, Mint, a_harvest, seeded, signed, source_id, unsigned
from bench.topic import Absent, Figure, Row, Topic, size
from extras.cluster.postgres.database import open_postgres
from storage.records.access import ApiKey
from storage.records.identity import START, id_of
from storage.records.source import Detection, Source, SourceRuntime, SourceState
from storage.secrets import SIZE, Vault
from storage.sql.storage import Storage
from tests.e2e.service import a_service
from tests.e2e.test_postgres import variables
from tests.support.postgres import Cluster, durable, is_here

BATCH, BATCHES, ROUNDS = 64, size(40, 4), size(5, 1)
WAKES = size(200, 10)
AT_ONCE, LOOKS = size(200, 10), size(20, 2)
SETTLED, IDLE, COUNTED = size(20.0, 1.0), size(60.0, 1.0), size(30.0, 1.0)
"""Seconds until a node without sources is idle, then for measuring its CPU, then its statements."""
TOPIC = Topic(
    "Several nodes on one PostgreSQL",
    "A cluster of its own with `fsync`; the limits are bare COPY, our SQLite, one writer, NOTIFY and a round trip of "
    "the driver.",
    ("extras/cluster/postgres", "storage/tail.py", "storage/tail.py", "extras/cluster/members"),
    {
        "copy": Figure("SC1 events committed, signed, 64 a batch, beside bare COPY", "/s", ">= 0.3 x COPY"),
        "sqlite": Figure("SC1 the same, beside our SQLite", "/s", ">= 0.5 x SQLite"),
        "four": Figure("SC2 four that write at once, beside one", "/s", ">= 0.8 x one"),
        "wake": Figure("SC5 a commit, until another node's reader has it, p99", "ms", "<= 1 x 3 NOTIFY p99 + 40 ms"),
        "key": Figure("SC11 a look-up of a key alone, p50", "ms", "<= 3 x round trip"),
        "keys": Figure("SC11 CPU of a look-up, 200 at once", "us", "<= 15 us"),
        "transactions": Figure("SC14 an idle node: transactions", "/s", "<= 3/s"),
        "statements": Figure("SC14 an idle node: statements", "/s", "<= 10/s"),
        "cpu": Figure("SC14 its CPU, of a core", "%", "<= 1 %"),
        "backends": Figure("SC14 CPU of its backends, of a core", "%"),
    },
)
_ASKED = re.compile(r"LOG:  (?:statement|execute [^:]*): (.*)")
_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname=current_database() AND pid<>pg_backend_pid()"
_COMMITS = "SELECT xact_commit+xact_rollback FROM pg_stat_database WHERE datname=current_database()"


def rows() -> Iterator[Row]:
    if not is_here():
        raise Absent("PostgreSQL: Debian's package postgresql")
    cluster = durable()
    with tempfile.TemporaryDirectory() as folder:
        yield from trio.run(_commits, Path(folder), cluster)
    for measure in (_wakes, _look_ups, _idle):
        yield from trio.run(measure, cluster)


@asynccontextmanager
async def on_server(url: str, owner: str = "bench") -> AsyncIterator[Storage]:
    storage = await open_postgres(
        url,
        vault=Vault(bytes(SIZE)),
        clock=time.time,  # noqa: TID251  (a real clock)
        owner=owner,
        warn=print,
        shares=True,
    )
    try:
        yield storage
    finally:
        await storage.aclose()


async def watched(storage: Storage) -> None:
    detection = Detection("feed", "high", "The body is RSS 2.0.", "https://x.example/", "application/rss+xml")
    for number in range(BATCH):
        url = f"https://host{number}.example/feed.xml"
        source = Source(source_id(number), url, url, "feed", detection, NOW, NOW)
        await storage.sources.add(source, SourceState(source.id, SourceRuntime(), b""), storage.lease)


async def _append(storage: Storage, batches: int = BATCHES) -> float:
    """Return signed events per second, committed in batches with their sources' states."""
    mint, drafts = Mint(), cycle(DRAFTS)
    start = time.perf_counter()
    for _ in range(batches):
        harvests = [a_harvest(number, next(drafts)) for number in range(BATCH)]
        await storage.log.append(harvests, storage.lease, mint, signed)
    return batches * BATCH / (time.perf_counter() - start)


def _copy(connection: psycopg.Connection[Any], bodies: Sequence[bytes]) -> float:
    """Return events per second of the barest program: a sequence, COPY, a commit per batch, no signatures."""
    start = time.perf_counter()
    for _ in range(BATCHES):
        with connection.transaction(), connection.cursor().copy("COPY bare(body) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["bytea"])
            for number in range(BATCH):
                copy.write_row((bodies[number % len(bodies)],))
    return BATCHES * BATCH / (time.perf_counter() - start)


async def _commits(folder: Path, cluster: Cluster) -> list[Row]:
    url = cluster.url(cluster.empty())
    bodies = [unsigned(START, id_of(START, 1), source_id(1), draft) for draft in DRAFTS]
    rates: dict[str, list[float]] = {name: [] for name in ("bare", "sqlite", "one", "four")}
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(on_server(url, f"node{number}")) for number in range(4)]
        await watched(nodes[0])
        sqlite = await stack.enter_async_context(opened(seeded(folder / "lite", sources=BATCH)))
        with psycopg.connect(url, autocommit=True) as bare:
            bare.execute("CREATE TABLE bare(seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body BYTEA NOT NULL)")
            for _ in range(ROUNDS):
                rates["bare"].append(await trio.to_thread.run_sync(_copy, bare, bodies))
                rates["sqlite"].append(await _append(sqlite))
                rates["one"].append(await _append(nodes[0]))
                rates["four"].append(await _together(nodes))
    bare, lite, one, four = (median(rates[name]) for name in ("bare", "sqlite", "one", "four"))
    return [Row("copy", one, bare), Row("sqlite", one, lite), Row("four", four, one)]


async def _together(nodes: Sequence[Storage]) -> float:
    start = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for node in nodes:
            nursery.start_soon(_append, node, BATCHES // 4)
    return BATCHES // 4 * 4 * BATCH / (time.perf_counter() - start)


async def _wakes(cluster: Cluster) -> list[Row]:
    """SC5: from a commit on one node to a reader on another node's tail, next to bare LISTEN and NOTIFY."""
    url, took = cluster.url(cluster.empty()), list[float]()
    async with on_server(url, "writes") as writer, on_server(url, "reads") as reader, trio.open_nursery() as nursery:
        await watched(writer)
        for storage in (writer, reader):
            nursery.start_soon(storage.follow)
        await trio.sleep(2)
        mint = Mint()
        for number in range(WAKES):
            head = reader.tail.head
            await writer.log.append([a_harvest(number % BATCH, DRAFTS[0])], writer.lease, mint, signed)
            committed = time.perf_counter()
            await reader.tail.wait_past(head)
            took.append(time.perf_counter() - committed)
            await trio.sleep(0.005)
        nursery.cancel_scope.cancel()
    bare = await trio.to_thread.run_sync(_notices, url)
    limit = 3e3 * percentile(bare, 99) + 40
    return [Row("wake", percentile(took, 99) * 1e3, limit, f"p50 {median(took) * 1e3:.1f}")]


def _notices(url: str) -> list[float]:
    """Return the seconds from a notice's commit to its listener."""
    sent, took = [0.0], list[float]()
    heard = threading.Semaphore(0)

    def listen() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("LISTEN bare")
            heard.release()
            for _ in connection.notifies(timeout=30, stop_after=WAKES):
                took.append(time.perf_counter() - sent[0])
                heard.release()

    listener = threading.Thread(target=listen)
    listener.start()
    heard.acquire()
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(WAKES):
            connection.execute("NOTIFY bare")
            sent[0] = time.perf_counter()
            heard.acquire()
    listener.join()
    return took


async def _look_ups(cluster: Cluster) -> list[Row]:
    """SC11: the cost of one key look-up, alone and of many at once, next to a round trip of the driver."""
    url = cluster.url(cluster.empty())
    async with on_server(url) as storage:
        hashed = sha256(b"key").hexdigest()
        await storage.keys.add(ApiKey("id", "bench", "sk_bench", hashed, ("stream:read",), NOW))
        alone = list[float]()
        for _ in range(AT_ONCE):
            start = time.perf_counter()
            assert await storage.keys.by_hash(hashed) is not None
            alone.append(time.perf_counter() - start)
        start = time.process_time()
        for _ in range(LOOKS):
            async with trio.open_nursery() as nursery:
                for _ in range(AT_ONCE):
                    nursery.start_soon(storage.keys.by_hash, hashed)
        each = (time.process_time() - start) / (LOOKS * AT_ONCE) * 1e6
    with psycopg.connect(url, autocommit=True) as connection:
        trips = list[float]()
        for _ in range(AT_ONCE):
            start = time.perf_counter()
            connection.execute("SELECT 1").fetchone()
            trips.append(time.perf_counter() - start)
    return [Row("key", median(alone) * 1e3, median(trips) * 1e3), Row("keys", each)]


async def _idle(cluster: Cluster) -> list[Row]:
    """SC14: statements and CPU of a node without sources, as a separate service process, and of its backends."""
    with tempfile.TemporaryDirectory() as folder:
        named = await variables(Path(folder), cluster)
        address = (await trio.Path(named["SANDERLING_STORAGE_URL_FILE"]).read_text("utf-8")).strip()
        settings = {"SANDERLING_NODE_NAME": "idle", "SANDERLING_WORKER_IDLE": "3", **named}
        async with a_service(Path(folder, "data"), **settings) as service:
            await trio.sleep(SETTLED)
            with psycopg.connect(address, autocommit=True) as watcher:
                before, began = await trio.to_thread.run_sync(_taken, watcher, service.process.pid), time.perf_counter()
                await trio.sleep(IDLE)
                after, took = _taken(watcher, service.process.pid), time.perf_counter() - began
            statements = await _counted(cluster)
            await service.end()
    ours, theirs, commits = ((one - other) / took for one, other in zip(after, before, strict=True))
    work = [each for each in statements if each.split()[0].upper() not in ("BEGIN", "COMMIT")]
    return [
        Row("transactions", commits),
        Row("statements", len(statements) / COUNTED, note=f"{len(work) / COUNTED:.2f} without BEGIN and COMMIT"),
        Row("cpu", 100 * ours),
        Row("backends", 100 * theirs),
    ]


def _taken(watcher: psycopg.Connection[Any], service: int) -> tuple[float, float, int]:
    """Return processor seconds of a service and of its backends, and transactions so far."""
    backends = [pid for (pid,) in watcher.execute(_BACKENDS).fetchall()]
    (commits,) = watcher.execute(_COMMITS).fetchone() or (0,)
    return sum(map(processor_seconds, tree(service))), sum(map(processor_seconds, backends)), commits


def processor_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def _counted(cluster: Cluster) -> Sequence[str]:
    """Return the statements that reach a cluster in a time, from its own log."""
    log = cluster.folder / "log"
    for statement in ("ALTER SYSTEM SET log_statement='all'", "SELECT pg_reload_conf()"):
        cluster.run(statement)
    await trio.sleep(2)
    start = log.stat().st_size
    await trio.sleep(COUNTED)
    found = _ASKED.findall(log.read_bytes()[start:].decode("utf-8", "replace"))
    for statement in ("ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()"):
        cluster.run(statement)
    return found
