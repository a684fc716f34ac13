"""The budget of each room in lines and modules. A figure only falls: new code replaces old."""

from __future__ import annotations

from tests.rules.sizes import file_sizes
from tests.rules.source_files import modules, name_of

BUDGET = {
    "supervision": (2_523, 19),
    "storage": (12_977, 83),
    "actors": (51_247, 307),
    "api": (23_627, 140),
    "sanderling": (13_135, 79),
    "extras/agents": (1_104, 7),
    "extras/apply": (3_427, 25),
    "extras/browser": (3_616, 14),
    "extras/install": (1_239, 6),
    "extras/migrate": (4_794, 25),
    "extras/office": (634, 6),
    "extras/publish": (2_478, 15),
    "extras/receiver": (1_674, 11),
    "extras/tracing": (1_150, 12),
    "extras/webpush": (585, 4),
}
"""room or extra: lines and modules at most."""
SLACK = 100
"""Lines that a budget may exceed its room; lower it beyond that."""


def test_no_room_is_over_its_budget() -> None:
    assert {room: found for room, (most, _) in BUDGET.items() if (found := sum(file_sizes(room).values())) > most} == {}


def test_no_room_has_more_modules_than_its_budget() -> None:
    assert {room: found for room, (_, most) in BUDGET.items() if (found := len(file_sizes(room))) > most} == {}


def test_a_budget_falls_with_its_room() -> None:
    assert {room: most for room, (most, _) in BUDGET.items() if most - sum(file_sizes(room).values()) > SLACK} == {}


def test_every_extra_has_a_budget_of_its_own() -> None:
    assert {room for room in BUDGET if "/" in room} == {
        name_of(path.parent) for path in modules("extras") if path.match("extras/*/__init__.py")
    }
