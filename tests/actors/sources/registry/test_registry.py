from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from actors.errors import Conflict, LibraryFull, NotFound, Overloaded, Stale, TooSoon, Unprocessable, UrlRefused
from actors.messages.requests import DetectRequest, SourcePatch
from actors.messages.sources import (
    CheckNow,
    CountTags,
    DeleteSource,
    DescribeSource,
    DetectUrl,
    EditSource,
    ExamineSource,
    ListSources,
    RestoreSource,
)
from actors.messages.views import SourcePage, SourceSelection, SourceView
from actors.settings import Settings
from actors.sources import index as table
from actors.sources.index import SourceIndex
from actors.sources.ports import LiveSource, new_version
from actors.sources.registry.actor import REPRICE, Registry
from actors.sources.schedule.budgets import Price
from storage.errors import DiskFull
from storage.records.identity import Millis, SourceId
from storage.records.revision import ANY, revision_of
from storage.records.source import SOURCES, SourceRuntime, tag_of
from tests.actors.sources.harness import SITE, Watching, page, rss, watching
from tests.support.build import NOW, a_source
from tests.support.disks import keep
from tests.support.in_loop import Disk

URL = "https://site.example/feed"
TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it."


async def edit(service: Watching, source: SourceId, **changes: Any) -> SourceView:
    return await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(**changes), reply))


async def delete(service: Watching, source: SourceId) -> None:
    await service.registry_box.ask(lambda reply: DeleteSource(source, reply))


async def check(service: Watching, source: SourceId) -> int:
    return await service.registry_box.ask(lambda reply: CheckNow(source, reply))


async def describe(service: Watching, source: SourceId) -> SourceView:
    return await service.registry_box.ask(lambda reply: DescribeSource(source, reply))


async def listed(service: Watching, **more: Any) -> SourcePage:
    limit, where = more.get("limit", 10), more.get("where", SourceSelection())
    sort = more.get("sort", "worst")
    return await service.registry_box.ask(lambda reply: ListSources(limit, reply, more.get("after"), where, sort))


async def test_a_filtered_list_is_walked_through_without_a_gap_or_an_empty_page(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(table, "SLICE", 3)
    async with watching(host_rate=1000.0) as (service, origin):
        for number in range(30):
            origin.bodies[f"/{number}"] = rss("a")
            await service.add(f"https://site.example/{number}", tags=("topic:even",) if number % 2 == 0 else ())
        where, seen, after, sizes = SourceSelection(tags=("topic:even",)), [], None, []
        while True:
            page = await listed(service, limit=5, after=after, where=where)
            seen += [view.source.url for view in page.views]
            sizes.append(len(page.views))
            after = page.next_after
            if after is None:
                break
        assert seen == [f"https://site.example/{number}" for number in range(0, 30, 2)] and sizes == [5, 5, 5]
        assert page.census == dict.fromkeys(SOURCES, 0) | {"ok": 30}
        await edit(service, page.views[0].source.id, enabled=False)
        assert (await listed(service)).census == dict.fromkeys(SOURCES, 0) | {"ok": 29, "paused": 1}
        assert (await listed(service, where=SourceSelection(words=("/7",)))).next_after is None
        assert len((await listed(service, where=SourceSelection(states=("paused",)))).views) == 1


async def test_a_source_is_examined_as_it_is_now(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL, title="Mine")).view.source
        assert source.title == "Mine"
        found = await service.registry_box.ask(lambda reply: ExamineSource(source.id, reply))
        assert found.view.source == source and len(found.health) == 4 and found.next_look
        with pytest.raises(NotFound):
            await service.registry_box.ask(lambda reply: ExamineSource(SourceId("x"), reply))


