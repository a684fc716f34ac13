"""A service that answers each route with its documented example, and refuses undocumented requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click
import httpx
import msgspec
import pytest

from api.openapi.document import ROUTES, example_of
from api.route import Route
from sanderling.client import api
from sanderling.client.api import Client

T = TypeVar("T")
_PATHS = [
    (route, re.compile(re.sub(r"\{[a-z_]+\}", "[^/]+", re.sub(r"\{(path|tag)\}", ".+", route.path))))
    for route in ROUTES
]


def record_of(kind: type[T]) -> T:
    """Return the documented example of a type."""
    return msgspec.convert(example_of(kind), kind)


def routed(method: str, path: str) -> Route:
    """Return the route of a request; one with fewer parameters goes first."""
    found = [route for route, pattern in _PATHS if route.method == method and pattern.fullmatch(path)]
    assert found, f"{method} {path} is no route"
    return min(found, key=lambda route: route.path.count("{"))


def as_documented(method: str, path: str, status: int, body: Any) -> Any:
    """Return the body of an answer. Raises unless it has exactly the fields of its route's answer."""
    kind = routed(method, path).answers[status]
    plain = msgspec.json.decode(msgspec.json.encode(body))
    assert msgspec.json.decode(msgspec.json.encode(msgspec.convert(plain, kind))) == plain, f"{method} {path}"
    return plain


def client(asked: list[tuple[str, Any]], answers: Callable[[Route], Any] | None = None) -> Client:
    """Return a client of it that records its requests in `asked`. `answers` takes precedence over the examples."""

    def handle(request: httpx.Request) -> httpx.Response:
        route = routed(request.method, request.url.path)
        body = msgspec.json.decode(request.content) if request.content else None
        if route.body:
            msgspec.convert(body, route.body[0], strict=True)
        msgspec.convert(dict(request.url.params), route.query, strict=False)
        asked.append((f"{request.method} {request.url.path}", body))
        status, kind = next(iter(route.answers.items()))
        if kind is None:
            return httpx.Response(status)
        return httpx.Response(status, json=example_of(kind) if answers is None else answers(route) or example_of(kind))

    return Client("http://service.test", "svc_k", httpx.MockTransport(handle))


def run(command: click.Command, service: Client, *line: str) -> int:
    """Run a command line with a client of this service."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "client_here", lambda *_: service)
        return int(command.main(list(line), standalone_mode=False) or 0)
