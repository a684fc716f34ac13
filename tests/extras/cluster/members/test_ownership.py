from __future__ import annotations

from collections import Counter

import trio
from trio.testing import wait_all_tasks_blocked

from extras.cluster.members.membership import SHARDS, SharedOwnership, owner
from storage.ownership import Ownership
from storage.records.member import Member, View
from tests.support.build import a_source


def a_view(number: int, *inside: str) -> View:
    return View(number, 0.0, tuple(Member(id, inside=True) for id in inside))


def test_every_member_has_a_share_and_when_one_leaves_only_its_own_moves() -> None:
    members = ("a-1", "b-2", "c-3")
    before = {key: owner(members, key) for key in map(str, range(SHARDS))}
    shares = Counter(before.values())
    assert all(290 <= shares[member] <= 390 for member in members)
    after = {key: owner(("a-1", "c-3"), key) for key in before}
    assert {key for key in before if before[key] != after[key]} == {key for key in before if before[key] == "b-2"}


def test_without_a_member_nothing_has_an_owner() -> None:
    assert owner((), "matcher") == ""
    assert not SharedOwnership("a").owns("matcher") and not SharedOwnership("a").watches(a_source())


def test_a_lone_node_owns_everything() -> None:
    alone = Ownership()
    assert alone.owns("matcher") and alone.watches(a_source()) and not alone.view.inside() and not alone.shared


def test_sources_of_one_host_have_one_owner_with_and_without_www() -> None:
    view = a_view(1, "a", "b", "c")
    nodes = [SharedOwnership(name) for name in view.inside()]
    for node in nodes:
        node.take(view)
    for host in ("one.example", "two.example", "three.example", "four.example"):
        urls = (f"https://{host}/feed", f"http://www.{host}:8080/other")
        owners = [[node.watches(a_source(url=url, watch_url=url)) for node in nodes] for url in urls]
        assert owners[0] == owners[1] and sum(owners[0]) == 1


def test_an_older_view_changes_nothing() -> None:
    node = SharedOwnership("a")
    node.take(a_view(2, "a"))
    node.take(a_view(1, "b"))
    assert node.owns("matcher") and node.view.number == 2


async def test_a_run_ends_when_the_key_becomes_another_nodes_and_begins_when_it_comes_back() -> None:
    node, ran = SharedOwnership("a"), list[str]()

    async def run() -> None:
        ran.append("begun")
        try:
            await trio.sleep_forever()
        finally:
            ran.append("ended")

    async def keep_running() -> None:
        while True:
            while not node.owns("matcher"):
                await node.wait_moved(node.view.number)
            await node.during("matcher", run)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_running)
        await wait_all_tasks_blocked()
        assert ran == []
        for number, (inside, seen) in enumerate(
            [(("a",), 1), (("b",), 2), (("a", "b"), None), (("b",), None), (("a",), None)]
        ):
            node.take(a_view(number, *inside))
            await wait_all_tasks_blocked()
            assert seen is None or len(ran) == seen
            assert (len(ran) % 2 == 1) is node.owns("matcher")
        nursery.cancel_scope.cancel()


async def test_a_run_for_as_long_as_it_is_another_nodes_ends_at_once_when_it_is_not() -> None:
    node = SharedOwnership("a")
    node.take(a_view(1, "a"))
    with trio.fail_after(5):
        await node.during("matcher", trio.sleep_forever, owned=False)
        await Ownership().during("matcher", trio.sleep_forever, owned=False)
