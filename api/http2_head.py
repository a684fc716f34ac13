"""The head of an HTTP/2 request, read as strictly as one of HTTP/1.1. Pure.

What RFC 9113 calls malformed (section 8.1.1) is a fault of that one request: it is answered with a problem and leaves
the other streams of its connection alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from api.http1 import HEAD_LIMIT, LINE_LIMIT

Fields = Sequence[tuple[bytes, bytes]]
_METHOD = re.compile(rb"[A-Z]{1,20}")
_PATH = re.compile(rb"/[\x21\x22\x24-\x7e]*")  # no fragment: # is 0x23
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9a-z]+")
_VALUE = re.compile(rb"(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_AUTHORITY = re.compile(rb"[\x21-\x3f\x41-\x7e]+")  # no user before an @
_HOPS = (
    b"connection",
    b"proxy-connection",
    b"keep-alive",
    b"transfer-encoding",
    b"upgrade",
    b"http2-settings",
)
_PSEUDO = (b":method", b":scheme", b":path", b":authority")


class Fault(Exception):
    """A request breaks a rule; `rule` is a sentence, `where` the place in the request."""

    def __init__(self, where: str, rule: str, status: int = 400) -> None:
        super().__init__(rule)
        self.where, self.rule, self.status = where, rule, status


class Head(NamedTuple):
    """A request's head. headers: without pseudo-headers, the host first; length: that of the body, if it was said."""

    method: str
    target: bytes
    headers: Fields
    length: int | None

    @property
    def expects(self) -> bool:
        """Whether the client waits for a sign before it sends the body (RFC 9110, section 10.1.1)."""
        return any(name == b"expect" and value.lower() == b"100-continue" for name, value in self.headers)


def read_head(fields: Fields, *, ended: bool) -> Head:
    """Return the head that decoded fields are; `ended`: no body follows. Raises Fault."""
    pseudo, regular = _parted(fields)
    method, target = pseudo.get(b":method", b""), pseudo.get(b":path", b"")
    if not _METHOD.fullmatch(method):
        raise Fault("line", "The method must be written in capital letters.")
    if len(target) > LINE_LIMIT:
        raise Fault("line", f"The target is longer than {LINE_LIMIT} bytes.", 414)
    if method == b"CONNECT" or b":protocol" in pseudo:
        raise Fault("line", "CONNECT is not served here.")
    if not _PATH.fullmatch(target):
        raise Fault("line", "The target must be a path that begins with / and has no fragment.")
    if pseudo.get(b":scheme") not in (b"https", b"http"):
        raise Fault("line", "The scheme must be https.")
    if sum(len(name) + len(value) + 4 for name, value in regular) > HEAD_LIMIT:
        raise Fault("headers", f"The headers are longer than {HEAD_LIMIT} bytes.", 431)
    for name, value in regular:
        _check_field(name, value)
    hosts = [value for name, value in regular if name == b"host"]
    rest = [(name, value) for name, value in regular if name != b"host"]
    return Head(method.decode(), target, [(b"host", _host(pseudo, hosts)), *rest], _length(regular, ended))


def check_values(headers: Fields) -> None:
    """Refuse headers of an answer that no client should see. Raises ValueError."""
    for name, value in headers:
        if not _VALUE.fullmatch(value):
            raise ValueError(f"a header of an answer is malformed: {name!r}")


def _parted(fields: Fields) -> tuple[dict[bytes, bytes], Fields]:
    """Part the pseudo-headers from the others; they come first, each once, and there are no further ones."""
    pseudo, regular = dict[bytes, bytes](), list[tuple[bytes, bytes]]()
    for name, value in fields:
        if not name.startswith(b":"):
            regular.append((bytes(name), bytes(value)))
        elif regular or name in pseudo or (name not in _PSEUDO and name != b":protocol"):
            raise Fault("line", "Pseudo-headers come first, each once, and are those of RFC 9113, section 8.3.1.")
        else:
            pseudo[bytes(name)] = bytes(value)
    return pseudo, regular


def _check_field(name: bytes, value: bytes) -> None:
    if not _NAME.fullmatch(name):
        raise Fault("headers", "A header's name is written in small letters and is a token.")
    if not _VALUE.fullmatch(value):
        raise Fault("headers", "A header's value holds no control characters, nor spaces around it.")
    if name in _HOPS or (name == b"te" and value.lower() != b"trailers"):
        raise Fault("headers", "Headers of a connection have no place in HTTP/2 (RFC 9113, section 8.2.2).")


def _host(pseudo: dict[bytes, bytes], hosts: Sequence[bytes]) -> bytes:
    said = [*hosts, *([pseudo[b":authority"]] if b":authority" in pseudo else [])]
    if len(hosts) > 1 or len(set(said)) != 1 or not _AUTHORITY.fullmatch(said[0]):
        raise Fault("header.Host", "The host is said by :authority or Host; if by both, they are the same.")
    return said[0]


def _length(regular: Fields, ended: bool) -> int | None:
    lengths = [value for name, value in regular if name == b"content-length"]
    if not lengths:
        return None
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]) or (ended and int(lengths[0])):
        rule = "Content-Length is said once, as a decimal number of at most 15 digits, and is the body's length."
        raise Fault("header.Content-Length", rule)
    return int(lengths[0])
