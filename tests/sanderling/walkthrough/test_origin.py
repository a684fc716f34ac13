"""The demo's origin: every step is complete, with the real material or with our own."""

from __future__ import annotations

import json
from pathlib import Path

import feedparser
import pytest
import trio

from sanderling.environment import environ
from sanderling.walkthrough.origin import AT_FIRST, SHARED, DemoOrigin, Material, feed_with, own_material, real_material


def titles(document: bytes) -> list[str]:
    parsed = feedparser.parse(document)
    assert not parsed.bozo, parsed
    return [entry.title for entry in parsed.entries]


def test_a_feed_of_its_oldest_entries_grows_at_the_top() -> None:
    whole = own_material().feed
    assert titles(feed_with(whole, 99)) == titles(whole)
    for entries in range(1, 12):
        assert titles(feed_with(whole, entries)) == titles(whole)[-entries:]


def test_our_own_page_first_changes_its_clock_alone() -> None:
    first, second, *_rest = own_material().pages
    changed = [pair for pair in zip(first.splitlines(), second.splitlines(), strict=True) if pair[0] != pair[1]]
    assert len(changed) == 1 and b"Page generated" in changed[0][0]


def test_our_own_frames_are_json_with_ids_of_their_own() -> None:
    frames = [json.loads(frame) for frame in own_material().frames]
    assert len({frame["id"] for frame in frames}) == len(frames)


async def test_each_thing_moves_from_when_it_is_first_asked_for(autojump_clock: object) -> None:
    origin = DemoOrigin(Material(b"", (), (), ""), pace=3.0)
    assert origin.step("feed") == 0
    await trio.sleep(7)
    assert (origin.step("feed"), origin.step("page")) == (2, 0)


def test_without_the_shared_folder_there_is_no_real_material(tmp_path: Path) -> None:
    assert real_material(tmp_path) is None


@pytest.mark.data
def test_the_real_material_is_a_feed_and_the_versions_of_one_page() -> None:
    if not SHARED.is_dir():
        assert environ().get("CI") != "true", "the shared material is missing"
        pytest.skip("the shared material is not beside the project")
    material = real_material()
    assert material is not None
    assert len(material.pages) == 8 and len(set(material.pages)) == 8
    assert len(titles(feed_with(material.feed, AT_FIRST))) == AT_FIRST < len(titles(material.feed))
