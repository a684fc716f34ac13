from __future__ import annotations

from collections.abc import Sequence
from email.utils import formatdate

import pytest
import trio

from actors.content.messages import Entry, FeedReading
from actors.errors import Unprocessable
from actors.sources.feed.reader import NewEntriesDecision, decide, error_report
from actors.sources.feed.seen import Manner
from storage.records.identity import Millis
from storage.records.tiers import Kind
from tests.actors.sources.harness import SITE, rss, watching
from tests.support.build import NOW

URL = "https://site.example/feed"
HOUR = 3_600_000
DAY = 24 * HOUR


def entries(count: int, start: int = 0, *, dated: int | None = None, step: int = 60_000) -> list[Entry]:
    return [
        Entry(f"k{n}", "", f"t{n}", "", "", None if dated is None else Millis(dated + step * n), (), "0" * 16)
        for n in range(start, start + count)
    ]


def decision(
    count: int, new: list[Entry], before: Manner = Manner.PLAIN, *, newest: int = NOW - DAY, moved: Sequence[Entry] = ()
) -> NewEntriesDecision:
    return decide(count, new, before, Millis(newest), moved=moved)


@pytest.mark.parametrize(
    ("count", "new", "held"),
    [(10, 5, 0), (10, 9, 0), (10, 10, 10), (9, 9, 0), (1, 1, 0), (100, 99, 0), (100, 100, 100), (12, 10, 0)],
)
@pytest.mark.parametrize("dated", [None, NOW - 400 * DAY], ids=["undated", "old"])
def test_only_all_of_a_feed_that_is_not_small_is_held(count: int, new: int, held: int, dated: int | None) -> None:
    turn = decision(count, entries(new, dated=dated))
    assert (len(turn.held), len(turn.reported)) == (held, new - held)


def test_entries_newer_than_all_seen_are_reported_in_any_number_and_of_any_age() -> None:
    turn = decision(30, entries(30, dated=NOW - 30 * DAY), newest=NOW - 31 * DAY)
    assert (len(turn.reported), turn.held, turn.manner) == (30, (), Manner.PLAIN)


@pytest.mark.parametrize("step", [0, 1], ids=["one date", "a moment apart"])
def test_a_batch_with_one_date_is_reported_when_the_date_is_new(step: int) -> None:
    turn = decision(12, entries(12, dated=NOW + 1000, step=step))
    assert (len(turn.reported), turn.held) == (12, ())


def test_new_entries_of_a_moved_feed_are_reported() -> None:
    turn = decision(12, [*entries(10, dated=NOW - 90 * DAY), *entries(2, 50, dated=NOW)])
    assert ([entry.key for entry in turn.reported], len(turn.held)) == (["k50", "k51"], 10)


@pytest.mark.parametrize(("moved", "new", "kept"), [(12, 0, 0), (12, 5, 0), (1, 0, 0), (3, 9, 0), (6, 2, 6)])
def test_any_number_of_known_entries_with_new_ids_is_a_move(moved: int, new: int, kept: int) -> None:
    turn = decision(moved + new + kept, entries(new), moved=entries(moved, 50))
    assert (len(turn.held), len(turn.reported), turn.manner) == (moved, new, Manner.RENAMED)
    again = decision(moved + new + kept, entries(new), turn.manner, moved=entries(moved, 50))
    assert (again.held, len(again.reported)) == ((), new)


def test_a_few_renamed_entries_among_others_are_no_move() -> None:
    assert decision(12, entries(2), moved=entries(3, 50)).held == ()


def test_one_old_date_for_all_entries_is_no_date() -> None:
    first = decision(12, entries(12, dated=NOW - DAY, step=0))
    second = decision(12, entries(12, 12, dated=NOW - DAY, step=0), first.manner)
    assert (len(first.held), len(second.held)) == (12, 0)


def test_a_feed_that_was_empty_has_not_moved() -> None:
    turn = decide(10, entries(10, dated=NOW - 400 * DAY), Manner.PLAIN, NOW, was_empty=True)
    assert (len(turn.reported), turn.held) == (10, ())


@pytest.mark.parametrize("dated", [None, NOW - 90 * DAY], ids=["undated", "old"])
def test_a_feed_that_turns_over_again_and_again_is_fast_and_is_reported(dated: int | None) -> None:
    first = decision(10, entries(10, dated=dated))
    second = decision(10, entries(10, 10, dated=dated), first.manner)
    third = decision(10, entries(10, 20, dated=dated), second.manner)
    assert [len(turn.held) for turn in (first, second, third)] == [10, 0, 0]
    ordinary = decision(10, entries(2, 30), first.manner)
    assert ordinary.manner is Manner.PLAIN


@pytest.mark.parametrize(
    ("titles", "report"),
    [
        (["Bridge returned error 500! (20413)"], True),
        (["Bridge returned error 404! (1)", "Bridge returned error 0! (2)"], True),
        (["RSS reader not yet whitelisted!"], True),
        (["An error occurred"], True),
        (["Error"], True),
        (["An error occurred in the count of votes"], False),
        (["An error occurred", "Real news"], False),
        (["Bridge returned error 500! (20413)", "Real news"], False),
        (["Bridge returned error 500! (1)"] * 4, False),
        ([], False),
    ],
)
def test_an_error_report_is_known_when_it_is_all_there_is(titles: list[str], report: bool) -> None:
    found = [Entry(title, "", title, "", "", None, (), "0" * 16) for title in titles]
    assert (error_report(FeedReading("T", "", "rss", tuple(found))) is not None) is report


