"""Every format in every encoding behind every kind of junk with a false type; and bodies of no known format."""

from __future__ import annotations

import gzip
import itertools

import pytest

from actors.content.detection import detect
from actors.content.feeds import read_feed
from actors.content.messages import FORMATS
from tests.actors.content.written_pages import PROSE, html
from tests.extras.office.written_files import archive

URL = "https://shore.example/x/"
ITEM = "<item><guid>1</guid><title>Höhe</title><link>/1</link></item>"
CHANNEL = f"<channel><title>T</title>{ITEM}</channel>"
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
LINKED = "<title>Höhe</title><link>/1</link>"
FEEDS = {
    "rss 0.90": f'<rdf:RDF {RDF} xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>T</title></channel>'
    f"<item>{LINKED}</item></rdf:RDF>",
    "rss 0.91": '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" '
    f'"http://my.netscape.com/publish/formats/rss-0.91.dtd"><rss version="0.91">{CHANNEL}</rss>',
    "rss 0.92": f'<rss version="0.92">{CHANNEL}</rss>',
    "rss 1.0": f'<rdf:RDF {RDF} xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><title>T</title></channel>'
    f'<item rdf:about="/1">{LINKED}</item></rdf:RDF>',
    "rss 2.0": f'<rss version="2.0">{CHANNEL}</rss>',
    "atom 0.3": '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>T</title><entry><id>1</id>'
    '<title>Höhe</title><link rel="alternate" href="/1"/></entry></feed>',
    "atom": '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>1</id><title>Höhe</title>'
    '<link href="/1"/></entry></feed>',
    "atom, prefixed": '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>T</a:title><a:entry><a:id>1</a:id>'
    '<a:title>Höhe</a:title><a:link href="/1"/></a:entry></a:feed>',
    "json feed 1": '{"version": "https://jsonfeed.org/version/1", "title": "T", '
    '"items": [{"id": "1", "title": "Höhe", "url": "/1"}]}',
    "json feed 1.1": '{"version": "https://jsonfeed.org/version/1.1", "title": "T", '
    '"items": [{"id": "1", "title": "Höhe", "url": "/1"}]}',
}
JUNK = {
    "nothing": "",
    "mark": "\ufeff",
    "space": " \r\n\n ",
    "comment": "<!-- generated > by <rss> tool -->\n",
    "warning": "<br />\n<b>Warning</b>:  Undefined variable $x in <b>/var/www/feed.php</b> on line <b>3</b><br />\n",
    "notice": "Notice: Undefined index: a in feed.php on line 4\n",
    "style sheet": '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/a.xsl"?><!-- <html> -->\n',
    "database": '<div id="error"><p class="wpdberror"><strong>WordPress database error:</strong> [gone]</p></div>',
    "xdebug": "<br />\n<font size='1'><table class='xdebug-error'><tr><th>( ! ) Warning</th></tr></table></font>\n",
    "entities": '<!DOCTYPE rss [<!ENTITY nbsp "&#160;">]>',
}
TYPES = ("", "text/html", "application/json", "image/png", "text/html; charset=iso-8859-1")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-32")


def wrappings() -> list[tuple[str, str]]:
    """JSON has no prolog that could hold junk."""
    return [
        (name, junk)
        for name in FEEDS
        for junk in JUNK
        if not name.startswith("json") or junk in ("nothing", "mark", "space")
    ]


def test_a_feed_is_found_and_read_in_every_wrapping(subtests: pytest.Subtests) -> None:
    for name, junk in wrappings():
        with subtests.test(f"{name} {junk}"):
            for served, encoding, packed in itertools.product(TYPES, ENCODINGS, (False, True)):
                body = (JUNK[junk] + FEEDS[name]).encode(encoding)
                body = gzip.compress(body) if packed else body
                finding = detect(body, served, URL)
                assert finding.type == "feed" and finding.feed is not None, (served, encoding, finding)
                (entry,) = finding.feed.entries
                assert (entry.title, entry.url) == ("Höhe", "https://shore.example/1"), (served, encoding)


