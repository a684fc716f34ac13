"""Users of the simulated service: one adds sources and asks questions; clients read streams and resume.

They speak through the real httpcore to the service's listener on the memory network, each from its own host.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpcore
import trio

from actors.world import ResolveFailed
from storage.records.identity import seq_of
from tests.simulation.hangups import HEADER
from tests.simulation.network import Side
from tests.simulation.program import FIRST_SESSION, AlertPlan, ClientPlan, OriginPlan, Program
from tests.simulation.trace import Trace

PAUSE, LONGEST_PAUSE = 3.0, 48.0
"""Seconds before a disconnected client reconnects; doubled after each failure."""

CutOff = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError, trio.TooSlowError)


@dataclass(frozen=True, slots=True)
class Service:
    """The service's address for clients."""

    host: str
    port: int
    key: str
    keepalive: float

    def url(self, path: str) -> str:
        return f"http://{self.host}:{self.port}{path}"

    def headers(self, more: Mapping[str, str]) -> list[tuple[bytes | str, bytes | str]]:
        """Return a request's headers: key, host, and the given ones."""
        own = {"authorization": f"Bearer {self.key}", "host": f"{self.host}:{self.port}"}
        return [*own.items(), *more.items()]


class _Bytes(httpcore.AsyncNetworkStream):
    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with trio.fail_after(math.inf if timeout is None else timeout):
            try:
                return bytes(await self._stream.receive_some(max_bytes))
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise httpcore.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with trio.fail_after(math.inf if timeout is None else timeout):
            try:
                await self._stream.send_all(buffer)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise httpcore.WriteError(str(error)) from error

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return None


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, side: Side) -> None:
        self._side = side

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        with trio.fail_after(math.inf if timeout is None else timeout):
            try:
                (address, *_) = await self._side.resolve(host)
                return _Bytes(await self._side.connect(address, port))
            except (ResolveFailed, OSError) as error:
                raise httpcore.ConnectError(str(error)) from error


class Caller:
    """An HTTP client on the memory network; one request at a time, without keep-alive."""

    def __init__(self, side: Side, service: Service) -> None:
        self.service = service
        # Idle connections expire by the real clock inside httpcore, so none are kept.
        self._pool = httpcore.AsyncConnectionPool(network_backend=_Backend(side), max_keepalive_connections=0)

    async def ask(self, method: str, path: str, body: object = None, hangs_up_at: int = 0) -> tuple[int, bytes]:
        """Send one request and return the answer. hangs_up_at: a step of its handler. Raises one of CutOff."""
        headers, content = {HEADER: str(hangs_up_at)} if hangs_up_at else {}, b""
        if body is not None:
            headers["content-type"], content = "application/json", json.dumps(body).encode()
        return await self._send(method, path, headers, content)

    async def post_form(self, path: str, fields: Mapping[str, str]) -> tuple[int, bytes]:
        """Send a form as a browser does and return the answer. Raises one of CutOff."""
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return await self._send("POST", path, headers, urlencode(fields).encode())

    async def _send(self, method: str, path: str, headers: dict[str, str], content: bytes) -> tuple[int, bytes]:
        with trio.fail_after(90):
            response = await self._pool.request(
                method, self.service.url(path), headers=self.service.headers(headers), content=content
            )
        return response.status, response.content

    @asynccontextmanager
    async def stream(self, path: str, headers: dict[str, str]) -> AsyncIterator[httpcore.Response]:
        """Open a response to read piece by piece; silence of 2.5 keepalives ends it."""
        silence = {"timeout": {"connect": 30.0, "read": 2.5 * self.service.keepalive}}
        async with self._pool.stream(
            "GET", self.service.url(path), headers=self.service.headers(headers), extensions=silence
        ) as response:
            yield response


@dataclass(frozen=True, slots=True)
class Taken:
    """An event as a client received it."""

    at: float
    id: str
    body: bytes


@dataclass(slots=True)
class Connection:
    """A stream's opening time, the number of its client's key, and its end."""

    at: float
    key: int
    until: float = math.inf


