"""JSON documents: different spellings of one value, and different values."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.changes.memory import PageMemory, decode_memory, encode
from actors.content.wording.json_text import form
from tests.support.pages import read_page

_STABLE: dict[str, list[Any]] = {
    "open": [True, False],
    "version": ["1.10", "1.1", "2.0.1"],
    "price": [12.5, 13, 119],
    "seats": [5, 6, -6],
    "status": ["operational", "degraded", "down"],
    "supply": [10**30 + 1, 10**30 + 2],
    "range": [[1, 5], [5, 1]],
    "tags": [["a", "b"], ["a", "c"]],
    "note": [None, "closed on Monday"],
}


class Watched:
    """A document checked once an hour."""

    def __init__(self) -> None:
        self.memory: PageMemory | None = None
        self.number = 0

    def look(self, value: object) -> ChangeVerdict:
        text = value if isinstance(value, str) else json.dumps(value)
        reading = read_page(text.encode(), "application/json", "https://shore.example/api", None, ())
        stored = None if self.memory is None else decode_memory(encode(self.memory))
        verdict = judge(stored, reading)
        self.memory = verdict.memory
        return verdict


def respelled(c: random.Random, value: Any) -> str:
    """Rewrite a value: members in another order, nulls left out, numbers in another form."""
    if isinstance(value, dict):
        kept = [(key, item) for key, item in value.items() if item is not None or c.random() < 0.5]
        if len(kept) < len(value) or c.random() < 0.5:
            kept.append((f"x{c.randrange(9)}", None))
        c.shuffle(kept)
        return "{" + ", ".join(f"{json.dumps(key)}: {respelled(c, item)}" for key, item in kept) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(respelled(c, item) for item in value) + "]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**15:
        return c.choice([f"{value}", f"{value}.0", f"{value}.00", f"{value}e0", f"{value}0E-1"])
    if isinstance(value, float):
        return c.choice([repr(value), f"{value!r}0", f"{value!r}00000000000000001"])
    return json.dumps(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"home": 2, "away": 1}', '{"home": 1, "away": 2}'),
        ('{"temperature": -5, "unit": "C"}', '{"temperature": 5, "unit": "C"}'),
        ('{"at": [52.1, 4.3]}', '{"at": [4.3, 52.1]}'),
        ('{"version": "1.10"}', '{"version": "1.1"}'),
        ('{"supply": 9007199254740993.0}', '{"supply": 9007199254740992}'),
        (f'{{"n": {"7" * 5_000}}}', f'{{"n": {"7" * 4_999}8}}'),
    ],
)
def test_exchanged_values_signs_and_exact_figures_are_changes(one: str, other: str) -> None:
    watched = Watched()
    assert [watched.look(text).kind for text in (one, one, one, other, other)].count("changed") == 1


def test_every_spelling_of_a_value_has_one_form() -> None:
    for seed in range(100):
        c = random.Random(seed)
        value = {name: c.choice(values) for name, values in _STABLE.items()}
        assert form(respelled(c, value)) == form(json.dumps(value))
        watched = Watched()
        assert {watched.look(respelled(c, value)).kind for _ in range(3)} <= {"baseline", "unchanged", "churn"}
