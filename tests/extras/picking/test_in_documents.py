"""Paths made from a document's blocks, tried on earlier versions."""

from __future__ import annotations

import pytest

from actors.content.pages.page import blocks_in, open_page
from actors.content.pages.plain import format_of
from extras.picking.in_documents import DocumentReaches
from extras.picking.records import PickHeld
from tests.extras.office.written_files import docx, p, pdf, word_table, xlsx
from tests.extras.picking.histories import DAY
from tests.extras.picking.test_trying import reached
from tests.support.pages import read_page

ROWS: list[list[str | float]] = [["Plan", "Seats", "Fee"], ["Solo", 1, 5], ["Team", 10, 29]]
BOATS: list[list[str | float]] = [["Boat", "Fee"], ["Team", 7]]
BOOK = xlsx({"Plans": ROWS, "Boats": BOATS})
WORD = docx(p("Fees", "berschrift1"), "For all boats.", "Version: 2.1", word_table([["Boat", "Fee"], ["Row", "3"]]))
SHEET = pdf([["Fees", "Team 9.00", "Solo 5.00"], ["Hours", "We open at nine in the morning.", "And in winter later."]])
DATES = (
    b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20260503\r\nSUMMARY:Regatta\r\nEND:VEVENT\r\n"
    b"BEGIN:VEVENT\r\nDTSTART:20260510\r\nSUMMARY:Market\r\nEND:VEVENT\r\n"
    b"BEGIN:VEVENT\r\nDTSTART:20260517\r\nSUMMARY:Market\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def reaches(body: bytes) -> DocumentReaches:
    opened = open_page(body, "", None, ())
    return DocumentReaches(format_of(opened.root), blocks_in(opened))


@pytest.mark.parametrize(
    ("body", "block", "this", "like", "part"),
    [
        (BOOK, "29", "path:Plans › Team · Fee", "path:Plans › * · Fee", "path:Plans › Team"),
        (BOOK, "Plans", "path:#1", "", "path:Plans ›"),
        (WORD, "Version: 2.1", "re:^Version:", "", "path:Fees ›"),
        (WORD, "For all boats.", "path:Fees › #1", "", "path:Fees ›"),
        (WORD, "3", "path:Fees › Row · Fee", "", ""),
        (SHEET, "Team 9.00", "re:^Team", "", "path:Fees ›"),
        (SHEET, "And in winter later.", "path:Hours › #2", "", "path:Hours ›"),
        (DATES, "2026-05-03 | Regatta", "path:Regatta", "", ""),
        (DATES, "2026-05-17 | Market", "path:Market #2", "", "path:Market"),
    ],
)
def test_a_block_is_named_by_its_labels(body: bytes, block: str, this: str, like: str, part: str) -> None:
    found = reaches(body)
    at = found.blocks.texts.index(block)
    assert (found.this(at), found.like(at), found.part(at)) == (this, like, part)


@pytest.mark.parametrize("body", [BOOK, WORD, SHEET, DATES])
def test_each_selector_chooses_its_block_alone_as_in_a_check(body: bytes) -> None:
    found = reaches(body)
    for at, text in enumerate(found.blocks.texts):
        ways = list(found.ways(at))
        assert ways, "a document has a way to each of its blocks"
        for way in ways:
            assert found.chosen(way) == {at}
            assert (read_page(body, "", "https://a.test/", way, ()).blocks or ("",))[0] in text


def test_a_path_is_tried_on_the_earlier_versions_of_a_workbook() -> None:
    was = xlsx({"Plans": [["Plan", "Fee"], ["Team", 25]]})
    middle = xlsx({"Plans": [["Plan", "Fee"], ["Group", 25], ["Solo", 4]]})
    now = xlsx({"Plans": [["Plan", "Fee"], ["Solo", 4], ["Team", 25]]})
    held = reached(was, now, text="25")["this"]
    assert (held.selector, held.held) == ("path:Plans › Team · Fee", PickHeld(1, 1, 0, DAY))
    other = reached(middle, xlsx({"Plans": [["Plan", "Fee"], ["Team", 25], ["Solo", 4]]}), text="25")["this"]
    assert other.held is not None
    assert other.held.same == 1, "the row had another name: its place among all is what held"
    assert other.selector.startswith("path:") and "Team" not in other.selector
