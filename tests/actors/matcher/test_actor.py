from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors import matcher
from actors.matcher import MOST_ROWS
from actors.messages.workers import AlertsChanged
from actors.notices import notice_draft
from storage.errors import CursorMoved
from storage.records.destination import Match
from storage.records.event import Heartbeat, Stored
from tests.actors.matcher.rig import Rig, a_child, a_destination, an_alert
from tests.support.build import NOW, a_draft, a_source_id
from tests.support.disks import set_cursor


@asynccontextmanager
async def running(rig: Rig, *, follow: bool = True, **more: Any) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        if follow:
            nursery.start_soon(rig.storage.follow)
        nursery.start_soon(rig.matcher(**more).run, a_child())
        await wait_all_tasks_blocked()
        yield
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


async def changed(rig: Rig) -> None:
    await rig.mailbox.ask(AlertsChanged)


async def test_a_committed_event_reaches_the_outbox_of_every_alert_it_satisfies() -> None:
    rig = Rig()
    await rig.prepare(an_alert("a", "price"), an_alert("b", "plan OR price"), an_alert("c", "plan"))
    async with running(rig):
        await rig.commit("A new price")
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"a-hook": ["A new price"], "b-hook": ["A new price"]}
        assert rig.nudged[-2:] == ["a-hook", "b-hook"]


async def test_the_cursor_passes_events_without_a_match_within_a_second_and_in_one_commit(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matcher, "SAVE_WITHIN", 1.0)
    rig = Rig()
    await rig.prepare(an_alert("a", "price"))
    async with running(rig):
        for number in range(5):
            await rig.commit(f"plan {number}")
            await trio.sleep(0.1)
        assert rig.points == []
        await trio.sleep(1.0)
        assert await rig.is_settled()
        assert rig.points.count("matcher/after advance") == 1


async def test_events_in_the_tail_are_matched_without_reading_the_log() -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    async with running(rig):
        reads = 0
        plain = rig.storage.log.read

        async def counted(*args: Any) -> Any:
            nonlocal reads
            reads += 1
            return await plain(*args)

        rig.storage.log.read = counted  # type: ignore[method-assign, assignment]
        for number in range(5):
            await rig.commit(f"price {number}")
            await wait_all_tasks_blocked()
        assert (reads, len(rig.outbox()["alert-hook"])) == (0, 5)


async def test_events_committed_before_the_matcher_started_are_matched() -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    await rig.commit(*[f"price {number}" for number in range(450)])
    async with running(rig):
        assert len(rig.outbox()["alert-hook"]) == 450
        assert await rig.is_settled()


async def test_events_beyond_the_tail_are_read_from_the_log() -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    rig.storage.tail.since = lambda after: None if after < rig.disk.head() else ()  # type: ignore[method-assign]
    async with running(rig):
        await rig.commit("price 1", "other")
        await rig.commit("price 2")
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"alert-hook": ["price 1", "price 2"]}


async def test_a_tail_that_begins_after_a_pruned_log_does_not_block() -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    rig.storage.tail.since = lambda after: None  # type: ignore[method-assign]
    async with running(rig):
        await rig.commit("price 1")
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"alert-hook": ["price 1"]}


async def test_an_alert_is_matched_only_on_its_own_sources() -> None:
    rig = Rig()
    await rig.prepare(an_alert(source_ids=(a_source_id(2),)))
    async with running(rig):
        await rig.commit("price 1", source=1)
        await rig.commit("price 2", source=2)
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"alert-hook": ["price 2"]}


async def test_an_alert_over_a_tag_matches_sources_that_have_it_at_the_event() -> None:
    rig = Rig()
    await rig.prepare(
        an_alert("tag", tags=("label:shop",)),
        an_alert("either", tags=("label:shop", "topic:ai"), source_ids=(a_source_id(2),)),
    )
    async with running(rig):
        await rig.commit_draft(a_draft("price 1", tags=("label:shop", "change:new")))
        await rig.commit_draft(a_draft("price 2", tags=("label:shops",)))
        await rig.commit_draft(a_draft("price 3"), source=2)
        await rig.commit_draft(a_draft("price 4", tags=("label:shop",), practice=True), source=2)
        await rig.commit_draft(a_draft("other", tags=("label:shop",)))
        await rig.commit_draft(a_draft("price 5", tags=("topic:ai", "label:shop")), source=2)
        await wait_all_tasks_blocked()
        expected = {"tag-hook": ["price 1", "price 5"], "either-hook": ["price 1", "price 3", "price 4", "price 5"]}
        assert rig.outbox() == expected


