"""PDFs as paragraphs: joined lines, text that moves across pages, and refused files."""

from __future__ import annotations

import io
import random
import zlib

import pytest
from pypdf import PdfReader, PdfWriter

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.detection import detect
from actors.content.errors import ContentError
from actors.content.messages import is_pdf
from actors.content.pages.page import PageReading
from extras.office.pdf import MOST_PAGES
from storage.records.event import Context
from tests.extras.office.written_files import pdf
from tests.support.pages import read_page

URL = "https://shore.example/fees.pdf"
WORDS = [
    "harbour",
    "boat",
    "quay",
    "fee",
    "week",
    "summer",
    "winter",
    "master",
    "water",
    "mast",
    "sail",
    "engine",
    "arrival",
    "day",
    "night",
    "open",
    "closed",
]


def reading(body: bytes) -> PageReading:
    return read_page(body, "application/pdf", URL, None, ())


def changed(before: bytes, after: bytes) -> ChangeVerdict:
    return judge(judge(None, reading(before)).memory, reading(after))


def wrapped(text: str, width: int = 70) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) >= width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line]


def paragraphs(chance: random.Random, count: int) -> list[str]:
    return [
        " ".join(chance.choice(WORDS) for _ in range(chance.randint(20, 70))).capitalize() + "." for _ in range(count)
    ]


def paged(texts: list[str], lines_on_a_page: int = 40) -> bytes:
    """Return a PDF of these paragraphs, with a title at the head of each page and a page number at the foot."""
    lines = [line for text in texts for line in wrapped(text)]
    cut = [lines[at : at + lines_on_a_page] for at in range(0, len(lines), lines_on_a_page)]
    return pdf([["Fees of 2026", *page, f"Page {number} of {len(cut)}"] for number, page in enumerate(cut, 1)])


def test_lines_are_joined_and_heads_and_feet_of_pages_are_left_out() -> None:
    texts = paragraphs(random.Random(1), 40)
    body = paged(texts)
    found = reading(body)
    assert list(found.blocks) == texts
    assert detect(body, "application/pdf", URL).evidence.startswith(f"a PDF document, {pages_of(body)} pages;")


def pages_of(body: bytes) -> int:
    return len(PdfReader(io.BytesIO(body)).pages)


@pytest.mark.parametrize("seed", range(5))
def test_a_new_paragraph_that_moves_everything_is_reported_alone(seed: int) -> None:
    chance = random.Random(seed)
    texts = paragraphs(chance, 60)
    new = "The harbour is closed to all boats from the first of November until the last of March, says the master."
    at = chance.randint(0, 59)
    verdict = changed(paged(texts), paged([*texts[:at], new, *texts[at:]], chance.randint(30, 50)))
    assert verdict.kind == "changed" and verdict.diff is not None
    assert (verdict.diff.added, verdict.diff.removed, verdict.diff.changed) == ((new,), (), ())


def test_another_price_is_reported_with_its_page() -> None:
    rows = ["Fees for guests", "Rowing boat 90 kr 500 kr", "Sailing boat 290 kr 1 500 kr", "Electricity is included."]
    before, after = pdf([["Rules", *wrapped(paragraphs(random.Random(2), 1)[0])], rows]), None
    dearer = [row.replace("290", "310") for row in rows]
    after = pdf([["Rules", *wrapped(paragraphs(random.Random(2), 1)[0])], dearer])
    verdict = changed(before, after)
    assert verdict.diff is not None
    (change,) = verdict.diff.changed
    assert (change.before, change.after) == (rows[2], dearer[2])
    assert isinstance(change.context, Context) and change.context.row == "page 2"


def test_the_same_text_saved_again_is_no_change() -> None:
    texts = paragraphs(random.Random(3), 12)
    lines = [line for text in texts for line in wrapped(text)]
    assert changed(pdf([lines]), pdf([lines], packed=True)).kind == "unchanged"
    narrower = [line for text in texts for line in wrapped(text, 55)]
    assert changed(pdf([lines]), pdf([narrower[:30], narrower[30:]])).kind == "unchanged", "other lines, another page"


