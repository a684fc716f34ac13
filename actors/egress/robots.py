"""robots.txt (RFC 9309): permissions, and Crawl-delay.

4xx allows everything; an unreachable site forbids everything for the time being, unless an older copy is known. A
copy, or a 4xx, is valid for its own lifetime (RFC 9111), from ten minutes to 24 hours; by default 24 hours. The first
500 KiB count. There is one fetch at a time for an origin; concurrent callers share it. A worker reads a long file,
once for each URL: no watched site may block the loop.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import msgspec
import trio

from actors.content.bodies.robots_text import RobotsReading, RobotsRequest, read_robots
from actors.egress.failures import Blame, CheckFailed, RobotsForbids
from actors.egress.headers import PRODUCT, freshness
from actors.egress.hosts import INTERACTIVE, HostOpen, Hosts, TurnRequest
from actors.egress.http import FetchedResponse, FetchRequest, HttpClient, RedirectElsewhere
from actors.egress.uplink import UplinkMonitor
from actors.egress.url import Url, join
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow, World
from storage.records.secrecy import without_secrets

ACCEPT = "text/plain, */*;q=0.5"
SIZE_LIMIT, LONGEST, SHORTEST = 500 << 10, 24 * 3600.0, 600.0
RETRY = 300.0  # seconds before an unreachable origin is asked again

SHORT = 8 << 10  # largest file that is read in the loop, in a few milliseconds; bytes
READ_WITHIN = 10.0  # seconds of a worker's processor time for one URL
MOST_VERDICTS = 100  # cached verdicts of one origin
MOST_ORIGINS = 2000
MOST_BYTES = 8 << 20  # bounds of the cache; the least recently used go first


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a URL may be fetched. crawl_delay: seconds or None. why: a sentence. blame: None if allowed."""

    allowed: bool
    crawl_delay: float | None
    why: str
    blame: Blame | None = None

    def refusal(self) -> CheckFailed:
        assert self.blame is not None
        return RobotsForbids(self.blame, self.why)


@dataclass(slots=True)
class _Site:
    """text: the rules for us, none allow all. verdicts: with Crawl-delay, by URL. unreachable: why there is no copy."""

    lock: trio.Lock
    text: str = ""
    verdicts: OrderedDict[str, tuple[bool, float | None]] = field(default_factory=OrderedDict)
    known: bool = False
    until: float = float("-inf")
    unreachable: str = ""


