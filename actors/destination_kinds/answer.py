"""The answer to one attempt, for all kinds of destinations. Pure."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Verdict = Literal["delivered", "again", "slow", "refused", "revoked"]
GONE: Final = 410
EXCERPT: Final = 1024  # stored characters of an answer


class Answer(NamedTuple):
    """The result of one attempt. `status`: None without a response. `timeout`: it was waited for. excerpt: the
    beginning of the response, escaped. ours: it failed on this machine (no route, no resolver), which says nothing
    about the receiver. verdict: the meaning, if a kind's own rules decide it and not the status.
    """

    status: int | None
    latency_ms: int
    error: str | None = None
    retry_after: float | None = None
    timeout: bool = False
    ours: bool = False
    excerpt: str = ""
    verdict: Verdict | None = None

    @property
    def delivered(self) -> bool:
        """Whether the receiver took it: 2xx only."""
        if self.verdict is not None:
            return self.verdict == "delivered"
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """Whether the receiver refuses all further deliveries: 410, or a revoked token."""
        return self.verdict == "revoked" or (self.verdict is None and self.status == GONE)

    @property
    def refused(self) -> bool:
        return self.verdict == "refused"

    @property
    def slow(self) -> bool:
        return self.verdict == "slow" or (self.verdict is None and self.status == 429)

    @property
    def outcome(self) -> str:
        if self.delivered:
            return "delivered"
        if self.status is None:
            return "ours" if self.ours else "timeout" if self.timeout else "unreachable"
        outcomes = {2: "client_error", 3: "redirect", 4: "client_error"}  # 2xx with an error inside
        return outcomes.get(self.status // 100, "server_error")


def escaped(body: bytes) -> str:
    r"""Return a receiver's text, safe to show: no character of it moves a cursor or hides a letter.

    >>> escaped("fel: å\x1b[31m".encode())
    'fel: å\\x1b[31m'
    """
    text = body[:EXCERPT].decode("utf-8", "replace")
    printable = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return printable[:EXCERPT]
