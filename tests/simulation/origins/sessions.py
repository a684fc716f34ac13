"""Sites that give a new session at each visit, and sign out clients with an old one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import trio

from tests.simulation.network import Host
from tests.simulation.origins.server import Part
from tests.simulation.program import SESSION_FAULTS
from tests.simulation.serving import Answer, Request

FAILS, IS_CUT = SESSION_FAULTS
STRANGERS = "session=stranger; Path=/"
_SENT = re.compile(r"(?:^|; )session=s([0-9]+)(?:;|$)")
_FORM = (
    b"<!doctype html><html><head><title>Sign in</title></head><body><main><h1>Sign in</h1><form action=/in method=post>"
    b"<input name=user><input type=password name=password></form></main></body></html>"
)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request with a session. sent: the number of its session, -1 for none; known: the site's newest."""

    at: float
    path: str
    sent: int
    known: int


@dataclass(slots=True)
class Gate:
    """The sessions of one site.

    A crash can lose the newest session on its way, so the site also accepts the previous one, and continues from there;
    the oracle judges whether that was ever needed without a crash.
    """

    host: Host
    number: int = 0
    visits: list[Visit] = field(default_factory=list)

    def visited(self, path: str, cookie: str) -> str | None:
        """Return the `Set-Cookie` of a new session, None for a stranger."""
        found = _SENT.search(cookie)
        sent = -1 if found is None else int(found[1])
        self.visits.append(Visit(trio.current_time(), path, sent, self.number))
        if sent not in (self.number, self.number - 1) or sent < 0:
            return None
        self.number += 1
        return f"session=s{self.number}; Path=/; HttpOnly"

    def answer(self, part: Part, request: Request) -> Answer:
        """Answer for a part of the site, with a new session; or with the sign-in form and a stranger's session."""
        session = self.visited(request.path, request.headers.get("cookie", ""))
        if session is None:
            return Answer(200, _FORM, {"content-type": "text/html", "set-cookie": STRANGERS})
        sets = {"set-cookie": session}
        if self.host.suffers(FAILS):
            return Answer(500, b"something broke", sets)
        answer = part.answer(request)
        headers: Mapping[str, str] = {**answer.headers, **sets}
        if self.host.suffers(IS_CUT) and answer.status == 200:
            return replace(answer, headers=headers, body=answer.body[:40], claims=len(answer.body))
        return replace(answer, headers=headers)


@dataclass(slots=True)
class GatedPart:
    """A part of a site that is for members."""

    gate: Gate
    part: Part

    @property
    def versioned(self) -> bool:
        """Whether its answers have validators."""
        return self.part.versioned

    def answer(self, request: Request) -> Answer:
        """Answer through the gate."""
        return self.gate.answer(self.part, request)
