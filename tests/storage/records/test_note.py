"""Notes of checks, which explain events: bounded, stored with the tier's memory, and written only for news."""

from __future__ import annotations

import random

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.messages.requests import SourcePatch
from actors.sources.registry.actor import Registry
from storage.records.checks import (
    MOST_BYTES,
    MOST_NOTES,
    Note,
    Part,
    StoredMemory,
    add_note,
    new_memory,
    pack_memory,
    read_notes,
    unpack_memory,
)
from storage.records.identity import Millis, SourceId
from tests.actors.sources.harness import page, rss, watching
from tests.support.build import NOW
from tests.support.in_loop import Disk

FEED, PAGE = "https://site.example/feed", "https://site.example/prices"
PROSE = [
    "The basic plan holds up to ten projects and one gigabyte of storage for each of them, for small teams.",
    "The team plan adds roles, an audit log and help by mail on every working day of the week, all year.",
    "Whoever pays for a whole year in advance gets two months of it without any further cost at all.",
]


def churn(second: int, *keys: str) -> Note:
    parts = tuple(Part(f"text of {key}", "furniture", key) for key in keys)
    return Note(Millis(NOW + second), "churn", "not news", score=0.1, bar=0.5, parts=parts)


def notes_in(disk: Disk, source: SourceId) -> list[Note]:
    return read_notes(unpack_memory(disk.sources()[source].base).notes)


@given(st.binary(max_size=50), st.binary(max_size=50), st.binary(max_size=50))
def test_an_envelope_round_trips(tier: bytes, notes: bytes, waiting: bytes) -> None:
    if not tier.startswith(b"\xc1"):
        assert unpack_memory(pack_memory(StoredMemory(tier, notes, waiting))) == (tier, notes, waiting)


@pytest.mark.parametrize("old", [b"", b"\x01" + bytes(16), b"\x98\x02\xc4", b"\x91\xa3abc", b"\xdc\x01\x00"])
def test_a_memory_from_before_there_were_notes_still_reads(old: bytes) -> None:
    assert unpack_memory(old) == StoredMemory(old, b"")
    assert pack_memory(StoredMemory(old)) == old


def test_the_newest_notes_are_stored_and_the_packed_form_is_bounded() -> None:
    chance = random.Random(1)
    packed = b""
    for second in range(100):
        words = [" ".join(f"{chance.getrandbits(40):x}" for _ in range(30)) for _ in range(chance.choice((1, 20)))]
        parts = tuple(Part(text, "rule " * 90, text[:16]) for text in words)
        packed = add_note(packed, Note(Millis(NOW + second), "told", "x" * 900, parts=parts))
        assert len(packed) <= MOST_BYTES
    assert read_notes(packed)[-1].at == NOW + 99
    for second in range(100):
        packed = add_note(packed, churn(second, f"key{second}"))
    assert [one.at for one in read_notes(packed)] == [NOW + second for second in range(100 - MOST_NOTES, 100)]


def test_a_note_that_cannot_be_packed_small_loses_parts_not_itself() -> None:
    chance = random.Random(2)

    def noise() -> str:
        return "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(160))

    packed = add_note(b"", Note(NOW, "told", "why", parts=tuple(Part(noise(), noise(), noise()) for _ in range(16))))
    (one,) = read_notes(packed)
    assert len(packed) <= MOST_BYTES and 0 < len(one.parts) < 16


def test_alternating_text_is_noted_once() -> None:
    packed = add_note(b"", churn(0, "a", "b"))
    assert add_note(packed, churn(60, "b", "a")) == packed
    assert len(read_notes(add_note(packed, churn(60, "a", "c")))) == 2
    assert new_memory(StoredMemory(b"tier", packed), None, churn(60, "a", "b")) is None
    assert new_memory(StoredMemory(b"tier", packed), b"other", None) == pack_memory(StoredMemory(b"other", packed))


