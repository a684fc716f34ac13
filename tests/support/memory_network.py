"""A network in memory: names, addresses and scripted servers behind the Resolver and Connector ports."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import h11
import trio
from trio.testing import memory_stream_pair

from actors.setting_table import with_values
from actors.settings import Settings
from actors.world import ResolveFailed, World
from tests.support.passwords import NoPasswords

Serve = Callable[[trio.abc.Stream], Awaitable[None]]


@dataclass
class MemoryNetwork:
    """names: the answers to each resolution of a name, the last one for ever. servers: by address and port.

    An address without a server refuses connections, one in `deaf` never answers. `resolved`, `connected` and `secured`
    record the requests.
    """

    nursery: trio.Nursery
    names: dict[str, list[Sequence[str] | ResolveFailed]] = field(default_factory=dict)
    servers: dict[tuple[str, int], Serve] = field(default_factory=dict)
    deaf: set[str] = field(default_factory=set)
    errors: dict[str, OSError] = field(default_factory=dict)
    tls_errors: dict[str, Exception] = field(default_factory=dict)
    resolved: list[str] = field(default_factory=list)
    connected: list[tuple[str, int]] = field(default_factory=list)
    secured: list[str] = field(default_factory=list)
    open_streams: int = 0

    def add(self, name: str, address: str, serve: Serve, port: int = 80) -> None:
        self.names[name] = [(address,)]
        self.servers[address, port] = serve

    async def resolve(self, host: str) -> Sequence[str]:
        await trio.lowlevel.checkpoint()
        self.resolved.append(host)
        answers = self.names.get(host) or [ResolveFailed("no such name", local=False)]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, ResolveFailed):
            raise answer
        return answer

    async def connect(self, address: str, port: int) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        self.connected.append((address, port))
        if address in self.deaf:
            await trio.sleep_forever()
        if address in self.errors:
            raise self.errors[address]
        if (address, port) not in self.servers:
            raise ConnectionRefusedError(111, "Connection refused")
        ours, theirs = memory_stream_pair()
        self.nursery.start_soon(self._serve, self.servers[address, port], theirs)
        return ours

    async def _serve(self, serve: Serve, stream: trio.abc.Stream) -> None:
        self.open_streams += 1
        try:
            await serve(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self.open_streams -= 1
            with trio.move_on_after(1, shield=True):
                await trio.aclose_forcefully(stream)

    async def secure(self, stream: trio.abc.Stream, host: str, alpn: Sequence[str] = ()) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        self.secured.append(host)
        if host in self.tls_errors:
            raise self.tls_errors[host]
        return stream


@dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0
    pause: float = 0.0
    """Seconds between head and body."""
    cut: int | None = None
    """Close the connection after so many bytes of the body."""


@dataclass
class ReceivedRequest:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


def web(answer: Callable[[ReceivedRequest], Answer], seen: list[ReceivedRequest] | None = None) -> Serve:
    """An HTTP/1.1 server that answers each request by a function."""

    async def serve(stream: trio.abc.Stream) -> None:
        connection = h11.Connection(h11.SERVER)
        while True:
            asked = await _read_request(connection, stream)
            if asked is None:
                return
            if seen is not None:
                seen.append(asked)
            reply = answer(asked)
            await trio.sleep(reply.after)
            if not await _write(connection, stream, asked, reply):
                return
            if connection.states != {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
                return
            connection.start_next_cycle()

    return serve


async def _read_request(connection: h11.Connection, stream: trio.abc.Stream) -> ReceivedRequest | None:
    asked: ReceivedRequest | None = None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(65536))
        elif isinstance(event, h11.Request):
            headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
            asked = ReceivedRequest(event.method.decode(), event.target.decode(), headers)
        elif isinstance(event, h11.Data):
            assert asked is not None
            asked.body += event.data
        elif isinstance(event, h11.EndOfMessage):
            return asked
        else:
            return None


async def _write(connection: h11.Connection, stream: trio.abc.Stream, asked: ReceivedRequest, reply: Answer) -> bool:
    headers = {"content-length": str(len(reply.body)), **reply.headers}
    head = h11.Response(
        status_code=reply.status, headers=[(k.encode(), v.encode("latin-1")) for k, v in headers.items()]
    )
    await stream.send_all(connection.send(head) or b"")
    await trio.sleep(reply.pause)
    if reply.status == 304 or asked.method == "HEAD":
        await stream.send_all(connection.send(h11.EndOfMessage()) or b"")
        return True
    if reply.cut is not None:
        await stream.send_all(connection.send(h11.Data(data=reply.body[: reply.cut])) or b"")
        return False
    await stream.send_all(connection.send(h11.Data(data=reply.body)) or b"")
    await stream.send_all(connection.send(h11.EndOfMessage()) or b"")
    return True


def a_world(network: MemoryNetwork, *, wall: float = 1_800_000_000.0, **ports: Any) -> World:
    """A World whose network is in memory; using a port that the test did not give fails."""

    def missing(*_: object) -> Any:
        raise AssertionError("this port is not part of the test")

    given: dict[str, Any] = {
        "wall": lambda: wall + trio.current_time(),
        "chance": random.Random,
        "entropy": random.Random(0).randbytes,
        "resolver": network,
        "connector": network,
        "listen": missing,
        "jail": None,
        "open_storage": missing,
        "reach": lambda name: None,
        "log": lambda *a, **k: None,
        "passwords": NoPasswords(),
        "keep_idle": 0.0,
    }
    return World(**{**given, **ports})


def settings(**given: Any) -> Settings:
    return with_values(Settings(), **given)
