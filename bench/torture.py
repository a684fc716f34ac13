"""The real service on a real disk, hurt again and again under load, and then an audit of what it promised.

`python -m bench.torture --kills 300 --stops 50` runs one service on loopback with three feeds that publish constantly,
a live reader, a receiver of deliveries, another that acts as PagerDuty, and a user who edits sources and alerts.
Between two faults it works for a moment. Faults: `kill -9`, SIGSTOP for some seconds, a database locked by another
process, a full disk (a small tmpfs, as root), no file descriptors, no memory, and an unreachable replica. At the end it
is left alone, and everything is counted: published but not in the log (lost), twice in the log (doubled), seen by a
live reader but not in the log, delivered with two bodies or not at all, and missing on a standby.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import httpx
import trio
from httpx_sse import ServerSentEvent

from extras.cluster.replica.log import FolderObjects
from extras.cluster.replica.place import replica_keys
from extras.cluster.standby import Follower, StandbyCopy
from sanderling.client.api import Client, events_of
from sanderling.exits import CommandFailed
from storage.sqlite.engine import DATABASE
from tests.e2e.origin import Origin
from tests.e2e.service import Service, a_key, a_service, add
from tests.e2e.test_kill import BEGINNING, publish
from tests.e2e.test_kill_deliveries import Receiver, by_alert, tell, told_to

FEEDS = 3
QUIET_WITHIN = 600.0
"""Seconds for the service at the end to check, match and deliver the rest."""
DISK = 48 << 20
"""Bytes of the small disk."""
SHORT: Mapping[str, int] = {
    "kill -9": 3,
    "SIGSTOP": 1,
    "locked": 1,
    "full disk": 1,
    "no descriptors": 1,
    "no memory": 1,
    "no replica": 1,
}


@dataclass
class Scene:
    """State that outlives a run: origins by source, receivers (a program, PagerDuty), and a live reader's events."""

    folder: Path
    key: str
    chance: random.Random
    receiver: Receiver
    pager: Receiver
    replica: Path = Path("replica")
    origins: dict[str, Origin] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Audit:
    """The final counts. All but `published` and `delivered_again` should be 0. told_again: events in more than one
    notification; repeated messages do not count.
    """

    published: int
    lost: int
    doubled: int
    out_of_order: int
    seen_and_gone: int
    seen_twice: int
    undelivered: int
    told_again: int
    of_two_bodies: int
    delivered_again: int
    not_in_the_replica: int = 0

    @property
    def holds(self) -> bool:
        harmless = {"published", "delivered_again"}
        return not any(count for name, count in asdict(self).items() if name not in harmless)


# --- faults ----------------------------------------------------------------------------------------------------------


async def killed(scene: Scene, service: Service) -> None:
    service.process.kill()
    await service.process.wait()


async def stopped(scene: Scene, service: Service) -> None:
    service.process.send_signal(signal.SIGSTOP)
    await trio.sleep(scene.chance.uniform(0.5, 4.0))
    service.process.send_signal(signal.SIGCONT)


async def locked(scene: Scene, service: Service) -> None:
    with closing(sqlite3.connect(scene.folder / DATABASE, isolation_level=None, timeout=5)) as other:
        other.execute("BEGIN IMMEDIATE")
        await trio.sleep(scene.chance.uniform(1.0, 12.0))
        other.execute("ROLLBACK")


async def full(scene: Scene, service: Service) -> None:
    filler = scene.folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        await trio.sleep(scene.chance.uniform(2.0, 8.0))
    finally:
        filler.unlink(missing_ok=True)


async def without_descriptors(scene: Scene, service: Service) -> None:
    pid = service.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")), before[1]))
    await trio.sleep(scene.chance.uniform(1.0, 5.0))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


async def without_memory(scene: Scene, service: Service) -> None:
    """Limit the process to hardly more address space than it has, so that larger allocations fail."""
    pid = service.process.pid
    with suppress(ProcessLookupError, FileNotFoundError):  # it may end from this, and is restarted
        before = resource.prlimit(pid, resource.RLIMIT_AS)
        most = address_space(pid) + scene.chance.choice((0, 1 << 20, 8 << 20))
        resource.prlimit(pid, resource.RLIMIT_AS, (most, before[1]))
        await trio.sleep(scene.chance.uniform(1.0, 5.0))
        resource.prlimit(pid, resource.RLIMIT_AS, before)


async def without_replica(scene: Scene, service: Service) -> None:
    away = scene.replica.with_name("away")
    scene.replica.rename(away)
    await trio.sleep(scene.chance.uniform(1.0, 8.0))
    away.rename(scene.replica)