@pytest.mark.parametrize("declared", ["utf-8", "windows-1252", "iso-8859-1", "utf-16", "klingon"])
@pytest.mark.parametrize("header", ["utf-8", "iso-8859-1", "windows-1251"])
def test_utf_8_bytes_are_read_as_utf_8_against_three_declarations(declared: str, header: str) -> None:
    body = f'<?xml version="1.0" encoding="{declared}"?><rss version="2.0">{CHANNEL}</rss>'.encode()
    (entry,) = read_feed(body, f"text/html; charset={header}", URL).entries
    assert entry.title == "Höhe"


@pytest.mark.parametrize("header", ["", "; charset=utf-8", "; charset=utf-16"])
def test_bytes_that_are_latin_1_are_read_as_the_declaration_says(header: str) -> None:
    body = f'<?xml version="1.0" encoding="iso-8859-1"?><rss version="2.0">{CHANNEL}</rss>'.encode("latin-1")
    (entry,) = read_feed(body, f"application/xml{header}", URL).entries
    assert entry.title == "Höhe"


TEXT = "".join(f"<p>{line}</p>" for line in PROSE)
FEED_WORDS = "'<rss version=\"2.0\"><channel><item></item></channel></rss>'"


@pytest.mark.parametrize(
    "page",
    [
        f"<!doctype html><title>Docs</title><script>var x = {FEED_WORDS}</script>{TEXT}",
        f"<!doctype html><meta charset=utf-8><script>x = {FEED_WORDS}</script>{TEXT}",
        f"<script>x = {FEED_WORDS}</script>{TEXT}",
        f"<p>Paste it here</p><textarea><rss version=2.0></textarea>{TEXT}",
        f"<html><body>{TEXT}<pre><rss version=2.0></pre>",
        f'<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "a" "b">'
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body>{TEXT}</body></html>',
    ],
)
@pytest.mark.parametrize("served", ["text/html", "application/xml", "application/rss+xml"])
def test_a_page_that_speaks_of_feeds_is_a_page(page: str, served: str) -> None:
    assert detect(page.encode(), served, URL).type == "html"


NEITHER: dict[str, tuple[bytes, str]] = {
    "storage error": (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "an error message"),
    "pdf": (b"%PDF-1.7", "This PDF is damaged"),
    "zip": (b"PK\x03\x04", "a ZIP archive"),
    "damaged gzip": (b"\x1f\x8b\x08nonsense", "gzip data"),
    "nothing": (b"", "is empty"),
    "moved": (b'<html><head><meta http-equiv=refresh content="0; url=/new/">', "add https://shore.example/new/"),
    "frames": (b'<html><frameset><frame src="/a"></frameset></html>', "add https://shore.example/a"),
    "login": (html("<form><input type=password></form>", title="Log in"), "headers that sign you in"),
    "consent": (html("We use cookies", title="Before you continue to Site"), "a consent wall"),
    "challenge": (html("Checking your browser", title="Just a moment..."), "a challenge page"),
    "not found": (html("Sorry", title="404 Not Found"), "an error page ('404 Not Found')"),
    "script": (html("You need to enable JavaScript to run this app."), "needs JavaScript"),
}