@dataclass(slots=True)
class StreamClient:
    """Connects and hangs up as planned, resumes after the last whole event; after the plan it stays.

    find: the id of a source, "" while it does not exist. key: the number of earlier keys.
    """

    plan: ClientPlan
    caller: Caller
    trace: Trace
    floor: Callable[[], int] = lambda: 0
    find: Callable[[str], str] = lambda url: ""
    key: int = 0
    connections: list[Connection] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    expired: list[tuple[int, int]] = field(default_factory=list)
    """(events taken, deleted up to this position) for each "cursor too old" answer."""
    _anew: bool = False

    async def run(self, ends: float) -> None:
        """Live through the sessions, then stay connected from `ends` on."""
        for session in self.plan.sessions:
            await trio.sleep_until(session.begins)
            with trio.move_on_at(session.ends):
                await self._stay()
            self.trace.note(self.plan.name, "hangs up")
        await trio.sleep_until(ends)
        await self._stay()

    async def _stay(self) -> None:
        while self.plan.wish.source and not self.find(self.plan.wish.source):  # noqa: ASYNC110  # added by another user
            await trio.sleep(PAUSE)
        pause = PAUSE
        while True:
            began = trio.current_time()
            try:
                await self._read()
            except CutOff as error:
                self.trace.note(self.plan.name, "is cut off", by=type(error).__name__)
            pause = PAUSE if trio.current_time() - began > LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)
            await trio.sleep(pause)

    async def _read(self) -> None:
        path, headers = "/v1/stream", {}
        if self._anew:
            path += "?since=earliest"
        elif self.taken:
            if self.plan.resumes_by == "header":
                headers["last-event-id"] = self.taken[-1].id
            else:
                path += f"?since={self.taken[-1].id}"
        if self.plan.framing == "ndjson":
            headers["accept"] = "application/x-ndjson"
        async with self._opened(path + self._asks("&" if "?" in path else "?"), headers) as response:
            self.trace.note(self.plan.name, f"is connected, {response.status}", after=len(self.taken))
            if response.status == 410:
                self.expired.append((len(self.taken), self.floor()))
                self._anew = True
                return
            frames = Frames(self.plan.framing)
            async for chunk in response.aiter_stream():
                for event_id, body in frames.feed(chunk):
                    self._anew = False
                    self.taken.append(Taken(trio.current_time(), event_id, body))
                    self.trace.note(self.plan.name, "takes an event", id=event_id)
                    if self.plan.rests:
                        # An end in the middle of a rest would leave httpcore's generators open.
                        with trio.move_on_after(self.plan.rests, shield=True):
                            await trio.sleep_forever()

    @asynccontextmanager
    async def _opened(self, path: str, headers: dict[str, str]) -> AsyncIterator[httpcore.Response]:
        """Open a stream, and record its duration."""
        key = self.key
        async with self.caller.stream(path, headers) as response:
            connection = Connection(trio.current_time(), key)
            if response.status == 200:
                self.connections.append(connection)
            try:
                yield response
            finally:
                connection.until = trio.current_time()

    def _asks(self, sign: str) -> str:
        """Return its filters as part of a query."""
        wish = self.plan.wish
        asked = {"source_type": wish.tier, "source": wish.source and self.find(wish.source), "keyword": wish.word}
        given = "&".join(f"{name}={value}" for name, value in asked.items() if value)
        return f"{sign}{given}" if given else ""


class Frames:
    """Splits a stream's bytes into (id, body); drops a half frame at the end of a connection."""

    def __init__(self, framing: str) -> None:
        self._separator = b"\n" if framing == "ndjson" else b"\n\n"
        self._rest = b""

    def feed(self, chunk: bytes) -> list[tuple[str, bytes]]:
        """Return the frames that are now complete."""
        *whole, self._rest = (self._rest + chunk).split(self._separator)
        return [found for piece in whole if (found := self._open(piece)) is not None]

    def _open(self, piece: bytes) -> tuple[str, bytes] | None:
        if self._separator == b"\n":
            body = piece.strip()
            return (json.loads(body)["id"], body) if body.startswith(b"{") and b'"id"' in body else None
        fields = dict(line.split(b": ", 1) for line in piece.split(b"\n") if b": " in line and line[:1] != b":")
        if b"data" not in fields or b"id" not in fields:
            return None
        return fields[b"id"].decode(), fields[b"data"]


@dataclass(frozen=True, slots=True)
class AddedSource:
    """The service's answer when a source was added. `asked_at`: when the first try began."""

    id: str
    asked_at: float
    at: float


@dataclass(frozen=True, slots=True)
class MadeAlert:
    """When a user first requested an alert, and when the service first confirmed it."""

    plan: AlertPlan
    asked_at: float
    at: float


