"""The reasons of failed checks and the meaning of HTTP statuses, sorted by fault; the response to a POST.

| class | members | source breaker | host breaker | health |
|---|---|---|---|---|
| remote-transient | refused, reset, timeout, 5xx, truncated body | counts | counts | falls with time |
| throttled | 429, 503 with Retry-After | hold, does not count | hold | not penalised |
| remote-permanent | 401, 403, 404, 410, 451, NXDOMAIN, bad certificate, robots, type lost, guard | opens | no | stuck |
| content | cannot decode, too large, the jail killed the parser | counts three in a row | no | partial |
| local | resolver silent, no route, too many files, disk full, no browser | never | no | frozen |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from http.client import responses
from typing import Literal

from actors.errors import UrlRefused
from storage.records.secrecy import without_secrets


class Blame(Enum):
    """The fault of a failed check."""

    REMOTE_TRANSIENT = "remote-transient"
    THROTTLED = "throttled"
    REMOTE_PERMANENT = "remote-permanent"
    CONTENT = "content"
    LOCAL = "local"


MOST_HOLD = 3600.0  # longest Retry-After that is honoured, in seconds
PLAIN_HOLD = 60.0  # seconds of quiet after a 429 without a Retry-After

_RAW = re.compile(r"bytearray\(b(['\"].*['\"])\)", re.DOTALL)


def in_words(error: Exception) -> str:
    """Return a library's error about a peer's bytes, as text: h11 shows a bytearray.

    >>> in_words(ValueError("illegal status line: bytearray(b'ICY 200 OK')"))
    "illegal status line: 'ICY 200 OK'"
    """
    return _RAW.sub(r"\1", str(error))


class CheckFailed(Exception):
    """A check without a result. `reason`: a sentence without secrets. `retry_after`, `fresh` (lifetime): seconds."""

    def __init__(
        self,
        blame: Blame,
        reason: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        fresh: float | None = None,
    ) -> None:
        self.blame = blame
        self.reason = without_secrets(reason)
        super().__init__(self.reason)
        self.status, self.retry_after, self.fresh = status, retry_after, fresh

    @property
    def hold(self) -> float:
        """The seconds of quiet for a server that throttled us."""
        return min(self.retry_after or PLAIN_HOLD, MOST_HOLD)

    def __repr__(self) -> str:
        return f"CheckFailed({self.blame.value}, {self.reason!r}, status={self.status})"


class CheckRefused(CheckFailed):
    """The guard refuses a check's destination; `refusal` is its error, with the rule. Of the class remote-permanent."""

    def __init__(self, refusal: UrlRefused) -> None:
        super().__init__(Blame.REMOTE_PERMANENT, refusal.words)
        self.refusal = refusal


class ReadingStopped(CheckFailed):
    """Reading a body took too much of a worker, which was stopped, or none could start: the content is unknown."""

    def __init__(self, reason: str, *, too_slow: bool = False, blame: Blame = Blame.CONTENT) -> None:
        super().__init__(blame, reason)
        self.too_slow = too_slow


class NotRendered(CheckFailed):
    """A browser could not show the page."""


class RobotsForbids(CheckFailed):
    """robots.txt forbids the check, or is unavailable, which forbids it for the time being."""


_PERMANENT, _REDIRECTS = frozenset({401, 403, 404, 410, 451}), frozenset({301, 302, 303, 307, 308})


def is_redirect(status: int) -> bool:
    return status in _REDIRECTS


def failure(status: int, retry_after: float | None, fresh: float | None = None) -> CheckFailed:
    """Return the failure for a final status other than 200 or a requested 304; times are in seconds."""
    if status == 429 or (status == 503 and retry_after is not None):
        blame = Blame.THROTTLED
    elif 200 <= status < 300:
        blame = Blame.CONTENT  # a response, but none with a body to read
    else:
        blame = Blame.REMOTE_PERMANENT if status in _PERMANENT else Blame.REMOTE_TRANSIENT
    reason = f"answered {status} {responses.get(status, '')}".rstrip()
    return CheckFailed(blame, reason, status=status, retry_after=retry_after, fresh=fresh)


PostMethod = Literal["POST", "PUT", "GET"]


@dataclass(frozen=True, slots=True)
class PostResult:
    """The response to a POST. body: its beginning, undecoded. retry_after: seconds from now. moved_to: or ""."""

    status: int
    latency_ms: int
    body: bytes
    retry_after: float | None
    moved_to: str = ""
