"""Cookies of one origin, as its server renews them (RFC 6265bis). Pure.

A user gives a source the cookies of a signed-in browser. Many sites renew them on each visit, and sign out a client
with the old ones. So the origin's new cookies are tracked, for that origin only: no cookie goes to another one,
whatever `Domain` it has. The user's cookies have no scope, so one that the origin sets under the same name replaces the
user's.

New cookies are in doubt until their response is known to be a signed-in one: a site that rejects a client often gives
it a new visitor's cookies. Until then the previous ones are kept as well.

Bounds: 4 KiB a cookie; 50 cookies and 16 KiB of cookies that were set, not counting the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from actors.egress.headers import collect, sent_at
from actors.egress.url import Url

MOST, MOST_BYTES = 50, 16 << 10
MOST_OF_ONE: Final = 4096  # characters of name and value together (5.6, step 6)
_MOST_ATTRIBUTE: Final = 1024
_LONGEST: Final = 400 * 86_400_000  # longest life of a cookie, in milliseconds (5.5)
_BLANKS: Final = " \t"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_ADDRESS, _NUMBER = re.compile(r"[0-9.]+|.*:.*"), re.compile(r"-?[0-9]{1,18}")


class Cookie(Struct, frozen=True, array_like=True):
    """domain: as set, "" for the host alone. expires: milliseconds, None for a session. given: the user gave it, or it
    replaces a user's one. scoped: the server has set its scope.
    """

    name: str
    value: str
    domain: str = ""
    path: str = "/"
    secure: bool = False
    expires: int | None = None
    given: bool = False
    scoped: bool = True

    def __repr__(self) -> str:
        return f"Cookie({self.name!r}, ...)"


Jar = tuple[Cookie, ...]


class Doubted(Struct, frozen=True):
    """The current jar and the previous one, while it is unknown which is good."""

    jar: Jar
    before: Jar


_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(Jar | Doubted).decode


class SetCookies(NamedTuple):
    """A response's `Set-Cookie` lines. ahead: the server's clock minus ours, in milliseconds."""

    lines: tuple[str, ...] = ()
    ahead: int = 0


NOTHING_SET: Final = SetCookies()
CookieCallback = Callable[[SetCookies, int], None]
"""Called with a response's cookies and status before the rest is read."""


def set_by(raw: Iterable[tuple[bytes, bytes]], sent: float, wall: float) -> SetCookies:
    """Return the cookies that a response's headers set. sent: its time by the server's clock; wall: by ours."""
    lines = tuple(value.decode("latin-1") for name, value in raw if name.lower() == b"set-cookie")
    return SetCookies(lines[:MOST], round(1000 * (sent - wall))) if lines else NOTHING_SET


def pass_cookies(
    raw: Sequence[tuple[bytes, bytes]], status: int, on_cookies: CookieCallback | None, wall: float
) -> Mapping[str, str]:
    """Pass on a response's cookies, if any; return its headers by name."""
    headers = collect(raw)
    sets = set_by(raw, sent_at(headers, wall), wall)
    if on_cookies is not None and sets.lines:
        on_cookies(sets, status)
    return headers


def parse_cookies(header: str) -> Jar:
    """Return the cookies of a `Cookie` header.

    >>> [(cookie.name, cookie.value) for cookie in parse_cookies("a=1; b=x=y")]
    [('a', '1'), ('b', 'x=y')]
    """
    parts = filter(None, map(str.strip, header.split(";")))
    return tuple(Cookie(*_pair(part), given=True, scoped=False) for part in parts)


def written(jar: Jar, before: Jar | None = None) -> str:
    """Return a jar in stored form. before: the previous jar, while this one is in doubt."""
    return _encode(jar if before is None else Doubted(jar, before)).decode()


def read(text: str) -> Jar | None:
    """Return the stored jar; None if missing or unreadable."""
    kept = _kept(text)
    return kept.jar if isinstance(kept, Doubted) else kept


def doubted(text: str) -> Jar | None:
    """Return the previous jar from stored form, None if the current one is known to be good."""
    kept = _kept(text)
    return kept.before if isinstance(kept, Doubted) else None


def settled(text: str) -> str:
    """Return the stored form once its jar is known to be good."""
    kept = _kept(text)
    return written(kept.jar) if isinstance(kept, Doubted) else text


def turned(text: str) -> str:
    """Return the stored form once its jar has failed: the previous one, if any, becomes current."""
    kept = _kept(text)
    return written(kept.before, kept.jar) if isinstance(kept, Doubted) else text


def _kept(text: str) -> Jar | Doubted | None:
    try:
        return _decode(text) if text else None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def header(jar: Jar, url: Url, now: int) -> str:
    """Return the `Cookie` header for a URL of the origin, or "": longer paths first (5.8.3)."""
    path = url.target.partition("?")[0]
    live = [each for each in jar if not _is_over(each, now) and (url.secure or not each.secure)]
    # A cookie's path matches itself, and whole steps below it (5.1.4).
    fit = [each for each in live if path == each.path or path.startswith(f"{each.path.removesuffix('/')}/")]
    fit.sort(key=lambda cookie: -len(cookie.path))
    return "; ".join(f"{each.name}={each.value}" if each.name else each.value for each in fit)


def taken(jar: Jar, url: Url, said: SetCookies, now: int) -> Jar:
    """Return a jar after a response from a URL of the origin. Invalid cookies are ignored."""
    kept = list(jar)
    for line in said.lines:
        if (cookie := _parsed(line, url, now, said.ahead)) is not None:
            _put(kept, cookie, now)
    return tuple(kept) if tuple(kept) == jar else tuple(_bounded(kept, now))


