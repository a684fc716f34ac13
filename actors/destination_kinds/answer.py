"""The answer to one attempt, whatever the kind of the destination. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

EXCERPT: Final = 1024
"""Characters of an answer that are kept."""


class Answer(NamedTuple):
    """What one try brought. `status` is None when there was no answer; `timeout` tells whether one was waited for.

    said: the beginning of the response, control characters escaped.
    ours: it failed on this machine (no route, no resolver), which says nothing about the receiver.
    """

    status: int | None
    latency_ms: int
    error: str | None = None
    retry_after: float | None = None
    timeout: bool = False
    ours: bool = False
    said: str = ""

    @property
    def delivered(self) -> bool:
        """Whether the receiver took it: 2xx and nothing else."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def word(self) -> str:
        """How it went, as one of seven words that are counted by."""
        if self.status is None:
            return "ours" if self.ours else "timeout" if self.timeout else "unreachable"
        words = {2: "delivered", 3: "redirect", 4: "client_error"}
        return words.get(self.status // 100, "server_error")


def escaped(body: bytes) -> str:
    """Return what a receiver said so that it can be shown anywhere: nothing in it moves a cursor or hides a letter.

    >>> escaped("fel: å\x1b[31m".encode())
    'fel: å\\x1b[31m'
    """
    text = body[:EXCERPT].decode("utf-8", "replace")
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return shown[:EXCERPT]
