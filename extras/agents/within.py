"""Requests of the API to itself, with the caller's key, scopes and rate limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

import trio
from msgspec import json
from werkzeug.datastructures import Headers

KEYS: Final = ("Authorization", "X-API-Key")
"""Headers that carry a key (see `api.auth`)."""
Application = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application: scope, receive, send."""


class Reply(NamedTuple):
    """An answer: status, and body as parsed JSON (None without one)."""

    status: int
    body: Any


class Within:
    """Calls the API as the caller of a request. headers: the caller's; only those with its key are sent."""

    def __init__(self, app: Application, headers: Headers, address: str) -> None:
        self._app, self._address = app, address
        self._key = {name: headers[name] for name in KEYS if name in headers}

    async def ask(self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Any = None) -> Reply:
        """Return the answer to another request, problem documents included."""
        sent = b"" if body is None else json.encode(body)
        told, status = bytearray(), 500
        waiting = [{"type": "http.request", "body": sent, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not waiting:
                await trio.sleep_forever()  # the client never disconnects
            return waiting.pop()

        async def send(message: Mapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            elif message["type"] == "http.response.body":
                told.extend(message.get("body", b""))

        await self._app(self._scope(method, path, query or {}, sent), receive, send)
        return Reply(status, json.decode(bytes(told)) if told else None)

    def _scope(self, method: str, path: str, query: Mapping[str, Any], sent: bytes) -> dict[str, Any]:
        headers = [(b"host", b"localhost"), (b"content-length", str(len(sent)).encode())]
        if sent:
            headers.append((b"content-type", b"application/json"))
        headers += [(name.lower().encode(), value.encode("latin-1")) for name, value in self._key.items()]
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": quote(path, safe="/%").encode(),
            "root_path": "",
            "query_string": urlencode(query).encode(),
            "headers": headers,
            "client": (self._address, 0),
            "server": ("localhost", None),
            "extensions": {},
        }
