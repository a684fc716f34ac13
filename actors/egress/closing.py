"""The ends of a WebSocket session, with a sentence and the fault: RFC 6455, 7.4, and the IANA registry. Pure."""

from __future__ import annotations

from typing import Final

from actors.egress.failures import Blame, LookFailed

_MOST_WORDS: Final = 200
_ORDERLY: Final = frozenset({1000, 1001, 1005, 1012})
"""Ends without a fault, after which the server soon accepts us again: done, going away, no code, restarting."""

# Codes that are not remote-transient. Repeating a rejected message (1003, 1007, 1009) would not help.
_BLAMES: Final = {
    1003: Blame.REMOTE_PERMANENT,
    1007: Blame.REMOTE_PERMANENT,
    1008: Blame.REMOTE_PERMANENT,
    1009: Blame.REMOTE_PERMANENT,
    1010: Blame.REMOTE_PERMANENT,
    1013: Blame.THROTTLED,
    3000: Blame.REMOTE_PERMANENT,
    3003: Blame.REMOTE_PERMANENT,
}
_WORDS: Final = {
    1000: "it has finished",
    1001: "it is going away",
    1002: "it says that we break the protocol",
    1003: "it can't take the kind of message that we sent",
    1005: "it gives no code",
    1007: "it can't read the message that we sent",
    1008: "its policy forbids this session",
    1009: "the message that we sent is too big for it",
    1010: "it wants an extension that we lack",
    1011: "it has met an error of its own",
    1012: "it is restarting",
    1013: "it is overloaded and asks to come back later",
    1014: "the server behind it does not answer",
    3000: "it wants us to be authorised",
    3003: "it forbids us this",
    3008: "it has run out of time",
}


class SessionOver(LookFailed):
    """An open session has ended. `code` None: without a close frame.

    answered: the server sent last, so the way to it works. orderly: it ended the session properly.
    """

    def __init__(self, blame: Blame, reason: str, *, code: int | None = None, answered: bool = False) -> None:
        super().__init__(blame, reason)
        self.code = code
        self.answered = answered
        self.orderly = code in _ORDERLY


def closed(code: int, reason: str | None) -> SessionOver:
    """Return the end for a server's close frame.

    >>> closed(1013, "busy").reason
    'the server closed the session with 1013: it is overloaded and asks to come back later ("busy")'
    """
    words = _WORDS.get(code) or ("the application's own code" if 4000 <= code <= 4999 else "a code without a meaning")
    said = f' ("{reason[:_MOST_WORDS]}")' if reason else ""
    blame = _BLAMES.get(code, Blame.REMOTE_TRANSIENT)
    return SessionOver(blame, f"the server closed the session with {code}: {words}{said}", code=code, answered=True)


def broken(reason: str) -> SessionOver:
    """Return the end of a link that broke or went dead, without a close frame."""
    return SessionOver(Blame.REMOTE_TRANSIENT, reason)


def unreadable(reason: str) -> SessionOver:
    """Return the end of a session with unreadable frames: not text, or too large."""
    return SessionOver(Blame.CONTENT, reason, answered=True)


def unlawful(reason: str) -> SessionOver:
    """Return the end of a session whose server breaks the protocol, or abuses it."""
    return SessionOver(Blame.REMOTE_TRANSIENT, f"the server breaks the protocol: {reason}", answered=True)
