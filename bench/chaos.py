"""Three nodes on one PostgreSQL, hurt again and again under load, and then an audit of their promises.

`python -m bench.chaos --seconds 600` runs three services and a cluster on loopback, with feeds that publish constantly,
a reader that moves between nodes, receivers of deliveries, and a user who edits at any node. Faults: a node is killed
(`kill -9`), stopped for longer or shorter than a lease (SIGSTOP), asked to leave (SIGTERM), and returns; PostgreSQL
restarts, crashes, is absent, fails over, or cuts connections. At the end everything settles and is counted, as in
`bench.torture`. With `--standby late` the standby stops following before it takes over, so a failover loses events:
readers have seen some lost ones, and all are emitted again under other ids.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import trio

from bench.torture import Audit, Scene, edit_once, finished, note
from extras.cluster.postgres.engine import APPENDS, lock_of
from sanderling.client.api import Client, events_of
from tests.e2e.origin import Origin
from tests.e2e.service import Service, a_service, add
from tests.e2e.test_kill import BEGINNING, publish
from tests.e2e.test_kill_deliveries import Receiver, by_alert, tell
from tests.e2e.test_postgres import a_key, variables
from tests.support.postgres import Pair, a_pair

NODES = ("a", "b", "c")
FEEDS = 6
LEASE = 5.0
AGAIN = 1.0
"""Seconds between attempts to start a node, as in a systemd unit."""


class Town:
    """The running nodes by name, and everything that outlives them."""

    def __init__(self, scene: Scene, pair: Pair, named: Mapping[str, str], *, late: bool) -> None:
        self.scene, self.pair, self.named, self.late = scene, pair, named, late
        self.database = urlsplit(Path(named["SANDERLING_STORAGE_URL_FILE"]).read_text()).path.strip("/")
        self.nodes: dict[str, Service] = {}
        self.rests: dict[str, float] = {}

    async def keep(self, name: str) -> None:
        """Run a node, and restart it whenever it ends."""
        while True:
            folder = self.scene.folder / name
            async with a_service(folder, wait=False, SANDERLING_NODE_NAME=name, **self.named) as service:
                self.nodes[name] = service
                await service.process.wait()
                self.nodes.pop(name, None)
            await trio.sleep(self.rests.pop(name, AGAIN))

    def some(self) -> tuple[str, Service] | None:
        """Return a random node that responds."""
        ready = [(name, service) for name, service in sorted(self.nodes.items()) if service.url]
        return self.scene.chance.choice(ready) if ready else None


# --- faults ----------------------------------------------------------------------------------------------------------


async def killed(town: Town) -> None:
    if (node := town.some()) is not None:
        town.rests[node[0]] = town.scene.chance.uniform(0.0, 8.0)
        node[1].process.kill()


async def left(town: Town) -> None:
    if (node := town.some()) is not None:
        town.rests[node[0]] = town.scene.chance.uniform(0.0, 8.0)
        node[1].process.send_signal(signal.SIGTERM)


async def stopped(town: Town) -> None:
    """Stop a node, half of the time while its harvests wait for the log: everything may change before it continues."""
    if (node := town.some()) is not None:
        with suppress(psycopg.Error):
            async with held_log(town) if town.scene.chance.random() < 0.5 else nullcontext():
                await trio.sleep(town.scene.chance.uniform(0.1, 0.5))
                node[1].process.send_signal(signal.SIGSTOP)
        await trio.sleep(town.scene.chance.uniform(0.5, 2.5 * LEASE))
        with suppress(ProcessLookupError):
            node[1].process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def held_log(town: Town) -> AsyncIterator[None]:
    """Hold the append lock. Wait on a thread: another fault or a stopped node may hold it."""
    with psycopg.connect(town.pair.primary.url(town.database), autocommit=False) as other:
        await trio.to_thread.run_sync(other.execute, lock_of(APPENDS).encode())
        yield
        other.rollback()


async def slow(town: Town) -> None:
    with suppress(psycopg.Error):
        async with held_log(town):
            await trio.sleep(town.scene.chance.uniform(0.1, 3.0))


async def cut(town: Town) -> None:
    """End half of the sessions at any point of their work."""
    with suppress(psycopg.Error), psycopg.connect(town.pair.primary.url(town.database), autocommit=True) as other:
        found = other.execute(
            "SELECT pid FROM pg_stat_activity WHERE pid<>pg_backend_pid() AND datname=current_database()"
        )
        for (pid,) in found.fetchall():
            if town.scene.chance.random() < 0.5:
                other.execute("SELECT pg_terminate_backend(%s)", (pid,))


async def restarted(town: Town) -> None:
    await away(town, "fast", 0.0)


async def crashed(town: Town) -> None:
    await away(town, "immediate", town.scene.chance.uniform(0.0, 1.6 * LEASE))


async def away(town: Town, how: str, seconds: float) -> None:
    await trio.to_thread.run_sync(town.pair.primary.stop, how)
    await trio.sleep(seconds)
    await trio.to_thread.run_sync(town.pair.primary.start)


async def failed_over(town: Town) -> None:
    """Fail over; the old primary becomes the standby."""
    if town.late:
        await trio.to_thread.run_sync(town.pair.standby.stop, "fast")
        await trio.sleep(town.scene.chance.uniform(0.5, 3.0))
    await trio.to_thread.run_sync(town.pair.fail_over)
    await trio.sleep(town.scene.chance.uniform(0.0, LEASE))
    await trio.to_thread.run_sync(town.pair.standby.follow, town.pair.primary)


Fault = Callable[[Town], Awaitable[None]]
FAULTS: Mapping[str, tuple[Fault, int]] = {
    "kill -9": (killed, 4),
    "SIGSTOP": (stopped, 3),
    "leave": (left, 3),
    "log held": (slow, 2),
    "lines cut": (cut, 2),
    "PostgreSQL restarts": (restarted, 1),
    "PostgreSQL crashes": (crashed, 1),
    "PostgreSQL fails over": (failed_over, 3),
}
"""Each with its weight in the draw."""


# --- load ------------------------------------------------------------------------------------------------------------


async def wander(town: Town) -> None:
    """Read from the previous node's cursor on; record events in the order seen."""
    scene = town.scene
    while True:
        node = town.some()
        if node is not None:
            headers = {"X-API-Key": scene.key, "Last-Event-ID": next(reversed(scene.seen), BEGINNING)}
            with suppress(httpx.HTTPError), trio.move_on_after(scene.chance.uniform(1.0, 10.0)):
                async with (
                    httpx.AsyncClient(base_url=node[1].url, headers=headers, timeout=30) as client,
                    client.stream("GET", "/v1/stream") as answer,
                ):
                    async for event in events_of(answer):
                        note(scene, event)
        await trio.sleep(0.2)


