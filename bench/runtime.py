"""The actor runtime beside bare Trio: what a parked actor, a start, a stop, a restart and a look at the tree cost.

Every part runs in an interpreter of its own (`python -m bench.runtime PART` prints its figures as JSON), so that one's
memory is not the next one's. Bare and ours are measured on the same machine in the same minute. What is all computing
(start, stop, restart, snapshot) is measured in processor time, so that a busy machine changes it little; lags are in
real time.
"""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio

from supervision import Backoff, Child, ChildSpec, DynamicSupervisor, Mailbox

ACTORS = 100_000
BARE = 30_000
PARKED = 1_800.0
LOOKS = 300
LOOKS_PER_SECOND = 100
SHOWN = 50_000
Figures = dict[str, float]


class Boom(Exception):
    pass


class Bare:
    """What a snapshot reads of a child, and nothing else: the limit of any snapshot."""

    __slots__ = ("a", "b", "c", "d", "e", "f", "g")

    def __init__(self, number: int) -> None:
        self.a, self.b, self.c, self.d, self.e, self.f, self.g = f"many/{number}", "running", 0.0, 0, None, False, ""


def resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


async def settle() -> None:
    for _ in range(5):
        await trio.lowlevel.checkpoint()
    gc.collect()


async def looks(start: Callable[[float], None]) -> None:
    """Start actors whose looks are due at an even pace, and wait until all have been."""
    begin = trio.current_time() + 0.5
    for number in range(LOOKS):
        start(begin + number / LOOKS_PER_SECOND)
    await trio.sleep_until(begin + LOOKS / LOOKS_PER_SECOND + 0.5)


async def bare_tasks() -> Figures:
    lags: list[float] = []

    async def task(at: float) -> None:
        await trio.sleep_until(at)
        lags.append(trio.current_time() - at)

    await settle()
    before, started = resident(), time.process_time()
    async with trio.open_nursery() as nursery:
        for number in range(BARE):
            nursery.start_soon(task, trio.current_time() + PARKED + number)
        await settle()
        spawn = time.process_time() - started
        memory = resident() - before
        await looks(lambda at: nursery.start_soon(task, at))
        stopping = time.process_time()
        nursery.cancel_scope.cancel()
    stop = time.process_time() - stopping
    return {"memory": memory / BARE, "start": spawn / BARE, "stop": stop / BARE, "lag": p99(lags)}


async def actors() -> Figures:
    """Actors with a mailbox and a memory of 64 numbers each, parked until a message or their look."""
    lags: list[float] = []
    many = DynamicSupervisor("many", chance=random.Random(1), stop_budget=4.0)

    def start(at: float) -> None:
        mailbox: Mailbox[str] = Mailbox("commands", 4)
        memory = array("f", range(64))

        async def run(child: Child) -> None:
            due = at
            while True:
                with trio.move_on_at(due):
                    await mailbox.receive()
                lags.append(trio.current_time() - due)
                due += PARKED + memory[0]

        many.start_child(ChildSpec(f"{len(many):08}", run, mailbox=mailbox))

    await settle()
    before, started = resident(), time.process_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(many.run)
        await many.wait_running()
        for number in range(ACTORS):
            start(trio.current_time() + PARKED + number)
            if number % 1000 == 0:
                await trio.lowlevel.checkpoint()
        await settle()
        spawn = time.process_time() - started
        memory = resident() - before
        await looks(start)
        stopping = time.process_time()
        many.stop()
    stop = time.process_time() - stopping
    return {"memory": memory / ACTORS, "start": spawn / ACTORS, "stop": stop / ACTORS, "lag": p99(lags)}


async def restarts() -> Figures:
    """A child that does nothing but crash, and the same loop written by hand without any supervision."""

    async def crash(child: Child | None) -> None:
        await trio.lowlevel.checkpoint()
        raise Boom("boom")

    counts = {"bare": 0}

    async def loop() -> None:
        while True:
            try:
                await crash(None)
            except Boom:
                counts["bare"] += 1
            await trio.lowlevel.checkpoint()

    figures: Figures = {}
    started = time.process_time()
    with trio.move_on_after(1):
        await loop()
    figures["bare"] = (time.process_time() - started) / counts["bare"]
    many = DynamicSupervisor("many", chance=random.Random(1), budget=(5, 1e-9))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(many.run)
        await many.wait_running()
        many.start_child(ChildSpec("a", crash, backoff=Backoff(0, 0)))
        started = time.process_time()
        await trio.sleep(1)
        figures["ours"] = (time.process_time() - started) / many.statistics().restarts
        many.stop()
    return figures


