"""The normalized host of a URL: an IPv4 or IPv6 address, or a name in ASCII. Pure.

`inet_aton` and its successors read `127.1`, `0x7f.1`, `017700000001` and `2130706433` as addresses, and Unicode has
dozens of ways to write digits and dots. Here an address has one spelling, and a name must pass IDNA 2008 (RFC 5891)
unmapped.
"""

from __future__ import annotations

import re
import unicodedata
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
        raise UrlRefused("url-host", f"{text[:60]!r}: no percent sign belongs in a host")
    if any(dot in text for dot in _OTHER_DOTS):
        raise UrlRefused("url-host", f"{text[:60]!r} has a dot that is not the ASCII one")
    name = _to_ascii(text)
    name = name.removesuffix(".")  # the root's dot: another spelling of the same name
    if not name:
        raise UrlRefused("url-host-empty", "the host is missing")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _read_ipv4(name)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise UrlRefused("url-host", f"{name[:60]!r} is no host name")
    return name


def _read_ipv4(text: str) -> str:
    """Read a host that ends in a number as an address (as browsers do), in dotted decimal only."""
    try:
        address = str(IPv4Address(text))
    except AddressValueError:
        address = ""
    if address != text:
        raise UrlRefused("url-host-spelling", f"{text[:60]!r}: an IPv4 address is written as in 192.0.2.1")
    return text


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
