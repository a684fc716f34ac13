from __future__ import annotations

import re
import unicodedata

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from actors.query import words
from actors.query.words import LONGEST, MARKS, UNSPACED, chunks, fold, language, languages, plain, shape, tokens


def test_the_table_of_marks_agrees_with_unicode() -> None:
    """Every mark of the basic planes is inside; nothing that separates words is."""
    inside = re.compile(f"[{MARKS}]")
    for code in range(0x300, 0x11000):
        category = unicodedata.category(chr(code))
        if category.startswith("M"):
            assert inside.match(chr(code)), hex(code)
        elif category[0] in "ZPSC" and category != "Cn":
            assert not inside.match(chr(code)), hex(code)


def test_unspaced_scripts_are_letters_and_their_marks() -> None:
    inside = re.compile(f"[{UNSPACED}]")
    for code in range(0x20, 0x11000):
        if inside.match(chr(code)):
            assert unicodedata.category(chr(code))[0] in "LMN" or unicodedata.category(chr(code)) == "Cn", hex(code)


def test_a_chunk_without_spaces_parses_alike_in_an_ascii_text_and_in_another() -> None:
    text = "e-post o'brien u.s.a. 1,000 3.14 c++ c# .net asp.net x+y info@a.example v1.2.3 a_b -x- '' ..."
    assert chunks(plain(text)) == chunks(plain(text + " é"))[:-1]


@given(st.text(max_size=80))
def test_a_shape_is_never_empty_and_its_readings_lie_inside_it(text: str) -> None:
    for chunk in chunks(plain(text)):
        row, also = shape(chunk)
        assert row
        assert all(0 < len(word) <= LONGEST for word in row)
        assert all(0 <= r.start < r.end <= len(row) and 0 < len(r.word) <= LONGEST for r in also)


@given(st.text(max_size=40))
def test_plain_text_stays_as_it_is(text: str) -> None:
    once = plain(text)
    assert plain(once) == once


@given(
    st.text(st.sampled_from("aZé9ß \n\u2003.,-'+#_\u00ad\u0301\u3099東京カİΣ\U0001f1f8\U0001f1ea👍"), max_size=80)
    | st.text(max_size=200)
)
def test_a_texts_words_are_those_of_its_tokens(text: str) -> None:
    """A text is analysed token by token: no composition, folding or glue crosses a space."""
    whole, cut = [shape(chunk) for chunk in chunks(plain(text))], [shape(token) for token in tokens(text)]
    assert [word for each in cut for word in each.row] == [word for each in whole for word in each.row]
    assert [reading.word for each in cut for reading in each.readings] == [
        reading.word for each in whole for reading in each.readings
    ]


def test_a_word_that_does_not_end_is_cut_on_both_sides() -> None:
    assert shape("x" * 10_000).row == ("x" * LONGEST,)


def test_accents_are_folded_after_latin_and_greek_letters_only() -> None:
    assert [fold(word) for word in ("àéîõü", "øłđðı", "æœþ", "ώ", "й", "が", "क़")] == [
        "aeiou", "olddi", "aeoeth", "ω", "й", "が", "क़"
    ]  # fmt: skip


def test_every_snowball_stemmer_has_its_language() -> None:
    variants = {"porter", "dutch_porter"}  # older variants of English and Dutch
    assert {name.split()[0].lower() for code, name in languages().items() if code != "simple"} == set(
        Stemmer.algorithms()
    ) - variants


@pytest.mark.parametrize("code", list(languages()))
def test_in_every_language_a_word_and_its_spelling_without_accents_meet(code: str) -> None:
    speech = language(code)
    for word in ("föreläggande", "déjà", "łódź", "überprüfung", "ação", "č", "smørrebrød", "ïle", "plain"):
        typed = words.plain(word)
        assert set(speech.keys(typed)) & set(speech.keys(fold(typed))), (code, word)
        assert all(key == words.plain(key) for key in speech.keys(typed))


def test_only_words_with_accents_have_a_second_key() -> None:
    assert language("sv").keys("affär") == ("affar", "aff")
    assert language("sv").keys("affar") == ("aff",)