async def snapshots() -> Figures:
    many = DynamicSupervisor("many", chance=random.Random(1))

    async def idle(child: Child) -> None:
        await trio.sleep_forever()

    def best(read: Callable[[], object]) -> float:
        times = []
        for _ in range(7):
            started = time.process_time()
            read()
            times.append(time.process_time() - started)
        return sorted(times)[3]

    bare = [Bare(number) for number in range(SHOWN)]
    limit = best(lambda: [(c.a, c.b, c.c, c.d, c.e, c.f, c.g) for c in bare])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(many.run)
        await many.wait_running()
        for number in range(SHOWN):
            many.start_child(ChildSpec(f"{number:08}", idle))
        await settle()
        ours = best(many.snapshot)
        counts = best(many.statistics)
        shot = many.snapshot()
        page = best(lambda: json.dumps(shot.page(0, 200)))
        many.stop()
    return {"bare": limit, "ours": ours, "counts": counts, "page": page}


async def crashes() -> Figures:
    """How late a task wakes that has nothing to do with it, beside 1,000 children that crash once a second each."""
    late: list[float] = []

    async def ticker() -> None:
        while True:
            at = trio.current_time() + 0.005
            await trio.sleep_until(at)
            late.append(trio.current_time() - at)

    async def crash(child: Child) -> None:
        await trio.lowlevel.checkpoint()
        raise Boom("boom")

    async def idle(child: Child) -> None:
        await trio.sleep_forever()

    many = DynamicSupervisor("many", chance=random.Random(1), budget=(5, 1e-9))
    figures: Figures = {}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(many.run)
        await many.wait_running()
        for number in range(10_000):
            many.start_child(ChildSpec(f"idle{number}", idle))
        await settle()
        with trio.move_on_after(2):
            await ticker()
        figures["bare"] = p99(late)
        for number in range(1_000):
            many.start_child(ChildSpec(f"bad{number}", crash, backoff=Backoff(4 / 3, 4 / 3)))
            if number % 10 == 0:
                await trio.sleep(0.01)
        late.clear()
        before = many.statistics().restarts
        with trio.move_on_after(3):
            await ticker()
        figures["rate"] = (many.statistics().restarts - before) / 3
        figures["ours"] = p99(late)
        many.stop()
    return figures


PARTS = {part.__name__: part for part in (bare_tasks, actors, restarts, snapshots, crashes)}


def measure(part: str) -> Figures:
    """Return the figures of a part, run in an interpreter of its own."""
    command = [sys.executable, "-m", "bench.runtime", part]
    out = subprocess.run(command, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True).stdout
    figures: Figures = json.loads(out)
    return figures


def row(
    figure: str, goal: str, most: float, ours: float, limit: float, unit: str, scale: float = 1.0
) -> dict[str, Any]:
    """Return a line of the table: `most` is what `ours` may be, in the same unit before scaling."""
    return {
        "figure": figure,
        "goal": goal,
        "limit": f"{limit * scale:.3g} {unit}",
        "ours": f"{ours * scale:.3g} {unit}",
        "ratio": ours / limit,
        "met": ours <= most,
    }


def rows() -> list[dict[str, Any]]:
    """Measure everything; under a minute."""
    bare, ours = measure("bare_tasks"), measure("actors")
    again, seen, storm = measure("restarts"), measure("snapshots"), measure("crashes")
    extra = max(storm["ours"] - storm["bare"], 0.0)
    kilo, micro, milli = 1 / 1024, 1e6, 1e3
    return [
        row(
            "runtime: a parked actor with mailbox and state",
            "<= 12 KB",
            12 * 1024,
            ours["memory"],
            bare["memory"],
            "KB",
            kilo,
        ),
        row(
            "runtime: 100,000 of them", "<= 1.5 GB", 1.5e9, ACTORS * ours["memory"], ACTORS * bare["memory"], "GB", 1e-9
        ),
        row("runtime: start an actor", "<= 100 us", 100e-6, ours["start"], bare["start"], "us", micro),
        row("runtime: stop 100,000", "<= 4 s", 4.0, ACTORS * ours["stop"], ACTORS * bare["stop"], "s"),
        row("runtime: wake-up lag p99 of 100,000", "<= 20 ms", 20e-3, ours["lag"], bare["lag"], "ms", milli),
        row("runtime: restart of a crashed child", "<= 50 us", 50e-6, again["ours"], again["bare"], "us", micro),
        row("runtime: snapshot of 50,000", "<= 20 ms", 20e-3, seen["ours"], seen["bare"], "ms", milli),
        row(
            f"runtime: others' extra delay p99 at {storm['rate']:.0f} crashes/s",
            "<= 10 ms",
            10e-3,
            extra,
            storm["bare"],
            "ms",
            milli,
        ),
    ]


def main(part: str | None) -> None:
    """Print the figures of one part, or the table of all."""
    if part is not None:
        print(json.dumps(trio.run(PARTS[part])))
        return
    started = time.perf_counter()
    for line in rows():
        mark = "yes" if line["met"] else "NO"
        print(
            f"{line['figure']:58} {line['goal']:>10} {line['limit']:>10} {line['ours']:>10} {line['ratio']:6.2f} {mark}"
        )
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
