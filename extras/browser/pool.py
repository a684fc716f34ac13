"""The browser behind the port: started on demand, shared, monitored, replaced, and ended when idle.

A browser is replaced after a number of page views, or when it has grown too heavy; its open pages finish first. One
that dies or hangs costs the page views under way, and the next one starts another. Before a browser gets a page it
must prove that its walls hold: it is sent to a listener of ours on this machine, and must not arrive; and without a
separate network it must not send a datagram. If it does, or if no walls can be built, no page is rendered at all, and
`lacks` gives the reason.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol

import trio

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.world import Connect, Rendered, RenderFailed, RenderRequest
from extras.browser.engine import Engine
from extras.browser.forward_proxy import ForwardProxy
from extras.browser.holder import NotUp, Walls, probe, start
from extras.browser.remote import RemoteBrowser
from extras.browser.wire import BrowserTransport
from supervision.policy import Backoff, next_streak, wait_before

MOST_LOOKS: Final = 500
MOST_KIB: Final = 400 << 10
PAGE_KIB: Final = 100 << 10  # allowance for each open page
HOPELESS: Final = 3  # failed starts in a row, after which page views no longer wait for the next one
WEIGH_EVERY: Final = 5.0
READY_WITHIN: Final = 60.0  # seconds that a page view waits for a browser to start
PROOF_DEADLINE: Final = 10.0
_MARKER_SIZE: Final = 12
_DATAGRAM: Final = """new Promise(done => {
  if (!globalThis.RTCPeerConnection) return done("none");
  const peer = new RTCPeerConnection({iceServers: [{urls: "stun:%s:%d"}]});
  peer.onicecandidate = event => {
    if (!event.candidate) done("none");
    else if (/ udp /i.test(event.candidate.candidate)) done("some");
  };
  peer.createDataChannel("a");
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
  setTimeout(() => done("unknown"), 5000);
})"""  # looks for a way out by datagrams (STUN): "some" if there is one, bypassing any proxy
SENT_LATE: Final = 0.1  # seconds for a datagram to arrive after that
NO_DATAGRAMS: Final = "--force-webrtc-ip-handling-policy=disable_non_proxied_udp"
NO_DATAGRAMS_WHOLE: Final = "--webrtc-ip-handling-policy=disable_non_proxied_udp"
"""Flags that forbid datagrams, for the headless shell and for a whole browser."""

Listen = Callable[[str, int], Awaitable[Sequence[trio.SocketListener]]]
Datagrams = Callable[[str], Awaitable[trio.socket.SocketType]]
Sandbox = Literal["demanded", "wanted"]


class PoolChild(Protocol):
    """The pool's view of its child: it reports readiness, and must stop on request."""

    @property
    def stopping(self) -> trio.Event:
        """Set when it must stop."""

    def ready(self) -> None:
        """Report readiness."""


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """alive: browsers, with those that finish. looks, starts, lost: since the start. memory_kib, processes: current."""

    alive: int
    busy: int
    waiting: int
    looks: int
    starts: int
    lost: int
    memory_kib: int
    processes: int
    name: str
    trouble: str


