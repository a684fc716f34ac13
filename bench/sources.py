"""The cost of a parked source: memory of its actor with its state, and the time to start and stop many of them.

`rows()` starts a separate process for each measurement, so that they share no memory.
"""

from __future__ import annotations

import gc
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import trio

from actors.egress.traffic import build_egress
from actors.settings import Settings
from actors.sources.feed.reader import FeedReader
from actors.sources.polling import PolledSource
from actors.sources.ports import LiveSource, Ports
from actors.world import World
from bench.topic import ROOT, Figure, Row, Topic, size
from sanderling.serve import COLLECT
from storage.records.identity import Millis, SourceId, id_of, seq_at
from storage.records.source import Detection, Source, SourceRuntime, Validators
from supervision import ChildSpec, DynamicSupervisor, Mailbox
from tests.support.passwords import NoPasswords

COUNT = size(20_000, 200)
TOPIC = Topic(
    "A parked source",
    "20,000 source actors with their states; the limit is a supervised task with a mailbox, in a process of its own.",
    ("actors/sources", "supervision"),
    {
        "memory": Figure("memory of a parked source actor with its state", "KB", "<= 12 KB"),
        "start": Figure("start of a source actor", "us", "<= 100 us"),
        "stop": Figure("stop of 100,000 source actors", "s", "<= 4 s"),
    },
)


def rows() -> Iterator[Row]:
    bare, real = _measured("bare"), _measured("real")
    yield Row("memory", real["kb"], bare["kb"])
    yield Row("start", real["start_us"], bare["start_us"])
    yield Row("stop", real["stop_s"] * 100_000 / COUNT, bare["stop_s"] * 100_000 / COUNT)


def _measured(kind: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.sources", kind], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _rss_kb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4.0


async def _measure(kind: str) -> dict[str, float]:
    gc.set_threshold(*COLLECT)  # as the service does
    make = _real_sources() if kind == "real" else None
    supervisor = DynamicSupervisor("sources", chance=random.Random(1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervisor.run)
        await trio.sleep(0.01)
        gc.collect()
        before, began = _rss_kb(), time.perf_counter()
        for number in range(COUNT):
            if make is not None:
                supervisor.start_child(make(number))
            else:
                mailbox: Mailbox[object] = Mailbox(f"m{number}", 2)

                async def wait(_child: object, mailbox: Mailbox[object] = mailbox) -> None:
                    with trio.move_on_after(3600):
                        await mailbox.receive()

                supervisor.start_child(ChildSpec(str(number), wait, mailbox=mailbox))
        await trio.sleep(0.05)
        started = time.perf_counter() - began
        gc.collect()
        used = _rss_kb() - before
        began = time.perf_counter()
        supervisor.stop()
    stopped = time.perf_counter() - began
    return {"kb": used / COUNT, "start_us": 1e6 * (started - 0.05) / COUNT, "stop_s": stopped}


def some_ports() -> Ports:
    """Return ports that lead nowhere."""
    chance = random.SystemRandom()
    none: Any = SimpleNamespace()
    world = World(
        wall=lambda: 1.8e9,
        chance=lambda name: chance,
        entropy=bytes,
        resolver=none,
        connector=none,
        listen=none,
        jail=none,
        open_storage=none,
        reach=lambda name: None,
        log=lambda *a, **k: None,
        passwords=NoPasswords(),
    )
    settings = Settings()
    egress = build_egress(world, settings)
    return Ports(world, settings, none, egress, Mailbox("recorder", 16), none, trio.CapacityLimiter(64))


def a_source(world: World, number: int) -> tuple[Source, SourceRuntime]:
    """Return the product's own record and memory of a feed that is due in half an hour."""
    now = world.now()
    url = f"https://host{number % 5000}.example/section/{number}/feed.xml"
    source = Source(
        id=SourceId(id_of(seq_at(now), number)),
        url=url,
        watch_url=url,
        type="feed",
        detection=Detection("feed", "high", "root element <rss version='2.0'>, 25 items", url, "text/xml"),
        created_at=now,
        updated_at=now,
    )
    hot = SourceRuntime(
        validators=Validators(f'"{number:x}-5f2a"', "Sat, 21 Nov 2026 10:00:00 GMT", f"{number:024x}"),
        looks=900,
        last_look_at=now,
        last_success_at=now,
        next_look_at=Millis(now + 1_800_000 + number),
        last_status=304,
        pace=b"\x84\xa7max_age\xcb\x00\x00\x00\x00\x00\x00\x00\x00",
    )
    return source, hot


def _real_sources() -> Callable[[int], ChildSpec]:
    """Return a maker of child specs for the product's own polled sources."""
    ports, tier = some_ports(), FeedReader(Settings().parse_deadline)

    def make(number: int) -> ChildSpec:
        live = LiveSource(*a_source(ports.world, number))
        return ChildSpec(live.source.id, PolledSource(ports, live, {live.source.type: tier}).run, mailbox=live.mailbox)

    return make


if __name__ == "__main__":
    print(json.dumps(trio.run(_measure, sys.argv[1])))