async def test_a_notice_of_a_source_is_for_alerts_over_its_tag() -> None:
    rig = Rig()
    await rig.prepare(an_alert("mine", tags=("label:shop",)), an_alert("other", tags=("label:sea",)))
    async with running(rig):
        told = notice_draft("source_failing", "https://x.test/", "fails", "It fails.", NOW, of_source=("label:shop",))
        await rig.commit_draft(told)
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"mine-hook": ["fails"]}


async def test_a_change_of_alerts_takes_effect_between_two_events() -> None:
    """Events committed before the answer go to the old alerts, later ones to the new alerts."""
    rig = Rig()
    await rig.prepare(an_alert("old"))
    async with running(rig):
        await rig.commit("price 1")
        await rig.prepare_only(an_alert("new"))
        await rig.storage.alerts.put(an_alert("old", "plan"))
        await changed(rig)
        await rig.commit("price 2")
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"old-hook": ["price 1"], "new-hook": ["price 2"]}


async def test_a_change_is_acknowledged_after_the_destinations_were_brought_in_line() -> None:
    rig = Rig()
    order: list[str] = []

    async def refresh() -> None:
        await trio.lowlevel.checkpoint()
        order.append("refreshed")

    async with running(rig, refresh=refresh):
        await changed(rig)
        order.append("answered")
    assert order == ["refreshed", "answered"]


async def test_disabled_and_deleted_alerts_and_destinations_get_nothing() -> None:
    rig = Rig()
    await rig.prepare(an_alert("off", enabled=False), an_alert("gone"), an_alert("dead"), an_alert("shut"))
    await rig.storage.alerts.put_destination(a_destination("dead-hook", "dead", state="disabled"))
    await rig.storage.alerts.put_destination(a_destination("shut-hook", "shut", enabled=False))
    async with running(rig):
        await rig.storage.alerts.delete("gone")
        await changed(rig)
        await rig.commit("price")
        await wait_all_tasks_blocked()
        assert rig.outbox() == {}
        assert await rig.is_settled()


async def test_notices_go_to_the_alerts_that_ask_for_them_and_are_never_matched_by_text() -> None:
    rig = Rig()
    mine = (a_source_id(1),)
    await rig.prepare(
        an_alert("text", "price", notices=()),
        an_alert("asks", "nothing", notices=("source_quiet",)),
        an_alert("elsewhere", "nothing", notices=("source_quiet",), source_ids=(a_source_id(2),)),
        an_alert("here", "nothing", notices=("source_quiet", "x"), source_ids=mine),
    )
    async with running(rig):
        await rig.notice("source_quiet")
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"asks-hook": ["price"], "here-hook": ["price"]}


async def test_a_heartbeat_goes_to_each_alert_that_names_it_for_any_sources() -> None:
    rig = Rig()
    await rig.prepare(
        an_alert("text", "price"),
        an_alert("names", "nothing", notices=("heartbeat",)),
        an_alert("names-over-one", "nothing", notices=("heartbeat",), source_ids=(a_source_id(2),)),
    )
    says = Heartbeat(1, 60, "", None, None, "", 0, "", 0, 0, 0)
    async with running(rig):
        await rig.commit_draft(a_draft("price", alert_type="heartbeat", heartbeat=says))
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"names-hook": ["price"], "names-over-one-hook": ["price"]}


async def test_a_stored_query_that_can_no_longer_be_read_stops_nothing_else() -> None:
    rig = Rig()
    await rig.prepare(an_alert("broken", "(("), an_alert("strange", language="xx"), an_alert("good"))
    async with running(rig):
        await rig.commit("price")
        await wait_all_tasks_blocked()
    assert rig.outbox() == {"good-hook": ["price"]}
    assert rig.logged.count("matcher.query_refused") == 2


