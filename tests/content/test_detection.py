"""What a body is, from the body alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.detection import detect
from tests.content.pages import PROSE, html

URL = "https://shore.example/blog/"
RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:dc="x"><channel><title>Tides</title><item><title>High</title>
<link>/high</link></item></channel></rss>"""


def test_a_feed_served_as_html_is_a_feed_and_the_evidence_says_both() -> None:
    finding = detect(RSS, "text/html; charset=utf-8", URL)
    assert (finding.type, finding.format, finding.entries, finding.confidence) == ("feed", "rss 2.0", 1, "high")
    assert finding.evidence == 'root element <rss version="2.0">, 1 item; served as text/html'


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
    assert other.type is None
    assert other.refusal is not None
    assert "not a JSON Feed" in other.refusal


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
        (b"\x89PNG\r\n\x1a\n....", "PNG"),
        (b"PK\x03\x04....", "ZIP"),
        (b"just some words", "plain text"),
        (bytes(range(1, 32)) * 20, "binary"),
        (b"[1, 2]", "JSON"),
        (b'<?xml version="1.0"?><urlset><url/></urlset>', "sitemap"),
        (b'<?xml version="1.0"?><invoice/>', "<invoice>"),
        (b"<html><head><title>Log in</title></head><body><form><input type=password></form>Log in", "login wall"),
        (b"<html><title>Just a moment...</title><body>Checking your browser</body></html>", "challenge"),
        (b"<html><title>404 Not Found</title><body><h1>Not Found</h1></body></html>", "404"),
        (b"<html><body></body></html>", "no visible text"),
    ],
)
def test_what_cannot_be_watched_is_refused_with_a_sentence(body: bytes, word: str) -> None:
    finding = detect(body, "text/html", URL)
    assert finding.type is None
    assert finding.refusal is not None
    assert word in finding.refusal
    assert finding.refusal.endswith(".")


@given(st.binary(max_size=300))
def test_detection_never_raises(body: bytes) -> None:
    detect(body, "", URL)
    detect(b"<rss>" + body, "", URL)
    detect(b"<html>" + body, "", "not a url")
    detect(b'{"items":' + body, "", URL)
