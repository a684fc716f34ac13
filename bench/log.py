"""The log's figures (goals ST1 to ST13), each beside its limit, measured in the same run on the same disk.

`python -m bench.log` prints the table; `rows()` gives it to `make bench`. The limits are the barest programs that do
the same job with nothing around it: a group commit without signatures, a loop over a SELECT, a write and an fdatasync.
On a machine that has other work, only the ratios mean something, and the lags mean little.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import trio

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
from sanderling.serve import COLLECT
from storage.append import events_of
from storage.interface import Storage
from storage.records.cursor import EVERYTHING
from storage.records.identity import START, Seq
from storage.sqlite.engine.folder import DATABASE

Row = dict[str, Any]


def row(figure: str, goal: str, met: bool, ours: str, limit: str = "", ratio: float | None = None) -> Row:
    return {"figure": figure, "goal": goal, "limit": limit, "ours": ours, "ratio": ratio, "met": met}


def lag_row(figure: str, bound: int, lags: Sequence[float], whole: bool = True) -> Row:
    worst, p99 = max(lags) * 1e3, percentile(lags, 99) * 1e3
    goal = f"<= {bound} ms"
    said = f"{worst:.0f} ms (p99 {p99:.0f})" + ("" if whole else ", GAPS OR DUPLICATES")
    return row(figure, goal, worst <= bound and whole, said)


async def harvests(folder: Path) -> list[Row]:
    """ST1 and ST3: harvest to commit, and what waking a thousand senders does to the loop. Rounds alternate."""
    found, lags = [], [0.0]
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
            ratio = median([mine / other for mine, other in zip(rates["signed"], rates["bare"], strict=True)])
            said = f"{ours:,.0f}/s ({plain:,.0f} unsigned)"
            name = f"ST1 harvest committed, signed, {senders:,} senders"
            met = ratio >= 0.35 and ours >= 2_000
            found.append(row(name, ">= 0.35 of bare, >= 2,000/s", met, said, f"{limit:,.0f}/s", ratio))
    return [*found, lag_row("ST3 loop lag, 1,000 senders woken", 50, lags)]


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
                largest = max(largest, size_of(wal))
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
        before = size_of(path / DATABASE)
        mint, bodies = Mint(), 0
        for at in range(0, len(drafts), 100):
            batch = [a_harvest((at + n) % SOURCES, draft) for n, draft in enumerate(drafts[at : at + 100])]
            bodies += sum(len(e.body) for e in await storage.log.append(batch, storage.lease, mint, signed))
    held = (size_of(path / DATABASE) - before) / bodies
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


def size_of(path: Path) -> int:
    return path.stat().st_size


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
            await storage.tail.publish(events_of(await storage.log.append([harvest], storage.lease, mint, unsigned)))
        end.set()
    at = START
    while at < storage.tail.head:
        page = await storage.log.read(at, 500, EVERYTHING)
        all_seqs += [event.seq for event in page.events]
        at = page.scanned
    whole = all(mine == [seq for seq in all_seqs if seq > start] for mine, start in zip(got, joined, strict=True))
    return lag_row("ST7 100 clients replay, then tail: loop lag, all whole", 25, lags, whole)


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
    gc.set_threshold(*COLLECT)  # as the service does
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
