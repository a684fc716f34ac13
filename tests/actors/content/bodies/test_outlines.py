from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.errors import ContentError
from actors.content.feeds import read_outline
from actors.content.tasks import TASKS
from actors.messages.views import FeedLine, written
from storage.records.source import Source
from tests.support.build import a_source

HEAD = '<?xml version="1.0" encoding="UTF-8"?><opml version="2.0"><head><title>My\n feeds é</title></head><body>'


def opml(body: str, head: str = HEAD) -> bytes:
    return f"{head}{body}</body></opml>".encode()


def feed(url: str, **more: str) -> str:
    rest = "".join(f' {name}="{value}"' for name, value in more.items())
    return f'<outline type="rss" xmlUrl="{url}"{rest}/>'


def test_folders_and_categories_are_tags_and_each_address_comes_once() -> None:
    body = (
        f'<outline text="Tech"><outline text="Deep: down">{feed("https://a.test/f?x=1&amp;y=2", text="A é")}</outline>'
        f"{feed('https://b.test/', title='B', category='/sea/ports,topic:ai,kind:mine')}</outline>"
        f"{feed('https://a.test/f?x=1&amp;y=2', text='again')}"
        '<outline type="link" url="https://c.test/x.opml" text="c"/>'
    )
    outline = read_outline(opml(body))
    assert outline.title == "My feeds é"
    assert outline.feeds == (
        FeedLine("https://a.test/f?x=1&y=2", "A é", ("Tech", "Deep down")),
        FeedLine("https://b.test/", "B", ("sea", "ports", "topic:ai", "kind mine", "Tech")),
    )
    assert (outline.lists, outline.left_out) == (("https://c.test/x.opml",), 0)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not a list of feeds"),
        (b"https://a.test/feeds.opml", "not a list of feeds"),
        (b"<rss><channel><item/></channel></rss>", "not a list of feeds"),
        (b"\x00\xff\xfe", "not a list of feeds"),
        (b"<outline><rdf:RDF >", "cannot be parsed"),
        (opml(""), "contains no feed"),
        (opml('<outline type="link" url="https://c.test/x" text="c"/>'), "names 1 other lists"),
    ],
)
def test_a_file_without_feeds_is_refused_with_a_sentence(body: bytes, words: str) -> None:
    with pytest.raises(ContentError) as caught:
        read_outline(body)
    assert words in caught.value.reason


def test_entities_of_the_file_mean_nothing() -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "boom" * 10}">' for n in range(12))
    outside = '<!ENTITY file SYSTEM "file:///etc/hostname">'
    head = f"<?xml version='1.0'?><!DOCTYPE opml [{bomb}{outside}]><opml version='1.0'><head/><body>"
    (line,) = read_outline(opml(feed("https://a.test/", text="&e11;&file;"), head)).feeds
    assert line.title == "&e11;&file;"


def test_items_beyond_the_bound_are_counted() -> None:
    outline = read_outline(opml("".join(feed(f"https://a.test/{n}") for n in range(5))), 3)
    assert (len(outline.feeds), outline.left_out) == (3, 2)


def test_other_encodings_are_read() -> None:
    text = "<?xml version='1.0' encoding='iso-8859-1'?><opml><body><outline xmlUrl='https://a.test/' text='Göteborg'/>"
    assert read_outline(text.encode("latin-1")).feeds[0].title == "Göteborg"
    assert read_outline(text.encode("utf-16")).feeds[0].title == "Göteborg"


def a_library() -> list[Source]:
    odd = a_source(2, url='https://b.test/?a=1&b="2"', title='5 < 6 & "x"', tags=("label:sea", "topic:ai", "kind:x"))
    return [a_source(1), odd, a_source(3, type="html", url="https://c.test/")]


def test_a_library_that_is_written_is_read_again() -> None:
    text = "".join(written(a_library(), "All & sundry"))
    assert [one.get("type") for one in ElementTree.fromstring(text).iter("outline")] == ["rss", "rss", "page"]
    outline = read_outline(text.encode())
    assert outline.title == "All & sundry"
    assert outline.feeds == (
        FeedLine("https://site1.test/feed", "https://site1.test/feed"),
        FeedLine('https://b.test/?a=1&b="2"', '5 < 6 & "x"', ("sea", "topic:ai")),
        FeedLine("https://c.test/", "https://c.test/"),
    )


@given(st.text(max_size=40), st.text(min_size=1, max_size=20))
def test_an_outline_is_valid_xml_for_any_title_or_tag(title: str, tag: str) -> None:
    sources = [a_source(1, title=title, tags=(f"label:{tag}",))]
    root = ElementTree.fromstring("".join(written(sources, title)).encode("utf-8", "surrogatepass"))
    assert [one.get("xmlUrl") for one in root.iter("outline")] == [sources[0].url]


def test_a_worker_reads_an_outline() -> None:
    assert b"https://a.test/" in TASKS["outline"](opml(feed("https://a.test/")))