class Robots:
    """The verdicts, with a bounded cache."""

    def __init__(self, http: HttpClient, world: World, hosts: Hosts, uplink: UplinkMonitor | None = None) -> None:
        self._http, self._hosts = http, hosts
        self._uplink = uplink or UplinkMonitor(world.log)
        self._log, self._jail, self._wall = world.log, world.jail, world.wall
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._bytes = 0

    async def verdict(self, url: Url, request: TurnRequest = INTERACTIVE) -> RobotsVerdict:
        """Return whether a URL may be fetched. Raises HostOpen, CheckFailed of class local or content, if unknown. Call
        it before taking a turn at the host: fetching robots.txt takes a separate turn.
        """
        site = self._sites.get(url.origin)
        if site is None:
            site = self._sites[url.origin] = _Site(trio.Lock())
        self._sites.move_to_end(url.origin)
        if trio.current_time() >= site.until or url.sent not in site.verdicts:
            async with site.lock:
                if trio.current_time() >= site.until:
                    await self._refresh(url, site, request)
                if site.known and url.sent not in site.verdicts:
                    self._cache(site, url, await self._read(site.text.encode(), url))
                while len(self._sites) > MOST_ORIGINS or (self._bytes > MOST_BYTES and len(self._sites) > 1):
                    _, dropped = self._sites.popitem(last=False)
                    self._bytes -= len(dropped.text)
        if not site.known:
            why = f"robots.txt of {url.origin} can't be fetched: {site.unreachable}"
            return RobotsVerdict(False, None, why, Blame.REMOTE_TRANSIENT)
        if not site.text:
            return RobotsVerdict(True, None, f"{url.origin} has no robots.txt, or none with rules for us")
        allowed, delay = site.verdicts[url.sent]
        if allowed:
            return RobotsVerdict(True, delay, f"robots.txt of {url.origin} allows it")
        target = without_secrets(url.origin + url.target).removeprefix(url.origin)
        return RobotsVerdict(False, delay, f"robots.txt of {url.origin} forbids {target}", Blame.REMOTE_PERMANENT)

    async def _refresh(self, url: Url, site: _Site, request: TurnRequest) -> None:
        try:
            with request.steps.step("robots.txt"):
                response = await self._fetch(join(url, "/robots.txt"), request)
        except CheckFailed as error:
            await self._take_failure(site, url, error)
            if site.unreachable:
                self._log("robots_unreachable", origin=url.origin, reason=error.reason, older_copy=site.known)
            return
        await self._store(site, response.body, url, _lifetime(freshness(response.headers, self._wall()), LONGEST))

    async def _fetch(self, url: Url, request: TurnRequest) -> FetchedResponse:
        """Return a robots.txt from any host that its redirects lead to (RFC 9309, 2.3.1.2), each in its own turn."""
        hops: tuple[str, ...] = ()
        while True:
            try:
                async with self._hosts.turn(url.host, request):
                    return await self._try_fetch(url, hops, request)
            except RedirectElsewhere as redirect:
                url, hops = redirect.url, redirect.hops

    async def _try_fetch(self, url: Url, hops: tuple[str, ...], request: TurnRequest) -> FetchedResponse:
        try:
            fetch_request = FetchRequest(url, accept=ACCEPT, limit=SIZE_LIMIT, cut=True, steps=request.steps)
            response = await self._http.get(fetch_request, hops)
        except CheckFailed as failure:
            error = self._uplink.failed(url.host, failure, interactive=request.interactive)
            if error.blame is Blame.THROTTLED:
                self._hosts.hold(url.host, error.hold)
            elif error.status is not None and error.blame is not Blame.REMOTE_TRANSIENT:
                self._hosts.succeeded(url.host)
            raise error from None
        except RedirectElsewhere:
            self._answered(url)
            raise
        self._answered(url)
        return response

    def _answered(self, url: Url) -> None:
        self._uplink.answered(url.host)
        self._hosts.succeeded(url.host)

    async def _take_failure(self, site: _Site, url: Url, error: CheckFailed) -> None:
        if error.blame is Blame.LOCAL or isinstance(error, HostOpen):
            raise error
        if error.status is not None and 300 <= error.status < 500:
            # "Unavailable" (2.3.1.3); so are endless redirects (2.3.1.2).
            default = SHORTEST if error.blame is Blame.THROTTLED else LONGEST
            await self._store(site, b"", url, _lifetime(error.fresh, default))
            return
        # Unreachable: retry soon, ignoring an error page's lifetime, since nothing may be fetched.
        site.until = trio.current_time() + max(RETRY, min(error.retry_after or 0.0, LONGEST))
        site.unreachable = error.reason

    async def _store(self, site: _Site, body: bytes, url: Url, lifetime: float) -> None:
        try:
            reading = await self._read(body, url)
        except CheckFailed:
            site.until, site.unreachable = trio.current_time() + RETRY, "it could not be read"
            raise
        site.verdicts.clear()
        self._cache(site, url, reading)
        if self._sites.get(url.origin) is site:  # else it was dropped in the meantime
            self._bytes += len(reading.text) - len(site.text)
        site.text, site.known, site.unreachable = reading.text, True, ""
        site.until = trio.current_time() + lifetime

    async def _read(self, body: bytes, url: Url) -> RobotsReading:
        """Judge a URL by a file. Raises CheckFailed of class content if no worker can."""
        robots_request = RobotsRequest(body, PRODUCT, url.sent)
        if len(body) <= SHORT:
            return read_robots(robots_request)
        try:
            reply = await self._jail.call("read_robots", msgspec.msgpack.encode(robots_request), deadline=READ_WITHIN)
        except (WorkerDied, WorkerTooSlow, TaskRefused) as error:
            raise CheckFailed(Blame.CONTENT, f"robots.txt of {url.origin} could not be read: {error}") from None
        return msgspec.msgpack.decode(reply, type=RobotsReading)

    @staticmethod
    def _cache(site: _Site, url: Url, reading: RobotsReading) -> None:
        site.verdicts[url.sent] = reading.allowed, reading.delay
        if len(site.verdicts) > MOST_VERDICTS:
            site.verdicts.popitem(last=False)


def _lifetime(lifetime: float | None, default: float) -> float:
    """Return the seconds that a copy is valid (2.4), given its own lifetime."""
    return default if lifetime is None else min(max(lifetime, SHORTEST), LONGEST)
