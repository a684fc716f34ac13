"""The format of a body, from the body alone."""

from __future__ import annotations

import codecs
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies.encoding import MOST_UNPACKED, unpacked
from actors.content.detection import detect
from actors.content.feeds import read_feed
from tests.actors.content.written_pages import PROSE, html
from tests.support.pages import read_page

URL = "https://shore.example/blog/"
RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:dc="x"><channel><title>Tides</title><item><title>High</title>
<link>/high</link></item></channel></rss>"""


def test_a_feed_served_as_html_is_a_feed_and_the_evidence_says_both() -> None:
    finding = detect(RSS, "text/html; charset=utf-8", URL)
    assert (finding.type, finding.format, finding.confidence) == ("feed", "rss 2.0", "high")
    assert finding.evidence == 'root element <rss version="2.0">, 1 item; served as text/html'


def test_a_detected_feed_comes_with_its_evidence() -> None:
    assert detect(RSS, "", URL).feed == read_feed(RSS, "", URL)
    assert detect(html(*PROSE), "", URL).feed is None


def test_a_feed_after_leading_junk_is_found_with_less_confidence() -> None:
    finding = detect(b"<br />\n<b>Warning</b>: something in feed.php\n" + RSS, "", URL)
    assert (finding.type, finding.confidence) == ("feed", "medium")
    assert "after leading junk" in finding.evidence


def test_a_page_that_shows_a_feed_as_an_example_is_a_page() -> None:
    page = html(*PROSE, "<pre>&lt;rss> is written so: <rss version='2.0'><channel></channel></rss></pre>")
    assert detect(page, "application/rss+xml", URL).type == "html"


def test_json_feed_and_other_json() -> None:
    feed = b'{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [{"id": "1", "content_text": "x"}]}'
    assert detect(feed, "text/plain", URL).format == "json feed"
    other = detect(b'{"status": "ok", "items": []}', "application/json", URL)
    assert (other.type, other.format) == ("html", "json")
    assert other.evidence == "JSON, an object of 2 members; served as application/json"


def test_advertised_feeds_come_best_first() -> None:
    head = """<link rel="alternate" type="application/rss+xml" title="Comments" href="/comments/feed">
    <link rel="alternate" type="application/atom+xml" href="https://elsewhere.example/atom">
    <link rel="alternate" type="application/rss+xml" title="All" href="/feed">
    <link rel="alternate" type="application/json" href="/wp-json/wp/v2/pages/2">
    <link rel="alternate" hreflang="de" href="/de"><link rel="stylesheet" href="/feed.css">"""
    finding = detect(html(*PROSE, head=head), "text/html", URL)
    assert finding.type == "html"
    assert [feed.url for feed in finding.feeds] == [
        "https://shore.example/feed",
        "https://elsewhere.example/atom",
        "https://shore.example/comments/feed",
    ]


def test_links_are_seen_from_the_base_element() -> None:
    head = '<base href="/en/"><link rel="alternate" type="application/rss+xml" href="feed">'
    assert detect(html(*PROSE, head=head), "", URL).feeds[0].url == "https://shore.example/en/feed"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "empty"),
        (b" \n\t\x00", "empty"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"PK\x03\x04....", "ZIP"),
        (b"<html><head><title>Log in</title></head><body><form><input type=password></form>Log in", "login wall"),
        (b"<html><title>Just a moment...</title><body>Checking your browser</body></html>", "challenge"),
        (b"<html><title>404 Not Found</title><body><h1>Not Found</h1></body></html>", "404"),
        (b"<html><body></body></html>", "no visible text"),
        (
            b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "content_html": "<p>x</p>"},]}',
            "JSON",
        ),
        (b'{"version": "https:\\/\\/jsonfeed.org\\/version\\/1", "title": "<b>T</b>", "items": [', "JSON"),
    ],
)
def test_an_unwatchable_file_is_refused_with_a_sentence(body: bytes, word: str) -> None:
    finding = detect(body, "text/html", URL)
    assert finding.type is None
    assert finding.refusal is not None
    assert word in finding.refusal
    assert finding.refusal.endswith(".")


@given(st.binary(max_size=300))
def test_detection_never_raises(body: bytes) -> None:
    for head, url in ((b"", URL), (b"<rss>", URL), (b"<html>", "not a url"), (b'{"items":', URL)):
        finding = detect(head + body, "", url)
        assert (finding.type is None) == (finding.refusal is not None)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"%PDF-1.7 ...", "This PDF is damaged"),
        (b"\n %PDF-1.4 ...", "This PDF is damaged"),
        (b"\xef\xbb\xbf \n", "The body is empty"),
        (b"<title>Log in</title><body><h1>Log in</h1><form><input type=password></form>", "login wall"),
    ],
)
def test_an_unwatchable_file_is_refused_by_its_name(body: bytes, words: str) -> None:
    finding = detect(body, "text/html", URL)
    assert finding.type is None
    assert finding.refusal is not None
    assert words in finding.refusal
    assert "served as text/html" in finding.evidence


@pytest.mark.parametrize("bom", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE])
def test_a_byte_order_mark_decides_the_encoding(bom: bytes) -> None:
    name = {2: "utf-16-le" if bom == codecs.BOM_UTF16_LE else "utf-16-be", 3: "utf-8", 4: "utf-32-le"}[len(bom)]
    feed = "<rss version='2.0'><channel><title>T</title><item><title>ä</title></item></channel></rss>"
    finding = detect(bom + feed.encode(name), "text/html; charset=ascii", URL)
    assert finding.feed is not None and [entry.title for entry in finding.feed.entries] == ["ä"]


def test_undeclared_gzip_is_unpacked_and_noted() -> None:
    feed = b"<rss version='2.0'><channel><title>T</title><item><title>a</title></item></channel></rss>"
    finding = detect(gzip.compress(feed), "application/rss+xml", URL)
    assert finding.type == "feed" and finding.feed == read_feed(gzip.compress(feed), "", URL)
    assert "unpacked from gzip" in finding.evidence
    page = b"<!doctype html><title>T</title><body><p>" + b"words and words of a page " * 20
    assert read_page(gzip.compress(page), "", URL, None, ()).title == "T"


def test_a_bomb_and_damaged_gzip_stay_packed_and_are_refused() -> None:
    bomb = gzip.compress(b"\x00" * (MOST_UNPACKED + 1))
    for body in (bomb, b"\x1f\x8b\x08nonsense"):
        assert unpacked(body) is body
        assert "gzip" in (detect(body, "", URL).refusal or "")
