"""Messengers for people: their answers when healthy, when throttling, and when they accept nothing more.

They answer in their own formats, as in the documentation behind their files. A world has each event title once, so
titles identify events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

from actors.destination_kinds.contract import Verdict
from storage.records.destination import EMAIL, WEBHOOK
from tests.simulation.delivery_records import Told
from tests.simulation.serving import Answer, Request

_TITLE = re.compile(r"saying \d+")
_COUNT = re.compile(r"(\d+) events? of ")
_MORE = re.compile(r"and (\d+) more event")
TEST = "Test delivery"
UNREAD = Told("", (), None, 0, test=False, unread=True)


class Verdicts(NamedTuple):
    """An answer and its meaning. hold: seconds to wait, in the service's own format."""

    answer: Answer
    means: Verdict
    hold: float = 0.0


@dataclass(frozen=True, slots=True)
class Service:
    """A messenger. address: behind the place of a destination; options: a user's other settings.

    id: its field that marks duplicates, "" if none.
    """

    well: Answer
    troubles: Mapping[str, Verdicts]
    options: Mapping[str, str]
    address: str = ""
    id: Callable[[Request], str] = lambda request: ""


def where(kind: str, host: str, place: str) -> dict[str, object]:
    """Return a user's input for a destination at a place of a host."""
    if kind == WEBHOOK:
        return {"kind": kind, "url": f"https://{host}{place}"}
    if kind == EMAIL:
        return {"kind": kind, "url": f"{place[1:].replace('/', '.')}@{host}"}
    service = SERVICES[kind]
    return {"kind": kind, "url": f"https://{host}{place}{service.address}", "options": dict(service.options)}


def place_of(request: Request) -> str:
    """Return the destination of a request: the first two parts of its path."""
    return "/".join(request.path.partition("?")[0].split("/")[:3])


def told(text: str, id: str) -> Told:
    """Return a text as a person reads it."""
    count, more = _COUNT.search(text), _MORE.search(text)
    return Told(
        id,
        tuple(dict.fromkeys(_TITLE.findall(text))),
        None if count is None else int(count[1]),
        0 if more is None else int(more[1]),
        TEST in text,
    )


def told_in(service: Service, request: Request) -> Told:
    """Return a request to a service as a person reads it."""
    text = request.body.decode()
    form = "form" in request.headers.get("content-type", "")
    return told(unquote_plus(text) if form else text, service.id(request))


def _says(status: int, tree: object, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, json.dumps(tree).encode(), {"content-type": "application/json"} | named)


def _words(slow: Answer, hold: float, refused: Answer, revoked: Answer) -> Mapping[str, Verdicts]:
    return {
        "revokes": Verdicts(revoked, "revoked"),
        "refuses": Verdicts(refused, "refused"),
        "asks for fewer": Verdicts(slow, "slow", hold),
    }


def _code(number: int, words: str) -> Answer:
    return _says(200, {"errcode": number, "errmsg": words})


SERVICES: Mapping[str, Service] = {
    "slack": Service(
        Answer(200, b"ok"),
        _words(
            Answer(429, b"rate_limited", {"retry-after": "100"}),
            100,
            Answer(400, b"invalid_payload"),
            Answer(404, b"no_service"),
        ),
        {},
        "/services",
    ),
    "discord": Service(
        _says(200, {"id": "1"}),
        _words(
            _says(429, {"message": "You are being rate limited.", "retry_after": 90.5}),
            90.5,
            _says(400, {"embeds": ["0"]}),
            _says(404, {"message": "Unknown Webhook", "code": 10015}),
        ),
        {},
        "/webhooks",
    ),
    "telegram": Service(
        _says(200, {"ok": True, "result": {"message_id": 1}}),
        _words(
            _says(429, {"ok": False, "description": "Too Many Requests", "parameters": {"retry_after": 75}}),
            75,
            _says(400, {"ok": False, "description": "Bad Request: message is too long"}),
            _says(403, {"ok": False, "description": "Forbidden: bot was kicked from the group chat"}),
        ),
        {"token": "123:secret", "chat": "-100"},
    ),
    "matrix": Service(
        _says(200, {"event_id": "$1"}),
        _words(
            _says(429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 70_000}),
            70,
            _says(413, {"errcode": "M_TOO_LARGE", "error": "event too large"}),
            _says(401, {"errcode": "M_UNKNOWN_TOKEN", "error": "Invalid access token passed."}),
        ),
        {"room": "!room:people.org", "token": "secret"},
        id=lambda request: unquote(request.path.rpartition("/")[2]),
    ),
    "zulip": Service(
        _says(200, {"result": "success", "msg": "", "id": 42}),
        _words(
            _says(429, {"result": "error", "code": "RATE_LIMIT_HIT", "retry-after": 80.5}),
            80.5,
            _says(400, {"result": "error", "code": "BAD_REQUEST", "msg": "Message must not be empty"}),
            _says(401, {"result": "error", "code": "INVALID_API_KEY", "msg": "Invalid API key"}),
        ),
        {"bot": "bot@people.org", "key": "secret", "channel": "news"},
    ),
    "pagerduty": Service(
        _says(202, {"status": "success", "message": "Event processed"}),
        _words(
            _says(429, {"status": "throttle exceeded", "message": "Requests have arrived too quickly"}),
            0,
            _says(400, {"status": "invalid event", "errors": ["'payload.severity' is invalid"]}),
            _says(400, {"status": "invalid event", "errors": ["Length of 'routing_key' is incorrect"]}),
        ),
        {"key": "secret00secret00secret00secret00"},
        id=lambda request: str(json.loads(request.body)["dedup_key"]),
    ),
    "wecom": Service(
        _code(0, "ok"),
        _words(
            _code(45009, "api freq out of limit"),
            0,
            _code(40058, "text.content exceed max length 2048"),
            _code(93000, "invalid webhook url"),
        ),
        {},
    ),
}
"""By kind: those with different answers. The tests of the kinds try every built-in one."""
