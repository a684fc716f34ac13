"""Many sources on several nodes of one database.

Every node is the whole product; they share the in-loop database engine and a simulated network. Each host has a hundred
sources, each with an interval of a day and its own moment.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import trio
import trio.testing
from msgspec.structs import replace

from bench.sources import a_source
from bench.topic import Figure, Row, Topic, size
from storage.records.identity import Millis
from storage.records.source import SourceState
from tests.actors.sources.harness import Origin, rss
from tests.extras.cluster.members.harness import Land, Node
from tests.support.in_loop_nodes import InLoopNode
from tests.support.memory_network import web

COUNT, NODES = size(100_000, 400), size(4, 2)
A_HOST = 100
DAY = 86_400
QUARTER = 900
TOPIC = Topic(
    "Many sources on several nodes",
    "100,000 sources on four whole nodes in one process under a virtual clock; memory and seconds are of all four.",
    ("extras/cluster/members", "actors/sources", "storage/sqlite"),
    {
        "start": Figure("until all nodes run", "s"),
        "memory": Figure("memory", "GiB"),
        "share": Figure("the largest share, of an even one", "", "<= 1.2"),
        "late": Figure("sources late by a minute in a quarter of an hour", "", "<= 0"),
        "killed": Figure("virtual time until a killed node's sources have an owner, none two", "s", "<= 10 s"),
    },
)


async def _measure() -> list[Row]:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        await _fill(land, COUNT)
        started = time.perf_counter()
        running = [await land.start(f"node-{number}") for number in range(NODES)]
        await _until_each_has_one_owner(running, COUNT)
        start = time.perf_counter() - started
        share = max(len(node.watched()) for node in running) / (COUNT / NODES)
        await trio.sleep(QUARTER)
        late = sum(_late(node) for node in running)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        killed = await _kill(running, COUNT)
        nursery.cancel_scope.cancel()
    return [
        Row("start", start),
        Row("memory", memory),
        Row("share", share),
        Row("late", late),
        Row("killed", killed),
    ]


async def _kill(running: list[Node], count: int) -> float:
    lost, *left = running
    began = trio.current_time()
    lost.kill()
    await _until_each_has_one_owner(left, count)
    return trio.current_time() - began


async def _until_each_has_one_owner(nodes: Sequence[Node], count: int) -> None:
    """Raises AssertionError if a source has two owners, or after ten virtual minutes."""
    for _ in range(600):
        owners = Counter(url for node in nodes for url in node.watched())
        if len(owners) == count and max(owners.values()) == 1:
            return
        await trio.sleep(1)
    raise AssertionError(f"{len(owners):,} of {count:,} have an owner; the most that one has: {max(owners.values())}")


def _late(node: Node) -> int:
    now = node.world.now()
    table = node.system.registry.table
    mine = (live for part in table.slices() for live in part if table.is_running(live))
    return sum((live.hot.next_look_at or now) < now - 60_000 for live in mine)


async def _fill(land: Land, count: int) -> None:
    storage = InLoopNode(land.disk, land.disk.start("filling"))
    world: Any = Node("clock", land.disk, land.network, land.settings).world
    for number in range(count):
        source, hot = a_source(world, number)
        host = number // A_HOST
        if number % A_HOST == 0:
            land.origins[f"host{host}.example"] = origin = Origin()
            address = f"93.{host >> 16}.{host >> 8 & 255}.{host & 255}"
            land.network.add(f"host{host}.example", address, web(origin, origin.asked))
        url = f"http://host{host}.example/{number % A_HOST}"
        land.origins[f"host{host}.example"].bodies[f"/{number % A_HOST}"] = rss("first")
        due = Millis(world.now() + 60_000 + number * 1000 * DAY // count)
        await storage.sources.add(
            replace(source, url=url, watch_url=url, schedule=DAY),
            SourceState(source.id, replace(hot, next_look_at=due), b""),
            storage.lease,
        )


def rows() -> Iterator[Row]:
    yield from trio.run(_measure, clock=trio.testing.MockClock(autojump_threshold=0))
