from __future__ import annotations

import csv
import io

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.streams.export import COLUMNS, HEADER, line_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def cells_of(body: dict[str, object]) -> dict[str, str]:
    text = (HEADER + line_of(msgspec.json.encode(body))).decode()
    header, row = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert tuple(header) == COLUMNS
    return dict(zip(header, row, strict=True))


@given(TEXT, TEXT, st.lists(TEXT, max_size=3))
def test_the_csv_is_rfc_4180(title: str, content: str, tags: list[str]) -> None:
    cells = cells_of({"title": title, "content": content, "tags": tags})
    for name, text in (("title", title), ("content", content), ("tags", "; ".join(tags))):
        assert cells[name].removeprefix("'") in (text.replace("\0", "\ufffd"), text.removeprefix("'"))


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_cell_begins_like_a_formula(sign: str) -> None:
    body = {"title": f"{sign}cmd|' /C calc'!A0", "author": f"a{sign}", "diff": {"added": [f"{sign}1"]}}
    cells = cells_of(body)
    assert cells["title"] == f"'{sign}cmd|' /C calc'!A0"
    assert cells["author"] == f"a{sign}" and cells["added"] == f"'{sign}1"


def test_lines_end_as_rfc_4180_says_and_a_line_within_a_cell_is_quoted() -> None:
    line = line_of(b'{"title":"a \\"b\\"","content":"one\\ntwo"}')
    assert line.endswith(b"\r\n") and b'"a ""b"""' in line and b'"one\ntwo"' in line


def test_a_difference_has_columns_of_its_own_and_absent_values_are_empty() -> None:
    diff = {"added": ["x", "y"], "removed": ["z"], "changed": [{"before": "1", "after": "2"}], "truncated": False}
    cells = cells_of({"diff": diff, "published_at": None})
    assert (cells["added"], cells["removed"], cells["changed"]) == ("x\ny", "z", "1 → 2")
    assert cells["published_at"] == cells["summary"] == ""


def test_the_summary_is_the_last_column() -> None:
    assert COLUMNS[-1] == "summary"
    assert cells_of({"summary": "Team · Seats: 10 → 12"})["summary"] == "Team · Seats: 10 → 12"
    assert cells_of({"summary": "+ x"})["summary"] == "'+ x"
