"""The speed of the simulation, in multiples of real time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import trio

from bench.topic import SHORT, Figure, Row, Topic, size
from tests.simulation import scheduling
from tests.simulation.chances import chance
from tests.simulation.clients import Caller, Service
from tests.simulation.drawing.worlds import draw
from tests.simulation.network import SimNetwork
from tests.simulation.program import DAY
from tests.simulation.run import Result, simulate_program
from tests.simulation.serving import Answer, Request, serve_http

DAYS, SOURCES = size(5.0, 0.01), 10
TOPIC = Topic(
    "The simulated world",
    "Virtual seconds for each second of processor time, ten sources for five days; the limit makes as many checks with "
    "bare httpcore on the same memory network.",
    ("tests/simulation", "actors", "supervision", "storage/sqlite"),
    {"speed": Figure("simulated time to processor time", "", ">= 20,000")},
)


def rows() -> Iterator[Row]:
    spent, result = _product()
    assert not result.violations, result.violations
    yield Row("speed", result.virtual / spent, _bare(result))


def _product() -> tuple[float, Result]:
    if not SHORT:
        simulate_program(draw("warm", days=0.05, sources=SOURCES))
    program = draw("prove", days=DAYS, sources=SOURCES)
    began = time.process_time()
    result = simulate_program(program)
    return time.process_time() - began, result


def _bare(result: Result) -> float:
    """Make as many checks as the product's sources did, evenly spread; return virtual seconds per second."""
    looks = sum(len(seen) for seen in result.facts.seen.values())
    began = time.process_time()
    scheduling.run("bare", lambda: _look(looks, result.virtual), ends=result.virtual + DAY)
    return result.virtual / (time.process_time() - began)


async def _look(looks: int, virtual: float) -> None:
    network = SimNetwork(chance("bare", "network"))

    async def unchanged(request: Request) -> Answer:
        return Answer(304)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_http, unchanged, await network.side("origin.org").listen("", 80))
        caller = Caller(network.side("client.org"), Service("origin.org", 80, "key", 60.0))
        for _ in range(looks):
            await caller.ask("GET", "/feed")
            await trio.sleep(virtual / looks)
        nursery.cancel_scope.cancel()
