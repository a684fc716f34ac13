"""Cookies of one origin: accepted, sent back, or never sent (RFC 6265bis)."""

from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from actors.egress import cookies
from actors.egress.cookies import MOST, MOST_BYTES, SetCookies
from actors.egress.url import parse_url

NOW = 1_700_000_000_000
DAY = 86_400_000
URL = parse_url("https://www.shop.example/account/prices?page=2")
GIVEN = cookies.parse_cookies("session=old; theme=dark")


def after(*lines: str, jar: cookies.Jar = GIVEN, url: str = URL.text, ahead: int = 0) -> cookies.Jar:
    return cookies.taken(jar, parse_url(url), SetCookies(lines, ahead), NOW)


def sent(jar: cookies.Jar, url: str = URL.text, now: int = NOW) -> str:
    return cookies.header(jar, parse_url(url), now)


def test_a_renewed_cookie_replaces_the_given_one_with_any_scope() -> None:
    assert sent(GIVEN) == "session=old; theme=dark"
    for scope in ("", "; Domain=shop.example", "; Path=/account", "; Domain=.www.shop.example; Secure; HttpOnly"):
        assert sorted(sent(after(f"session=new{scope}")).split("; ")) == ["session=new", "theme=dark"]
    assert sent(after("session=1; Path=/", "session=2; Path=/")) == "session=2; theme=dark"


