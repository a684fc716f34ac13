"""The steps of one check, recorded as they happen, and turned into spans at its end.

The trace is unknown until then: its id depends on the time of the check, which is that of the answer. A check is
sequential, so a step that starts within another is its child.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import trio

from actors.egress.failures import CheckFailed
from actors.observer import CheckSteps
from actors.world import Jail
from extras.tracing.identity import root_of, span_of, trace_of_look
from extras.tracing.span import CLIENT, INTERNAL, Attributes, Span, SpanEvent, Value, clean, error_type
from extras.tracing.tracer import Tracer
from storage.records.identity import Millis, SourceId
from storage.records.source import Source
from storage.records.trail import Row
from supervision import Child

MOST: Final = 64
"""Maximum steps recorded per check: five redirects with a robots.txt each make thirty."""
NONE: Final[Attributes] = {}
_HTTP_MOMENTS: Final = {
    "connection.connect_tcp.complete": "connected",
    "connection.start_tls.complete": "TLS established",
    "http11.send_request_body.complete": "request sent",
    "http11.receive_response_headers.complete": "first byte",
}
"""httpcore's trace events of a request, in our words. Name resolution precedes `connected`."""


class NotedJail:
    """A Jail that records how long the reading of a body took."""

    def __init__(self, jail: Jail, steps: CheckSteps) -> None:
        self._jail, self._steps = jail, steps

    async def run(self, child: Child) -> None:
        await self._jail.run(child)

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task as a step of the trace; see Jail."""
        with self._steps.step("read", {"sanderling.task": task, "sanderling.request.size": len(request)}):
            return await self._jail.call(task, request, deadline=deadline)

    def lacks(self) -> str:
        return self._jail.lacks()


class TracedStep:
    """One step: its start and end, its parent step, and its attributes."""

    __slots__ = ("attributes", "began", "ended", "error", "kind", "moments", "name", "within")

    def __init__(self, name: str, kind: int, within: int, attributes: dict[str, Value]) -> None:
        self.name, self.kind, self.within, self.attributes = name, kind, within, attributes
        self.began = self.ended = trio.current_time()
        self.moments: list[tuple[float, str]] = []
        self.error = ""


class LookSteps(CheckSteps):
    """The steps of one check, or one hop. `at`: the check's time in its events; None if unknown or if it was none."""

    __slots__ = ("_began", "_open", "_steps", "_tracer", "_wall", "at", "attributes", "error", "name", "source")

    def __init__(self, tracer: Tracer, source: SourceId, name: str = "look") -> None:
        self._tracer, self.source, self.name = tracer, source, name
        self._wall, self._began = tracer.now(), trio.current_time()
        self._steps: list[TracedStep] = []
        self._open: list[int] = []
        self.at: Millis | None = None
        self.attributes: dict[str, Value] = {}
        self.error = ""

    def __repr__(self) -> str:
        return f"<LookSteps of {self.source}: {', '.join(step.name for step in self._steps)}>"

    @contextmanager
    def step(self, name: str, attributes: Attributes = NONE, kind: int = INTERNAL) -> Iterator[TracedStep]:
        """Record the block as a step. An exception in it becomes the step's error."""
        step = TracedStep(name, kind, self._open[-1] if self._open else -1, dict(attributes))
        if len(self._steps) < MOST:
            self._open.append(len(self._steps))
            self._steps.append(step)
            step_is_noted = True
        else:
            step_is_noted = False
        try:
            yield step
        except BaseException as error:
            step.error = error_type(error)
            raise
        finally:
            step.ended = trio.current_time()
            if step_is_noted:
                self._open.pop()

    def waited(self, name: str, began: float, attributes: Attributes) -> None:
        """Record a step from a time on the loop's clock until now."""
        with self.step(name, attributes) as step:
            step.began = began

    def request(self, posts: bool, url: str, host: str, port: int) -> AbstractContextManager[TracedStep]:
        method = "POST" if posts else "GET"
        known: Attributes = {
            "http.request.method": method,
            "url.full": url,
            "server.address": host,
            "server.port": port,
        }
        return self.step(method, known, CLIENT)

    def answered(self, status: int) -> None:
        """Record the status of the answer to the open request step."""
        if self._open:
            self._steps[self._open[-1]].attributes["http.response.status_code"] = status

    async def http_moment(self, name: str, info: dict[str, Any]) -> None:
        """Record an httpcore event of the open request step (its extension `trace`)."""
        if (moment := _HTTP_MOMENTS.get(name)) is not None and self._open:
            self._steps[self._open[-1]].moments.append((trio.current_time(), moment))

    def extensions(self) -> Mapping[str, Any]:
        return {"trace": self.http_moment}

    def jail(self, jail: Jail) -> Jail:
        return NotedJail(jail, self)

    def looked(self, source: Source, row: Row, told: int) -> None:
        self._tell(source, row.last_at)
        self.attributes["sanderling.look.verdict"] = row.verdict.name.lower()
        self.attributes["sanderling.look.told"] = told

    def failed(self, source: Source, failure: CheckFailed, at: Millis) -> None:
        """Record a failed check. The reason is our own sentence, never the origin's."""
        self._tell(source, at)
        self.error = error_type(failure)
        self.attributes["sanderling.look.failure"] = failure.reason

    def hopped(self, source: Source, url: str, at: Millis, failure: CheckFailed | None = None) -> None:
        if failure is not None:
            self.failed(source, failure, at)
        self._tell(source, at)
        self.attributes["url.full"] = url

    def _tell(self, source: Source, at: Millis) -> None:
        self.at = at
        self.attributes |= {"sanderling.source.type": source.type, "url.full": source.watch_url}

    def end(self) -> None:
        """Pass the spans to the tracer, if this was a check and its trace is sampled."""
        if self.at is None or not self._tracer.samples(trace := trace_of_look(self.source, self.at)):
            return
        root = root_of(trace)
        ids = [span_of(trace, "step", str(number)) for number in range(len(self._steps))]
        spans = [
            Span(
                trace,
                ids[number],
                ids[step.within] if step.within >= 0 else root,
                step.name,
                step.kind,
                self._nanos(step.began),
                self._nanos(step.ended),
                _cleaned(step.attributes),
                step.error,
                [SpanEvent(self._nanos(at), name) for at, name in step.moments],
            )
            for number, step in enumerate(self._steps)
        ]
        attributes = _cleaned({"sanderling.source.id": self.source, **self.attributes})
        end = self._nanos(trio.current_time())
        self._tracer.put(Span(trace, root, b"", self.name, INTERNAL, self._wall, end, attributes, self.error), *spans)

    def _nanos(self, at: float) -> int:
        return self._wall + round((at - self._began) * 1e9)


def _cleaned(attributes: dict[str, Value]) -> dict[str, Value]:
    return {name: clean(value) if isinstance(value, str) else value for name, value in attributes.items()}
