"""The real World: wall clock, system entropy, passwords, TCP and DNS, worker processes, the chosen engine.

Only this module, `environment.py` and the ports themselves touch anything nondeterministic.
"""

from __future__ import annotations

import os
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import trio
from nacl import exceptions
from nacl.pwhash import argon2id

from actors.egress.transport import SystemResolver, TcpConnector, public_trust, trusting
from actors.extras import always_on
from actors.jail.pool import ProcessJail
from actors.observer import Metrics
from actors.settings import Settings
from actors.world import Certificate, World
from sanderling.data_folder import named_vault
from sanderling.engines import engine_of
from sanderling.environment import environ, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.listeners import open_admin_socket
from sanderling.program import worker_command, worker_environment
from storage.records.identity import Millis
from storage.sql.storage import Storage

BACKLOG = 1024  # pending connections that the kernel holds; 10,000 clients may reconnect at once


def wall() -> float:
    return time.time()  # noqa: TID251 - the one place


def now() -> Millis:
    """Return milliseconds since 1970, for commands, which have no World."""
    return Millis(int(wall() * 1000))


def chance() -> random.Random:
    return random.SystemRandom()


def monotonic() -> float:
    """Return monotonic seconds for the watchdog's thread, which Trio's clock cannot serve."""
    return time.monotonic()  # noqa: TID251 - the one place


def entropy(size: int) -> bytes:
    return os.urandom(size)  # noqa: TID251 - the one place


async def open_listeners(host: str, port: int) -> Sequence[trio.SocketListener]:
    """Raises OSError."""
    return await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)


async def open_datagrams(host: str) -> trio.socket.SocketType:
    """Return a datagram socket on a free port of the address. Raises OSError."""
    family = trio.socket.AF_INET6 if ":" in host else trio.socket.AF_INET
    socket = trio.socket.socket(family, trio.socket.SOCK_DGRAM)
    try:
        await socket.bind((host, 0))
    except BaseException:
        socket.close()
        raise
    return socket


class Listening:
    """Opened early, so a busy port ends the start. As `listen`, hands over first, after `give_up`; then opens again."""

    def __init__(self) -> None:
        self.ready: dict[tuple[str, int], Sequence[trio.SocketListener]] = {}
        """Opened listeners not yet handed out, by address."""
        self.give_up: Callable[[tuple[str, int]], Awaitable[None]] | None = None

    async def open(self, host: str, port: int) -> int:
        """Listen and return the actual port, also for port 0. Raises OSError."""
        listeners = await open_listeners(host, port)
        port = int(listeners[0].socket.getsockname()[1])
        self.ready[host, port] = listeners
        return port

    async def __call__(self, host: str, port: int) -> Sequence[trio.abc.Listener[Any]]:
        """Raises OSError."""
        if (host, port) in self.ready and self.give_up is not None:
            await self.give_up((host, port))
        return self.ready.pop((host, port), ()) or await open_listeners(host, port)


class Argon2:
    """The World's `passwords`, by default with libsodium's parameters for interactive use."""

    def __init__(
        self, opslimit: int = argon2id.OPSLIMIT_INTERACTIVE, memlimit: int = argon2id.MEMLIMIT_INTERACTIVE
    ) -> None:
        self._ops, self._memory = opslimit, memlimit
        self._one = trio.CapacityLimiter(1)

    async def hash(self, password: str) -> str:
        work = partial(argon2id.str, password.encode(), opslimit=self._ops, memlimit=self._memory)
        return (await trio.to_thread.run_sync(work, limiter=self._one)).decode()

    async def fits(self, password: str, hashed: str) -> bool:
        def work() -> bool:
            try:
                return argon2id.verify(hashed.encode(), password.encode())
            except exceptions.InvalidkeyError:
                return False

        return await trio.to_thread.run_sync(work, limiter=self._one)


def trust_of(settings: Settings) -> Callable[[], ssl.SSLContext]:
    """Return the factory of TLS contexts for requests. Raises CommandFailed if the file of `tls_trust` is unusable."""
    if not settings.tls_trust:
        return public_trust
    try:
        return trusting(settings.tls_trust)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandFailed(f"{settings.tls_trust}: {why} (tls_trust).", Exit.BAD_SETTING) from None


def real_world(
    settings: Settings,
    listen: Callable[[str, int], Any],
    log: Callable[..., None],
    certificate: Certificate | None = None,
    doing: Callable[[str], None] = lambda _says: None,
) -> World:
    """doing: receives progress while the storage opens."""

    metrics = Metrics()
    dice = chance()  # one for all: it has no state that its users could disturb

    named = named_vault(environ())
    ports: dict[str, Any] = {"wall": wall}
    ports |= {name: port for each in always_on() for name, port in each.ports(settings, log).items()}

    async def open_storage() -> Storage:
        return await engine_of(settings).open(
            clock=ports["wall"],
            warn=lambda sentence: log("storage.warning", level="warning", says=sentence),
            named=named,
            doing=doing,
        )

    return World(
        chance=lambda _name: dice,
        entropy=entropy,
        resolver=SystemResolver(),
        connector=TcpConnector(trust_of(settings)),
        listen=listen,
        jail=ProcessJail(
            worker_command(),
            environment=worker_environment(environ()),
            workers=settings.workers,
            memory=settings.worker_memory,
            deadline=settings.parse_deadline,
            idle=settings.worker_idle,
            demanded=settings.jail == "demanded",
            draw=dice.random,
            log=log,
            ended=metrics.worker_ends.add,
        ),
        open_storage=open_storage,
        reach=lambda _point: None,
        log=log,
        certificate=certificate,
        passwords=Argon2(),
        admin_socket=partial(open_admin_socket, Path(settings.data), log),
        typed=lambda command, *, folder=False: typed(command, os.path.abspath(settings.data) if folder else ""),
        metrics=metrics,
        **ports,
    )