async def test_two_spellings_of_a_url_are_one_source(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        first = await service.add("HTTPS://Site.Example:443/x/../feed#top")
        second = await service.add(URL)
        assert (first.created, second.created) == (True, False)
        assert first.view.source.id == second.view.source.id


async def test_many_adds_of_one_url_at_once_make_one_source(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        answers: list[bool] = []

        async def add() -> None:
            answers.append((await service.add(URL)).created)

        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(add)
        assert sorted(answers) == [False] * 19 + [True]
        assert len(origin.looks("/feed")) == 1


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1/x", UrlRefused),
        ("http://[::1]/", UrlRefused),
        ("ftp://site.example/", UrlRefused),
        ("https://user:pw@site.example/", UrlRefused),
        ("not a url", UrlRefused),
        ("https://site.example/missing", Unprocessable),
        ("https://nowhere.example/", Unprocessable),
    ],
)
async def test_an_unwatchable_url_is_refused_and_leaves_nothing(
    url: str, error: type[Exception], autojump_clock: object
) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, _):
        with pytest.raises(error):
            await service.add(url)
        assert (len(service.registry.table), disk.sources()) == (0, {})


async def test_a_name_that_resolves_to_a_private_address_never_becomes_a_source(autojump_clock: object) -> None:
    async with watching() as (service, _):
        service.network.names["inside.example"] = [("93.184.216.34", "10.0.0.7")]
        with pytest.raises(UrlRefused) as refused:
            await service.add("https://inside.example/")
        assert refused.value.rule.startswith("address")
        assert "SANDERLING_ALLOW_NETWORKS" in refused.value.words_inside  # for the log; the client gets the rule
        assert service.network.connected == []


