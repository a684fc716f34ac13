from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import trio

from supervision import Backoff, Child, ChildSpec, InvalidSpec


async def idle(child: Child) -> None:
    await trio.sleep_forever()


def test_a_spec_has_sensible_defaults_and_is_frozen() -> None:
    spec = ChildSpec("a", idle)
    assert (spec.shutdown, spec.ready_within) == (5.0, None)
    assert spec.backoff == Backoff(first=1.0, ceiling=60.0, reset_after=120.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.id = "b"


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""},
        {"id": "a/b"},
        {"run": None},
        {"shutdown": -1},
        {"shutdown": math.inf},
        {"shutdown": math.nan},
        {"ready_within": 0},
        {"ready_within": math.inf},
    ],
)
def test_nonsense_is_refused_when_it_is_built(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"id": "a", "run": idle}
    with pytest.raises(InvalidSpec):
        ChildSpec(**(right | wrong))
