from __future__ import annotations

from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW, a_bin, a_capture
from tests.storage.contract.engines import Engine

ROOM = 1 << 20


async def keep(storage: Storage, bin_id: str, *bodies: bytes, most: int = 100, room: int = ROOM) -> None:
    for body in bodies:
        assert await storage.bins.capture(bin_id, a_capture(body), keep=most, room=room)


async def bodies(storage: Storage, bin_id: str) -> list[bytes]:
    page = await storage.bins.captures(bin_id, None, 1000, 1 << 30)
    assert not page.more
    return [kept.capture.body for kept in page.captures]


async def test_a_bin_is_found_by_its_token_and_by_its_id(storage: Storage) -> None:
    one, two = a_bin("one", created_at=NOW + 1), a_bin("two")
    await storage.bins.add(one)
    await storage.bins.add(two)
    assert await storage.bins.by_token(one.token) == one
    assert await storage.bins.by_token("one") is None
    assert await storage.bins.get("two") == two
    assert list(await storage.bins.all()) == [two, one]
    assert one.token not in repr(one)


async def test_a_capture_comes_back_as_it_was_newest_first(engine: Engine) -> None:
    storage = await engine.start()
    await storage.bins.add(a_bin("one"))
    capture = a_capture(bytes(range(256)), truncated=True, size=9_000)
    assert await storage.bins.capture("one", capture, keep=100, room=ROOM)
    await keep(storage, "one", b"newer")
    await storage.aclose()
    again = await engine.start()
    page = await again.bins.captures("one", None, 10, ROOM)
    assert [kept.capture.body for kept in page.captures] == [b"newer", capture.body]
    assert page.captures[1].capture == capture
    await again.aclose()


async def test_a_list_goes_on_before_a_number_and_ends_at_a_limit_or_a_size(storage: Storage) -> None:
    await storage.bins.add(a_bin("one"))
    await keep(storage, "one", *(bytes([n]) * 1000 for n in range(5)))
    first = await storage.bins.captures("one", None, 2, ROOM)
    rest = await storage.bins.captures("one", first.captures[-1].number, 3, ROOM)
    assert [kept.capture.body[0] for kept in (*first.captures, *rest.captures)] == [4, 3, 2, 1, 0]
    assert (first.more, rest.more) == (True, False)
    weight = a_capture(bytes(1000)).weight
    assert (await storage.bins.captures("one", 0, 3, ROOM)).captures == []
    assert len((await storage.bins.captures("one", 1 << 70, 9, ROOM)).captures) == 5
    for size, count in ((0, 1), (weight, 1), (2 * weight - 1, 1), (2 * weight, 2), (5 * weight, 5)):
        page = await storage.bins.captures("one", None, 10, size)
        assert (len(page.captures), page.more) == (count, count < 5)


async def test_x17_a_bin_keeps_its_newest_captures(storage: Storage) -> None:
    for name in ("one", "two"):
        await storage.bins.add(a_bin(name))
    await keep(storage, "two", b"stays", most=3)
    await keep(storage, "one", b"1", b"2", b"3", b"4", b"5", most=3)
    assert await bodies(storage, "one") == [b"5", b"4", b"3"]
    assert await bodies(storage, "two") == [b"stays"]


async def test_x17_captures_of_the_heaviest_bin_go_when_there_is_no_room(storage: Storage) -> None:
    for name in ("one", "two", "three"):
        await storage.bins.add(a_bin(name))
    weight = a_capture(bytes(1000)).weight
    for number, name in enumerate(("one", "two", "one", "two")):
        await keep(storage, name, bytes([number]) * 1000, room=3 * weight)
    assert [body[0] for body in await bodies(storage, "one")] == [2]
    assert [body[0] for body in await bodies(storage, "two")] == [3, 1]
    await storage.bins.delete("two")  # frees the space that it held
    await keep(storage, "three", bytes([8]) * 1000, bytes([9]) * 1000, room=3 * weight)
    assert [body[0] for body in await bodies(storage, "one")] == [2]
    assert [body[0] for body in await bodies(storage, "three")] == [9, 8]


async def test_x17_s12_a_bin_that_is_sent_much_takes_its_own_captures_and_no_other_bins(storage: Storage) -> None:
    for name in ("quiet", "loud", "late"):
        await storage.bins.add(a_bin(name))
    weight = a_capture(bytes(1000)).weight
    await keep(storage, "quiet", bytes([1]) * 1000, bytes([2]) * 1000, room=6 * weight)
    await keep(storage, "loud", *(bytes([n]) * 1000 for n in range(20)), room=6 * weight)
    assert [body[0] for body in await bodies(storage, "quiet")] == [2, 1]
    assert [body[0] for body in await bodies(storage, "loud")] == [19, 18, 17, 16]
    await keep(storage, "late", bytes([7]) * 1000, room=weight)
    assert [[body[0] for body in await bodies(storage, name)] for name in ("quiet", "loud", "late")] == [[2], [19], [7]]


async def test_a_request_to_a_deleted_bin_is_not_stored(storage: Storage) -> None:
    await storage.bins.add(a_bin("one"))
    await keep(storage, "one", b"1")
    assert await storage.bins.delete("one")
    assert not await storage.bins.delete("one")
    assert not await storage.bins.capture("one", a_capture(), keep=100, room=ROOM)
    assert await bodies(storage, "one") == []


async def test_expired_bins_are_swept_a_few_at_a_time(storage: Storage) -> None:
    for name, age in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
        await storage.bins.add(a_bin(name, expires_at=NOW + age))
        await keep(storage, name, b"1")
    now = Millis(NOW + 3)
    assert await storage.bins.sweep(now, 2) == 2
    assert await storage.bins.sweep(now, 2) == 1
    assert await storage.bins.sweep(now, 2) == 0
    assert [bin.id for bin in await storage.bins.all()] == ["d"]
    assert await bodies(storage, "c") == []


async def test_s12_bins_sharing_space_are_weighed_once_for_many_captures(storage: Storage) -> None:
    names = [f"bin {number}" for number in range(120)]
    weight = a_capture(bytes(1000)).weight
    for name in names:
        await storage.bins.add(a_bin(name))
        await keep(storage, name, *(bytes([n]) * 1000 for n in range(3)), room=360 * weight)
    await keep(storage, names[0], bytes([3]) * 1000, room=360 * weight)
    left = [[body[0] for body in await bodies(storage, name)] for name in names]
    assert left[0] == [3, 2] and all(body[0] == 2 for body in left[1:])
    assert sum(map(len, left)) == 361 - 7
