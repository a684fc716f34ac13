from __future__ import annotations

from collections.abc import Iterator, Sequence

import trio

from actors.overseer.order import AT_LEAST, MOST, Orders
from actors.overseer.rows import Row
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
    assert await orders.get("worst", "") == ["sources/2", "sources/4", "log", "sources/3", "sources/1"]
    assert await orders.get("path", "") == ["log", "sources/1", "sources/2", "sources/3", "sources/4"]
    assert (await orders.get("next", ""))[:3] == ["sources/3", "sources/4", "sources/2"]
    assert await orders.get("path", "state:ok") == ["log", "sources/3", "sources/4"]
    assert await orders.get("worst", "kind:part") == ["log"]


async def test_an_order_is_shared_for_a_while_and_then_made_anew(autojump_clock: object) -> None:
    tree = Tree(*TREE)
    orders = Orders(tree.slices)
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(orders.get, "worst", "")
    assert tree.walks == 1
    await trio.sleep(AT_LEAST + 0.1)
    await orders.get("worst", "")
    assert tree.walks == 2
    orders.forget()
    await orders.get("worst", "")
    assert tree.walks == 3


async def test_only_a_few_orders_are_kept(autojump_clock: object) -> None:
    orders = Orders(Tree(*TREE).slices)
    for number in range(MOST * 3):
        await orders.get("worst", f"word{number}")
    assert len(orders._kept) == MOST
