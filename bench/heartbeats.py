"""`python -m bench.heartbeats [KILLS] [SEED]`: a real service is killed at drawn moments, again and again.

Its heartbeats are due every ten seconds. Late is one that comes more than an interval after it was due, or, where it
was due while nothing ran, after the service was back. The simulated kills are more (`sanderling simulate 1..N --only
heartbeats`); here process, disk and clock are real.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import trio

from sanderling.client.api import Client
from sanderling.real_world import wall
from tests.e2e.service import Service, a_key, a_service

EVERY = 10.0
KILLS = 20
START_WITHIN = 300.0
"""Seconds: a machine that is busy with other things takes long."""


class Life(NamedTuple):
    """When a life of the service was ready, and when it was killed."""

    ready: float
    killed: float


async def up(service: Service) -> None:
    """Return when the service is ready."""
    with trio.fail_after(START_WITHIN):
        while not service.url:  # noqa: ASYNC110  # it is read off its log
            await trio.sleep(0.02)


async def live(folder: Path, lasts: float) -> Life:
    """Start the service, and kill it after so many seconds."""
    async with a_service(folder, wait=False, SANDERLING_HEARTBEAT_EVENT=f"{EVERY:g}") as service:
        await up(service)
        ready = wall()
        await trio.sleep(lasts)
        await service.end(signal.SIGKILL)
        return Life(ready, wall())


async def told(folder: Path) -> list[dict[str, Any]]:
    """Return all heartbeats, the oldest first."""
    key = a_key(folder)
    async with a_service(folder, wait=False) as service:
        await up(service)
        async with Client(service.url, key) as client:
            answer = await client.ask("GET", "/v1/events?heartbeats=true&limit=1000")
            return [event for event in answer.json()["events"] if "heartbeat" in event]


def due_in(beats: list[float], life: Life) -> float:
    """Return when the first heartbeat of a life is due: at once, if it was while nothing ran."""
    return max(life.ready, max((at + EVERY for at in beats if at < life.ready), default=life.ready))


def late(beats: list[float], lives: list[Life]) -> list[str]:
    """Return what came too late, in words."""
    found = []
    for life in lives:
        due = due_in(beats, life)
        for at in [*(at for at in beats if life.ready <= at <= life.killed), life.killed]:
            if at > due + EVERY:
                found.append(f"due at {due:.1f}, nothing until {at:.1f}")
            due = at + EVERY
    return found


async def run(kills: int, seed: int) -> int:
    """Kill, read what was told, and say what was late; return 1 if anything was, or the chain is broken."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="sanderling-heartbeats-") as folder:
        lives = []
        for _ in range(kills):
            lives.append(await live(Path(folder), dice.choice((dice.uniform(0, 2), dice.uniform(2, 25)))))
            await trio.sleep(dice.choice((0.0, dice.uniform(0, 20))))
        beats = await told(Path(folder))
    chained = all(
        after["heartbeat"]["number"] == before["heartbeat"]["number"] + 1
        and after["heartbeat"]["before"] == before["id"]
        for before, after in pairwise(beats)
    )
    moments = [datetime.fromisoformat(beat["emitted_at"]).timestamp() for beat in beats]
    wrong = late(moments, lives)
    shortest = min((after - before for before, after in pairwise(moments)), default=0.0)
    telling = sum(due_in(moments, life) < life.killed for life in lives)
    print(f"{kills} kills, in {telling} of these lives a heartbeat was due; {len(beats)} heartbeats, ", end="")
    print(f"{len(wrong)} late, chain {'whole' if chained else 'BROKEN'}, ", end="")
    print(f"shortest time between two {shortest:.1f} s of {EVERY:g}")
    for line in wrong:
        print(line)
    return int(bool(wrong) or not chained)


if __name__ == "__main__":
    kills, seed = (*map(int, sys.argv[1:3]), *(KILLS, 1)[len(sys.argv) - 1 :])
    sys.exit(trio.run(run, kills, seed))