class ChromiumPool:
    """The port `Browser` over Chromium. `run` is a child of the tree, `render` waits while there is none. command:
    starts a holder for the browser; [] without one, with the reason in `absent`, unless it is `remote`. pages: most at
    once. sandbox: whether Chromium's own is required. namespace: whether to try one. ports: that pages may use in
    addition to 80, 443 and their own. datagrams: opens a UDP socket at a host.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        absent: str = "",
        remote: RemoteBrowser | None = None,
        environment: Mapping[str, str] | None = None,
        pages: int,
        sandbox: Sandbox = "demanded",
        namespace: bool = True,
        ports: Sequence[int] = (),
        most_html: int = 8 << 20,
        most_looks: int = MOST_LOOKS,
        most_kib: int = MOST_KIB,
        idle: float = 120.0,
        listen: Listen,
        datagrams: Datagrams,
        entropy: Callable[[int], bytes],
        draw: Callable[[], float] = lambda: 0.5,
        log: Callable[..., None] = lambda *_, **__: None,
    ) -> None:
        self._command, self._environment = tuple(command), dict(environment or {})
        self._absent = absent if not command and remote is None else ""
        self._remote, self._datagrams = remote, datagrams
        self._pages, self._sandbox, self._namespace, self._ports = pages, sandbox, namespace, tuple(ports)
        self._most_html, self._most_looks, self._most_kib, self._idle = most_html, most_looks, most_kib, idle
        self._listen, self._entropy, self._draw, self._log = listen, entropy, draw, log
        self._limiter = trio.CapacityLimiter(pages)
        self._backoff = Backoff(first=0.2, ceiling=30.0, reset_after=30.0)
        self._wanted, self._changed = trio.Event(), trio.Event()
        self._engine: Engine | None = None
        self._called_at = -math.inf
        self._alive = self._looks = self._starts = self._lost = self._failed_starts = 0
        self._weight = 0, 0
        self._trouble = self._name = ""
        self.walls: Walls | None = None
        """The browser's confinement; None before it is known."""

    def __repr__(self) -> str:
        return f"<ChromiumPool {self.statistics()}>"

    def statistics(self) -> PoolStatistics:
        memory, processes = self._weight
        return PoolStatistics(
            alive=self._alive,
            busy=0 if self._engine is None else self._engine.busy,
            waiting=self._limiter.statistics().tasks_waiting,
            looks=self._looks,
            starts=self._starts,
            lost=self._lost,
            memory_kib=memory,
            processes=processes,
            name=self._name,
            trouble=self._trouble,
        )

    def lacks(self) -> str:
        """Return why this service can't render pages, as a sentence; "" when it can."""
        return self._absent or (self._trouble if self._failed_starts >= HOPELESS else "")

    # --- the child of the tree ---------------------------------------------------------------------------------------

    async def run(self, child: PoolChild, connect: Connect) -> None:
        """Keep a browser while it is needed, until stopped. At the end no browser runs."""
        child.ready()  # no other part waits for it
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._serve, connect)
            await child.stopping.wait()
            nursery.cancel_scope.cancel()

    async def _serve(self, connect: Connect) -> None:
        if self._remote is not None:
            self.walls = Walls(namespace=False, sandbox=False, remote=True)
        elif self._command:
            await self._look_for_walls()
        if self._absent:
            self._log("browser.off", why=self._absent)
            self._wake_waiting()
        else:
            await self._keep(ForwardProxy(connect))

    async def _look_for_walls(self) -> None:
        """Find out which walls this machine allows; without enough of them no browser is started."""
        try:
            namespace, sandbox = await probe(self._command, self._environment)
        except (OSError, NotUp) as error:
            self._absent = f"the process that holds a browser can't be started: {error}"
            return
        if sandbox and self._sandbox == "demanded":
            self._absent = (
                f"Chromium's own sandbox can't hold here ({sandbox}), and it is demanded: "
                "docs/rendered-pages.md says what allows it, and when to do without"
            )
        self.walls = Walls(namespace=self._namespace and not namespace, sandbox=not sandbox)

    async def _keep(self, proxy: ForwardProxy) -> None:
        """Start a browser on demand; after a failed start, back off and retry."""
        streak = 0
        async with trio.open_nursery() as nursery:
            while True:
                await self._wanted.wait()
                begun = trio.current_time()
                line = await self._start(nursery, proxy)
                if line is not None:
                    retired = await nursery.start(self._live, line, proxy)
                    await retired.wait()  # another may start while this one finishes its pages
                if self._failed_starts:
                    streak = next_streak(self._backoff, streak, trio.current_time() - begun)
                    await trio.sleep(wait_before(self._backoff, streak, self._draw()))

    async def _start(self, nursery: trio.Nursery, proxy: ForwardProxy) -> BrowserTransport | None:
        assert self.walls is not None
        line: BrowserTransport
        try:
            if self._remote is not None:
                line = await self._remote.start(nursery, proxy)
            else:
                line = await start(self._command, self._environment, self.walls, self._pages)
        except (OSError, NotUp) as error:
            self._start_failed(str(error))
            return None
        self._starts += 1
        return line

    async def _live(
        self, line: BrowserTransport, proxy: ForwardProxy, task_status: trio.TaskStatus[trio.Event]
    ) -> None:
        """Run one browser. Reports to its caller when it takes no more pages."""
        engine, retired, up = Engine(line, proxy, self._most_html), trio.Event(), trio.Event()
        task_status.started(retired)
        self._alive += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(engine.run, up.set)
                nursery.start_soon(self._tend, engine, line, up, retired)
                await engine.over.wait()
                self._lose(engine, retired)
                with trio.move_on_after(1):  # its page views end
                    await engine.wait_free()
                nursery.cancel_scope.cancel()
        finally:
            self._alive -= 1
            self._retire(engine)
            engine.end("")
            await line.aclose()

    async def _tend(self, engine: Engine, line: BrowserTransport, up: trio.Event, retired: trio.Event) -> None:
        """Have a browser prove its walls, give it pages, and end it when it is worn or idle."""
        await up.wait()
        trouble = await self._proved(engine)
        if trouble:
            self._start_failed(trouble)
            engine.end("")
            return
        self._failed_starts, self._trouble, self._name = 0, "", engine.name
        self._engine, self._called_at = engine, trio.current_time()
        self._log("browser.started", browser=engine.name, walls=walls_in_words(self.walls))
        self._wake_waiting()
        while not engine.worn.is_set():
            idle_at = self._called_at + self._idle
            if not engine.busy and trio.current_time() >= idle_at:
                self._wanted = trio.Event()
                break
            with trio.move_on_after(min(WEIGH_EVERY, max(0.05, idle_at - trio.current_time()))):
                await engine.worn.wait()
            with suppress(OSError, ValueError, NotUp):  # a browser that is gone sets `worn`
                self._weight = await line.weigh()
            if self._weight[0] >= self._most_kib + PAGE_KIB * engine.busy:
                break
        self._retire(engine)
        retired.set()
        await engine.wait_free()
        engine.end("")

    def _retire(self, engine: Engine) -> None:
        """Give a browser no more pages; the next one gets another browser."""
        engine.worn.set()
        if self._engine is engine:
            self._engine = None

    def _lose(self, engine: Engine, retired: trio.Event) -> None:
        self._retire(engine)
        if engine.why:
            self._lost += 1
            self._log("browser.lost", level="warning", why=engine.why, pages=engine.busy)
            if not retired.is_set() and not engine.looks:
                self._start_failed(engine.why)
        self._weight = 0, 0
        retired.set()

    async def _proved(self, engine: Engine) -> str:
        """Have a browser prove that its walls hold. Returns the fault, or ""."""
        trouble = await self._proved_proxy(engine)
        engine.looks = 0
        if trouble or (self.walls is not None and self.walls.namespace):
            return trouble
        return await self._proved_silent(engine)

    async def _proved_proxy(self, engine: Engine) -> str:
        """Send a browser to a listener of ours. The proxy must have refused it: an idle browser proves nothing."""
        arrived = 0

        async def count(stream: trio.abc.Stream) -> None:
            nonlocal arrived
            arrived += 1
            await stream.aclose()

        listeners = await self._listen("127.0.0.1" if self._remote is None else self._remote.listens, 0)
        port = int(listeners[0].socket.getsockname()[1])
        requests = [*self._leading_to(port)]
        refused = 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(trio.serve_listeners, count, [*listeners]))
            for request in requests:
                try:
                    await engine.look(request, self._marker(), ports=[port], most=0)
                except RenderFailed as failure:
                    refused += failure.blame == "refused"
            nursery.cancel_scope.cancel()
        if arrived:
            return f"a browser reached this machine past the proxy ({arrived} times of {len(requests)})"
        if refused == len(requests):
            return ""
        hint = "" if self._remote is None else " (browser_proxy_listen must be an address that it reaches)"
        return f"a browser did not go by the proxy{hint}: {engine.why or 'it asked for nothing'}"

    def _leading_to(self, port: int) -> Iterator[RenderRequest]:
        """Yield requests for that port of this machine, under each name that a browser may reach it by."""
        reached_by = () if self._remote is None else (self._remote.reaches,)
        for host in dict.fromkeys((*reached_by, "127.0.0.1", "localhost")):
            with suppress(UrlRefused):  # no page could request that name either
                url = parse_url(f"http://{host}:{port}/", schemes=("http",))
                yield RenderRequest(url.text, "", deadline=PROOF_DEADLINE)

    async def _proved_silent(self, engine: Engine) -> str:
        """No datagram (WebRTC) may bypass the proxy. If hidden tabs leak, as a whole browser's do, none is hidden."""
        for hidden in (True, False):
            engine.hidden = hidden
            try:
                sent = await self._sends(engine)
            except RenderFailed as failure:
                return f"a browser did not show whether pages get datagrams past the proxy: {failure.reason}"
            if not sent:
                return ""
        return (
            "pages can send datagrams past the proxy (WebRTC): start the browser with "
            f"{NO_DATAGRAMS} (the headless shell) or {NO_DATAGRAMS_WHOLE} (a whole browser)"
        )

    async def _sends(self, engine: Engine) -> bool:
        """Return whether a page can send datagrams. Raises RenderFailed if that is unknown."""
        here, there = ("127.0.0.1",) * 2 if self._remote is None else (self._remote.listens, self._remote.reaches)
        with await self._datagrams(here) as socket:
            found = await engine.evaluated(_DATAGRAM % (there, int(socket.getsockname()[1])))
            if found not in ("some", "none"):
                raise RenderFailed("it does not answer", blame="local")
            with trio.move_on_after(SENT_LATE):
                await socket.recvfrom(1)
                return True
        return bool(found == "some")

    def _start_failed(self, why: str) -> None:
        self._failed_starts += 1
        self._trouble = f"no browser can be {'started' if self._remote is None else 'used'}: {why}"
        self._log("browser.start_failed", level="warning", why=why, failures=self._failed_starts)
        self._wake_waiting()

    def _wake_waiting(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    # --- looks -------------------------------------------------------------------------------------------------------

    async def render(self, request: RenderRequest) -> Rendered:
        """Show a page. The deadline counts from when a browser is free for it. Raises RenderFailed."""
        try:
            url = parse_url(request.url, schemes=("http", "https"))
        except UrlRefused as refusal:
            raise RenderFailed(refusal.detail, blame="refused") from None
        async with self._limiter:
            engine = await self._ready()
            self._looks += 1
            try:
                return await engine.look(request, self._marker(), ports=[url.port, *self._ports])
            finally:
                self._called_at = trio.current_time()

    async def _ready(self) -> Engine:
        while True:
            if lacking := self.lacks():
                self._wanted.set()  # it may work by now
                raise RenderFailed(lacking, blame="local")
            if (engine := self._engine) is not None and not engine.over.is_set():
                if engine.looks + 1 >= self._most_looks:
                    self._retire(engine)
                return engine
            self._wanted.set()
            with trio.move_on_after(READY_WITHIN) as scope:
                await self._changed.wait()
            if scope.cancelled_caught:
                raise RenderFailed(f"no browser was ready within {READY_WITHIN:g} s", blame="local")

    def _marker(self) -> str:
        return self._entropy(_MARKER_SIZE).hex()


def walls_in_words(walls: Walls | None) -> str:
    """Return a browser's confinement as a phrase.

    >>> walls_in_words(Walls(True, True))
    'a separate network with only the guarded proxy; and its own sandbox'
    """
    if walls is None:
        return "not known yet"
    if walls.remote:
        return "remote: the proxy of each page's context alone, the guarded one; its walls elsewhere are not known here"
    network = "a separate network with only the guarded proxy"
    if not walls.namespace:
        network = "the guarded proxy, set for all its requests"
    return f"{network}; {'and its own sandbox' if walls.sandbox else 'without its own sandbox'}"
