"""A real service is killed at random moments, repeatedly.

Its heartbeats are due every ten seconds. One is late if it arrives more than an interval after it was due or, if it was
due while nothing ran, after the service was back. Simulation kills more often (`python -m tests.simulation 1..N --only
heartbeats`); here process, disk and clock are real.
"""

from __future__ import annotations

import random
import signal
import tempfile
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import trio

from bench.topic import Figure, Row, Topic, size
from sanderling.client.api import Client
from sanderling.real_world import wall
from tests.e2e.service import Service, a_key, a_service

EVERY = 10.0
KILLS, LONGEST, SEED = size(20, 1), size(25.0, 1.0), 1
TOPIC = Topic(
    "Heartbeats after a kill",
    "A real service with a heartbeat each ten seconds, killed 20 times at drawn moments.",
    ("actors/coverage.py", "sanderling/serve.py"),
    {
        "late": Figure("heartbeats late by more than an interval", "", "<= 0"),
        "told": Figure("heartbeats, each naming the one before", "", higher=True),
    },
)
START_WITHIN = 300.0
"""Seconds: a busy machine takes long."""


class Life(NamedTuple):
    """The times at which one run of the service was ready and was killed."""

    ready: float
    killed: float


async def up(service: Service) -> None:
    """Wait until the service is ready."""
    with trio.fail_after(START_WITHIN):
        while not service.url:  # noqa: ASYNC110  # the address comes from its log
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
    """Return when a run's first heartbeat is due: at once, if it was due while nothing ran."""
    return max(life.ready, max((at + EVERY for at in beats if at < life.ready), default=life.ready))


def late(beats: list[float], lives: list[Life]) -> list[str]:
    """Return descriptions of late heartbeats."""
    found = []
    for life in lives:
        due = due_in(beats, life)
        for at in [*(at for at in beats if life.ready <= at <= life.killed), life.killed]:
            if at > due + EVERY:
                found.append(f"due at {due:.1f}, nothing until {at:.1f}")
            due = at + EVERY
    return found


async def run() -> list[Row]:
    dice = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="sanderling-heartbeats-") as folder:
        lives = []
        for _ in range(KILLS):
            lives.append(await live(Path(folder), dice.choice((dice.uniform(0, 2), dice.uniform(2, LONGEST)))))
            await trio.sleep(dice.choice((0.0, dice.uniform(0, LONGEST))))
        beats = await told(Path(folder))
    for before, after in pairwise(beats):
        assert after["heartbeat"]["number"] == before["heartbeat"]["number"] + 1
        assert after["heartbeat"]["before"] == before["id"]
    moments = [datetime.fromisoformat(beat["emitted_at"]).timestamp() for beat in beats]
    due = sum(due_in(moments, life) < life.killed for life in lives)
    return [Row("late", len(late(moments, lives)), note=f"due in {due} of {KILLS} lives"), Row("told", len(beats))]


def rows() -> Iterator[Row]:
    yield from trio.run(run)
