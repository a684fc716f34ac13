"""Notices of a failing source follow each alert's own delay, across restarts, pauses and changes of alerts."""

from __future__ import annotations

import trio

from actors.egress.failures import Blame, CheckFailed
from actors.messages.requests import SourcePatch
from actors.messages.sources import EditSource
from actors.sources.schedule.pause import FailureDelays
from storage.records.alert import Alert
from storage.records.identity import SourceId
from tests.actors.matcher.rig import an_alert
from tests.actors.sources.harness import Origin, Watching, rss, watching
from tests.actors.sources.push.test_push import Pusher
from tests.support.build import a_source
from tests.support.in_loop import Disk

URL = "https://site.example/feed"
FAILING, RECOVERED = "source_failing", "source_recovered"


async def edit(service: Watching, source: SourceId, *, enabled: bool) -> None:
    await service.registry_box.ask(lambda reply: EditSource(source, SourcePatch(enabled=enabled), reply))


async def waiting(service: Watching, *alerts: Alert) -> None:
    await service.ports.failure_delays.update(alerts)


def told(service: Watching) -> list[tuple[str, str]]:
    """Return the kinds of the notices in the log, with their delays."""
    events = [event for event in service.events_from(0) if "alert_type" in event]
    return [(event["alert_type"], event["tags"][1]) for event in events]


async def failing(service: Watching, origin: Origin, status: int = 500) -> tuple[SourceId, float]:
    """Add a source and let its next check fail; return its id and the failure's time on the loop's clock."""
    origin.bodies["/feed"] = rss("a")
    source = (await service.add(URL)).view.source.id
    origin.status = status
    for _ in range(600):
        await trio.sleep(1)
        if (down := service.registry.table.describe(source).hot.health.down_since) is not None:
            return source, trio.current_time() + (down - service.world.now()) / 1000
    raise AssertionError("it was never looked at")


async def test_an_alert_is_notified_after_its_minute_before_the_next_check(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert("a", notice_after=60), an_alert("b", notice_after=86_400))
        source, down = await failing(service, origin, 404)  # it opens the breaker at once
        await trio.sleep_until(down + 59)
        looks = len(origin.looks("/feed"))
        assert told(service) == []
        await trio.sleep_until(down + 61)
        hot = service.registry.table.describe(source).hot
        assert (len(origin.looks("/feed")), hot.health.flag) == (looks, "ok")
        assert told(service) == [(FAILING, "notice_after:0-60")]
        await trio.sleep_until(down + 86_399)
        assert len(told(service)) == 1
        await trio.sleep_until(down + 86_401)
        assert told(service)[1:] == [(FAILING, "notice_after:61-86400")]
        origin.status = None
        await trio.sleep(3600)
        assert told(service)[2:] == [(RECOVERED, "notice_after:0-86400")]


async def test_an_unanswered_notice_moves_no_check(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert("a", notice_after=60))
        source, down = await failing(service, origin, 404)  # it opens the breaker at once
        due = service.registry.table.describe(source).hot.next_look_at
        service.storage.disk.silent = "after"
        await trio.sleep_until(down + 62)
        service.storage.disk.silent = "no"
        assert service.registry.table.describe(source).hot.next_look_at == due
        assert told(service) == [(FAILING, "notice_after:0-60")]
        await trio.sleep(600)
        assert len(told(service)) == 1


async def test_a_recovery_before_the_notice_is_due_sends_nothing(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert(notice_after=7200))
        await failing(service, origin)
        await trio.sleep(3600)
        origin.status = None
        await trio.sleep(86_400)
        assert told(service) == []


async def test_a_flapping_source_is_reported_once_for_each_lasting_failure(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert(notice_after=1800))
        await failing(service, origin)
        for lasts in (3600, 60, 3600):
            origin.status = 500
            await trio.sleep(lasts)
            origin.status = None
            await trio.sleep(7200)
        assert [kind for kind, _ in told(service)] == [FAILING, RECOVERED, FAILING, RECOVERED]


async def test_a_restart_in_the_middle_reports_each_change_once(autojump_clock: object) -> None:
    disk, origin = Disk(), Origin()
    alerts = (an_alert("a", notice_after=60), an_alert("b", notice_after=7200))
    async with watching(origin, disk=disk) as (service, _):
        await waiting(service, *alerts)
        await failing(service, origin)
        await trio.sleep(30)
    for lasts in (45, 3600, 5400):
        async with watching(origin, disk=disk) as (service, _):
            await waiting(service, *alerts)
            await trio.sleep(lasts)
    assert told(service) == [(FAILING, "notice_after:0-60"), (FAILING, "notice_after:61-7200")]


