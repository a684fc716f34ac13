from __future__ import annotations

import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.egress.failures import Blame
from storage.records.checks import MOST_LOOKS, Verdict, add_row, check_row, read_rows
from storage.records.identity import Millis
from tests.actors.sources.harness import Origin, rss, watching
from tests.support.build import NOW
from tests.support.in_loop import Disk

URL = "https://site.example/feed"


def at(second: int) -> Millis:
    return Millis(NOW + 1000 * second)


def test_equal_checks_are_one_row_and_changes_are_not() -> None:
    trail = b""
    for second in range(50):
        trail = add_row(trail, check_row(at(second), Verdict.UNCHANGED, 304, ms=second))
    trail = add_row(trail, check_row(at(60), Verdict.CHANGED, 200, size=900, ms=12))
    trail = add_row(trail, check_row(at(61), Verdict.CHANGED, 200, size=950, ms=13))
    trail = add_row(trail, check_row(at(70), Verdict.REMOTE_TRANSIENT, None))
    rows = read_rows(trail)
    assert [(row.verdict, row.looks, row.status) for row in rows] == [
        (Verdict.UNCHANGED, 50, 304),
        (Verdict.CHANGED, 1, 200),
        (Verdict.CHANGED, 1, 200),
        (Verdict.REMOTE_TRANSIENT, 1, None),
    ]
    assert (rows[0].first_at, rows[0].last_at, rows[0].ms, rows[1].size) == (NOW, NOW + 49_000, 49, 900)


@given(st.lists(st.sampled_from(Verdict), max_size=600))
def test_the_last_200_checks_of_any_outcome_are_stored(verdicts: list[Verdict]) -> None:
    trail = b""
    for second, verdict in enumerate(verdicts):
        trail = add_row(trail, check_row(at(second), verdict, 200))
    rows = read_rows(trail)
    assert [row.verdict for row in rows for _ in range(row.looks)] == verdicts[-MOST_LOOKS:]
    assert len(trail) < 4000


def test_oversized_numbers_are_capped_and_an_invalid_trail_is_empty() -> None:
    (row,) = read_rows(add_row(b"", check_row(at(0), Verdict.CHANGED, 200, size=2**40, ms=2**20)))
    assert (row.size, row.ms) == (2**32 - 1, 2**16 - 1)
    assert read_rows(b"") == read_rows(b"\x02abc") == read_rows(b"\x01abc") == []


def test_every_blame_has_a_verdict_of_its_name() -> None:
    assert {blame.name for blame in Blame} < {verdict.name for verdict in Verdict}


async def test_a_source_remembers_its_checks_across_a_restart(autojump_clock: object) -> None:
    disk, origin = Disk(), Origin()
    async with watching(origin, disk=disk) as (service, _):
        origin.bodies["/feed"] = rss("a")
        source = (await service.add(URL)).view.source.id
        await trio.sleep(1800)
        origin.bodies["/feed"] = rss("b", "a")
        await trio.sleep(3600)
        origin.status = 500
        await trio.sleep(1800)
        before = read_rows(service.registry.table.describe(source).hot.trail)
    assert [row.verdict for row in before] == [
        Verdict.UNCHANGED,
        Verdict.CHANGED,
        Verdict.UNCHANGED,
        Verdict.REMOTE_TRANSIENT,
    ]
    assert (before[0].status, before[1].status, before[-1].status) == (304, 200, 500)
    assert before[0].looks > 3 and before[1].size > 0
    assert read_rows(disk.sources()[source].hot.trail) == before
