"""The scripted servers' own stack: small ASGI applications on Hypercorn's real HTTP code, over the memory network."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext

from sanderling.simulation.wire import SimStream


@dataclass(frozen=True, slots=True)
class Request:
    """What a scripted server is asked. Header names are lower-case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What it answers. `claims` is a Content-Length that the body may fall short of (a truncated answer)."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    claims: int | None = None


Respond = Callable[[Request], Awaitable[Answer]]


async def serve_http(respond: Respond, listeners: Sequence[trio.abc.Listener[SimStream]]) -> None:
    """Serve until cancelled."""
    config = Config()
    config.accesslog = config.errorlog = None
    config.include_date_header = config.include_server_header = False
    context, app = WorkerContext(None), ASGIWrapper(_application(respond))

    async def connected(stream: SimStream) -> None:
        await TCPServer(app, config, context, {}, stream).run()  # type: ignore[arg-type]  # all that it uses is there

    await trio.serve_listeners(connected, list(listeners))


def _application(respond: Respond) -> Callable[..., Awaitable[None]]:
    async def app(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        if scope["type"] != "http":
            return
        answer = await respond(await _request(scope, receive))
        headers = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        if answer.status != 304:
            length = len(answer.body) if answer.claims is None else answer.claims
            headers.append((b"content-length", str(length).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})

    return app


async def _request(scope: dict[str, Any], receive: Callable[..., Any]) -> Request:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message["type"] == "http.request" and message.get("more_body", False)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Request(scope["method"], scope["path"], headers, body)
