"""A network in memory: named hosts with public-looking addresses, the ports of a World on it, and its faults.

`SimNetwork` is the world's one network; a `Side` is one process's view of it (its resolver, connector and listeners),
which dies with that process: every connection is reset, every listener gone, nothing more goes out. So late clean-up
code of a crashed life can reach no other host.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import trio

from actors.world import ResolveFailed
from tests.simulation.wire import SimStream, connection

BACKLOG = 128
_NEAR, _FAR = 0.004, 0.060  # seconds of latency in one direction, drawn once for each connection
_PATIENCE = 127.0  # how long a system tries to connect to an address that does not answer
_LOSS = 0.02
REBOUND = ("127.0.0.1", "10.0.0.7", "::1", "169.254.169.254")
"""Targets of a rebound name."""


@dataclass(slots=True, eq=False)
class Host:
    """A named machine. `faults` maps a kind of fault to the virtual time until which it lasts.

    balanced: several processes may listen on one port, and each connection goes to a ready one.
    """

    name: str
    address: str
    balanced: bool = False
    listeners: dict[int, list[SimListener]] = field(default_factory=dict)
    faults: dict[str, float] = field(default_factory=dict)

    def suffers(self, fault: str) -> bool:
        return self.faults.get(fault, 0.0) > trio.current_time()

    def suffer(self, fault: str, lasts: float) -> None:
        """Begin a fault, or prolong it."""
        self.faults[fault] = max(self.faults.get(fault, 0.0), trio.current_time() + lasts)


class _Path:
    """The weather between two machines: a fixed latency, the faults of the callee, and those of the caller's line."""

    def __init__(self, caller: Host, host: Host, chance: random.Random) -> None:
        self._caller = caller
        self._host = host
        self._chance = chance
        self._latency = chance.uniform(_NEAR, _FAR)

    def delay(self) -> float:
        slow = self._chance.uniform(1.0, 12.0) if self._host.suffers("slow") else 0.0
        lossy = self._caller.suffers("lossy") or self._host.suffers("lossy")
        return self._latency + slow + (_repeated(self._chance) if lossy else 0.0)

    def held_until(self) -> float:
        line = max(self._caller.faults.get("dead line", 0.0), self._host.faults.get("dead line", 0.0))
        return max(self._host.faults.get("partition", 0.0), line)


def _repeated(chance: random.Random) -> float:
    """Return the seconds until a lost packet is sent again: the wait doubles each time."""
    waited, wait = 0.0, 1.0
    while chance.random() < _LOSS:
        waited, wait = waited + wait, 2 * wait
    return waited


