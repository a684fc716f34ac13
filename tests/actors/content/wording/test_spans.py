from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from actors.content.wording.words import MOST_WORDS, spans_of, words_of

LETTERS = st.text(alphabet="ab 1,.é\u0301日本ก\u0e34ש\u093f\u0939👩\u200d🏽", max_size=40)


def marked(before: str, after: str) -> tuple[list[str], list[str]] | None:
    spans = spans_of(before, after)
    if spans is None:
        return None
    return [before[a:b] for a, b in spans.before], [after[a:b] for a, b in spans.after]


@given(LETTERS, LETTERS)
def test_outside_of_the_spans_both_texts_are_the_same_but_for_white_space(before: str, after: str) -> None:
    spans = spans_of(before, after)
    if spans is None:
        return
    left = []
    for text, side in ((before, spans.before), (after, spans.after)):
        assert list(side) == sorted(side) and all(0 <= a < b <= len(text) for a, b in side)
        assert all(one[1] <= other[0] for one, other in pairwise(side))
        kept = list(text)
        for a, b in reversed(side):
            del kept[a:b]
        left.append("".join("".join(kept).split()))
    assert left[0] == left[1]


@given(LETTERS)
def test_no_word_begins_with_a_mark_of_the_word_before(text: str) -> None:
    for start, end in words_of(text):
        assert start < end
        clings = start and not text[start - 1].isspace()
        assert not (clings and unicodedata.category(text[start]).startswith("M"))
    assert "".join(text[a:b] for a, b in words_of(text)) == "".join(text.split())


def test_a_difference_is_made_of_words_figures_and_single_characters() -> None:
    assert marked("costs 19,90 euros", "costs 29,90 euros") == (["19,90"], ["29,90"])
    assert marked("You may share it", "You may not share it") == ([], ["not"])
    assert marked("料金は十円です。", "料金は百円です。") == (["十"], ["百"])
    assert marked("ราคาสิบบาทถ้วน", "ราคาสองบาทถ้วน") is not None
    assert marked("המחיר 12 שקלים", "המחיר 14 שקלים") == (["12"], ["14"])
    assert marked("हिन्दी में दस", "हिन्दी में बीस") == (["दस"], ["बीस"])


def test_texts_that_are_unlike_the_same_or_endless_have_no_spans() -> None:
    assert spans_of("10", "12") is None
    assert spans_of("the same", "the  same") is None
    assert spans_of("a " * MOST_WORDS, "a " * MOST_WORDS + "b") is None


def test_hostile_repetition_is_cheap() -> None:
    start = time.process_time()
    for n in range(20):
        spans_of("a b " * 900 + str(n), "b a " * 900)
    assert time.process_time() - start < 2.0