def test_words_that_were_parted_are_whole_and_ligatures_are_letters() -> None:
    lines = ["The master of the harbour asks all guests to be consider-", "ate of others, and to pay at the office."]
    assert reading(pdf([lines])).blocks == (
        "The master of the harbour asks all guests to be considerate of others, and to pay at the office.",
    )


def test_items_and_rows_stay_apart() -> None:
    lines = [
        "1. Electricity is included in the fee for the night",
        "2. Water is included in the fee for the night",
        "a) And",
    ]
    assert reading(pdf([lines])).blocks == tuple(lines)
    rows = [f"Boats of {n} to {n + 1} metres pay {n}0 kr or {n}00 kr or {n}000 kr" for n in range(5, 9)]
    assert reading(pdf([rows])).blocks == tuple(rows)


def encrypted(password: str, algorithm: str = "RC4-128") -> bytes:
    writer, held = PdfWriter(PdfReader(io.BytesIO(pdf([["A secret of the harbour."]])))), io.BytesIO()
    writer.encrypt(password, owner_password="owner", algorithm=algorithm)
    writer.write(held)
    return held.getvalue()


AES = b"<< /Filter /Standard /V 5 /R 6 /Length 256 /O (" + b"o" * 48 + b") /U (" + b"u" * 48 + b") /P -4 >>"
CYCLE = {2: b"<< /Type /Pages /Kids [2 0 R 4 0 R] /Count 9 >>"}
BAD = {
    "locked": (encrypted("password"), "encrypted with a password"),
    "locked by another cipher": (
        pdf([["x"]])
        .replace(b"/Root 1 0 R", b"/Root 1 0 R /Encrypt 9 0 R")
        .replace(b"xref", b"9 0 obj " + AES + b" endobj xref"),
        "locked|damaged",
    ),
    "no text": (pdf([[]]), "it contains no text"),
    "no page": (pdf([]), "it contains no text"),
    "the mark alone": (b"%PDF-1.7", "damaged"),
    "cut short": (pdf([["x" * 50]])[:200], "damaged|no text"),
    "rubbish": (b"%PDF-1.7\n" + random.Random(4).randbytes(5_000), "damaged"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_pdf_that_cannot_be_read_is_refused_in_a_sentence(name: str) -> None:
    body, words = BAD[name]
    with pytest.raises(ContentError, match=words):
        reading(body)
    assert detect(body, "", URL).type is None


def test_a_pdf_locked_against_printing_only_is_read() -> None:
    assert reading(encrypted("")).blocks == ("A secret of the harbour.",)


def test_a_tree_of_pages_that_bites_its_tail_ends() -> None:
    try:
        assert reading(pdf([["Whole"]], more=CYCLE)).blocks
    except ContentError as error:
        assert "damaged" in error.reason


def test_a_bomb_is_not_unpacked() -> None:
    stream = zlib.compress(bytes(200 << 20), 9)
    bomb = f"<< /Length {len(stream)} /Filter /FlateDecode >> stream\n".encode() + stream + b"\nendstream"
    with pytest.raises(ContentError):
        reading(pdf([["x"]], more={5: bomb}))


def test_a_long_document_is_read_up_to_a_limit_and_marked_as_cut() -> None:
    found = reading(pdf([[f"This is the text of page {'abcdefghij'[n % 10]} {n}."] for n in range(MOST_PAGES + 1)]))
    assert found.partial and len(found.blocks) == MOST_PAGES


def test_the_mark_may_come_a_little_later_but_not_in_a_page_of_text() -> None:
    assert reading(b"\n\n" + pdf([["Whole"]])).blocks == ("Whole",)
    assert is_pdf(b" \n%PDF-1.4") and not is_pdf(b"x%PDF-1.4")
    assert reading(b"<html><body><p>A page that says %PDF-1.4 to its readers, and no file.</p></body></html>").blocks
