"""The budget of each room in lines and modules. A figure only falls: new code replaces old."""

from __future__ import annotations

from tests.rules.sizes import file_sizes
from tests.rules.source_files import modules, name_of

BUDGET = {
    "supervision": (1_960, 11),
    "storage": (9_924, 63),
    "actors": (43_495, 243),
    "api": (20_980, 108),
    "sanderling": (10_412, 61),
    "extras/agents": (1_806, 11),
    "extras/apply": (3_087, 18),
    "extras/browser": (3_619, 14),
    "extras/cluster": (5_077, 32),
    "extras/install": (1_354, 6),
    "extras/migrate": (4_142, 20),
    "extras/office": (872, 8),
    "extras/people": (3_180, 24),
    "extras/picking": (2_204, 10),
    "extras/publish": (2_381, 14),
    "extras/receiver": (121, 2),
    "extras/tour": (266, 2),
    "extras/tracing": (1_134, 10),
    "extras/webpush": (596, 5),
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
