"""The sender in a `traceparent` header (W3C Trace Context, 3.2.2)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from extras.tracing.identity import SpanContext

_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)


class Parent(NamedTuple):
    """sampled: the sender keeps its own part."""

    context: SpanContext
    sampled: bool


def parent_in(header: str) -> Parent | None:
    """Return the caller in a `traceparent` header; None for an invalid one (3.2.2).

    >>> parent_in("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").sampled
    True
    >>> parent_in("00-00000000000000000000000000000000-b7ad6b7169203331-01"), parent_in("ff-0af7")
    (None, None)
    """
    found = _PARENT.fullmatch(header.strip())
    if found is None or found[1] == "ff" or (found[1] == "00" and found[5]):
        return None
    context = SpanContext(bytes.fromhex(found[2]), bytes.fromhex(found[3]))
    return Parent(context, bool(int(found[4], 16) & 1)) if any(context.trace) and any(context.span) else None
