from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.series import Point, record_since, series_of
from storage.records.event import MOST_CHANGES, ChangeKind, TypedChange, Value


def price(before: int, after: int, label: str = "Team", scale: int = 0) -> TypedChange:
    old, new = (Value(str(number), "money", number, scale, "EUR") for number in (before, after))
    return TypedChange("price", label, before=old, after=new)


def test_a_series_begins_with_the_value_before_its_first_change() -> None:
    team = (10, (price(5, 6),)), (20, (price(6, 4), price(1, 2, "Max")))
    told = series_of(team, since=3)
    assert [(series.label, series.points) for series in told] == [
        ("Team", [Point(3, 5, 0), Point(10, 6, 0), Point(20, 4, 0)]),
        ("Max", [Point(3, 1, 0), Point(20, 2, 0)]),
    ]


def test_additions_and_values_without_number_join_no_series() -> None:
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


def test_a_price_before_the_present_settings_is_unknown() -> None:
    (series,) = series_of([(10, (price(5, 6),))], since=3, began=7)
    assert series.points == [Point(7, 5, 0), Point(10, 6, 0)]
    (series,) = series_of([(10, (price(5, 6),))], since=3, began=20)
    assert series.points == [Point(3, 5, 0), Point(10, 6, 0)], "a part that was watched before has its own past"


def test_a_rows_series_begins_when_the_row_was_added() -> None:
    (series,) = series_of([(10, (came(5),)), (20, (price(5, 6),))], since=3)
    assert series.points == [Point(10, 5, 0), Point(20, 6, 0)]
    words = TypedChange("added", "Seats", after=Value("7"))
    seats = TypedChange("number", "Seats", before=Value("7", "number", 7), after=Value("8", "number", 8))
    (series,) = series_of([(10, (words,)), (20, (seats,))], since=3)
    assert series.points == [Point(10, 7, 0), Point(20, 8, 0)], "also of what was told as words"


def test_a_row_that_was_removed_and_returned_is_one_series() -> None:
    told = [(10, (came(2, "removed"),)), (20, (came(9),)), (30, (price(9, 5),))]
    (series,) = series_of(told, since=3)
    assert series.points == [Point(3, 2, 0, until=10), Point(20, 9, 0), Point(30, 5, 0)]
    (series,) = series_of([*told, (40, (came(5, "removed"),))], since=3)
    assert series.points[-1] == Point(30, 5, 0, until=40), "it is gone"
    (series,) = series_of([(10, (price(1, 2),)), (20, (came(2, "removed"), came(9)))], since=3)
    assert series.points[-2:] == [Point(10, 2, 0), Point(20, 9, 0)], "in the place of the other"
    (series,) = series_of([*told[:1], (30, (price(9, 5),))], since=3)
    assert series.points == [Point(3, 2, 0, until=10), Point(10, 9, 0), Point(30, 5, 0)], "that it came was not told"


def test_another_currency_is_another_series_and_ends_the_first() -> None:
    other = TypedChange(
        "price", "Team", before=Value("6", "money", 6, 0, "EUR"), after=Value("7", "money", 7, 0, "USD")
    )
    euro, dollar = series_of([(10, (price(5, 6),)), (20, (other,))], since=3)
    assert euro.points == [Point(3, 5, 0), Point(10, 6, 0, until=20)]
    assert (dollar.unit, dollar.points) == ("USD", [Point(20, 7, 0)])


def test_states_versions_and_dates_have_series_and_times_and_texts_have_none() -> None:
    def change(kind: ChangeKind, *values: Value) -> TypedChange:
        return TypedChange(kind, kind, before=values[0], after=values[1])

    stock = [
        Value(text, "availability", value=value) for text, value in (("Sold out", "out_of_stock"), ("Ja", "in_stock"))
    ]
    version = [Value(text, "version", value=text) for text in ("2.9", "2.10")]
    days = [Value(text, "date", value=value) for text, value in (("1 May", "05-01"), ("2. Mai", "05-02"))]
    hours = [Value(text, "time", value=text) for text in ("10:00", "11:00")]
    told = (change("availability", *stock), change("version", *version), change("date", *days), change("text", *hours))
    found = series_of([(10, told)], since=3)
    assert [(one.type, [at.value for at in one.points], one.points[1].text) for one in found] == [
        ("availability", ["out_of_stock", "in_stock"], "Ja"),
        ("version", ["2.9", "2.10"], "2.10"),
        ("date", ["05-01", "05-02"], "2. Mai"),
    ]
    again = Value("In stock", "availability", value="in_stock")
    assert found[0].points[1].is_value(again) and not found[0].points[0].is_value(again)
    assert not found[0].points[0].is_value(Value("5", "number", 5)) and not Point(0, 5, 0).is_value(again)


def test_after_a_change_too_large_to_name_it_all_a_first_value_is_known_from_there_on() -> None:
    full = tuple(price(1, 2, f"Plan {number}") for number in range(MOST_CHANGES))
    team = next(one for one in series_of([(10, full), (20, (price(5, 6),))], since=3) if one.label == "Team")
    assert team.points == [Point(10, 5, 0), Point(20, 6, 0)]
