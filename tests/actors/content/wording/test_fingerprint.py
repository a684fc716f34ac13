from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from actors.content.wording.words import BITS, content_hash, simhash
from tests.actors.content.written_pages import PROSE

TEXT = " ".join(PROSE)


def distance(one: str, other: str) -> int:
    return (simhash(one) ^ simhash(other)).bit_count()


def test_the_hash_is_sha256_of_the_nfc_form() -> None:
    assert content_hash("e\u0301") == content_hash("é") == "sha256:" + hashlib.sha256("é".encode()).hexdigest()


@given(st.text())
def test_simhash_fits_an_integer_that_javascript_keeps(text: str) -> None:
    assert 0 <= simhash(text) < 2**BITS == 2**53


def test_case_and_punctuation_do_not_move_it_and_an_edit_moves_it_little() -> None:
    assert distance(TEXT, TEXT.upper().replace(",", " -")) == 0
    assert distance(TEXT * 4, (TEXT * 4).replace("eleven", "twelve", 1)) <= 10


def test_unrelated_texts_are_far_apart() -> None:
    other = "Quarterly figures show that revenue fell while the number of open positions in the company went up again."
    assert distance(TEXT, other) > 10


def test_the_values_are_part_of_the_schema_and_do_not_move() -> None:
    assert simhash("") == 0
    assert simhash("the tide comes in") == 999319906943114
