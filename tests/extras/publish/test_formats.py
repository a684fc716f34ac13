"""Three parsers read the feeds of any event correctly; its texts may contain anything."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extras.publish.formats import MOST_TAGS, DeletedEntry, FeedEntry, FeedPage, entry_of
from storage.records.event import Change, Delta, DeltaStats, Diff, Draft, Op
from storage.records.identity import Millis
from tests.extras.publish.reading import (
    BASE,
    MADE,
    by_atoma,
    by_feedparser,
    documents,
    entry,
    expected,
    of_json,
    page,
    read_on_node,
    whole_xml,
)
from tests.support.build import NOW, a_draft

HOSTILE = (
    "]]>",
    "<script>alert(1)</script>",
    "&amp;lt;b&amp;gt; &#0; &nbsp;",
    "\x00\x01\x0b\x0c\x1f\x7f\x85\ufffe\uffff\ufdd0",
    "\u202e gnirpS \u2066\u2069 \u200b",
    "Å ö 漢字 🐦‍🔥 \U0001fffe \u0301",
    "a\r\nb\tc\u2028d",
    "<!-- --> <?xml version='1.0'?> <!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>",
    "'\"><img src=x onerror=alert(1)>",
    " leading and trailing ",
)
TEXTS = st.text(max_size=60) | st.sampled_from(HOSTILE)


def a_changed(title: str, before: str, after: str) -> Draft:
    delta = Delta((Op("replace", 2, before=before, after=after),), DeltaStats(0, 0, 1, 5))
    return a_draft(title, source_type="html", diff=Diff((), (), (Change(before, after),)), delta=delta)


def read_alike(feed: FeedPage) -> None:
    """Assert that feedparser and atoma read a feed correctly."""
    wanted = expected(feed.entries)
    for ending, body in documents(feed).items():
        assert by_atoma(ending, body) == wanted, ending
        if ending == "json":
            assert json.loads(body)["version"] == "https://jsonfeed.org/version/1.1"
        else:
            whole_xml(body)
            assert by_feedparser(ending, body) == wanted, ending


@given(title=TEXTS, content=TEXTS, author=TEXTS, tag=TEXTS, published=st.none() | st.integers(0, 4_000_000_000_000))
@example(title=HOSTILE[0], content=HOSTILE[3], author=HOSTILE[3], tag=HOSTILE[2], published=None)
@example(title="", content="", author="", tag="", published=0)
def test_any_text_is_read_as_text(title: str, content: str, author: str, tag: str, published: int | None) -> None:
    draft = a_draft(
        title.encode("utf-8", "replace").decode(),
        content=content.encode("utf-8", "replace").decode(),
        author=author.encode("utf-8", "replace").decode(),
        url="https://site.test/a?b=1&c=2",
        tags=(f"category:{tag}".encode("utf-8", "replace").decode(), "label:prices", "change:new"),
        published_at=None if published is None else Millis(published),
    )
    read_alike(page([entry(draft)], title=f"Of {title}".encode("utf-8", "replace").decode()))


@pytest.mark.parametrize("before", HOSTILE)
@pytest.mark.parametrize("after", HOSTILE[:4])
def test_any_difference_is_read_as_html_that_holds_text_alone(before: str, after: str) -> None:
    made = entry(a_changed("Plans", before, after))
    assert "<script" not in made.html and "<img" not in made.html and "<!" not in made.html
    read_alike(page([made]))


def test_64_kib_of_text_and_many_tags_are_read() -> None:
    long = ("Ein Satz über Preise & Pläne <hier>. " * 2_000)[: 64 << 10]
    made = entry(a_draft("Long", content=long, tags=tuple(f"category:{n}" for n in range(200))))
    assert len(made.tags) == MOST_TAGS and len(made.html) > 64 << 10
    read_alike(page([made]))


def test_tags_of_the_service_are_no_category_and_labels_are_bare_words() -> None:
    made = entry(a_draft(tags=("label:prices", "change:new", "category:News", "topic:ai", "kind:x", "label:prices")))
    assert made.tags == ("prices", "News", "topic:ai")


def test_an_entry_without_a_web_address_leads_to_its_page_here() -> None:
    made = entry(a_draft(url="javascript:alert(1)", source_url="wss://site.test/"))
    assert made.link == ""
    read_alike(page([made]))
    assert f'href="{BASE}/{made.id}"'.encode() in documents(page([made]))["atom"]


def test_an_event_of_another_version_is_an_entry_too() -> None:
    made = entry_of("019db0a4-a060-7000-8000-000000000001", b'{"title":"Old","emitted_at":"nonsense","diff":7}')
    assert (made.title, made.updated, made.published) == ("Old", "", "")
    bodies = documents(page([made]))
    assert [read.moment for read in by_feedparser("atom", bodies["atom"])] == [NOW // 1000], "that of the feed"


def test_pages_lead_to_older_ones_and_back_to_the_first() -> None:
    """RFC 5005, 3."""
    older = f"{BASE}.atom?before=x&y"
    bodies = documents(page([], older=older, here=f"{BASE}.atom?before=z"))
    spaces = {"atom": "http://www.w3.org/2005/Atom"}
    for ending in ("atom", "rss"):
        links = whole_xml(bodies[ending]).xpath("//atom:link", namespaces=spaces)
        told = {link.get("rel"): link.get("href") for link in links}
        assert (told["first"], told["next"], told["self"]) == (f"{BASE}.atom", older, f"{BASE}.atom?before=z"), ending
    assert json.loads(bodies["json"])["next_url"] == older
    last = documents(page([]))
    assert b"next" not in last["atom"] and "next_url" not in json.loads(last["json"])


def test_a_change_marked_as_noise_is_a_tombstone_in_atom() -> None:
    """RFC 6721, 3: ref and when; a reader that does not know tombstones reads the rest."""
    gone = DeletedEntry("019db0a4-a060-7000-8000-00000000dead", MADE)
    body = documents(page([entry(a_draft())], [gone]))["atom"]
    (stone,) = whole_xml(body).iter("{http://purl.org/atompub/tombstones/1.0}deleted-entry")
    assert dict(stone.attrib) == {"ref": "urn:uuid:019db0a4-a060-7000-8000-00000000dead", "when": MADE}
    assert len(by_feedparser("atom", body)) == len(by_atoma("atom", body)) == 1


def test_rss_dates_are_of_rfc_822_in_gmt() -> None:
    body = documents(page([entry(a_draft())]))["rss"]
    for text in whole_xml(body).xpath("//pubDate/text() | //lastBuildDate/text()"):
        assert text.endswith(" GMT") and parsedate_to_datetime(text).timestamp() == NOW / 1000


@pytest.mark.real
def test_feedsmith_reads_the_same(tmp_path: Path) -> None:
    entries: list[FeedEntry] = [
        entry(a_changed(f"Plans {text}", text, after), number)
        for number, (text, after) in enumerate(zip(HOSTILE, reversed(HOSTILE), strict=True), 1)
    ]
    entries += [entry(a_draft(text, content=text * 3, tags=(f"category:{text}",)), 99) for text in HOSTILE]
    told = read_on_node(documents(page(entries)), tmp_path)
    for ending, found in told.items():
        wanted = [each._replace(title=each.title.strip()) for each in expected(entries)]
        assert [of_json(each) for each in found] == wanted, ending
