"""A machine that speaks HTTP: its parts by path, its robots.txt, its troubles, and its record of requests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Protocol

import trio

from tests.simulation.network import Host
from tests.simulation.origins import troubles
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import RobotsPlan
from tests.simulation.serving import Answer, Request
from tests.simulation.trace import Trace

ROBOTS = "/robots.txt"
_LIFETIME = 900
_DAY = 86_400.0
FORBID = "User-agent: *\nDisallow: /\n"


@dataclass(slots=True)
class Seen:
    """A request as a machine saw it, and its answer.

    until: when the last byte was sent, or the client had gone. conditional: it had a validator; foreign: one of another
    resource. whole: it was answered without a fault. hold: seconds of quiet in the answer. cookie: of the request.
    forbids: a robots.txt that forbids everything (None: the answer contains no rules); lasts: for how long.
    """

    at: float
    path: str
    status: int
    conditional: bool
    foreign: bool = False
    whole: bool = True
    hold: float = 0.0
    cookie: str = ""
    forbids: bool | None = None
    lasts: float = 0.0
    until: float = math.inf


class Part(Protocol):
    """The resource at one path."""

    @property
    def versioned(self) -> bool:
        """Whether its answers have validators."""

    def answer(self, request: Request) -> Answer:
        """Answer without a fault."""


@dataclass(slots=True)
class Machine:
    """A server with parts. It answers 404 for any other path."""

    host: Host
    trace: Trace
    robots: RobotsPlan
    parts: dict[str, Part] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)

    async def respond(self, request: Request) -> Answer:
        """Answer one request, or suffer the host's present fault."""
        await trio.lowlevel.checkpoint()
        well = self._answer(request)
        answer = troubles.suffered(self.host, request, well)
        seen = self._note(request, answer, whole=answer is well)
        date = formatdate(EPOCH + trio.current_time(), usegmt=True)
        return replace(answer, headers={"date": date, **answer.headers}, finished=lambda: _finish(seen))

    def _answer(self, request: Request) -> Answer:
        if request.path == ROBOTS:
            return self._robots()
        part = self.parts.get(request.path)
        return Answer(404, b"nothing here") if part is None else part.answer(request)

    def _robots(self) -> Answer:
        if self.host.suffers("robots fails"):
            return Answer(503)
        forbids = self.host.suffers("robots forbids")
        text = FORBID if forbids else self.robots.text
        # Without a lifetime a copy is used for a day, and a ban of an hour would last for a day.
        lifetime = self.robots.max_age or (_LIFETIME if forbids else 0)
        age = {"cache-control": f"max-age={lifetime}"} if lifetime else {}
        return Answer(200, text.encode(), {"content-type": "text/plain", **age}) if text else Answer(404, headers=age)

    def _note(self, request: Request, answer: Answer, *, whole: bool) -> Seen:
        conditional = _is_conditional(request.headers)
        part = self.parts.get(request.path)
        seen = Seen(
            trio.current_time(),
            request.path,
            answer.status,
            conditional,
            foreign=conditional and (part is None or not part.versioned),
            whole=whole,
            hold=troubles.hold_of(answer),
            cookie=request.headers.get("cookie", ""),
            forbids=_forbids(answer) if request.path == ROBOTS else None,
            lasts=_lasts(answer),
        )
        self.seen.append(seen)
        told = {"conditional": "yes"} if conditional else {}
        if answer.pace != "at once":
            told["pace"] = answer.pace
        self.trace.note(self.host.name, f"answers {answer.status}", path=request.path, bytes=len(answer.body), **told)
        return seen


@dataclass(frozen=True, slots=True)
class Redirect:
    """A path that only redirects."""

    status: int
    location: str
    versioned: bool = False

    def answer(self, request: Request) -> Answer:
        """Answer with the other address."""
        return Answer(self.status, b"over there", {"location": self.location})


def _is_conditional(headers: Mapping[str, str]) -> bool:
    return "if-none-match" in headers or "if-modified-since" in headers


def _forbids(answer: Answer) -> bool | None:
    """Return whether an answer forbids everything; None where a client learns no rules (RFC 9309, 2.3.1)."""
    if answer.status == 200 and answer.pace == "at once" and answer.claims is None:
        return answer.body == FORBID.encode()
    return False if 300 <= answer.status < 500 else None


def _lasts(answer: Answer) -> float:
    """Return how long an answer may be used: at least ten minutes, so that the host gets other requests, too."""
    _, _, age = answer.headers.get("cache-control", "").partition("max-age=")
    return max(600.0, float(age)) if age else _DAY


def _finish(seen: Seen) -> None:
    seen.until = trio.current_time()
