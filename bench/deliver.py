"""Deliveries: signed and durable ones per second next to bare httpx, the cost of a stalled receiver, and parked ones.

Ours claims each row, signs it, lets the guard connect, posts, and settles it with a line in the attempts log.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import trio

from bench.deliver_house import Receiver, a_receiver, a_world, delivering, match, prepare, publish
from bench.log_loads import opened, percentile
from bench.log_material import seeded
from bench.topic import Figure, Row, Topic, size
from sanderling.real_world import monotonic
from storage.records.destination import WEBHOOK
from storage.sql.storage import Storage

DESTINATIONS, EVENTS = 5, size(1_000, 20)
AT_ONCE = 4 * DESTINATIONS
PARKED = size(5_000, 50)
SAMPLES = size(300, 10)
ROUNDS = size(3, 1)
TOPIC = Topic(
    "Deliveries",
    "Five destinations of four requests at once, on SQLite; bare httpx posts the same bodies to the same receiver, "
    "unsigned and written down nowhere.",
    ("actors/delivery", "actors/destination_kinds", "actors/egress", "storage/sqlite"),
    {
        "webhook": Figure("webhooks, signed and durable", "/s", ">= 0.6 x bare httpx"),
        "ntfy": Figure("durable messages by ntfy", "/s", ">= 0.6 x bare httpx"),
        "stalled": Figure("D8 a stalled receiver delays others, from match to arrival, p99", "ms", "<= 100 ms"),
        "memory": Figure("memory of a parked destination, 5,000 of them", "KB", "<= 20 KB"),
        "start": Figure("start of 5,000 destinations", "s", "<= 5 s"),
        "stop": Figure("stop of 5,000 destinations", "s", "<= 3 s"),
    },
)


async def bare(receiver: Receiver, bodies: Sequence[bytes]) -> float:
    """Return bare httpx' requests per second."""
    waiting = [body for body in bodies for _ in range(DESTINATIONS)]
    limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)

    async with httpx.AsyncClient(limits=limits, trust_env=False, timeout=15) as client:

        async def post() -> None:
            while waiting:
                await client.post(
                    receiver.url("bare"), content=waiting.pop(), headers={"Content-Type": "application/json"}
                )

        began, count = trio.current_time(), len(waiting)
        async with trio.open_nursery() as nursery:
            for _ in range(AT_ONCE):
                nursery.start_soon(post)
    return count / (trio.current_time() - began)


async def drained(storage: Storage, hooks: Sequence[str]) -> None:
    """Wait until nothing is pending for these destinations."""
    for hook in hooks:
        while await storage.outbox.backlog(hook):  # noqa: ASYNC110 - no event reports it
            await trio.sleep(0.01)


async def throughput(folder: Path, kind: str) -> Row:
    """Measure a kind's deliveries and bare requests in turns."""
    limits, ours, world = [], [], a_world()
    with a_receiver() as receiver:
        async with opened(seeded(folder, sources=1)) as storage:
            hooks = await prepare(storage, [receiver.url(f"hook/{number}") for number in range(DESTINATIONS)], kind)
            for _ in range(ROUNDS):
                events = await publish(storage, EVENTS)
                limits.append(await bare(receiver, [event.body for event in events]))
                await match(storage, hooks, events, world)
                began = trio.current_time()
                async with delivering(storage, world):
                    await drained(storage, hooks)
                    ours.append(EVENTS * DESTINATIONS / (trio.current_time() - began))
    return Row(kind, statistics.median(ours), statistics.median(limits))


async def delay(folder: Path, *, stalled: bool) -> list[float]:
    """Return the seconds from a match's commit to its arrival, with or without a stalled receiver."""
    world, sent = a_world(), []
    with a_receiver() as receiver:
        async with opened(seeded(folder, sources=1)) as storage:
            slow, quick = await prepare(storage, [receiver.url("stall"), receiver.url("timed")])
            events = await publish(storage, SAMPLES + 50)
            if stalled:
                await match(storage, [slow], events, world)
            async with delivering(storage, world) as registry:
                await trio.sleep(0.5)
                for event in events[:SAMPLES]:
                    await match(storage, [quick], [event], world)
                    sent.append(monotonic())
                    registry.nudge(quick)
                    await trio.sleep(0.02)
                await drained(storage, [quick])
        arrived = receiver.end()
    return [at - began for began, at in zip(sent, arrived, strict=True)]


async def parked(folder: Path) -> list[Row]:
    """Measure many idle destinations: memory, start, stop."""
    world = a_world()
    async with opened(seeded(folder, sources=1)) as storage:
        await prepare(storage, [f"https://host{number}.example/hook/{number:032x}" for number in range(PARKED)])
        gc.collect()
        before, began = _rss_kb(), trio.current_time()
        async with delivering(storage, world) as registry:
            while registry.mailbox(f"hook{PARKED - 1}") is None:  # noqa: ASYNC110 - no event reports it
                await trio.sleep(0.01)
            await storage.outbox.backlog("hook0")
            started = trio.current_time() - began
            await trio.sleep(2)
            gc.collect()
            used, began = (_rss_kb() - before) / PARKED, trio.current_time()
        stopped = trio.current_time() - began
    return [Row("memory", used), Row("start", started), Row("stop", stopped)]


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as place:
        folder = Path(place)
        for kind in (WEBHOOK, "ntfy"):
            yield trio.run(throughput, folder / kind, kind)
        alone, beside = (trio.run(partial(delay, folder / f"{on}", stalled=on)) for on in (False, True))
        p99 = percentile(alone, 99)
        yield Row("stalled", 1000 * (percentile(beside, 99) - p99), note=f"{1000 * p99:.1f} ms without")
        yield from trio.run(parked, folder / "parked")


def _rss_kb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4.0
