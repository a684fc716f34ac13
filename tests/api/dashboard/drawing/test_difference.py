from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.dashboard.drawing import EventChange, altered, in_the_text, lines_of
from api.dashboard.events import item_of
from storage.records.event import Change, Context, Contexts, Delta, DeltaStats, Diff, Op, Spans

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
    ops = (
        Op("insert", 0, text="new"),
        Op("replace", 1, before="a 1", after="a 2"),
        Op("replace", 2, before="30 people look at this", after="19 people look at this"),  # which did not count
        Op("delete", 2, text="old"),
    )
    diff = Diff(("new",), ("old",), (Change("a 1", "a 2"),))
    lines = lines_of(EventChange(diff, Delta(ops, DeltaStats(1, 1, 2, 0))))
    assert [(line.sign, line.pieces[0].text) for line in lines] == [
        ("+", "new"),
        ("-", "a "),
        ("+", "a "),
        ("-", "old"),
    ]
    many = lines_of(EventChange(diff=Diff(tuple(f"line {n}" for n in range(200)), (), ())), 60)
    assert len(many) == 61 and "140 more lines" in many[-1].pieces[0].text
    cut = lines_of(EventChange(diff=Diff((), ("gone",), (Change("a b", "a c"),), truncated=True)))
    assert [line.sign for line in cut] == ["-", "+", "-", " "]
    assert lines_of(EventChange()) == []


SEATS = Context("Plans", "Team", "Seats")


def test_lines_show_their_place_once() -> None:
    ops = (
        Op("replace", 0, before="10", after="12", context=SEATS),
        Op("insert", 1, text="a", context=Context("Jobs")),
        Op("insert", 2, text="b", context=Context("Jobs")),
        Op("delete", 0, text="c"),
    )
    places = Contexts((Context("Jobs"), Context("Jobs")), (Context(),))
    diff = Diff(("a", "b"), ("c",), (Change("10", "12", SEATS),), context=places)
    for delta in (Delta(ops, DeltaStats(2, 1, 1, 0)), None):
        found = [line.where for line in lines_of(EventChange(diff, delta))]
        assert found == ["Plans › Team · Seats", "", "Jobs", "", ""]


def test_the_words_that_an_event_marks_are_marked() -> None:
    spans = Spans(((6, 7),), ((6, 7),))
    changed = EventChange(
        Diff((), (), (Change("料金は十円です", "料金は百円です", spans=Spans(((3, 4),), ((3, 4),))),)),
        Delta((Op("replace", 0, before="料金は十円です", after="料金は百円です"),), DeltaStats(0, 0, 1, 0)),
    )
    marked = [piece.text for line in lines_of(changed) for piece in line.pieces if piece.marked]
    assert marked == ["十", "百"]
    broken = EventChange(Diff((), (), (Change("ab", "ac", spans=spans),)))
    assert ["".join(piece.text for piece in line.pieces) for line in lines_of(broken)] == ["ab", "ac"]


@given(texts, st.lists(st.tuples(st.integers(-2, 9), st.integers(-2, 9)), max_size=4))
def test_any_spans_show_the_whole_text(text: str, spans: list[tuple[int, int]]) -> None:
    pair = Change(text, text, spans=Spans(tuple(spans), tuple(spans)))
    for line in lines_of(EventChange(Diff((), (), (pair,)))):
        assert "".join(piece.text for piece in line.pieces) == text


def test_an_event_from_before_there_were_summaries_is_shown_as_it_was() -> None:
    old = b'{"id":"x","title":"Prices","diff":{"added":["a"],"removed":[],"changed":[{"before":"b 1","after":"b 2"}]}}'
    assert item_of(old).says == ""
    assert [line.where for line in lines_of(msgspec.json.decode(old, type=EventChange))] == [""] * 3


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (
            b'{"id":"x","title":"Fares rise","content":"From Monday on.\\n\\nMore below."}',
            "From Monday on. More below.",
        ),
        (b'{"id":"x","title":"Fares rise","content":"Fares  rise"}', ""),
        (b'{"id":"x","content":"Only a text"}', ""),
        (
            b'{"id":"x","title":"Prices","summary":"Team: 10 \xe2\x86\x92 12","content":"All","diff":{"added":[]}}',
            "Team: 10 \u2192 12",
        ),
        (
            b'{"id":"x","alert_type":"source_silent","title":"Silent","content":"Nothing since noon."}',
            "Nothing since noon.",
        ),
    ],
)
def test_the_second_line_of_an_item_shows_the_change(event: bytes, says: str) -> None:
    assert item_of(event).says == says


def test_the_whole_text_has_marks_in_place_and_removed_text_last() -> None:
    spans = Spans(((6, 8),), ((6, 8),))
    diff = Diff(
        ("came",), ("went",), (Change("costs 19", "costs 29", spans=spans), Change("elsewhere 1", "elsewhere 2"))
    )
    lines = in_the_text("first\n\ncame\ncosts 29\ncame\nlast", EventChange(diff))
    assert ["".join((line.sign, *(piece.text for piece in line.pieces))) for line in lines] == [
        "=first",
        "+came",
        "-costs 19",
        "+costs 29",
        "=came",
        "=last",
        "-elsewhere 1",
        "+elsewhere 2",
        "-went",
    ]
    assert [piece.text for piece in lines[3].pieces if piece.marked] == ["29"]


@given(texts, texts)
def test_no_line_of_the_text_is_lost(content: str, added: str) -> None:
    lines = in_the_text(content, EventChange(Diff((added,), (), ())))
    shown = [line.pieces[0].text for line in lines]
    assert set(filter(str.strip, content.split("\n"))) <= set(shown) and added in shown
