from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
import trio

from actors.errors import Conflict, Stale, Unprocessable
from actors.inheritance import effective, origins_of
from actors.messages.requests import DetectRequest, Preview, ShownPart, SourcePatch, TagSettings
from actors.messages.sources import (
    DeleteSource,
    DetectUrl,
    EditSource,
    ExamineSource,
    PreviewSource,
    RestoreSource,
    SetTagDefaults,
    Teach,
)
from actors.messages.views import SourceView
from actors.sources import index as table
from actors.sources.registry import service as tag_defaults
from extras.picking.operations import PickFromSource, PickFromUrl
from extras.picking.records import ActName, KeptBlocks, Picked, PickWish, PressedBlock
from storage.records.identity import Managed, Millis, SourceId
from storage.records.revision import ANY, NOTHING
from storage.records.source import TagDefaults
from supervision import Reply
from tests.actors.sources.harness import SITE, Origin, Watching, page, rss, watching
from tests.support.build import NOW
from tests.support.in_loop import Disk

TEXT = "A paragraph that is long enough to count as text of a page, with a dozen words or more in it, number {}."
URL, TAG = f"https://{SITE}/page", "label:prices"


async def put(service: Watching, tag: str = TAG, **settings: Any) -> None:
    """Set or remove a tag's defaults; its sources then follow."""
    wish = TagSettings(**settings) if settings else None
    await service.registry_box.ask(lambda reply: SetTagDefaults(tag, wish, reply))


async def edit(service: Watching, source: SourceId, **changes: Any) -> SourceView:
    return await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(**changes), reply))


def two_parts(price: str, rest: str) -> bytes:
    return page(f'</p><div id="price"><p>{TEXT.format(price)}</p></div><p>{TEXT.format(rest)}')


async def test_a_tags_interval_and_hours_hold_from_the_moment_they_are_set_and_no_longer(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT.format(1))
        source = (await service.add(URL, tags=(TAG,))).view.source.id
        await trio.sleep(6 * 3600)
        await put(service, schedule="5m")
        before = len(origin.looks("/page"))
        await trio.sleep(300)
        assert len(origin.looks("/page")) == before + 1
        await trio.sleep(3000)
        assert len(origin.looks("/page")) - before in (10, 11)
        told = await service.registry_box.ask(lambda reply: ExamineSource(source, reply))
        assert str(told.next_look) == "Its tag label:prices has set a fixed interval of 5 min, give or take 5 %."
        await put(service, schedule="5m", hours="sun 00-01 UTC")
        assert (service.registry.table.describe(source).hot.next_look_at or 0) > service.world.now() + 3_600_000
        await put(service)
        await trio.sleep(3600)
        assert service.registry.table.describe(source).hot.interval > 300


async def test_a_source_that_is_tagged_or_loses_its_tag_follows_at_once(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT.format(1))
        await put(service, schedule="5m", hours="weekdays 08-18 UTC", bar=0.4)
        source = (await service.add(URL)).view.source.id
        view = await edit(service, source, tags=(TAG,))
        assert (view.source.schedule, view.effective.schedule, view.effective.bar) == (None, 300, 0.4)
        view = await edit(service, source, schedule="1h")
        assert view.effective.schedule == 3600 and origins_of(view.effective).keys() == {"hours", "bar"}
        view = await edit(service, source, tags=())
        assert view.effective is view.source or not origins_of(view.effective)


async def test_nothing_that_is_inherited_is_ever_stored_as_a_sources_own(autojump_clock: object) -> None:
    async with watching(sweep=60.0) as (service, origin):
        settings = {"schedule": "5m", "hours": "mon-sun 00-24 UTC", "bar": 0.4, "selector": "main", "ignore": ("nav",)}
        await put(service, **settings)
        origin.bodies["/page"] = page(TEXT.format(1))
        source = (await service.add(URL, tags=(TAG,))).view.source.id
        origin.status = 503
        late = (await service.add(f"https://{SITE}/late", tags=(TAG,), verify="later")).view.source.id
        origin.status = None
        origin.bodies["/late"] = page(TEXT.format(2)).replace(b"<title>Page", b"<title>Another name")
        await trio.sleep(1200)  # it answers, and its own actor detects it
        origin.bodies["/page"] = page(TEXT.format(3)).replace(b"<title>Page", b"<title>Tickets")
        await trio.sleep(1200)  # a new title, a harvest, a sweep
        await edit(service, source, title="Mine")
        await service.registry_box.ask(lambda reply: Teach(source, (TEXT.format(9),), True, reply))
        await service.add(URL, mark=("template:x",))
        await edit(service, source, enabled=False)
        await edit(service, source, enabled=True)
        await service.registry_box.ask(lambda reply: DeleteSource(source, reply))
        await service.registry_box.ask(lambda reply: RestoreSource(source, reply))
        for id, name in ((source, "Tickets"), (late, "Another name")):
            kept = await service.storage.sources.get(id)
            assert kept is not None and kept.source.found_title == name and kept.source.type == "html"
            assert {field: getattr(kept.source, field) or None for field in settings} == dict.fromkeys(settings)
            view = service.registry.table.describe(id)
            assert origins_of(view.effective).keys() == settings.keys() and view.source == kept.source


