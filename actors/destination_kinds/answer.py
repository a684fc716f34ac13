"""The answer to one attempt, whatever the kind of the destination. Pure."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Verdict = Literal["delivered", "again", "slow", "refused", "revoked"]
GONE: Final = 410
EXCERPT: Final = 1024
"""Characters of an answer that are kept."""


class Answer(NamedTuple):
    """What one try brought. `status` is None when there was no answer; `timeout` tells whether one was waited for.

    said: the beginning of the response, control characters escaped.
    ours: it failed on this machine (no route, no resolver), which says nothing about the receiver.
    verdict: what the answer means where its status does not say it, as a kind's own words tell.
    """

    status: int | None
    latency_ms: int
    error: str | None = None
    retry_after: float | None = None
    timeout: bool = False
    ours: bool = False
    said: str = ""
    verdict: Verdict | None = None

    @property
    def delivered(self) -> bool:
        """Whether the receiver took it: 2xx and nothing else."""
        if self.verdict is not None:
            return self.verdict == "delivered"
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """Whether the receiver will take nothing more: 410, or a token that was revoked."""
        return self.verdict == "revoked" or (self.verdict is None and self.status == GONE)

    @property
    def refused(self) -> bool:
        """Whether the receiver will never take just this one."""
        return self.verdict == "refused"

    @property
    def slow(self) -> bool:
        """Whether the receiver asks for fewer."""
        return self.verdict == "slow" or (self.verdict is None and self.status == 429)

    @property
    def word(self) -> str:
        """How it went, as one of seven words that are counted by."""
        if self.delivered:
            return "delivered"
        if self.status is None:
            return "ours" if self.ours else "timeout" if self.timeout else "unreachable"
        words = {2: "client_error", 3: "redirect", 4: "client_error"}  # 2xx with an error inside
        return words.get(self.status // 100, "server_error")


def escaped(body: bytes) -> str:
    """Return what a receiver said so that it can be shown anywhere: nothing in it moves a cursor or hides a letter.

    >>> escaped("fel: å\x1b[31m".encode())
    'fel: å\\x1b[31m'
    """
    text = body[:EXCERPT].decode("utf-8", "replace")
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return shown[:EXCERPT]
