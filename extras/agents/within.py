"""Requests of the API to itself, with the caller's key, scopes and rate limit; a tool that makes them, as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec
import trio
from msgspec import Meta, Struct, json, toml
from werkzeug.datastructures import Headers

from api.auth import THROUGH
from extras.agents.protocol import Refused, Result
from extras.agents.quoting import quoted
from storage.records.identity import Millis

KEYS: Final = ("Authorization", "X-API-Key")  # headers that carry a key (see `api.auth`)
Application = Callable[[Any, Any, Any], Awaitable[None]]  # an ASGI application: scope, receive, send


class Reply(NamedTuple):
    """An answer: status, and body as parsed JSON (None without one)."""

    status: int
    body: Any


class Within:
    """Calls the API as the caller of a request, with its key of the `headers`. through: that request's path."""

    def __init__(self, app: Application, headers: Headers, address: str, through: str = "/mcp") -> None:
        self._app, self._address, self._through = app, address, through
        self._key = {name: headers[name] for name in KEYS if name in headers}

    async def ask(self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Any = None) -> Reply:
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
            THROUGH: self._through,
        }


_NAMED: Final = 5
Text = Annotated[str, Meta(max_length=500)]

Ask = Callable[[str, str, Mapping[str, Any] | None, Any], Awaitable[Reply]]
"""A request to the service: method, path, query, body."""


class Service:
    """The service, for tools. mark: makes unpredictable letters. is_private: a source is shown only once named."""

    def __init__(
        self, ask: Ask, now: Callable[[], Millis], mark: Callable[[], str], is_private: Callable[[str], bool]
    ) -> None:
        self._ask, self.now, self.mark, self.is_private = ask, now, mark, is_private

    async def get(self, path: str, **query: Any) -> Any:
        asked = {name: value for name, value in query.items() if value not in ("", None)}
        return _told(await self._ask("GET", path, asked, None))

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return _told(await self._ask("POST", path, None, body))

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        return _told(await self._ask("PATCH", path, None, body))

    async def delete(self, path: str) -> None:
        _told(await self._ask("DELETE", path, None, None))

    async def named(self, path: str, name: str) -> dict[str, Any]:
        """Return an alert or a destination by its id, its name, or a part of it. Raises Refused."""
        names = [(one, one.get("name") or one.get("label", "")) for one in await self.get(path, limit=1_000)]
        exact = [one for one, called in names if name in (one["id"], called)]
        near = exact or [one for one, called in names if name.casefold() in called.casefold()]
        if len(near) == 1:
            return dict(near[0])
        what = path.rpartition("/")[2]
        if not near:
            raise Refused(f"None of the {what} is called {name!r}; the tool `{what}` lists them.")
        raise Refused(f"Several {what} are called {name!r}; name one by its id: {[one['id'] for one in near[:_NAMED]]}")

    async def source(self, name: str) -> str:
        try:
            return str(UUID(name))
        except ValueError:
            found = await self.get("/v1/sources", q=name, limit=_NAMED + 1)
        found = [one for one in found if name in (one["url"], one["title"], one["found_title"])] or found
        if len(found) == 1:
            return str(found[0]["id"])
        if not found:
            raise Refused(f"No source has {name!r} in it; `sources` lists them.")
        names = "".join(f"\n{one['id']} {quoted('', one['url'], 400)}" for one in found[:_NAMED])
        raise Refused(f"Several sources have {name!r} in them; name one by its id:{names}")


def _told(reply: Reply) -> Any:
    if reply.status < HTTPStatus.BAD_REQUEST:
        return reply.body
    problem = reply.body or {}
    says = problem.get("detail") or problem.get("title") or f"The service answers {reply.status}."
    at = [f"{one['location']}: {one['message']}" for one in problem.get("errors", ()) if one["message"] not in says]
    raise Refused(" ".join([says, *at]))


Run = Callable[[Service, Any], Awaitable[Result]]


@dataclass(frozen=True)
class Tool:
    """One tool. says: its purpose, and when to use it. example: its arguments. looks: it fetches a URL, or changes
    records. ends: it deletes something, so that clients ask the user first. `tools.toml` has the texts.
    """

    name: str
    title: str
    says: str
    takes: type[Struct]
    run: Run
    example: Mapping[str, Any]
    looks: bool = False
    ends: bool = False

    def described(self) -> dict[str, Any]:
        hints = {
            "title": self.title,
            "readOnlyHint": not (self.looks or self.ends),
            "destructiveHint": self.ends,
            "openWorldHint": True,
        }
        shape = msgspec.json.schema(self.takes)
        shown = f" Example: {msgspec.json.encode(self.example).decode()}." if self.example else ""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.says + shown,
            "inputSchema": shape["$defs"][self.takes.__name__],
            "annotations": hints,
        }


_TEXTS: Final = toml.decode(files("extras.agents").joinpath("tools.toml").read_bytes(), type=dict[str, dict[str, Any]])


def tool(name: str, takes: type[Struct], run: Run, *, looks: bool = False, ends: bool = False) -> Tool:
    return Tool(name, takes=takes, run=run, looks=looks, ends=ends, **_TEXTS[name])
