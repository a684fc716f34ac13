"""The limits of each caller: requests by token bucket, on Trio's clock, and open connections by address.

A bucket holds at most `burst` tokens and gains `rate` per second. `take` is pure: bucket and time in, next bucket and
verdict out. The headers follow draft-ietf-httpapi-ratelimit-headers (three fields form): bucket size, remaining tokens,
seconds until full. The policy gives the fill time.

The limit of connections keeps one client from taking them all. Addresses are those of the connection, which cannot be
forged; IPv6 counts by /64. Connections from `trusted_proxies` carry many clients and are not counted. Nor are loopback
connections, so a proxy in front of a service on 127.0.0.1 needs no setting; such a proxy must limit its own clients.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv6Address
from typing import NamedTuple

from api.peers import Network, ip_in, is_trusted, plain
from storage.ownership import Ownership
from storage.records.access import ApiKey

REMEMBERED = 20_000  # Buckets to keep. The least recently used goes first; it has most likely refilled.


class Limit(NamedTuple):
    """Tokens per second, and the size of a full bucket."""

    rate: float
    burst: int


class Bucket(NamedTuple):
    """The tokens at one moment."""

    tokens: float
    at: float


class LimitVerdict(NamedTuple):
    """The outcome for one request. reset: seconds until full. retry_after: until one token. window: to fill it."""

    admitted: bool
    limit: int
    remaining: int
    reset: int
    retry_after: int
    window: int

    def headers(self) -> tuple[tuple[str, str], ...]:
        return (
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset)),
            ("RateLimit-Policy", f"{self.limit};w={self.window}"),
        )


STRANGERS = Limit(10.0, 100)  # the limit of one address without a valid key


def take(bucket: Bucket, limit: Limit, now: float) -> tuple[Bucket, LimitVerdict]:
    """Take one token if there is one.

    >>> take(Bucket(1.0, 0.0), Limit(2.0, 10), 0.0)[1]
    LimitVerdict(admitted=True, limit=10, remaining=0, reset=5, retry_after=0, window=5)
    >>> take(Bucket(0.0, 0.0), Limit(0.1, 10), 0.0)[1].retry_after
    10
    """
    tokens = _filled(bucket, limit, now)
    admitted = tokens >= 1
    tokens -= admitted
    reset = math.ceil((limit.burst - tokens) / limit.rate)
    retry_after = 0 if admitted else max(1, math.ceil((1 - tokens) / limit.rate))
    window = math.ceil(limit.burst / limit.rate)
    return Bucket(tokens, now), LimitVerdict(admitted, limit.burst, max(0, int(tokens)), reset, retry_after, window)


def charge(bucket: Bucket, limit: Limit, now: float, taken: int) -> Bucket:
    """Take tokens that other nodes granted. The debt never exceeds the bucket's size.

    >>> charge(Bucket(3.0, 0.0), Limit(2.0, 10), 1.0, 8)
    Bucket(tokens=-3.0, at=1.0)
    """
    return Bucket(max(-float(limit.burst), _filled(bucket, limit, now) - taken), now)


def _filled(bucket: Bucket, limit: Limit, now: float) -> float:
    return min(float(limit.burst), bucket.tokens + max(0.0, now - bucket.at) * limit.rate)


@contextmanager
def counted(counts: Counter[str], name: str) -> Iterator[None]:
    counts[name] += 1
    try:
        yield
    finally:
        uncount(counts, name)


def uncount(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]


def limit_of(key: ApiKey) -> Limit:
    return Limit(max(key.rate_per_minute, 1) / 60, max(key.burst, 1))


def neighbourhood(address: str) -> str:
    """Return the name that an address counts under: IPv6 by its /64, because one host can use all of it."""
    ip = ip_in(address)
    if ip is None:
        return address
    return str(IPv6Address(int(ip) >> 64 << 64)) if isinstance(ip, IPv6Address) and not ip.ipv4_mapped else str(ip)


class Limiter:
    """The buckets of recent callers. ownership: knows the tokens granted at other nodes."""

    def __init__(self, ownership: Ownership | None = None) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._ownership = Ownership() if ownership is None else ownership

    def take(self, who: str, limit: Limit, now: float) -> LimitVerdict:
        bucket = self._buckets.get(who) or Bucket(float(limit.burst), now)
        elsewhere = self._ownership.admitted_elsewhere(who)
        if elsewhere:
            bucket = charge(bucket, limit, now, elsewhere)
        self._buckets[who], verdict = take(bucket, limit, now)
        if verdict.admitted:
            self._ownership.count_admitted(who, now)
        self._buckets.move_to_end(who)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return verdict

    def __len__(self) -> int:
        return len(self._buckets)


class LimitReached(Exception):
    """The limit is reached. The message is a sentence for the client."""


class ConnectionLimit:
    """At most `most` open connections, and `of_one` from each address that counts."""

    def __init__(self, most: int, of_one: int, proxies: Sequence[Network]) -> None:
        self._most, self._of_one, self._proxies = most, of_one, proxies
        self._taken = 0
        self._of: Counter[str] = Counter()

    def take(self, address: str) -> str:
        """Take a slot; return the name to `free` it with. Raises LimitReached."""
        if self._taken >= self._most:
            raise LimitReached("Too many connections are open.")
        name = counted_as(address, self._proxies)
        if name and self._of[name] >= self._of_one:
            raise LimitReached(f"{self._of_one} connections from your address are open already.")
        self._of[name] += 1
        self._taken += 1
        return name

    def free(self, name: str) -> None:
        self._taken -= 1
        uncount(self._of, name)

    def __repr__(self) -> str:
        return f"<ConnectionLimit {self._taken} of {self._most} taken, most by {self._of.most_common(1)}>"


def counted_as(address: str, proxies: Sequence[Network]) -> str:
    ip = ip_in(address)
    is_free = ip is not None and (plain(ip).is_loopback or is_trusted(address, proxies))
    return "" if is_free else neighbourhood(address)
