"""The places of blocks in tables and lists of terms."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies import markup
from actors.content.pages.blocks import read_blocks
from actors.content.pages.traits import CellLabels, pack_places, unpack_places
from storage.records.event import MOST_CONTEXT

TITLE = "<main><h1>Ferries</h1>{}</main>"


def placed(inner: str) -> dict[str, tuple[str, str] | None]:
    """Return the row and column of each block by its text; None for blocks without."""
    blocks = read_blocks(markup.parse(f"<html><body>{TITLE.format(inner)}</body></html>"))
    places = blocks.places or (None,) * len(blocks.texts)
    return {text: place and tuple(place) for text, place in zip(blocks.texts, places, strict=True)}


def table(*rows: str) -> str:
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def test_a_cell_has_its_rows_label_and_its_columns_head() -> None:
    found = placed(
        "<table><thead><tr><td></td><td>Price<td>Seats</thead><tbody><tr><th>Team<td>$9<td>10</tbody></table><p>End</p>"
    )
    assert found == {
        "Ferries": None,
        "Price": None,
        "Seats": None,
        "Team": None,
        "$9": ("Team", "Price"),
        "10": ("Team", "Seats"),
        "End": None,
    }


def test_a_row_of_nothing_but_th_heads_columns_without_a_thead() -> None:
    found = placed(table("<th>Port<th>Departs", "<td>Skagen<td>08:40", "<td>Lerwick<td>11:15"))
    assert found["08:40"] == ("Skagen", "Departs")
    assert found["Lerwick"] == ("", "Port")


def test_scope_gives_the_cells_of_a_th() -> None:
    found = placed(table("<th scope=row>Team<th scope=col>Seats", "<th scope=row>Free<td>3"))
    assert found["3"] == ("Free", "Seats")
    assert placed(table("<th scope=row>Seats", "<th scope=row>Price<td>9"))["9"] == ("Price", "")


def test_spans_shift_later_cells_as_in_a_browser() -> None:
    found = placed(
        table(
            "<th rowspan=2>Line<th colspan=2>2026<th colspan=2>2027",
            "<th>Adult<th>Child<th>Adult<th>Child",
            "<th rowspan=2>North<td>1<td>2<td>3<td>4",
            "<td>5<td>6<td>7<td>8",
            "<th>South<td colspan=2>9<td>10<td>11",
        )
    )
    assert found["1"] == ("North", "2026 / Adult")
    assert found["4"] == ("North", "2027 / Child")
    assert found["6"] == ("North", "2026 / Child")
    assert found["9"] == ("South", "2026 / Adult")
    assert found["10"] == ("South", "2027 / Adult")


def test_several_th_label_a_row_together() -> None:
    found = placed(table("<th rowspan=2>Europe<th>Sales<td>1", "<th>Costs<td>2"))
    assert found["2"] == ("Europe / Costs", "")


def test_a_first_cell_is_a_label_only_if_it_reads_like_one() -> None:
    assert placed(table("<td>Deposit<td>20"))["20"] == ("Deposit", "")
    assert placed(table("<td>2025<td>20"))["20"] == ("2025", "")
    assert placed(table("<td>料<td>20"))["20"] == ("料", "")
    assert placed(table("<td>1.<td>Harbour news"))["Harbour news"] is None
    assert placed(table(f"<td>{'long words ' * 20}<td>20"))["20"] is None


def test_a_title_between_rows_leaves_the_heads_of_columns() -> None:
    found = placed(table("<th>Line<th>Seats", "<td>A1<td>7", "<th colspan=2>Winter", "<td>Bee<td>8"))
    assert found["8"] == ("Bee", "Seats")


def test_later_heads_take_the_place_of_earlier_ones() -> None:
    found = placed(table("<th>Line<th>Seats", "<td>Ay<td>7", "<th>Line<th>Crew", "<td>Bee<td>8"))
    assert (found["7"], found["8"]) == (("Ay", "Seats"), ("Bee", "Crew"))


def test_a_cell_belongs_to_the_innermost_table() -> None:
    inner = table("<th>Port<th>Fee", "<td>Skagen<td>12")
    found = placed(table(f"<td>Menu<td><p>Prices</p>{inner}<p>After</p>"))
    assert found["12"] == ("Skagen", "Fee")
    assert found["After"] == ("Menu", "")


def test_a_table_for_layout_says_nothing() -> None:
    assert placed("<table role=presentation><tr><td>Menu<td>News</table>")["News"] is None


def test_a_definition_is_labelled_by_its_term() -> None:
    found = placed("<dl><div><dt>Opens<dd>at 9<dd>on Sundays at 10</div><dt>Closes<dd><p>at 5</p></dl><p>End")
    assert found["at 9"] == found["on Sundays at 10"] == ("Opens", "")
    assert (found["at 5"], found["End"], found["Opens"]) == (("Closes", ""), None, None)


def test_labels_that_are_no_content_still_label() -> None:
    found = placed(table("<th><button>Port</button><th><button>Fee</button>", "<td>Skagen<td>12"))
    assert found["12"] == ("Skagen", "Fee")


def test_long_labels_are_cut_and_rows_out_of_a_table_are_read_as_one() -> None:
    long = "x" * 500
    (place,) = [place for text, place in placed(table(f"<th>{long}<td>1")).items() if text == "1"]
    assert place == ("x" * MOST_CONTEXT, "")
    root = markup.parse("<html><body><table><tbody><tr><th>Team<td>10</tbody></table></body></html>")
    blocks = read_blocks(root.find(".//tbody"), judge_furniture=False)
    assert blocks.places == (None, CellLabels("Team", ""))


MARK_UP = ["<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", "<th>", "<th scope=row>", "<dl>", "<dt>", "<dd>"]
MARK_UP += ["</dl>", "<thead>", "</thead>", "<p>", "x", "<td colspan=9>", "<td rowspan=0>"]
MARK_UP += ["<th rowspan=99999 colspan=-1>"]


@given(st.lists(st.sampled_from(MARK_UP), max_size=60))
def test_any_mark_up_is_read_and_each_block_has_a_place_or_none(parts: list[str]) -> None:
    blocks = read_blocks(markup.parse("<html><body>start " + "".join(parts) + "</body></html>"))
    assert len(blocks.places) in (0, len(blocks.texts))


@pytest.mark.parametrize(
    "body",
    [
        "<table>" + "<tr>" + "<td colspan=1000 rowspan=65534>1" * 30_000,
        "<table>" + "<tr><td rowspan=9999>1<td rowspan=9999>2" * 20_000,
        "<table><tr><td>" * 900 + "x",
        "<dl>" + "<dt>a<dd>b" * 20_000,
    ],
)
def test_hostile_tables_are_cheap(body: str) -> None:
    root = markup.parse(f"<html><body>{body}</body></html>")
    start = time.process_time()
    read_blocks(root)
    assert time.process_time() - start < 2.0


PLACE = st.none() | st.builds(
    CellLabels, st.sampled_from(["", "Team", "Free", "料金"]), st.sampled_from(["x", "Seats", "y"])
)


@given(st.lists(PLACE, max_size=50), st.binary(max_size=40))
def test_places_are_packed_and_unpacked(places: list[CellLabels | None], texts: bytes) -> None:
    packed = pack_places(places, texts)
    assert unpack_places(packed, texts) == (tuple(places) if any(places) else ())


@given(st.binary(max_size=60))
def test_damaged_places_are_none(packed: bytes) -> None:
    assert isinstance(unpack_places(packed, b"texts"), tuple)


def test_a_table_of_a_thousand_cells_takes_some_hundred_bytes() -> None:
    rows = [f"Plan number {n}" for n in range(200)]
    places = [CellLabels(row, column) for row in rows for column in ("Price", "Seats", "Users", "Storage", "Support")]
    texts = "\n".join(f"{row}\n{n}\n{n * 7}\n3\n4\n5" for n, row in enumerate(rows)).encode()
    assert len(pack_places(places, texts)) < 1_000
