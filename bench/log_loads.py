"""Load and measurement of the log's benchmark: closed loop, random arrivals, loop lag, the bare limit."""

from __future__ import annotations

import queue
import random
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import trio

from bench.log_material import DRAFTS, SOURCES, Mint, a_harvest, an_event, signed, source_id
from bench.topic import size
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite

SECONDS, ROUNDS = size(0.8, 0.1), size(3, 1)


def percentile(values: Sequence[float], p: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * p / 100))]


def median(values: Sequence[float]) -> float:
    return percentile(values, 50)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Storage]:
    storage = await open_sqlite(folder, clock=time.time, owner="bench", warn=print)  # noqa: TID251  (a real clock)
    try:
        yield storage
    finally:
        await storage.aclose()


@asynccontextmanager
async def loop_lag() -> AsyncIterator[list[float]]:
    """Collect the lateness of a task that wakes every 5 ms."""
    lags: list[float] = [0.0]

    async def tick() -> None:
        while True:
            due = trio.current_time() + 0.005
            await trio.sleep_until(due)
            lags.append(trio.current_time() - due)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(tick)
        yield lags
        nursery.cancel_scope.cancel()


Send = Callable[[int], Awaitable[Any]]


async def closed_loop(send: Send, senders: int) -> float:
    """Let `senders` each send a harvest after the previous acknowledgement; return harvests per second."""
    done = 0
    start = trio.current_time()

    async def sender(number: int) -> None:
        nonlocal done
        while trio.current_time() < start + SECONDS:
            await send(number)
            done += 1
            number += 7

    async with trio.open_nursery() as nursery:
        for number in range(senders):
            nursery.start_soon(sender, number * 13)
    return done / (trio.current_time() - start)


async def poisson(send: Send, rate: float, seconds: float) -> list[float]:
    """Send at random times, `rate` per second on average; return the seconds from each due time to its end."""
    chance, took = random.Random(3), [0.0]
    start = due = trio.current_time()

    async def one(number: int, due: float) -> None:
        await send(number)
        took.append(trio.current_time() - due)

    async with trio.open_nursery() as nursery:
        number = 0
        while due < start + seconds:
            await trio.sleep_until(due)
            nursery.start_soon(one, number, due)
            due += chance.expovariate(rate)
            number += 1
    return took


def sender(storage: Storage, stamp: Any = signed, base: bytes | None = None) -> Send:
    mint = Mint()
    harvests = [a_harvest(number, DRAFTS[number % 500], base) for number in range(SOURCES)]

    async def send(number: int) -> Any:
        return await storage.log.append([harvests[number % SOURCES]], storage.lease, mint, stamp)

    return send


class BareCommit:
    """The limit of ST1: a thread with a queue, one transaction per batch, no signature, no guarantees."""

    def __init__(self, path: Path) -> None:
        self.c = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.c.execute("PRAGMA journal_mode=WAL").fetchone()
        self.c.execute("PRAGMA synchronous=FULL")
        self.c.execute("CREATE TABLE log(seq INTEGER PRIMARY KEY, source INTEGER NOT NULL, body BLOB NOT NULL)")
        self.c.execute("CREATE INDEX log_source ON log(source)")
        self.c.execute("CREATE TABLE state(source INTEGER PRIMARY KEY, v BLOB)")
        self.queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.token = trio.lowlevel.current_trio_token()
        self.mint = Mint()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    async def send(self, number: int) -> None:
        done = trio.Event()
        self.queue.put((number, done))
        await done.wait()

    async def close(self) -> None:
        self.queue.put(None)
        await trio.to_thread.run_sync(self.thread.join)

    def run(self) -> None:
        while (first := self.queue.get()) is not None:
            batch = [first]
            while len(batch) < 512 and not self.queue.empty():
                batch.append(self.queue.get())
            self.commit([number for number, _ in batch])
            self.token.run_sync_soon(lambda batch=batch: [done.set() for _, done in batch])
        self.c.close()

    def commit(self, numbers: Sequence[int]) -> None:
        rows, states = [], []
        for number in numbers:
            seq, event_id = self.mint.mint()
            event = an_event(seq, event_id, source_id(number % SOURCES), DRAFTS[number % 500])
            rows.append((seq, number % SOURCES, msgspec.json.encode(event)))
            states.append((number % SOURCES, b"s" * 400))
        self.c.execute("BEGIN IMMEDIATE")
        self.c.executemany("INSERT INTO log VALUES(?,?,?)", rows)
        upsert = "INSERT INTO state VALUES(?,?) ON CONFLICT(source) DO UPDATE SET v=excluded.v"
        self.c.executemany(upsert, states)
        self.c.execute("COMMIT")
