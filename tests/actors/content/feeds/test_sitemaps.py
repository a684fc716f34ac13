from __future__ import annotations

import gzip
import tracemalloc

import pytest

from actors.content.errors import ContentError
from actors.content.feeds import MOST_ADDRESSES, SitemapEntry, is_sitemap, read_sitemap

_SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
PLAIN = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="{_SPACE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
        xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
<url><loc> https://a.example/one?a=1&amp;b=2 </loc><lastmod>2026-11-01</lastmod>
  <image:image><image:loc>https://a.example/one.jpg</image:loc><image:title>A gull</image:title></image:image></url>
<url><loc>https://a.example/two</loc>
  <news:news><news:publication_date>2026-11-02T10:00:00Z</news:publication_date><news:title>Two</news:title></news:news></url>
</urlset>"""
READ = (
    SitemapEntry("https://a.example/one?a=1&b=2", "2026-11-01"),
    SitemapEntry("https://a.example/two", "", "Two", 1_793_613_600_000),  # type: ignore[arg-type]
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_addresses_dates_and_news_titles_are_read(pack: object) -> None:
    body = pack(PLAIN.encode())  # type: ignore[operator]
    assert is_sitemap(body)
    found = read_sitemap(body)
    assert (found.is_index, found.partial) == (False, False)
    assert found.addresses == READ


def test_an_index_names_its_files() -> None:
    body = f'<sitemapindex xmlns="{_SPACE}"><sitemap><loc>https://a.example/1.xml.gz</loc></sitemap></sitemapindex>'
    found = read_sitemap(body.encode())
    assert found.is_index and found.addresses == (SitemapEntry("https://a.example/1.xml.gz"),)


@pytest.mark.parametrize("body", [b"", b"<html><body>urlset</body></html>", b"<rss><channel/></rss>", b"\x1f\x8b\x08"])
def test_an_invalid_sitemap_is_refused(body: bytes) -> None:
    assert not is_sitemap(body)
    with pytest.raises(ContentError):
        read_sitemap(body)


def test_a_faulty_entry_leaves_the_others() -> None:
    body = b"<urlset><url><loc>https://a.example/1?a&b=2</loc></url><url><loc>https://a.example/2</loc></url>"
    assert read_sitemap(body).addresses[-1].url == "https://a.example/2"


def test_a_bomb_is_refused_in_little_memory() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * (80 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(ContentError, match="more than 64 MiB"):
            read_sitemap(bomb)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_entities_and_long_addresses_are_not_read() -> None:
    body = (
        b'<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc></url><url><loc>'
        + b"https://a.example/" + b"x" * 3000 + b"</loc></url></urlset>"
    )  # fmt: skip
    assert read_sitemap(body).addresses == ()


def test_exceeding_the_address_limit_is_reported() -> None:
    body = b"<urlset>" + b"<url><loc>https://a.example/x</loc></url>" * (MOST_ADDRESSES + 1) + b"</urlset>"
    found = read_sitemap(body)
    assert (len(found.addresses), found.partial) == (MOST_ADDRESSES, True)
