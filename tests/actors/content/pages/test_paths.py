"""Paths: their meaning, the parts they choose, and that new rows and pages do not break them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.errors import ContentError
from actors.content.messages import PageRequest
from actors.content.pages.page import NOTHING, preview_page
from actors.content.pages.selectors import BlockPlace, Path, path_of, written
from tests.extras.office.written_files import docx, p, pdf, word_table, xlsx
from tests.support.pages import read_page

URL = "https://shore.example/x"
BOOK = {
    "Plans": [["Plan", "Seats", "Fee"], ["Solo", 1, 5], ["Team", 10, 29]],
    "Boats": [["Boat", "Fee"], ["Team", 7]],
}
WORD = docx(
    p("Fees", "berschrift1"),
    "They are for all.",
    word_table([["Boat", "Fee"], ["Row", "3"]]),
    p("Hours", "berschrift1"),
    "9 to 5",
)
NOTES = b"# Fees\n\nTeam pays 9.\n\nSolo pays 5.\n\n# Hours\n\nWe open at nine.\n"
DATES = (
    b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20260503\r\nSUMMARY:Regatta\r\nLOCATION:Pier\r\nEND:VEVENT\r\n"
    b"BEGIN:VEVENT\r\nDTSTART:20260510\r\nSUMMARY:Market\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
SHEET = pdf([["Fees", "Team 9.00", "Solo 5.00"], ["Hours", "We open at nine in the morning."]])


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("path:Prices › Team · Fee", Path("prices", "team", "fee")),
        (" path:Prices > Team | Fee", Path("prices", "team", "fee")),
        ("path:Day  tickets ›", Path("day tickets")),
        ("path:* · Fee", Path(None, None, "fee")),
        ("path:Prices › * · Fee #2", Path("prices", None, "fee", None, 2)),
        ("path:page 4", Path(either="page 4")),
        ("path:#3", Path(nth=3)),
        ('path:"a › b" › "say ""x"""', Path("a › b", 'say "x"')),
        ("path:a>b", Path(either="a>b")),
        ("path:Room #4 left", Path(either="room #4 left")),
    ],
)
def test_a_path_is_written_as_a_difference_says_it(text: str, path: Path) -> None:
    assert path_of(text) == path


@pytest.mark.parametrize("text", ["path:", "path: ›", "path:a · b › c", "path:a › b › c", "path:a · b · c", "path:*"])
def test_an_invalid_path_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ContentError, match="write it as a difference does"):
        path_of(text)


labels = st.text(st.sampled_from('ab ›·>|"#*19'), max_size=8).map(lambda label: " ".join(label.split()))


@given(labels, labels, labels, st.integers(0, 3))
def test_a_printed_path_selects_its_place(heading: str, row: str, column: str, nth: int) -> None:
    stand = BlockPlace(heading, row, column)
    if any(stand):
        path = path_of(written(stand, nth))
        assert path.fits(stand) and path.nth == nth
        assert not path.fits(BlockPlace(heading, row, "another")) or not column


@pytest.mark.parametrize(
    ("body", "selector", "blocks"),
    [
        (xlsx(BOOK), "path:Plans › Team · Fee", ("29",)),
        (xlsx(BOOK), "path:Team · Fee", ("29", "7")),
        (xlsx(BOOK), "path:Plans › Team", ("10", "29")),
        (xlsx(BOOK), "path:Plans › * · Fee", ("5", "29")),
        (xlsx(BOOK), "path:plans › team · fee", ("29",)),
        (xlsx(BOOK), "path:Boats ›", ("Boat", "Fee", "Team", "7")),
        (WORD, "path:Fees › Row · Fee", ("3",)),
        (WORD, "path:Hours ›", ("9 to 5",)),
        (WORD, "path:Fees › #1", ("They are for all.",)),
        (WORD, "re:^They (.+)", ("are for all.",)),
        (NOTES, "path:Fees ›", ("Team pays 9.", "Solo pays 5.")),
        (NOTES, "path:Fees › #2", ("Solo pays 5.",)),
        (DATES, "path:Regatta", ("2026-05-03 | Regatta | Pier",)),
        (SHEET, "path:page 2", ("Hours", "We open at nine in the morning.")),
        (SHEET, "path:Fees ›", ("Team 9.00", "Solo 5.00")),
        (SHEET, "re:^Team", ("Team 9.00",)),
    ],
)
def test_a_part_of_a_document_is_watched_alone(body: bytes, selector: str, blocks: tuple[str, ...]) -> None:
    found = read_page(body, "", URL, selector, ())
    assert found.blocks == blocks
    assert preview_page(PageRequest(body, "", URL, selector, ())).matched == len(blocks)


def test_a_part_keeps_its_positions_without_ignored_blocks() -> None:
    found = read_page(xlsx(BOOK), "", URL, "path:Plans ›", ("path:* · Seats", "path:Solo"))
    assert list(zip(found.blocks, found.places, strict=True))[-1] == ("29", ("Team", "Fee"))
    assert "10" not in found.blocks and "5" not in found.blocks
    page = preview_page(PageRequest(xlsx(BOOK), "", URL, None, ("path:Boats ›",)))
    assert [(one.selector, one.elements) for one in page.ignored] == [("path:Boats ›", 4)]


def test_a_path_that_leads_nowhere_is_a_state() -> None:
    assert read_page(xlsx(BOOK), "", URL, "path:Nowhere", ()).blocks == (NOTHING,)
    page = preview_page(PageRequest(xlsx(BOOK), "", URL, "path:Nowhere", ()))
    assert (page.matched, page.has) == (0, ("path:Plans ›", "path:Boats ›", "path:Solo", "path:Team"))


@pytest.mark.parametrize("seed", range(5))
def test_a_cell_is_the_same_however_many_rows_columns_and_sheets_are_put_in_before_it(seed: int) -> None:
    chance = random.Random(seed)
    rows: list[list[str | float]] = [["Plan", *(f"c{n}" for n in range(chance.randint(0, 3))), "Fee"]]
    rows += [[f"Plan {n}", *("x" for _ in rows[0][2:]), n] for n in range(chance.randint(0, 9))]
    rows.append(["Team", *("y" for _ in rows[0][2:]), 29])
    other: list[list[str | float]] = [["Plan", "Fee"], ["Team", 1]]
    book = {**{f"Other {n}": other for n in range(chance.randint(0, 3))}, "Plans": rows}
    assert read_page(xlsx(book), "", URL, "path:Plans › Team · Fee", ()).blocks == ("29",)
