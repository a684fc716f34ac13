"""Many rendered pages through the pool as the service runs it: a browser is replaced after so many checks.

Forbidden: growing memory, leftover processes or folders, failed checks. Samples are taken when nothing is in progress
and each browser has made half of its checks, so that all compare.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import trio

from actors.world import RenderFailed, RenderRequest
from bench.rendered import browser, is_whole, running
from bench.topic import Figure, Row, Topic, size
from extras.browser.holder import descendants
from extras.browser.pool import MOST_LOOKS, ChromiumPool
from extras.browser.real import holder_command
from sanderling.real_world import entropy, open_datagrams, open_listeners

PAGES = 3 * (os.cpu_count() or 1)
COUNT, EVERY = size(10_000, 6), size(MOST_LOOKS, 4)
TOPIC = Topic(
    "Ten thousand rendered pages",
    "10,000 checks by the pool as the service runs it; a rise is that of a line through samples at rest.",
    ("extras/browser", "actors/egress"),
    {
        "private": Figure("private memory of the browsers, rise", "", "<= 0.1"),
        "ours": Figure("private memory of the service, rise", "", "<= 0.1"),
        "processes": Figure("processes, rise", "", "<= 0.1"),
        "descriptors": Figure("open files of the service, rise", "", "<= 0.1"),
        "failed": Figure("checks that failed", "", "<= 0"),
        "left": Figure("processes and folders left at the end", "", "<= 0"),
    },
    hours=True,
)
REST = 2.0
"""Seconds for ended processes to disappear."""


class Sample(NamedTuple):
    """The resources in use at rest. Memory in KiB, without file mappings, which others may share."""

    private: int
    ours: int
    processes: int
    descriptors: int


def sampled() -> Sample:
    below = [memory_of(pid) for pid in descendants(os.getpid())]
    private = sum(each.get(kind, 0) for each in below for kind in ("Pss_Anon", "Pss_Shmem"))
    descriptors = len(os.listdir("/proc/self/fd"))
    return Sample(private, memory_of(os.getpid()).get("Pss_Anon", 0), len(below), descriptors)


def memory_of(pid: int) -> Mapping[str, int]:
    """Return a process's kinds of memory in KiB; empty if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
    except OSError:
        return {}
    return {name: int(size.split()[0]) for name, _, size in (line.partition(":") for line in lines)}


def folders() -> int:
    """Count the entries of the temporary folder, which only browser holders get."""
    return len(os.listdir(tempfile.gettempdir()))


def slope(values: Sequence[float]) -> float:
    """Return the relative rise of a line through equally spaced values, from its beginning to its end.

    >>> slope([10, 11, 12]), slope([5, 5, 5])
    (0.2, 0.0)
    """
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    spread = sum((place - middle) ** 2 for place in range(len(values)))
    rise = sum((place - middle) * (value - mean) for place, value in enumerate(values)) / (spread or 1)
    return rise * (len(values) - 1) / (mean - rise * middle)


async def looked(pool: ChromiumPool, request: RenderRequest, looks: int) -> Counter[str]:
    """Make so many checks, as many at once as the pool allows; return the reasons of failed ones."""
    left, failed = iter(range(looks)), Counter[str]()

    async def work() -> None:
        for _ in left:
            try:
                page = await pool.render(request)
                failed.update([] if is_whole(page) else ["it was not whole"])
            except RenderFailed as failure:
                failed[f"{failure.blame}: {failure.reason}"] += 1

    async with trio.open_nursery() as workers:
        for _ in range(PAGES):
            workers.start_soon(work)
    return failed


async def lasting(path: str) -> list[Row]:
    pool = ChromiumPool(
        holder_command(path),
        environment={"TMPDIR": tempfile.gettempdir()},
        pages=PAGES,
        listen=open_listeners,
        datagrams=open_datagrams,
        entropy=entropy,
    )
    samples = list[Sample]()
    async with running(pool) as request:
        looks = EVERY // 2
        failed = await looked(pool, request, looks)
        while looks < COUNT:
            await trio.sleep(REST)
            samples.append(sampled())
            failed += await looked(pool, request, EVERY)
            looks += EVERY
    rises = [Row(key, slope([getattr(one, key) for one in samples])) for key in Sample._fields]
    left = len(descendants(os.getpid())) + folders()
    return [*rises, Row("failed", failed.total(), note=", ".join(failed)), Row("left", left)]


def rows() -> Iterator[Row]:
    path = browser()
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o711)  # a browser started by root runs as nobody
        tempfile.tempdir = place
        yield from trio.run(lasting, path)
        tempfile.tempdir = None
