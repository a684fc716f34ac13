"""A webhook receiver."""

from __future__ import annotations

from dataclasses import dataclass, field

import trio

from sanderling.simulation.origins.server import Origin
from sanderling.simulation.serving import Answer, Request


@dataclass(frozen=True, slots=True)
class Receipt:
    """A delivery as the receiver got it; `status` is what it answered."""

    at: float
    headers: dict[str, str]
    body: bytes
    status: int


@dataclass(slots=True)
class HookOrigin(Origin):
    """A webhook receiver that records what arrives."""

    receipts: list[Receipt] = field(default_factory=list)

    async def respond(self, request: Request) -> Answer:
        """Take one delivery."""
        await trio.lowlevel.checkpoint()
        answer = self._suffer(Answer(204))
        self.receipts.append(Receipt(trio.current_time(), dict(request.headers), request.body, answer.status))
        self.trace.note(self.host.name, f"takes a delivery, {answer.status}", id=request.headers.get("webhook-id"))
        return answer
