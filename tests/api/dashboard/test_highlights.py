from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.dashboard.notifying.alerts import fault_of, pieces, shown_match
from api.nouns.alerts import ContentExcerpt, Highlights, PreviewMatch

marks = st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)).map(lambda mark: tuple(sorted(mark))))


@given(st.text(max_size=50), marks, st.integers(0, 10))
def test_pieces_make_up_the_text_with_any_marks(text: str, marks: list[tuple[int, int]], start: int) -> None:
    assert "".join(piece.text for piece in pieces(text, marks, start)) == text


def test_an_excerpt_that_begins_within_the_text_says_so_and_keeps_its_marks() -> None:
    content = (ContentExcerpt(100, "the new price of it", ((108, 113),)),)
    event: dict[str, Any] = {"id": "e", "source_id": "s", "title": "", "url": ""}
    made_at = "2026-11-21T10:00:00.000Z"
    match = PreviewMatch(**event, emitted_at=made_at, matched=("price",), highlights=Highlights((), content))
    ((word, excerpt),) = shown_match(match).excerpts
    assert not word
    assert [tuple(piece) for piece in excerpt] == [("… the new ", False), ("price", True), (" of it", False)]
    assert shown_match(match).title[0].text == "(without a title)"


@given(st.text(alphabet='ab "()-*OR', max_size=20))
def test_a_query_that_cannot_be_read_is_whole_around_its_fault(query: str) -> None:
    fault = fault_of(query, "en")
    if fault is not None:
        assert (fault.before + fault.at + fault.after).rstrip() == query.rstrip()
