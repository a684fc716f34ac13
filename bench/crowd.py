"""`python -m bench.crowd [--sources 100000] [--nodes 4]`: many sources over several nodes of one database.

Every node is the whole product; the database is the in-loop engine that all share, the network is memory. Each host has
a hundred sources, each with an interval of a day and a moment of its own in it. Printed are the real seconds until all
nodes run, how even the shares are, memory, the looks of a quarter of an hour that were late, and, after a node was
killed, how many virtual seconds it took until each of its sources had an owner again, and whether any had two.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import trio
import trio.testing
from msgspec.structs import replace

from bench.sources import a_source
from storage.records.identity import Millis
from storage.records.source import SourceState
from storage.sqlite.in_loop_nodes import InLoopNode
from tests.actors.members.harness import Land, Node
from tests.actors.sources.harness import Origin, rss
from tests.support.memory_network import web

A_HOST = 100
DAY = 86_400
QUARTER = 900


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.crowd", description=__doc__)
    parser.add_argument("--sources", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=4)
    asked = parser.parse_args()
    clock = trio.testing.MockClock(autojump_threshold=0)
    trio.run(_measure, asked.sources, asked.nodes, clock=clock)


async def _measure(count: int, nodes: int) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        started = time.perf_counter()
        await _fill(land, count)
        _say(f"{count:,} sources stored", started)
        started = time.perf_counter()
        running = [await land.start(f"node-{number}") for number in range(nodes)]
        await _until_each_has_one_owner(running, count)
        _say(f"{nodes} nodes run, each knows all", started)
        shares = [len(node.watched()) for node in running]
        print(f"shares {shares}: {max(shares) / (count / nodes):.3f} of an even one at most", flush=True)
        started = time.perf_counter()
        before = sum(len(origin.asked) for origin in land.origins.values())
        await trio.sleep(QUARTER)
        looks = sum(len(origin.asked) for origin in land.origins.values()) - before
        late = sum(_late(node) for node in running)
        _say(f"{looks:,} requests in a quarter of an hour, {late} sources late by a minute", started)
        await _kill(running, count)
        nursery.cancel_scope.cancel()


async def _kill(running: list[Node], count: int) -> None:
    lost, *left = running
    theirs = lost.watched()
    started, began = time.perf_counter(), trio.current_time()
    lost.kill()
    await _until_each_has_one_owner(left, count)
    waited = trio.current_time() - began
    _say(f"a node with {len(theirs):,} was killed: all have an owner again after {waited:.1f} virtual s", started)


async def _until_each_has_one_owner(nodes: Sequence[Node], count: int) -> None:
    """Wait for it. Raises AssertionError when a source has two, or ten virtual minutes were not enough."""
    for _ in range(600):
        owners = Counter(url for node in nodes for url in node.watched())
        if len(owners) == count and max(owners.values()) == 1:
            return
        await trio.sleep(1)
    raise AssertionError(f"{len(owners):,} of {count:,} have an owner; the most that one has: {max(owners.values())}")


def _late(node: Node) -> int:
    now = node.world.now()
    table = node.system.registry.table
    mine = (live for part in table.slices() for live in part if table.runs(live))
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


def _say(what: str, started: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{what}: {time.perf_counter() - started:.1f} real s, {peak:.2f} GiB at most so far", flush=True)


if __name__ == "__main__":
    main()
