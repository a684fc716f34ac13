"""The actor runtime next to bare Trio: the cost of a parked actor, a start, a stop and a restart.

Every part runs in a separate interpreter (`python -m bench.runtime PART` prints its figures as JSON), so that parts
share no memory.
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
from collections.abc import Callable, Iterator
from pathlib import Path

import trio

from bench.topic import ROOT, Figure, Row, Topic, size
from sanderling.serve import COLLECT
from supervision import Backoff, Child, ChildSpec, DynamicSupervisor, Mailbox

ACTORS = size(100_000, 500)
BARE = size(30_000, 500)
PARKED = 1_800.0
LOOKS = size(300, 20)
LOOKS_PER_SECOND = 100
IDLE, CRASHING = size(10_000, 100), size(1_000, 20)
SECONDS = size(1.0, 0.1)
Figures = dict[str, float]
TOPIC = Topic(
    "The actor runtime",
    "The limit is bare Trio, each part in an interpreter of its own; what only computes is measured in processor time, "
    "lags in real time.",
    ("supervision",),
    {
        "memory": Figure("a parked actor with mailbox and state", "KB", "<= 12 KB"),
        "start": Figure("start of an actor", "us", "<= 60 us"),
        "stop": Figure("stop of 100,000 actors", "s", "<= 4 s"),
        "lag": Figure("wake-up lag p99 of 100,000 actors", "ms", "<= 20 ms"),
        "restart": Figure("restart of a crashed child", "us", "<= 50 us"),
        "storm": Figure("others' extra delay p99 beside 1,000 children that crash each second", "ms", "<= 10 ms"),
    },
)


class Boom(Exception):
    pass


def resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


async def settle() -> None:
    for _ in range(5):
        await trio.lowlevel.checkpoint()
    gc.collect()


async def looks(start: Callable[[float], None]) -> None:
    """Start actors whose checks are due at an even pace, and wait for all of them."""
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
    """Actors with a mailbox and 64 numbers of memory each, parked until a message or their check."""
    lags: list[float] = []
    many = DynamicSupervisor("many", chance=random.Random(1), stop_budget=4.0)

    def start(at: float) -> None:
        mailbox: Mailbox[str] = Mailbox("commands", 4)
        memory = array("f", range(64))

        async def run(child: Child) -> None:
            due = at
            while True:
                await mailbox.receive_by(due)
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
    """A child that only crashes, and the same loop written by hand without supervision."""

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
    with trio.move_on_after(SECONDS):
        await loop()
    figures["bare"] = (time.process_time() - started) / counts["bare"]
    many = DynamicSupervisor("many", chance=random.Random(1), budget=(5, 1e-9))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(many.run)
        await many.wait_running()
        many.start_child(ChildSpec("a", crash, backoff=Backoff(0, 0)))
        started = time.process_time()
        await trio.sleep(SECONDS)
        figures["ours"] = (time.process_time() - started) / many.statistics().restarts
        many.stop()
    return figures


async def crashes() -> Figures:
    """The wake-up delay of an unrelated task, next to 1,000 children that each crash once a second."""
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
        for number in range(IDLE):
            many.start_child(ChildSpec(f"idle{number}", idle))
        await settle()
        with trio.move_on_after(2 * SECONDS):
            await ticker()
        figures["bare"] = p99(late)
        for number in range(CRASHING):
            many.start_child(ChildSpec(f"bad{number}", crash, backoff=Backoff(4 / 3, 4 / 3)))
            if number % 10 == 0:
                await trio.sleep(0.01)
        late.clear()
        with trio.move_on_after(3 * SECONDS):
            await ticker()
        figures["ours"] = p99(late)
        many.stop()
    return figures


PARTS = {part.__name__: part for part in (bare_tasks, actors, restarts, crashes)}


def measure(part: str) -> Figures:
    """Return a part's figures, from a separate interpreter."""
    command = [sys.executable, "-m", "bench.runtime", part]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    figures: Figures = json.loads(out)
    return figures


def rows() -> Iterator[Row]:
    """Measure everything; takes under a minute."""
    bare, ours = measure("bare_tasks"), measure("actors")
    yield Row("memory", ours["memory"] / 1024, bare["memory"] / 1024)
    yield Row("start", 1e6 * ours["start"], 1e6 * bare["start"])
    yield Row("stop", 100_000 * ours["stop"], 100_000 * bare["stop"])
    yield Row("lag", 1e3 * ours["lag"], 1e3 * bare["lag"])
    again, storm = measure("restarts"), measure("crashes")
    yield Row("restart", 1e6 * again["ours"], 1e6 * again["bare"])
    yield Row("storm", 1e3 * max(storm["ours"] - storm["bare"], 0.0), 1e3 * storm["bare"])


if __name__ == "__main__":
    gc.set_threshold(*COLLECT)  # as the service does
    print(json.dumps(trio.run(PARTS[sys.argv[1]])))
