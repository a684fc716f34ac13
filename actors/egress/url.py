"""URLs: one parser makes the only host string that the program uses. Pure.

Address guards are bypassed when two parsers read one URL differently: one decides where the URL leads, the other goes
there. So anything but plain RFC 3986 is refused here, the result has one spelling only, and no later step parses a URL
again: the resolver, the Host header, TLS and the cookie-less origin rules all take `Url.host`.

`parse_url(parse_url(x).text) == parse_url(x)` for every x that is not refused (a property test).

`inet_aton` and its successors read `127.1`, `0x7f.1`, `017700000001` and `2130706433` as addresses, and Unicode has
dozens of ways to write digits and dots. Here an address has one spelling, and a name must pass IDNA 2008 (RFC 5891)
unmapped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import idna

from actors.errors import UrlRefused

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OTHER_DOTS = "\u3002\uff0e\uff61\u2024\ufe52\u00b7"


def read_host(text: str) -> str:
    """Return a normalized host, an IPv6 address without its brackets. Raises UrlRefused."""
    if text.startswith("["):
        return _read_ipv6(text)
    if "%" in text:
        raise UrlRefused("url-host", f"{text[:60]!r}: a host has no percent sign")
    if any(dot in text for dot in _OTHER_DOTS):
        raise UrlRefused("url-host", f"{text[:60]!r} has a dot that is not ASCII")
    name = _to_ascii(text)
    name = name.removesuffix(".")  # the root's dot: another spelling of the same name
    if not name:
        raise UrlRefused("url-host-empty", "the host is missing")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        with suppress(AddressValueError):
            if str(IPv4Address(name)) == name:
                return name
        raise UrlRefused("url-host-spelling", f"{name[:60]!r}: write an IPv4 address such as 192.0.2.1")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise UrlRefused("url-host", f"{name[:60]!r} is no host name")
    return name


def _read_ipv6(text: str) -> str:
    inner = text[1:-1]
    if "%" in inner:
        raise UrlRefused("url-zone", f"{text[:60]!r}: a zone id names an interface of this machine")
    try:
        address = IPv6Address(inner)
    except AddressValueError:
        raise UrlRefused("url-host", f"{text[:60]!r} is no IPv6 address") from None
    if mapped := address.ipv4_mapped:  # Python's own spelling of these changed with 3.13
        high, low = divmod(int(mapped), 1 << 16)
        return f"::ffff:{high:x}:{low:x}"
    return str(address)


def _to_ascii(text: str) -> str:
    name = unicodedata.normalize("NFC", text.lower()) if not text.isascii() else text.lower()
    if name.isascii() and "xn--" not in name:
        return name
    try:
        ascii_name = idna.encode(name).decode()
        if idna.encode(idna.decode(ascii_name)).decode() != ascii_name:
            raise idna.IDNAError("does not survive a round trip")
    except (idna.IDNAError, UnicodeError) as error:
        raise UrlRefused("url-host-idna", f"{text[:60]!r} is no internationalised host name: {error}") from None
    return ascii_name


LENGTH_LIMIT = 2048  # longer ones are refused: no feed needs more, and many servers and logs cut there

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

# Ports from 1024 up where a service other than the web is known to listen, which may misread a request as its own
# protocol.
NON_WEB_PORTS = frozenset(
    {1080, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3128, 3306, 3389, 3659}
    | {4045, 4190, 4369, 5060, 5061, 5432, 5671, 5672, 5900, 5901, 5902, 5903, 5985, 5986, 6000, 6379, 6443, 6566, 6665}
    | {6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 8883, 9042, 9092, 9200, 9300, 10080, 10250, 10255, 11211, 27017}
    | {27018, 27019}
)

# RFC 3986, appendix B.
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_PAGES = ("http", "https")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_PORT = re.compile(r"[0-9]{0,8}")
_FORBIDDEN = re.compile(
    r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff\ud800-\udfff]"
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_OUTSIDE_PATH = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]")
_OUTSIDE_QUERY = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True)
class Url:
    """A normalized absolute URL. host: lower-case ASCII, an IPv6 address without brackets. target: path and query,
    percent-encoded, for the request line. route: a fragment that a page's script interprets (`#/prices`, `#!prices`),
    "" for any other: it distinguishes two pages, and is never sent.
    """

    text: str
    scheme: str
    host: str
    port: int
    target: str
    route: str = ""

    @property
    def sent(self) -> str:
        """The requested URL: all but the route."""
        return self.text.removesuffix(self.route)

    @property
    def authority(self) -> str:
        """Host and, unless it is the default, port, as in a Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: the boundary for credentials and validators (RFC 6454)."""
        return f"{self.scheme}://{self.authority}"

    @property
    def secure(self) -> bool:
        return self.scheme in ("https", "wss")

    def __str__(self) -> str:
        return self.text


def parse_url(text: str, *, schemes: Sequence[str] = ("http", "https", "ws", "wss")) -> Url:
    """Return a normalized absolute URL. Raises UrlRefused, whose `rule` starts with `url-`."""
    return _parsed(text, tuple(schemes))


@lru_cache(maxsize=128)  # a check asks several times
def _parsed(text: str, schemes: tuple[str, ...]) -> Url:
    _check_characters(text)
    scheme, authority, path, query, fragment = _split(text)
    if scheme is None or authority is None:
        raise UrlRefused("url-relative", "a URL must be complete, such as https://example.com/feed")
    scheme = scheme.lower()
    routes = fragment and scheme in _PAGES and fragment[0] in "/!"
    route = f"#{_encode(fragment, _OUTSIDE_QUERY)}" if fragment and routes else ""
    return _url(scheme, authority, path, query, schemes, route=route)


def join(base: Url, reference: str) -> Url:
    """Resolve a reference found at `base` (a link, a Location header; RFC 3986, 5.2). Raises UrlRefused. More lenient
    than `parse_url`, as people write links: drops outer spaces, and encodes spaces in the path.
    """
    reference = reference.strip(" ").replace(" ", "%20")
    _check_characters(reference)
    scheme, authority, path, query, _ = _split(reference)
    if scheme is not None:
        if authority is None:
            raise UrlRefused("url-scheme", f"leads to a URL of scheme {scheme.lower()[:20]!r}, without a host")
        return _url(scheme.lower(), authority, path, query, tuple(DEFAULT_PORTS))
    if authority is not None:
        return _url(base.scheme, authority, path, query, tuple(DEFAULT_PORTS))
    base_path, _, base_query = base.target.partition("?")
    if not path:
        query = query if query is not None or "?" not in base.target else base_query
        path = base_path
    elif not path.startswith("/"):
        path = base_path[: base_path.rindex("/") + 1] + path
    return _url(base.scheme, base.authority, path, query, tuple(DEFAULT_PORTS))


def _check_characters(text: str) -> None:
    if len(text) > LENGTH_LIMIT:
        raise UrlRefused("url-length", f"a URL has at most {LENGTH_LIMIT} characters, this one has {len(text)}")
    if found := _FORBIDDEN.search(text):
        raise UrlRefused("url-character", f"U+{ord(found[0]):04X} (a space, control or invisible character) in a URL")
    if "\\" in text:
        # Browsers read it as a slash and most libraries don't: the oldest difference between parsers.
        raise UrlRefused("url-backslash", "a URL has no backslash; write %5C or a slash")


def _split(text: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    found = _PARTS.fullmatch(text)
    assert found is not None  # the expression matches every text
    scheme, authority, path, query, fragment = found.groups()
    if scheme is not None and not _SCHEME.fullmatch(scheme):
        why = f"{scheme[:20]!r} is not a scheme: write a complete URL, such as https://example.com/feed"
        raise UrlRefused("url-scheme", why)
    return scheme, authority, path, query, fragment


def _url(scheme: str, authority: str, path: str, query: str | None, schemes: Sequence[str], *, route: str = "") -> Url:
    if scheme not in schemes or scheme not in DEFAULT_PORTS:
        raise UrlRefused("url-scheme", f"scheme {scheme[:20]!r} is not one of {', '.join(schemes)}")
    if "@" in authority:
        raise UrlRefused("url-userinfo", "a URL here has no user name or password: they would end up in logs")
    if authority.startswith("["):
        bracket = authority.find("]") + 1
        if bracket == 0 or authority[bracket : bracket + 1] not in ("", ":"):
            raise UrlRefused("url-host", "write an IPv6 address in brackets, with an optional port")
        name, number = authority[:bracket], authority[bracket + 1 :]
    else:
        name, _, number = authority.partition(":")
    host, port = read_host(name), _read_port(scheme, number)
    target = _remove_dots(_encode(path, _OUTSIDE_PATH)) or "/"
    if query is not None:
        target += "?" + _encode(query, _OUTSIDE_QUERY)
    text = Url("", scheme, host, port, target).origin + target + route
    if len(text) > LENGTH_LIMIT:
        raise UrlRefused("url-length", f"a URL has at most {LENGTH_LIMIT} characters, this one has {len(text)} encoded")
    return Url(text, scheme, host, port, target, route)


def _read_port(scheme: str, text: str) -> int:
    if not _PORT.fullmatch(text):
        raise UrlRefused("url-port", f"{text[:20]!r} is no port")
    port = int(text) if text else DEFAULT_PORTS[scheme]
    if port in (80, 443) or (1024 <= port <= 65535 and port not in NON_WEB_PORTS):
        return port
    raise UrlRefused("url-port", f"port {port} is refused: only 80, 443 and from 1024 up, less well-known non-web ones")


def _encode(text: str, outside: re.Pattern[str]) -> str:
    """Normalize by RFC 3986, 6.2.2: upper-case hexadecimals, and only necessary encoding."""

    def escape(found: re.Match[str]) -> str:
        if found[1] is None:
            return "%25"
        character = chr(int(found[1], 16))
        return character if character in _UNRESERVED else found[0].upper()

    escaped = _ESCAPE.sub(escape, text)
    return outside.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), escaped)


def _remove_dots(path: str) -> str:
    """Remove dot segments (RFC 3986, 5.2.4). A `..` above the root stays at the root."""
    kept, segments = list[str](), path.removeprefix("/").split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)
