from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace

from actors.notices import wants_notice
from actors.sources.health.notices import DueDelay, due_notices
from storage.errors import Unavailable
from storage.records.event import Stored
from storage.records.identity import Millis, Seq, rfc3339
from storage.records.source import Flag, Harvest, Health, OpenNotices
from storage.records.tiers import Kind
from tests.actors.matcher.rig import an_alert
from tests.actors.sources.harness import Origin, Watching, rss, watching
from tests.actors.sources.push.test_push import Pusher
from tests.support.build import NOW, a_source, a_source_id
from tests.support.in_loop import Disk

URL = "https://site.example/feed"


MINUTE = 60_000


def at(lasts: float, **more: Any) -> Health:
    """Return the health of a source that has been failing for so many seconds."""
    return Health(reason="The last check failed: no", down_since=Millis(NOW - round(1000 * lasts)), **more)


def when(*times: int) -> DueDelay:
    """Return a function that picks the longest unreported delay now due."""

    def reached(told: int | None, lasts: float) -> int | None:
        due = [each for each in times if each <= lasts and (told is None or each > told)]
        return max(due, default=None)

    return reached


def said(before: Health, after: Health, *times: int) -> list[tuple[str | None, tuple[str, ...]]]:
    """Return the kinds of the notices, and their tags except `kind:notice`."""
    _, drafts = due_notices(a_source(), before, after, NOW, when(*times))
    return [(draft.alert_type, draft.tags[1:]) for draft in drafts]


@pytest.mark.parametrize(
    ("names", "called"),
    [
        ({}, a_source().url),
        ({"found_title": "Harbour notices"}, "Harbour notices"),
        ({"found_title": "Harbour notices", "title": "Mine"}, "Mine"),
    ],
)
def test_a_notice_calls_a_source_as_its_user_does_else_as_it_calls_itself(names: dict[str, str], called: str) -> None:
    source = replace(a_source(), **names)
    _, (told,) = due_notices(source, Health(), at(60), NOW, when(0))
    assert told.title == f"A source is failing: {called}" and told.source_url == source.url


FAILING, RECOVERED, QUIET = "source_failing", "source_recovered", "source_quiet"
TOLD_AT = f"told:{rfc3339(NOW)}"


@pytest.mark.parametrize("flag", ["ok", "degraded", "rotten"])
@pytest.mark.parametrize(
    ("lasts", "told", "tags"),
    [
        (59, None, None),
        (60, None, "notice_after:0-60"),
        (4000, None, "notice_after:0-3600"),
        (4000, 60, "notice_after:61-3600"),
        (3599, 60, None),
        (90_000, 3600, None),
    ],
)
def test_a_failure_is_reported_by_its_age_with_any_flag(
    flag: Flag, lasts: int, told: int | None, tags: str | None
) -> None:
    health = at(lasts, flag=flag, told=None if told is None else OpenNotices(NOW, told))
    assert said(health, health, 60, 3600) == ([] if tags is None else [(FAILING, (tags,))])


def test_a_reported_item_is_known_and_not_reported_again() -> None:
    after, drafts = due_notices(a_source(), at(60), at(60), NOW, when(60))
    assert (
        "No check has succeeded since 28 May 2026 20:25 UTC, for 60 s. The last check failed: no" in drafts[0].content
    )
    assert after.told == OpenNotices(NOW, 60)
    assert due_notices(a_source(), after, after, NOW, when(60)) == (after, ())


def test_a_recovery_goes_to_the_alerts_that_got_the_failure() -> None:
    before = at(4000, told=OpenNotices(NOW, 60))
    after, (draft,) = due_notices(a_source(), before, Health(told=before.told), NOW, when(60))
    assert (draft.alert_type, draft.tags) == (RECOVERED, ("kind:notice", "notice_after:0-60", TOLD_AT))
    assert "The last check failed: no" in draft.content
    assert after.told is None


def test_the_recovery_from_an_unreported_failure_is_not_reported() -> None:
    assert said(at(4000, flag="degraded"), Health(), 90_000) == []


def test_silence_that_lowers_health_is_reported_and_so_is_its_end() -> None:
    quiet = Health(0.5, "degraded", "silent for 10 h", cause="yield")
    after, (draft,) = due_notices(a_source(), Health(), quiet, NOW, when(60))
    assert (draft.alert_type, draft.content, draft.tags) == (QUIET, "silent for 10 h", ("kind:notice",))
    assert said(after, after, 60) == []
    assert said(after, Health(told=after.told), 60) == [(RECOVERED, ("notice_after:0-", TOLD_AT))]


def test_a_quiet_source_that_then_fails_is_reported_again() -> None:
    told = OpenNotices(NOW, quiet=True)
    assert said(at(60, flag="degraded", cause="yield", told=told), at(60, flag="degraded", told=told), 60) == [
        (FAILING, ("notice_after:0-60",))
    ]


def test_intermittent_answers_are_reported_to_all_once_the_flag_falls() -> None:
    flapping = Health(0.6, "degraded", "8 of the last 20", cause="partial")
    assert said(flapping, flapping, 60) == [(FAILING, ("notice_after:0-",))]
    assert said(at(5, flag="degraded", cause="partial"), at(5, flag="degraded", cause="partial"), 60) == []
    told = replace(flapping, told=OpenNotices(NOW, 1 << 31))
    assert said(told, told, 60) == []
    assert said(told, Health(told=told.told), 60) == [(RECOVERED, ("notice_after:0-", TOLD_AT))]


def test_practice_says_nothing() -> None:
    source = replace(a_source(), practice=0)
    assert due_notices(source, at(60), at(60), NOW, when(60)) == (at(60), ())


