"""Failed attempts grouped by cause, the most frequent first. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from storage.records.destination import Attempt
from storage.records.identity import Millis

_LONGEST = 80
_PARTICULAR = re.compile(
    r"\[?\b[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\b\]?"  # IPv6
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # IPv4
    r"|\b\d+(?:\.\d+)?\b"
)


class Cause(NamedTuple):
    """Failures with one cause. deliveries: how many it affected. given_up: how many of them ended.

    first, last: when it occurred. example: the newest attempt.
    """

    name: str
    attempts: int
    deliveries: int
    given_up: int
    first: Millis
    last: Millis
    example: Attempt


def cause_of(line: Attempt) -> str:
    """Return the cause of a failed attempt, without its particulars; "" for a success.

    >>> from storage.records.identity import Millis
    >>> a = Attempt("d", "e", 1, "retry", Millis(0), None, 9, "timeout after 15.0 s at 10.0.0.1:80", None)
    >>> cause_of(a)
    'timeout after … s at …'
    """
    if line.result == "sent":
        return ""
    if line.status is not None:
        return f"HTTP {line.status}"
    return _PARTICULAR.sub("…", line.error or "no answer")[:_LONGEST]


def causes(lines: Sequence[Attempt]) -> list[Cause]:
    """Return the causes of the failures among attempts. They come newest first."""
    groups: dict[str, list[Attempt]] = {}
    for line in lines:
        if name := cause_of(line):
            groups.setdefault(name, []).append(line)
    found = [
        Cause(
            name,
            len(group),
            len({line.event_id for line in group}),
            len({line.event_id for line in group if line.result == "given_up"}),
            group[-1].at,
            group[0].at,
            group[0],
        )
        for name, group in groups.items()
    ]
    return sorted(found, key=lambda cause: (-cause.attempts, cause.name))
