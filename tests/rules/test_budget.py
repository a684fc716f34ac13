"""The budget of each room in lines and modules. A figure only falls: what comes in moves something else out."""

from __future__ import annotations

from tests.rules.sizes import file_sizes

BUDGET = {
    "supervision": (2_552, 21),
    "storage": (14_170, 147),
    "actors": (57_599, 469),
    "api": (32_587, 304),
    "sanderling": (27_027, 247),
}
"""room: lines and modules at most."""
SLACK = 100
"""Lines that a budget may lie above its room; beyond that it is lowered."""


def test_no_room_is_over_its_budget() -> None:
    assert {room: found for room, (most, _) in BUDGET.items() if (found := sum(file_sizes(room).values())) > most} == {}


def test_no_room_has_more_modules_than_its_budget() -> None:
    assert {room: found for room, (_, most) in BUDGET.items() if (found := len(file_sizes(room))) > most} == {}


def test_a_budget_falls_with_its_room() -> None:
    assert {room: most for room, (most, _) in BUDGET.items() if most - sum(file_sizes(room).values()) > SLACK} == {}