@pytest.mark.parametrize(
    ("tags", "after", "created", "wanted"),
    [
        ((), 5, 0, True),
        (("notice_after:0-60",), 0, 0, True),
        (("notice_after:0-60",), 60, 0, True),
        (("notice_after:0-60",), 61, 0, False),
        (("notice_after:61-3600",), 60, 0, False),
        (("notice_after:61-3600",), 61, 0, True),
        (("notice_after:61-",), 604_800, 0, True),
        (("notice_after:0-60", TOLD_AT), 60, 0, True),
        (("notice_after:0-60", TOLD_AT), 60, 1, False),
    ],
)
def test_an_alert_gets_the_notices_that_its_time_asks_for(
    tags: tuple[str, ...], after: int, created: int, wanted: bool
) -> None:
    event = Stored(Seq(1), a_source_id(), Kind.NOTICE, msgspec.json.encode({"tags": ("kind:notice", *tags)}))
    alert = an_alert(notice_after=after, created_at=Millis(NOW + created))
    assert wants_notice(alert, FAILING, event) is wanted


def test_a_notice_has_its_sources_tags_but_none_that_reads_like_a_mark_of_its_own() -> None:
    """Otherwise a user's tag could redirect a notice, or make it unreadable."""
    forged = ("notice_after:x", "told:never", "alert:a", "destination:d", "kind:notice")
    source = replace(a_source(), tags=("label:shop", *forged))
    _, (draft,) = due_notices(source, at(60), at(60), NOW, when(60))
    assert draft.tags == ("kind:notice", "notice_after:0-60", "label:shop")


def test_an_alert_over_tags_gets_the_notices_of_sources_that_have_one() -> None:
    body = msgspec.json.encode({"tags": ("kind:notice", "label:shop")})
    event = Stored(Seq(1), a_source_id(), Kind.NOTICE, body)
    for change, wanted in (
        ({"tags": ("label:shop",)}, True),
        ({"tags": ("label:sea",)}, False),
        ({"tags": ("label:sea",), "source_ids": (a_source_id(),)}, True),
        ({"source_ids": (a_source_id(2),)}, False),
    ):
        assert wants_notice(an_alert(**change), FAILING, event) is wanted


async def test_a_source_that_fails_and_recovers_says_each_once_as_a_notice(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        origin.status = 500
        await trio.sleep(48 * 3600)
        (failing,) = await service.alerts()
        assert (failing["alert_type"], failing["source_id"], failing["source_url"]) == ("source_failing", source, URL)
        assert "500" in failing["content"] and failing["signature"]
        origin.status = None
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(3600)
        assert [event.get("alert_type", event["title"]) for event in await service.events()] == [
            "source_failing",
            "source_recovered",
            "b",
        ]
        assert [event.kind for event in service.disk.events()] == [Kind.NOTICE, Kind.NOTICE, Kind.FEED]
        assert service.registry.table.describe(source).hot.events == 1, "notices are no events of the source"


async def test_two_failed_checks_are_no_trouble(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.status = 500
        await trio.sleep(1200)
        origin.status = None
        await trio.sleep(24 * 3600)
        assert await service.alerts() == []


async def test_a_restart_in_the_middle_of_a_trouble_repeats_nothing(autojump_clock: object) -> None:
    disk, origin = Disk(), Origin()
    async with watching(origin, disk=disk) as (service, _):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.status = 500
        await trio.sleep(6 * 3600)
    async with watching(origin, disk=disk) as (service, _):
        await trio.sleep(24 * 3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing"]
        origin.status = None
        await trio.sleep(3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing", "source_recovered"]


async def test_a_notice_that_could_not_be_committed_is_sent_later(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        origin.status = 500
        await trio.sleep(1800)
        service.disk.full = True
        await trio.sleep(6 * 3600)
        assert await service.alerts() == []
        service.disk.full = False
        await trio.sleep(3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing"]


async def test_a_push_source_says_it_too(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add("ws://push.example/live", filter="")
        await trio.sleep(2)
        pusher.refuse = 500
        await pusher.hang_up()
        await trio.sleep(12 * 3600)
        pusher.refuse = None
        await trio.sleep(3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing", "source_recovered"]


def lose_answers(service: Watching) -> None:
    """Make storage commit each first notice of a kind but lose the answer."""
    real, lost = service.storage.log.append, set[str]()

    async def append(harvests: Sequence[Harvest], *more: Any) -> Any:
        answer = await real(harvests, *more)
        kinds = {draft.alert_type for harvest in harvests for draft in harvest.drafts if draft.alert_type} - lost
        if kinds:
            lost.update(kinds)
            raise Unavailable("committed, and the answer is lost")
        return answer

    service.storage.log.append = append  # type: ignore[method-assign,assignment]


async def test_a_notice_with_an_unanswered_commit_is_sent_once_and_checks_continue(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a")
        await service.add(URL)
        lose_answers(service)
        origin.status = 500
        await trio.sleep(12 * 3600)
        origin.status, origin.bodies["/feed"] = None, rss("b", "a")
        await trio.sleep(12 * 3600)
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing", "source_recovered"]
        assert await service.news() == ["b"]


async def test_a_push_source_sends_a_notice_with_an_unanswered_commit_once(autojump_clock: object) -> None:
    async with watching() as (service, _):
        pusher = Pusher()
        pusher.join(service)
        await service.add("ws://push.example/live", filter="")
        await trio.sleep(2)
        lose_answers(service)
        pusher.refuse = 500
        await pusher.hang_up()
        await trio.sleep(12 * 3600)
        pusher.refuse = None
        await trio.sleep(3600)
        await pusher.send("one")
        assert [event["alert_type"] for event in await service.alerts()] == ["source_failing", "source_recovered"]
        assert len(await service.news()) == 1
