"""The log's figures (goals ST1 to ST13), each beside its limit, measured in the same run on the same disk.

`python -m bench.log` prints the table; `rows()` gives it to `make bench`. The limits are the barest programs that do the
same job with nothing around it: a group commit without signatures, a loop over a SELECT, a write and an fdatasync.
"""

from __future__ import annotations

import base64
import os
import queue
import random
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import nacl.signing
import trio

from storage.interface import Storage
from storage.records.cursor import EVERYTHING
from storage.records.event import Draft, Event
from storage.records.identity import COUNTER_BITS, START, Millis, Seq, SourceId, id_of
from storage.records.source import Detection, Harvest, HotState, Source, SourceState
from storage.records.times import rfc3339
from storage.sqlite import open_keys, open_sqlite
from storage.sqlite.folder import DATABASE

SECONDS = 2.0
SOURCES = 1_000
NOW = Millis(1_800_000_000_000)
SIGNED_AT = rfc3339(NOW)
KEY = nacl.signing.SigningKey(b"bench" + b"." * 27)
WORDS = ["".join(random.Random(n).choices("abcdefghiklmnoprstuv", k=2 + n % 9)) for n in range(4_000)]
canonical = msgspec.json.Encoder(order="sorted").encode
Row = dict[str, Any]


# --- what is stored --------------------------------------------------------------------------------------------------