async def test_a_slow_origin_delays_no_other_question(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        service.network.names["deaf.example"] = [("93.184.216.99",)]
        service.network.deaf.add("93.184.216.99")
        async with trio.open_nursery() as nursery:
            for number in range(5):

                async def slow(number: int = number) -> None:
                    with pytest.raises((Unprocessable, Overloaded)):
                        await service.add(f"https://deaf.example/{number}")

                nursery.start_soon(slow)
            start = trio.current_time()
            await service.add(URL)
            assert trio.current_time() - start < 1


async def test_detecting_adds_nothing(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a", "b")
        found = (await service.registry_box.ask(lambda reply: DetectUrl(DetectRequest(URL), reply))).detection
        assert (found.type, "2 items" in found.evidence or "2 entries" in found.evidence) == ("feed", True)
        assert len(service.registry.table) == 0


async def test_a_disabled_source_is_not_watched_and_an_enabled_one_is_again(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        assert not (await edit(service, source, enabled=False)).source.enabled
        looks = len(origin.asked)
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(24 * 3600)
        assert len(origin.asked) == looks
        with pytest.raises(Conflict):
            await check(service, source)
        await edit(service, source, enabled=True)
        await trio.sleep(3600)
        assert await service.titles() == ["b"]


async def test_an_edit_that_changes_nothing_leaves_the_source_and_its_actor_as_they_are(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        before = (await service.add(URL)).view.source
        running = service.registry.table.get(before.id)
        await trio.sleep(60)
        assert (await edit(service, before.id)).source == before
        assert (await edit(service, before.id, enabled=True, tags=before.tags)).source == before
        assert service.registry.table.get(before.id) is running
        assert (await edit(service, before.id, title="Ebb")).source.updated_at > before.updated_at


async def test_another_selector_begins_with_a_new_baseline(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT, TEXT.replace("long", "short"))
        source = (await service.add("https://site.example/page")).view.source.id
        await edit(service, source, selector="main p:first-of-type")
        await trio.sleep(6 * 3600)
        assert await service.events() == []
        assert (await describe(service, source)).hot.last_error is None


@pytest.mark.parametrize("part", [{"ignore": ("nav",)}, {"selector": "main"}], ids=["ignore", "selector"])
async def test_a_change_that_meets_an_edit_of_the_part_is_reported(
    part: dict[str, Any], autojump_clock: object
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT, TEXT.replace("long", "short"))
        source = (await service.add("https://site.example/page")).view.source.id
        await trio.sleep(3600)
        origin.bodies["/page"] = page(TEXT, "Seven sanderlings were ringed on the north beach this morning. " + TEXT)
        await edit(service, source, **part)
        await trio.sleep(6 * 3600)
        (event,) = await service.events()
        assert "Seven sanderlings" in str(event["diff"])


async def test_a_deleted_source_is_gone_and_its_events_stay(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL, backfill=1)).view.source.id
        await delete(service, source)
        with pytest.raises(NotFound):
            await describe(service, source)
        with pytest.raises(NotFound):
            await delete(service, source)
        assert not service.sources.has(source)
        assert await service.titles() == ["a"]
        assert (await service.add(URL)).created


async def restore(service: Watching, source: SourceId) -> SourceView:
    return await service.registry_box.ask(lambda reply: RestoreSource(source, reply))


async def test_a_deleted_source_comes_back_within_ten_minutes_with_all_that_was_learned(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL, tags=("t:1",))).view.source.id
        await trio.sleep(3600)
        before = await describe(service, source)
        await delete(service, source)
        looks = len(origin.looks("/feed"))
        assert (await listed(service)).views == []
        await trio.sleep(590)
        assert len(origin.looks("/feed")) == looks, "nobody looks at what was deleted"
        back = await restore(service, source)
        assert back.source == before.source and back.hot.looks == before.hot.looks and back.hot.looks > 1
        assert service.sources.has(source)
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(7200)
        assert await service.titles() == ["b"], "what it knew it still knows"
        with pytest.raises(NotFound):
            await restore(service, source)


async def test_after_ten_minutes_or_once_its_url_was_added_again_it_does_not_come_back(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        first = (await service.add(URL)).view.source.id
        await delete(service, first)
        second = (await service.add(URL)).view.source.id
        assert second != first
        with pytest.raises(Conflict, match="added again"):
            await restore(service, first)
        await delete(service, second)
        assert (await restore(service, first)).source.id == first
        await delete(service, first)
        await trio.sleep(600)
        with pytest.raises(NotFound):
            await restore(service, first)


async def test_a_paused_source_comes_back_paused_and_a_full_library_takes_none_back(autojump_clock: object) -> None:
    async with watching(max_sources=1) as (service, origin):
        origin.bodies["/feed"] = origin.bodies["/other"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await edit(service, source, enabled=False)
        await delete(service, source)
        other = (await service.add("https://site.example/other")).view.source.id
        with pytest.raises(LibraryFull):
            await restore(service, source)
        await delete(service, other)
        assert not (await restore(service, source)).source.enabled
        assert not service.sources.has(source)


async def test_edits_and_deletes_that_race_leave_one_actor_or_none(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id

        async def toggle(on: bool) -> None:
            try:
                await edit(service, source, enabled=on)
            except NotFound:
                assert not service.sources.has(source)

        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(toggle, number % 2 == 0)
            nursery.start_soon(delete, service, source)
        assert not service.sources.has(source)
        assert len(service.registry.table) == 0


async def test_an_edit_or_delete_of_a_changed_source_is_refused(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        before = (await service.add(URL)).view.source
        source, read = before.id, frozenset((revision_of(before),))
        after = await service.registry_box.ask(lambda r: EditSource(source, SourcePatch(tags=("t:1",)), r, read))
        for question in (
            lambda reply: EditSource(source, SourcePatch(tags=("t:2",)), reply, read),
            lambda reply: DeleteSource(source, reply, read),
        ):
            with pytest.raises(Stale):
                await service.registry_box.ask(question)
        assert (await describe(service, source)).source == after.source
        assert service.sources.has(source)
        await service.registry_box.ask(lambda r: DeleteSource(source, r, frozenset((ANY,))))
        assert not service.sources.has(source)


async def test_checks_do_not_move_a_sources_revision(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        before = revision_of((await service.add(URL)).view.source)
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(7200)
        now = await describe(service, (await listed(service)).views[0].source.id)
        assert now.hot.events == 1 and revision_of(now.source) == before


@pytest.mark.parametrize("what", ["edit", "narrow", "delete"])
async def test_storage_that_takes_nothing_leaves_a_source_watched_as_it_was(autojump_clock: object, what: str) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(f"{TEXT} one")
        source = (await service.add(f"https://{SITE}/page")).view.source.id
        service.disk.full = True
        with pytest.raises(DiskFull):
            if what == "delete":
                await delete(service, source)
            else:
                await edit(service, source, **({"tags": ("t:1",)} if what == "edit" else {"selector": "main"}))
        service.disk.full = False
        assert service.sources.has(source) and (await describe(service, source)).source.tags == ()
        looks = len(origin.looks("/page"))
        await trio.sleep(7200)
        assert len(origin.looks("/page")) > looks


async def test_check_now_fetches_once_within_politeness(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        with pytest.raises(TooSoon) as early:
            await check(service, source)
        assert 1 <= early.value.retry_after <= 61
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(61)
        looks = len(origin.looks("/feed"))
        await check(service, source)
        await trio.sleep(3)
        assert len(origin.looks("/feed")) == looks + 1
        assert await service.titles() == ["b"]


async def test_the_list_is_worst_health_first_and_pages_without_gap_or_repeat(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        for number in range(7):
            origin.bodies[f"/{number}"] = rss(f"of {number}")
            await service.add(f"https://{SITE}/{number}")
        del origin.bodies["/4"]
        await trio.sleep(3 * 24 * 3600)
        seen: list[str] = []
        after = None
        while True:
            found = await listed(service, limit=3, after=after)
            seen += [view.source.url for view in found.views]
            after = found.next_after
            if after is None:
                break
        assert seen[0].endswith("/4")
        assert len(seen) == len(set(seen)) == 7


async def test_the_library_has_a_bound(autojump_clock: object) -> None:
    async with watching(max_sources=1) as (service, origin):
        origin.bodies["/feed"] = origin.bodies["/two"] = rss("a")
        await service.add(URL)
        with pytest.raises(LibraryFull):
            await service.add("https://site.example/two")
        assert not (await service.add(URL)).created


async def test_a_filter_that_cannot_be_parsed_is_refused_with_its_position(autojump_clock: object) -> None:
    async with watching() as (service, _):
        with pytest.raises(Unprocessable, match="character"):
            await service.add("wss://site.example/", filter="(a OR")


async def test_b6_many_overdue_sources_are_spread_out_after_a_restart(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk, host_rate=1000.0, host_parallel=100) as (service, origin):
        for number in range(200):
            origin.bodies[f"/{number}"] = rss("a")
            await service.add(f"https://{SITE}/{number}")
    for watched in disk.sources().values():
        overdue = replace(watched.hot, next_look_at=Millis(NOW - 3_600_000))
        keep(disk, [replace(watched, hot=overdue)])
    origin.asked.clear()
    async with watching(origin, disk=disk, host_rate=1000.0, host_parallel=100):
        await trio.sleep(5)
        assert 20 <= len(origin.asked) <= 80
        await trio.sleep(20)
        assert len({asked.target for asked in origin.asked}) == 200


async def test_the_lazy_state_is_swept_at_a_stop(autojump_clock: object) -> None:
    disk = Disk()
    async with watching(disk=disk) as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(1200)
        looks = service.registry.table.describe(source).hot.looks
        assert disk.sources()[source].hot.looks < looks
    assert disk.sources()[source].hot.looks == looks


async def test_a_dead_origin_opens_the_breaker_and_is_found_again_when_it_returns(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        origin.status = 500
        await trio.sleep(6 * 3600)
        view = await describe(service, source)
        assert view.hot.breaker.state == "open"
        assert view.hot.health.flag == "degraded"
        assert "500" in (view.hot.last_error or "")
        assert len(origin.looks("/feed")) < 40
        origin.status = None
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(40 * 60)
        view = await describe(service, source)
        assert (view.hot.breaker.state, view.hot.health.score) == ("closed", 1.0)
        assert await service.news() == ["b"]


@pytest.mark.parametrize(("now", "allowed"), [(4_999, False), (5_000, True)])
def test_a_check_is_allowed_from_the_announced_millisecond_on(now: int, *, allowed: bool) -> None:
    desk: Any = SimpleNamespace(
        _ports=SimpleNamespace(world=SimpleNamespace(now=lambda: now)), earliest_check=lambda _: 5_000
    )
    live: Any = None
    with nullcontext() if allowed else pytest.raises(TooSoon, match="again in 1 s"):
        assert SourceIndex.check_politeness(desk, live) == now


@pytest.mark.parametrize(("late", "overdue"), [(59_000, False), (60_000, False), (60_001, True)])
def test_a_source_is_overdue_when_its_check_is_a_minute_late(late: int, *, overdue: bool) -> None:
    hot = SimpleNamespace(next_look_at=Millis(NOW - late))
    live: Any = SimpleNamespace(hot=hot, source=SimpleNamespace(enabled=True), sleeps_until=None)
    assert table._is_overdue(live, NOW) is overdue
    live.source.enabled = False
    assert not table._is_overdue(live, NOW)


async def test_planned_checks_are_counted_by_the_second() -> None:
    """At most one check a second for each source, by its planned interval, whatever happened before."""
    waits = [2_000, 4_000, 1, 20 * table.LONGEST_WAIT]
    hots = [SourceRuntime(last_look_at=Millis(0), next_look_at=Millis(due), interval=600.0) for due in waits]
    lives = {str(number): LiveSource(a_source(number), hot) for number, hot in enumerate(hots)}
    there: Any = SimpleNamespace(_live=lives, _ours=list)
    assert await table.SourceIndex.planned_rate(there) == pytest.approx(0.5 + 0.25 + 1.0 + 1000 / table.LONGEST_WAIT)
    lives["0"].memory = SourceRuntime(interval=600.0)
    assert await table.SourceIndex.planned_rate(there) == pytest.approx(
        1 / 600 + 0.25 + 1.0 + 1000 / table.LONGEST_WAIT
    )


async def test_the_price_of_a_check_moves_while_too_many_are_planned(autojump_clock: object) -> None:
    async def planned() -> float:
        return 100.0

    async def share() -> float:
        return 1.0

    market = SimpleNamespace(price=Price(10.0))
    ports = SimpleNamespace(pricing=market, settings=SimpleNamespace(looks_per_second=1.0))
    registry: Any = SimpleNamespace(_ports=ports, table=SimpleNamespace(planned_rate=planned, share=share))
    seen = list[float]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Registry._price_for_ever, registry)
        for _ in range(3):
            await trio.sleep(REPRICE + 1)
            seen.append(market.price.value)
        nursery.cancel_scope.cancel()
    assert 10.0 <= seen[0] < seen[1] < seen[2]


async def test_state_of_checks_without_changes_is_stored_at_each_sweep(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(Settings().sweep - 60)
        stored = await service.storage.sources.get(source)
        live = (await describe(service, source)).hot
        assert stored is not None and live.looks > stored.hot.looks
        await trio.sleep(120)
        stored = await service.storage.sources.get(source)
        assert stored is not None and stored.hot.looks >= live.looks


async def test_a_commit_that_fails_takes_back_no_earlier_check(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(1000)
        before = (await describe(service, source)).hot
        service.disk.full = True
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(1000)
        assert len(origin.looks("/feed")) > before.looks
        assert (await describe(service, source)).hot.last_look_at == before.last_look_at
        service.disk.full = False


async def test_a_failure_that_no_commit_has_survives_an_edit(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(1000)
        service.disk.full, origin.status = True, 500
        while (failed := (await describe(service, source)).hot).health.down_since is None:  # noqa: ASYNC110
            await trio.sleep(10)
        await trio.sleep(10)
        service.disk.full = False
        assert (await edit(service, source, title="Ebb")).hot.health.down_since == failed.health.down_since


async def test_the_list_sorts_by_name_change_next_check_and_age(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        for number, title in enumerate(("b", "C", "a", "d")):
            origin.bodies[f"/{number}"] = rss(f"News {number}")
            await service.add(f"https://site.example/{number}", title=title)
            await trio.sleep(10)
        origin.bodies["/3"] = rss("More", "News 3")
        await trio.sleep(7200)

        async def names(sort: str, **more: Any) -> list[str]:
            return [view.source.title for view in (await listed(service, sort=sort, **more)).views]

        assert await names("name") == ["a", "b", "C", "d"]
        assert await names("added") == ["d", "a", "C", "b"]
        assert (await names("changed"))[0] == "d"
        views = (await listed(service, sort="next")).views
        due = [view.hot.next_look_at or 0 for view in views]
        assert due == sorted(due) and len(due) == 4
        first = await listed(service, sort="name", limit=3)
        assert first.next_after is not None and first.census["ok"] == 4
        second = await listed(service, sort="name", limit=3, after=first.next_after)
        assert [view.source.title for view in second.views] == ["d"] and second.next_after is None
        assert await names("name", where=SourceSelection(words=("site.example/1",))) == ["C"]


async def test_another_order_is_paged_to_its_end_also_backwards_and_while_sources_go(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        for number in range(7):
            origin.bodies[f"/{number}"] = rss("News")
            await service.add(f"https://site.example/{number}", title=f"{number // 2} things")

        async def paged(sort: str, drop: bool = False) -> list[str]:
            found, after = list[str](), None
            while True:
                page = await listed(service, sort=sort, limit=2, after=after)
                found += [view.source.url[-1] for view in page.views]
                after = page.next_after
                if after is None:
                    return found
                if drop:
                    await delete(service, page.views[-1].source.id)

        assert await paged("name") == list("0123456")
        assert await paged("-name") == list("6543210")
        assert sorted(await paged("-next")) == sorted(await paged("changed")) == list("0123456")
        assert await paged("-added") == list("0123456") == (await paged("added"))[::-1]
        assert await paged("name", drop=True) == list("0123456"), "a place is not lost with its source"


async def test_tags_are_counted_and_those_below_one_are_found(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        for number, tags in enumerate((("news/sweden", "topic:ai"), ("news",), ("newspapers",), ())):
            origin.bodies[f"/{number}"] = rss("News")
            await service.add(f"https://site.example/{number}", tags=tuple(map(tag_of, tags)))
        counted = await service.registry_box.ask(CountTags)
        assert counted["label:news"] == counted["topic:ai"] == 1
        first = (await listed(service, where=SourceSelection(tags=("topic:ai",)))).views[0].source.id
        await edit(service, first, tags=("label:news/sweden", "topic:ai"))
        assert await service.registry_box.ask(CountTags) == counted, "an edit counts nobody twice"
        assert counted["label:news/*"] == 2 and counted["topic:*"] == 1 and counted["label:news/sweden/*"] == 1

        async def urls(tag: str) -> list[str]:
            page = await listed(service, where=SourceSelection(tags=(tag,)))
            return sorted(view.source.url[-1] for view in page.views)

        assert await urls("news/*") == ["0", "1"] and await urls("news") == ["1"]
        assert await urls("topic:*") == ["0"] and await urls("topic:*x") == []
        await delete(service, first)
        counted = await service.registry_box.ask(CountTags)
        assert counted["label:news/*"] == 1 and "topic:*" not in counted


async def test_an_edit_during_a_commit_keeps_unstored_checks(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(1000)
        live = service.registry.table.get(source)
        live.hot = replace(live.hot, looks=live.hot.looks + 1, last_look_at=service.world.now())
        live.unsaved = False  # as while a harvest waits for its commit
        edited = await edit(service, source, title="Ebb")
        assert edited.hot.last_look_at == live.hot.last_look_at
        assert service.registry.table.get(source).unsaved


async def test_a_commit_refused_by_another_version_takes_back_no_check_that_storage_lacks(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(1000)
        live, storage = service.registry.table.get(source), service.storage
        live.hot = replace(live.hot, looks=live.hot.looks + 100)
        await storage.sources.update(live.source, storage.lease, new_version(service.world), before=None)
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(1000)
        assert service.registry.table.get(source).hot.looks > 100
        assert [event["title"] for event in await service.events()] == ["b"]
