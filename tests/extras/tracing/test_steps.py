"""The steps of a check: nested as they ran, bounded, and handed over at its end."""

from __future__ import annotations

import pytest
import trio

from actors.observer import NO_STEPS, Metrics
from extras.tracing.identity import root_of, trace_of_look
from extras.tracing.observer import MOST, LookSteps
from extras.tracing.span import Span
from extras.tracing.tracer import Tracer
from storage.records.identity import Millis, SourceId

SOURCE, AT = SourceId("s1"), Millis(5_000)


def a_tracer(ratio: float = 1.0) -> Tracer:
    return Tracer(lambda: 1_000.0 + trio.current_time(), ratio, Metrics().spans)


def told(tracer: Tracer) -> dict[str, Span]:
    return {span.name: span for span in tracer.take()}


async def test_a_step_within_another_is_its_child_and_the_error_is_of_both(autojump_clock: object) -> None:
    tracer = a_tracer()
    steps = LookSteps(tracer, SOURCE)
    with pytest.raises(OSError, match="away"), steps.step("robots.txt"):
        await trio.sleep(1)
        with steps.step("wait"):
            await trio.sleep(2)
        raise OSError("away")
    with steps.step("judge", {"url.full": "http://a.test/?token=s3cret"}):
        pass
    steps.at = AT
    steps.end()
    spans = told(tracer)
    trace = trace_of_look(SOURCE, AT)
    root = spans["look"]
    assert (root.trace, root.id, root.parent) == (trace, root_of(trace), b"")
    assert spans["robots.txt"].parent == root.id and spans["wait"].parent == spans["robots.txt"].id
    assert spans["robots.txt"].error == "OSError" and not spans["wait"].error and not root.error
    assert spans["wait"].end - spans["wait"].start == 2_000_000_000
    assert spans["judge"].attributes == {"url.full": "http://a.test/?token=REDACTED"}


async def test_unsampled_steps_send_nothing(autojump_clock: object) -> None:
    tracer = a_tracer()
    LookSteps(tracer, SOURCE).end()
    steps = LookSteps(a_tracer(0.0), SOURCE)
    steps.at = AT
    steps.end()
    assert len(tracer) == 0


async def test_steps_have_a_bound_and_those_beyond_it_still_run(autojump_clock: object) -> None:
    tracer = a_tracer()
    steps = LookSteps(tracer, SOURCE)
    made = 0
    for _ in range(MOST + 10):
        with steps.step("wait"), steps.step("within"):
            made += 1
    steps.at = AT
    steps.end()
    assert made == MOST + 10 and len(tracer) == MOST + 1


def test_a_step_without_tracer_does_nothing() -> None:
    with NO_STEPS.step("judge") as nothing:
        assert nothing is None
