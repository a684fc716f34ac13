"""Forward messages from stdin to the service's `/mcp`, and write responses to stdout, one per line, as they arrive.
Notifications of subscribed resources, from the session's stream, are written between them.

The service loses its sessions on restart. The bridge then silently begins a new one with the same subscriptions, and
resumes the log at its cursor. From version 2026-07-28 on there are no sessions: each message goes by itself, with the
headers that repeat it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import trio
from httpx_sse import ServerSentEvent

from extras.agents.stateless import encoded, repeated
from sanderling.client.api import Client, Cursor, ServiceRefused
from sanderling.exits import CommandFailed

AT_ONCE = 4  # messages in progress; the client's next ones wait in the pipe
MOST = 1 << 20
AGAIN = 5.0  # seconds before reopening a stream that the service refused
_META: Final = b"io.modelcontextprotocol/protocolVersion"
_PARSE, _FAULT = -32700, -32603
_READ = 64 << 10
_HEADERS: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_SESSION, _SUBSCRIBE, _UNSUBSCRIBE = "Mcp-Session-Id", "resources/subscribe", "resources/unsubscribe"
Line = Callable[[bytes], Awaitable[None]]


class Bridge:
    """Connects one client to the service. It remembers everything that a new session needs."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._began = b""
        self._session: dict[str, str] = {}
        self._subscribed: dict[str, None] = {}
        self._hears = trio.Event()
        self._cursor = Cursor()
        self._news: dict[str, None] = {}
        self._told = trio.Event()

    async def answer(self, line: bytes) -> bytes:
        """Return the service's response to a line, b"" for notifications. A refusal becomes a JSON-RPC error."""
        said = repeated(_read(line) or {}) if _META in line else {}
        try:
            answered, headers = await self._ask(line, {name: encoded(value) for name, value in said.items()})
        except CommandFailed as error:
            if said and isinstance(error, ServiceRefused) and b'"jsonrpc"' in error.body:
                return error.body.rstrip()
            return _failed(line, error.message)
        if _is_remembered(line) and (message := _read(line)) is not None:
            self._remember(message, line, answered, headers.get(_SESSION, ""))
        return answered

    async def _ask(self, line: bytes, repeated: dict[str, str] | None = None) -> tuple[bytes, Any]:
        answered = await self._client.ask("POST", "/mcp", content=line, headers=_HEADERS | (repeated or self._session))
        return answered.content.rstrip(), answered.headers

    def _remember(self, message: dict[str, Any], line: bytes, answered: bytes, session: str) -> None:
        if "result" not in (_read(answered) or {}):
            return
        uri = str((message.get("params") or {}).get("uri", ""))
        match message.get("method"):
            case "initialize" if session:
                self._began, self._session, self._subscribed = line, {_SESSION: session}, {}
            case "resources/subscribe":
                self._subscribed[uri] = None
                self._hears.set()
            case "resources/unsubscribe":
                self._subscribed.pop(uri, None)

    async def hear(self, write: Line) -> None:
        """Write notifications forever, from the first subscription on."""
        await self._hears.wait()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write_news, write)
            while True:
                try:
                    await self._client.follow("/mcp", (), self._take, cursor=self._cursor, headers=self._session)
                except CommandFailed as error:
                    await trio.sleep(AGAIN)
                    if isinstance(error, ServiceRefused) and error.status == HTTPStatus.NOT_FOUND:
                        with suppress(CommandFailed):  # the next turn tries again
                            await self._begin_anew()

    def _take(self, event: ServerSentEvent) -> None:
        self._news[event.data] = None  # each resource waits only once, however slowly the client reads
        self._told.set()

    async def _write_news(self, write: Line) -> None:
        while True:
            await self._told.wait()
            self._told = trio.Event()
            while self._news:
                said = next(iter(self._news))
                del self._news[said]
                await write(said.encode() + b"\n")

    async def _begin_anew(self) -> None:
        _, headers = await self._ask(self._began)
        self._session = {_SESSION: headers.get(_SESSION, "")}
        for uri in tuple(self._subscribed):
            message = {"jsonrpc": "2.0", "id": 0, "method": _SUBSCRIBE, "params": {"uri": uri}}
            await self._ask(json.dumps(message).encode())


def _is_remembered(line: bytes) -> bool:
    """Return whether a line may need remembering; others are not parsed."""
    return any(word in line for word in (b'"initialize"', _SUBSCRIBE.encode(), _UNSUBSCRIBE.encode()))


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _failed(line: bytes, says: str) -> bytes:
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        message, code = {"id": None}, _PARSE
    else:
        code = _FAULT
    if not isinstance(message, dict) or "id" not in message:
        return b""
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": says}}).encode()


async def serve(bridge: Bridge, read: Callable[[], Awaitable[bytes]], write: Line) -> None:
    """Answer until the input ends. read: returns some bytes, b"" at the end. write: takes a line."""
    slots, turn = trio.Semaphore(AT_ONCE), trio.Lock()

    async def in_turn(line: bytes) -> None:
        async with turn:
            await write(line)

    async def answer(line: bytes) -> None:
        try:
            if answered := await bridge.answer(line):
                await in_turn(answered + b"\n")
        finally:
            slots.release()

    waiting = bytearray()
    async with trio.open_nursery() as hearing:
        hearing.start_soon(bridge.hear, in_turn)
        async with trio.open_nursery() as nursery:
            while some := await read():
                waiting += some
                *lines, rest = bytes(waiting).split(b"\n")
                # Cut an overlong line: the rest is no valid message and gets an error.
                waiting = bytearray(rest[: MOST + 1])
                for line in filter(bytes.strip, lines):
                    await slots.acquire()
                    nursery.start_soon(answer, line)
        hearing.cancel_scope.cancel()


async def on_standard_streams(bridge: Bridge) -> None:
    reading, writing = trio.CapacityLimiter(1), trio.CapacityLimiter(1)

    async def read() -> bytes:
        return await trio.to_thread.run_sync(os.read, 0, _READ, abandon_on_cancel=True, limiter=reading)

    async def write(line: bytes) -> None:
        await trio.to_thread.run_sync(_write_all, line, limiter=writing)

    await serve(bridge, read, write)


def _write_all(line: bytes) -> None:
    view = memoryview(line)
    while view:
        view = view[os.write(1, view) :]
