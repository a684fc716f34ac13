"""Token buckets, one a key, on Trio's clock.

A bucket holds at most `burst` tokens and gains `rate` a second. `take` is pure: a bucket and a moment in, the next
bucket and a verdict out. The headers are those of draft-ietf-httpapi-ratelimit-headers (three fields form): the
bucket's size, what is left of it, and the seconds until it is full again; the policy says how fast it fills.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from actors.members.usage import Usage
from storage.records.key import ApiKey

REMEMBERED = 20_000
"""Buckets kept; the one that was used longest ago is forgotten first (it has most likely filled up again)."""


class Limit(NamedTuple):
    """Tokens a second, and how many a full bucket holds."""

    rate: float
    burst: int


class Bucket(NamedTuple):
    """So many tokens at a moment."""

    tokens: float
    at: float


class Verdict(NamedTuple):
    """Whether a request is admitted; what is left; seconds until full; seconds until one token (0 when admitted).

    window: the seconds in which an empty bucket fills.
    """

    admitted: bool
    limit: int
    remaining: int
    reset: int
    retry_after: int
    window: int

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return the headers that go with every answer."""
        return (
            ("RateLimit-Limit", str(self.limit)),
            ("RateLimit-Remaining", str(self.remaining)),
            ("RateLimit-Reset", str(self.reset)),
            ("RateLimit-Policy", f"{self.limit};w={self.window}"),
        )


STRANGERS = Limit(10.0, 100)
"""What one address gets without a valid key."""


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
    """Take tokens that were given elsewhere: a bucket may so owe as many as it holds, and no more.

    >>> charge(Bucket(3.0, 0.0), Limit(2.0, 10), 1.0, 8)
    Bucket(tokens=-3.0, at=1.0)
    """
    return Bucket(max(-float(limit.burst), _filled(bucket, limit, now) - taken), now)


def _filled(bucket: Bucket, limit: Limit, now: float) -> float:
    return min(float(limit.burst), bucket.tokens + max(0.0, now - bucket.at) * limit.rate)


def limit_of(key: ApiKey) -> Limit:
    return Limit(max(key.rate_per_minute, 1) / 60, max(key.burst, 1))


def neighbourhood(address: str) -> str:
    """Return whom an address is counted with: IPv6 by its /64, since one host has as many as it likes there."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(IPv6Address(int(ip) >> 64 << 64)) if isinstance(ip, IPv6Address) and not ip.ipv4_mapped else str(ip)


class Limiter:
    """The buckets of all who asked lately. `usage`: what they took at other nodes."""

    def __init__(self, usage: Usage | None = None) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self._usage = Usage() if usage is None else usage

    def take(self, who: str, limit: Limit, now: float) -> Verdict:
        """Take one token out of someone's bucket, a full one at first."""
        bucket = self._buckets.get(who) or Bucket(float(limit.burst), now)
        elsewhere = self._usage.owed(who)
        if elsewhere:
            bucket = charge(bucket, limit, now, elsewhere)
        self._buckets[who], verdict = take(bucket, limit, now)
        if verdict.admitted:
            self._usage.took(who, now)
        self._buckets.move_to_end(who)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return verdict

    def __len__(self) -> int:
        return len(self._buckets)