def names(start: int, count: int) -> list[str]:
    return [f"e{n}" for n in range(start, start + count)]


def dated(titles: list[str], at: int, step: int = 0) -> bytes:
    """Return a feed with one date for all entries, or with `step` ms between them."""
    items = "".join(
        f"<item><guid isPermaLink='false'>{name}</guid><title>{name}</title><link>https://{SITE}/{name}</link>"
        f"<description>text of {name}</description><pubDate>{formatdate((at - step * n) / 1000)}</pubDate></item>"
        for n, name in enumerate(titles)
    )
    return f"<rss version='2.0'><channel><title>T</title>{items}</channel></rss>".encode()


async def test_an_entirely_new_feed_is_reported_once_and_then_watched_normally(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss(*names(0, 12))
        await service.add(URL)
        origin.bodies["/feed"] = rss(*names(100, 12))
        await trio.sleep(3600)
        event, *held = await service.events()
        assert (event["alert_type"], event["source_type"], event["source_url"]) == ("source_reset", "feed", URL)
        assert "12 entries" in event["content"] and "change:reset" in event["content"]
        assert event["tags"] == ["kind:notice"]
        assert [one["title"] for one in held] == names(100, 12)[::-1]
        assert {tuple(one["tags"]) for one in held} == {("change:reset",)}
        assert {one.kind for one in service.disk.events()[1:]} == {Kind.HELD}
        origin.bodies["/feed"] = rss("fresh", *names(100, 11))
        await trio.sleep(2 * 3600)
        assert (await service.titles())[13:] == ["fresh"]
        origin.bodies["/feed"] = rss(*names(0, 12))
        await trio.sleep(2 * 3600)
        assert len(await service.titles()) == 14, "the entries from before the move are still known"


async def test_twelve_entries_dated_just_before_the_check_are_all_reported(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = dated(names(0, 12), NOW - DAY)
        source = (await service.add(URL)).view.source.id
        await trio.sleep(700)
        now = service.world.now()
        origin.bodies["/feed"] = dated(names(100, 12), now - 1000, step=200)
        await service.check(source)
        await trio.sleep(60)
        assert (await service.alerts(), sorted(await service.titles())) == ([], sorted(names(100, 12)))


async def test_ten_new_entries_among_two_old_ones_are_reported_despite_dates_without_times(
    autojump_clock: object,
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = dated(names(0, 12), NOW - 3 * DAY)
        await service.add(URL)
        origin.bodies["/feed"] = dated([*names(100, 10), *names(0, 2)], NOW - 2 * DAY)
        await trio.sleep(3600)
        assert (await service.alerts(), len(await service.titles())) == ([], 10)


@pytest.mark.parametrize("before", [0, 12], ids=["from the beginning", "for a while"])
async def test_a_feed_that_is_empty_and_then_has_ten_old_entries_reports_them(
    autojump_clock: object, before: int
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = dated(names(0, before), NOW - 90 * DAY)
        await service.add(URL)
        origin.bodies["/feed"] = dated([], 0)
        await trio.sleep(3600)
        origin.bodies["/feed"] = dated(names(100, 10), NOW - 30 * DAY)
        await trio.sleep(3600)
        assert (await service.alerts(), len(await service.titles())) == ([], 10)
        origin.bodies["/feed"] = dated(names(200, 10), NOW - 60 * DAY)
        await trio.sleep(3600)
        assert len(await service.alerts()) == 1, "a later move is still one"


async def test_a_briefly_empty_feed_makes_no_known_entry_new(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss(*names(0, 12))
        await service.add(URL)
        for titles in ([], names(0, 12), names(100, 12)):
            origin.bodies["/feed"] = rss(*titles)
            await trio.sleep(3600)
        assert len(await service.alerts()) == 1, "the feed was not empty at the look before the move"


async def test_an_ordinary_burst_is_reported(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss(*names(0, 10))
        await service.add(URL)
        origin.bodies["/feed"] = rss(*names(100, 5), *names(0, 5))
        await trio.sleep(3600)
        assert (len(await service.titles()), await service.alerts()) == (5, [])


async def test_a_small_feed_may_be_new_as_a_whole(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss(*names(0, 5))
        await service.add(URL)
        origin.bodies["/feed"] = rss(*names(100, 5))
        await trio.sleep(3600)
        assert (len(await service.titles()), await service.alerts()) == (5, [])


async def test_a_bridges_error_report_is_a_failed_check_and_no_event(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a", "b")
        source = (await service.add(URL)).view.source.id
        origin.bodies["/feed"] = rss("Bridge returned error 503! (20413)")
        await trio.sleep(1200)
        hot = service.registry.table.describe(source).hot
        assert "Bridge returned error 503" in (hot.last_error or "")
        origin.bodies["/feed"] = rss("c", "a", "b")
        await trio.sleep(3600)
        assert await service.titles() == ["c"]


async def test_a_feed_that_is_an_error_report_at_first_is_not_added(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("Bridge returned error 503! (20413)")
        with pytest.raises(Unprocessable, match="error report"):
            await service.add(f"https://{SITE}/feed")
