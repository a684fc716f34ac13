"""The index of stories derives from the log: after any crash, the next start rebuilds the same one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from zlib import crc32

import msgspec
import pytest

from storage.append import Answer, events_of
from storage.records.destination import Met
from storage.records.event import Draft, Stored
from storage.records.identity import COUNTER_BITS, Seq, SourceId
from storage.secrets import Connection
from storage.sql.storage import Storage
from storage.sql.stores import log
from storage.sql.stores import log as index
from tests.storage.contract.builders import NOW, CountingMint, a_draft, a_harvest, a_source, a_state
from tests.storage.contract.engines import Engine

DAY = 86_400_000 << COUNTER_BITS


class Titles:
    """One title, one story."""

    def __init__(self) -> None:
        self.read = 0

    def marks(self, draft: Draft) -> Sequence[int]:
        return [kind << 32 | crc32(draft.title.encode()) for kind in (1, 2)]

    def marks_of(self, event: Stored) -> Sequence[int]:
        self.read += 1
        return self.marks(a_draft(msgspec.json.decode(event.body)["title"]))

    def story(self, source: SourceId, draft: Draft, earlier: Sequence[Stored]) -> str:
        for event in earlier:
            body = msgspec.json.decode(event.body)
            if body["title"] == draft.title and event.source != source:
                return str(body["story"])
        return ""


def stamp(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    return msgspec.json.encode({"id": event_id, "title": draft.title, "story": draft.story or event_id})


async def watched(storage: Storage) -> Storage:
    for number in (1, 2, 3):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)
    return storage


class Teller:
    def __init__(self, storage: Storage, mint: CountingMint | None = None) -> None:
        self.storage, self.mint, self.stories = storage, mint or CountingMint(), Titles()

    async def tell(self, source: int, *titles: int) -> list[str]:
        """Append events and return their stories."""
        return list(self.said(await self.append([a_harvest(source, *map(str, titles))])))

    async def append(self, harvests: Sequence[object], of: object = stamp) -> Sequence[Answer]:
        return await self.storage.log.append(harvests, self.storage.lease, self.mint, of, self.stories)  # type: ignore[arg-type]

    def said(self, answers: Sequence[Answer]) -> Iterator[str]:
        return (msgspec.json.decode(event.body)["story"] for event in events_of(answers))


async def test_a_story_is_found_in_later_appends_and_within_one(storage: Storage) -> None:
    teller = Teller(await watched(storage))
    first, other = await teller.tell(1, 1, 2)
    assert await teller.tell(2, 2, 1, 3) == [other, first, (await teller.tell(3, 3))[0]]
    again = list(teller.said(await teller.append([a_harvest(1, "7"), a_harvest(2, "7"), a_harvest(3, "7")])))
    assert len(set(again)) == 1
    assert (await teller.tell(3, 1)) == [first], "found by way of the second, it is still the first one's"


async def test_after_a_restart_memory_and_table_find_the_same_stories(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "LOT", 40)
    teller, known = Teller(await watched(await engine.start())), dict[int, str]()
    chance = random.Random(5)
    for turn in range(60):
        titles = chance.sample(range(50), 3)
        for title, story in zip(titles, await teller.tell(1 + turn % 3, *titles), strict=True):
            if turn % 3 and title in known:
                assert story in (known[title], story)
            known[title] = story
        if chance.random() < 0.2:
            await teller.storage.aclose()
            teller = Teller(await engine.start(), teller.mint)
    await teller.tell(1, *range(50))
    expected = await teller.tell(2, *range(50))
    await teller.storage.aclose()
    teller = Teller(await engine.start(), teller.mint)
    assert await teller.tell(3, *range(50)) == expected
    assert teller.stories.read <= 2 * 40, "the rest is in the table"
    await teller.storage.aclose()


async def test_uncommitted_events_join_no_story(storage: Storage) -> None:
    teller = Teller(await watched(storage))
    (first,) = await teller.tell(1, 1)

    def fails(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
        if draft.title == "9":
            raise ValueError("can't be encoded")
        return stamp(seq, event_id, source, draft)

    with pytest.raises(ValueError, match="encoded"):
        await teller.append([a_harvest(2, "1", "5"), a_harvest(3, "9")], fails)
    alone, both = await teller.tell(3, 5, 1)
    assert both == first
    assert (await teller.tell(2, 5)) == [alone]


async def test_a_rollback_before_the_commit_leaves_neither_event_nor_mark(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "LOT", 2)
    teller = Teller(await watched(storage))
    await teller.tell(1, 1, 2)

    def fails(*_: object) -> None:
        raise OSError("the power goes")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="power"):
        patched.setattr(log, "write_jars", fails)
        await teller.tell(2, 1, 2, 3, 4)

    def rows(connection: Connection) -> tuple[int, int, int]:
        events, newest = connection.execute("SELECT count(*), max(seq) FROM log").fetchone()
        marks, marked = connection.execute("SELECT count(*), max(seq) FROM story_mark").fetchone()
        return events, marks, newest - marked

    assert await storage.log._readers.run(rows) == (2, 4, 0)  # type: ignore[attr-defined]


async def test_a_story_ends_after_a_week_without_anything_new(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "LOT", 2)
    teller = Teller(await watched(storage))
    (first,) = await teller.tell(1, 1)
    for days, source, same in ((6, 2, True), (6, 3, True), (8, 1, False), (6, 2, True)):
        teller.mint.last = Seq(teller.mint.last + days * DAY)
        (story,) = await teller.tell(source, 1)
        assert (story == first) == same
        first = story


async def test_old_marks_go(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "LOT", 2)
    teller = Teller(await watched(storage))
    for title in range(60):
        teller.mint.last = Seq(teller.mint.last + DAY)
        await teller.tell(1, title)
    count = await storage.log._readers.run(lambda c: c.execute("SELECT count(*) FROM story_mark").fetchone()[0])  # type: ignore[attr-defined]
    assert count <= 2 * 14


async def test_a_log_of_before_has_stories_too_and_retention_takes_them(storage: Storage) -> None:
    await watched(storage)
    teller = Teller(storage)
    old = events_of(await storage.log.append([a_harvest(1, "1", "2")], storage.lease, teller.mint, stamp))
    assert await teller.tell(2, 1) == [msgspec.json.decode(old[0].body)["story"]]
    await storage.log.retain(teller.mint.last, 10, storage.lease)
    (fresh,) = await teller.tell(3, 2)
    assert fresh != msgspec.json.decode(old[1].body)["story"]


def met_of(alert: str, story: Seq, seq: int) -> Met:
    return Met(alert, story, Seq(seq))


async def test_an_alerts_stories_are_durable_and_the_first_event_counts(engine: Engine) -> None:
    storage = await engine.start()
    story, at = Seq(NOW << COUNTER_BITS), Seq((NOW << COUNTER_BITS) + 9)
    met = [met_of("a", story, 1), met_of("b", story, 2), met_of("a", story, 3)]
    await storage.outbox.advance("m", None, at, [], storage.lease, met=met)
    await storage.aclose()
    storage = await engine.start()
    assert await storage.outbox.met(story) == {"a": 1, "b": 2}
    later = Seq(at + 15 * DAY)
    await storage.outbox.advance("m", at, later, [], storage.lease, met=[met_of("a", later, 4)])
    assert await storage.outbox.met(story) == {}
    assert await storage.outbox.met(later) == {"a": 4}
    await storage.aclose()
