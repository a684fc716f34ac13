"""Faults of a host, applied to an HTTP answer. Pure except for the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate, parsedate_to_datetime

import trio

from tests.simulation.network import Host
from tests.simulation.origins.texts import EPOCH
from tests.simulation.serving import Answer, Request

PRIVATE, METADATA = "10.0.0.7", "169.254.169.254"

_HTML = {"content-type": "text/html; charset=utf-8"}
_WALLS = (
    b"<html><title>Log in</title><body><h1>Log in</h1><form><input name=u><input type=password name=p></form>",
    b"<html><title>Just a moment...</title><body><h1>Checking your browser</h1><p>Please wait.</p>",
    b"<html><title>Consent</title><body><h1>Before you continue</h1><p>We and our partners use cookies.</p>",
)
_ERROR_PAGE = b"<html><title>Error</title><body><h1>Service temporarily unavailable</h1><p>Come back later.</p>"
_PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

_Trouble = Callable[[Request, Answer], Answer]


def suffered(host: Host, request: Request, answer: Answer) -> Answer:
    """Return the real answer: the very same object without a fault."""
    for kind, spoil in _TROUBLES.items():
        if host.suffers(kind):
            return spoil(request, answer)
    return answer


def hold_of(answer: Answer) -> float:
    """Return the seconds of quiet that an answer asks for."""
    asked = answer.headers.get("retry-after")
    if asked is None:
        return 0.0
    return float(asked) if asked.isdigit() else parsedate_to_datetime(asked).timestamp() - EPOCH - trio.current_time()


def _answers(status: int, body: bytes = b"", **headers: str) -> _Trouble:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request, answer: Answer(status, body, named)


def _throttled_until(request: Request, answer: Answer) -> Answer:
    until = formatdate(round(EPOCH + trio.current_time()) + 300, usegmt=True)
    return Answer(429, b"later", {"retry-after": until})


def _redirects(to: str) -> _Trouble:
    return lambda request, answer: Answer(302, headers={"location": to.format(request=request)})


def _instead(*bodies: bytes) -> _Trouble:
    def swap(request: Request, answer: Answer) -> Answer:
        chosen = bodies[int(trio.current_time() // 600) % len(bodies)]
        return Answer(200, chosen, _HTML) if answer.status in (200, 304) else answer

    return swap


def _truncated(request: Request, answer: Answer) -> Answer:
    if answer.status != 200:
        return answer
    return replace(answer, body=answer.body[: len(answer.body) // 2], claims=len(answer.body))


def _garbage(request: Request, answer: Answer) -> Answer:
    if answer.headers.get("content-type", "").startswith("text/html"):
        return Answer(200, _PDF, {"content-type": "application/pdf"})
    return Answer(200, b"<html><title>Maintenance</title><p>Back soon.", _HTML) if answer.status == 200 else answer


_TROUBLES: dict[str, _Trouble] = {
    "silent": lambda request, answer: replace(answer, pace="never"),
    "half": lambda request, answer: replace(answer, pace="half") if answer.status == 200 else answer,
    "trickle": lambda request, answer: replace(answer, pace="trickle"),
    "http500": _answers(500, b"something broke"),
    "throttled": _answers(429, b"slow down", retry_after="120"),
    "throttled until": _throttled_until,
    "throttled plainly": _answers(429),
    "unavailable": _answers(503, retry_after="180"),
    "busy": _answers(503),
    "loop": _redirects("{request.path}?again"),
    "to a private address": _redirects(f"http://{PRIVATE}/"),
    "to the metadata service": _redirects(f"http://{METADATA}/latest/meta-data/"),
    "to plain http": _redirects("http://{request.headers[host]}/plain"),
    "wall": _instead(*_WALLS),
    "error page": _instead(_ERROR_PAGE),
    "empty": _instead(b""),
    "garbage": _garbage,
    "truncated": _truncated,
}
"""By kind; the first of several applies."""
