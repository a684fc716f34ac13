"""Heads of HTTP/2 requests: what RFC 9113 calls malformed is refused with a place, and so is what HTTP/1.1 refuses."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http1 import HEAD_LIMIT, LINE_LIMIT
from api.http2_head import Fault, Fields, check_values, read_head

GET = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"x.test"), (b":path", b"/a?b")]
POST = [(b":method", b"POST"), *GET[1:]]


def without(name: bytes) -> Fields:
    return [pair for pair in GET if pair[0] != name]


def with_(name: bytes, value: bytes) -> Fields:
    return [(name, value) if pair[0] == name else pair for pair in GET]


MALFORMED: dict[str, tuple[str, Fields]] = {
    "no method": ("line", without(b":method")),
    "no scheme": ("line", without(b":scheme")),
    "no path": ("line", without(b":path")),
    "no host": ("header.Host", without(b":authority")),
    "an empty host": ("header.Host", with_(b":authority", b"")),
    "a user in the host": ("header.Host", with_(b":authority", b"u@x.test")),
    "two hosts": ("header.Host", [*without(b":authority"), (b"host", b"x.test"), (b"host", b"x.test")]),
    "another host": ("header.Host", [*GET, (b"host", b"y.test")]),
    "two methods": ("line", [(b":method", b"POST"), *GET]),
    "two paths": ("line", [*GET, (b":path", b"/b")]),
    "a late pseudo-header": ("line", [GET[0], (b"x", b"y"), *GET[1:]]),
    "a status": ("line", [*GET, (b":status", b"200")]),
    "an invented pseudo-header": ("line", [*GET, (b":x", b"y")]),
    "a small method": ("line", with_(b":method", b"get")),
    "CONNECT": ("line", [(b":method", b"CONNECT"), (b":authority", b"x.test:443")]),
    "CONNECT with a path": ("line", with_(b":method", b"CONNECT")),
    "extended CONNECT": ("line", [*with_(b":method", b"CONNECT"), (b":protocol", b"websocket")]),
    "a protocol": ("line", [*GET, (b":protocol", b"websocket")]),
    "another scheme": ("line", with_(b":scheme", b"ftp")),
    "an empty path": ("line", with_(b":path", b"")),
    "an asterisk": ("line", with_(b":path", b"*")),
    "an absolute target": ("line", with_(b":path", b"https://x.test/")),
    "a fragment": ("line", with_(b":path", b"/a#b")),
    "a space in the path": ("line", with_(b":path", b"/a HTTP/1.1")),
    "a line end in the path": ("line", with_(b":path", b"/a\r\nX: y")),
    "a NUL in the path": ("line", with_(b":path", b"/a\0")),
    "a capital in a name": ("headers", [*GET, (b"X-Api-Key", b"y")]),
    "an empty name": ("headers", [*GET, (b"", b"y")]),
    "a space in a name": ("headers", [*GET, (b"x ", b"y")]),
    "a colon in a name": ("headers", [*GET, (b"x:", b"y")]),
    "a line end in a value": ("headers", [*GET, (b"x", b"y\r\nz: 1")]),
    "a NUL in a value": ("headers", [*GET, (b"x", b"y\0")]),
    "a space before a value": ("headers", [*GET, (b"x", b" y")]),
    "a tab behind a value": ("headers", [*GET, (b"x", b"y\t")]),
    "Connection": ("headers", [*GET, (b"connection", b"close")]),
    "Keep-Alive": ("headers", [*GET, (b"keep-alive", b"5")]),
    "Proxy-Connection": ("headers", [*GET, (b"proxy-connection", b"close")]),
    "Transfer-Encoding": ("headers", [*POST, (b"transfer-encoding", b"chunked")]),
    "Upgrade": ("headers", [*GET, (b"upgrade", b"h2c")]),
    "TE": ("headers", [*GET, (b"te", b"gzip")]),
    "two lengths": ("header.Content-Length", [*POST, (b"content-length", b"1"), (b"content-length", b"1")]),
    "a signed length": ("header.Content-Length", [*POST, (b"content-length", b"+1")]),
    "a list of lengths": ("header.Content-Length", [*POST, (b"content-length", b"1, 1")]),
    "an endless length": ("header.Content-Length", [*POST, (b"content-length", b"9" * 16)]),
    "an empty length": ("header.Content-Length", [*POST, (b"content-length", b"")]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused_with_its_place(name: str) -> None:
    where, fields = MALFORMED[name]
    with pytest.raises(Fault) as caught:
        read_head(fields, ended=False)
    assert (caught.value.where, caught.value.status) == (where, 400) and caught.value.rule.endswith(".")


def test_a_head_is_read_with_its_host_first() -> None:
    head = read_head(
        [*POST, (b"content-length", b"5"), (b"te", b"trailers"), (b"expect", b"100-continue")], ended=False
    )
    assert (head.method, head.target, head.length, head.expects) == ("POST", b"/a?b", 5, True)
    assert head.headers[0] == (b"host", b"x.test") and len(head.headers) == 4
    for fields in ([*GET, (b"host", b"x.test")], [*without(b":authority"), (b"host", b"x.test")]):
        head = read_head(fields, ended=True)
        assert head.headers == [(b"host", b"x.test")] and head.length is None and not head.expects


def test_a_length_without_a_body_is_refused_unless_it_is_none() -> None:
    assert read_head([*POST, (b"content-length", b"0")], ended=True).length == 0
    with pytest.raises(Fault):
        read_head([*POST, (b"content-length", b"1")], ended=True)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (with_(b":path", b"/" + b"y" * LINE_LIMIT), 414),
        ([*GET, (b"x", b"y" * HEAD_LIMIT)], 431),
        ([*GET, *[(b"x", b"y")] * 2_000], 431),
    ],
)
def test_what_is_too_long_is_told_as_in_http_1(fields: Fields, status: int) -> None:
    with pytest.raises(Fault) as caught:
        read_head(fields, ended=True)
    assert caught.value.status == status


NAMES = st.sampled_from(
    [b":method", b":path", b":scheme", b":authority", b"host", b"content-length", b"te", b"x", b"X"]
)
VALUES = st.one_of(st.sampled_from([b"GET", b"/", b"https", b"x.test", b"0", b"trailers"]), st.binary(max_size=8))


@given(st.lists(st.tuples(NAMES, VALUES), max_size=10), st.booleans())
def test_any_fields_are_a_head_or_a_fault(fields: Sequence[tuple[bytes, bytes]], ended: bool) -> None:
    """What passes could be written as HTTP/1.1 and read back the same: nothing in it ends a line."""
    try:
        head = read_head([*GET[1:], *fields], ended=ended)
    except Fault as fault:
        assert fault.where and fault.status in (400, 414, 431)
    else:
        assert not any(end in piece for pair in head.headers for piece in pair for end in (b"\r", b"\n", b"\0"))
        assert head.target.startswith(b"/") and b" " not in head.target


def test_x5_no_header_of_an_answer_holds_a_line_end() -> None:
    check_values([(b"x", b"y"), (b"z", b"")])
    for value in (b"a\r\nb: c", b"a\0", b" a", b"a\n"):
        with pytest.raises(ValueError, match="malformed"):
            check_values([(b"x", value)])
