from __future__ import annotations

from actors.content.values.reading import Writing
from bench.kinds import BLIND, LABELS, Altered, labels, score
from storage.records.event import CHANGE_KINDS, Change


def test_each_label_is_a_kind_of_a_block_that_no_other_file_has() -> None:
    first, blind = labels(LABELS), labels(BLIND)
    assert (len(first), len(blind)) == (139, 388)
    assert not first.keys() & blind.keys()
    for one in (*first.values(), *blind.values()):
        assert one.kinds and one.kinds <= set(CHANGE_KINDS)


def test_a_kind_is_scored_by_itself_and_with_the_others() -> None:
    english = Writing("en")
    rows = [
        (Altered(Change("Team $12, cancel monthly", "Team $15, cancel yearly"), english), frozenset({"price", "text"})),
        (Altered(Change("One thing here is told", "One thing here is said"), english), frozenset({"name"})),
    ]
    assert score(rows, "price") == (1.0, 1.0, 1.0)
    assert score(rows, "name") == (0.0, 0.0, 0.0)
    assert score(rows, "text") == (0.5, 1.0, 2 / 3)
    assert score(rows) == (2 / 3, 2 / 3, 2 / 3)
