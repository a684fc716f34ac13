"""Feeds: identity, edits, dates, links, hints, and hostile feeds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from actors.content.errors import ContentError
from actors.content.feeds import MOST_ENTRIES, read_feed
from actors.content.messages import FeedHints
from storage.records.identity import rfc3339

URL = "https://shore.example/feed.xml"


def rss(*items: str, channel: str = "") -> bytes:
    inner = "".join(f"<item>{item}</item>" for item in items)
    return f'<rss version="2.0"><channel><title>Tides</title>{channel}{inner}</channel></rss>'.encode()


def entries(*items: str) -> Any:
    return read_feed(rss(*items), "", URL).entries


def test_an_entry_has_the_fields_of_the_feed() -> None:
    (entry,) = entries(
        "<guid>a1</guid><title>High &amp; low</title><link>/high</link><author>ann@shore.org (Ann)</author>"
        "<pubDate>Tue, 10 Mar 2026 10:00:00 +0100</pubDate><category>Sea</category>"
        "<enclosure url='/a.mp3' type='audio/mpeg' length='1'/>"
        "<description>&lt;p&gt;One&lt;br&gt;two&lt;/p&gt;</description>"
    )
    assert (entry.key, entry.title, entry.url) == ("a1", "High & low", "https://shore.example/high")
    assert entry.content == "One\ntwo"
    assert entry.author == "Ann"
    assert rfc3339(entry.published_at) == "2026-03-10T09:00:00.000Z"
    assert entry.tags == ("category:sea", "enclosure:audio/mpeg")
    assert entry.content_hash.startswith("sha256:")
    assert not entry.content_truncated


def test_identity_is_guid_else_link_else_a_hash_of_title_and_content() -> None:
    by_guid, by_link, by_hash = entries("<guid>g</guid><link>/g</link>", "<link>/l</link>", "<title>only this</title>")
    assert (by_guid.key, by_link.key) == ("g", "https://shore.example/l")
    assert len(by_hash.key) == 16


def test_a_guid_that_repeats_in_the_document_is_joined_by_the_link() -> None:
    same = [f"<guid>same</guid><link>/{n}</link><title>{n}</title>" for n in range(3)]
    assert len({entry.key for entry in entries(*same)}) == 3
    linkless = [f"<guid isPermaLink='false'>same</guid><title>{n}</title>" for n in range(3)]
    assert len({entry.key for entry in entries(*linkless)}) == 3


def test_an_edit_is_material_when_words_change_and_not_when_only_dates_space_or_tracking_do() -> None:
    base = "<guid>1</guid><title>Price is $9</title><link>/a?utm_source=x</link><description>A long text</description>"
    (before,) = entries(base)
    (redated,) = entries(base + "<pubDate>Tue, 10 Mar 2026 10:00:00 GMT</pubDate>")
    (spaced,) = entries(base.replace("A long text", " A  long\n text ").replace("utm_source=x", "utm_source=y"))
    (edited,) = entries(base.replace("$9", "$8"))
    assert before.fingerprint == redated.fingerprint == spaced.fingerprint != edited.fingerprint
    assert len(before.fingerprint) == 16


def test_the_updated_date_stands_in_and_nonsense_is_no_date() -> None:
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>1</id><title>a</title>
    <updated>2026-03-10T10:00:00Z</updated></entry><entry><id>2</id><title>b</title><updated>soon</updated></entry></feed>"""
    reading = read_feed(atom.encode(), "", URL)
    assert reading.format == "atom"
    assert [entry.published_at is None for entry in reading.entries] == [False, True]


def test_dates_with_month_names_of_other_languages_are_read() -> None:
    (entry,) = entries("<guid>1</guid><pubDate>mer, 16 nov 2022 00:38:15 +0100</pubDate>")
    assert rfc3339(entry.published_at) == "2022-11-15T23:38:15.000Z"


def test_links_that_are_no_web_addresses_are_left_out() -> None:
    for link in ("javascript:alert(1)", "mailto:a@b.example", "http://[", "data:text/html,x"):
        assert entries(f"<guid>1</guid><link>{link}</link>")[0].url == ""


def test_leading_space_marks_and_junk_do_not_matter() -> None:
    for junk in (b"\n\n  ", b"\xef\xbb\xbf", b"Notice: undefined index\n"):
        assert len(read_feed(junk + rss("<title>a</title>"), "application/json", URL).entries) == 1


def test_an_ill_formed_feed_is_read_and_marked() -> None:
    reading = read_feed(rss("<title>Fish & chips</title>").replace(b"</channel></rss>", b""), "", URL)
    assert reading.damaged
    assert reading.entries[0].title == "Fish & chips"


