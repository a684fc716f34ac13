"""The budget of each room in lines and modules. A figure only falls: new code replaces old."""

from __future__ import annotations

from tests.rules.sizes import file_sizes
from tests.rules.source_files import modules, name_of

BUDGET = {
    "supervision": (1_844, 11),
    "storage": (9_741, 63),
    "actors": (42_517, 244),
    "api": (20_960, 108),
    "sanderling": (10_050, 61),
    "extras/agents": (1_686, 11),
    "extras/apply": (3_210, 19),
    "extras/browser": (3_658, 15),
    "extras/cluster": (5_124, 34),
    "extras/install": (1_350, 6),
    "extras/migrate": (4_106, 20),
    "extras/office": (871, 8),
    "extras/people": (3_286, 25),
    "extras/picking": (2_203, 10),
    "extras/publish": (2_431, 15),
    "extras/receiver": (121, 2),
    "extras/tour": (266, 2),
    "extras/tracing": (1_072, 10),
    "extras/webpush": (594, 5),
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
