"""The log's figures (goals ST1 to ST13), each with its limit from the same run on the same disk.

The limits are the barest programs for the same job: a group commit without signatures, a loop over a SELECT, a write
and an fdatasync.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import trio
from msgspec.structs import replace

from actors.recorder.actor import SameStories
from api.streams.reader import pieces
from bench.log_loads import (
    ROUNDS,
    BareCommit,
    closed_loop,
    loop_lag,
    median,
    opened,
    percentile,
    poisson,
    sender,
)
from bench.log_material import DRAFTS, SOURCES, Mint, a_draft, a_harvest, seeded, signed, unsigned
from bench.topic import Figure, Row, Topic, size
from sanderling.serve import COLLECT
from storage.append import events_of
from storage.records.event import EVERYTHING
from storage.records.identity import START, Seq
from storage.sql.storage import Storage
from storage.sqlite.engine import DATABASE

WAITED = size(4.0, 0.5)
HELD, BATCHED, WRITTEN = size(20_000, 500), size(4_000, 100), size(1_500, 10)
REPLAYED, SOURCES_READ = size(40_000, 1_000), size(100_000, 500)
TOPIC = Topic(
    "The log on SQLite",
    "The limits are the barest programs for the same job on the same disk: a group commit without signatures, a loop "
    "over a SELECT.",
    ("storage/append.py", "storage/records", "storage/sql", "storage/sqlite"),
    {
        "commit100": Figure("ST1 harvest committed, signed, 100 senders", "/s", ">= 0.35 x bare, >= 2,000/s"),
        "commit1000": Figure("ST1 harvest committed, signed, 1,000 senders", "/s", ">= 0.35 x bare, >= 2,000/s"),
        "woken": Figure("ST3 loop lag, 1,000 senders woken, worst", "ms", "<= 50 ms"),
        "ack": Figure("ST2 acknowledgement at 200/s, p99", "ms", "<= 1 x 10 fdatasync p99 + 10 ms"),
        "slice": Figure("ST13 retention, 200 a slice, at 200/s, the longest slice", "ms", "<= 50 ms"),
        "retained": Figure("ST13 acknowledgement beside it, p99", "ms", "<= 2 x without"),
        "wal": Figure("ST4 WAL, full load and three replays", "MB", "<= 64 MB"),
        "disk": Figure("ST5 bytes on disk, of an event's body", "", "<= 1.35"),
        "written": Figure("ST5b written an event, 1 a commit, hot, base and index", "KB", "<= 40 KB"),
        "replay": Figure("ST6 replay, storage to frames", "/s", ">= 0.5 x SELECT, >= 50,000/s"),
        "crowd": Figure("ST7 100 clients replay, then tail: loop lag, worst", "ms", "<= 25 ms"),
        "stories": Figure(
            "ST14 append an event with stories, 50 a commit, signed, a fifth copies, CPU", "us", "<= 1.5 x without"
        ),
        "start": Figure("ST10 cold start, 100,000 sources read", "s", "<= 5 s"),
    },
)


def lag_row(key: str, lags: Sequence[float]) -> Row:
    return Row(key, max(lags) * 1e3, note=f"p99 {percentile(lags, 99) * 1e3:.0f}")


async def harvests(folder: Path) -> AsyncIterator[Row]:
    """ST1 and ST3: harvest to commit, and the loop lag when a thousand senders wake. Rounds alternate."""
    lags = [0.0]
    async with opened(seeded(folder / "st1")) as storage:
        for senders in (100, 1_000):
            bare = BareCommit(folder / f"bare{senders}.db")
            kinds = {"bare": bare.send, "signed": sender(storage), "unsigned": sender(storage, unsigned)}
            rates: dict[str, list[float]] = {kind: [] for kind in kinds}
            for kind, send in [*kinds.items()] * ROUNDS:
                async with loop_lag() as lag:
                    rates[kind].append(await closed_loop(send, senders))
                if kind == "signed" and senders == 1_000:
                    lags += lag
            await bare.close()
            limit, ours, plain = (median(rates[kind]) for kind in ("bare", "signed", "unsigned"))
            yield Row(f"commit{senders}", ours, limit, f"{plain:,.0f} unsigned")
    yield lag_row("woken", lags)


def fdatasync_p99(folder: Path) -> float:
    took = []
    fd = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY)
    for _ in range(400):
        start = time.perf_counter()
        os.write(fd, b"x" * 2_048)
        os.fdatasync(fd)
        took.append(time.perf_counter() - start)
    os.close(fd)
    return percentile(took, 99)


async def acknowledgements(folder: Path) -> AsyncIterator[Row]:
    """ST2 and ST13: wait of a harvest at 200 per second, with and without retention."""
    sync = fdatasync_p99(folder)
    async with opened(seeded(folder / "st2", events=HELD)) as storage:
        alone = percentile(await poisson(sender(storage), 200, WAITED), 99)
        slices = []

        async def prune() -> None:
            while True:
                start = trio.current_time()
                await storage.log.retain(Seq(1 << 62), 200, storage.lease)
                slices.append(trio.current_time() - start)
                await trio.sleep(0.05)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(prune)
            beside = percentile(await poisson(sender(storage), 200, WAITED), 99)
            nursery.cancel_scope.cancel()
    yield Row("ack", alone * 1e3, 1e4 * sync + 10)
    yield Row("slice", max(slices) * 1e3)
    yield Row("retained", beside * 1e3, alone * 1e3)


async def wal_size(folder: Path) -> AsyncIterator[Row]:
    """ST4: the WAL under full load with three readers that replay constantly."""
    largest = 0
    async with opened(seeded(folder / "st4", events=5_000)) as storage:
        wal = folder / "st4" / f"{DATABASE}-wal"

        async def replay() -> None:
            at = START
            while True:
                page = await storage.log.read(at, 500, EVERYTHING)
                at = page.scanned if page.scanned < page.head else START

        async def watch() -> None:
            nonlocal largest
            while True:
                largest = max(largest, size_of(wal))
                await trio.sleep(0.02)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(replay)
            nursery.start_soon(watch)
            rate = await closed_loop(sender(storage, unsigned), 300)
            nursery.cancel_scope.cancel()
    yield Row("wal", largest / 1e6, note=f"at {rate:,.0f}/s")


async def disk(folder: Path) -> AsyncIterator[Row]:
    """ST5 and ST5b: bytes on disk and bytes written per event."""
    chance = random.Random(5)
    sizes = [int(min(60_000, chance.lognormvariate(6.9, 0.9))) for _ in range(BATCHED)]  # as real feed entries are
    drafts = [a_draft(chance, size) for size in sizes]
    path = seeded(folder / "st5", sources=SOURCES)
    async with opened(path) as storage:
        before = size_of(path / DATABASE)
        mint, bodies = Mint(), 0
        for at in range(0, len(drafts), 100):
            batch = [a_harvest((at + n) % SOURCES, draft) for n, draft in enumerate(drafts[at : at + 100])]
            stored = events_of(await storage.log.append(batch, storage.lease, mint, signed))
            bodies += sum(len(event.body) for event in stored)
    yield Row("disk", (size_of(path / DATABASE) - before) / bodies, note=f"bodies of {bodies / len(drafts):,.0f} B")

    path = seeded(folder / "st5b", sources=HELD, base=2_048, events=3 * HELD)
    async with opened(path) as storage:
        mint, before = Mint(), written()
        for number in range(WRITTEN):
            harvest = a_harvest(chance.randrange(HELD), DRAFTS[number % 500], base=chance.randbytes(2_048))
            await storage.log.append([harvest], storage.lease, mint, unsigned)
    yield Row("written", (written() - before) / WRITTEN / 1024)


async def stories(folder: Path) -> AsyncIterator[Row]:
    """ST14: the cost of finding each event's story."""
    chance, took = random.Random(6), dict[bool, list[float]]()
    drafts = [a_draft(chance, 2_048) for _ in range(BATCHED)]
    for at in chance.sample(range(1, BATCHED), BATCHED // 5):
        earlier = drafts[chance.randrange(at)]
        drafts[at] = replace(earlier, url=drafts[at].url, source_url="https://other.example/feed.xml")
    for number in range(ROUNDS):
        for is_told in (False, True):
            async with opened(seeded(folder / f"st14-{number}-{is_told}")) as storage:
                mint, same, start = Mint(), SameStories() if is_told else None, time.process_time()
                for at in range(0, BATCHED, 50):
                    batch = [a_harvest((at + n) % SOURCES, draft) for n, draft in enumerate(drafts[at : at + 50])]
                    await storage.log.append(batch, storage.lease, mint, signed, same)
                took.setdefault(is_told, []).append((time.process_time() - start) / BATCHED * 1e6)
    yield Row("stories", median(took[True]), median(took[False]))


def size_of(path: Path) -> int:
    return path.stat().st_size


def written() -> int:
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


async def replays(folder: Path) -> AsyncIterator[Row]:
    """ST6 and ST7: from storage to frames, alone, and for a hundred clients that then tail."""
    path = seeded(folder / "st6", events=REPLAYED)
    c = sqlite3.connect(path / DATABASE)
    start, at = time.perf_counter(), 0
    while page := c.execute("SELECT seq, body FROM log WHERE seq>? ORDER BY seq LIMIT 500", (at,)).fetchall():
        b"".join([b"event: feed\ndata: %b\nid: %x\n\n" % (body, seq) for seq, body in page])
        at = page[-1][0]
    limit = REPLAYED / (time.perf_counter() - start)
    c.close()
    async with opened(path) as storage:
        start, cursor, got = time.perf_counter(), START, 0
        while cursor < storage.tail.head:
            found = await storage.log.replay(cursor, 500, partial(pieces, form="sse"))
            got, cursor = got + found.rows, found.scanned
        ours = got / (time.perf_counter() - start)
        assert got == REPLAYED
        yield Row("replay", ours, limit)
        yield await crowd(storage)


async def crowd(storage: Storage, clients: int = 100, live: int = 200) -> Row:
    """Clients replay from random places and then tail, while events are committed; compare all with the log."""
    all_seqs: list[Seq] = []
    page = await storage.log.read(START, 500, EVERYTHING)
    joined = [page.events[-1].seq for _ in range(clients)]
    got: list[list[Seq]] = [[] for _ in range(clients)]
    mint, end = Mint(), trio.Event()

    async def client(number: int) -> None:
        at = joined[number]
        while not end.is_set() or at < storage.tail.head:
            recent = storage.tail.since(at)
            if recent is None:
                page = await storage.log.read(at, 200, EVERYTHING)
                got[number] += [event.seq for event in page.events]
                at = page.scanned
            else:
                got[number] += [each.stored.seq for each in recent]
                at = max(at, storage.tail.head)
                with trio.move_on_after(0.2):
                    await storage.tail.wait_past(at)

    async with loop_lag() as lags, trio.open_nursery() as nursery:
        for number in range(clients):
            joined[number] = Seq(storage.tail.head - 200 * (number % 20))
            nursery.start_soon(client, number)
        for number in range(live):
            harvest = a_harvest(number, DRAFTS[number])
            await storage.tail.publish(events_of(await storage.log.append([harvest], storage.lease, mint, unsigned)))
        end.set()
    at = START
    while at < storage.tail.head:
        page = await storage.log.read(at, 500, EVERYTHING)
        all_seqs += [event.seq for event in page.events]
        at = page.scanned
    for mine, start in zip(got, joined, strict=True):
        assert mine == [seq for seq in all_seqs if seq > start], "a client has gaps or duplicates"
    return lag_row("crowd", lags)


async def cold_start(folder: Path) -> AsyncIterator[Row]:
    """ST10: read 100,000 sources with their states, starting with opening the folder."""
    path = seeded(folder / "st10", sources=SOURCES_READ, base=200)
    start = time.perf_counter()
    c = sqlite3.connect(path / DATABASE)
    for table in ("source", "source_hot", "source_base"):
        c.execute(f"SELECT key, body FROM {table}").fetchall()
    limit = time.perf_counter() - start
    c.close()
    start = time.perf_counter()
    async with opened(path) as storage:
        got, after = 0, None
        while page := await storage.sources.page(after, 500):
            got, after = got + len(page), page[-1].source.id
        took = time.perf_counter() - start
    assert got == SOURCES_READ
    yield Row("start", took, limit)


def rows() -> Iterator[Row]:
    """Measure everything; takes about a minute."""
    gc.set_threshold(*COLLECT)  # as the service does
    for measure in (harvests, acknowledgements, wal_size, disk, stories, replays, cold_start):
        folder = Path(tempfile.mkdtemp(prefix="bench-log-", dir=os.environ.get("BENCH_DIR")))  # noqa: TID251
        try:
            yield from trio.run(collected, measure, folder)
        finally:
            shutil.rmtree(folder)


async def collected(measure: Callable[[Path], AsyncIterator[Row]], folder: Path) -> list[Row]:
    return [row async for row in measure(folder)]
