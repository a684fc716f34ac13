"""The ports to everything that is not deterministic: clock, chance, network, worker processes, storage, faults.

One `World` is made at the composition root and handed down. Production builds the real one
(`sanderling/real_world.py`), a simulation builds one from a seed (`tests/simulation/world.py`). Monotonic time is
`trio.current_time()` everywhere, because Trio's clock is already a port.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import trio

from actors.metrics import Metrics
from storage.interface import Storage
from storage.objects.objects import Objects
from storage.records.identity import Millis, Seq, id_of, seq_at
from supervision import Child


class ResolveFailed(Exception):
    """A name has no addresses. `local` tells that our own resolver is at fault, not the name."""

    def __init__(self, reason: str, *, local: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.local = local


class Resolver(Protocol):
    """Names to addresses."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Return every IPv4 and IPv6 address of a host name as text, best first. Raises ResolveFailed."""


class Connector(Protocol):
    """The only way out: a byte stream to one checked address."""

    async def connect(self, address: str, port: int) -> trio.abc.Stream:
        """Open a TCP connection to an IP address (never a name). Raises OSError."""

    async def secure(self, stream: trio.abc.Stream, host: str, alpn: Sequence[str] = ()) -> trio.abc.Stream:
        """Return the stream inside TLS, the certificate checked for `host`. Raises ssl.SSLError, OSError."""


class WorkerDied(Exception):
    """A worker process ended in the middle of a task (a crash, or its memory limit)."""


class WorkerTooSlow(Exception):
    """A task was still running at its deadline; its worker has been killed."""


class TaskRefused(Exception):
    """The task itself says that the input is no good; `reason` is a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Renewal(NamedTuple):
    """How it went when a changed certificate was read; `says` is a sentence."""

    taken: bool
    says: str


class Certificate(Protocol):
    """What the front end shows of itself: TLS with a certificate that may be renewed while it runs."""

    def wrap(self, stream: trio.abc.Stream) -> trio.abc.Stream:
        """Return the server's side of TLS on an accepted stream (a trio.SSLStream), before its handshake."""

    def refresh(self) -> Renewal | None:
        """Take a renewed certificate for new connections; None when nothing has changed."""


class Passwords(Protocol):
    """Passwords of people, made unreadable at a cost. Each call takes a tenth of a second, off the loop."""

    async def hash(self, password: str) -> str:
        """Return what is kept of a password."""

    async def fits(self, password: str, hashed: str) -> bool:
        """Return whether a password is the one that was hashed."""


class NoPasswords:
    """Where nobody signs in (simulations, benches): no password is set, and none fits."""

    async def hash(self, password: str) -> str:
        """Raise: there is nothing to hash with."""
        raise RuntimeError("this world has no passwords")

    async def fits(self, password: str, hashed: str) -> bool:
        """Return False."""
        return False