@pytest.mark.parametrize(
    "body", [b'{"title": 7}', b'{"title": "price \xff"}', b""], ids=["a type", "no UTF-8", "nothing"]
)
async def test_a_damaged_event_is_passed_over(body: bytes) -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    async with running(rig, follow=False):
        (event,) = await rig.commit("price 1")
        damaged = Stored(event.seq, event.source, event.kind, body)
        await rig.storage.tail.publish([damaged, *await rig.commit("price 2")])
        await wait_all_tasks_blocked()
        assert "matcher.unreadable" in rig.logged
        assert rig.outbox() == {"alert-hook": ["price 2"]}


async def test_many_rows_are_written_in_several_transactions() -> None:
    rig = Rig()
    await rig.prepare(an_alert("a"), an_alert("b"))
    await rig.commit(*[f"price {number}" for number in range(400)])
    async with running(rig):
        assert sorted(map(len, rig.outbox().values())) == [400, 400]
        assert rig.points.count("matcher/after advance") == 2


async def test_all_rows_of_one_event_are_written_however_many_they_are() -> None:
    rig = Rig()
    await rig.prepare(an_alert("a"))
    hooks = [f"hook{number}" for number in range(2 * MOST_ROWS + 3)]
    for hook in hooks:
        await rig.storage.alerts.put_destination(a_destination(hook, "a"))
    await rig.commit("price 1")
    async with running(rig):
        assert rig.outbox() == {hook: ["price 1"] for hook in ("a-hook", *hooks)}
        assert rig.points.count("matcher/after advance") == 1


async def test_a_cursor_moved_by_an_earlier_process_is_read_again() -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    async with running(rig):
        events = await rig.commit("price 1", "price 2")
        set_cursor(rig.disk, "matcher", events[0].seq)
        await wait_all_tasks_blocked()
        assert "matcher.cursor_moved" in rig.logged
        assert rig.outbox() == {"alert-hook": ["price 2"]}
        assert await rig.is_settled()


async def test_destinations_with_rows_are_nudged_at_the_start() -> None:
    rig = Rig()
    await rig.prepare(an_alert("a"), an_alert("b"))
    (event,) = await rig.commit("plain")
    await rig.storage.outbox.enqueue([Match("b-hook", event.seq, NOW)], rig.storage.lease)
    async with running(rig):
        assert rig.nudged == ["b-hook"]


async def a_life(rig: Rig, stop_at: int) -> bool:
    """Run until the given checkpoint; return whether the work finished before it."""
    done = False

    async def run() -> None:
        with trio.CancelScope() as scope:
            instrument.scope = scope
            await rig.matcher().run(a_child())

    class Instrument(trio.abc.Instrument):
        scope: trio.CancelScope | None = None
        steps = 0

        def after_task_step(self, task: trio.lowlevel.Task) -> None:
            if "run" in task.name and self.scope is not None:
                self.steps += 1
                if self.steps == stop_at:
                    self.scope.cancel()

    instrument = Instrument()
    trio.lowlevel.add_instrument(instrument)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rig.storage.follow)
            nursery.start_soon(run, name="run")
            await wait_all_tasks_blocked()
            done = instrument.steps < stop_at
            nursery.cancel_scope.cancel()
    finally:
        trio.lowlevel.remove_instrument(instrument)
    return done


async def test_a_restart_at_any_step_loses_and_duplicates_no_row() -> None:
    """A cancellation sweep: it cuts off each run one step later, until a run finishes."""
    titles = [f"price {number}" for number in range(8)]
    for stop_at in range(1, 500):
        rig = Rig()
        await rig.prepare(an_alert("a"), an_alert("b"))
        for title in titles:
            await rig.commit(title)
        done = await a_life(rig, stop_at)
        rig.restart()
        async with running(rig):
            pass
        assert rig.outbox() == {"a-hook": titles, "b-hook": titles}, stop_at
        assert await rig.is_settled()
        if done:
            assert stop_at > 10
            return
    raise AssertionError("no life was long enough")


async def test_a_crash_at_either_side_of_the_commit_repeats_whole_events_only() -> None:
    for point in ("matcher/before advance", "matcher/after advance"):
        rig = Rig()
        await rig.prepare(an_alert())
        await rig.commit("price 1", "price 2")

        def crash(name: str, point: str = point) -> None:
            if name == point:
                raise CursorMoved("planted")

        rig.at_point = crash
        with trio.move_on_after(0):
            await rig.matcher().run(a_child())
        rig.at_point = lambda name: None
        rig.restart()
        async with running(rig):
            assert rig.outbox() == {"alert-hook": ["price 1", "price 2"]}


