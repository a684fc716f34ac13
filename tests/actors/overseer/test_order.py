from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
import trio

from actors.overseer.rows import AT_LEAST, MOST, ChildSummary, Orders, Row, RowQuery
from storage.records.identity import Millis
from tests.actors.overseer.test_rows import a_row


class Tree:
    def __init__(self, *rows: Row) -> None:
        self.rows = rows
        self.walks = 0

    def slices(self) -> Iterator[Sequence[Row]]:
        self.walks += 1
        for row in self.rows:
            yield [row]


TREE = (
    a_row(path="log", kind="part", health=None, flag=None, tags=()),
    a_row(path="sources/1", state="paused"),
    a_row(path="sources/3", next=Millis(5)),
    a_row(path="sources/2", state="quarantined", next=Millis(9)),
    a_row(path="sources/4", flag="degraded", health=0.5, next=Millis(7)),
)


async def test_the_orders_of_a_tree(autojump_clock: object) -> None:
    orders = Orders(Tree(*TREE).slices)
    assert await orders.get(RowQuery("worst", "")) == ["sources/2", "sources/4", "log", "sources/3", "sources/1"]
    assert await orders.get(RowQuery("path", "")) == ["log", "sources/1", "sources/2", "sources/3", "sources/4"]
    assert (await orders.get(RowQuery("next", "")))[:3] == ["sources/3", "sources/4", "sources/2"]
    assert await orders.get(RowQuery("path", "state:ok")) == ["log", "sources/3", "sources/4"]
    assert await orders.get(RowQuery("worst", "kind:part")) == ["log"]


async def test_a_sort_order_is_cached_for_a_while_and_then_rebuilt(autojump_clock: object) -> None:
    tree = Tree(*TREE)
    orders = Orders(tree.slices)
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(orders.get, RowQuery())
    assert tree.walks == 1
    await trio.sleep(AT_LEAST + 0.1)
    await orders.get(RowQuery("worst", ""))
    assert tree.walks == 2
    orders.forget()
    await orders.get(RowQuery("worst", ""))
    assert tree.walks == 3


async def test_an_action_while_an_order_is_made_shows_in_the_next(autojump_clock: object) -> None:
    tree = Tree(*TREE)
    orders = Orders(tree.slices)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(orders.get, RowQuery())
        while not tree.walks:
            await trio.lowlevel.checkpoint()
        orders.forget()
    await orders.get(RowQuery())
    assert tree.walks == 2


async def test_only_a_few_sort_orders_are_cached(autojump_clock: object) -> None:
    orders = Orders(Tree(*TREE).slices)
    for number in range(MOST * 3):
        await orders.get(RowQuery(filter=f"word{number}"))
    assert len(orders._orders) == MOST


FOREST = (
    a_row(path="log", kind="part", health=None, flag=None, tags=(), error=""),
    a_row(path="sources", kind="part", health=None, flag=None, tags=(), error=""),
    a_row(path="web", kind="part", health=None, flag=None, tags=(), error="boom"),
    a_row(path="destinations/9", kind="destination", health=None, flag=None, name="https://hooks.test/in", title=""),
    a_row(path="destinations", kind="part", health=None, flag=None, tags=()),
    a_row(path="sources/1", restarts=2),
    a_row(path="sources/2", state="resting", title="Anchors"),
    a_row(path="sources/3", state="failing"),
)


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        (RowQuery(tree=True), "log sources web destinations"),
        (
            RowQuery(tree=True, open=frozenset({"sources"})),
            "log sources sources/3 sources/2 sources/1 web destinations",
        ),
        (
            RowQuery(tree=True, troubled=frozenset({"sources", "destinations"})),
            "log sources sources/3 sources/2 web destinations",
        ),
        (RowQuery(tree=True, filter="anchors"), "sources sources/2"),
        (RowQuery(tree=True, filter="state:ok kind:part"), "log sources web destinations"),
        (
            RowQuery("restarts", tree=True, open=frozenset({"sources"}), reverse=True),
            "destinations web sources sources/3 sources/2 sources/1 log",
        ),
        (RowQuery("error"), "web log sources destinations/9 destinations sources/1 sources/2 sources/3"),
        (RowQuery("name", "kind:html"), "sources/2 sources/1 sources/3"),
    ],
)
async def test_a_tree_shows_of_each_part_as_much_as_is_open(
    asked: RowQuery, paths: str, autojump_clock: object
) -> None:
    assert await Orders(Tree(*FOREST).slices).get(asked) == paths.split()


async def test_in_a_tree_parts_with_children_lead_when_the_worst_come_first(autojump_clock: object) -> None:
    """Ten healthy parts stood above the sources that failed."""
    parts = [a_row(path=name, kind="part", health=None, flag=None, tags=(), error="") for name in ("log", "web")]
    branches = [
        a_row(path=name, kind="part", health=None, flag=None, tags=(), error="", below=ChildSummary(count, "ok"))
        for name, count in (("destinations", 1), ("sources", 3))
    ]
    orders = Orders(Tree(*parts, *branches).slices)
    assert await orders.get(RowQuery(tree=True)) == ["sources", "destinations", "log", "web"]
    assert await orders.get(RowQuery("path", tree=True)) == ["destinations", "log", "sources", "web"]
