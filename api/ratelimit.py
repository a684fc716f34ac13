"""Token buckets, one per key, on Trio's clock.

A bucket holds at most `burst` tokens and gains `rate` per second. `take` is pure: bucket and time in, next bucket and
verdict out. The headers follow draft-ietf-httpapi-ratelimit-headers (three fields form): bucket size, remaining tokens,
seconds until full. The policy gives the fill time.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from storage.ownership import Ownership
from storage.records.key import ApiKey

REMEMBERED = 20_000
"""Buckets to keep. The least recently used goes first; it has most likely refilled."""


class Limit(NamedTuple):
    """Tokens per second, and the size of a full bucket."""

    rate: float
    burst: int


class Bucket(NamedTuple):
    """The tokens at one moment."""

    tokens: float
    at: float


class Verdict(NamedTuple):
    """The outcome for one request. reset: seconds until full. retry_after: seconds until one token, 0 if admitted.
    window: seconds to fill an empty bucket.
    """

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


STRANGERS = Limit(10.0, 100)
"""The limit of one address without a valid key."""


def take(bucket: Bucket, limit: Limit, now: float) -> tuple[Bucket, Verdict]:
    """Take one token if there is one.

    >>> take(Bucket(1.0, 0.0), Limit(2.0, 10), 0.0)[1]
    Verdict(admitted=True, limit=10, remaining=0, reset=5, retry_after=0, window=5)
    >>> take(Bucket(0.0, 0.0), Limit(0.1, 10), 0.0)[1].retry_after
    10
    """
    tokens = _filled(bucket, limit, now)
    admitted = tokens >= 1
    tokens -= admitted
    reset = math.ceil((limit.burst - tokens) / limit.rate)
    retry_after = 0 if admitted else max(1, math.ceil((1 - tokens) / limit.rate))
    window = math.ceil(limit.burst / limit.rate)
    return Bucket(tokens, now), Verdict(admitted, limit.burst, max(0, int(tokens)), reset, retry_after, window)


def charge(bucket: Bucket, limit: Limit, now: float, taken: int) -> Bucket:
    """Take tokens that other nodes granted. The debt never exceeds the bucket's size.

    >>> charge(Bucket(3.0, 0.0), Limit(2.0, 10), 1.0, 8)
    Bucket(tokens=-3.0, at=1.0)
    """
    return Bucket(max(-float(limit.burst), _filled(bucket, limit, now) - taken), now)


def _filled(bucket: Bucket, limit: Limit, now: float) -> float:
    return min(float(limit.burst), bucket.tokens + max(0.0, now - bucket.at) * limit.rate)


def limit_of(key: ApiKey) -> Limit:
    return Limit(max(key.rate_per_minute, 1) / 60, max(key.burst, 1))


def neighbourhood(address: str) -> str:
    """Return the name that an address counts under: IPv6 by its /64, because one host can use all of it."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(IPv6Address(int(ip) >> 64 << 64)) if isinstance(ip, IPv6Address) and not ip.ipv4_mapped else str(ip)


class Limiter:
    """The buckets of recent callers. ownership: knows the tokens granted at other nodes."""

    def __init__(self, ownership: Ownership | None = None) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._ownership = Ownership() if ownership is None else ownership

    def take(self, who: str, limit: Limit, now: float) -> Verdict:
        """Take a token from a caller's bucket, which starts full."""
        bucket = self._buckets.get(who) or Bucket(float(limit.burst), now)
        elsewhere = self._ownership.owed(who)
        if elsewhere:
            bucket = charge(bucket, limit, now, elsewhere)
        self._buckets[who], verdict = take(bucket, limit, now)
        if verdict.admitted:
            self._ownership.took(who, now)
        self._buckets.move_to_end(who)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return verdict

    def __len__(self) -> int:
        return len(self._buckets)