def test_a_stretch_that_goes_on_takes_its_own_place() -> None:
    first = Note(NOW, "stretch", "", counts={"frames": 3}, until=Millis(NOW + 1))
    packed = add_note(add_note(b"", first), Note(NOW, "stretch", "", counts={"frames": 9}, until=Millis(NOW + 2)))
    packed = add_note(packed, Note(Millis(NOW + 5), "stretch", "", counts={"frames": 1}))
    assert [one.counts["frames"] for one in read_notes(packed)] == [9, 1]


@pytest.mark.parametrize("damaged", [b"x", add_note(b"", churn(0))[:-6] + b"abcdef", b"\x78\x9c"])
def test_damaged_notes_are_none(damaged: bytes) -> None:
    assert read_notes(damaged) == []


async def test_a_feeds_checks_are_recorded_with_numbers_and_titles(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a", "b", "b")
        source = (await service.add(FEED, backfill=1)).view.source.id
        origin.bodies["/feed"] = rss("c", "a|edited text", "b", "b")
        await trio.sleep(3600)
        origin.bodies["/feed"] = rss("c", "a|edited text", "b", "b", lastBuildDate="today")
        await trio.sleep(3600)
        first, second, third = notes_in(service.disk, source)
    assert (first.came, first.counts["entries"], first.counts["told"]) == ("baseline", 2, 1)
    assert [(part.text, part.told) for part in first.parts][:2] == [("a", True), ("b", False)]
    assert (second.came, second.reason) == ("told", "Of 3 entries: 1 new, 1 edited.")
    assert [(part.text, part.key, part.rule.partition(":")[0]) for part in second.parts] == [
        ("c", "c", "new"),
        ("a", "a", "edited"),
    ]
    assert second.counts["duplicates"] == 1 and second.since == first.at
    assert third.came == "churn" and "had been seen" in third.reason


async def test_the_entries_that_a_reset_held_are_named(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss(*(f"old{n}" for n in range(12)))
        source = (await service.add(FEED)).view.source.id
        origin.bodies["/feed"] = rss(*(f"new{n}" for n in range(12)))
        await trio.sleep(3600)
        last = notes_in(service.disk, source)[-1]
    assert (last.came, last.counts["held"]) == ("held", 12)
    assert last.parts[0].text == "new0" and last.parts[0].rule.startswith("held") and not last.parts[0].told


async def test_a_pages_checks_are_recorded_and_unchanged_ones_are_not(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        origin.bodies["/prices"] = page(*PROSE, clock="13:00:00")
        await trio.sleep(3600)
        assert [one.came for one in notes_in(service.disk, source)] == ["baseline"]
        origin.bodies["/prices"] = page(*PROSE, "A line of six words more.", "Tiny")
        await trio.sleep(3600)
        told = notes_in(service.disk, source)[-1]
    (event,) = service.events_from(0)
    assert (told.came, told.bar) == ("told", 0.5) and told.score is not None and told.score >= 0.5
    assert event["fetched_at"].startswith("2026") and told.since is not None and told.since < told.at


async def test_a_wall_is_noted_once_however_often_it_is_met(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        origin.bodies["/prices"] = b"<html><head><title>Just a moment...</title></head><body></body></html>"
        await trio.sleep(300)
        service.points.clear()
        await trio.sleep(6 * 3600)
        assert [one.came for one in notes_in(service.disk, source)] == ["baseline", "failed"]
        assert "not the page itself" in notes_in(service.disk, source)[-1].reason


async def test_another_selector_begins_with_a_new_baseline_and_keeps_the_notes(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/prices"] = page(*PROSE)
        source = (await service.add(PAGE)).view.source.id
        await edit(service.registry, source)
        stored = unpack_memory(service.disk.sources()[source].base)
        assert stored.tier and len(read_notes(stored.notes)) == 1, "a change under way is compared with it first"
        await trio.sleep(600)
        assert [one.came for one in notes_in(service.disk, source)] == ["baseline", "baseline"]
        assert await service.events() == []


async def edit(registry: Registry, source: SourceId) -> None:

    await registry._service.edit(source, SourcePatch(selector="main"))
