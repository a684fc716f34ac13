"""The trace of a check: its source and result, and the reading of its body as a step."""

from __future__ import annotations

from actors.egress.failures import LookFailed
from actors.tracing.span import error_type
from actors.tracing.steps import LookSteps
from actors.world import Jail
from storage.records.identity import Millis
from storage.records.source import Source
from storage.records.trail import Row
from supervision import Child


class NotedJail:
    """A Jail that records how long the reading of a body took."""

    def __init__(self, jail: Jail, steps: LookSteps) -> None:
        self._jail, self._steps = jail, steps

    async def run(self, child: Child) -> None:
        await self._jail.run(child)

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task as a step of the trace; see Jail."""
        with self._steps.step("read", {"sanderling.task": task, "sanderling.request.size": len(request)}):
            return await self._jail.call(task, request, deadline=deadline)

    def lacks(self) -> str:
        return self._jail.lacks()


def tell_look(steps: LookSteps, source: Source, row: Row, told: int) -> None:
    """Record a check's result. told: drafts to report at once."""
    _tell(steps, source, row.last_at)
    steps.attributes["sanderling.look.verdict"] = row.verdict.name.lower()
    steps.attributes["sanderling.look.told"] = told


def tell_failure(steps: LookSteps, source: Source, failure: LookFailed, at: Millis) -> None:
    """Record a failed check. The reason is our own sentence, never the origin's."""
    _tell(steps, source, at)
    steps.error = error_type(failure)
    steps.attributes["sanderling.look.failure"] = failure.reason


def tell_hop(steps: LookSteps | None, source: Source, url: str, at: Millis, failure: LookFailed | None = None) -> None:
    """Record a hop's purpose, and why it failed."""
    if steps is None:
        return
    if failure is not None:
        tell_failure(steps, source, failure, at)
    _tell(steps, source, at)
    steps.attributes["url.full"] = url


def _tell(steps: LookSteps, source: Source, at: Millis) -> None:
    steps.at = at
    steps.attributes |= {"sanderling.source.type": source.type, "url.full": source.watch_url}