@pytest.mark.parametrize("end", ["Max-Age=0", "Max-Age=-5", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_cookie_that_the_server_deletes_is_not_sent(end: str) -> None:
    jar = after(f"session=; {end}")
    assert sent(jar) == "theme=dark"
    assert cookies.read(cookies.written(jar)) == jar
    assert sent(cookies.taken((), URL, SetCookies((f"session=; {end}",)), NOW)) == ""


def test_a_cookie_ends_by_its_age_before_its_date_and_by_the_clock_of_its_server() -> None:
    aged = after("a=1; Max-Age=60; Expires=Wed, 01 Jan 2031 00:00:00 GMT", jar=())
    assert (sent(aged), sent(aged, now=NOW + 59_999), sent(aged, now=NOW + 60_000)) == ("a=1", "a=1", "")
    dated = after("a=1; Expires=Tue, 14 Nov 2023 23:13:20 GMT", jar=(), ahead=3_600_000)
    assert sent(dated, now=NOW + 1) == "", "by its own clock it ends now, an hour ahead of ours"
    ageless = after("a=1; Max-Age=99999999999; Path=/", jar=())
    assert ageless[0].expires == NOW + 400 * DAY
    assert after("a=1; Max-Age=soon; Expires=never", jar=())[0].expires is None


def test_a_cookie_goes_to_its_path_and_longer_paths_go_first() -> None:
    jar = after("root=1; Path=/", "own=2", "deep=3; Path=/account/prices", "odd=4; Path=account", jar=())
    assert sent(jar) == "deep=3; own=2; odd=4; root=1"
    assert sent(jar, "https://www.shop.example/accounts") == "root=1"
    assert sent(jar, "https://www.shop.example/account/") == "own=2; odd=4; root=1"


@pytest.mark.parametrize(
    "line",
    [
        "a=1; Domain=example",
        "a=1; Domain=other.example",
        "a=1; Domain=op.example",
        "a=1; Domain=deep.www.shop.example",
        "__Secure-a=1",
        "__Host-a=1; Secure",
        "__Host-a=1; Secure; Path=/; Domain=www.shop.example",
        "__hOsT-a=1; Path=/",
        "=__Secure-a; Secure",
        "=",
        "",
        "; Path=/",
        "a=1\x00; Path=/",
        "a=1\r\nX: y",
        f"a={'x' * 4096}",
    ],
)
def test_a_cookie_that_a_host_may_not_set_is_left_out(line: str) -> None:
    assert after(line) == GIVEN


def test_a_cookie_that_satisfies_its_prefix_is_accepted() -> None:
    lines = (
        "__Secure-a=1; Secure; Path=/",
        "__Host-b=2; secure; path=/",
        "c=3; Domain=shop.example; Path=/",
        "d; Path=/",
    )
    assert sent(after(*lines, jar=())) == "__Secure-a=1; __Host-b=2; c=3; d"


def test_over_http_nothing_that_is_secure_is_set_or_sent() -> None:
    plain = "http://www.shop.example/account/prices"
    assert after("a=1; Secure", url=plain) == GIVEN
    jar = after("a=1; Secure; Path=/", jar=())
    assert (sent(jar), sent(jar, plain)) == ("a=1", "")


def test_an_address_sets_for_itself_alone() -> None:
    url = "https://93.184.216.34/"
    assert after("a=1; Domain=184.216.34", url=url) == GIVEN
    assert sent(after("a=1; Domain=93.184.216.34", url=url, jar=()), url) == "a=1"


def test_a_jar_has_a_bound_and_drops_the_users_cookies_last() -> None:
    many = after(*(f"c{n}={n}; Path=/" for n in range(45)), "session=new; Path=/")
    many = cookies.taken(many, URL, SetCookies(tuple(f"d{n}={n}; Path=/" for n in range(45))), NOW)
    names = {cookie.name for cookie in many}
    assert {"session", "theme", "d44", "c44"} <= names and "c0" not in names
    assert len([cookie for cookie in many if cookie.scoped]) == MOST
    large = after(*(f"c{n}={'x' * 4000}; Path=/" for n in range(9)), jar=())
    assert sum(len(cookie.value) for cookie in large) <= MOST_BYTES and large[-1].name == "c8"


def test_a_date_alone_is_no_renewal() -> None:
    one, other, third = (cookies.written(after(f"session=new; Max-Age={age}")) for age in (60, 90, 90))
    assert one != other == third and not cookies.is_renewed(one, other)
    assert cookies.is_renewed(one, cookies.written(after("session=newer"))) and cookies.is_renewed("", one)


def test_a_jar_records_when_the_users_cookie_ended() -> None:
    jar = after("session=new; Max-Age=60", "other=1; Max-Age=90")
    assert cookies.over_since(jar, NOW) is None
    assert cookies.over_since(jar, NOW + DAY) == NOW + 60_000, "nobody signed in with the other one"


def test_an_unreadable_jar_is_no_jar() -> None:
    assert cookies.read("") is None and cookies.read("[[1]]") is None and cookies.read("[]") == ()
    assert "new" not in repr(after("session=new"))


def test_the_newer_of_two_possible_jars_is_sent_until_one_is_confirmed() -> None:
    old, new = cookies.written(GIVEN), cookies.written(after("session=new"))
    kept = cookies.written(after("session=new"), GIVEN)
    assert (cookies.read(kept), cookies.doubted(kept)) == (cookies.read(new), GIVEN)
    assert (cookies.settled(kept), cookies.settled(cookies.turned(kept))) == (new, old)
    assert cookies.turned(cookies.turned(kept)) == kept
    assert (cookies.doubted(old), cookies.settled(old), cookies.turned(old), cookies.turned("")) == (None, old, old, "")
    assert not cookies.is_renewed(kept, new) and cookies.is_renewed(kept, old)


def test_cookies_are_read_line_by_line_within_a_bound() -> None:
    raw = [(b"Set-Cookie", b"a=1, 2"), (b"x", b"y"), (b"set-cookie", b"b=\xe9")] + [(b"set-cookie", b"c=1")] * 99
    said = cookies.set_by(raw, 100.0, 90.0)
    assert (said.lines[:2], said.ahead, len(said.lines)) == (("a=1, 2", "b=\xe9"), 10_000, MOST)
    assert cookies.set_by([(b"x", b"y")], 1.0, 2.0) == cookies.NOTHING_SET


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Wed, 09 Jun 2021 10:18:14 GMT", 1623233894),
        ("Wednesday, 09-Jun-21 10:18:14 GMT", 1623233894),
        ("Wed Jun  9 10:18:14 2021", 1623233894),
        ("9 jun 2021 10:18:14", 1623233894),
        ("Wed, 31 Feb 2021 10:18:14 GMT", None),
        ("Wed, 09 Jun 1500 10:18:14 GMT", None),
        ("Wed, 09 Jun 2021 25:18:14 GMT", None),
        ("Wed, 09 Jun 2021", None),
        ("", None),
    ],
)
def test_dates_are_read_as_browsers_read_them(text: str, seconds: int | None) -> None:
    assert cookies.cookie_date(text) == seconds


@drawn(st.lists(st.text(max_size=60), max_size=8), st.text(max_size=40))
def test_a_jar_of_any_cookies_can_be_stored_and_sent(lines: list[str], given: str) -> None:
    latin = tuple(line.encode("latin-1", "ignore").decode("latin-1") for line in lines)
    plain = "".join(sign for sign in given if " " <= sign <= "~")
    jar = cookies.taken(cookies.parse_cookies(plain), URL, SetCookies(latin), NOW)
    assert cookies.read(cookies.written(jar)) == jar
    line = cookies.header(jar, URL, NOW).encode("latin-1")
    assert b"\n" not in line and b"\r" not in line and b"\x00" not in line
