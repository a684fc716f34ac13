"""Headers that a user gives for our requests, as `Name: value`, one a line; and a body to post, for checks.

A check that posts is written as in HTTP (RFC 9112, 2.1): a first line `POST`, the headers, an empty line, the body.
All of it is pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MOST_HEADERS: Final = 10
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
LOOKS_OWN: Final = re.compile(
    r"(?i)host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent"
    r"|if-.*|range|proxy-.*"
)
"""Headers that a check sets itself: it never disguises its sender, and uses its own validators."""
HANDSHAKES_OWN: Final = re.compile(rf"{LOOKS_OWN.pattern}|sec-websocket-.*")
"""Headers that a WebSocket's handshake sets itself."""

POST: Final = "POST"
_MAY_POST: Final = "content-type"
"""The exception for a check that posts."""
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


class GivenRequest(NamedTuple):
    """A user's headers for a check. body: to post; None for a GET."""

    pairs: tuple[tuple[str, str], ...]
    body: str | None


def given_request(text: str) -> GivenRequest:
    r"""Return headers, and the body if the text begins with a line `POST`; a missing content type is guessed.

    >>> given_request("Cookie: x=1")
    GivenRequest(pairs=(('Cookie', 'x=1'),), body=None)
    >>> given_request('POST\nX-Key: 5\n\n{"a": 1}')
    GivenRequest(pairs=(('X-Key', '5'), ('Content-Type', 'application/json')), body='{"a": 1}')
    """
    head, body = _parted(text)
    pairs = tuple(header_pairs(head))
    if body is not None and not any(name.lower() == _MAY_POST for name, _ in pairs):
        pairs = (*pairs, ("Content-Type", _JSON if body.lstrip()[:1] in {"{", "["} else _FORM))
    return GivenRequest(pairs, body)


def _parted(text: str) -> tuple[str, str | None]:
    """Return the headers and the body, None for a GET."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != POST:
        return "\n".join(lines), None
    end = next((number for number, line in enumerate(lines[1:], 1) if not line.strip()), len(lines))
    return "\n".join(lines[1:end]), "\n".join(lines[end + 1 :])


def wrong_request(text: str, own: re.Pattern[str], whose: str) -> Iterator[str]:
    """Yield errors in a user's request; see `wrong_headers`."""
    head, body = _parted(text)
    if body is None:
        yield from wrong_headers(head, own, whose)
        return
    allowed = [line for line in head.split("\n") if line.partition(":")[0].strip().lower() != _MAY_POST]
    yield from wrong_headers("\n".join(allowed), own, whose)
    types = [value for name, value in header_pairs(head) if name.lower() == _MAY_POST]
    if len(types) > 1 or not all(value and value.isascii() and value.isprintable() for value in types):
        yield "Content-Type is given once, in ASCII"


def header_pairs(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield name and value of each line.

    >>> list(header_pairs("Authorization: Bearer a:b\n\n Cookie : x=1 "))
    [('Authorization', 'Bearer a:b'), ('Cookie', 'x=1')]
    """
    for line in filter(str.strip, text.split("\n")):
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()


def wrong_headers(text: str, own: re.Pattern[str], whose: str) -> Iterator[str]:
    """Yield errors in headers. own: the names that `whose` request sets itself."""
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
