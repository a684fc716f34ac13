from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace

from actors.errors import NotFound, Stale
from actors.matcher import Matcher
from actors.messages.requests import DetectRequest, SourcePatch, TagSettings
from actors.messages.sources import (
    CheckNow,
    DeleteSource,
    DescribeSource,
    DetectUrl,
    EditSource,
    RestoreSource,
    SetTagDefaults,
)
from actors.messages.views import AddedSource
from actors.messages.workers import AlertsChanged
from extras.publish.hub import HUB_KEY
from storage.errors import Unavailable
from storage.ownership import MATCHER
from storage.records.destination import Match
from storage.records.member import WEB
from storage.records.revision import Expected, revision_of
from storage.sql.stores.outbox import Outbox
from storage.sql.stores.sources import _REVISION
from tests.actors.sources.harness import rss
from tests.extras.cluster.members.harness import Land, Node
from tests.support.memory_network import Answer, ReceivedRequest, web

LOOKED = 300.0
"""Seconds for a check of each source and the delivery of its events."""


def owner_of(url: str, *nodes: Node) -> tuple[Node, Node]:
    """Return the node that watches a URL, and another one."""
    (mine,) = [node for node in nodes if url in node.watched()]
    return mine, next(node for node in nodes if node is not mine)


async def test_nodes_share_the_sources_and_each_lists_all(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        urls = {land.site(number) for number in range(12)}
        for number, url in enumerate(sorted(urls)):
            await (a, b)[number % 2].add(url)
        await trio.sleep(2)
        assert a.knows() == b.knows() == urls
        assert a.watched() | b.watched() == urls and not a.watched() & b.watched()
        assert len(a.watched()) > 1 and len(b.watched()) > 1
        for number in range(12):
            land.publish(number, "first", f"news {number}")
        await trio.sleep(LOOKED)
        assert land.told() == {f"news {number}": 1 for number in range(12)}
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("wish", [{}, {"backfill": 1}])
async def test_twins_added_through_two_nodes_at_once_become_one_source(
    wish: dict[str, int], autojump_clock: object
) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        land.origins["site1.test"].bodies["/feed/"] = rss("first")
        added: list[AddedSource] = []

        async def add(node: Node, url: str) -> None:
            added.append(await node.add(url, **wish))

        async with trio.open_nursery() as at_once:
            for node, twin in ((a, url), (b, f"{url}/"), (b, url), (a, f"{url}/")):
                at_once.start_soon(add, node, twin)
        await trio.sleep(2)
        assert len({each.view.source.id for each in added}) == 1 and sum(each.created for each in added) == 1
        assert len(a.sources()) == len(b.sources()) == 1 and len(a.watched() | b.watched()) == 1
        assert land.told() == ({"first": 1} if wish else {})
        nursery.cancel_scope.cancel()


async def test_the_owner_follows_another_nodes_edit_or_deletion(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        added = await a.add(url)
        await trio.sleep(2)
        mine, other = owner_of(url, a, b)
        source, patch = added.view.source.id, SourcePatch(enabled=False)
        await other.system.registry_box.ask(lambda reply: EditSource(source, patch, reply))
        await trio.sleep(2)
        assert url not in mine.watched() and not mine.sources()[0].enabled
        resumed = SourcePatch(enabled=True, tags=("label:x",))
        await other.system.registry_box.ask(lambda reply: EditSource(source, resumed, reply))
        await trio.sleep(2)
        assert url in mine.watched() and mine.sources()[0].tags == ("label:x",)
        await other.system.registry_box.ask(lambda reply: DeleteSource(source, reply))
        await trio.sleep(2)
        assert not mine.knows() and not mine.watched() and not other.knows()
        looks = len(land.origins["site1.test"].asked)
        await trio.sleep(LOOKED)
        assert len(land.origins["site1.test"].asked) == looks
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("what", ["edit", "delete"])
async def test_a_check_through_another_node_undoes_no_edit_and_no_deletion(autojump_clock: object, what: str) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery, cadence_floor=10.0)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        source = (await a.add(url, schedule="1d")).view.source.id
        await trio.sleep(60)
        mine, other = owner_of(url, a, b)
        update, patch, calls = other.storage.sources.update, SourcePatch(title="Mine"), list[Any]()

        async def change_before_update(*given: Any, **named: Any) -> None:
            calls.append(given)
            if len(calls) == 1 and what == "edit":
                await mine.system.registry_box.ask(lambda reply: EditSource(source, patch, reply))
            elif len(calls) == 1:
                await mine.system.registry_box.ask(lambda reply: DeleteSource(source, reply))
            await update(*given, **named)

        other.storage.sources.update = change_before_update  # type: ignore[method-assign]
        with suppress(NotFound):
            await other.system.registry_box.ask(lambda reply: CheckNow(source, reply))
        await trio.sleep(2)
        assert calls
        if what == "edit":
            assert [each.title for each in (*mine.sources(), *other.sources())] == ["Mine"] * 2
        else:
            assert not mine.knows() and not other.knows() and await other.storage.sources.get(source) is None
        nursery.cancel_scope.cancel()


async def test_defaults_of_a_tag_that_one_node_sets_hold_at_the_node_that_watches(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        source = (await a.add(url, tags=("label:x",), schedule=None)).view.source.id
        await trio.sleep(2)
        mine, other = owner_of(url, a, b)
        wish = TagSettings(schedule="1m")
        await other.system.registry_box.ask(lambda reply: SetTagDefaults("label:x", wish, reply))
        await trio.sleep(2)
        for node in (mine, other):
            view = await node.system.registry_box.ask(lambda reply: DescribeSource(source, reply))
            assert (view.source.schedule, view.effective.schedule) == (None, 60)
        looks = len(land.origins["site1.test"].asked)
        await trio.sleep(600)
        assert len(land.origins["site1.test"].asked) - looks >= 9
        nursery.cancel_scope.cancel()


async def test_a_source_deleted_by_one_node_can_be_restored_by_another(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        source = (await a.add(url)).view.source.id
        await trio.sleep(2)
        await a.system.registry_box.ask(lambda reply: DeleteSource(source, reply))
        await trio.sleep(2)
        assert a.knows() == b.knows() == set() and not a.watched() | b.watched()
        await b.system.registry_box.ask(lambda reply: RestoreSource(source, reply))
        await trio.sleep(2)
        assert a.knows() == b.knows() == {url} == a.watched() | b.watched()
        nursery.cancel_scope.cancel()


async def test_the_owner_makes_a_check_for_any_node(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery, cadence_floor=10.0)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        added = await a.add(url, schedule="1d")
        await trio.sleep(60)
        _, other = owner_of(url, a, b)
        land.publish(1, "first", "news")
        await other.system.registry_box.ask(lambda reply: CheckNow(added.view.source.id, reply))
        await trio.sleep(5)
        assert land.told() == {"news": 1}
        nursery.cancel_scope.cancel()


async def test_a_node_that_leaves_is_followed_at_once_and_one_that_is_killed_within_seconds(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b, c = [await land.start(name) for name in "abc"]
        urls = {land.site(number) for number in range(12)}
        for url in sorted(urls):
            await a.add(url)
        await trio.sleep(2)
        a.system.stop()
        await trio.sleep(4)
        assert b.watched() | c.watched() == urls and not b.watched() & c.watched()
        c.kill()
        await trio.sleep(10)
        assert b.watched() == urls
        for number in range(12):
            land.publish(number, "first", f"news {number}")
        await trio.sleep(LOOKED)
        assert land.told() == {f"news {number}": 1 for number in range(12)}
        nursery.cancel_scope.cancel()


async def test_a_node_that_cannot_reach_the_database_parks_and_comes_back(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        urls = {land.site(number) for number in range(8)}
        for url in sorted(urls):
            await a.add(url)
        await trio.sleep(2)
        land.disk.away.add(b.storage.lease.epoch)
        await trio.sleep(12)
        assert a.watched() == urls
        assert "no checks run" in b.system.readiness()["members"]
        asked = {host: len(origin.asked) for host, origin in land.origins.items()}
        for number in range(8):
            land.publish(number, "first", f"news {number}")
        await trio.sleep(LOOKED)
        assert land.told() == {f"news {number}": 1 for number in range(8)}
        assert all(len(origin.asked) > asked[host] for host, origin in land.origins.items())
        land.disk.away.clear()
        await trio.sleep(10)
        assert a.watched() | b.watched() == urls and not a.watched() & b.watched()
        assert b.watched() and b.system.readiness()["members"] == ""
        for number in range(8):
            land.publish(number, "first", f"news {number}", f"more {number}")
        await trio.sleep(LOOKED)
        assert sum(land.told().values()) == 16 and set(land.told().values()) == {1}
        nursery.cancel_scope.cancel()


async def test_one_matches_and_each_destination_has_one_owner_also_over_kills(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        nodes = [await land.start(name) for name in "abc"]
        urls = [land.site(number) for number in range(6)]
        for url in urls:
            await nodes[0].add(url)
        hosts = [land.hook(number) for number in range(6)]
        await nodes[1].alert("news", *hosts)
        await trio.sleep(2)
        owned = [set(node.system.deliveries._actors) for node in nodes]
        assert sum(map(len, owned)) == 6 and len(set.union(*owned)) == 6
        matching = [node for node in nodes if node.storage.ownership.owns("matcher")]
        assert len(matching) == 1
        for round_, gone in enumerate((None, matching[0])):
            if gone is not None:
                gone.kill()
            for number in range(6):
                land.publish(number, "first", f"news {round_} {number}")
            await trio.sleep(LOOKED)
        assert land.told() == {f"news {round_} {number}": 1 for round_ in range(2) for number in range(6)}
        posted = [(post.headers["host"], post.headers["webhook-id"]) for post in land.posts]
        assert len(posted) == len(set(posted)) == 72
        nursery.cancel_scope.cancel()


async def test_an_alert_changed_on_any_node_holds_for_the_next_event(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        await a.add(url)
        other = b if a.storage.ownership.owns("matcher") else a
        alert = await other.alert("rain", land.hook(0))
        await trio.sleep(5)
        await other.realert(alert, "sun")
        land.publish(1, "first", "rain again", "sun at last")
        await trio.sleep(LOOKED)
        assert [msgspec.json.decode(post.body)["title"] for post in land.posts] == ["sun at last"]
        nursery.cancel_scope.cancel()


async def test_two_nodes_may_add_edit_and_delete_one_source_at_once(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url, added = land.site(1), list[AddedSource]()

        async def add(node: Node) -> None:
            added.append(await node.add(url))

        async with trio.open_nursery() as both:
            both.start_soon(add, a)
            both.start_soon(add, b)
        assert sorted(each.created for each in added) == [False, True]
        source = added[0].view.source.id
        assert {each.view.source.id for each in added} == {source}

        refused = list[Stale]()

        async def edit(node: Node, expected: Expected, **changes: object) -> None:
            patch = SourcePatch(**changes)  # type: ignore[arg-type]
            try:
                await node.system.registry_box.ask(lambda reply: EditSource(source, patch, reply, expected))
            except Stale as stale:
                refused.append(stale)

        async with trio.open_nursery() as both:
            both.start_soon(partial(edit, a, None, tags=("label:x",)))
            both.start_soon(partial(edit, b, None, title="Ours"))
        await trio.sleep(2)
        assert {(node.sources()[0].tags, node.sources()[0].title) for node in (a, b)} == {(("label:x",), "Ours")}
        expected = (revision_of(a.sources()[0]),)
        async with trio.open_nursery() as both:
            both.start_soon(partial(edit, a, expected, title="A"))
            both.start_soon(partial(edit, b, expected, title="B"))
        await trio.sleep(2)
        assert len(refused) == 1 and a.sources() == b.sources()
        nursery.cancel_scope.cancel()


async def test_a_source_added_at_one_node_is_found_at_another_at_once(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        added = await a.add(land.site(1))
        found = await b.system.registry_box.ask(lambda reply: DescribeSource(added.view.source.id, reply))
        assert found.source == added.view.source
        await a.system.registry_box.ask(lambda reply: DeleteSource(added.view.source.id, reply))
        await trio.sleep(2)
        with pytest.raises(NotFound):
            await b.system.registry_box.ask(lambda reply: DescribeSource(added.view.source.id, reply))
        nursery.cancel_scope.cancel()


async def test_a_sample_goes_to_a_destination_of_another_node_and_rows_put_there_are_found(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        await a.alert("", land.hook(0))
        url = land.site(1)
        await a.add(url)
        await trio.sleep(2)
        mine, other = (a, b) if a.system.deliveries.mailbox("hook-0") is not None else (b, a)
        assert other.system.deliveries.mailbox("hook-0") is None
        destination = await other.storage.alerts.destination("hook-0")
        assert destination is not None
        found = await other.system.deliveries.test_without_actor(destination)
        assert (found.result, len(land.posts)) == ("sent", 1)
        land.publish(1, "first", "news")
        await trio.sleep(LOOKED)
        assert len(land.posts) == 2
        (event,) = land.disk.events()
        again = [Match("hook-0", event.seq, mine.world.now())]
        assert await other.storage.outbox.enqueue(again, other.storage.lease) == 1
        await trio.sleep(2)
        assert [post.headers["webhook-id"] for post in land.posts[1:]] == [land.posts[1].headers["webhook-id"]] * 2
        nursery.cancel_scope.cancel()


async def test_every_node_shows_a_sources_coverage_within_two_minutes(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        added = await a.add(url)
        await trio.sleep(LOOKED)
        _, other = owner_of(url, a, b)
        view = await other.system.registry_box.ask(lambda reply: DescribeSource(added.view.source.id, reply))
        assert view.hot.last_look_at is not None and not view.overdue
        assert other.world.now() - view.hot.last_look_at < 125_000
        nursery.cancel_scope.cancel()


async def test_a_web_node_watches_matches_and_delivers_nothing_and_yet_takes_every_request(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        web, works = await land.start("web", WEB), await land.start("works")
        urls = {land.site(number) for number in range(8)}
        for url in sorted(urls):
            await web.add(url)
        await web.alert("news", *(land.hook(number) for number in range(4)))
        await trio.sleep(2)
        assert web.knows() == urls == works.watched() and not web.watched()
        assert not web.system.deliveries._actors and not web.storage.ownership.owns("matcher")
        for number in range(8):
            land.publish(number, "first", f"news {number}")
        await trio.sleep(LOOKED)
        assert land.told() == {f"news {number}": 1 for number in range(8)}
        assert len(land.posts) == 32
        assert not [more for name, more in web.logged if name == "actor.crashed"]  # a division by an empty budget
        works.kill()
        await trio.sleep(10)
        assert not web.watched() and web.storage.ownership.view.inside() and not web.storage.ownership.view.working()
        assert ("members.nobody_watches", "warning") in {(name, more.get("level")) for name, more in web.logged}
        await land.start("works again")
        assert not web.watched()
        nursery.cancel_scope.cancel()


async def test_a_drain_holds_on_all_nodes_and_for_those_that_come(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        for number in range(6):
            await a.add(land.site(number))
        await trio.sleep(LOOKED)
        await a.system.overseer.drain(True)
        await trio.sleep(LOOKED)
        c = await land.start("c")
        asked = {host: len(origin.asked) for host, origin in land.origins.items()}
        await trio.sleep(LOOKED)
        assert {host: len(origin.asked) for host, origin in land.origins.items()} == asked
        assert all(node.system.overseer.pause_switch.is_drained for node in (a, b, c))
        assert c.system.readiness()["draining"] == ""  # or no node would be ready
        await c.system.overseer.drain(False)
        await trio.sleep(LOOKED)
        assert all(len(origin.asked) > asked[host] for host, origin in land.origins.items())
        assert not any(node.system.overseer.pause_switch.is_drained for node in (a, b, c))
        nursery.cancel_scope.cancel()


async def test_a_drain_that_the_database_does_not_get_is_refused_everywhere(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a = await land.start("a")
        land.disk.away.add(a.storage.lease.epoch)
        with pytest.raises(Unavailable):
            await a.system.overseer.drain(True)
        assert not a.system.overseer.pause_switch.is_drained
        nursery.cancel_scope.cancel()


async def test_a_standby_matcher_answers_however_slow_its_storage_is(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        nodes = [await land.start("a"), await land.start("b")]
        await trio.sleep(2)
        for node in nodes:
            read = node.storage.alerts.all

            async def slow(*given: Any, of: Any = read) -> Any:
                await trio.sleep(4)
                return await of(*given)

            node.storage.alerts.all = slow  # type: ignore[method-assign]
            with trio.fail_after(20):
                assert await node.system.matcher_box.ask(AlertsChanged) is None
        nursery.cancel_scope.cancel()


async def test_requests_to_one_node_count_at_the_others(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        await trio.sleep(2)
        for _ in range(7):
            a.storage.ownership.count_admitted("key", trio.current_time())
        await trio.sleep(3)
        assert (a.storage.ownership.admitted_elsewhere("key"), b.storage.ownership.admitted_elsewhere("key")) == (0, 7)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("compared", [True, False])
async def test_an_alert_changed_at_another_node_applies_to_the_next_event(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch, compared: bool
) -> None:
    """The commit of matches compares the revision; without that the test would fail."""
    monkeypatch.setattr(Matcher, "_watch_revision", sleep_forever)
    if not compared:
        monkeypatch.setattr(Outbox, "advance", whatever_the_revision(Outbox.advance))
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        await a.add(url)
        other = b if a.storage.ownership.owns("matcher") else a
        alert = await other.alert("rain", land.hook(0))
        land.publish(1, "first", "rain once")
        await trio.sleep(LOOKED)
        await other.storage.alerts.put(replace(alert, filter_query="sun"))
        land.publish(1, "first", "rain once", "rain again", "sun at last")
        await trio.sleep(LOOKED)
        told = [msgspec.json.decode(post.body)["title"] for post in land.posts]
        assert told == (["rain once", "sun at last"] if compared else [])
        nursery.cancel_scope.cancel()


async def sleep_forever(matcher: Matcher) -> None:
    await trio.sleep_forever()


def whatever_the_revision(right: Any) -> Any:
    async def advance(self: Outbox, *given: Any, revision: int | None = None, **more: Any) -> None:
        await right(self, *given, **more)

    return advance


async def test_a_row_that_its_former_owner_claimed_as_it_changed_hands_is_delivered(autojump_clock: object) -> None:
    """A delivery was lost in a simulation: the former owner's claim was committed after the new owner started."""
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a = await land.start("a")
        url = land.site(1)
        await a.add(url)
        await a.alert("news", land.hook(0))
        claims = "CREATE TRIGGER stray AFTER INSERT ON outbox BEGIN UPDATE outbox SET claimed=999; END"
        land.disk.connection.execute(claims)
        land.publish(1, "first", "news")
        await trio.sleep(LOOKED)
        assert [msgspec.json.decode(post.body)["title"] for post in land.posts] == ["news"]
        assert [more["rows"] for name, more in a.logged if name == "delivery.strays"] == [1]
        nursery.cancel_scope.cancel()


async def test_headers_that_a_source_lends_at_one_node_are_sent_by_all_and_so_are_new_ones(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        a, b = await land.start("a"), await land.start("b")
        url = land.site(1)
        borrower = f"{url}?page=2"
        land.origins["site1.test"].bodies[borrower.partition("site1.test")[2]] = land.origins["site1.test"].bodies[
            url.partition("site1.test")[2]
        ]
        await a.add(borrower)
        await trio.sleep(2)
        mine, other = owner_of(borrower, a, b)
        lender = (await other.add(url, headers="X-Key: one", headers_for=("site1.test",))).view.source.id
        await trio.sleep(LOOKED)

        def sent() -> str | None:
            asked = [one for one in land.origins["site1.test"].asked if one.target.endswith("?page=2")]
            return asked[-1].headers.get("x-key")

        assert sent() == "one" and borrower in mine.watched()
        patch = SourcePatch(headers="X-Key: two")
        await other.system.registry_box.ask(lambda reply: EditSource(lender, patch, reply))
        await trio.sleep(LOOKED)
        assert sent() == "two"
        await other.system.registry_box.ask(lambda reply: DeleteSource(lender, reply))
        await trio.sleep(LOOKED)
        assert sent() is None
        nursery.cancel_scope.cancel()


class Club:
    """A site that serves its feed only for the newest session, and renews the session with each answer."""

    def __init__(self) -> None:
        self.number, self.wrong = 0, 0

    def __call__(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/robots.txt":
            return Answer(404)
        if asked.headers.get("cookie") != f"session=t{self.number}":
            self.wrong += 1
            return Answer(401, b"", {"set-cookie": "session=stranger; Path=/"})
        self.number += 1
        return Answer(200, rss("first"), {"set-cookie": f"session=t{self.number}; Path=/"})


async def test_a_session_renewed_by_a_preview_on_one_node_is_used_by_the_watching_node(
    autojump_clock: object,
) -> None:
    """This also holds after an edit at either node, and after a kill moves the source to the other."""
    async with trio.open_nursery() as nursery:
        land, club = Land(nursery), Club()
        a, b = await land.start("a"), await land.start("b")
        land.network.add("club.test", "93.184.218.9", web(club, []))
        url = "http://club.test/feed"
        source = (await a.add(url, headers="Cookie: session=t0", headers_for=("club.test",))).view.source.id
        await trio.sleep(2)
        mine, other = owner_of(url, a, b)
        for node in (other, mine):
            before = club.number
            wish = DetectRequest("http://club.test/another")
            await other.system.registry_box.ask(lambda reply, asked=wish: DetectUrl(asked, reply, reads=True))
            patch = SourcePatch(title=f"Of {node.name}")
            await node.system.registry_box.ask(lambda reply, given=patch: EditSource(source, given, reply))
            await trio.sleep(2 * LOOKED)
            assert club.number > before + 1 and not club.wrong
        before = club.number
        mine.kill()
        await trio.sleep(3 * LOOKED)
        assert club.number > before and not club.wrong
        nursery.cancel_scope.cancel()


async def test_an_idle_node_polls_for_changes_once_a_second(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        await land.start("a")
        await trio.sleep(30)
        asked: list[str] = []
        land.disk.connection.set_trace_callback(asked.append)
        await trio.sleep(60)
        land.disk.connection.set_trace_callback(None)
        assert 58 <= sum("source_change" in statement for statement in asked) <= 62
        assert not [statement for statement in asked if statement == _REVISION]
        assert len(asked) <= 6.5 * 60  # all queries of an idle node
        nursery.cancel_scope.cancel()


async def test_without_a_stream_only_the_matcher_and_the_hub_wait_for_events(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        land = Land(nursery)
        nodes = [await land.start(name) for name in "abc"]
        await nodes[0].add(land.site(1))
        for number in range(3):  # the event also ends the wait of a node that has just handed its work over
            land.publish(1, "first", f"news {number}")
            await trio.sleep(LOOKED)
            for node in nodes:
                matches, hub = (node.storage.ownership.owns(key) for key in (MATCHER, HUB_KEY))
                assert node.storage.tail.awaited or not matches
                assert matches or hub or not node.storage.tail.awaited
            killed = next(node for node in nodes if node.storage.ownership.owns(MATCHER))
            if number < 2:
                killed.kill()
                nodes.remove(killed)
        nursery.cancel_scope.cancel()
