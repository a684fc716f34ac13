"""A webhook receiver."""

from __future__ import annotations

from dataclasses import dataclass, field

import trio

from tests.simulation.network import Host
from tests.simulation.origins import troubles
from tests.simulation.serving import Answer, Request
from tests.simulation.trace import Trace


@dataclass(frozen=True, slots=True)
class Receipt:
    """A delivery as the receiver got it, with its path; `status` is of its answer."""

    at: float
    path: str
    headers: dict[str, str]
    body: bytes
    status: int


@dataclass(slots=True)
class Receiver:
    host: Host
    trace: Trace
    receipts: list[Receipt] = field(default_factory=list)

    async def respond(self, request: Request) -> Answer:
        await trio.lowlevel.checkpoint()
        answer = troubles.suffered(self.host, request, Answer(204))
        self.receipts.append(
            Receipt(trio.current_time(), request.path, dict(request.headers), request.body, answer.status)
        )
        self.trace.note(self.host.name, f"takes a delivery, {answer.status}", id=request.headers.get("webhook-id"))
        return answer
