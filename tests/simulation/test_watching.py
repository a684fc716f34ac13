"""The oracle of the watching, on handwritten facts."""

from __future__ import annotations

import json

import pytest

from storage.records.identity import Millis, rfc3339
from tests.simulation.clients import AddedSource
from tests.simulation.facts import Facts, Logged
from tests.simulation.oracle.pages import real
from tests.simulation.oracle.watching import BACK_WITHIN, recovery
from tests.simulation.origins.pages import FLAPS
from tests.simulation.origins.server import Seen
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import Fault, OriginPlan, Program

HOUR = 3600.0


def facts_of(*looks: float, robots: Seen | None = None) -> Facts:
    """A page that answers except for one minute at ten hours."""
    page = OriginPlan("page.example", "html", "plain", "none", 5, secure=True, added_at=0.0, texts=())
    fault = Fault(10 * HOUR, 60.0, "robots forbids", "page.example")
    program = Program("", 1.0, (page,), (), (fault,), (), (), 0.0, 10.0)
    seen = [Seen(at, "/", 200, conditional=False) for at in looks] + ([robots] if robots else [])
    return Facts(program, {page.url: AddedSource("id", 1.0, 1.0)}, seen={"page.example": seen}, ends=24 * HOUR)


def test_a_recovered_page_without_a_check_breaks_a_promise() -> None:
    assert list(recovery(facts_of(9 * HOUR)))
    assert not list(recovery(facts_of(9 * HOUR, 10 * HOUR + 0.9 * BACK_WITHIN)))


def test_a_source_added_again_starts_without_its_old_history() -> None:
    facts = facts_of(9 * HOUR, 10 * HOUR + 0.5 * BACK_WITHIN, 20 * HOUR)
    (url,) = facts.added
    facts.added = {url: AddedSource("id", 15 * HOUR, 15 * HOUR)}
    assert not list(recovery(facts))


@pytest.mark.parametrize(("after", "kept"), [(BACK_WITHIN + 1800, True), (BACK_WITHIN + 2 * HOUR, False)])
def test_a_robots_txt_that_was_read_forbids_for_as_long_as_it_says(after: float, *, kept: bool) -> None:
    """A service that starts while a page is forbidden for a minute may keep that copy for its whole hour."""
    read = Seen(10 * HOUR + 30, "/robots.txt", 200, conditional=False, forbids=True, lasts=HOUR)
    assert bool(list(recovery(facts_of(9 * HOUR, 10 * HOUR + after, robots=read)))) is not kept


def reported_at_random(times: int, apart: int, *clock: tuple[float, float]) -> Facts:
    """A page that is checked each minute, with two editions reported in turns after so many checks each."""
    facts = facts_of(*(60.0 * look for look in range(1, 200)))
    facts.clock = clock or facts.clock
    for number in range(times):
        ops = [{"op": "replace", "before": FLAPS[number % 2], "after": FLAPS[1 - number % 2]}]
        at = rfc3339(Millis(round((EPOCH + facts.shown(600.0 + 60.0 * apart * number + 1)) * 1000)))
        event = {"id": str(number), "source_id": "id", "emitted_at": at, "delta": {"ops": ops}}
        facts.log.append(Logged(number, json.dumps(event).encode()))
    return facts


@pytest.mark.parametrize(
    ("facts", "wrong"),
    [
        (reported_at_random(9, 3), 0),
        (reported_at_random(10, 3), 1),
        (reported_at_random(2, 2), 1),
        (reported_at_random(2, 2, (0.0, 5e6)), 1),
        (reported_at_random(2, 2, (0.0, 0.0), (300.0, 900.0)), 1),
        (reported_at_random(2, 2, (0.0, 0.0), (650.0, 900.0)), 0),
    ],
    ids=["nine stays", "ten", "a brief one", "a clock that is ahead", "one that was set before", "one set meanwhile"],
)
def test_random_editions_are_reported_once_they_stay_and_not_for_ever(facts: Facts, wrong: int) -> None:
    assert len(list(real(facts))) == wrong
