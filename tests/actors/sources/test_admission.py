from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio

from actors.query import parse
from actors.sources.admission import REFRESH, Admission, FrameFilter
from storage.errors import StorageError
from storage.records.alert import Alert
from tests.support.build import NOW, a_source

SOURCE = a_source(1, type="push")


class Alerts:
    """A store with slow reads that may fail."""

    def __init__(self, *queries: str, **more: Alert) -> None:
        self.found = [Alert(f"a{n}", "", query, "en", (), NOW, NOW) for n, query in enumerate(queries)]
        self.found += more.values()
        self.readings = 0
        self.broken = False

    async def all(self) -> Sequence[Alert]:
        self.readings += 1
        await trio.sleep(1)
        if self.broken:
            raise StorageError("no")
        return list(self.found)


def wanted(*queries: str) -> FrameFilter:
    return FrameFilter(parse(query, "en") for query in queries)


@pytest.mark.parametrize(
    ("queries", "text", "expected"),
    [
        (["price OR plan", "storm"], "the prices have risen", True),
        (["price OR plan", "storm"], "storms", True),
        (["price OR plan", "storm"], "calm", False),
        (['"high tide"'], "a high tide", True),
        (['"high tide"'], "tide high", False),
        (["tide -low"], "low tide", False),
        (["tid*"], "tidal", True),
        ([""], "whatever", True),
        ([], "whatever", False),
        (["price<300"], '{"price": 250.5, "currency": "EUR"}', True),
        (["price<300"], '{"price": 350.5, "currency": "EUR"}', False),
        (["bike price<300EUR"], "bike for 250 €", True),
        (["bike price<300EUR"], "car for 250 €", False),
        (["-price<300"], "calm", True),
    ],
)
def test_a_frame_is_admitted_when_one_query_matches(queries: list[str], text: str, expected: bool) -> None:
    assert wanted(*queries).admits("", text) is expected
    assert wanted(*queries).admits(text, "") is expected


def test_word_queries_cost_one_lookup_a_language() -> None:
    assert wanted(*(f"word{n} OR other{n}" for n in range(5_000))).cost == 1
    assert (wanted().nothing, wanted("").nothing, wanted("a").nothing) == (True, False, False)


def test_the_sources_own_filter_counts_in_addition_to_the_alerts() -> None:
    admission = Admission(Alerts())  # type: ignore[arg-type]  # it is the whole interface
    filtered = a_source(1, type="push", filter="pris")
    assert admission.filter_for(filtered).admits("", "Pris")
    assert not admission.filter_for(SOURCE).admits("", "Pris")
    assert admission.filter_for(a_source(1, type="push", filter='"not closed')).nothing


async def test_the_first_reading_is_awaited_and_later_ones_are_not(
    autojump_clock: object,
) -> None:
    alerts = Alerts("tide")
    admission = Admission(alerts)  # type: ignore[arg-type]  # it is the whole interface
    waited: list[float] = []

    async def judge() -> None:
        began = trio.current_time()
        await admission.refresh()
        waited.append(trio.current_time() - began)
        assert admission.filter_for(SOURCE).admits("", "tide")

    for _ in range(2):
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(judge)
        await trio.sleep(REFRESH)
    assert alerts.readings == 2
    assert sorted(waited) == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert admission.version == 1


async def test_known_admissions_hold_while_storage_fails(autojump_clock: object) -> None:
    alerts = Alerts("tide")
    admission = Admission(alerts)  # type: ignore[arg-type]  # it is the whole interface
    alerts.broken = True
    with pytest.raises(StorageError):
        await admission.refresh()
    alerts.broken = False
    await admission.refresh()
    alerts.broken = True
    await trio.sleep(REFRESH)
    await admission.refresh()
    assert admission.filter_for(SOURCE).admits("", "tide")


async def test_a_query_of_a_later_version_is_left_out(autojump_clock: object) -> None:
    admission = Admission(Alerts('"open', "tide"))  # type: ignore[arg-type]  # it is the whole interface
    await admission.refresh()
    assert admission.filter_for(SOURCE).admits("", "tide")


async def test_changed_alerts_are_wanted_after_some_seconds(autojump_clock: object) -> None:
    alerts = Alerts("tide")
    admission = Admission(alerts)  # type: ignore[arg-type]  # it is the whole interface
    await admission.refresh()
    alerts.found = [Alert("a9", "", "ebb", "en", ("another",), NOW, NOW)]
    await trio.sleep(REFRESH)
    await admission.refresh()
    assert admission.version == 2
    assert admission.filter_for(SOURCE).nothing


async def test_alerts_over_tags_want_frames_of_sources_with_one_and_frames_that_bring_it(
    autojump_clock: object,
) -> None:
    """Every event of a source has its tags and counts as new; a category comes from the frame."""
    alerts = Alerts()
    alerts.found = [
        Alert(query, "", query, "en", (), NOW, NOW, tags=tags)
        for query, tags in (
            ("tide", ("label:sea", "label:lake")),
            ("boat", ("change:new",)),
            ("fish", ("category:harbour", "label:pond")),
        )
    ]
    admission = Admission(alerts)  # type: ignore[arg-type]  # it is the whole interface
    await admission.refresh()
    sea, other = admission.filter_for(a_source(1, type="push", tags=("label:sea",))), admission.filter_for(SOURCE)
    assert [wanted.admits("", "tide") for wanted in (sea, other)] == [True, False]
    assert [wanted.admits("", "boat") for wanted in (sea, other)] == [True, True]
    assert [other.admits("", "fish", tags) for tags in ((), ("category:harbour",))] == [False, True]
    assert not other.admits("", "crab", ("category:harbour",))
    pond = admission.filter_for(a_source(1, type="push", tags=("label:pond",)))
    assert pond.admits("", "fish")
    alerts.found = alerts.found[2:]
    await trio.sleep(REFRESH)
    await admission.refresh()
    assert not admission.filter_for(SOURCE).nothing
