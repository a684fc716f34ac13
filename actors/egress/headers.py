"""Parsing of response headers, validation of request headers, and headers that a user gives. Pure.

A check that posts is written as in HTTP (RFC 9112, 2.1): a first line `POST`, the headers, an empty line, the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

PRODUCT = "sanderling"
VERSION = "0.1.0"
FRESHLY_MADE = 60.0  # a Last-Modified within this many seconds only repeats Date
_DAY = 86_400.0
ABSURD_WAIT = 7 * 86_400.0  # a longer Retry-After is a mistake or a joke, and ignored


def user_agent(contact: str) -> str:
    """Return the one User-Agent; `contact` is for site owners.

    >>> user_agent("https://example.com/bot"), user_agent("")
    ('sanderling/0.1.0 (+https://example.com/bot)', 'sanderling/0.1.0')
    """
    safe = "".join(c for c in contact if " " <= c <= "~" and c not in "()\\")
    return f"{PRODUCT}/{VERSION} (+{safe})" if safe else f"{PRODUCT}/{VERSION}"


def delivery_headers(given: Mapping[str, str], size: int) -> list[tuple[bytes, bytes]]:
    """Return the headers of a POST after Host and User-Agent. Raises ValueError for unsendable characters."""
    raw = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    return [*raw, (b"Content-Length", str(size).encode()), (b"Accept-Encoding", b"identity")]


def collect(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers under lower-case names, repeated ones joined with a comma (RFC 9110, 5.3); Latin-1, lossless."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def retry_after(value: str | None, now: float) -> float | None:
    """Return a Retry-After in seconds from `now` (see `sent_at`); None if past, absurd or unreadable.

    >>> retry_after("120", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 0.0), retry_after("soon", 0.0)
    (120.0, 60.0, None)
    """
    text = (value or "").strip()
    seconds = float(text[:12]) if text.isascii() and text.isdigit() else (_http_date(text) or now) - now
    return seconds if 0 < seconds <= ABSURD_WAIT else None


def sent_at(headers: Mapping[str, str], wall: float) -> float:
    """Return when a response was sent by its server's clock (Date), else by ours: `wall`.

    A server's dates are by its own clock. If ours is an hour ahead, its "until ten past" would seem past.

    >>> sent_at({"date": "Thu, 01 Jan 1970 00:01:00 GMT"}, 3600.0), sent_at({}, 3600.0)
    (60.0, 3600.0)
    """
    said = _http_date(headers["date"]) if "date" in headers else None
    return wall if said is None else said


def max_age(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response stays fresh by Cache-Control, less its Age; None if unspecified.

    >>> max_age({"cache-control": "public, max-age=600", "age": "100"}), max_age({"cache-control": "no-cache"})
    (500.0, None)
    """
    age: float | None = None
    for directive in headers.get("cache-control", "").lower().split(","):
        name, _, value = directive.strip().partition("=")
        if name in ("no-cache", "no-store"):
            return None
        number = _seconds(value)
        if name == "max-age" and number is not None:
            age = number
    return None if age is None else max(0.0, age - (_seconds(headers.get("age", "")) or 0.0))


def freshness(headers: Mapping[str, str], wall: float) -> float | None:
    """Return a private cache's lifetime for a response in seconds (RFC 9111, 4.2.1 and 5.2.2): 0 means revalidate;
    None if unspecified.

    >>> freshness({"cache-control": "max-age=600", "age": "100"}, 0.0), freshness({"cache-control": "no-cache"}, 0.0)
    (500.0, 0.0)
    >>> said = {"expires": "Thu, 01 Jan 1970 00:10:00 GMT", "date": "Thu, 01 Jan 1970 00:00:00 GMT"}
    >>> freshness(said, 9000.0), freshness({"expires": "0"}, 9000.0), freshness({}, 0.0)
    (600.0, 0.0, None)
    """
    directives = [part.strip().partition("=")[0] for part in headers.get("cache-control", "").lower().split(",")]
    if "no-cache" in directives or "no-store" in directives:
        return 0.0
    if (age := max_age(headers)) is not None:
        return age
    if "expires" not in headers:
        return None
    if (moment := _http_date(headers["expires"])) is None:  # an invalid date, especially "0", means the past (5.3)
        return 0.0
    return max(0.0, moment - sent_at(headers, wall) - (_seconds(headers.get("age", "")) or 0.0))


def modified(headers: Mapping[str, str], now: float) -> float | None:
    """Return when the representation changed, in seconds of the wall clock, by Last-Modified; None if missing or not
    credible: a page made on request often claims to have just changed (RFC 9110, 8.8.2.2).

    >>> at = {"last-modified": "Thu, 01 Jan 1970 00:01:00 GMT"}
    >>> modified(at, 1000.0), modified(at, 61.0), modified(at | {"date": "Thu, 01 Jan 1970 00:01:01 GMT"}, 1000.0)
    (60.0, None, None)
    """
    changed = _http_date(headers.get("last-modified", ""))
    made = _http_date(headers.get("date", ""))
    if changed is None or min(now, now if made is None else made) - changed < FRESHLY_MADE:
        return None
    return changed


def last_modified(headers: Mapping[str, str], wall: float) -> str | None:
    """Return Last-Modified as a validator, None for a future one: nothing would be newer for years.

    >>> said = {"last-modified": "Fri, 15 Feb 2041 10:00:00 GMT"}
    >>> last_modified(said, 0.0), last_modified({"last-modified": "then"}, 0.0)
    (None, 'then')
    """
    at = _http_date(headers.get("last-modified", ""))
    return None if at is not None and at > sent_at(headers, wall) + _DAY else headers.get("last-modified")


def sendable(value: str | None) -> bytes | None:
    """Return a stored validator as header bytes; None if it is invalid (a CR, LF or NUL would forge a header)."""
    if not value or len(value) > 1024 or any((c < " " and c != "\t") or c == "\x7f" or c > "\xff" for c in value):
        return None
    return value.strip().encode("latin-1") or None


def _seconds(text: str) -> float | None:
    digits = text.strip().strip('"')
    return min(float(digits), 31_536_000.0) if digits.isascii() and digits.isdigit() and len(digits) < 13 else None


def _http_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


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
_MAY_POST: Final = "content-type"  # the exception for a check that posts
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
    seen, pairs = set[str](), list(header_pairs(text))
    if len(pairs) > MOST_HEADERS:
        yield f"at most {MOST_HEADERS}"
    for name, value in pairs:
        if not _NAME.fullmatch(name) or not value or not (value.isascii() and value.isprintable()):
            yield "write each as Name: value, in ASCII, on its own line"
        elif own.fullmatch(name):
            yield f"{name} is set by {whose} itself"
        elif name.lower() in seen:
            yield f"{name} is given twice"
        seen.add(name.lower())
