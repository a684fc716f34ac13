"""The budget of each room in lines and modules. A figure only falls: new code replaces old."""

from __future__ import annotations

from tests.rules.sizes import file_sizes
from tests.rules.source_files import modules, name_of

BUDGET = {
    "supervision": (1_833, 10),
    "storage": (9_114, 41),
    "actors": (41_207, 185),
    "api": (18_993, 86),
    "sanderling": (9_227, 44),
    "extras/agents": (1_631, 11),
    "extras/apply": (3_112, 16),
    "extras/browser": (3_531, 12),
    "extras/cluster": (4_871, 22),
    "extras/inbox": (765, 5),
    "extras/install": (1_212, 6),
    "extras/manual": (327, 3),
    "extras/migrate": (3_945, 16),
    "extras/office": (861, 8),
    "extras/people": (3_216, 24),
    "extras/picking": (2_106, 8),
    "extras/practice": (331, 3),
    "extras/publish": (2_292, 9),
    "extras/receiver": (118, 2),
    "extras/reference": (184, 3),
    "extras/tour": (263, 2),
    "extras/tracing": (1_030, 7),
    "extras/webpush": (578, 5),
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
