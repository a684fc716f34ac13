"""Compares each screen at three sizes with its golden text, to the letter; `scenes` writes these."""

from __future__ import annotations

import pytest

from sanderling.console.text import cells
from tests.rules.source_files import ROOT
from tests.sanderling.console.scenes import GOLDEN, SIZES, as_text, golden, played


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_screen_is_as_it_was_and_no_title_can_break_it(size: tuple[int, int]) -> None:
    found = played(size)
    for name, lines in found.items():
        assert [cells(line) for line in lines] == [size[0]] * size[1], name
        assert "\x1b" not in as_text(lines) and "\u202e" not in as_text(lines), name
    kept = {name: golden(name, size).read_text("utf-8") for name in found}
    assert {name: as_text(lines) for name, lines in found.items()} == kept


def test_no_golden_text_is_left_over() -> None:
    assert len(list(GOLDEN.glob("*.txt"))) == 12 * len(SIZES)


@pytest.mark.parametrize("name", ["tree", "part"])
def test_the_pictures_in_the_docs_match_the_screens(name: str) -> None:
    picture = golden(name, (80, 24)).read_text("utf-8").rstrip("\n")
    assert f"```text\n{picture}\n```" in (ROOT / "docs/console.md").read_text("utf-8")
