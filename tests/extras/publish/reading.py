"""Feeds read by three parsers: feedparser and atoma here, feedsmith on node (`read_feeds.mjs`)."""

from __future__ import annotations

import json
import subprocess
from calendar import timegm
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import atoma
import feedparser
import msgspec
from lxml import etree

from actors.recorder.actor import build
from extras.publish.formats import FORMATS, DeletedEntry, FeedEntry, FeedPage, entry_of
from storage.records.event import Draft
from storage.records.identity import Seq, SourceId, id_of, parse_rfc3339
from tests.support.build import NOW, a_source_id
from tests.support.node import modules

BASE = "http://sanderling.test/published/t0ken"
MADE = "2026-05-28T20:26:40.000Z"


class Read(NamedTuple):
    """An entry as a parser reads it. moment: whole seconds."""

    id: str
    title: str
    link: str
    html: str
    tags: tuple[str, ...]
    moment: int


def entry(draft: Draft, number: int = 1, source: SourceId | None = None) -> FeedEntry:
    """Return the feed entry of a draft's event."""
    id = id_of(Seq(NOW << 20 | number), 7)
    return entry_of(id, msgspec.json.encode(build(id, source or a_source_id(), draft, "http://sanderling.test", NOW)))


def page(entries: Sequence[FeedEntry], deleted: Sequence[DeletedEntry] = (), **changes: Any) -> FeedPage:
    plain = FeedPage(
        id="019db0a4-a060-7000-8000-0000000000f1",
        title="Prices",
        page=BASE,
        here=f"{BASE}.atom",
        first=f"{BASE}.atom",
        older="",
        updated=MADE,
        entries=entries,
        deleted=deleted,
    )
    return plain._replace(**changes)


def documents(feed: FeedPage) -> dict[str, bytes]:
    return {ending: format.write(feed) for ending, format in FORMATS.items()}


def expected(entries: Sequence[FeedEntry]) -> list[Read]:
    """Return the entries as every parser should read them."""
    return [
        Read(
            f"urn:uuid:{each.id}",
            each.title,
            each.link or f"{BASE}/{each.id}",
            each.html,
            each.tags,
            parse_rfc3339(each.updated) // 1000,
        )
        for each in entries
    ]


def by_feedparser(ending: str, body: bytes) -> list[Read]:
    """Read Atom or RSS. Raises the parser's error on XML that is not well-formed."""
    found = feedparser.parse(body, sanitize_html=False, resolve_relative_uris=False)
    if found.bozo:
        raise found.bozo_exception
    return [
        Read(
            each.id,
            each.title,
            each.link,
            each.content[0].value if ending == "atom" else each.description,
            tuple(tag.term for tag in each.get("tags", ())),
            timegm(each.updated_parsed if ending == "atom" else each.published_parsed),
        )
        for each in found.entries
    ]


def by_atoma(ending: str, body: bytes) -> list[Read]:
    return [*_BY_ATOMA[ending](body)]


def _atom_by_atoma(body: bytes) -> Sequence[Read]:
    return [
        Read(
            each.id_,
            each.title.value,
            each.links[0].href,
            each.content.value,
            tuple(tag.term for tag in each.categories),
            int(each.updated.timestamp()),
        )
        for each in atoma.parse_atom_bytes(body).entries
    ]


def _rss_by_atoma(body: bytes) -> Sequence[Read]:
    return [
        Read(each.guid, each.title, each.link, each.description, tuple(each.categories), int(each.pub_date.timestamp()))
        for each in atoma.parse_rss_bytes(body).items
    ]


def _json_by_atoma(body: bytes) -> Sequence[Read]:
    return [
        Read(each.id_, each.title, each.url, each.content_html, tuple(each.tags), int(each.date_modified.timestamp()))
        for each in atoma.parse_json_feed_bytes(body).items
    ]


_BY_ATOMA = {"atom": _atom_by_atoma, "rss": _rss_by_atoma, "json": _json_by_atoma}


def whole_xml(body: bytes) -> Any:
    """Parse strictly; return the tree. Raises etree.XMLSyntaxError."""
    return etree.fromstring(body, etree.XMLParser(recover=False, resolve_entities=False))


def of_json(told: Mapping[str, Any]) -> Read:
    return Read(
        told["id"],
        told["title"],
        told["link"],
        told["html"],
        tuple(told["tags"]),
        int(datetime.fromisoformat(told["moment"]).timestamp()),
    )


def read_on_node(bodies: dict[str, bytes], folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return feedsmith's reading of feeds, from `read_feeds.mjs`."""
    script = Path(__file__).with_name("read_feeds.mjs")
    for ending, body in bodies.items():
        (folder / f"feed.{ending}").write_bytes(body)
    files = [str(folder / f"feed.{ending}") for ending in bodies]
    done = subprocess.run(
        ["node", str(modules([script]) / script.name), *files],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[list[dict[str, Any]]] = json.loads(done.stdout)
    return dict(zip(bodies, found, strict=True))
