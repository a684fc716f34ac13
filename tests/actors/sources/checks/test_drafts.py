"""Entries and frames become drafts the same way."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from actors.content.bodies.frames import Frame
from actors.content.messages import Entry
from actors.sources.checks.progress import draft_of
from storage.records.event import NEW
from storage.records.identity import Millis
from tests.support.build import NOW, a_source

SAID = {"title": "Tide", "author": "A", "content": "High water", "content_hash": "sha256:x", "simhash": 5}
PIECES: list[Entry | Frame] = [
    Entry(key="k", url="", published_at=Millis(7), tags=("topic:a",), fingerprint="f", **SAID),  # type: ignore[arg-type]
    Frame(id="1", mark=b"m", url="", published_at=Millis(7), tags=("topic:a",), **SAID),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_draft_keeps_its_fields_and_gets_those_of_its_source(piece: Entry | Frame) -> None:
    source = replace(a_source(1), tags=("label:x", "topic:a"))
    draft = draft_of(source, piece, NEW, NOW)
    assert (draft.title, draft.author, draft.content, draft.simhash) == ("Tide", "A", "High water", 5)
    assert (draft.tags, draft.published_at) == (("label:x", "topic:a", NEW), 7)
    assert (draft.url, draft.source_url, draft.fetched_at, draft.practice) == (source.watch_url, source.url, NOW, False)
