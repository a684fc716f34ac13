"""The queue of spans: bounded, drops the oldest first, never blocks."""

from __future__ import annotations

import trio

from actors.observer import Metrics
from extras.tracing.span import INTERNAL, Span
from extras.tracing.tracer import BATCH, MOST, Tracer


def a_span(number: int = 1) -> Span:
    return Span(number.to_bytes(16, "big"), number.to_bytes(8, "big"), b"", "look", INTERNAL, 1, 2, {})


def a_tracer() -> Tracer:
    return Tracer(lambda: 1_000.0 + trio.current_time(), 1.0, Metrics().spans)


def test_surplus_spans_are_dropped_oldest_first_and_counted() -> None:
    tracer = a_tracer()
    for number in range(1, MOST + 11):
        tracer.put(a_span(number))
    assert len(tracer) == MOST and tracer.counts.values == {("dropped",): 10}
    assert tracer.take()[0] == a_span(11)
    assert len(tracer) == MOST - BATCH


async def test_a_batch_goes_when_it_is_full_or_when_its_first_span_has_waited(autojump_clock: object) -> None:
    tracer = a_tracer()
    waited: list[tuple[float, int]] = []

    async def take_two() -> None:
        for _ in range(2):
            await tracer.wait_batch(5.0)
            waited.append((trio.current_time() - start, len(tracer.take())))

    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_two)
        await trio.sleep(1)
        tracer.put(a_span())
        await trio.sleep(1)
        tracer.put(a_span())
        await trio.sleep(8)
        tracer.put(*(a_span() for _ in range(BATCH + 1)))
    assert waited == [(6.0, 2), (10.0, BATCH)]


async def test_a_step_of_the_wall_clock_makes_nothing_longer(autojump_clock: object) -> None:
    ahead = [0.0]
    tracer = Tracer(lambda: 1_000.0 + ahead[0] + trio.current_time(), 1.0, Metrics().spans)
    began = trio.current_time()
    await trio.sleep(2)
    ahead[0] = 3_600.0
    start, end = tracer.since(began)
    assert end - start == 2_000_000_000