def address_space(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()


Fault = Callable[[Scene, Service], Awaitable[None]]
FAULTS: Mapping[str, Fault] = {
    "kill -9": killed,
    "SIGSTOP": stopped,
    "locked": locked,
    "full disk": full,
    "no descriptors": without_descriptors,
    "no memory": without_memory,
    "no replica": without_replica,
}


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """Mount a small tmpfs if allowed; else yield None."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", "tmpfs", folder]
        if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


# --- load ------------------------------------------------------------------------------------------------------------


async def read_live(scene: Scene, service: Service) -> None:
    """Read from the previous run's cursor on; record events in the order seen."""
    while True:
        headers = {"X-API-Key": scene.key, "Last-Event-ID": next(reversed(scene.seen), BEGINNING)}
        with suppress(httpx.HTTPError):
            async with (
                httpx.AsyncClient(base_url=service.url, headers=headers, timeout=30) as client,
                client.stream("GET", "/v1/stream") as answer,
            ):
                async for event in events_of(answer):
                    note(scene, event)
        await trio.sleep(0.2)


def note(scene: Scene, event: ServerSentEvent) -> None:
    if event.id in scene.seen:
        scene.repeated.append(event.id)
    scene.seen[event.id] = json.loads(event.data)["title"]


async def edit(scene: Scene, service: Service) -> None:
    """Request checks, and edit sources and alerts, constantly."""
    async with httpx.AsyncClient(base_url=service.url, headers={"X-API-Key": scene.key}, timeout=20) as client:
        while True:
            await edit_once(scene, client)
            await trio.sleep(0.1)


async def edit_once(scene: Scene, client: httpx.AsyncClient) -> None:
    """Request a check, or change something."""
    steps: Sequence[Mapping[str, object]] = (
        {"tags": ["label:a"]},
        {"tags": []},
        {"enabled": False},
        {"enabled": True},
        {"title": "mine"},
    )
    source = scene.chance.choice(list(scene.origins))
    with suppress(httpx.HTTPError):
        if scene.chance.random() < 0.3:
            await client.patch(f"/v1/sources/{source}", json=dict(scene.chance.choice(steps)))
        else:
            await client.post(f"/v1/sources/{source}/check")
        if scene.chance.random() < 0.1:
            await client.post("/v1/alerts", json={"filter_query": "nobody says this", "enabled": False})


# --- the run ---------------------------------------------------------------------------------------------------------


async def torture(folder: Path, replica: Path, counts: Mapping[str, int], seed: int) -> tuple[Audit, Counter[str]]:
    """Hurt a service as often as `counts` says, in random order; return the audit."""
    chance = random.Random(seed)
    receiver = Receiver(lambda: chance.uniform(0.0, 0.1))
    pager = Receiver(lambda: chance.uniform(0.0, 0.1), by_alert)
    scene = Scene(folder, a_key(folder), chance, receiver, pager, replica)
    plan = [name for name, count in counts.items() for _ in range(count)]
    chance.shuffle(plan)
    async with trio.open_nursery() as nursery:
        await nursery.start(scene.receiver.serve)
        await nursery.start(scene.pager.serve)
        await begin(scene, nursery)
        while plan:
            plan = await live(scene, plan)
        audit = await settle(scene)
        nursery.cancel_scope.cancel()
    return audit, scene.tried


async def begin(scene: Scene, nursery: trio.Nursery) -> None:
    async with serving(scene) as service, Client(service.url, scene.key) as client:
        for _ in range(FEEDS):
            origin = Origin()
            await nursery.start(origin.serve)
            scene.origins[str((await add(client, f"http://{origin.place}/feed"))["id"])] = origin
        await tell(client, scene.origins, scene.receiver, scene.pager)


async def live(scene: Scene, plan: Sequence[str]) -> list[str]:
    """Run the service until a fault ends it or the plan is complete; return the rest of the plan."""
    left = list(plan)
    early = scene.chance.random() < 0.1 and left[0] == "kill -9"
    async with serving(scene, wait=not early) as service, trio.open_nursery() as load:
        for origin in scene.origins.values():
            load.start_soon(publish, origin, scene.chance.uniform(0.2, 1.0))
        if not early:
            load.start_soon(read_live, scene, service)
            load.start_soon(edit, scene, service)
        while left and service.process.returncode is None:
            await trio.sleep(scene.chance.uniform(0.0, 1.0))
            fault = left.pop(0)
            scene.tried[fault] += 1
            await FAULTS[fault](scene, service)
        service.process.kill()
        load.cancel_scope.cancel()
    return left


async def settle(scene: Scene) -> Audit:
    """Let the service finish and stop in order, then count."""
    async with serving(scene) as service:
        async with Client(service.url, scene.key) as client:
            audit = await finished(scene, client)
        service.process.terminate()
        await service.process.wait()
    return replace(audit, not_in_the_replica=await lacking(scene))


def serving(scene: Scene, *, wait: bool = True) -> AbstractAsyncContextManager[Service]:
    return a_service(scene.folder, wait=wait, SANDERLING_REPLICA=str(scene.replica))


async def lacking(scene: Scene) -> int:
    """Return how many events a standby on the replica would lack or have differently."""
    with tempfile.TemporaryDirectory() as folder:
        copy = StandbyCopy(Path(folder), replica_keys(scene.folder, {}))
        standing = await Follower(FolderObjects(scene.replica), copy).step()
        if standing.says:
            print(f"the standby reports: {standing.says}")
        there = events(copy.database) if copy.applied is not None else frozenset()
    return len(events(scene.folder / DATABASE) ^ there)


def events(database: Path) -> frozenset[tuple[int, bytes]]:
    with closing(sqlite3.connect(database)) as connection:
        return frozenset(connection.execute("SELECT seq, body FROM log"))


async def finished(scene: Scene, client: Client) -> Audit:
    """Wait until everything published is emitted and delivered, within the limit; then count."""
    log: dict[str, tuple[str, str]] = {}
    order: defaultdict[str, list[str]] = defaultdict(list)

    def take(event: ServerSentEvent) -> None:
        told = json.loads(event.data)
        if told["source_id"] in scene.origins and "alert_type" not in told:
            log[event.id] = (told["source_id"], told["title"])
            order[told["source_id"]].append(told["title"])

    for source in scene.origins:
        await client.ask("PATCH", f"/v1/sources/{source}", json={"enabled": True})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.follow, "/v1/stream", [("since", BEGINNING)], take)
        with trio.move_on_after(QUIET_WITHIN):
            while not is_quiet(scene, log):
                for source in scene.origins:
                    with suppress(CommandFailed):  # too soon: again in a moment
                        await client.ask("POST", f"/v1/sources/{source}/check")
                await trio.sleep(0.5)
        nursery.cancel_scope.cancel()
    if not is_quiet(scene, log):
        await say_why(client)
    return counted(scene, log, order)


