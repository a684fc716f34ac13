"""Entries that a worker has read before are not parsed again, and nothing else differs."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import feedparser
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.content import feeds
from actors.content.errors import ContentError
from actors.content.feeds import read_feed

URL = "https://shore.example/feed.xml"
PARTS = (
    "<title>High tide</title>",
    "<title type='html'>High &amp;amp; low</title>",
    "<link>/high</link>",
    "<link rel='alternate' href='high?x=1'/>",
    "<link xml:base='https://other.example/' href='low'/>",
    "<id>{n}</id>",
    "<guid isPermaLink='false'>{n}</guid>",
    "<description>Water {n} &lt;b&gt;rises&lt;/b&gt;</description>",
    "<content:encoded><![CDATA[<p>All of it {n}</item></p>]]></content:encoded>",
    "<summary>Water {n}</summary>",
    "<!-- </item> <entry> -->",
    "<pubDate>Tue, 10 Mar 2026 10:0{n}:00 +0100</pubDate>",
    "<updated>2026-03-10T10:0{n}:00Z</updated>",
    "<dc:creator>Ann</dc:creator>",
    "<author><name>Ann</name></author>",
    "<category>Sea</category>",
    "<media:group><media:title>Film</media:title><media:description>A film</media:description></media:group>",
    "<{name}><title>inside</title></{name}>",
    "<other:entry>not one</other:entry>",
)
FAULTS = ("", "", "", " & ", "<b>", "</item>", "</entry>", "<![CDATA[", "]]>", "<!--", "&nbsp;", "&unknown;", "é")
SPACES = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
MEDIA = 'xmlns:media="http://search.yahoo.com/mrss/" xmlns:other="urn:other"'
ROOTS = {
    "item": (f'<rss version="2.0" {SPACES} {MEDIA}><channel{{base}}>{{head}}{{items}}{{foot}}</channel></rss>',),
    "entry": (f'<feed xmlns="http://www.w3.org/2005/Atom" {SPACES} {MEDIA}{{base}}>{{head}}{{items}}{{foot}}</feed>',),
}
HEADS = (
    "<title>Tides</title>",
    "<title>Tides</title><lastBuildDate>Tue, 10 Mar 2026 10:00:00 GMT</lastBuildDate>",
    "<title>Tides</title><link>https://home.example/tides/</link>",
    "<title>Tides</title><link rel='alternate' href='https://home.example/'/><updated>2026-01-01T00:00:00Z</updated>",
    "",
)


@pytest.fixture(autouse=True)
def unknown() -> Iterator[None]:
    forget()
    yield
    forget()


def forget() -> None:
    feeds._KNOWN.clear()
    feeds._KNOWN.size = 0


@st.composite
def histories(draw: st.DrawFn) -> list[bytes]:
    """Return versions of one feed: entries come, go, move and change, and some break the document."""
    chance, name = random.Random(draw(st.integers(0, 1 << 32))), draw(st.sampled_from(("item", "entry")))
    (root,) = ROOTS[name]
    made = [
        "".join(
            part.replace("{n}", str(n)).replace("{name}", name) for part in chance.sample(PARTS, chance.randint(1, 6))
        )
        for n in range(chance.randint(1, 9))
    ]
    versions = []
    for _ in range(chance.randint(2, 5)):
        shown = [f"<{name}>{each}</{name}>" for each in made if chance.random() < 0.8]
        if chance.random() < 0.3:
            chance.shuffle(shown)
        if shown and chance.random() < 0.5:
            at, fault = chance.randrange(len(shown)), chance.choice(FAULTS)
            cut = chance.randrange(len(shown[at]))
            shown[at] = shown[at][:cut] + fault + shown[at][cut:]
        fields = {"head": chance.choice(HEADS), "foot": chance.choice(("", "<ttl>5</ttl>", "<link>/</link>"))}
        base = chance.choice(("", "", " xml:base='https://base.example/'"))
        versions.append(root.format(base=base, items="".join(shown), **fields).encode())
    return versions


def reading(body: bytes) -> object:
    try:
        return msgspec.to_builtins(read_feed(body, "application/xml", URL))
    except ContentError as error:
        return error.reason


@settings(max_examples=200, deadline=None)
@given(histories())
def test_a_feed_reads_the_same_whatever_is_known(versions: list[bytes]) -> None:
    forget()
    found = [reading(body) for body in versions]
    for body, known in zip(versions, found, strict=True):
        forget()
        assert reading(body) == known


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The documents that feedparser gets."""
    seen, parse = list[str](), feedparser.parse

    def kept(stream: io.BytesIO, **more: Any) -> Any:
        seen.append(stream.getvalue().decode())
        return parse(stream, **more)

    monkeypatch.setattr(feedparser, "parse", kept)
    return seen


