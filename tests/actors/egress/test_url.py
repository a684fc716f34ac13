from __future__ import annotations

import httpx
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from actors.egress.address import check_address
from actors.egress.url import Url, join, parse_url
from actors.errors import UrlRefused
from tests.actors.egress.forms import URLS


def test_x4_each_form_is_refused_by_its_rule(subtests: pytest.Subtests) -> None:
    for text, rule in URLS:
        with subtests.test(ascii(text)):
            with pytest.raises(UrlRefused) as caught:
                check_address(parse_url(text).host, ())
            assert caught.value.rule == rule
            assert caught.value.detail.isprintable()


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("HTTP://EXAMPLE.com:080/", "http://example.com/"),
        ("http://example.com#@127.0.0.1/", "http://example.com/"),
        ("http://example.com?@127.0.0.1/", "http://example.com/?@127.0.0.1/"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com:/a", "http://example.com/a"),
        ("http://localhost./", "http://localhost/"),
        ("http://example.com/a/./b/../c//d/..", "http://example.com/a/c//"),
        ("http://example.com/../../x", "http://example.com/x"),
        ("http://example.com/%2e%2E/%7euser/%c3%a4", "http://example.com/~user/%C3%A4"),
        ("http://example.com/ä?ö=ü#ß", "http://example.com/%C3%A4?%C3%B6=%C3%BC"),
        ("https://example.com/app#/prices?a=b#c d".replace(" ", "%20"), "https://example.com/app#/prices?a=b%23c%20d"),
        ("https://example.com/app#!ä", "https://example.com/app#!%C3%A4"),
        ("https://example.com/app#prices", "https://example.com/app"),
        ("https://example.com/app#", "https://example.com/app"),
        ("wss://example.com/app#/prices", "wss://example.com/app"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/?", "http://example.com/?"),
        ("http://example.com/a|b?c[d]={e}", "http://example.com/a%7Cb?c%5Bd%5D=%7Be%7D"),
        ("http://example.com/?a+b&c%2Bd", "http://example.com/?a+b&c%2Bd"),
        ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
        ("http://faß.de/", "http://xn--fa-hia.de/"),
        ("http://under_score.example/", "http://under_score.example/"),
        ("http://r3---sn-x.example/", "http://r3---sn-x.example/"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
        ("http://[::FFFF:8.8.8.8]:8080/", "http://[::ffff:808:808]:8080/"),
        ("ws://example.com/feed", "ws://example.com/feed"),
        ("WSS://example.com:443/feed", "wss://example.com/feed"),
    ],
)
def test_every_url_has_one_spelling(text: str, spelling: str) -> None:
    assert parse_url(text).text == spelling


def test_a_parsed_url_has_the_parts_sent_on_the_wire() -> None:
    url = parse_url("https://[2606:4700::1111]:8443/a?b")
    assert (url.host, url.port, url.target) == ("2606:4700::1111", 8443, "/a?b")
    assert (url.authority, url.origin, url.secure) == ("[2606:4700::1111]:8443", "https://[2606:4700::1111]:8443", True)


def test_schemes_can_be_narrowed() -> None:
    with pytest.raises(UrlRefused, match="scheme 'http' is not one of https"):
        parse_url("http://example.com/", schemes=("https",))


AUTHORITY = st.sampled_from(
    ["example.com", "EXAMPLE.com:80", "a.example:8443", "bücher.example", "[2606::1]", "1.2.3.4"]
)
TAIL = st.text(st.sampled_from("abcABC019-._~:/?#[]@!$&'()*+,;=%|äß€"), max_size=40)


@given(st.sampled_from(["http", "https", "ws", "WSS"]), AUTHORITY, TAIL)
@example("http", "a.example:8443", "/%2")
def test_parsing_the_spelling_gives_the_same_url(scheme: str, authority: str, tail: str) -> None:
    url = _parsed(f"{scheme}://{authority}/{tail}")
    assert parse_url(url.text) == url
    assert url.text.isascii()
    # httpx only looks at our URL, but must read it as we do.
    assert httpx.URL(url.text).raw_host.decode() == (f"[{url.host}]" if ":" in url.host else url.host).strip("[]")


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for candidate in (text, f"http://{text}", f"http://example.com/{text}"):
        try:
            url = parse_url(candidate)
        except UrlRefused as refused:
            assert refused.rule.startswith("url-")
        else:
            assert parse_url(url.text) == url


@given(st.text(max_size=60))
def test_any_reference_is_joined_or_refused(reference: str) -> None:
    base = parse_url("https://example.com/a/b?c")
    try:
        joined = join(base, reference)
    except UrlRefused:
        return
    assert parse_url(joined.text) == joined


def _parsed(text: str) -> Url:
    try:
        return parse_url(text)
    except UrlRefused:
        assume(False)
        raise


RFC3986 = {
    "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g/",
    "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q", "g#s": "http://a/b/c/g",
    "g?y#s": "http://a/b/c/g?y", ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g",
    "../..": "http://a/", "../../": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g", "/./g": "http://a/g",
    "/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
    "g;x=1/../y": "http://a/b/c/y", "g?y/../x": "http://a/b/c/g?y/../x", "http://g/h": "http://g/h",
}  # fmt: skip


def test_references_resolve_as_in_rfc_3986(subtests: pytest.Subtests) -> None:
    for reference, target in RFC3986.items():
        with subtests.test(reference):
            assert join(parse_url("http://a/b/c/d;p?q"), reference).text == target


def test_links_written_by_hand_are_forgiven_their_spaces_and_nothing_else() -> None:
    base = parse_url("http://a/b")
    assert join(base, "  /x y?z ").text == "http://a/x%20y?z"
    for reference in ("/x\n", "\\\\evil.example/", "http://exa mple.com/", "javascript:alert(1)", "mailto:a@b.example"):
        with pytest.raises(UrlRefused):
            join(base, reference)


def test_a_route_distinguishes_pages_and_is_neither_sent_nor_inherited() -> None:
    url = parse_url("https://a.example/app?x=1#/prices")
    assert (url.route, url.sent, url.target) == ("#/prices", "https://a.example/app?x=1", "/app?x=1")
    assert (parse_url("https://a.example/#top").route, parse_url("https://a.example/#top").sent) == (
        "",
        "https://a.example/",
    )
    assert join(url, "").text == "https://a.example/app?x=1" and join(url, "/b#/c").text == "https://a.example/b"
