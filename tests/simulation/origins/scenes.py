"""Pages that play a script: labels that alternate, entries that come and go, other pages in their place.

The content depends on the number of requests, never on the time: so a stay lasts as many checks as the script says,
whenever these are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tests.simulation.program import OriginPlan, Scene
from tests.simulation.serving import Answer, Request

_PROSE = (
    "The harbour office keeps this page for the boats that lie at the western quay, and for those that wait outside.",
    "Whoever comes in at night is asked to call before the outer light and to go slowly past the fishing boats.",
    "Water and power are paid for at the office, where the keys of the wash house are given out as well.",
)
_FORM = "<form action=/in method=post><input name=user><input type=password name=password><button>Go</button></form>"
_HOME = (
    "Boats, people and the sea since the old days",
    "Our fleet sails on each summer morning to the outer islands",
    "Read how the lighthouse was built by four brothers",
    "Visit the museum of nets and knots beside the church",
)


@dataclass(slots=True)
class ScenePage:
    """A page that plays its plan's scenes."""

    plan: OriginPlan
    visits: int = 0
    versioned: bool = True

    @property
    def elsewhere(self) -> str:
        """The path that its requests are redirected to when it has moved."""
        return f"{self.plan.path}welcome"

    def answer(self, request: Request) -> Answer:
        """Answer with the scene that this request sees, or 304."""
        scene = self.plan.scenes[scene_at(self.plan, self.visits)]
        lines = lines_at(self.plan, scene, self.visits)
        self.visits += 1
        if scene.instead == "elsewhere":
            return Answer(302, b"over there", {"location": self.elsewhere})
        body = _INSTEAD[scene.instead](self.plan) if scene.instead else document(self.plan, self._shown(lines))
        etag = f'"{hashlib.blake2b(body.encode(), digest_size=8).hexdigest()}"'
        headers = {"content-type": "text/html; charset=utf-8", "etag": etag}
        if request.headers.get("if-none-match") == etag:
            return Answer(304, headers=headers)
        return Answer(200, body.encode(), headers)

    def _shown(self, lines: Sequence[str]) -> list[str]:
        return [line.replace("{n}", str(100 + 7 * self.visits)) for line in lines]


@dataclass(slots=True)
class Elsewhere:
    """The new page of a page that has moved."""

    plan: OriginPlan
    versioned: bool = False

    def answer(self, request: Request) -> Answer:
        """Answer with the other page."""
        return Answer(200, _home(self.plan).encode(), {"content-type": "text/html; charset=utf-8"})


def scene_at(plan: OriginPlan, visits: int) -> int:
    """Return the number of the scene after so many requests; the last one stays."""
    for number, scene in enumerate(plan.scenes):
        visits -= scene.visits
        if visits < 0:
            return number
    return len(plan.scenes) - 1


def lines_at(plan: OriginPlan, scene: Scene, visits: int) -> Sequence[str]:
    """Return the lines of a scene for the request after so many; a rotating scene draws one for this request alone."""
    if not scene.rotates:
        return scene.lines
    drawn = int.from_bytes(hashlib.blake2b(f"{plan.host} {plan.added_at} {visits}".encode(), digest_size=8).digest())
    return (scene.lines[drawn % len(scene.lines)],)


def blocks_in(plan: OriginPlan, scene: Scene) -> list[str]:
    """Return the texts of a page when a first scene begins, in their order."""
    prose = () if plan.style == "entries" else _PROSE
    return [f"Harbour of {plan.host}", *prose, "Now", *lines_at(plan, scene, 0)]


def document(plan: OriginPlan, lines: Sequence[str]) -> str:
    """Return the page with these lines."""
    shown = "".join(
        f"<li>{escape(line)}</li>" if plan.style == "entries" else f"<p>{escape(line)}</p>" for line in lines
    )
    prose = "" if plan.style == "entries" else "".join(f"<p>{text}</p>" for text in _PROSE)
    part = f"<ul>{shown}</ul>" if plan.style == "entries" else shown
    return _whole(f"Harbour of {plan.host}", f"<h1>Harbour of {plan.host}</h1>{prose}<h2>Now</h2>{part}")


def _whole(title: str, main: str) -> str:
    return f"<!doctype html><html lang=en><head><title>{title}</title></head><body><main>{main}</main></body></html>"


def _login(plan: OriginPlan) -> str:
    return _whole("Sign in", f"<h1>Sign in</h1>{_FORM}")


def _loading(plan: OriginPlan) -> str:
    return _whole(f"Harbour of {plan.host}", "<p>Loading ...</p>")


def _error(plan: OriginPlan) -> str:
    return _whole("Service unavailable", "<h1>Service unavailable</h1><p>Please try again in a while.</p>")


def _home(plan: OriginPlan) -> str:
    return _whole(
        "Welcome to the coast", "<h1>Welcome to the coast</h1>" + "".join(f"<p>{text}.</p>" for text in _HOME)
    )


_INSTEAD = {"login": _login, "loading": _loading, "error": _error, "home": _home}
