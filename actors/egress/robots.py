"""robots.txt (RFC 9309): what a site allows us, and how slowly it wants us.

4xx means that all is allowed; a site that can't be reached forbids all until it can, except where an older copy is
known. A copy serves for at most 24 hours, and 500 KiB of it count. One fetch at a time for an origin; who asks
meanwhile shares it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import trio
from protego import Protego

from actors.egress.failures import Blame, LookFailed, RobotsForbids
from actors.egress.headers import PRODUCT
from actors.egress.hosts import HostOpen, Hosts
from actors.egress.http import Elsewhere, Fetched, HttpClient
from actors.egress.line import Line
from actors.egress.robots_text import reduce_to
from actors.egress.turns import ASKED, Claim
from actors.egress.url import Url, join
from actors.world import World

ACCEPT = "text/plain, */*;q=0.5"
SIZE_LIMIT = 500 << 10
LONGEST = 24 * 3600.0
SHORTEST = 600.0
RETRY = 300.0
"""Seconds before an origin that could not be reached is asked again."""

MOST_ORIGINS = 2000
MOST_BYTES = 8 << 20
"""Bounds of the cache; the least lately used go first."""


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a URL may be fetched. crawl_delay: seconds, None when not said. why: a sentence. blame: None when
    allowed.
    """

    allowed: bool
    crawl_delay: float | None
    why: str
    blame: Blame | None = None

    def refusal(self) -> LookFailed:
        """Return the failed look that a forbidden URL is."""
        assert self.blame is not None
        return RobotsForbids(self.blame, self.why)


@dataclass(slots=True)
class _Site:
    """What is known of an origin. rules: None allows all. unreachable: why, when nothing is known instead."""

    lock: trio.Lock
    rules: Protego | None = None
    size: int = 0
    known: bool = False
    until: float = float("-inf")
    unreachable: str = ""


class Robots:
    """The verdicts, with a bounded cache."""

    def __init__(self, http: HttpClient, world: World, hosts: Hosts, line: Line | None = None) -> None:
        self._http = http
        self._hosts = hosts
        self._line = line or Line(world.log)
        self._log = world.log
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<Robots {len(self._sites)} origins, {self._bytes >> 10} KiB>"

    async def verdict(self, url: Url, claim: Claim = ASKED) -> RobotsVerdict:
        """Return whether a URL may be fetched. Raises LookFailed of class local, and HostOpen: then nobody knows.

        To be asked before taking a turn at the host: fetching robots.txt takes a turn of its own.
        """
        site = self._sites.get(url.origin)
        if site is None:
            site = self._sites[url.origin] = _Site(trio.Lock())
        self._sites.move_to_end(url.origin)
        if trio.current_time() >= site.until:
            async with site.lock:
                if trio.current_time() >= site.until:
                    await self._refresh(url, site, claim)
                    self._shrink()
        return _judge(site, url)

    async def _refresh(self, url: Url, site: _Site, claim: Claim) -> None:
        try:
            found = await self._fetch(join(url, "/robots.txt"), claim)
        except LookFailed as error:
            self._take_failure(site, error)
            if site.unreachable:
                self._log("robots_unreachable", origin=url.origin, reason=error.reason, older_copy=site.known)
            return
        self._learn(site, found.body, _lifetime(found))

    async def _fetch(self, url: Url, claim: Claim) -> Fetched:
        """Return a robots.txt, from whatever host its redirects lead to (RFC 9309, 2.3.1.2), each in its own turn."""
        hops: tuple[str, ...] = ()
        while True:
            try:
                async with self._hosts.turn(url.host, claim):
                    return await self._ask(url, hops, asked=claim.asked)
            except Elsewhere as redirect:
                url, hops = redirect.url, redirect.hops

    async def _ask(self, url: Url, hops: tuple[str, ...], *, asked: bool) -> Fetched:
        try:
            found = await self._http.get(url, accept=ACCEPT, limit=SIZE_LIMIT, cut=True, stay=True, hops=hops)
        except LookFailed as failure:
            error = self._line.failed(url.host, failure, asked=asked)
            if error.blame is Blame.THROTTLED:
                self._hosts.hold(url.host, error.hold)
            elif error.status is not None and error.blame is not Blame.REMOTE_TRANSIENT:
                self._hosts.succeeded(url.host)
            raise error from None
        except Elsewhere:
            self._answered(url)
            raise
        self._answered(url)
        return found

    def _answered(self, url: Url) -> None:
        self._line.answered(url.host)
        self._hosts.succeeded(url.host)

    def _take_failure(self, site: _Site, error: LookFailed) -> None:
        if error.blame is Blame.LOCAL or isinstance(error, HostOpen):
            raise error
        if error.status is not None and 300 <= error.status < 500:
            # "Unavailable" (2.3.1.3), as are redirects without an end (2.3.1.2).
            self._learn(site, b"", SHORTEST if error.blame is Blame.THROTTLED else LONGEST)
            return
        site.until = trio.current_time() + max(RETRY, min(error.retry_after or 0.0, LONGEST))
        site.unreachable = error.reason

    def _learn(self, site: _Site, body: bytes, lifetime: float) -> None:
        text = reduce_to(PRODUCT, body.decode("utf-8-sig", errors="replace"))
        self._bytes += len(text) - site.size
        site.size, site.known, site.unreachable = len(text), True, ""
        site.rules = Protego.parse(text) if text else None
        site.until = trio.current_time() + lifetime

    def _shrink(self) -> None:
        while len(self._sites) > MOST_ORIGINS or (self._bytes > MOST_BYTES and len(self._sites) > 1):
            _, dropped = self._sites.popitem(last=False)
            self._bytes -= dropped.size


def _lifetime(found: Fetched) -> float:
    return LONGEST if found.max_age is None else min(max(found.max_age, SHORTEST), LONGEST)


def _judge(site: _Site, url: Url) -> RobotsVerdict:
    if not site.known:
        return RobotsVerdict(
            False, None, f"robots.txt of {url.origin} can't be had: {site.unreachable}", Blame.REMOTE_TRANSIENT
        )
    if site.rules is None:
        return RobotsVerdict(True, None, f"{url.origin} has no robots.txt, or none with rules for us")
    delay = site.rules.crawl_delay(PRODUCT)
    if site.rules.can_fetch(url.text, PRODUCT):
        return RobotsVerdict(True, delay, f"robots.txt of {url.origin} allows it")
    return RobotsVerdict(False, delay, f"robots.txt of {url.origin} forbids {url.target}", Blame.REMOTE_PERMANENT)
