from __future__ import annotations

from typing import Any

import pytest

from actors.messages.views import SourceSelection, SourceView, matches
from storage.records.source import BreakerState, Health, SourceRuntime
from tests.support.build import NOW, a_source

SOURCE = a_source(url="https://News.example/Feed", title="Morning tides", tags=("label:sea", "topic:ports"))
WELL = SourceView(SOURCE, SourceRuntime(last_look_at=NOW))


@pytest.mark.parametrize(
    ("where", "meant"),
    [
        ({}, True),
        ({"words": ("news", "MORNING", "ports")}, True),
        ({"words": ("news", "evening")}, False),
        ({"kinds": ("feed", "html")}, True),
        ({"kinds": ("push",)}, False),
        ({"tags": ("sea", "none")}, True),
        ({"tags": ("topic:ports",)}, True),
        ({"tags": ("ports",)}, False),
        ({"states": ("ok",)}, True),
        ({"states": ("failing", "paused")}, False),
        ({"states": ("ok",), "kinds": ("push",)}, False),
    ],
)
def test_each_condition_holds_by_one_of_its_values_and_all_words_do(where: dict[str, Any], meant: bool) -> None:
    assert matches(SourceSelection(**where), WELL) is meant


def test_state_and_health_are_separate_filters_and_paused_sources_have_no_health() -> None:
    hot = SourceRuntime(health=Health(0.2, "rotten"), breaker=BreakerState("open", failures=4))
    view = SourceView(a_source(), hot, overdue=True)
    assert matches(SourceSelection(states=("resting",), flags=("rotten",)), view)
    assert not matches(SourceSelection(states=("overdue", "ok")), view)
    assert not matches(SourceSelection(states=("resting",), flags=("degraded", "ok")), view)
    paused = SourceView(a_source(enabled=False), hot)
    assert matches(SourceSelection(states=("paused",)), paused)
    assert not matches(SourceSelection(flags=("rotten",)), paused)
