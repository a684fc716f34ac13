"""How much faster than the world the simulation is: virtual seconds for each second of processor time.

The limit is the same number of looks over the same virtual time, made by bare httpcore against the same scripted
server on the same memory network: no product at either end. Processor time, because the machine may have
other work.
"""

from __future__ import annotations

import time
from typing import Any

import trio

from sanderling.simulation import scheduling
from sanderling.simulation.chances import chance
from sanderling.simulation.clients import Caller, Service
from sanderling.simulation.drawing.worlds import draw
from sanderling.simulation.network import SimNetwork
from sanderling.simulation.program import DAY
from sanderling.simulation.run import Result, simulate_program
from sanderling.simulation.serving import Answer, Request, serve_http

DAYS, SOURCES, GOAL = 5.0, 10, 20_000.0


def rows() -> list[dict[str, Any]]:
    """Return the row of the table."""
    spent, result = _product()
    ours = result.virtual / spent
    limit = _bare(result)
    return [
        {
            "figure": f"simulated : real time, whole product, {SOURCES} sources, {len(result.facts.lives)} lives",
            "goal": f">= {GOAL:,.0f}",
            "limit": f"{limit:,.0f}",
            "ours": f"{ours:,.0f}",
            "ratio": ours / limit,
            "met": ours >= GOAL and not result.violations,
        }
    ]


def _product() -> tuple[float, Result]:
    simulate_program(draw("warm", days=0.05, sources=SOURCES))
    program = draw("prove", days=DAYS, sources=SOURCES)
    began = time.process_time()
    result = simulate_program(program)
    return time.process_time() - began, result


def _bare(result: Result) -> float:
    """Make as many looks as the product's sources did, evenly spread, and return virtual seconds a second."""
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
