from __future__ import annotations

import pytest
import trio

from actors.content.entries import Entry, FeedReading
from actors.errors import Unprocessable
from actors.source.seen import Manner
from actors.source.upheaval import Turn, error_report, turn_of
from storage.records.identity import Millis
from tests.source.harness import SITE, rss, watching
from tests.support.build import NOW

URL = "https://site.example/feed"
HOUR = 3_600_000
DAY = 24 * HOUR


def entries(count: int, start: int = 0, *, dated: int | None = None, step: int = 60_000) -> list[Entry]:
    return [
        Entry(f"k{n}", "", f"t{n}", "", "", None if dated is None else Millis(dated + step * n), (), "0" * 16)
        for n in range(start, start + count)
    ]


def decide(count: int, new: list[Entry], before: Manner = Manner.PLAIN) -> Turn:
    return turn_of(count, new, before, NOW)


@pytest.mark.parametrize(
    ("count", "new", "held"),
    [(10, 5, 0), (10, 8, 0), (10, 9, 9), (10, 10, 10), (9, 9, 0), (1, 1, 0), (100, 80, 0), (100, 81, 81), (30, 29, 29)],
)
@pytest.mark.parametrize("dated", [None, NOW - 400 * DAY], ids=["undated", "old"])
def test_only_most_of_a_feed_that_is_not_small_is_held(count: int, new: int, held: int, dated: int | None) -> None:
    turn = decide(count, entries(new, dated=dated))
    assert (turn.held, len(turn.told), turn.say) == (held, new - held, held > 0)


def test_entries_published_since_the_last_good_look_are_news_however_many() -> None:
    turn = decide(30, entries(30, dated=NOW - 30 * 60_000))
    assert (len(turn.told), turn.held, turn.manner) == (30, 0, Manner.PLAIN)


def test_what_is_really_new_in_a_feed_that_moved_is_told() -> None:
    turn = decide(12, [*entries(10, dated=NOW - 90 * DAY), *entries(2, 50, dated=NOW)])
    assert ([entry.key for entry in turn.told], turn.held, turn.say) == (["k50", "k51"], 10, True)


def test_one_date_for_all_entries_is_no_date() -> None:
    assert decide(12, entries(12, dated=NOW, step=0)).held == 12


def test_an_undated_feed_that_turns_over_again_and_again_is_fast_and_is_told() -> None:
    first = decide(10, entries(10))
    second = decide(10, entries(10, 10), first.manner)
    third = decide(10, entries(10, 20), second.manner)
    assert [(turn.held, turn.say) for turn in (first, second, third)] == [(10, True), (0, False), (0, False)]
    ordinary = decide(10, entries(2, 30), first.manner)
    assert ordinary.manner is Manner.PLAIN


def test_a_second_move_in_a_row_of_old_entries_is_held_and_not_said_again() -> None:
    first = decide(10, entries(10, dated=NOW - 90 * DAY))
    second = decide(10, entries(10, 10, dated=NOW - 90 * DAY), first.manner)
    assert (second.held, second.say) == (10, False)


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


async def test_a_feed_that_is_new_as_a_whole_is_said_once_and_then_watched_as_always(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss(*names(0, 12))
        await service.add(URL)
        origin.bodies["/feed"] = rss(*names(100, 12))
        await trio.sleep(3600)
        (event,) = await service.events()
        assert (event["alert_type"], event["source_type"], event["source_url"]) == ("source_reset", "feed", URL)
        assert "12 entries" in event["content"]
        assert event["tags"] == ["kind:notice"]
        origin.bodies["/feed"] = rss("fresh", *names(100, 11))
        await trio.sleep(2 * 3600)
        assert (await service.titles())[1:] == ["fresh"]
        origin.bodies["/feed"] = rss(*names(0, 12))
        await trio.sleep(2 * 3600)
        assert len(await service.titles()) == 2, "the entries from before the move are still known"


async def test_an_ordinary_burst_is_told(autojump_clock: object) -> None:
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


async def test_a_bridges_error_report_is_a_failed_look_and_no_event(autojump_clock: object) -> None:
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