def test_hints_are_read() -> None:
    channel = (
        "<ttl>30</ttl><skipHours><hour>0</hour><hour>23</hour></skipHours><skipDays><day>Sunday</day></skipDays>"
        "<sy:updatePeriod xmlns:sy='x'>daily</sy:updatePeriod>".replace(" xmlns:sy='x'", "")
        + "<sy:updateFrequency>2</sy:updateFrequency>"
    )
    assert read_feed(rss(channel=channel), "", URL).hints == FeedHints(1800, (0, 23), (6,), 43_200)


def test_json_feed_entries() -> None:
    body = b"""{"version": "https://jsonfeed.org/version/1", "title": "T", "home_page_url": "/", "items": [
    {"id": 7, "url": "/seven", "title": "Seven", "content_html": "<p>x</p>", "date_published": "2026-03-10T10:00:00Z",
     "tags": ["Sea", 3], "author": {"name": "Ann"}, "attachments": [{"mime_type": "audio/mpeg"}]}, "nonsense"]}"""
    (entry,) = read_feed(body, "", URL).entries
    assert (entry.key, entry.url, entry.content, entry.author) == ("7", "https://shore.example/seven", "x", "Ann")
    assert entry.tags == ("category:sea", "enclosure:audio/mpeg")


def test_the_number_of_entries_is_capped() -> None:
    many = rss(*["<title>a</title>"] * (MOST_ENTRIES + 5))
    assert len(read_feed(many, "", URL).entries) == MOST_ENTRIES


def laughs() -> bytes:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE r [<!ENTITY l0 "lol">{entities}]>'.encode() + rss("<title>&l9;</title>")


def secrets_of(path: str) -> bytes:
    return f'<!DOCTYPE r [<!ENTITY x SYSTEM "{path}">]>'.encode() + rss("<title>a&x;b</title>")


def test_x6_no_parser_opens_a_file_or_a_socket_and_bombs_stay_small(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    opened: list[str] = []
    watching = [True]

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching[0] and event in ("open", "socket.connect", "socket.getaddrinfo"):
            opened.append(f"{event} {args[:1]}")

    bodies = [laughs(), secrets_of(f"file://{secret}"), secrets_of("http://127.0.0.1:1/x"), str(secret).encode()]
    read_feed(rss("<title>warm</title>"), "", URL)
    sys.addaudithook(watch)
    try:
        texts = [str(reading(body)) for body in bodies]
    finally:
        watching[0] = False
    assert opened == []
    assert all(len(text) < 100_000 and "the secret" not in text for text in texts)


def reading(body: bytes) -> object:
    try:
        return read_feed(body, "", URL)
    except ContentError as error:
        return error.reason


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"<html><body>no</body></html>", "No feed"),
        (b'{"a": ' * 100_000, "nested too deeply"),
        (b'{"version": "jsonfeed", "items": [' + b"1" * 100_000 + b"]}", "too long"),
        (b'{"items": [', "invalid"),
        (b'{"items": []}', "not a JSON Feed"),
    ],
)
def test_x23_a_document_that_is_no_feed_is_a_content_error_in_words(body: bytes, words: str) -> None:
    with pytest.raises(ContentError, match=words):
        read_feed(body, "", URL)


def test_lone_surrogates_do_not_pass() -> None:
    item = b'{"id": "\\udfff", "url": "/\\ud800", "title": "\\ud800"}'
    body = b'{"version": "jsonfeed", "title": "\\ud800", "items": [' + item + b"]}"
    feed = read_feed(body, "", URL)
    (entry,) = feed.entries
    texts = entry.key + entry.url + entry.title + feed.title
    assert texts.encode().decode() == texts


def test_a_long_feed_with_the_oldest_first_keeps_its_newest_entries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("actors.content.feeds.MOST_ENTRIES", 20)

    def item(number: int) -> str:
        at = f"2026-03-{1 + number // 1440:02}T{number // 60 % 24:02}:{number % 60:02}:00Z"
        return f"<title>{number}</title><pubDate>{at}</pubDate>"

    count = 25
    assert entries(*map(item, range(count)))[-1].title == str(count - 1)
    assert entries(*map(item, reversed(range(count))))[0].title == str(count - 1)


