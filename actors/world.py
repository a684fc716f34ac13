"""The ports to everything nondeterministic: clock, chance, network, worker processes, storage, faults.

The composition root makes one `World` and hands it down. Production builds the real one (`sanderling/real_world.py`),
a simulation builds one from a seed (`tests/simulation/world.py`). Monotonic time is `trio.current_time()` everywhere,
since Trio's clock already is a port.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import trio

from actors.observer import NO_OBSERVER, Metrics, Observer
from storage.records.identity import Millis, Seq, id_of, seq_at
from storage.sql.storage import Storage
from supervision import Child


class ResolveFailed(Exception):
    """A name has no addresses. `local`: our own resolver is at fault, not the name."""

    def __init__(self, reason: str, *, local: bool) -> None:
        super().__init__(reason)
        self.reason, self.local = reason, local


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
    """A worker process ended during a task (a crash, or its memory limit)."""


class WorkerNotStarted(WorkerDied):
    """No worker process could start, such as under heavy load; the task is not to blame."""


class WorkerTooSlow(Exception):
    """A task was still running at its deadline; its worker has been killed."""


class TaskRefused(Exception):
    """The task rejects its input; `reason` is a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Renewal(NamedTuple):
    """The result of reading a changed certificate; `says` is a sentence."""

    taken: bool
    says: str


class Certificate(Protocol):
    """The service's own TLS, with a certificate that may be renewed at run time."""

    def wrap(self, stream: trio.abc.Stream) -> trio.abc.Stream:
        """Return the server's side of TLS on an accepted stream (a trio.SSLStream), before its handshake."""

    def refresh(self) -> Renewal | None:
        """Use a renewed certificate for new connections; None when nothing changed."""


class Passwords(Protocol):
    """Passwords of people, hashed at a cost: each call takes a tenth of a second, off the loop."""

    async def hash(self, password: str) -> str: ...

    async def fits(self, password: str, hashed: str) -> bool: ...


class Jail(Protocol):
    """Disposable workers for hostile bytes. `run` is one child of the tree; any task may `call`."""

    async def run(self, child: Child) -> None: ...

    async def call(self, task: str, request: bytes, *, deadline: float | None = None) -> bytes:
        """Run a task of `actors.content.tasks` on encoded bytes. Raises WorkerDied, WorkerTooSlow, TaskRefused.
        deadline: seconds of processor time (None: the setting's); see `wall_limit`. If cancelled, the worker is killed.
        """

    def lacks(self) -> str:
        """Return the kernel's missing confinement features, in a few words; "" when none."""


class RenderFailed(Exception):
    """A browser could not show a page; `reason` is a sentence. blame: "remote" (the page or its host), "refused" (the
    guard blocked a necessary request), "local" (the browser died, hung, or is missing). status: of the document, None
    if it never arrived. set_cookies: as for a rendered page; only for a document that broke off.
    """

    def __init__(self, reason: str, *, blame: str, status: int | None = None, set_cookies: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason, self.blame, self.status, self.set_cookies = reason, blame, status, set_cookies


Judge = Callable[[str, Sequence[str]], None]  # raises UrlRefused for a host and its addresses
Connect = Callable[[str, int, Judge], Awaitable[trio.abc.Stream]]


class RenderRequest(NamedTuple):
    """A page to open in a fresh context of a browser. headers: sent to the origin of `url` only, with the browser's
    own. wait_for: a CSS selector that must match before the page counts as ready. deadline: seconds for everything.
    most_requests, most_bytes: totals, beyond which requests are blocked. screenshot: whether to take a picture.
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
    """JSON that a page fetched to fill itself: its URL and size."""

    url: str
    size: int


class Rendered(NamedTuple):
    """A rendered page. url: the final one. html: the current document, UTF-8. settled: two readings were equal.
    screenshot: a WebP, or b"". filled_by: the largest first. set_cookies: the browser's cookies of the origin, one
    `Set-Cookie` each, if the request had a `Cookie`.
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
    """Shows pages that are empty without scripts. `run` is one child of the tree; any task may `render`."""

    async def run(self, child: Child, connect: Connect) -> None:
        """Keep the browser available until stopped; the first page starts it. connect: the only way out: a stream to a
        host (a name or an address) and port, checked by the guard. It raises UrlRefused, CheckFailed, OSError.
        """

    async def render(self, request: RenderRequest) -> Rendered:
        """Open a page and return it rendered. Raises RenderFailed. If cancelled, the page is closed."""

    def lacks(self) -> str:
        """Return why this service can't render pages, as a sentence; "" when it can."""


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Every port, as plain callables and small protocols.

    wall: seconds since 1970 by the wall clock, which may step. chance: a generator for a named consumer
    (`"source/<id>"`), so that adding one does not change the others. entropy: that many unguessable bytes, for keys,
    ids and tokens. listen: opens the listeners of an address and port; the only way in. reach: names a point in the
    code; a simulation may crash or delay the service there. Free in production. log: writes one structured line: an
    event name and fields. Never secrets, keys or bodies. keep_idle: seconds until an unused outgoing connection closes
    (0 in simulations: the library uses the real clock). certificate: the service's own TLS; None: plain connections.
    replica: the place of the database copy for a standby; None without one. browser: renders pages that are empty
    without scripts; None without one. passwords: of the dashboard. admin_socket: opens the listener for this machine's
    owner, who needs no key; raises OSError. None: there is none. typed: a command of this program as a person would
    type it here, for hints on pages; `folder=True`: with the data folder, which strangers need not see. metrics: the
    counters; not a port, but needed in as many places as the log. So is the observer, which gets the core's reports.
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
    passwords: Passwords
    keep_idle: float = 60.0
    certificate: Certificate | None = None
    replica: trio.abc.AsyncResource | None = None
    browser: Browser | None = None
    admin_socket: Callable[[], Awaitable[Sequence[trio.abc.Listener[Any]]]] | None = None
    typed: Callable[..., str] = "sanderling {}".format
    metrics: Metrics = field(default_factory=Metrics)
    observer: Observer = NO_OBSERVER

    def now(self) -> Millis:
        return Millis(int(self.wall() * 1000))

    def new_id(self) -> str:
        drawn = int.from_bytes(self.entropy(10), "big")
        return id_of(Seq(seq_at(self.now()) | drawn & 0x7FFF), drawn >> 15 & (1 << 59) - 1)