@dataclass(slots=True)
class User:
    """Adds the program's sources and alerts, as often as it takes, and requests their state at the end."""

    caller: Caller
    trace: Trace
    added: dict[str, AddedSource] = field(default_factory=dict)
    """By URL, like `refused`."""
    refused: dict[str, str] = field(default_factory=dict)
    alerts: list[MadeAlert] = field(default_factory=list)
    unheard: list[str] = field(default_factory=list)
    """Sentences about requests that failed at the end."""

    def find(self, url: str) -> str:
        """Return the id of a source, "" while it does not exist."""
        added = self.added.get(url)
        return "" if added is None else added.id

    async def add_all(self, program: Program) -> None:
        """Add every source and every alert at its time."""
        async with trio.open_nursery() as nursery:
            for alert in program.alerts:
                nursery.start_soon(self._make, alert)
            for plan in program.origins:
                nursery.start_soon(self._add, plan)

    async def _add(self, plan: OriginPlan) -> None:
        await trio.sleep_until(plan.added_at)
        wish = {"url": plan.url, **dict(_wish_of(plan))}
        for _ in range(200):
            try:
                status, body = await self.caller.ask("POST", "/v1/sources", wish)
            except CutOff as error:
                status, body = 0, type(error).__name__.encode()
            self.trace.note("user", f"adds a source, {status}", url=plan.url)
            if status in (200, 201):
                source = json.loads(body)["id"]
                self.added[plan.url] = AddedSource(source, plan.added_at, trio.current_time())
                return
            self.refused[plan.url] = f"{status} {body[:300]!r}"
            await trio.sleep(60)

    async def _make(self, plan: AlertPlan) -> None:
        await trio.sleep_until(plan.at)
        asked = {"filter_query": plan.word, "notice_after": plan.notice_after}
        for _ in range(200):
            status = 0
            with suppress(*CutOff):
                status, _ = await self.caller.ask("POST", "/v1/alerts", asked)
            self.trace.note("user", f"makes an alert, {status}", word=plan.word)
            if status == 201:
                self.alerts.append(MadeAlert(plan, plan.at, trio.current_time()))
                return
            await trio.sleep(60)

    async def learn(self, path: str) -> Any:
        """Return a document; retry up to 40 times, because the service may be down.

        Then return None and add the last failure to `unheard`.
        """
        instead: dict[str, int] = {}
        for _ in range(40):
            try:
                status, body = await self.caller.ask("GET", path)
                if status == 200:
                    return json.loads(body)
                got = f"{status} {body[:100]!r}"
            except CutOff as error:
                got = f"{type(error).__name__}: {error}"
            self.trace.note("user", "asks in vain", path=path, got=got)
            instead[got] = instead.get(got, 0) + 1
            await trio.sleep(30)
        told = ", ".join(f"{times} times {got}" for got, times in instead.items())
        self.unheard.append(f"GET {path} is not answered: {told}")
        return None


def _wish_of(plan: OriginPlan) -> Iterator[tuple[str, object]]:
    """Yield the user's settings of a source, except its URL."""
    if plan.render:
        yield "render", plan.render
    if plan.pictures:
        yield "screenshots", True
    if plan.session:
        yield "headers", f"Cookie: {FIRST_SESSION}; theme=dark"
    if plan.style == "list":
        yield "follow", "new_links"
    if plan.other:
        yield "follow_hosts", [plan.other]


@dataclass(frozen=True, slots=True)
class Condition:
    """A source's state, as the service reported it."""

    score: float
    flag: str
    reason: str
    breaker: str


@dataclass(slots=True)
class Doctor:
    """Requests the state of all sources now and then, and keeps the answers: (when, by URL)."""

    caller: Caller
    checkups: list[tuple[float, dict[str, Condition]]] = field(default_factory=list)

    async def watch(self, moments: Iterable[float]) -> None:
        """Ask at each of these moments, oldest first. While the service is down there is no answer."""
        for moment in moments:
            await trio.sleep_until(moment)
            with suppress(*CutOff):
                await self._ask()

    async def _ask(self) -> None:
        path, found = "/v1/sources?limit=500", dict[str, Condition]()
        status, body = await self.caller.ask("GET", path)
        if status != 200:
            return
        for source in json.loads(body):
            health = source["health"]
            found[source["url"]] = Condition(
                health["score"], health["flag"], health["reason"], source["breaker"]["state"]
            )
        self.checkups.append((trio.current_time(), found))


def position(event_id: str) -> int:
    """Return an event's position; -1 for anything but a UUIDv7."""
    try:
        return seq_of(event_id)
    except ValueError:
        return -1
