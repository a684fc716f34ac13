"""Pages whose blocks change one at a time, among much churn."""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape

import trio

from tests.simulation.origins.texts import EPOCH, published, saying
from tests.simulation.program import OriginPlan
from tests.simulation.serving import Answer, Request

PROMOS = 5
SHELL = (
    b"<!doctype html><html><head><title>Notices</title></head><body><noscript>Enable JavaScript.</noscript>"
    b"<div id=root></div><script type=module src=/main.js></script></body></html>"
)
"""A page before its scripts fill it; always the same bytes."""
FLAPS = (
    "Our readers like the blue edition of this page best of all.",
    "Readers of this page prefer the green edition.",
)


@dataclass(slots=True)
class Page:
    """A page as its plan says; a busy one also shows the time and a counter in its head. `dice` draws its churn."""

    plan: OriginPlan
    dice: random.Random
    visits: int = 0
    versioned: bool = field(init=False)

    def __post_init__(self) -> None:
        """Set whether requests for it can be conditional: not when each request gets another page."""
        churns = self.plan.style == "busy" or self.plan.manners.churn
        self.versioned = not churns and self.plan.validators != "none"

    def answer(self, request: Request) -> Answer:
        """Answer with the page as it is now, or 304."""
        self.visits += 1
        changes = len(published(self.plan.texts))
        headers = {"content-type": "text/html; charset=utf-8"}
        if self.versioned:
            headers["etag"] = 'W/"empty"' if self.plan.shell else f'W/"{self.plan.name}-{changes}"'
            if request.headers.get("if-none-match") == headers["etag"]:
                return Answer(304, headers=headers)
        body = SHELL if self.plan.shell else self._document(changes).encode()
        if self.plan.manners.zipped:
            body = gzip.compress(body, mtime=0)
            headers["content-encoding"] = "gzip"
        return Answer(200, body, headers)

    def filled(self, sent: bytes) -> bytes:
        """Return the page after its scripts: the whole page, if it was sent without a fault."""
        return self._document(len(published(self.plan.texts))).encode() if sent == SHELL else sent

    def _document(self, changes: int) -> str:
        name = self.plan.name
        parts = [
            f"<h2>Notice {n + 1}</h2><p>{escape(text)}</p>" for n, text in enumerate(blocks_of(self.plan, changes))
        ]
        around = {churn: _CHURN[churn](self) for churn in self.plan.manners.churn}
        main = "".join([around.pop("clock", ""), *parts, *around.values()])
        head = ""
        if self.plan.style == "busy":
            head = f"<p class=clock>It is {self.time()}</p><p>You are visitor number {self.visits}</p>"
        return (
            f"<!doctype html><html><head><title>Notices of {name}</title></head><body><header><nav>"
            f"<a href=/>Home</a> <a href=/about>About</a></nav>{head}</header><main><h1>Notices</h1>{main}</main>"
            f"<footer><p>Printed by the press of {name}</p></footer></body></html>"
        )

    def time(self) -> str:
        """Return the true date and time as text."""
        return formatdate(EPOCH + trio.current_time(), usegmt=True)


def blocks_of(plan: OriginPlan, changes: int) -> list[str]:
    """Return a page's blocks after so many changes; change `n` rewrites block `n % window`."""
    blocks = [
        f"Paragraph {n} of {plan.name} has stood here since the beginning and says so." for n in range(plan.window)
    ]
    for number, text in enumerate(plan.texts[:changes]):
        blocks[number % plan.window] = saying(plan, number, text.words)
    return blocks


def _clock(page: Page) -> str:
    return f"<p>Last updated: {page.dice.randint(2, 59)} minutes ago</p><p>Generated at {page.time()}</p>"


def _counter(page: Page) -> str:
    return f"<p>{1000 + 7 * page.visits:,} views</p>"


def _promos(page: Page) -> str:
    number = page.dice.randrange(PROMOS)
    return f"<div class=promo><p>Offer {number} of the week: our best rope, now also in length {number}</p></div>"


def _flap(page: Page) -> str:
    return f"<p>{page.dice.choice(FLAPS)}</p>"


def _shuffle(page: Page) -> str:
    items = [f"<li>Harbour office of quay {quay} on the west side</li>" for quay in ("one", "two", "three", "four")]
    page.dice.shuffle(items)
    return f"<ul>{''.join(items)}</ul>"


def _token(page: Page) -> str:
    token = f"{page.dice.getrandbits(128):032x}"
    return f"<!-- {token} --><form><input type=hidden name=csrf value={token}></form><p>Trace id: {token}</p>"


_CHURN = {
    "clock": _clock,
    "counter": _counter,
    "promos": _promos,
    "flap": _flap,
    "shuffle": _shuffle,
    "token": _token,
}