def test_xml_base_and_relative_links_are_resolved() -> None:
    atom = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://other.example/a/"><title>T</title>
    <entry xml:base="b/"><id>1</id><title>x</title><link href="c"/></entry>
    <entry xml:base="/d/"><id>2</id><title>y</title><link href="e"/></entry></feed>"""
    found = read_feed(atom.encode(), "", URL).entries
    assert [entry.url for entry in found] == ["https://other.example/a/b/c", "https://other.example/d/e"]


def test_mark_up_in_titles_is_removed_and_look_alikes_stay() -> None:
    titles = [
        ("&lt;b&gt;Bold&lt;/b&gt; &amp;amp; new", "Bold & new"),
        ("<![CDATA[<i>Slanted</i>]]>", "Slanted"),
        ("1 &lt; 2", "1 < 2"),
        ("&lt;script&gt;alert(1)&lt;/script&gt;Safe", "Safe"),
    ]
    found = entries(*(f"<guid>{n}</guid><title>{raw}</title>" for n, (raw, _) in enumerate(titles)))
    assert [entry.title for entry in found] == [text for _, text in titles]


ANGLE_WORDS = [
    ("A guide to &lt;head&gt; elements", "A guide to <head> elements"),
    ("std::vector&lt;bool&gt; considered", "std::vector<bool> considered"),
    ("The &lt;details&gt; element", "The <details> element"),
    ("<![CDATA[Using <canvas> today]]>", "Using <canvas> today"),
    ("<![CDATA[Map<String,Integer> or List<T>?]]>", "Map<String,Integer> or List<T>?"),
    ("<![CDATA[From Ann <ann@shore.example> to all]]>", "From Ann <ann@shore.example> to all"),
    ("<![CDATA[x<y and z>w]]>", "x<y and z>w"),
    ("<![CDATA[See <https://a.example/b>]]>", "See <https://a.example/b>"),
    ("<![CDATA[H<sub>2</sub>O<br>and <em>more</em>]]>", "H2O and more"),
    ("<![CDATA[<h1 class='x'>Big</h1>]]>", "Big"),
    ("<![CDATA[A <code>map</code> of <b>it]]>", "A map of it"),
    ("AT&T & R&D", "AT&T & R&D"),
    ("A&amp;amp;B &amp; C", "A&B & C"),
]


def test_words_in_angle_brackets_and_raw_ampersands_stay_in_titles(subtests: pytest.Subtests) -> None:
    for raw, title in ANGLE_WORDS:
        with subtests.test(raw):
            assert entries(f"<guid>1</guid><title>{raw}</title>")[0].title == title


def test_nothing_is_dropped_after_a_word_in_angle_brackets_of_a_description() -> None:
    raw = "<![CDATA[<p>Using <canvas> and a List<Gull> today<iframe src='/x'/>, x & y]]>"
    assert entries(f"<guid>1</guid><description>{raw}</description>")[0].content == (
        "Using <canvas> and a List<Gull> today, x & y"
    )


def test_text_that_is_declared_plain_has_no_mark_up() -> None:
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>1</id>
    <title type="text">The &lt;b&gt;b&lt;/b&gt; element</title><content>Use &lt;main&gt;, not &lt;div&gt;.</content>
    </entry><entry><id>2</id><title type="html">A &lt;b&gt;b&lt;/b&gt;</title></entry></feed>"""
    one, two = read_feed(atom.encode(), "", URL).entries
    assert (one.title, one.content) == ("The <b>b</b> element", "Use <main>, not <div>.")
    assert two.title == "A b"
    json = (
        b'{"version": "https://jsonfeed.org/version/1", "title": "T", "items": [{"id": "1", "title": "<i>x</i> tags"}]}'
    )
    assert read_feed(json, "", URL).entries[0].title == "<i>x</i> tags"


CAPTION = "<media:description>Photo: a caption that is longer than the text, with agency and year</media:description>"
IN_MEDIA = f"<media:content url='/1.jpg'>{CAPTION}</media:content>"
OWN = "<description>Prices rise.</description>"
LONG = "Long notes that are longer than anything else here, word for word."
ROLES = [
    (OWN + IN_MEDIA, "Prices rise."),
    (IN_MEDIA + OWN, "Prices rise."),
    (CAPTION + OWN, "Prices rise."),
    (OWN + f"<itunes:summary>{LONG}</itunes:summary>", "Prices rise."),
    (f"<itunes:summary>{LONG}</itunes:summary>" + OWN, "Prices rise."),
    (f"<description>{LONG}</description><content:encoded>The text.</content:encoded>", "The text."),
    (f"<content:encoded>The text.</content:encoded><description>{LONG}</description>", "The text."),
    (CAPTION + f"<itunes:summary>{LONG}</itunes:summary>", LONG),
    (f"<description></description><dc:description>{LONG}</dc:description>{IN_MEDIA}", LONG),
    (f"<media:group><media:title>x</media:title>{IN_MEDIA}</media:group>", CAPTION[19:-20]),
]
SPACES = (
    b"<rss xmlns:media='http://search.yahoo.com/mrss/' xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd' "
    b"xmlns:content='http://purl.org/rss/1.0/modules/content/' xmlns:dc='http://purl.org/dc/elements/1.1/' "
)