class Jail(Protocol):
    """Disposable workers for hostile bytes. `run` is one child of the tree, `call` is used by everybody."""

    async def run(self, child: Child) -> None:
        """Keep the workers alive until stopped."""

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task of `actors.content.tasks` on encoded bytes.

        deadline: seconds of the worker's processor time (None: the setting's); a wide limit by the clock goes with it.

        Raises WorkerDied, WorkerTooSlow, TaskRefused. If cancelled, the worker is killed and replaced.
        """

    def lacks(self) -> str:
        """Return what the kernel does not do to hold the workers, in a few words; "" when it does all."""


class RenderFailed(Exception):
    """A browser could not show a page; `reason` is a sentence.

    blame: "remote" (the page or its host), "refused" (the guard let a needed request not out), "local" (the browser
    died, hung, or is not there). status: of the document, None when it never came. set_cookies: what became of those
    that were given, as of a page that was shown; of a document that broke off only.
    """

    def __init__(self, reason: str, *, blame: str, status: int | None = None, set_cookies: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.blame = blame
        self.status = status
        self.set_cookies = set_cookies


Judge = Callable[[str, Sequence[str]], None]
"""Raises UrlRefused at a host and its addresses."""
Connect = Callable[[str, int, Judge], Awaitable[trio.abc.Stream]]


class RenderRequest(NamedTuple):
    """A page to open in a fresh context of a browser.

    headers: sent to the origin of `url` only, beside the browser's own. wait_for: a CSS selector that must be there
    before the page counts as ready. deadline: seconds for everything. most_requests, most_bytes: of all that the page
    asks for; beyond them nothing more is let out. screenshot: whether a picture is wanted.
    """

    url: str
    user_agent: str
    headers: Sequence[tuple[str, str]] = ()
    language: str = ""
    wait_for: str = ""
    deadline: float = 30.0
    most_requests: int = 150
    most_bytes: int = 15_000_000
    screenshot: bool = False


class FilledBy(NamedTuple):
    """A request by which a page filled itself: its address, and the size of the JSON that it got."""

    url: str
    size: int


class Rendered(NamedTuple):
    """A page as a browser shows it.

    url: the final one. html: the document as it is now, UTF-8. settled: it was the same twice. screenshot: a WebP, b""
    when none was wanted or made. filled_by: the largest first. set_cookies: what the browser keeps of the origin, one
    `Set-Cookie` each, where the request had a `Cookie`.
    """

    url: str
    status: int
    html: bytes
    settled: bool
    requests: int
    wire_bytes: int
    elapsed_ms: int
    screenshot: bytes = b""
    filled_by: Sequence[FilledBy] = ()
    set_cookies: Sequence[str] = ()


class Browser(Protocol):
    """A browser that shows pages. `run` is one child of the tree, `render` is used by looks."""

    async def run(self, child: Child, connect: Connect) -> None:
        """Keep the browser ready until stopped; it starts with the first page that is asked for.

        connect: the only way out for whatever a page asks for: a stream to a host (a name or an address) and port,
        checked by the guard. It raises UrlRefused, LookFailed, OSError.
        """

    async def render(self, request: RenderRequest) -> Rendered:
        """Open a page and return what it shows. Raises RenderFailed. If cancelled, the page is closed."""

    def lacks(self) -> str:
        """Return why pages can't be rendered here, as a sentence; "" when they can."""


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Every port, as plain callables and small protocols.

    wall: seconds since 1970 by the wall clock, which may step.
    chance: a generator for a named consumer (`"source/<id>"`), so that adding one does not move the others.
    entropy: that many unguessable bytes, for keys, ids and tokens.
    listen: opens the listeners of an address and port; the only way in.
    reach: names a point in the code; a simulation may crash the service or delay it there. Free in production.
    log: one structured log line: an event name and fields. Never secrets, keys or bodies.
    keep_idle: seconds that an unused outgoing connection is kept (0 in simulations: the library's expiry reads the real
    clock).
    certificate: the service's own TLS; None: connections are taken as they come.
    replica: where a copy of the database is kept for a standby; None: nowhere.
    browser: shows pages that are empty without their scripts; None: none is set up.
    passwords: of the dashboard.
    admin_socket: opens the listener for the owner of this machine's service, whom it lets in without a key; raises
    OSError. None: there is none.
    typed: a command of this program as a person on this machine types it, for hints on pages; `folder=True`: with the
    data folder, which strangers need not see.
    metrics: what is counted; no port, but like the log it is wherever something happens.
    """

    wall: Callable[[], float]
    chance: Callable[[str], random.Random]
    entropy: Callable[[int], bytes]
    resolver: Resolver
    connector: Connector
    listen: Callable[[str, int], Awaitable[Sequence[trio.abc.Listener[Any]]]]
    jail: Jail
    open_storage: Callable[[], Awaitable[Storage]]
    reach: Callable[[str], None]
    log: Callable[..., None]
    keep_idle: float = 60.0
    certificate: Certificate | None = None
    replica: Objects | None = None
    browser: Browser | None = None
    passwords: Passwords = field(default_factory=NoPasswords)
    admin_socket: Callable[[], Awaitable[Sequence[trio.abc.Listener[Any]]]] | None = None
    typed: Callable[..., str] = "sanderling {}".format
    metrics: Metrics = field(default_factory=Metrics)

    def now(self) -> Millis:
        """Return the wall clock in whole milliseconds."""
        return Millis(int(self.wall() * 1000))

    def new_id(self) -> str:
        """Return a UUIDv7 of this moment."""
        drawn = int.from_bytes(self.entropy(10), "big")
        return id_of(Seq(seq_at(self.now()) | drawn & 0x7FFF), drawn >> 15 & (1 << 59) - 1)
