"""The hub's queues: keys take turns, and a full queue drops the last entry of the busiest key."""

from __future__ import annotations

import trio

from extras.publish.hub import SPARE, RoundQueue


async def all_of(turns: RoundQueue[str]) -> list[str]:
    return [(await turns.get())[0] for _ in range(len(turns))]


async def test_the_busiest_of_its_keys_says_when_a_thing_is_next() -> None:
    turns = RoundQueue[str](100)
    for number in range(3):
        turns.put_nowait(f"a{number}", ("a", f"at {number}"))
    for number in range(3):
        turns.put_nowait(f"x{number}", (f"x{number}", "at x"))
    assert await all_of(turns) == ["a0", "x0", "a1", "x1", "a2", "x2"]


async def test_a_late_request_waits_for_one_round() -> None:
    turns = RoundQueue[str](100)
    for number in range(9):
        turns.put_nowait(f"a{number}", ("a",))
    assert [(await turns.get())[0] for _ in range(4)] == ["a0", "a1", "a2", "a3"]
    turns.put_nowait("b", ("b",))
    assert (await all_of(turns))[:2] == ["b", "a4"]


async def test_one_too_many_drops_the_last_of_the_busiest() -> None:
    turns = RoundQueue[str](3)
    for thing in ("a0", "a1", "a2"):
        turns.put_nowait(thing, ("a",))
    turns.put_nowait("b", ("b",))
    assert await all_of(turns) == ["a0", "b", "a1"]
    with trio.move_on_after(0):
        await turns.get()
        raise AssertionError("it is empty")


async def test_keys_of_past_rounds_are_forgotten() -> None:
    turns = RoundQueue[str](3)
    for number in range(3 * SPARE):
        turns.put_nowait("thing", (str(number), "same"))
        await turns.get()
    assert len(turns._rounds) <= SPARE + 2
