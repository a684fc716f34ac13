"""Selectors for lines of a text or a table."""

from __future__ import annotations

import pytest

from actors.content.pages.page import blocks_in, open_page
from actors.content.pages.plain import read_plain
from extras.picking.in_documents import LineReaches

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


CELLED = 'name,price,stock,\nTeam,10,5,\nPro plus,20,"a, b",x\nTeam,30,,y\n'


def cells_of(text: str, at: int) -> list[tuple[int, str, str]]:
    return [(one.number, one.place.column, one.text) for one in in_table(text).cells(at)]


def in_table(text: str) -> LineReaches:
    plain = read_plain(text, was="csv")
    assert plain is not None
    return LineReaches(text, plain.blocks, "csv")


def test_the_cells_of_a_row_are_those_that_say_something() -> None:
    assert cells_of(CELLED, 0) == [], "the heads of the columns are no cells"
    assert cells_of(CELLED, 2) == [(1, "name", "Pro plus"), (2, "price", "20"), (3, "stock", "a, b"), (4, "", "x")]
    assert cells_of(CELLED, 3) == [(1, "name", "Team"), (2, "price", "30"), (4, "", "y")]
    assert reaches(NOTES).cells(1) == [] and cells_of("a,b\n" + "x" * 9_000 + ",1\nc,2\n", 1) == []


@pytest.mark.parametrize(
    ("at", "number", "selector", "kept"),
    [
        (2, 2, "path:Pro plus · price", ["20"]),
        (1, 2, "path:Team · price #1", ["10"]),
        (3, 2, "path:Team · price #2", ["30"]),
        (1, 3, "path:Team · stock", ["5"]),
        (2, 1, "path:* · name #2", ["Pro plus"]),
        (2, 4, "path:Pro plus #3", ["x"]),
    ],
)
def test_a_cell_is_chosen_alone_by_its_row_and_column(at: int, number: int, selector: str, kept: list[str]) -> None:
    found = in_table(CELLED)
    assert found.cell(at, number)["this"] == selector and found.chosen(selector) == {at}
    assert list(blocks_in(open_page(CELLED.encode(), "text/csv", selector, (), was="csv")).texts) == kept


def test_the_column_and_the_row_of_a_cell_are_within_reach() -> None:
    found = in_table(CELLED)
    assert found.cell(2, 2) == {"this": "path:Pro plus · price", "like": "path:* · price", "part": "path:Pro plus"}
    assert found.chosen("path:* · price") == {1, 2, 3} and found.chosen("path:Pro plus") == {2}
    assert found.cell(2, 9) == found.cell(0, 1) == {}
