"""Selectors of lines of a text or a table."""

from __future__ import annotations

import pytest

from actors.content.pages.page import blocks_in, open_page
from actors.content.pages.plain import read_plain
from actors.content.picking.in_lines import LineReaches

NOTES = """Release notes

Version: 2.1.0
Released: 2026-01-02

- one thing
- another thing

A paragraph that goes on and on, and that was wrapped by its writer
at a width of some seventy signs, because that is what writers have
done for ages.
"""
TABLE = 'name,price,stock\nTeam,10,5\nPro,20,"a, b"\n7,30,1\n'


def reaches(text: str) -> LineReaches:
    plain = read_plain(text)
    assert plain is not None
    return LineReaches(text, plain.blocks)


@pytest.mark.parametrize(
    ("text", "begins", "selector"),
    [
        (NOTES, "Version", "re:^Version:"),
        (NOTES, "Release", "lines:1"),
        (NOTES, "- another", "lines:7"),
        (NOTES, "A paragraph", "lines:9-11"),
        (TABLE, "Team", "re:^Team,"),
        (TABLE, "7", "lines:4"),
    ],
)
def test_a_line_is_named_by_its_label_else_by_its_number(text: str, begins: str, selector: str) -> None:
    found = reaches(text)
    at = next(i for i, block in enumerate(found.blocks.texts) if block.startswith(begins))
    assert found.this(at) == selector
    assert found.chosen(selector) == {at}
    kept = blocks_in(open_page(text.encode(), "text/plain", selector, (), was="text")).texts
    assert "".join(kept).startswith(begins)


def test_the_part_around_a_line_ends_at_an_empty_one() -> None:
    found = reaches(NOTES)
    assert [found.part(at) for at in (0, 1, 3)] == ["", "lines:3-4", "lines:6-7"]
    assert found.like(1) == ""
