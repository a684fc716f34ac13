"""The meaning of a mail server's replies (RFC 5321, 4.2; RFC 3463). Pure.

The recipient may be gone (5xx to RCPT); the server may refuse this one mail (5xx to its data); or it refuses us, which
says nothing about the recipient. 4xx is greylisting, a full mailbox, or too much at once: retry later.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from actors.destination_kinds.answer import Answer, Verdict, escaped

Stage = Literal["greeting", "hello", "tls", "login", "sender", "recipient", "data", "content"]
_FULL = re.compile(rb"\b[45]\.2\.2\b")
_OURS: tuple[Stage, ...] = ("greeting", "hello", "tls", "login", "sender")
_WORDS = {
    "recipient": "the mail server takes no mail for this address",
    "content": "the mail server does not take this mail",
    "data": "the mail server does not take this mail",
    "login": "the mail server refuses our login",
    "sender": "the mail server takes no mail from mail_from",
}


class Reply(NamedTuple):
    """The server's last reply, and its stage. text: as received, without the codes."""

    code: int
    text: bytes
    stage: Stage


def answer_of(reply: Reply, latency_ms: int) -> Answer:
    """Return the outcome of a mail."""
    said = escaped(reply.text)
    if reply.stage == "content" and reply.code == 250:
        return Answer(reply.code, latency_ms, said=said, verdict="delivered")
    words = f"{reply.code} {said}".rstrip()
    ours = reply.stage in _OURS
    verdict = _verdict(reply)
    what = _WORDS.get(reply.stage, "") if verdict in ("revoked", "refused") or (ours and reply.code >= 500) else ""
    error = f"{what}: {words}" if what else words
    return Answer(None if ours else reply.code, latency_ms, error, ours=ours, said=said, verdict=verdict)


def _verdict(reply: Reply) -> Verdict:
    if reply.stage in _OURS:
        return "again"
    if reply.code < 500:
        return "slow"
    if _FULL.search(reply.text):
        return "slow"  # a full mailbox may be emptied later
    return "revoked" if reply.stage == "recipient" else "refused"
