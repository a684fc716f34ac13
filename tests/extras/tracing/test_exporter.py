"""The exporter: batches, retries by OTLP's rules; a dead, slow or wrong collector costs only spans."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
import trio

from actors.egress.failures import Blame, CheckFailed, PostMethod, PostResult
from actors.egress.url import Url, parse_url
from actors.setting_table import with_values
from actors.settings import Settings
from extras.tracing.exporter import EVERY, FLUSH, LONGEST_PAUSE, TRIES, SpanExporter
from extras.tracing.tracer import BATCH, MOST, Tracer
from supervision import ChildSpec, Supervisor
from tests.extras.tracing.test_tracer import a_span
from tests.support.collector import Collector
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, a_world

SECRET = "k3y0fTheCollector"


class Desk:
    """An exporter on a virtual clock, with a collector behind `post`. takes: seconds for an answer."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.collector, self.takes, self.dead = Collector(), 0.0, False
        self.times: list[float] = []
        self.wish: float | None = None
        self.lines: list[tuple[str, dict[str, Any]]] = []
        world = a_world(MemoryNetwork(nursery), log=lambda event, **more: self.lines.append((event, more)))
        self.tracer = Tracer(world.wall, 1.0, world.metrics.spans)
        exporter = SpanExporter(
            world,
            self.tracer,
            self,
            parse_url("https://collector.test/v1/traces"),
            {"api-key": SECRET},
            resource={"service.name": "sanderling"},
            scope={"name": "sanderling", "version": "1"},
            chance=random.Random(0),
        )
        self.tree = Supervisor("test", [ChildSpec("tracing", exporter.run)], chance=random.Random(0))
        nursery.start_soon(self.tree.run)

    @property
    def counts(self) -> dict[str, float]:
        return {word: count for (word,), count in self.tracer.counts.values.items()}

    def put(self, spans: int) -> None:
        self.tracer.put(*(a_span(number + 1) for number in range(spans)))

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        self.times.append(trio.current_time())
        assert headers["api-key"] == SECRET
        await trio.sleep(self.takes)
        if self.dead:
            raise CheckFailed(Blame.REMOTE_TRANSIENT, "can't connect to collector.test: Connection refused")
        asked = ReceivedRequest(method, url.target, {name.lower(): value for name, value in headers.items()}, body)
        answer = self.collector.take(asked)
        return PostResult(answer.status, 1, answer.body, self.wish)


async def test_spans_travel_together_and_large_crowds_in_batches(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        await trio.sleep(1)
        desk.put(3)
        await trio.sleep(EVERY + 1)
        desk.put(2 * BATCH + 1)
        await trio.sleep(2 * EVERY)
        desk.tree.stop()
    assert [len(desk.collector.spans), len(desk.times)] == [2 * BATCH + 4, 4]
    assert desk.times[0] == 1 + EVERY and desk.counts == {"sent": 2 * BATCH + 4}
    assert desk.lines == []


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_collector_that_is_busy_gets_the_same_again_later(autojump_clock: object, status: int) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        desk.collector.answers = [Answer(status), Answer(status), Answer(200)]
        desk.put(3)
        await trio.sleep(60)
        desk.tree.stop()
    assert len(desk.collector.raw) == 3 and len({*desk.collector.raw}) == 1
    assert 5 <= desk.times[1] - desk.times[0] <= 7.5 and 10 <= desk.times[2] - desk.times[1] <= 15
    assert desk.counts == {"sent": 3}
    assert [event for event, _ in desk.lines] == ["tracing.failed", "tracing.sent"]


async def test_its_retry_after_holds(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        desk.collector.answers, desk.wish = [Answer(503), Answer(200)], 120.0
        desk.put(1)
        await trio.sleep(300)
        desk.tree.stop()
    assert desk.times[1] - desk.times[0] == 120


async def test_a_refusal_is_not_repeated(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        desk.collector.answers = [Answer(400)]
        desk.put(3)
        await trio.sleep(300)
        desk.tree.stop()
    assert len(desk.times) == 1 and desk.counts == {"refused": 3}
    assert desk.lines == [("tracing.failed", {"level": "warning", "host": "collector.test", "says": "it answered 400"})]


async def test_a_partial_success_is_reported_and_counted(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        said = b'{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'
        desk.collector.answers = [Answer(200, said), Answer(200)]
        desk.put(3)
        await trio.sleep(60)
        desk.tree.stop()
    assert len(desk.times) == 1 and desk.counts == {"sent": 1, "refused": 2}
    assert desk.lines[0][1]["says"] == "it refused 2 spans: too old"


async def test_a_dead_collector_costs_a_request_a_minute_and_drops(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        desk.dead = True
        for _ in range(60):
            desk.put(100)
            await trio.sleep(60)
        assert len(desk.times) < 75 and len(desk.tracer) <= MOST
        assert desk.counts["lost"] > 0 and desk.counts["dropped"] > 0
        assert [event for event, _ in desk.lines] == ["tracing.failed"]
        desk.dead = False
        await trio.sleep(2 * LONGEST_PAUSE)
        assert len(desk.tracer) == 0 and desk.lines[-1][0] == "tracing.sent"
        desk.tree.stop()
    assert sum(desk.counts.values()) == 6_000
    gaps = [later - earlier for earlier, later in zip(desk.times[6:30], desk.times[7:30], strict=False)]
    assert min(gaps) >= LONGEST_PAUSE and max(gaps) <= 1.5 * LONGEST_PAUSE + EVERY
    assert TRIES > 1


async def test_waiting_spans_are_sent_at_the_stop(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        await trio.sleep(1)
        desk.put(BATCH + 5)
        desk.tree.stop()
    assert desk.counts == {"sent": BATCH + 5}


async def test_spans_under_way_at_a_stop_are_sent_too(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        desk.collector.answers = [Answer(503), Answer(200)]
        desk.put(3)
        await trio.sleep(EVERY + 1)
        desk.tree.stop()
    assert desk.counts == {"sent": 3}


@pytest.mark.parametrize("fault", ["slow", "dead"])
async def test_a_stop_waits_for_no_collector_longer_than_its_bound(autojump_clock: object, fault: str) -> None:
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        desk.dead, desk.takes = fault == "dead", 14.0 if fault == "slow" else 0.0
        desk.put(MOST)
        await trio.sleep(1)
        before = trio.current_time()
        desk.tree.stop()
    assert trio.current_time() - before <= FLUSH
    assert desk.counts == {"lost": MOST}


def test_settings_that_can_not_be_meant_are_refused_and_the_headers_not_shown() -> None:
    with pytest.raises(ValueError, match="otlp_endpoint: write an address"):
        with_values(Settings(), otlp_endpoint="grpc://collector.test")
    with pytest.raises(ValueError, match="otlp_headers: header 1 is not written"):
        with_values(Settings(), otlp_headers=SECRET)
    with pytest.raises(ValueError, match="otlp_sampling"):
        with_values(Settings(), otlp_sampling=1.5)
    assert SECRET not in repr(with_values(Settings(), otlp_headers=f"api-key={SECRET}"))