async def edit(town: Town) -> None:
    while True:
        node = town.some()
        if node is not None:
            headers = {"X-API-Key": town.scene.key}
            async with httpx.AsyncClient(base_url=node[1].url, headers=headers, timeout=5) as client:
                for _ in range(10):
                    await edit_once(town.scene, client)
                    await trio.sleep(0.1)
        else:
            await trio.sleep(0.2)


# --- the run ---------------------------------------------------------------------------------------------------------


async def chaos(folder: Path, seconds: float, seed: int, *, late: bool) -> tuple[Audit, Counter[str]]:
    """Hurt three nodes for so many seconds; return the audit."""
    chance = random.Random(seed)
    receiver = Receiver(lambda: chance.uniform(0.0, 0.1))
    pager = Receiver(lambda: chance.uniform(0.0, 0.1), by_alert)
    pair = a_pair("")
    if not late:
        pair.wait_for_standby()
    named = await variables(folder, pair.primary, pair.folders)
    scene = Scene(folder, await a_key(folder / "a", named), chance, receiver, pager)
    town = Town(scene, pair, named, late=late)
    async with trio.open_nursery() as nursery:
        await nursery.start(receiver.serve)
        await nursery.start(pager.serve)
        for name in NODES:
            nursery.start_soon(town.keep, name)
        while len([node for node in town.nodes.values() if node.url]) < len(NODES):  # noqa: ASYNC110 - they are processes
            await trio.sleep(0.2)
        await begin(town, nursery)
        async with trio.open_nursery() as load:
            for origin in scene.origins.values():
                load.start_soon(publish, origin, chance.uniform(0.2, 1.0))
            load.start_soon(wander, town)
            load.start_soon(edit, town)
            await hurt(town, trio.current_time() + seconds)
            load.cancel_scope.cancel()
        await trio.sleep(2 * LEASE)
        node = town.some()
        assert node is not None, "no node has come back"
        async with Client(node[1].url, scene.key) as client:
            audit = await finished(scene, client)
        nursery.cancel_scope.cancel()
    pair.end()
    return audit, scene.tried


async def begin(town: Town, nursery: trio.Nursery) -> None:
    node = town.some()
    assert node is not None
    async with Client(node[1].url, town.scene.key) as client:
        for _ in range(FEEDS):
            origin = Origin()
            await nursery.start(origin.serve)
            town.scene.origins[str((await add(client, f"http://{origin.place}/feed"))["id"])] = origin
        await tell(client, town.scene.origins, town.scene.receiver, town.scene.pager)


async def hurt(town: Town, until: float) -> None:
    names = [name for name, (_, weight) in FAULTS.items() for _ in range(weight)]
    async with trio.open_nursery() as nursery:
        while trio.current_time() < until:
            await trio.sleep(town.scene.chance.uniform(0.0, 6.0))
            name = town.scene.chance.choice(names)
            town.scene.tried[name] += 1
            fault = partial(FAULTS[name][0], town)
            if name == "SIGSTOP":
                nursery.start_soon(fault)  # other faults continue in parallel
            else:
                await fault()


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.chaos", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--standby", choices=("waited for", "late"), default="waited for")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = partial(chaos, late=given.standby == "late")
        audit, tried = trio.run(run, Path(folder), given.seconds, given.seed)
    for name, count in tried.items():
        print(f"{name:22}{count:6} times")
    for name in Audit.__dataclass_fields__:
        print(f"{name.replace('_', ' '):22}{getattr(audit, name):6}")
    if given.standby == "late":  # events seen or delivered before they were lost are no fault
        audit = replace(audit, seen_and_gone=0, undelivered=0, told_again=0)
    return 0 if audit.holds else 1


if __name__ == "__main__":
    sys.exit(main())