async def test_storage_refuses_a_source_with_inherited_values(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT.format(1))
        source = (await service.add(URL, tags=(TAG,))).view.source
        inherits = effective(source, {TAG: TagDefaults(TAG, Millis(NOW), bar=0.4)})
        with pytest.raises(TypeError, match="EffectiveSource is not a stored record"):
            await service.storage.sources.update(inherits, service.storage.lease, before=None)


async def test_a_new_part_from_a_tag_is_no_change_and_later_changes_are_reported(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = two_parts("1", "1")
        await service.add(URL, tags=(TAG,))
        for settings in ({"selector": "#price"}, {"ignore": ("#price",)}, {}):
            await put(service, **settings)
            await trio.sleep(3600)
            assert await service.events() == []
        await put(service, selector="#price")
        await trio.sleep(3600)
        origin.bodies["/page"] = two_parts("1", "2")
        await trio.sleep(3600)
        assert await service.events() == []  # outside the part that the tag chose
        origin.bodies["/page"] = two_parts("3", "2")
        await trio.sleep(3600)
        (event,) = await service.events()
        assert "number 3" in event["content"] and "number 2" not in event["content"]


async def test_a_part_chosen_before_a_crash_is_no_change_after_it(autojump_clock: object) -> None:
    disk, origin = Disk(), Origin()
    origin.bodies["/page"] = two_parts("1", "1")
    async with watching(origin, disk=disk) as (service, _):
        await service.add(URL, tags=(TAG,))
        made = TagDefaults(TAG, Millis(NOW), selector="#price")
        await service.storage.tag_defaults.edit(TAG, lambda _: made)  # the crash comes before the sources learn of it
    async with watching(origin, disk=disk) as (service, _):
        (view,) = [
            service.registry.table.describe(live.source.id) for part in service.registry.table.slices() for live in part
        ]
        assert view.effective.selector == "#price"
        await trio.sleep(3600)
        assert await service.events() == []
        origin.bodies["/page"] = two_parts("2", "1")
        await trio.sleep(3600)
        assert len(await service.events()) == 1


async def test_a_check_under_way_ends_by_the_settings_it_began_with(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = two_parts("1", "1")
        source = (await service.add(URL, tags=(TAG,))).view.source.id
        await trio.sleep(3600)
        origin.bodies["/page"] = two_parts("1", "2")
        live, told = service.registry.table.get(source), list[str]()
        reader = service.registry.table.readers["html"]
        read = reader.read

        async def slowly(*given: Any, **more: Any) -> Any:
            told.append(str(given[1].source.selector))
            if len(told) == 1:
                await put(service, selector="#price")
            return await read(*given, **more)

        reader.read = slowly  # type: ignore[method-assign]
        await trio.sleep(3 * 3600)
        assert told[:3] == ["None", "None", "#price"]  # the next check first compares with the old part
        assert len(await service.events()) == 1 and live.hot.part != b""


async def test_many_sources_that_change_at_once_are_checked_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(table, "WOKEN_AT_ONCE", 7)
    async with watching(host_rate=1000.0) as (service, origin):
        paths = [f"/{number}" for number in range(20)]
        for path in paths:
            origin.bodies[path] = rss(path)
            await service.add(f"https://{SITE}{path}", tags=(TAG,))
        await trio.sleep(2 * 3600)
        before, turns = len(origin.asked), 0

        async def ask() -> None:
            nonlocal turns
            while True:
                service.registry.table.describe(next(iter(service.registry.table.slices()))[0].source.id)
                turns += 1
                await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await put(service, schedule="15m")
            nursery.cancel_scope.cancel()
        assert turns >= 20 // 7
        await trio.sleep(60)
        assert len(origin.asked) - before < 12
        await trio.sleep(840)
        assert {asked.target for asked in origin.asked[before:]} == set(paths)


async def test_a_failing_source_is_not_checked_sooner(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT.format(1))
        source = (await service.add(URL, tags=(TAG,))).view.source.id
        origin.status = 404
        await trio.sleep(3600)
        due = service.registry.table.describe(source).hot.next_look_at
        await put(service, schedule="1m")
        await trio.lowlevel.checkpoint()
        assert service.registry.table.describe(source).hot.next_look_at == due


async def test_bad_defaults_are_refused_as_on_a_source_and_leave_all_as_it_was(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(tag_defaults, "MOST_TAGGED", 1)
    async with watching() as (service, _):
        await put(service, bar=0.4)
        for settings, where in (
            ({"hours": "always"}, "body.hours"),
            ({"selector": "main["}, "body.selector"),
            ({"ignore": ("nav", "p:")}, "body.ignore[1]"),
        ):
            with pytest.raises(Unprocessable) as refused:
                await put(service, **settings)
            assert refused.value.location == where
        with pytest.raises(Conflict, match="1 tags have defaults, the most possible"):
            await put(service, "label:other", bar=0.4)
        await put(service, bar=0.5)
        assert [(one.tag, one.bar) for one in await service.storage.tag_defaults.all()] == [(TAG, 0.5)]


async def test_a_new_source_may_lack_the_part_its_tag_selects(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = origin.bodies["/other"] = two_parts("1", "1")
        await put(service, selector="#nowhere")
        other = (await service.add(f"https://{SITE}/other", tags=(TAG,))).view.source
        assert "'#nowhere' matches nothing now" in other.detection.evidence
        source = (await service.add(URL, tags=(TAG,), selector="#price")).view.source.id
        shown = await service.registry_box.ask(lambda reply: PreviewSource(source, "main", (), reply))
        assert shown.page is not None and shown.page.matched == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_every_check_keeps_the_interval_in_force(seed: int, autojump_clock: object) -> None:
    dice, intervals, longest = random.Random(seed), ("5m", "15m", "30m"), 2700.0
    async with watching() as (service, origin):
        origin.bodies["/page"] = page(TEXT.format(1))
        source = (await service.add(URL, tags=(TAG,))).view.source.id
        looks, held = [trio.current_time()], [(trio.current_time(), longest)]
        for _ in range(25):
            match dice.choice(("default", "default", "none", "own", "free", "untag", "tag")):
                case "default":
                    await put(service, schedule=dice.choice(intervals))
                case "none" if await service.storage.tag_defaults.get(TAG) is not None:
                    await put(service)
                case "own":
                    await edit(service, source, schedule=dice.choice(intervals))
                case "free":
                    await edit(service, source, schedule=None)
                case "untag":
                    await edit(service, source, tags=())
                case _:
                    await edit(service, source, tags=(TAG,))
            schedule = service.registry.table.describe(source).effective.schedule
            held.append((trio.current_time(), float(schedule or longest)))
            for _ in range(dice.randrange(3, 60)):
                before = len(origin.looks("/page"))
                await trio.sleep(60)
                looks += [trio.current_time()] * (len(origin.looks("/page")) > before)
        assert len(looks) > 30
        for one, other in pairwise(looks):
            at_the_look = [(one, interval) for at, interval in held if at <= one][-1:]
            since = [(at, interval) for at, interval in held if one < at < other]
            due = min(at + 1.05 * interval for at, interval in (*at_the_look, *since))
            assert other <= due + 180, (one, other, since)  # plus the floor and the interval of this sampling


async def test_a_page_without_its_tags_part_says_so_and_recovers_without_an_event(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = two_parts("1", "1")
        source = (await service.add(URL, tags=(TAG,))).view.source.id
        await put(service, selector="#nowhere")
        await trio.sleep(3600)
        hot = service.registry.table.describe(source).hot
        assert hot.last_error is None and hot.part != b""
        nowhere = hot.part
        await put(service, selector="#price")
        await trio.sleep(3 * 3600)
        hot = service.registry.table.describe(source).hot
        assert hot.last_error is None and hot.part != nowhere
        assert [event for event in await service.events() if "alert_type" not in event] == []


MARK = Managed("shop", "prices", "bar=5b0e6a3c")


def wish(settings: TagSettings | None, expected: frozenset[str] | None = None) -> SetTagDefaults:
    return SetTagDefaults(TAG, settings, Reply(), expected, by="ops")


def test_a_change_names_its_author_and_keeps_the_mark_of_files() -> None:
    old = TagDefaults(TAG, NOW, bar=0.4, updated_by="guide", managed=MARK)
    later = Millis(NOW + 1)
    made = tag_defaults.changed(old, wish(TagSettings(bar=0.5)), later)
    assert made == TagDefaults(TAG, later, bar=0.5, updated_by="ops", managed=MARK)
    assert tag_defaults.changed(old, wish(TagSettings(bar=0.4)), later) is old
    taken = tag_defaults.changed(old, wish(TagSettings(bar=0.4, managed=None)), later)
    assert taken == TagDefaults(TAG, later, bar=0.4, updated_by="ops")


def test_a_new_tag_setting_never_replaces_one() -> None:
    old, settings = TagDefaults(TAG, NOW, bar=0.4), TagSettings(bar=0.5)
    assert tag_defaults.changed(None, wish(settings, NOTHING), NOW) is not None
    with pytest.raises(Stale):
        tag_defaults.changed(old, wish(settings, NOTHING), NOW)
    with pytest.raises(Stale):
        tag_defaults.changed(None, wish(settings, frozenset((ANY,))), NOW)


async def test_tags_in_another_order_with_the_same_part_keep_the_baseline(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = two_parts("5", "6")
        await put(service, "label:a", ignore=("nav",))
        await put(service, "label:b", ignore=("footer",))
        source = (await service.add(URL, tags=("label:a", "label:b"), schedule="10m")).view.source.id
        before = service.registry.table.get(source).hot.part
        origin.bodies["/page"] = two_parts("7", "6")
        await edit(service, source, tags=("label:b", "label:a"))
        await trio.sleep(3600)
        assert service.registry.table.get(source).hot.part == before
        assert len(await service.events()) == 1, "what changed meanwhile is told"


async def test_a_preview_before_adding_shows_the_defaults_of_the_requests_tags(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = two_parts("5", "6")
        await put(service, selector="#price", ignore=("nav",))

        async def shown(**request: Any) -> Preview:
            asked = DetectRequest(URL, type="html", **request)
            return (await service.registry_box.ask(lambda reply: DetectUrl(asked, reply))).preview

        whole, tagged, own = await shown(), await shown(tags=(TAG,)), await shown(tags=(TAG,), selector="p")
        assert [each.page and each.page.watched for each in (whole, tagged)] == [3, 1]
        assert tagged.part == ShownPart("#price", ("nav",), {"selector": (TAG,), "ignore": (TAG,)})
        assert own.part == ShownPart("p", ("nav",), {"ignore": (TAG,)})
        assert whole.part == ShownPart(None, (), {})
        await put(service, selector="#nowhere")
        nowhere = await shown(tags=(TAG,))
        assert nowhere.page is not None and nowhere.page.matched == 0


async def test_choosing_shows_the_tags_part_and_stores_the_choice_in_the_source(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/page"] = two_parts("5", "6")
        await put(service, selector="#price", ignore=("nav",))

        async def of_url(wish: PickWish) -> Picked:
            asked = DetectRequest(URL, tags=(TAG,))
            return await service.registry_box.ask(lambda reply: PickFromUrl(asked, wish, reply))

        before = await of_url(PickWish())
        assert (before.selector, before.ignore, set(before.inherited)) == ("#price", ("nav",), {"selector", "ignore"})
        assert [block.text for block in before.page.blocks if block.watched] == [TEXT.format(5)]
        second = next(block for block in before.page.blocks if block.text == TEXT.format(6))
        source = (await service.add(URL, tags=(TAG,))).view.source.id

        async def kept(act: ActName) -> KeptBlocks:
            wish = PickWish(press=PressedBlock(second.number, second.mark, act))
            picked = await service.registry_box.ask(lambda reply: PickFromSource(source, wish, reply))
            assert picked.page.choice is not None and picked.page.choice.kept is not None
            return picked.page.choice.kept

        only, also, without = await kept("only"), await kept("also"), await kept("without")
        assert (only.texts, only.ignore) == ((TEXT.format(6),), ()), "what a tag leaves out stays the tag's"
        assert only.selector is not None
        assert (also.selector or "").startswith("#price, ") and also.count == 2
        assert (without.selector, without.count) == (None, 1) and len(without.ignore) == 1


async def test_a_source_that_rejects_its_tags_part_is_watched_whole_without_an_event(
    autojump_clock: object,
) -> None:
    """A preview before adding says the same; the tag may choose a part that this page lacks."""
    async with watching() as (service, origin):
        origin.bodies["/page"] = two_parts("10", "1")
        await put(service, selector="#price", schedule="5m")
        source = (await service.add(URL, tags=(TAG,))).view.source.id
        await trio.sleep(1_000)
        view = await edit(service, source, own_only=("selector",))
        assert (view.effective.selector, view.source.selector, origins_of(view.effective)) == (
            None,
            None,
            {"schedule": (TAG,)},
        )
        await trio.sleep(1_000)
        origin.bodies["/page"] = two_parts("10", "2")
        await trio.sleep(2_000)
        assert len(await service.news()) == 1
        await put(service, selector="#nowhere")
        wish = DetectRequest(f"https://{SITE}/other", tags=(TAG,), own_only=("selector",))
        origin.bodies["/other"] = two_parts("10", "3")
        shown = await service.registry_box.ask(lambda reply: DetectUrl(wish, reply))
        assert shown.preview.part == ShownPart(None, (), {})
        await service.add(wish.url, tags=(TAG,), own_only=("selector",))
