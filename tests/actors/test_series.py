from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.series import Point, record_since, series_of
from storage.records.value import MOST_CHANGES, ChangeKind, TypedChange, Value


def price(before: int, after: int, label: str = "Team", scale: int = 0) -> TypedChange:
    old, new = (Value(str(number), "money", number, scale, "EUR") for number in (before, after))
    return TypedChange("price", label, before=old, after=new)


def test_a_series_begins_with_what_was_before_its_first_change() -> None:
    team = (10, (price(5, 6),)), (20, (price(6, 4), price(1, 2, "Max")))
    told = series_of(team, since=3)
    assert [(series.label, series.points) for series in told] == [
        ("Team", [Point(3, 5, 0), Point(10, 6, 0), Point(20, 4, 0)]),
        ("Max", [Point(3, 1, 0), Point(20, 2, 0)]),
    ]


def test_what_came_and_what_has_no_number_is_of_no_series() -> None:
    text = TypedChange("text", before=Value("a"), after=Value("b"))
    came = TypedChange("added", after=Value("5", "money", 5, 0, "EUR"))
    assert series_of([(1, (text, came))], 0) == []


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 9))
def test_a_record_holds_since_the_last_value_that_was_beyond_it(numbers: list[int], now: int) -> None:
    points = [Point(10 * i, number, 0) for i, number in enumerate(numbers)]
    for lowest in (True, False):
        beyond = [i for i, number in enumerate(numbers) if (number < now if lowest else number > now)]
        since = record_since(points, Value("", "money", now), 10 * len(numbers), lowest=lowest)
        if not beyond:
            assert since == 0
        elif beyond[-1] == len(numbers) - 1:
            assert since is None
        else:
            assert since == 10 * (beyond[-1] + 1)


def test_scales_do_not_matter() -> None:
    assert record_since([Point(0, 500, 2), Point(5, 6, 0)], Value("", "money", 5), 9, lowest=True) == 0
    assert record_since([Point(0, 499, 2), Point(5, 6, 0)], Value("", "money", 5), 9, lowest=True) == 5


def came(number: int, kind: ChangeKind = "added", label: str = "Team") -> TypedChange:
    value = Value(str(number), "money", number, 0, "EUR")
    return TypedChange(kind, label, **{"after" if kind == "added" else "before": value})


def test_what_a_page_was_before_it_was_watched_as_it_is_now_is_not_known() -> None:
    (series,) = series_of([(10, (price(5, 6),))], since=3, began=7)
    assert series.points == [Point(7, 5, 0), Point(10, 6, 0)]
    (series,) = series_of([(10, (price(5, 6),))], since=3, began=20)
    assert series.points == [Point(3, 5, 0), Point(10, 6, 0)], "a part that was watched before has its own past"


def test_a_row_that_came_later_begins_when_it_came() -> None:
    (series,) = series_of([(10, (came(5),)), (20, (price(5, 6),))], since=3)
    assert series.points == [Point(10, 5, 0), Point(20, 6, 0)]
    words = TypedChange("added", "Seats", after=Value("7"))
    seats = TypedChange("number", "Seats", before=Value("7", "number", 7), after=Value("8", "number", 8))
    (series,) = series_of([(10, (words,)), (20, (seats,))], since=3)
    assert series.points == [Point(10, 7, 0), Point(20, 8, 0)], "also of what was told as words"


def test_a_row_that_went_and_came_back_is_one_series() -> None:
    told = [(10, (came(2, "removed"),)), (20, (came(9),)), (30, (price(9, 5),))]
    (series,) = series_of(told, since=3)
    assert series.points == [Point(3, 2, 0), Point(20, 9, 0), Point(30, 5, 0)]


def test_after_a_change_too_large_to_name_it_all_a_first_value_is_known_from_there_on() -> None:
    full = tuple(price(1, 2, f"Plan {number}") for number in range(MOST_CHANGES))
    team = next(one for one in series_of([(10, full), (20, (price(5, 6),))], since=3) if one.label == "Team")
    assert team.points == [Point(10, 5, 0), Point(20, 6, 0)]
