"""Office files as blocks with their places, and refused files."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.detection import detect
from actors.content.errors import ContentError, NoParts
from actors.content.messages import PageRequest
from actors.content.pages.page import PageReading, preview_page
from actors.content.pages.plain import read_file
from actors.content.pages.traits import HEADING, ITEM
from extras.office.archive import MOST_PARTS, MOST_UNPACKED
from extras.office.tree import MOST_ROWS
from storage.records.event import Change, Context
from tests.extras.office.written_files import (
    DATE,
    MONEY,
    SHARE,
    TIME,
    archive,
    docx,
    docx_parts,
    open_parts,
    p,
    word_table,
    xlsx,
    xlsx_parts,
)
from tests.support.pages import read_page

URL = "https://shore.example/prices"
FEES = [("Tarif", "Preis"), ("Team", "29,00 €"), ("Einzeln", "9,00 €")]
SHEETS = {
    "Preise": [
        ["Price list 2026"],
        [],
        ["Plan", "2025", "From", "At", "Share", "Fee"],
        ["Team", 1.1 + 2.2, (46082, DATE), (0.395833333333333, TIME), (0.125, SHARE), (5, MONEY)],
    ],
    ".hidden": [["a secret"]],
    "空": [["在庫", "あり"]],
}
OPEN_TABLE = (
    '<table:table table:name="Liste"><table:table-row>{}</table:table-row><table:table-row>{}</table:table-row>'
    '<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/>'
    "</table:table-row></table:table>"
)


def reading(body: bytes) -> PageReading:
    return read_page(body, "application/octet-stream", URL, None, ())


def cells(*texts: str) -> str:
    return "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in texts)


def placed(body: bytes) -> dict[str, tuple[str, str]]:
    """Return the row and column of each block that has one."""
    found = reading(body)
    return {text: tuple(place) for text, place in zip(found.blocks, found.places, strict=True) if place}


def changed(before: bytes, after: bytes) -> ChangeVerdict:
    return judge(judge(None, reading(before)).memory, reading(after))


def test_a_word_document_is_read_as_headings_items_and_cells_in_their_place() -> None:
    body = docx(p("Gebühren", "berschrift1"), "Sie gelten für alle Boote.", p("Ruderboote", "Punkt"), word_table(FEES))
    found = reading(body)
    assert list(zip(found.blocks, found.traits, strict=True))[:3] == [
        ("Gebühren", HEADING | 32),
        ("Sie gelten für alle Boote.", 0),
        ("Ruderboote", ITEM),
    ]
    assert placed(body)["29,00 €"] == ("Team", "Preis")
    finding = detect(body, "application/octet-stream", URL)
    assert (finding.type, finding.format) == ("html", "docx")
    assert finding.evidence.startswith("a Word document (DOCX), 3 paragraphs, 1 table; served as")


def test_hidden_text_of_a_word_document_is_not_read() -> None:
    unseen = (
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
    )
    within = f"<w:sdt><w:sdtContent>{p('in a control')}</w:sdtContent></w:sdt>"
    assert reading(docx(unseen, within)).blocks == ("new", "in a control")


def test_a_cell_that_is_two_wide_moves_those_after_it() -> None:
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{p("Both")}</w:tc><w:tc>{p("Last")}</w:tc>'
    body = docx(word_table([("A", "B", "C")]).replace("</w:tbl>", f"<w:tr>{wide}</w:tr></w:tbl>"))
    assert placed(body)["Last"] == ("Both", "C")


def test_a_workbook_shows_its_values_as_they_are_formatted() -> None:
    found = reading(xlsx(SHEETS))
    assert "a secret" not in found.blocks and "空" in found.blocks
    assert placed(xlsx(SHEETS)) == {
        "Team": ("", "Plan"),
        "3.3": ("Team", "2025"),
        "2026-03-01": ("Team", "From"),
        "09:30": ("Team", "At"),
        "12.5%": ("Team", "Share"),
        "5": ("Team", "Fee"),
        "あり": ("在庫", ""),
    }
    assert detect(xlsx(SHEETS), "", URL).evidence.startswith("a workbook (XLSX), 2 sheets, 4 rows")


def test_days_of_old_macintosh_workbooks_begin_in_1904() -> None:
    parts = xlsx_parts({"a": [["day", "n"], [(44620, DATE), 1]]})
    main = parts["xl/workbook.xml"].replace("<sheets>", '<workbookPr date1904="1"/><sheets>')
    assert "2026-03-01" in reading(archive({**parts, "xl/workbook.xml": main})).blocks


def test_an_open_document_is_read_without_deletions_and_notes() -> None:
    inside = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Avis</text:h><text:p>Le port<text:s text:c="3"/>est '
        "<text:span>fermé</text:span><text:note><text:note-citation>1</text:note-citation></text:note>.</text:p>"
        "<text:list><text:list-item><text:p>un</text:p></text:list-item></text:list>"
    )
    body = archive(open_parts("text", inside + OPEN_TABLE.format(cells("Nom", "Prix"), cells("Équipe", "29 €"))))
    assert reading(body).blocks == ("Avis", "Le port est fermé.", "un", "Nom", "Prix", "Équipe", "29 €")
    assert placed(body)["29 €"] == ("Équipe", "Prix")
    assert detect(body, "", URL).format == "odt"


def test_an_open_spreadsheet_of_a_million_blank_rows_is_read_to_its_end() -> None:
    tables = OPEN_TABLE.format(cells("Nom", "Prix"), cells("Équipe", "29 €"))
    hidden = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    more = OPEN_TABLE.replace('name="Liste"', 'name="x" table:style-name="h"').format(cells("not"), cells("shown"))
    styles = f"<office:automatic-styles>{hidden}</office:automatic-styles>"
    body = archive(open_parts("spreadsheet", tables + more, styles))
    assert reading(body).blocks == ("Liste", "Nom", "Prix", "Équipe", "29 €")
    assert detect(body, "", URL).evidence.startswith("a spreadsheet (ODS), 1 sheet, 2 rows")


def test_another_price_in_a_file_is_reported_with_its_row_and_column() -> None:
    dearer = [*FEES[:1], ("Team", "39,00 €"), *FEES[2:]]
    for before, after in ((docx(word_table(FEES)), docx(word_table(dearer))), (xlsx({"a": FEES}), xlsx({"a": dearer}))):
        verdict = changed(before, after)
        assert verdict.kind == "changed" and verdict.diff is not None
        (change,) = verdict.diff.changed
        assert (change.before, change.after) == ("29,00 €", "39,00 €")
        assert isinstance(change, Change) and isinstance(change.context, Context)
        assert (change.context.row, change.context.column) == ("Team", "Preis")


def test_the_same_text_saved_again_is_no_change() -> None:
    rows = [*FEES, ("Verein", "19,00 €")]
    parts = docx_parts("Sie gelten für alle Boote.", word_table(rows))
    anew = {**parts, "docProps/core.xml": "<x>2026-11-25T10:00:00Z</x>", "word/media/a.png": "\x89PNG"}
    assert changed(archive(parts), archive(anew, compressed=False)).kind == "unchanged"
    assert changed(xlsx({"a": rows}), xlsx({"a": [rows[0], *rows[:0:-1]]})).kind == "unchanged", "another order"


def test_an_archive_that_is_no_such_file_is_a_file_of_which_the_bytes_are_compared() -> None:
    for parts in ({"readme.txt": "x"}, open_parts("presentation", ""), {"[Content_Types].xml": "<Types/>"}):
        assert read_file(archive(parts)) is None
        found = detect(archive(parts), "", URL)
        assert found.format == "file" and "a ZIP archive" in found.evidence


def locked(body: bytes) -> bytes:
    """Mark an archive's first part as encrypted."""
    at = body.index(b"PK\x01\x02") + 8
    return body[:at] + struct.pack("<H", 1) + body[at + 2 :]