def a_draft(chance: random.Random, size: int) -> Draft:
    content = " ".join(chance.choices(WORDS, k=max(1, (size - 700) // 7)))
    url = f"https://news{chance.randrange(500)}.example/{chance.getrandbits(40)}"
    tags = (f"topic:{chance.randrange(40)}", f"region:{chance.randrange(20)}")
    return Draft(
        source_type="feed",
        source_url="https://news.example/feed.xml",
        url=url,
        title=" ".join(chance.choices(WORDS, k=8)),
        author="A. Writer",
        content=content,
        content_truncated=False,
        content_hash="sha256:" + "ab" * 32,
        simhash=chance.getrandbits(53),
        tags=tags,
        published_at=NOW,
        fetched_at=NOW,
    )


def an_event(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> Event:
    return Event(
        schema="https://sanderling.example/schemas/stream-event/1.json",
        id=event_id,
        source_id=source,
        source_type=draft.source_type,
        source_url=draft.source_url,
        url=draft.url,
        title=draft.title,
        author=draft.author,
        content=draft.content,
        content_hash=draft.content_hash,
        simhash=draft.simhash,
        tags=draft.tags,
        published_at=SIGNED_AT,
        fetched_at=SIGNED_AT,
        emitted_at=SIGNED_AT,
        schema_version=1,
        signed_at=SIGNED_AT,
        key_id="k" * 43,
    )


def signed(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    event = an_event(seq, event_id, source, draft)
    signature = base64.urlsafe_b64encode(KEY.sign(canonical(event)).signature).decode().rstrip("=")
    return canonical(msgspec.structs.replace(event, signature=signature))


def unsigned(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    return canonical(an_event(seq, event_id, source, draft))


class Mint:
    """Ids from the real clock, as the recorder makes them."""

    def __init__(self) -> None:
        self.last = START
        self.tail = random.Random(1).getrandbits

    def raise_floor(self, floor: Seq) -> None:
        self.last = max(self.last, floor)

    def mint(self) -> tuple[Seq, str]:
        self.last = Seq(max(self.last + 1, time.time_ns() // 1_000_000 << COUNTER_BITS))
        return self.last, id_of(self.last, self.tail(59))


def source_id(number: int) -> SourceId:
    return SourceId(id_of(Seq((NOW + number) << COUNTER_BITS), number))


HOT = HotState(looks=100, events=5, last_look_at=NOW, next_look_at=NOW, pace=b"p" * 100, pulse=b"q" * 100)
DRAFTS = [a_draft(random.Random(n), 2_048) for n in range(500)]


def a_harvest(number: int, draft: Draft, base: bytes | None = None) -> Harvest:
    source = source_id(number)
    return Harvest(source, (draft,), SourceState(source, HOT, base))


def seeded(folder: Path, sources: int = SOURCES, base: int = 0, events: int = 0) -> Path:
    """Make a data folder with so many sources and events, by bare SQL."""
    open_keys(folder).close()
    c = sqlite3.connect(folder / DATABASE, isolation_level=None)
    c.execute("PRAGMA synchronous=OFF")
    c.execute("BEGIN")
    hot, chance = msgspec.msgpack.encode(HOT), random.Random(1)
    detection = Detection("feed", "high", "The body is RSS 2.0.", "https://x.example/", "application/rss+xml")
    for n in range(sources):
        url = f"https://host{n}.example/feed.xml"
        source = Source(source_id(n), url, url, "feed", detection, NOW, NOW, tags=("topic:a",))
        c.execute("INSERT INTO source_key VALUES(?,?)", (n, source.id))
        c.execute("INSERT INTO source VALUES(?,?,?)", (n, url, msgspec.json.encode(source)))
        c.execute("INSERT INTO source_hot VALUES(?,?)", (n, hot))
        c.execute("INSERT INTO source_base VALUES(?,?)", (n, chance.randbytes(base)))
    bodies = [unsigned(START, id_of(START, 1), source_id(1), draft) for draft in DRAFTS]
    first = NOW - 86_400_000 << COUNTER_BITS
    insert = "INSERT INTO log VALUES(?,?,1,0,?)"
    c.executemany(insert, ((first + n, chance.randrange(sources), bodies[n % 500]) for n in range(events)))
    c.execute("COMMIT")
    c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    c.close()
    return folder


# --- measuring -------------------------------------------------------------------------------------------------------


def percentile(values: Sequence[float], p: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * p / 100))]


def row(figure: str, goal: str, met: bool, ours: str, limit: str = "", ratio: float | None = None) -> Row:
    return {"figure": figure, "goal": goal, "limit": limit, "ours": ours, "ratio": ratio, "met": met}


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Storage]:
    storage = await open_sqlite(folder, clock=time.time, owner="bench", warn=print)  # noqa: TID251  (a real clock)
    try:
        yield storage
    finally:
        await storage.aclose()


@asynccontextmanager
async def loop_lag() -> AsyncIterator[list[float]]:
    """Collect by how much a task that wants to run every 5 ms comes too late."""
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


Send = Callable[[int], Awaitable[object]]


async def closed_loop(send: Send, senders: int) -> float:
    """Let `senders` send one harvest after the other, each when the last is acknowledged; return harvests a second."""
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
    """Send at random times, `rate` a second on average; return how long each took from when it was due."""
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

    async def send(number: int) -> None:
        await storage.log.append([harvests[number % SOURCES]], storage.lease, mint, stamp)

    return send


class BareCommit:
    """The limit of ST1: a thread with a queue, one transaction for what waits, no signature and no promise."""

    def __init__(self, folder: Path) -> None:
        self.c = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
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


# --- the figures -----------------------------------------------------------------------------------------------------


async def harvests(folder: Path) -> list[Row]:
    """ST1 and ST3: harvest to commit, and what waking a thousand senders does to the loop."""
    found = []
    async with opened(seeded(folder / "st1")) as storage:
        for senders in (100, 1_000):
            bare_folder = folder / f"bare{senders}"
            bare_folder.mkdir()
            bare = BareCommit(bare_folder)
            limit = await closed_loop(bare.send, senders)
            bare.queue.put(None)
            await trio.to_thread.run_sync(bare.thread.join)
            async with loop_lag() as lags:
                ours = await closed_loop(sender(storage), senders)
            plain = await closed_loop(sender(storage, unsigned), senders)
            ratio = ours / limit
            met = ratio >= 0.35 and ours >= 2_000
            said = f"{ours:,.0f}/s ({plain:,.0f} unsigned)"
            name = f"ST1 harvest committed, signed, {senders:,} senders"
            found.append(row(name, ">= 0.35 of bare, >= 2,000/s", met, said, f"{limit:,.0f}/s", ratio))
    worst = max(lags)
    name = "ST3 loop lag, 1,000 senders woken"
    return [*found, row(name, "<= 50 ms", worst <= 0.05, f"{worst * 1e3:.0f} ms")]


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


async def acknowledgements(folder: Path) -> list[Row]:
    """ST2 and ST13: how long a harvest waits at 200 a second, without and with retention going on."""
    sync = fdatasync_p99(folder)
    async with opened(seeded(folder / "st2", events=20_000)) as storage:
        alone = percentile(await poisson(sender(storage), 200, 4), 99)
        slices = []

        async def prune() -> None:
            while True:
                start = trio.current_time()
                await storage.log.retain(Seq(1 << 62), 200, storage.lease)
                slices.append(trio.current_time() - start)
                await trio.sleep(0.05)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(prune)
            beside = percentile(await poisson(sender(storage), 200, 4), 99)
            nursery.cancel_scope.cancel()
    bound = 10 * sync + 0.010
    ack = row(
        "ST2 acknowledgement at 200/s, p99", "<= 10 fdatasync p99 + 10 ms", alone <= bound, f"{alone * 1e3:.1f} ms"
    )
    ack |= {"limit": f"{bound * 1e3:.1f} ms", "ratio": alone / bound}
    worst = max(slices)
    said = f"{worst * 1e3:.0f} ms, p99 {beside * 1e3:.1f} beside {alone * 1e3:.1f}"
    goal = "slice <= 50 ms, p99 <= 2 x"
    return [ack, row("ST13 retention, 200 a slice, at 200/s", goal, worst <= 0.05 and beside <= 2 * alone, said)]


async def wal_size(folder: Path) -> list[Row]:
    """ST4: the WAL under full load beside three readers that replay without pause."""
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
                largest = max(largest, os.path.getsize(wal))
                await trio.sleep(0.02)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(replay)
            nursery.start_soon(watch)
            rate = await closed_loop(sender(storage, unsigned), 300)
            nursery.cancel_scope.cancel()
    said = f"{largest / 1e6:.0f} MB at {rate:,.0f}/s"
    return [row("ST4 WAL, full load and three replays", "<= 64 MB", largest <= 64 << 20, said)]


async def disk(folder: Path) -> list[Row]:
    """ST5 and ST5b: bytes on the disk, and bytes written, an event."""
    chance = random.Random(5)
    sizes = [int(min(60_000, chance.lognormvariate(6.9, 0.9))) for _ in range(4_000)]  # as real feed entries are
    drafts = [a_draft(chance, size) for size in sizes]
    path = seeded(folder / "st5", sources=SOURCES)
    async with opened(path) as storage:
        before = os.path.getsize(path / DATABASE)
        mint, bodies = Mint(), 0
        for at in range(0, len(drafts), 100):
            batch = [a_harvest((at + n) % SOURCES, draft) for n, draft in enumerate(drafts[at : at + 100])]
            bodies += sum(len(e.body) for e in await storage.log.append(batch, storage.lease, mint, signed))
    held = (os.path.getsize(path / DATABASE) - before) / bodies
    said = f"{held:.2f} of {bodies / len(drafts):,.0f} B"
    on_disk = row("ST5 bytes on disk an event, of its body", "<= 1.35", held <= 1.35, said, ratio=held)

    path = seeded(folder / "st5b", sources=20_000, base=2_048, events=60_000)
    async with opened(path) as storage:
        mint, count = Mint(), 1_500
        before = written()
        for number in range(count):
            harvest = a_harvest(chance.randrange(20_000), DRAFTS[number % 500], base=chance.randbytes(2_048))
            await storage.log.append([harvest], storage.lease, mint, unsigned)
    each = (written() - before) / count / 1024
    name = "ST5b bytes written an event, 1 a commit, hot, base and index"
    return [on_disk, row(name, "<= 40 KB", each <= 40, f"{each:.0f} KB")]


def written() -> int:
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


async def replays(folder: Path) -> list[Row]:
    """ST6 and ST7: from storage to frames, alone, and a hundred clients that then tail."""
    count = 40_000
    path = seeded(folder / "st6", events=count)
    c = sqlite3.connect(path / DATABASE)
    start, at = time.perf_counter(), 0
    while page := c.execute("SELECT seq, body FROM log WHERE seq>? ORDER BY seq LIMIT 500", (at,)).fetchall():
        b"".join([b"event: feed\ndata: %b\nid: %x\n\n" % (body, seq) for seq, body in page])
        at = page[-1][0]
    limit = count / (time.perf_counter() - start)
    c.close()
    async with opened(path) as storage:
        start, cursor, got = time.perf_counter(), START, 0
        while cursor < storage.tail.head:
            found = await storage.log.read(cursor, 500, EVERYTHING)
            b"".join([b"event: feed\ndata: %b\nid: %x\n\n" % (e.body, e.seq) for e in found.events])
            got, cursor = got + len(found.events), found.scanned
        ours = got / (time.perf_counter() - start)
        met = ours >= 0.5 * limit and ours >= 50_000 and got == count
        name, goal = "ST6 replay, storage to frames", ">= 0.5 of bare, >= 50,000/s"
        alone = row(name, goal, met, f"{ours:,.0f}/s", f"{limit:,.0f}/s", ours / limit)
        return [alone, await crowd(storage)]


async def crowd(storage: Storage, clients: int = 100, live: int = 200) -> Row:
    """Let clients replay from random places and then tail, while events are committed; compare all with the log."""
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
            await storage.tail.publish(await storage.log.append([harvest], storage.lease, mint, unsigned))
        end.set()
    at = START
    while at < storage.tail.head:
        page = await storage.log.read(at, 500, EVERYTHING)
        all_seqs += [event.seq for event in page.events]
        at = page.scanned
    whole = all(mine == [seq for seq in all_seqs if seq > start] for mine, start in zip(got, joined, strict=True))
    worst = max(lags)
    said = f"{worst * 1e3:.0f} ms, {'whole' if whole else 'GAPS OR DUPLICATES'}"
    goal = "lag <= 25 ms, no gap, no duplicate"
    return row("ST7 100 clients replay, then tail", goal, worst <= 0.025 and whole, said)


async def cold_start(folder: Path) -> list[Row]:
    """ST10: reading 100,000 sources with their states, from opening the folder on."""
    count = 100_000
    path = seeded(folder / "st10", sources=count, base=200)
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
    met = took <= 5 and got == count
    name = "ST10 cold start, 100,000 sources read"
    return [row(name, "<= 5 s", met, f"{took:.1f} s", f"{limit:.2f} s bare", took / limit)]


def rows() -> list[Row]:
    """Measure everything; about a minute."""
    found: list[Row] = []
    for measure in (harvests, acknowledgements, wal_size, disk, replays, cold_start):
        folder = Path(tempfile.mkdtemp(prefix="bench-log-", dir=os.environ.get("BENCH_DIR")))  # noqa: TID251
        try:
            found += trio.run(measure, folder)
        finally:
            shutil.rmtree(folder)
    return found


def main() -> None:
    start = time.perf_counter()
    for each in rows():
        ratio = "" if each["ratio"] is None else f"{each['ratio']:.2f}"
        mark = "yes" if each["met"] else "NO"
        print(f"{each['figure']:62} {each['goal']:36} {each['limit']:>14} {each['ours']:>34} {ratio:>6} {mark:>4}")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