def is_renewed(before: str, after: str) -> bool:
    """Return whether two stored jars send different cookies, ignoring dates."""
    return sends(read(before) or ()) != sends(read(after) or ())


def over_since(jar: Jar, now: int) -> int | None:
    """Return the newest expiry date, already past, of the user's cookies."""
    return max((each.expires for each in jar if each.given and each.expires and each.expires <= now), default=None)


def sends(jar: Jar) -> list[tuple[str, str, str, str]]:
    return [(each.name, each.value, each.domain, each.path) for each in jar]


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    return (name.strip(_BLANKS), value.strip(_BLANKS)) if equals else ("", text.strip(_BLANKS))


def _is_over(cookie: Cookie, now: int) -> bool:
    return cookie.expires is not None and cookie.expires <= now


def _put(kept: list[Cookie], cookie: Cookie, now: int) -> None:
    """Replace the cookie that this one renews, or append it; remove it if it has expired."""
    named = [(n, other) for n, other in enumerate(kept) if other.name == cookie.name]
    same = [n for n, other in named if not other.scoped or (other.domain, other.path) == (cookie.domain, cookie.path)]
    renewed = msgspec.structs.replace(cookie, given=any(kept[n].given for n in same))
    for n in reversed(same):
        del kept[n]
    if not _is_over(cookie, now):
        kept.insert(same[0] if same else len(kept), renewed)


def _bounded(kept: Sequence[Cookie], now: int) -> Iterator[Cookie]:
    """Return the cookies within the bounds: expired ones go first, then the oldest that the user did not give."""
    room, size = MOST, MOST_BYTES
    stays = {n for n, cookie in enumerate(kept) if not cookie.scoped}
    by_worth = sorted(enumerate(kept), key=lambda at: (_is_over(at[1], now), not at[1].given, -at[0]))
    for n, cookie in (at for at in by_worth if at[1].scoped):
        room, size = room - 1, size - len(cookie.name) - len(cookie.value) - len(cookie.path) - len(cookie.domain)
        if room >= 0 and size >= 0:
            stays.add(n)
    return (cookie for n, cookie in enumerate(kept) if n in stays)


def _parsed(line: str, url: Url, now: int, ahead: int) -> Cookie | None:
    """Return the cookie of a `Set-Cookie` (5.6, 5.7), else None."""
    if _CONTROL.search(line):
        return None
    pair, *rest = line.split(";")
    name, value = _pair(pair)
    if not (name or value) or len(name) + len(value) > MOST_OF_ONE:
        return None
    said = {
        key.strip(_BLANKS).lower(): text.strip(_BLANKS)
        for key, _, text in (part.partition("=") for part in rest)
        if len(text.strip(_BLANKS)) <= _MOST_ATTRIBUTE
    }
    domain, path = said.get("domain", "").removeprefix(".").lower(), said.get("path", "")
    if "secure" in said and not url.secure:
        return None
    is_parent = "." in domain and url.host.endswith(f".{domain}") and _ADDRESS.fullmatch(url.host) is None
    if domain and domain != url.host and not is_parent:
        return None
    if not _keeps_its_prefix(name or value, bare=not name, said=said, domain=domain):
        return None
    if not path.startswith("/"):
        path = url.target.partition("?")[0].rpartition("/")[0] or "/"  # 5.1.4
    return Cookie(name, value, domain, path, "secure" in said, _expiry(said, now, ahead))


def _keeps_its_prefix(name: str, *, bare: bool, said: dict[str, str], domain: str) -> bool:
    """Return whether a name with a prefix keeps its promise (4.1.3); a nameless cookie may not imitate one."""
    prefix = name.lower()
    if not prefix.startswith(("__secure-", "__host-")):
        return True
    if bare or "secure" not in said:
        return False
    return prefix.startswith("__secure-") or (not domain and said.get("path") == "/")


def _expiry(said: dict[str, str], now: int, ahead: int) -> int | None:
    """Return when a cookie ends, None with the session. Dates are by the server's clock."""
    age = said.get("max-age", "")
    if _NUMBER.fullmatch(age):
        return now + min(1000 * int(age), _LONGEST) if int(age) > 0 else 0
    moment = cookie_date(said["expires"]) if "expires" in said else None
    return None if moment is None else max(0, min(round(1000 * moment) - ahead, now + _LONGEST))


_BETWEEN: Final = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PARTS: Final = {
    "time": re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9]).*"),
    "day": re.compile(r"([0-9]{1,2})(?![0-9]).*"),
    "month": re.compile(rf"({'|'.join(_MONTHS)}).*"),
    "year": re.compile(r"([0-9]{2,4})(?![0-9]).*"),
}
"""Each takes the first token that fits it and no part before it."""


def cookie_date(text: str) -> float | None:
    """Return a cookie's date (5.1.1), in seconds of the wall clock; None if it is invalid.

    >>> cookie_date("Thu, 01-Jan-70 00:01:00 GMT"), cookie_date("1 january 1970 0:1:0"), cookie_date("soon")
    (60.0, 60.0, None)
    """
    said: dict[str, tuple[str, ...]] = {}
    for token in filter(None, _BETWEEN.split(text.lower())):
        for part, pattern in _PARTS.items():
            if part not in said and (found := pattern.fullmatch(token)):
                said[part] = found.groups()
                break
    try:
        year, month, day = int(said["year"][0]), _MONTHS.index(said["month"][0]) + 1, int(said["day"][0])
        year += 0 if year >= 100 else 1900 if year >= 70 else 2000
        hour, minute, second = map(int, said["time"])
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except (KeyError, ValueError):
        return None
    return moment.timestamp() if year >= 1601 else None
