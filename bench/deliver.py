"""Deliveries: signed, durable ones a second beside bare httpx; what a stalled receiver costs others; parked ones.

Bare httpx posts the same bodies to the same receiver, as many at once, unsigned and written down nowhere. Ours claims
each row, signs it, has the guard connect, posts, and settles it with a line in the attempts log, all on SQLite.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import trio

from bench.deliver_house import Receiver, a_receiver, a_world, delivering, match, prepare, publish
from bench.log_loads import opened, percentile
from bench.log_material import seeded
from sanderling.real_world import monotonic
from storage.interface import Storage
from storage.records.destination import WEBHOOK

DESTINATIONS, EVENTS = 5, 1_000
AT_ONCE = 4 * DESTINATIONS
PARKED = 5_000
SAMPLES = 300


async def bare(receiver: Receiver, bodies: Sequence[bytes]) -> float:
    """Return the requests a second of bare httpx."""
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
    """Return when nothing waits for these destinations."""
    for hook in hooks:
        while await storage.outbox.backlog(hook):  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(0.01)


async def throughput(folder: Path, kind: str = WEBHOOK) -> list[dict[str, Any]]:
    """Measure deliveries of a kind and bare requests in turns."""
    limits, ours, world = [], [], a_world()
    with a_receiver() as receiver:
        async with opened(seeded(folder, sources=1)) as storage:
            hooks = await prepare(storage, [receiver.url(f"hook/{number}") for number in range(DESTINATIONS)], kind)
            for _ in range(3):
                events = await publish(storage, EVENTS)
                limits.append(await bare(receiver, [event.body for event in events]))
                await match(storage, hooks, events, world)
                began = trio.current_time()
                async with delivering(storage, world):
                    await drained(storage, hooks)
                    ours.append(EVENTS * DESTINATIONS / (trio.current_time() - began))
    limit, mine = statistics.median(limits), statistics.median(ours)
    how = "signed, durable deliveries" if kind == WEBHOOK else f"durable messages by {kind}"
    figure = f"{how}, {DESTINATIONS} destinations of 4 requests"
    return [
        _row(figure, ">= 0.60 of bare httpx", f"{limit:,.0f}/s", f"{mine:,.0f}/s", mine / limit, mine >= 0.6 * limit)
    ]


async def delay(folder: Path, *, stalled: bool) -> list[float]:
    """Return the seconds from the commit of a match to its arrival, beside a receiver that never answers or alone."""
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


async def parked(folder: Path) -> list[dict[str, Any]]:
    """Measure many idle destinations: memory, start, stop."""
    world = a_world()
    async with opened(seeded(folder, sources=1)) as storage:
        await prepare(storage, [f"https://host{number}.example/hook/{number:032x}" for number in range(PARKED)])
        gc.collect()
        before, began = _rss_kb(), trio.current_time()
        async with delivering(storage, world) as registry:
            while registry.mailbox(f"hook{PARKED - 1}") is None:  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(0.01)
            await storage.outbox.backlog("hook0")
            started = trio.current_time() - began
            await trio.sleep(2)
            gc.collect()
            used, began = (_rss_kb() - before) / PARKED, trio.current_time()
        stopped = trio.current_time() - began
    return [
        _row(f"memory of a parked destination, {PARKED:,} of them", "<= 20 KB", "", f"{used:.1f} KB", None, used <= 20),
        _row(f"start of {PARKED:,} destinations", "<= 5 s", "", f"{started:.2f} s", None, started <= 5),
        _row(f"stop of {PARKED:,} destinations", "<= 3 s", "", f"{stopped:.2f} s", None, stopped <= 3),
    ]


def rows() -> list[dict[str, Any]]:
    """Measure and return the rows of the table."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        found = trio.run(throughput, folder / "throughput")
        found += trio.run(throughput, folder / "messages", "ntfy")
        alone = trio.run(partial(delay, folder / "alone", stalled=False))
        beside = trio.run(partial(delay, folder / "beside", stalled=True))
        extra = percentile(beside, 99) - percentile(alone, 99)
        limit, ours = f"{1000 * percentile(alone, 99):.1f} ms alone", f"{1000 * percentile(beside, 99):.1f} ms"
        figure = "D8 commit of a match to its arrival, p99, beside a stalled receiver"
        found.append(_row(figure, "< 100 ms more", limit, ours, None, extra < 0.1))
        return found + trio.run(parked, folder / "parked")


def _rss_kb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4.0


def _row(figure: str, goal: str, limit: str, ours: str, ratio: float | None, met: bool) -> dict[str, Any]:
    return {"figure": figure, "goal": goal, "limit": limit, "ours": ours, "ratio": ratio, "met": met}
