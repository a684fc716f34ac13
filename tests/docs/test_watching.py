"""Checks each row of the table of examples in docs/watching-pages.md as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.content.changes.swaps import EARLY
from actors.content.messages import PageLook, PageRequest
from actors.content.tasks import look_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "watching-pages.md"
HEAD = "| Before | After | Reported |"
LOOKS = {
    "at once": 1,
    "at the second check, if it stays": 2,
    "at the third check, if it stays": 3,
    "never": None,
}
"""The check of the new page that reports it."""
MOST = 6


def examples() -> list[tuple[str, str, str]]:
    lines = PAGE.read_text("utf-8").partition(HEAD)[2].splitlines()[2:]
    rows = lines[: next(n for n, line in enumerate(lines) if not line.startswith("|"))]
    cells = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    return [(before, now, told) for before, now, told in cells]


def page(said: str) -> bytes:
    """Return a small page with this content: one block, or a list."""
    parts = said.split(" / ")
    shown = "".join(f"<li>{part}" for part in parts) if len(parts) > 1 else f"<p>{said}</p>"
    frame = (
        "<nav><a href=/>Home</a> <a href=/x>Shop</a></nav><h1>Northfield</h1><p>Opened in 1901</p>{}<p>Mill Street</p>"
    )
    return f"<!DOCTYPE html><html><title>Northfield</title><body>{frame.format(shown)}".encode()


def looked(body: bytes, memory: bytes | None, at: int) -> PageLook:
    return look_page(PageRequest(body, "text/html; charset=utf-8", "https://shore.example/", memory=memory, at=at))


@pytest.mark.parametrize(("before", "now", "told"), examples())
def test_an_example_reports_when_its_page_says_so(before: str, now: str, told: str) -> None:
    at = 1_800_000_000_000
    memory = None
    for n in range(EARLY, -1, -1):
        # Not among the first checks, where a doubtful change takes one check longer.
        memory = looked(page(before), memory, at - n * 1_200_000).memory
    kinds = []
    for n in range(MOST):
        look = looked(page(now), memory, at + (n + 1) * 1_200_000)
        memory = look.memory
        kinds.append(look.kind)
    assert [n for n, kind in enumerate(kinds, 1) if kind == "changed"] == ([LOOKS[told]] if LOOKS[told] else [])


def test_the_table_has_examples_of_each_kind() -> None:
    assert {told for _, _, told in examples()} == set(LOOKS)