async def test_after_a_time_without_watching_a_check_comes_first(autojump_clock: object) -> None:
    disk, origin = Disk(), Origin()
    async with watching(origin, disk=disk) as (service, _):
        await waiting(service, an_alert(notice_after=7200))
        await failing(service, origin)
    origin.status = None
    await trio.sleep(86_400)
    async with watching(origin, disk=disk) as (service, _):
        await waiting(service, an_alert(notice_after=7200))
        await trio.sleep(7200)
        assert told(service) == []


async def test_an_alert_made_meanwhile_is_notified_in_its_time(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        _, down = await failing(service, origin)
        await trio.sleep_until(down + 1700)
        await waiting(service, an_alert(notice_after=1800))
        await trio.sleep_until(down + 1799)
        assert told(service) == []
        await trio.sleep_until(down + 1801)
        assert told(service) == [(FAILING, "notice_after:0-1800")]


async def test_a_deleted_alert_gets_no_notice(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert("a", notice_after=600), an_alert("b", notice_after=86_400))
        await failing(service, origin)
        await waiting(service, an_alert("b", notice_after=86_400))
        await trio.sleep(80_000)
        assert told(service) == []


async def test_a_disabled_source_reports_nothing_and_is_checked_at_the_enable(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert(notice_after=1800))
        source, _ = await failing(service, origin)
        await edit(service, source, enabled=False)
        await trio.sleep(86_400)
        assert told(service) == []
        origin.status = None
        await edit(service, source, enabled=True)
        await trio.sleep(3600)
        assert told(service) == []


async def test_while_our_own_line_is_down_no_trouble_is_the_sources(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert(notice_after=600))
        _, down = await failing(service, origin)
        line = service.ports.egress.uplink
        for number in range(20):
            line.add_known(f"h{number}.example")
            line.failed(f"h{number}.example", CheckFailed(Blame.REMOTE_TRANSIENT, "no route"))
        assert line.down
        origin.status = None
        await trio.sleep_until(down + 605)
        assert told(service) == []
        for number in range(20):
            line.answered(f"h{number}.example")
        assert not line.down
        await trio.sleep(4 * 3600)
        assert told(service) == []


async def test_healthy_sources_need_no_notice_times(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        await trio.sleep(1)
        assert "0 asleep" in repr(service.ports.failure_delays)
        origin.status = 500
        await trio.sleep(3000)
        assert "1 asleep" in repr(service.ports.failure_delays)


async def test_times_are_of_the_alerts_over_a_source_that_want_to_know() -> None:
    patience, other, tagged = FailureDelays(), a_source(2), a_source(3, tags=("label:shop",))
    assert (patience.next_delay(other, None), patience.next_delay(other, 60)) == (3600, None)
    await patience.update(
        [
            an_alert("a", notice_after=60),
            an_alert("b", notice_after=300, source_ids=(other.id,)),
            an_alert("e", notice_after=900, tags=("label:shop", "label:sea")),
            an_alert("c", notice_after=30, enabled=False),
            an_alert("d", notice_after=20, notices=("source_quiet",)),
        ]
    )
    assert [patience.next_delay(other, told) for told in (None, 60, 61, 300)] == [60, 300, 300, None]
    assert [patience.next_delay(a_source(), told) for told in (None, 60)] == [60, None]
    assert [patience.due_delay(other, None, lasts) for lasts in (59.9, 60, 1000)] == [None, 60, 300]
    assert [patience.due_delay(other, told, 1000) for told in (60, 300)] == [300, None]
    assert [patience.next_delay(tagged, told) for told in (None, 60, 900)] == [60, 900, None]
    await patience.update([an_alert("e", notice_after=900, tags=("label:shop",))])
    assert (patience.next_delay(tagged, None), patience.next_delay(other, None)) == (900, 3600)


async def test_a_push_source_reports_in_time_too(autojump_clock: object) -> None:
    async with watching() as (service, _):
        await waiting(service, an_alert("a", notice_after=60), an_alert("b", notice_after=7200))
        pusher = Pusher()
        pusher.join(service)
        await service.add("ws://push.example/live", filter="")
        await trio.sleep(2)
        pusher.refuse = 404
        await pusher.hang_up()
        await trio.sleep(55)
        assert told(service) == []
        await trio.sleep(10)
        assert told(service) == [(FAILING, "notice_after:0-60")]
        pusher.refuse = None
        await trio.sleep(2 * 3600)
        assert told(service)[1:] == [(RECOVERED, "notice_after:0-60")]


async def test_a_notice_between_two_checks_that_can_not_be_committed_waits_for_the_next(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        await waiting(service, an_alert(notice_after=60))
        _, down = await failing(service, origin)
        service.disk.full = True
        await trio.sleep_until(down + 3600)
        assert told(service) == []
        service.disk.full = False
        await trio.sleep(3600)
        assert told(service) == [(FAILING, "notice_after:0-60")]
