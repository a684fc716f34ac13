"""What every scripted HTTP server has: its memory of what was asked, and the faults of its host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import trio

from sanderling.simulation.network import Host
from sanderling.simulation.serving import Answer, Request
from sanderling.simulation.trace import Trace


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as an origin saw it. `conditional`: it named a version that the origin had given out."""

    at: float
    path: str
    status: int
    conditional: bool


@dataclass(slots=True)
class Origin:
    """What every scripted HTTP server has; `respond` is given to Hypercorn."""

    host: Host
    trace: Trace
    seen: list[Seen] = field(default_factory=list)
    garbles: ClassVar[bool] = False
    """Whether it can be replaced by something that is not of its kind."""

    async def respond(self, request: Request) -> Answer:
        """Answer one request, or suffer the host's present fault."""
        await trio.lowlevel.checkpoint()
        conditional = "if-none-match" in request.headers or "if-modified-since" in request.headers
        answer = self.answer(request) if request.path != "/robots.txt" else Answer(404)
        answer = self._suffer(answer)
        self.seen.append(Seen(trio.current_time(), request.path, answer.status, conditional))
        told = {"conditional": "yes"} if conditional else {}
        self.trace.note(self.host.name, f"answers {answer.status}", path=request.path, bytes=len(answer.body), **told)
        return answer

    def answer(self, request: Request) -> Answer:
        """Answer one request in good health."""
        raise NotImplementedError

    def _suffer(self, answer: Answer) -> Answer:
        if self.host.suffers("http500"):
            return Answer(500, b"something broke")
        if self.host.suffers("throttled"):
            return Answer(429, b"slow down", {"retry-after": "120"})
        if self.host.suffers("garbage") and answer.status == 200 and self.garbles:
            return Answer(200, b"<html><title>Maintenance</title><p>Back soon.", {"content-type": "text/html"})
        if self.host.suffers("truncated") and answer.status == 200:
            return Answer(200, answer.body[: len(answer.body) // 2], answer.headers, claims=len(answer.body))
        return answer
