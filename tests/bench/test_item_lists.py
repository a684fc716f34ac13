"""The product finds and names the new items of made lists."""

from __future__ import annotations

import pytest

from bench.item_lists import GOAL, GOAL_TITLES, HELD_OUT, TUNED, run_made


@pytest.mark.parametrize("shapes", [TUNED, HELD_OUT], ids=["tuned", "held out"])
def test_new_items_of_made_lists_are_found_with_their_titles(shapes: object) -> None:
    whole, _ = run_made(shapes, 3)  # type: ignore[arg-type]
    assert whole.recall >= GOAL and whole.precision >= GOAL and whole.named >= GOAL_TITLES
