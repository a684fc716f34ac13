"""Paths made from a document's blocks, tried on earlier versions."""

from __future__ import annotations

import pytest

from actors.content.pages.page import blocks_in, open_page
from actors.content.pages.plain import format_of
from extras.picking.in_documents import DocumentReaches
from tests.extras.office.written_files import docx, p, pdf, word_table, xlsx
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
        selector = found.this(at)
        assert found.chosen(selector) == {at}, "a document has a selector for each of its blocks"
        assert (read_page(body, "", "https://a.test/", selector, ()).blocks or ("",))[0] in text
