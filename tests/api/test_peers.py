"""X24: forwarded addresses count only from a trusted proxy."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import Headers

from api.peers import caller, forwarded_for

LAN = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
XFF, RFC = "X-Forwarded-For", "Forwarded"


@pytest.mark.parametrize(
    ("peer", "headers", "found"),
    [
        ("203.0.113.9", [(XFF, "1.1.1.1")], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [(XFF, "1.1.1.1")], "1.1.1.1"),
        ("::ffff:10.0.0.1", [(XFF, "1.1.1.1")], "1.1.1.1"),
        ("10.0.0.1", [(XFF, "9.9.9.9, 1.1.1.1")], "1.1.1.1"),
        ("10.0.0.1", [(XFF, "9.9.9.9, 1.1.1.1, 10.0.0.7")], "1.1.1.1"),
        ("10.0.0.1", [(XFF, "10.0.0.9, 10.0.0.7")], "10.0.0.9"),
        ("10.0.0.1", [(XFF, "9.9.9.9"), (XFF, "1.1.1.1")], "1.1.1.1"),
        ("10.0.0.1", [(XFF, "1.1.1.1:4711")], "1.1.1.1"),
        ("fd00::1", [(XFF, "[2001:db8::5]:80")], "2001:db8::5"),
        ("10.0.0.1", [(XFF, "2001:DB8::5")], "2001:db8::5"),
        ("10.0.0.1", [(XFF, "nonsense")], "10.0.0.1"),
        ("10.0.0.1", [(XFF, "1.1.1.1, nonsense, 10.0.0.7")], "10.0.0.7"),
        ("10.0.0.1", [(XFF, "")], "10.0.0.1"),
        ("10.0.0.1", [(RFC, "for=1.1.1.1;proto=https")], "1.1.1.1"),
        ("10.0.0.1", [(RFC, 'for=9.9.9.9, for="[2001:db8::5]:80";by=10.0.0.1')], "2001:db8::5"),
        ("10.0.0.1", [(RFC, "for=1.1.1.1, for=_hidden")], "10.0.0.1"),
        ("10.0.0.1", [(RFC, "for=unknown")], "10.0.0.1"),
        ("10.0.0.1", [(RFC, "for=1.1.1.1"), (XFF, "1.1.1.1")], "1.1.1.1"),
        ("10.0.0.1", [(RFC, "for=9.9.9.9"), (XFF, "1.1.1.1")], "10.0.0.1"),
        ("unix", [(XFF, "1.1.1.1")], "unix"),
    ],
)
def test_x24_the_caller_is_the_rightmost_hop_that_is_not_trusted(
    peer: str, headers: list[tuple[str, str]], found: str
) -> None:
    assert caller(peer, Headers(headers), LAN) == found


def test_x24_without_trusted_proxies_nothing_is_read() -> None:
    assert caller("10.0.0.1", Headers([(XFF, "1.1.1.1")]), ()) == "10.0.0.1"


@given(st.text(), st.text())
def test_client_entries_left_of_the_proxy_change_nothing(left: str, more: str) -> None:
    """A proxy appends the address it saw to the right of the header that it received."""
    clean = "".join(character for character in left + "," + more if character.isprintable())
    assert caller("10.0.0.1", Headers([(XFF, f"{clean}, 1.1.1.1")]), LAN) == "1.1.1.1"


@pytest.mark.parametrize("left", ['for=1.1.1.1;by="', 'for=1.1.1.1;by="\\"', 'for="1.1.1.1'])
@pytest.mark.parametrize("hop", ["for=9.9.9.9", 'for="[2001:db8::5]:80";by=10.0.0.1'])
def test_x24_an_open_quote_does_not_hide_the_hop_that_the_proxy_appends(left: str, hop: str) -> None:
    assert caller("10.0.0.1", Headers([(RFC, f"{left}, {hop}")]), LAN) == "10.0.0.1"


@given(st.text())
def test_any_forwarded_header_is_read_to_its_end(line: str) -> None:
    assert isinstance(list(forwarded_for(line)), list)
