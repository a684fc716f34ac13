"""Memory of an idle service: after its start and one check, once its workers have ended.

Summed over the service and its child processes, as PSS, which splits shared pages among processes. Other programs in
the same Python make ours look smaller than it is alone. So the goal applies to RSS, all pages in memory: an idle
service is one process and alone owns all of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import trio

from bench.topic import Figure, Row, Topic
from sanderling.client.api import Client
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add

TOPIC = Topic(
    "An idle service",
    "Memory of the service and all its processes, 10^6 B, after one check of one feed.",
    ("actors", "api", "extras", "sanderling", "storage", "supervision"),
    {
        "alone": Figure("without workers, alone on its machine (RSS)", "MB", "<= 80 MB"),
        "idle": Figure("without workers, beside other programs in the same Python (PSS)", "MB"),
        "busy": Figure("with its workers (PSS)", "MB"),
    },
)
SETTINGS = {"SANDERLING_WORKER_IDLE": "3", "SANDERLING_CADENCE_FLOOR": "2700", "SANDERLING_WORKERS": "2"}
WITHIN = 60.0


def rows() -> Iterator[Row]:
    busy, idle, alone = trio.run(measured)
    yield Row("alone", alone)
    yield Row("idle", idle)
    yield Row("busy", busy)


async def measured() -> tuple[float, float, float]:
    """Return MB (10^6 B): with and without workers (PSS), and without workers alone on the machine (RSS)."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        key = a_key(data)
        origin = Origin()
        async with trio.open_nursery() as nursery:
            await nursery.start(origin.serve)
            async with a_service(data, **SETTINGS) as service, Client(service.url, key) as client:
                await add(client, f"http://{origin.place}/feed")
                found = await watched(service.process.pid)
                await service.end()
            nursery.cancel_scope.cancel()
    return found


async def watched(pid: int) -> tuple[float, float, float]:
    """Return the same for a service that has just checked."""
    busy = total(pid, "Pss")
    with trio.fail_after(WITHIN):
        while len(tree(pid)) > 1:  # noqa: ASYNC110  # a process's end has no event here
            await trio.sleep(0.2)
    await trio.sleep(1)
    return busy, total(pid, "Pss"), total(pid, "Rss")


def total(pid: int, what: str) -> float:
    """Return a kind of memory summed over a process tree, in MB."""
    return sum(kilobytes(each, what) for each in tree(pid)) * 1024 / 1e6


def tree(pid: int) -> Sequence[int]:
    """Return a process and its descendants."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")  # children of every thread
    children = [child for thread in threads for child in thread.read_text().split()]
    return [pid, *(below for child in children for below in tree(int(child)))]


def kilobytes(pid: int, what: str) -> int:
    """Return a kind of memory of one process, in KiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:"))
