"""Screenshots: stored with their event, deleted by age, by size, with the event and with the source."""

from __future__ import annotations

from msgspec.structs import replace

from storage.records.event import Delta, DeltaStats, KeptPicture, Picture
from storage.records.identity import START, Millis, Seq
from storage.records.source import Harvest
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW, CountingMint, a_draft, a_source, a_source_id, a_state, stamp
from tests.support.pictures import PNG, WEBP

ID = a_source_id(1)
CHANGE = a_draft("it changed", delta=Delta((), DeltaStats(0, 0, 0, 0)))


def a_picture(at: int, body: bytes = PNG) -> Picture:
    return Picture("image/png" if body.startswith(b"\x89") else "image/webp", body, Millis(NOW + at))


async def kept(storage: Storage, mint: CountingMint, picture: Picture, *titles: str) -> list[Seq]:
    """Append a change with its screenshot after other events of one harvest; return their positions."""
    drafts = (*map(a_draft, titles), CHANGE)
    harvest = Harvest(ID, drafts, None, picture=picture)
    (answer,) = await storage.log.append([harvest], storage.lease, mint, stamp)
    assert isinstance(answer, (list, tuple))
    return [event.seq for event in answer]


async def with_first(storage: Storage) -> CountingMint:
    mint = CountingMint()
    born = Harvest(ID, (), a_state(1, b""), born=a_source(1), picture=a_picture(0, WEBP))
    await storage.log.append([born], storage.lease, mint, stamp)
    return mint


async def test_a_picture_comes_with_its_change_and_the_first_check_has_one_without_an_event(storage: Storage) -> None:
    mint = await with_first(storage)
    assert await storage.pictures.newest(ID) == KeptPicture(START, NOW, "image/webp", len(WEBP))
    _, change = await kept(storage, mint, a_picture(5), "a notice")
    before, after = await storage.pictures.around(ID, change)
    assert before is not None and after is not None
    assert (before.seq, after.seq, after.at) == (START, change, NOW + 5)
    assert await storage.pictures.get(ID, change) == a_picture(5)
    assert await storage.pictures.newest(ID) == after
    (later,) = await kept(storage, mint, a_picture(9))
    assert (await storage.pictures.around(ID, later))[0] == after


async def test_another_first_check_takes_the_place_of_the_one_before(storage: Storage) -> None:
    mint = await with_first(storage)
    again = Harvest(ID, (), a_state(1, b"x"), picture=a_picture(3))
    await storage.log.append([again], storage.lease, mint, stamp)
    assert await storage.pictures.get(ID, START) == a_picture(3)


async def test_a_harvest_that_is_refused_leaves_no_picture(storage: Storage) -> None:
    mint = await with_first(storage)
    stale = replace(a_state(1, b"x"), since=12345)
    await storage.log.append([Harvest(ID, (CHANGE,), stale, picture=a_picture(5))], storage.lease, mint, stamp)
    assert await storage.pictures.newest(ID) == KeptPicture(START, NOW, "image/webp", len(WEBP))


async def test_an_unknown_source_has_no_picture(storage: Storage) -> None:
    assert await storage.pictures.newest(ID) is None
    assert await storage.pictures.around(ID, Seq(5)) == (None, None)
    assert await storage.pictures.get(ID, START) is None


async def test_pictures_go_by_age_with_their_events_and_by_room_the_oldest_first(storage: Storage) -> None:
    mint = await with_first(storage)
    changes = [(await kept(storage, mint, a_picture(at)))[0] for at in (10, 20, 30, 40)]

    async def left() -> list[int]:
        found = [await storage.pictures.get(ID, seq) for seq in (START, *changes)]
        return [one.at - NOW for one in found if one is not None]

    pictures, much = storage.pictures, 1 << 30
    assert await pictures.prune(Millis(NOW), START, much, 10) == 0
    assert await pictures.prune(Millis(NOW + 1), START, much, 10) == 1
    assert await pictures.prune(Millis(0), changes[0], much, 10) == 1
    assert await left() == [20, 30, 40]
    assert await pictures.prune(Millis(0), START, 2 * len(PNG), 10) == 1
    assert await left() == [30, 40]
    assert await pictures.prune(Millis(0), START, 0, 1) == 1
    assert await left() == [40]


async def test_a_source_takes_its_pictures_along_when_it_is_forgotten(storage: Storage) -> None:
    mint = await with_first(storage)
    (change,) = await kept(storage, mint, a_picture(5))
    await storage.sources.delete(ID, storage.lease)
    assert await storage.pictures.around(ID, change) == (None, None)
    assert await storage.pictures.newest(ID) is None
