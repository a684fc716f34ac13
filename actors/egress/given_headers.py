"""Headers that a user gives for requests of ours, as `Name: value`, one a line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

MOST_HEADERS: Final = 10
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
LOOKS_OWN: Final = re.compile(
    r"(?i)host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent"
    r"|if-.*|range|proxy-.*"
)
"""What a look says itself: who asks is never disguised, and what has changed is asked by our own validators."""


def header_pairs(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield name and value of each line.

    >>> list(header_pairs("Authorization: Bearer a:b\n\n Cookie : x=1 "))
    [('Authorization', 'Bearer a:b'), ('Cookie', 'x=1')]
    """
    for line in filter(str.strip, text.split("\n")):
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()


def wrong_headers(text: str, own: re.Pattern[str], whose: str) -> Iterator[str]:
    """Yield what is wrong with some headers. own: the names that are set by ourselves, by `whose` request."""
    seen: set[str] = set()
    pairs = list(header_pairs(text))
    if len(pairs) > MOST_HEADERS:
        yield f"at most {MOST_HEADERS}"
    for name, value in pairs:
        if not _NAME.fullmatch(name) or not value or not (value.isascii() and value.isprintable()):
            yield "write each as Name: value, in ASCII, on a line of its own"
        elif own.fullmatch(name):
            yield f"{name} is set by {whose} itself"
        elif name.lower() in seen:
            yield f"{name} is given twice"
        seen.add(name.lower())
