from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.dashboard.difference import Changed, altered, lines_of
from storage.records.event import Change, Delta, DeltaStats, Diff, Op

texts = st.text(alphabet="ab 12.é\n", max_size=60)


@given(texts, texts)
def test_the_pieces_of_a_changed_line_are_the_line(before: str, after: str) -> None:
    gone, came = altered(before, after)
    assert "".join(piece.text for piece in gone.pieces) == before
    assert "".join(piece.text for piece in came.pieces) == after


def test_only_the_words_that_differ_are_marked_and_unlike_lines_are_not() -> None:
    gone, came = altered("Day ticket: 12,50 euros", "Day ticket: 14,50 euros")
    assert [piece.text for piece in (*gone.pieces, *came.pieces) if piece.marked] == ["12", "14"]
    assert not any(piece.marked for line in altered("Open daily", "2027 report") for piece in line.pieces)
    assert not any(piece.marked for line in altered("a " * 400, "a " * 399 + "b") for piece in line.pieces)


def test_a_difference_is_in_reading_order_and_has_an_end() -> None:
    ops = (Op("insert", 0, text="new"), Op("replace", 1, before="a 1", after="a 2"), Op("delete", 2, text="old"))
    lines = lines_of(Changed(delta=Delta(ops, DeltaStats(1, 1, 1, 0))))
    assert [(line.sign, line.pieces[0].text) for line in lines] == [
        ("+", "new"),
        ("-", "a "),
        ("+", "a "),
        ("-", "old"),
    ]
    many = lines_of(Changed(diff=Diff(tuple(f"line {n}" for n in range(200)), (), ())), 60)
    assert len(many) == 61 and "140 more lines" in many[-1].pieces[0].text
    cut = lines_of(Changed(diff=Diff((), ("gone",), (Change("a b", "a c"),), truncated=True)))
    assert [line.sign for line in cut] == ["-", "+", "-", " "]
    assert lines_of(Changed()) == []