FILES: dict[str, tuple[bytes, str]] = {
    "svg": (b'<?xml version="1.0"?><svg><title>a</title><path/></svg>', "an SVG image"),
    "image": (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    "webp": (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "a WebP image"),
    "avif": (b"\x00\x00\x00\x1cftypavif....", "an AVIF or HEIF image"),
    "zip": (archive({"readme.txt": "x"}), "a ZIP archive"),
    "empty zip": (b"PK\x05\x06" + bytes(18), "an empty ZIP"),
    "tar": (b"name" + bytes(253) + b"ustar\x0000" + bytes(200), "a TAR archive"),
    "gzip of a tar": (gzip.compress(b"name" + bytes(253) + b"ustar\x0000" + bytes(200)), "a TAR archive"),
    "database": (b"SQLite format 3\x00" + bytes(50), "a database"),
    "film": (b"\x1aE\xdf\xa3" + bytes(50), "a WebM"),
    "bytes": (bytes(range(1, 32)) * 20, "binary data"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_text_is_watched_by_its_bytes_and_the_evidence_says_so(name: str) -> None:
    body, words = FILES[name]
    finding = detect(body, "text/html", URL)
    assert (finding.type, finding.format, finding.refusal) == ("html", "file", None)
    assert words in finding.evidence and "its bytes are compared, not its contents" in finding.evidence


@pytest.mark.parametrize("name", NEITHER)
def test_another_format_is_refused_with_its_name_and_a_remedy(name: str) -> None:
    body, words = NEITHER[name]
    finding = detect(body, "text/html", URL)
    assert finding.type is None
    assert finding.refusal is not None and words in finding.refusal
    assert len(finding.refusal.rstrip(".").split(". ")) >= 2, "what it is, and what to do"
    assert "served as text/html" in finding.evidence


def alternate(href: str, title: str = "", kind: str = "application/rss+xml", rel: str = "alternate") -> str:
    return f'<link rel="{rel}" type="{kind}" title="{title}" href="{href}">'


@pytest.mark.parametrize(
    ("head", "url", "best"),
    [
        (alternate("/c/feed/", "Site » Comments Feed") + alternate("/feed/"), URL, "https://shore.example/feed/"),
        (alternate("/x/feed/", "Reacties") + alternate("/feed/"), URL, "https://shore.example/feed/"),
        (alternate("https://other.example/f") + alternate("/f"), URL, "https://shore.example/f"),
        (alternate("/category/sea/feed") + alternate("/feed"), URL, "https://shore.example/feed"),
        (
            alternate("/feed") + alternate("/category/sea/feed"),
            "https://shore.example/category/sea/",
            "https://shore.example/category/sea/feed",
        ),
        (alternate("feed://shore.example/f"), URL, "https://shore.example/f"),
        ('<base href="//cdn.example/a/">' + alternate("f.xml"), URL, "https://cdn.example/a/f.xml"),
        (alternate("f", kind="Application/RSS+XML; charset=utf-8", rel="ALTERNATE"), URL, URL + "f"),
        (alternate("/oembed", kind="application/json+oembed") + alternate("/f"), URL, "https://shore.example/f"),
    ],
)
def test_the_best_of_the_feeds_that_a_page_advertises(head: str, url: str, best: str) -> None:
    assert detect(html(*PROSE, head=head), "", url).feeds[0].url == best


def test_a_feed_that_is_advertised_in_the_body_is_one_and_one_in_a_comment_is_none() -> None:
    assert len(detect(html(*PROSE, alternate("/f")), "", URL).feeds) == 1
    assert detect(html(*PROSE, f"<!-- {alternate('/f')} -->"), "", URL).feeds == ()


def test_a_wall_names_the_feed_that_it_advertises() -> None:
    wall = html("Checking your browser", title="Just a moment...", head=alternate("/f"))
    assert "Its feed may work: https://shore.example/f." in (detect(wall, "", URL).refusal or "")


TEXTS: dict[str, tuple[bytes, str]] = {
    "news sitemap": (b'<?xml version="1.0"?><urlset xmlns:news="x"><news:title>t</news:title></urlset>', "a sitemap"),
    "sitemap index": (b"<sitemapindex><sitemap/></sitemapindex>", "a sitemap"),
    "opml": (b"<!-- made by x --><opml version='1.1'><head><title>t</title></head></opml>", "(OPML)"),
    "xslt": (b'<?xml version="1.0"?><xsl:stylesheet><html><body>x</body></html></xsl:stylesheet>', "a style sheet"),
    "soap": (b'<?xml version="1.0"?><soap:Envelope><p>x</p></soap:Envelope>', "<soap:Envelope>"),
    "api": (b'{"html": "<p>hello</p>"}', "JSON, an object of 1 member"),
    "api list": (b'[{"html": "<p>hello</p>"}]', "JSON, a list of 1 item"),
    "calendar": (b"BEGIN:VCALENDAR\r\nSUMMARY:<p>x</p>\r\nEND:VCALENDAR", "a calendar"),
    "card": (b"BEGIN:VCARD\r\nEND:VCARD", "a contact card"),
    "playlist": (b"#EXTM3U\n#EXTINF:1,\nx.ts", "a playlist"),
    "text": (b"User-agent: *\nDisallow: /", "plain text"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_without_elements_of_html_is_a_page_of_text_with_its_form_as_evidence(name: str) -> None:
    body, words = TEXTS[name]
    finding = detect(body, "text/html", URL)
    assert (finding.type, finding.refusal) == ("html", None)
    assert finding.format in FORMATS and words in finding.evidence