async def say_why(client: Client) -> None:
    """Print the service's records of missing deliveries."""
    for destination in (await client.ask("GET", "/v1/destinations")).json():
        print(json.dumps(destination))
        for line in (await client.ask("GET", f"/v1/destinations/{destination['id']}/deliveries?limit=20")).json():
            print(json.dumps(line))


def is_quiet(scene: Scene, log: Mapping[str, tuple[str, str]]) -> bool:
    titles = {source: {title for of, title in log.values() if of == source} for source in scene.origins}
    all_told = all(set(origin.items[1:]) <= titles[source] for source, origin in scene.origins.items())
    return all_told and log.keys() <= scene.receiver.bodies.keys() and told_to(scene.pager.bodies) >= len(log)


def counted(scene: Scene, log: Mapping[str, tuple[str, str]], order: Mapping[str, list[str]]) -> Audit:
    lost = doubled = disordered = 0
    heard = told_to(scene.pager.bodies)
    for source, origin in scene.origins.items():
        told = Counter(order.get(source, []))
        lost += sum(item not in told for item in origin.items[1:])
        doubled += sum(count - 1 for count in told.values())
        places = [origin.items.index(title) for title in dict.fromkeys(order.get(source, []))]
        disordered += sum(after < before for before, after in pairwise(places))
    bodies = [*scene.receiver.bodies.values(), *scene.pager.bodies.values()]
    return Audit(
        published=sum(len(origin.items) - 1 for origin in scene.origins.values()),
        lost=lost,
        doubled=doubled,
        out_of_order=disordered,
        seen_and_gone=sum(id not in log for id in scene.seen),
        seen_twice=len(scene.repeated),
        undelivered=sum(id not in scene.receiver.bodies for id in log) + max(0, len(log) - heard),
        told_again=max(0, heard - len(log)),
        of_two_bodies=sum(len({*each}) > 1 for each in bodies),
        delivered_again=sum(len(each) - 1 for each in bodies),
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.torture", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--stops", type=int, default=50)
    parser.add_argument("--locks", type=int, default=20)
    parser.add_argument("--fills", type=int, default=20)
    parser.add_argument("--starves", type=int, default=20)
    parser.add_argument("--hungers", type=int, default=20)
    parser.add_argument("--partings", type=int, default=20)
    parser.add_argument("--short", action="store_true", help="a few of each, within a minute")
    given = parser.parse_args()
    counts = {
        "kill -9": given.kills,
        "SIGSTOP": given.stops,
        "locked": given.locks,
        "full disk": given.fills,
        "no descriptors": given.starves,
        "no memory": given.hungers,
        "no replica": given.partings,
    }
    if given.short:
        counts = dict(SHORT)
    with small_disk() as disk, tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        replica = Path(other, "replica")
        replica.mkdir()
        if disk is None:
            print("no small disk here (that takes root): the full disk is left out")
            counts["full disk"] = 0
        audit, tried = trio.run(torture, disk or Path(folder), replica, counts, given.seed)
    for name, count in tried.items():
        print(f"{name:16}{count:6} times")
    for name in Audit.__dataclass_fields__:
        print(f"{name.replace('_', ' '):16}{getattr(audit, name):6}")
    return 0 if audit.holds else 1


if __name__ == "__main__":
    sys.exit(main())