class SimListener(trio.abc.Listener[SimStream]):
    """A server's listener; at most BACKLOG connections wait, further ones are refused."""

    def __init__(
        self,
        address: tuple[str, int],
        keep: Callable[[SimStream], None],
        gone: Callable[[SimListener], None],
        is_ready: Callable[[], bool],
    ) -> None:
        self.address, self.is_ready = address, is_ready
        self._send, self._receive = trio.open_memory_channel[SimStream](BACKLOG)
        self._keep = keep
        self._gone = gone

    async def accept(self) -> SimStream:
        """Return the next connection. Raises ClosedResourceError once the listener is closed."""
        try:
            return await self._receive.receive()
        except trio.EndOfChannel:
            raise trio.ClosedResourceError("the listener was closed") from None

    def offer(self, stream: SimStream) -> bool:
        """Give a new connection to the server; return False when it refuses."""
        try:
            self._send.send_nowait(stream)
        except (trio.WouldBlock, trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        self._keep(stream)
        return True

    async def aclose(self) -> None:
        """Stop listening; drop waiting connections."""
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Stop listening, synchronously."""
        self._gone(self)
        self._send.close()


class SimNetwork:
    """All hosts. `dns`, `servfail`, `slow dns` and `offline` are the caller's own faults, `dead line` and `lossy` those
    of either end; all others are the callee's.

    scripts: a page after its scripts, by address. asked: (when, who, which name) of DNS queries; asked_by: the same of
    named processes; found: those of them that got an address; dialled: (when, who, which address). A check makes a
    query and a call.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._apart: dict[str, random.Random] = {}
        self.hosts: dict[str, Host] = {}
        self.scripts: dict[str, Callable[[bytes], bytes]] = {}
        self._by_address: dict[str, Host] = {}
        self.asked: list[tuple[float, str, str]] = []
        self.asked_by: list[tuple[float, str, str]] = []
        self.found: list[tuple[float, str, str]] = []
        self.dialled: list[tuple[float, str, str]] = []

    def add(self, name: str) -> Host:
        """Add a host under the next public-looking address."""
        number = len(self._by_address) + 1
        host = Host(name, f"93.184.{number >> 8}.{number & 0xFF}")
        self.hosts[name] = self._by_address[host.address] = host
        return host

    def set_apart(self, name: str, chance: random.Random) -> None:
        """Give a host its own chance: its draws do not affect the other hosts."""
        self._apart[name] = chance

    def is_public(self, address: str) -> bool:
        """Return whether an address is one of the hosts', and no target of a rebound name."""
        return address in self._by_address

    def alias(self, name: str, host: Host) -> None:
        self.hosts[name] = host

    def side(self, name: str) -> Side:
        """Return a new process's view of the network, on the named host."""
        return Side(self, self.hosts.get(name) or self.add(name))

    async def resolve(self, origin: Host, name: str) -> Sequence[str]:
        """Return a host's addresses, after a delay. Raises ResolveFailed."""
        question, chance = (trio.current_time(), origin.name, name), self._apart.get(name, self._chance)
        self.asked.append(question)
        if origin.suffers("dns") or origin.suffers("dead line"):
            await trio.sleep(chance.uniform(3.0, 5.0))
            raise ResolveFailed("the resolver does not answer", local=True)
        await trio.sleep(5.0 if origin.suffers("slow dns") else chance.uniform(0.001, 0.030))
        if origin.suffers("servfail"):
            raise ResolveFailed("the resolver fails", local=True)
        host = self.hosts.get(name)
        if host is None or host.suffers("nxdomain"):
            raise ResolveFailed(f"no such name: {name}", local=False)
        if host.suffers("rebound"):
            bad = chance.choice(REBOUND)
            return chance.choice(((bad,), (host.address, bad)))
        self.found.append(question)
        return (host.address,)

    async def dial(self, origin: Host, address: str, port: int) -> SimStream:
        """Return the near end of a new connection; the listener has the far one. Raises OSError."""
        self.dialled.append((trio.current_time(), origin.name, address))
        if origin.suffers("offline"):
            await trio.lowlevel.checkpoint()
            raise _os_error(errno.ENETUNREACH)
        host = self._by_address.get(address)
        chance = self._chance if host is None else self._apart.get(host.name, self._chance)
        lost = _repeated(chance) if origin.suffers("lossy") else 0.0
        await trio.sleep(2 * chance.uniform(_NEAR, _FAR) + lost)
        if host is None or host.suffers("unreachable"):
            raise _os_error(errno.EHOSTUNREACH)
        if host.suffers("partition"):
            await self._wait_out(host, "partition")
        for end in (origin, host):
            if end.suffers("dead line"):
                await self._wait_out(end, "dead line")
        listeners = host.listeners.get(port)
        if not listeners or host.suffers("refused"):
            raise _os_error(errno.ECONNREFUSED)
        ready = [listener for listener in listeners if listener.is_ready()] or listeners
        listener = ready[0] if len(ready) == 1 else chance.choice(ready)
        here = (origin.address, chance.randint(32_768, 60_999))
        near, far = connection(_Path(origin, host, chance), here, (address, port))
        if host.suffers("reset"):
            far.resets_after(chance.choice((0, 20, 300, 1500, 6000)))
        if not listener.offer(far):
            raise _os_error(errno.ECONNREFUSED)
        return near

    async def _wait_out(self, host: Host, fault: str) -> None:
        patience = trio.current_time() + _PATIENCE
        await trio.sleep_until(min(host.faults[fault], patience))
        if host.suffers(fault):
            raise _os_error(errno.ETIMEDOUT)


class Side:
    """A process's resolver, connector and listeners; `die` ends all of them at once."""

    def __init__(self, network: SimNetwork, host: Host) -> None:
        self._network = network
        self.host = host
        self.dead = False
        self.frozen_until = 0.0
        self.cut_off = False
        self.member = ""
        """The process's name, where several run together."""
        self._streams: dict[SimStream, None] = {}
        self._listeners: list[SimListener] = []

    async def resolve(self, host: str) -> Sequence[str]:
        """Return the addresses of a name. Raises ResolveFailed."""
        await self.thaw()
        if self.member:
            self._network.asked_by.append((trio.current_time(), self.member, host))
        found = await self._network.resolve(self.host, host)
        await self._alive()
        return found

    async def connect(self, address: str, port: int) -> trio.abc.Stream:
        """Open a connection to an address. Raises OSError."""
        await self._alive()
        near = await self._network.dial(self.host, address, port)
        if self.dead:
            near.reset()
        await self._alive()
        self._keep(near)
        return near

    async def secure(self, stream: trio.abc.Stream, host: str, alpn: Sequence[str] = ()) -> trio.abc.Stream:
        """Return the stream unchanged: TLS is not simulated."""
        await trio.lowlevel.checkpoint()
        return stream

    async def listen(self, host: str, port: int) -> Sequence[SimListener]:
        """Listen on a port of this host; the address is ignored. Raises OSError when the port is taken."""
        await self._alive()
        taken = self.host.listeners.setdefault(port, [])
        if taken and not self.host.balanced:
            raise _os_error(errno.EADDRINUSE)
        listener = SimListener((self.host.address, port), self._keep, self._forget, self._is_ready)
        taken.append(listener)
        self._listeners.append(listener)
        return (listener,)

    def die(self) -> None:
        """End as a killed process does: connections are reset, listeners are gone, nothing more goes out."""
        self.dead = True
        for listener in self._listeners:
            listener.close()
        for stream in self._streams:
            stream.reset()
        self._streams.clear()

    def _keep(self, stream: SimStream) -> None:
        if len(self._streams) > 2 * BACKLOG:
            self._streams = {kept: None for kept in self._streams if not kept.over}
        self._streams[stream] = None

    def _forget(self, listener: SimListener) -> None:
        """Free a port; a dead life closes its listeners late, when the port may be the next one's."""
        open_there = self.host.listeners.get(listener.address[1], [])
        if listener in open_there:
            open_there.remove(listener)

    def _is_ready(self) -> bool:
        return not self.cut_off and self.frozen_until <= trio.current_time()

    async def thaw(self) -> None:
        """Wait until a frozen process runs again."""
        while self.frozen_until > trio.current_time():  # noqa: ASYNC110  # another freeze may follow
            await trio.sleep_until(self.frozen_until)

    async def _alive(self) -> None:
        """A dead process's calls never return; its scope is cancelled."""
        await self.thaw()
        if self.dead:
            await trio.sleep_forever()


def _os_error(code: int) -> OSError:
    return OSError(code, os.strerror(code))