def packed_otherwise(body: bytes) -> bytes:
    """Mark an archive's first part as LZMA-compressed."""
    at = body.index(b"PK\x01\x02") + 10
    return body[:at] + struct.pack("<H", zipfile.ZIP_LZMA) + body[at + 2 :]


def zipped_bomb() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in docx_parts("x").items():
            if name != "word/styles.xml":
                file.writestr(name, part)
        with file.open("word/styles.xml", "w") as out:
            for _ in range((MOST_UNPACKED >> 20) + 1):
                out.write(b" " * (1 << 20))
    return held.getvalue()


DEEP = "<w:sdt><w:sdtContent>" * 5_000
ENTITIES = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
BAD = {
    "cut short": (docx("x")[:-40], "is damaged"),
    "no body": (docx(), "it contains no text"),
    "an ill-formed part": (archive({**docx_parts("x"), "word/document2.xml": "<w:document><w:body"}), "is damaged"),
    "too deep": (docx(DEEP), "is damaged"),
    "locked": (locked(docx("x")), "locked with a password"),
    "locked OpenDocument": (
        archive({**open_parts("text", ""), "META-INF/manifest.xml": "<manifest:encryption-data/>"}),
        "locked with a password",
    ),
    "packed by another method": (packed_otherwise(docx("x")), "is damaged"),
    "too many parts": (archive({f"p{n}": "" for n in range(MOST_PARTS + 1)}), "more than 5,000 parts"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(name: str) -> None:
    body, words = BAD[name]
    finding = detect(body, "", URL)
    assert finding.type is None and words in (finding.refusal or ""), finding
    with pytest.raises(ContentError, match=words):
        reading(body)


def test_a_bomb_is_not_unpacked() -> None:
    bomb = zipped_bomb()
    assert len(bomb) < 100_000
    with pytest.raises(ContentError, match="unpacks to more than 24 MiB"):
        reading(bomb)


def test_entities_stay_closed() -> None:
    parts = docx_parts("x")
    main = ENTITIES + parts["word/document2.xml"].replace("x</w:t>", "seen &a;&b;&f;</w:t>")
    assert reading(archive({**parts, "word/document2.xml": main})).blocks == ("seen",)


def test_titles_above_a_table_are_paragraphs_however_many() -> None:
    rows = [*([f"title {n}"] for n in range(9_000)), ["Plan", "Price"], ["Team", "29"]]
    found = reading(xlsx({"a": rows}))
    assert found.blocks[1] == "title 0" and found.places[-1] == ("Team", "Price")


def test_a_long_sheet_is_cut_and_marked_as_cut() -> None:
    found = reading(xlsx({"a": [["n"], *([n] for n in range(MOST_ROWS + 5))]}))
    assert found.partial and len(found.blocks) <= MOST_ROWS
    assert reading(xlsx({"a": [[f"c{n}" for n in range(26)]]})).partial is False
    wide = open_parts("spreadsheet", OPEN_TABLE.format(cells(*(f"c{n}" for n in range(70))), cells("x")))
    assert reading(archive(wide)).partial and "x" in reading(archive(wide)).blocks, "the rows below it are read"
    table = OPEN_TABLE.replace("<table:table-row>", '<table:table-row table:number-rows-repeated="99999999">', 1)
    row = '<table:table-cell table:number-columns-repeated="99999999"><text:p>x</text:p></table:table-cell>'
    assert reading(archive(open_parts("spreadsheet", table.format(row, row)))).partial


@pytest.mark.parametrize("body", [docx("x"), xlsx(SHEETS)])
def test_css_is_refused_for_a_document_without_elements_with_the_right_kind(body: bytes) -> None:
    with pytest.raises(NoParts, match="a part of a document is chosen by its path, as path:Prices"):
        read_page(body, "", URL, "p", ())
    with pytest.raises(NoParts, match="a part of a document is chosen by its path, as path:Prices"):
        preview_page(PageRequest(body, "", URL, None, (".ad",)))
