"""Rendered pages, many of them by the pool as the service runs it: a browser is replaced after so many looks.

What must not happen: memory that rises, a process or a folder that is left, a look that fails. `python -m
bench.rendered_lasting 10000 60` makes so many looks, in so many minutes at most, and prints a line each 500, when
nothing is under way and each browser has made half of its looks: what it weighs then compares with all others.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio

from actors.browser.holder import descendants
from actors.browser.pool import MOST_LOOKS, ChromiumPool
from actors.world import RenderFailed, RenderRequest
from bench.rendered import is_whole, running
from sanderling.browsers import find_browser
from sanderling.environment import environ
from sanderling.program import holder_command
from sanderling.real_world import entropy, open_datagrams, open_listeners

PAGES = 3 * (os.cpu_count() or 1)
REST = 2.0
"""Seconds for what has ended to be gone."""


class Sample(NamedTuple):
    """What there is after so many looks, at rest. Memory in KiB: of the browser and its holder, and of this process.

    private: without what is mapped from files, of which other browsers beside it may carry a share. folders: anything
    in the place for temporary things. descriptors: open files of this process.
    """

    looks: int
    seconds: float
    private: int
    pss: int
    rss: int
    ours: int
    processes: int
    folders: int
    descriptors: int
    failed: int
    starts: int


def sampled(pool: ChromiumPool, looks: int, failed: int, began: float) -> Sample:
    """Return what there is now."""
    below = [memory_of(pid) for pid in descendants(os.getpid())]
    return Sample(
        looks,
        round(time.perf_counter() - began, 1),
        total(below, "Pss_Anon") + total(below, "Pss_Shmem"),
        total(below, "Pss"),
        total(below, "Rss"),
        memory_of(os.getpid()).get("Pss_Anon", 0),
        len(below),
        folders(),
        len(os.listdir("/proc/self/fd")),
        failed,
        pool.statistics().starts,
    )


def memory_of(pid: int) -> Mapping[str, int]:
    """Return the kinds of memory of a process, in KiB; nothing of one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
    except OSError:
        return {}
    return {name: int(size.split()[0]) for name, _, size in (line.partition(":") for line in lines)}


def total(found: Iterable[Mapping[str, int]], kind: str) -> int:
    """Return the sum of a kind of memory over processes."""
    return sum(each.get(kind, 0) for each in found)


def folders() -> int:
    """Return how much there is in the folder for temporary things, which nobody but the browsers' holders is given."""
    return len(os.listdir(tempfile.gettempdir()))


def slope(values: Sequence[float]) -> float:
    """Return by how much of its beginning a line through equally spaced values rises, to its end.

    >>> slope([10, 11, 12]), slope([5, 5, 5])
    (0.2, 0.0)
    """
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    spread = sum((place - middle) ** 2 for place in range(len(values)))
    rise = sum((place - middle) * (value - mean) for place, value in enumerate(values)) / (spread or 1)
    return rise * (len(values) - 1) / (mean - rise * middle)


async def looked(pool: ChromiumPool, request: RenderRequest, looks: int) -> Counter[str]:
    """Make so many looks, as many at once as the pool shows; return why those failed that did."""
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


async def lasting(most: int, seconds: float) -> Sequence[Sample]:
    """Make looks until there are so many or so much time is over; return what there was at each 500."""
    path = find_browser(environ().get("TEST_BROWSER", "")).path
    pool = ChromiumPool(
        holder_command(path),
        environment={"TMPDIR": tempfile.gettempdir()},
        pages=PAGES,
        listen=open_listeners,
        datagrams=open_datagrams,
        entropy=entropy,
    )
    failed, samples, began = Counter[str](), list[Sample](), time.perf_counter()
    async with running(pool) as request:
        looks = MOST_LOOKS // 2
        failed += await looked(pool, request, looks)
        while looks < most and time.perf_counter() - began < seconds:
            await trio.sleep(REST)
            samples.append(sampled(pool, looks, failed.total(), began))
            print(samples[-1], *failed, flush=True)
            failed += await looked(pool, request, MOST_LOOKS)
            looks += MOST_LOOKS
        print(looks, "looks,", pool.statistics(), dict(failed))
    print("at the end:", len(descendants(os.getpid())), "processes,", folders(), "folders")
    return samples


if __name__ == "__main__":
    count = int(sys.argv[1]) if sys.argv[1:] else 10_000
    minutes = float(sys.argv[2]) if sys.argv[2:] else 60.0
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o711)  # a browser that root starts runs as nobody
        tempfile.tempdir = place
        found = trio.run(partial(lasting, count, 60 * minutes))
    for name in ("private", "rss", "ours", "processes", "descriptors"):
        values = [float(getattr(sample, name)) for sample in found]
        print(f"{name}: {values[0]:g} to {values[-1]:g}, slope {slope(values):+.1%}")