def rss(*names: str, head: str = "<title>Tides</title>") -> bytes:
    items = "".join(f"<item><guid>{name}</guid><link>/{name}</link></item>" for name in names)
    return f"<rss version='2.0'><channel>{head}{items}</channel></rss>".encode()


def links(body: bytes, url: str = URL) -> list[str]:
    return [entry.url for entry in read_feed(body, "", url).entries]


def test_only_new_entries_are_parsed_and_all_keep_their_places(parsed: list[str]) -> None:
    read_feed(rss("a", "b", "c"), "", URL)
    now = read_feed(rss("c", "new", "a", head="<title>Tides</title><lastBuildDate>now</lastBuildDate>"), "", URL)
    assert [entry.key for entry in now.entries] == ["c", "new", "a"]
    assert (len(parsed), parsed[1].count("<item>"), "new" in parsed[1]) == (2, 1, True)


def test_another_page_of_the_feed_moves_its_relative_links(parsed: list[str]) -> None:
    assert links(rss("a")) == ["https://shore.example/a"]
    moved = rss("a", head="<title>Tides</title><link>https://home.example/</link>")
    assert links(moved) == ["https://home.example/a"]
    assert [document.count("<item>") for document in parsed] == [1, 0, 1]


def test_feeds_share_no_entries(parsed: list[str]) -> None:
    assert links(rss("a")) == ["https://shore.example/a"]
    assert links(rss("a"), "https://other.example/") == ["https://other.example/a"]
    assert [document.count("<item>") for document in parsed] == [1, 1]


def test_entries_of_two_channels_are_parsed_each_time(parsed: list[str]) -> None:
    two = rss("a").replace(
        b"</rss>", b"<channel xml:base='https://other.example/'><item><guid>b</guid></item></channel></rss>"
    )
    assert links(two) == links(two)
    assert [document.count("<item>") for document in parsed] == [2, 2]


def test_a_base_within_entries_leaks_as_it_did(parsed: list[str]) -> None:
    """feedparser keeps an inner base for later entries, so no entry of such a feed can be left out."""
    leaking = rss("a", "b").replace(b"<link>/a</link>", b"<link xml:base='https://other.example/'>/a</link>")
    assert links(leaking) == links(leaking) == ["https://other.example/a", "https://other.example/b"]
    assert [document.count("<item>") for document in parsed] == [2, 2]


def test_entries_of_a_damaged_feed_are_parsed_each_time(parsed: list[str]) -> None:
    damaged = rss("a", "b").replace(b"</guid>", b"<b></guid>", 1)
    first, second = links(damaged), links(damaged)
    assert first == second
    assert [document.count("<item>") for document in parsed] == [2, 2]


def test_known_entries_are_bounded_by_their_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "_MOST_KNOWN", 500)
    for number in range(100):
        read_feed(rss(f"a{number}"), "", URL)
        assert feeds._KNOWN.size <= 500
        assert len(feeds._KNOWN) <= 500 / 40
    assert len(feeds._KNOWN) > 0


def test_an_unclosed_section_is_searched_once() -> None:
    """Each start searched to the end of the text would take minutes."""
    assert feeds._elements("<rss><item><![CDATA[<!-- <item " * 50_000, URL) == []
