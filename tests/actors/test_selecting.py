from __future__ import annotations

from typing import Any

import pytest

from actors.messages.views import SourceView
from actors.selecting import picks, states_of
from actors.selection import SourceSelection
from storage.records.health import BreakerState, Health
from storage.records.source import SourceRuntime
from tests.support.build import a_source

SOURCE = a_source(url="https://News.example/Feed", title="Morning tides", tags=("label:sea", "topic:ports"))
WELL = SourceView(SOURCE, SourceRuntime())


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
        ({"states": ("rotten", "paused")}, False),
        ({"states": ("ok",), "kinds": ("push",)}, False),
    ],
)
def test_each_condition_holds_by_one_of_its_values_and_all_words_do(where: dict[str, Any], meant: bool) -> None:
    assert picks(SourceSelection(**where), WELL) is meant


def test_a_source_is_in_several_states_at_once() -> None:
    hot = SourceRuntime(health=Health(0.2, "rotten"), breaker=BreakerState("open"))
    view = SourceView(a_source(), hot, overdue=True)
    assert states_of(view) == ("rotten", "overdue", "resting")
    assert all(picks(SourceSelection(states=(state,)), view) for state in states_of(view))
    assert not picks(SourceSelection(states=("ok",)), view)
    paused = SourceView(a_source(enabled=False), hot)
    assert states_of(paused) == ("paused",) and not picks(SourceSelection(states=("rotten",)), paused)
