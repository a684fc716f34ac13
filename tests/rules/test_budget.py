"""The budget of each room in lines and modules. A figure only falls: new code replaces old."""

from __future__ import annotations

from tests.rules.sizes import file_sizes

BUDGET = {
    "supervision": (2_523, 19),
    "storage": (12_919, 84),
    "actors": (56_321, 350),
    "api": (32_053, 269),
    "sanderling": (26_852, 247),
}
"""room: lines and modules at most."""
SLACK = 100
"""Lines that a budget may exceed its room; lower it beyond that."""


def test_no_room_is_over_its_budget() -> None:
    assert {room: found for room, (most, _) in BUDGET.items() if (found := sum(file_sizes(room).values())) > most} == {}


def test_no_room_has_more_modules_than_its_budget() -> None:
    assert {room: found for room, (_, most) in BUDGET.items() if (found := len(file_sizes(room))) > most} == {}


def test_a_budget_falls_with_its_room() -> None:
    assert {room: most for room, (most, _) in BUDGET.items() if most - sum(file_sizes(room).values()) > SLACK} == {}
