"""The budget of each room in lines and modules. A figure only falls: new code replaces old."""

from __future__ import annotations

from tests.rules.sizes import file_sizes
from tests.rules.source_files import modules, name_of

BUDGET = {
    "supervision": (1_867, 11),
    "storage": (8_757, 40),
    "actors": (40_260, 178),
    "api": (18_279, 83),
    "sanderling": (8_836, 43),
    "extras/agents": (1_615, 11),
    "extras/apply": (3_058, 16),
    "extras/browser": (3_461, 12),
    "extras/cluster": (4_746, 22),
    "extras/inbox": (758, 5),
    "extras/install": (1_194, 6),
    "extras/manual": (322, 3),
    "extras/migrate": (3_812, 16),
    "extras/office": (856, 8),
    "extras/people": (3_184, 24),
    "extras/picking": (2_087, 9),
    "extras/practice": (322, 3),
    "extras/publish": (2_249, 9),
    "extras/receiver": (118, 2),
    "extras/reference": (183, 3),
    "extras/tour": (261, 2),
    "extras/tracing": (1_017, 7),
    "extras/webpush": (568, 5),
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
