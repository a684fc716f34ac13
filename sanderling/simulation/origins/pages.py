"""Pages whose blocks change one at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape

import trio

from sanderling.simulation.origins.server import Origin
from sanderling.simulation.origins.texts import EPOCH, published, sentence, title
from sanderling.simulation.program import OriginPlan
from sanderling.simulation.serving import Answer, Request


@dataclass(slots=True)
class PageOrigin(Origin):
    """A page whose blocks change one at a time; a busy one also shows the time and a counter."""

    plan: OriginPlan = field(kw_only=True)
    visits: int = 0

    def answer(self, request: Request) -> Answer:
        """Answer with the page as it is now."""
        self.visits += 1
        blocks = blocks_of(self.plan, len(published(self.plan.texts)))
        churn = ""
        if self.plan.style == "busy":
            clock = formatdate(EPOCH + trio.current_time(), usegmt=True)
            churn = f"<p class=clock>It is {clock}</p><p>You are visitor number {self.visits}</p>"
        main = "".join(f"<h2>Notice {n + 1}</h2><p>{escape(text)}</p>" for n, text in enumerate(blocks))
        body = (
            f"<!doctype html><html><head><title>Notices of {self.plan.host}</title></head><body><header><nav>"
            f"<a href=/>Home</a> <a href=/about>About</a></nav>{churn}</header><main><h1>Notices</h1>{main}</main>"
            f"<footer><p>Printed by the press of {self.plan.host}</p></footer></body></html>"
        )
        return Answer(200, body.encode(), {"content-type": "text/html; charset=utf-8"})


def blocks_of(plan: OriginPlan, changes: int) -> list[str]:
    """Return a page's blocks after so many changes; change `n` rewrites block `n % window`."""
    blocks = [
        f"Paragraph {n} of {plan.host} has stood here since the beginning and says so." for n in range(plan.window)
    ]
    for number, text in enumerate(plan.texts[:changes]):
        blocks[number % plan.window] = f"{sentence(text)} ({title(plan, number)})"
    return blocks