async def test_matches_are_counted_in_the_cursors_transaction() -> None:
    """Alerts without a destination count too. A crash must count nothing twice."""
    rig = Rig()
    await rig.prepare(an_alert("delivered"))
    await rig.storage.alerts.put(an_alert("only-counted"))
    crashed = False

    def crash(name: str) -> None:
        nonlocal crashed
        if name == "matcher/after advance" and not crashed:
            crashed = True
            raise RuntimeError("planned")

    rig.at_point = crash
    await rig.commit("price 1", "weather", "price 2")
    with pytest.raises(BaseExceptionGroup):
        async with running(rig):
            await wait_all_tasks_blocked()
    async with running(rig):
        await rig.commit("price 3")
        await wait_all_tasks_blocked()
    assert {alert.id: (alert.match_count, alert.last_match_at) for alert in await rig.storage.alerts.all()} == {
        "delivered": (3, NOW),
        "only-counted": (3, NOW),
    }
    assert rig.outbox() == {"delivered-hook": ["price 1", "price 2", "price 3"]}


@pytest.mark.parametrize("trouble", ["full", "before", "after"])
async def test_a_disk_that_takes_nothing_holds_the_matcher_up_and_breaks_nothing(
    autojump_clock: MockClock, trouble: str
) -> None:
    rig = Rig()
    await rig.prepare(an_alert())
    async with running(rig):
        await rig.commit("price 1")
        rig.disk.full = trouble == "full"
        rig.disk.silent = "before" if trouble == "before" else "after" if trouble == "after" else "no"
        await trio.sleep(60)
        rig.disk.full, rig.disk.silent = False, "no"
        await rig.commit("price 2")
        await trio.sleep(60)
        assert rig.outbox() == {"alert-hook": ["price 1", "price 2"]}
        alert = await rig.storage.alerts.get("alert")
        assert alert is not None and alert.match_count == 2
        assert await rig.is_settled()
        assert "matcher.parked" in rig.logged


async def test_practice_events_match_only_alerts_that_name_the_source() -> None:
    rig = Rig()
    own = an_alert("own", source_ids=(a_source_id(1),))
    await rig.prepare(an_alert("all"), own, an_alert("other", source_ids=(a_source_id(2),)))
    async with running(rig):
        await rig.commit_draft(a_draft("A practised price", practice=True))
        await wait_all_tasks_blocked()
        assert rig.outbox() == {"own-hook": ["A practised price"]}


async def test_events_held_at_a_reset_match_no_alert_at_all() -> None:
    rig = Rig()
    await rig.prepare(an_alert("all", ""), an_alert("own", "price", source_ids=(a_source_id(),)))
    async with running(rig):
        await rig.commit_draft(a_draft("An old price", tags=("change:reset",)))
        await wait_all_tasks_blocked()
        assert rig.outbox() == {}
        assert await rig.is_settled()


async def test_users_of_the_alerts_have_a_change_before_it_is_acknowledged() -> None:
    rig = Rig()
    await rig.prepare(an_alert("a"))
    heard: list[list[str]] = []

    async def hear(alerts: Any) -> None:
        heard.append([alert.id for alert in alerts])

    async with running(rig, on_alerts_read=hear):
        assert heard == [["a"]], "also at the start"
        await rig.prepare_only(an_alert("b"))
        await changed(rig)
        assert heard == [["a"], ["a", "b"]]


async def test_that_a_source_fails_reaches_each_alert_when_its_time_has_come() -> None:
    rig = Rig()
    await rig.prepare(an_alert("soon", notice_after=60), an_alert("late", notice_after=3600))
    async with running(rig):
        for tag, reached in (("0-60", ["soon-hook"]), ("61-3600", ["soon-hook", "late-hook"])):
            draft = a_draft("failing", alert_type="source_failing", tags=("kind:notice", f"notice_after:{tag}"))
            await rig.commit_draft(draft)
            await wait_all_tasks_blocked()
            assert list(rig.outbox()) == reached
        assert [len(titles) for titles in rig.outbox().values()] == [1, 1]
