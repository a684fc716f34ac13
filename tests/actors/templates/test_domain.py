from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.egress.url import parse_url
from actors.templates.template import InvalidDomain, read_domain


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("example.com", "example.com"),
        ("Example.COM", "example.com"),
        ("www.example.com.", "www.example.com"),
        ("a.b.c.d.example", "a.b.c.d.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("bu\u0308cher.example", "xn--bcher-kva.example"),
        ("日本語カナ.jp", "xn--lck2c295sncbk91h.jp"),
        ("пример.рф", "xn--e1afmkfd.xn--p1ai"),
        ("1a.2.example", "1a.2.example"),
    ],
)
def test_a_bare_domain_has_one_spelling(text: str, name: str) -> None:
    assert read_domain(text) == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("https://example.com", "leave https:// away"),
        ("HTTP://example.com/x", "leave HTTP:// away"),
        ("//example.com", "path"),
        ("example.com/", "path"),
        ("example.com/pricing", "path"),
        ("example.com?x", "path"),
        ("example.com#x", "path"),
        ("example.com\\x", "path"),
        ("example.com:443", "port"),
        ("example.com:", "port"),
        ("me@example.com", "user name"),
        ("me:secret@example.com", "user name"),
        ("*.example.com", "wildcard"),
        ("192.0.2.1", "IP address"),
        ("192.0.2.1.", "IP address"),
        ("[2001:db8::1]", "IP address"),
        ("2001:db8::1", "IP address"),
        ("2130706433", "IP address"),
        ("0x7f.1", "IP address"),
        ("017700000001", "IP address"),
        ("127.1", "IP address"),
        ("localhost", "single label"),
        ("com.", "single label"),
        ("example .com", "space"),
        ("example.com\n", "space"),
        ("exam\u200bple.com", "invisible"),
        ("example.com\x00", "invisible"),
        ("ex%61mple.com", "percent"),
        ("example。com", "dot"),
        ("example..com", "no host name"),
        (".example.com", "no host name"),
        ("-example.com", "no host name"),
        ("a" * 64 + ".com", "no host name"),
        ("a." * 127 + "com", "no host name"),
        ("１２７.0.0.1", "internationalised"),
        ("xn--a.example", "internationalised"),
        ("pаypal.com", "different scripts"),
        ("xn--pypal-4ve.com", "different scripts"),
    ],
)
def test_a_value_that_is_no_bare_domain_is_refused_with_a_hint(text: str, says: str) -> None:
    with pytest.raises(InvalidDomain, match=says):
        read_domain(text)


TEXTS = st.text(max_size=40) | st.text("ab.-:/@*[]0189éß\u200b", max_size=20)


@given(TEXTS | st.from_regex(r"[a-z0-9.-]{1,30}\.[a-z]{1,5}"))
def test_an_accepted_domain_is_the_host_of_a_url_unchanged(text: str) -> None:
    try:
        name = read_domain(text)
    except InvalidDomain:
        return
    assert read_domain(name) == name
    assert parse_url(f"https://{name}/pricing").host == name
