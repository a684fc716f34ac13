"""Builders of records for tests: every field has a default, and a test sets only the fields that matter to it."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec.structs import replace

from storage.records.event import Draft
from storage.records.identity import Millis, SourceId, id_of, seq_at
from storage.records.source import Detection, Harvest, Source, SourceRuntime, SourceState

NOW = Millis(1_780_000_000_000)
BASE_URL = "https://sanderling.test"


def a_source_id(number: int = 1) -> SourceId:
    return SourceId(id_of(seq_at(NOW), number))


def a_source(number: int = 1, **changes: Any) -> Source:
    """A feed at https://site<number>.test/feed."""
    url = changes.pop("url", f"https://site{number}.test/feed")
    kind = changes.get("type", "feed")
    plain = Source(
        id=a_source_id(number),
        url=url,
        watch_url=changes.pop("watch_url", url),
        type=kind,
        detection=Detection(kind, "high", "root element <rss>", url, "text/xml"),
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(plain, **changes)


def a_draft(title: str = "News", **changes: Any) -> Draft:
    content = changes.pop("content", f"The text of {title}.")
    plain = Draft(
        source_type="feed",
        source_url="https://site1.test/feed",
        url=f"https://site1.test/{title}",
        title=title,
        author="",
        content=content,
        content_truncated=False,
        content_hash="sha256:" + hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest(),
        simhash=7,
        tags=("change:new",),
        published_at=None,
        fetched_at=NOW,
    )
    return replace(plain, **changes)


def a_state(source: SourceId, base: bytes | None = None, **hot: Any) -> SourceState:
    return SourceState(source, SourceRuntime(**hot), base)


def a_harvest(source: SourceId, *titles: str, base: bytes | None = None, **hot: Any) -> Harvest:
    return Harvest(source, tuple(a_draft(title) for title in titles), a_state(source, base, **hot))
