"""Traces change nothing: a world in which they are on has the same log, byte for byte, and keeps every promise."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import trio._core._run as trio_run

from actors.settings import Settings
from actors.span_exporter import SpanExporter
from actors.tracing.otlp import Verdict
from actors.tracing.span import Span
from sanderling.simulation.drawing.letters import draw_letters
from sanderling.simulation.drawing.worlds import draw
from sanderling.simulation.program import Program
from sanderling.simulation.run import Result, simulate_program

TRACED = partial(Settings, otlp_endpoint="https://collector.test")


class InOrder(random.Random):
    """Trio's generator, without the shuffle: one task more must not move the others."""

    def shuffle(self, x: Any) -> None:
        """Leave it as it is."""


@contextmanager
def tracing(spans: list[Span]) -> Iterator[None]:
    """Have worlds traced, by a collector beside their network, of whose chance each connection takes a part."""

    async def take(self: SpanExporter, request: bytes, count: int) -> tuple[Verdict, float]:
        spans.extend(self._held)
        return Verdict(), 0.0

    with patch("sanderling.simulation.run.Settings", TRACED), patch.object(SpanExporter, "_post", take):
        yield


def test_a_world_has_the_same_log_and_the_same_deliveries() -> None:
    without, traced, spans = both(draw("2", days=0.08, sources=4))
    assert of_log(traced) == of_log(without) != []
    assert received(traced) == received(without) != []
    assert {"look", "commit", "match", "POST"} <= {span.name for span in spans}


def test_a_world_of_deliveries_has_the_same_log() -> None:
    without, traced, spans = both(draw_letters("1", days=0.04))
    assert of_log(traced) == of_log(without) != []
    assert {"match", "POST"} <= {span.name for span in spans}


def both(program: Program) -> tuple[Result, Result, list[Span]]:
    spans: list[Span] = []
    with patch.object(trio_run, "_r", InOrder()):
        without = simulate_program(program)
        with tracing(spans):
            return without, simulate_program(program), spans


def test_with_a_collector_that_is_not_there_every_promise_is_kept() -> None:
    with patch("sanderling.simulation.run.Settings", TRACED):
        result = simulate_program(draw("3", days=0.08, sources=4))
    assert [str(violation) for violation in result.violations] == []


def of_log(result: Result) -> list[tuple[int, bytes]]:
    return [(logged.seq, logged.body) for logged in result.facts.log]


def received(result: Result) -> list[Any]:
    return [
        (
            receipt.at,
            receipt.status,
            receipt.body,
            {name: value for name, value in receipt.headers.items() if name != "traceparent"},
        )
        for receipt in result.facts.receipts
    ]