def test_the_text_of_an_entry_is_chosen_by_its_role_and_not_by_its_length(subtests: pytest.Subtests) -> None:
    for item, content in ROLES:
        for ending in ("", "&nope;"):  # only feedparser's lenient parser reads it
            with subtests.test(item + ending):
                body = rss(f"<guid>1</guid>{item}<comments>{ending}</comments>").replace(b"<rss ", SPACES)
                assert read_feed(body, "", URL).entries[0].content == content


LINKS = [
    ("<enclosure url='http://p.example/1.mp3' type='audio/mpeg'/>", "http://p.example/1.mp3"),
    ("<guid>http://p.example/1</guid><enclosure url='/1.mp3'/>", "http://p.example/1"),
    ("<link>/news/2</link>", "http://site.example/news/2"),
    ("<link>news/2</link>", "http://site.example/blog/news/2"),
    ("<link>www.e.example/1</link>", "http://www.e.example/1"),
    ("<link>http://n.example/1?a=1&copy=3&amp;reg=4</link>", "http://n.example/1?a=1&copy=3&reg=4"),
    ("<link>http://n.example/a b/ö?q=%C3%A4#ü</link>", "http://n.example/a%20b/%C3%B6?q=%C3%A4#%C3%BC"),
    (
        "<atom:link href='/1.json' type='application/json'/><atom:link href='/1' type='text/html'/>",
        "http://site.example/1",
    ),
    (
        "<guid>http://a.example/1</guid><atom:link href='http://a.example/1' type='text/html'/>"
        "<atom:link href='http://a.example/1.txt' type='text/plain'/>",
        "http://a.example/1",
    ),
]


def test_an_entry_s_link_leads_to_its_page(subtests: pytest.Subtests) -> None:
    for item, url in LINKS:
        with subtests.test(item):
            body = rss(f"<title>x</title>{item}", channel="<link>http://site.example/blog/</link>")
            body = body.replace(b"<rss ", b"<rss xmlns:atom='http://www.w3.org/2005/Atom' ")
            assert read_feed(body, "", URL).entries[0].url == url


def test_a_relative_link_of_atom_is_seen_from_its_document() -> None:
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><link href="http://site.example/blog/"/>
    <entry><id>1</id><title>x</title><link href="/n/1"/></entry>
    <entry><id>2</id><title>y</title><content src="/n/2" type="text/html"/></entry></feed>"""
    found = read_feed(atom.encode(), "", URL).entries
    assert [entry.url for entry in found] == ["https://shore.example/n/1", "https://shore.example/n/2"]


def test_tags_are_bounded_in_number_and_length_and_hold_no_mark_up() -> None:
    many = "".join(f"<category>c{n}</category>" for n in range(100)) + f"<category>{'x' * 500}</category>"
    (entry,) = entries(f"<guid>1</guid><category>&lt;b&gt;: a\nb</category>{many}")
    assert len(entry.tags) == 20
    assert all(tag.startswith("category:") and len(tag) <= 110 and "<" not in tag for tag in entry.tags)


def test_hub_and_page_links_in_a_feeds_head_are_read() -> None:
    links = "<atom:link rel='hub' href='https://hub.example/'/><atom:link rel='next' href='?p=2'/>"
    body = rss("<guid>1</guid>", channel=links).replace(b"<rss ", b"<rss xmlns:atom='http://www.w3.org/2005/Atom' ")
    reading = read_feed(body, "", URL)
    assert reading.hubs == ("https://hub.example/",)
    assert reading.paging == (("next", "https://shore.example/feed.xml?p=2"),)
    json = b"""{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [], "next_url": "/2",
    "hubs": [{"type": "WebSub", "url": "https://hub.example/"}, 7]}"""
    reading = read_feed(json, "", URL)
    assert (reading.hubs, reading.paging) == (("https://hub.example/",), (("next", "https://shore.example/2"),))


def test_entries_without_guid_that_share_a_link_are_distinguished_by_their_titles() -> None:
    one, two = entries("<link>/log</link><title>a</title>", "<link>/log</link><title>b</title>")
    assert one.key != two.key
    assert (one.identity, one.aliases[0]) == ("link and hash", "https://shore.example/log")


def test_an_entry_that_is_listed_twice_keeps_its_name() -> None:
    item = "<guid isPermaLink='false'>g</guid><title>a</title>"
    assert [entry.key for entry in entries(item, item)] == ["g", "g"]
