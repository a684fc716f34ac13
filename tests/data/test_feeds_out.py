"""Entries of every real feed, reported as events and published again: three parsers read the published feed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.content.errors import ContentError
from actors.content.feeds import read_feed
from actors.sources.checks.progress import draft_of
from extras.publish.formats import FeedEntry
from storage.records.event import NEW
from tests.data.material import files, manifest, needs
from tests.extras.publish.reading import (
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
from tests.support.build import NOW, a_source

pytestmark = pytest.mark.data


def entries() -> Iterator[FeedEntry]:
    """Yield the entries of every feed of the material, in order."""
    lines = {line["file"]: line for line in manifest("feeds")}
    for name, body in files("feeds"):
        url = f"http://{lines[name]['site']}/feed"
        try:
            reading = read_feed(body, lines[name]["serve_as"], url)
        except ContentError:  # test_real_feeds.py counts these
            continue
        for number, told in enumerate(reading.entries, 1):
            yield entry(draft_of(a_source(url=url), told, NEW, NOW), number)


def test_every_entry_of_every_real_feed_is_read_again_by_three_parsers(tmp_path: Path) -> None:
    needs("feeds")
    feed = page(list(entries()))
    wanted = expected(feed.entries)
    assert len(wanted) > 1_000
    bodies = documents(feed)
    for ending, body in bodies.items():
        assert by_atoma(ending, body) == wanted, ending
    for ending in ("atom", "rss"):
        whole_xml(bodies[ending])
        assert by_feedparser(ending, bodies[ending]) == wanted, ending
    for ending, found in read_on_node(bodies, tmp_path).items():
        assert [of_json(each) for each in found] == wanted, ending
