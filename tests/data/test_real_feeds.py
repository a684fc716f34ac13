"""Every real feed, served with the content type of its manifest line, which is often wrong."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import pytest

from actors.content.bodies.text import plain
from actors.content.detection import detect
from actors.content.feeds import read_feed
from actors.content.messages import FeedReading
from storage.records.identity import rfc3339
from tests.data.material import files, manifest, needs

pytestmark = pytest.mark.data
LEAST = 0.97
READ_BETTER = {
    "065-www-nbcnewyork-com.xml": "other parsers drop PM",
    "083-www-scripting-com.xml": "its enclosure is its link",
    "105-www-skysports-com.xml": "other parsers drop BST",
    "136-l-yimg-com.xml": "other parsers drop PST",
    "138-l-yimg-com.xml": "other parsers drop PM",
}
"""Feeds that other parsers agree on, and misread."""


def folded(value: object) -> object:
    return (" ".join(plain(value).split()) if isinstance(value, str) else value) or None


def facts(reading: FeedReading) -> dict[str, object]:
    found: dict[str, object] = {"title": reading.title, "entries": len(reading.entries)}
    for entry in reading.entries[:1]:
        at = entry.published_at
        found["first_title"] = entry.title
        found["first_link"] = entry.url.rstrip("/")
        found["first_published"] = None if at is None else f"{rfc3339(at)[:19]}Z"
    return found


def misses_of(line: dict[str, Any], body: bytes) -> list[str]:
    url = f"http://{line['site']}/feed"
    finding = detect(body, line["serve_as"], url)
    if finding.type != line["type"]:
        return [f"type: {finding.type} ({finding.refusal})"]
    found = facts(read_feed(body, line["serve_as"], url))
    wanted = dict(line["expected"])
    if wanted.get("first_link"):
        # The other parsers did not know the feed's URL.
        wanted["first_link"] = urljoin(url, wanted["first_link"]).rstrip("/")
    return [
        f"{name}: {found.get(name)!r}, not {value!r}"
        for name, value in wanted.items()
        if folded(value) != folded(found.get(name))
    ]


def test_every_real_feed_gives_the_type_title_entries_and_first_entry_that_parsers_agree_on() -> None:
    needs("feeds")
    lines = {line["file"]: line for line in manifest("feeds")}
    misses = {name: found for name, body in files("feeds") if (found := misses_of(lines[name], body))}
    assert READ_BETTER.keys() <= misses.keys()
    misses = {name: found for name, found in misses.items() if name not in READ_BETTER}
    table = "\n".join(f"{name}: {'; '.join(found)}" for name, found in misses.items())
    assert len(lines) > 100
    assert len(misses) <= (1 - LEAST) * len(lines), f"{len(misses)} of {len(lines)} feeds are misread:\n{table}"
