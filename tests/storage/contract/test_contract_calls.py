from __future__ import annotations

import trio

from storage.records.access import KeptCall
from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW
from tests.storage.contract.engines import Engine

DAY = 86_400_000
LONG_AGO = Millis(NOW - DAY)


def a_call(key: str = "key", at: int = NOW, **more: str) -> KeptCall:
    planned = more.get("id", f"id of {at}")
    return KeptCall(key, more.get("fingerprint", "asked"), Millis(at), planned, node=more.get("node", ""))


async def test_the_first_call_of_a_key_stands_and_gets_its_answer(storage: Storage) -> None:
    first = a_call()
    assert await storage.calls.begin(first, LONG_AGO) == first
    assert await storage.calls.begin(a_call(at=NOW + 1, fingerprint="other"), LONG_AGO) == first
    await storage.calls.finish("key", b"\x00answer")
    stands = await storage.calls.begin(a_call(at=NOW + 2), LONG_AGO)
    assert (stands.answer, stands.id, stands.fingerprint) == (b"\x00answer", first.id, "asked")
    other = a_call("other key", NOW + 3)
    assert await storage.calls.begin(other, LONG_AGO) == other


async def test_one_of_many_concurrent_calls_stands(storage: Storage) -> None:
    found: list[str] = []

    async def begin(number: int) -> None:
        found.append((await storage.calls.begin(a_call(at=NOW + number), LONG_AGO)).id)

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(begin, number)
    assert len(found) == 10 and len(set(found)) == 1


async def test_old_or_forgotten_calls_stand_no_more(storage: Storage) -> None:
    await storage.calls.begin(a_call(at=NOW), LONG_AGO)
    await storage.calls.finish("key", b"old")
    later = a_call(at=NOW + DAY + 1)
    assert await storage.calls.begin(later, Millis(NOW + 1)) == later
    await storage.calls.forget("key")
    newest = a_call(at=NOW + DAY + 2)
    assert await storage.calls.begin(newest, LONG_AGO) == newest
    await storage.calls.forget("unknown")
    await storage.calls.finish("unknown", b"nobody asked")
    unknown = a_call("unknown")
    assert await storage.calls.begin(unknown, LONG_AGO) == unknown


async def test_a_run_without_an_answer_is_released_to_any_node(storage: Storage) -> None:
    first = a_call(node="a")
    await storage.calls.begin(first, LONG_AGO)
    assert (await storage.calls.begin(a_call(node="b"), LONG_AGO, ("a", "b"))).node == "a"
    await storage.calls.release("key")
    taken = await storage.calls.begin(a_call(id="another", node="b"), LONG_AGO, ("a", "b"))
    assert (taken.node, taken.id) == ("b", first.id)
    await storage.calls.finish("key", b"answer")
    await storage.calls.release("key")
    assert (await storage.calls.begin(a_call(node="a"), LONG_AGO, ("a", "b"))).answer == b"answer"


async def test_a_call_outlives_the_process_that_began_it(engine: Engine) -> None:
    storage = await engine.start()
    await storage.calls.begin(a_call(), LONG_AGO)
    await storage.aclose()
    again = await engine.start()
    assert await again.calls.begin(a_call(at=NOW + 1), LONG_AGO) == a_call()
    await again.aclose()


async def test_a_sweep_deletes_the_oldest_and_the_excess(storage: Storage) -> None:
    for number in range(10):
        await storage.calls.begin(a_call(f"key {number}", NOW + number), LONG_AGO)
    sweep = storage.calls.sweep
    assert await sweep(Millis(NOW), 10, 100) == 0
    assert await sweep(Millis(NOW + 3), 10, 2) == 2
    assert await sweep(Millis(NOW + 3), 10, 100) == 1
    assert await sweep(Millis(NOW), 4, 100) == 3
    stands = [await storage.calls.begin(a_call(f"key {number}", NOW + 99), LONG_AGO) for number in range(10)]
    assert [call.at == NOW + 99 for call in stands] == [True] * 6 + [False] * 4


async def test_a_call_is_taken_over_by_one_node_only_after_its_own_node_is_gone(
    storage: Storage,
) -> None:
    first = a_call(node="a")
    await storage.calls.begin(first, LONG_AGO)
    assert await storage.calls.begin(a_call(at=NOW + 1, node="b"), LONG_AGO, ("a", "b")) == first
    found: list[KeptCall] = []

    async def take_up(node: str) -> None:
        found.append(await storage.calls.begin(a_call(at=NOW + 2, node=node), LONG_AGO, ("b", "c")))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_up, "b")
        nursery.start_soon(take_up, "c")
    assert {call.id for call in found} == {first.id}
    (taken,) = {call.node for call in found}
    assert taken in {"b", "c"}
    await storage.calls.finish("key", b"answer")
    answered = await storage.calls.begin(a_call(at=NOW + 3, node="d"), LONG_AGO)
    assert (answered.answer, answered.node) == (b"answer", taken)
