from __future__ import annotations

from random import Random

import pytest

from tests.simulation.auditor import LONGEST, SHORTEST, WINDOWS, _windows


@pytest.mark.parametrize("now", [-7200.0, -2500.0, 0.0, 19_000.0])
def test_no_span_ends_before_it_begins_after_any_clock_step(now: float) -> None:
    whole, *parts = list(_windows(Random(1), now))
    assert len(parts) == WINDOWS
    assert whole[0] < whole[1] == now
    assert all(whole[0] <= start <= now - SHORTEST and SHORTEST <= end - start <= LONGEST for start, end in parts)
