from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio
from trio.testing import wait_all_tasks_blocked

from extras.cluster.postgres.engine import GatheredLookups
from storage.errors import Unavailable


class Pool:
    """Records the questions of each visit, and answers once `may` is set."""

    def __init__(self) -> None:
        self.visits: list[list[Any]] = []
        self.may = trio.Event()
        self.error: Exception | None = None

    async def ask(self, queries: Sequence[Any]) -> Any:
        self.visits.append([*queries])
        await self.may.wait()
        if self.error is not None:
            raise self.error
        return [[query.parameters] for query in queries]


async def ask(asked: GatheredLookups, found: list[Any], given: str) -> None:
    try:
        found.append(await asked.one("q", (given,)))
    except Unavailable as error:
        found.append(error)


async def test_questions_during_a_visit_go_into_the_next_once_each() -> None:
    pool, found = Pool(), list[Any]()
    gathered = GatheredLookups(pool)  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, gathered, found, "a")
        await wait_all_tasks_blocked()
        for given in ("a", "b", "b", "c"):  # "a" again: the current visit may be too old for it
            nursery.start_soon(ask, gathered, found, given)
        await wait_all_tasks_blocked()
        pool.may.set()
    assert [sorted(query.parameters[0] for query in visit) for visit in pool.visits] == [["a"], ["a", "b", "c"]]
    assert sorted(found) == [("a",), ("a",), ("b",), ("b",), ("c",)]


async def test_a_cancelled_lookup_is_made_by_the_next_caller() -> None:
    pool, found = Pool(), list[Any]()
    gathered = GatheredLookups(pool)  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        with trio.move_on_after(0) as scope:
            nursery.start_soon(ask, gathered, found, "a")
            await gathered.one("q", ("a",))
        assert scope.cancelled_caught
        await wait_all_tasks_blocked()
        pool.may.set()
    assert found == [("a",)]


async def test_an_outage_reaches_all_of_a_visit_and_none_of_the_next() -> None:
    pool, found = Pool(), list[Any]()
    pool.may.set()
    gathered = GatheredLookups(pool)  # type: ignore[arg-type]
    pool.error = Unavailable("away")
    async with trio.open_nursery() as nursery:
        for given in "ab":
            nursery.start_soon(ask, gathered, found, given)
    assert [str(error) for error in found] == ["away", "away"]
    pool.error = None
    assert await gathered.one("q", ("a",)) == ("a",)
