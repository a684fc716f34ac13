from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.values.reading import MOST_VALUES, Writing, has_prices, levelled, values_in
from storage.records.event import LARGEST, MOST_SCALE, MOST_VALUE_TEXT
from tests.actors.content.values.prices import HELD_OUT, TWELVE, prices


def read(text: str, language: str = "", label: str = "") -> list[tuple[str, object, int, str]]:
    return [
        (str(value.type), value.number if isinstance(value.number, int) else value.value, value.scale, value.unit)
        for value in (found.value for found in values_in(text, Writing(language), label))
    ]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("de", "ab 1.099,00 € statt 1.299 €", [("money", 109900, 2, "EUR"), ("money", 1299, 0, "EUR")]),
        ("de-ch", "CHF 1'099.–", [("money", 1099, 0, "CHF")]),
        ("en-in", "₹1,09,900", [("money", 109900, 0, "INR")]),
        ("sv", "1 299:-", [("money", 1299, 0, "SEK")]),
        ("nb", "kr 1 299,50", [("money", 129950, 2, "NOK")]),
        ("de", "49,-€", [("money", 49, 0, "EUR")]),
        ("de", "1,799 €/l", [("money", 1799, 3, "EUR")]),
        ("en", "$3.459 per gallon", [("money", 3459, 3, "USD")]),
        ("", "€1,299", [("money", 1299, 0, "EUR")]),
        ("en", "$1.5M", [("money", 1500000, 0, "USD")]),
        ("zh", "1.2万元", [("money", 12000, 0, "CNY")]),
        ("ja", "¥12,800", [("money", 12800, 0, "JPY")]),
        ("zh", "¥12,800", [("money", 12800, 0, "CNY")]),
        ("en-ca", "$5", [("money", 5, 0, "CAD")]),
        ("fr", "10–20 €", [("money", 10, 0, "EUR"), ("money", 20, 0, "EUR")]),
        ("en", "$10-20", [("money", 10, 0, "USD"), ("money", 20, 0, "USD")]),
        ("en", "-$5.00", [("money", -500, 2, "USD")]),
        ("en", "iPhone 15 999 €", [("number", 15, 0, ""), ("money", 999, 0, "EUR")]),
        ("sv", "15 999 kr", [("money", 15999, 0, "SEK")]),
        ("tr", "%12 indirim, TRY 1.299,90", [("percent", 12, 0, "%"), ("money", 129990, 2, "TRY")]),
        ("ar", "١٬٠٩٩٫٥٠ ر.س", [("money", 109950, 2, "SAR")]),
        ("ar", "سعر التذكرة: 95 ريال", [("money", 95, 0, "SAR")]),
        ("ar-om", "95 ريالاً", [("money", 95, 0, "OMR")]),
        ("ar-ma", "1.250 درهم", [("money", 1250, 0, "MAD")]),
        ("ar", "5.500 د.ك", [("money", 5500, 3, "KWD")]),
        ("ar", "5,500 د.ك", [("money", 5500, 0, "KWD")]),
        ("ar-tn", "5,500 د.ت", [("money", 5500, 3, "TND")]),
        ("ar", "250.000 IQD", [("money", 250000, 0, "IQD")]),
        ("da", "95 kroner", [("money", 95, 0, "DKK")]),
        ("ru", "1 200 рублей", [("money", 1200, 0, "RUB")]),
        ("", "AMD 7800 and TOP 10", [("number", 7800, 0, ""), ("number", 10, 0, "")]),
    ],
)
def test_an_amount_is_read_as_its_language_writes_it(
    language: str, text: str, found: list[tuple[str, object, int, str]]
) -> None:
    assert read(text, language) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A320, 2nd place, F-35, COVID-19, 4K, v", []),
        ("3.5 % of 12 GB at -5 °C", [("percent", 35, 1, "%"), ("number", 12, 0, "GB"), ("number", -5, 0, "°C")]),
        ("1,234,567 of 12.345.678", [("number", 1234567, 0, ""), ("number", 12345678, 0, "")]),
        ("10.0.0.1 and 1.2.3, v2, version 2.1", ["10.0.0.1", "1.2.3", "2", "2.1"]),
        ("Nov. 25, 2026 at 2:30 pm, 2026-12-01 09:00", ["2026-11-25", "14:30", "2026-12-01", "09:00"]),
        ("9" * 40, []),
        ("1,2,3,4 and 1.2,3.4", []),
    ],
)
def test_text_that_is_not_an_amount_has_another_type_or_none(text: str, found: list[object]) -> None:
    told = read(text, "en")
    assert (told if found and isinstance(found[0], tuple) else [one[1] for one in told]) == found


@pytest.mark.parametrize(("language", "day"), [("en", "2026-03-04"), ("en-gb", "2026-04-03"), ("sv", "2026-04-03")])
def test_a_date_of_figures_is_read_as_the_language_orders_them(language: str, day: str) -> None:
    assert read("due 03/04/2026", language) == [("date", day, 0, "")]


def test_a_bare_number_below_a_head_that_speaks_of_prices_is_money() -> None:
    assert read("12.50", "en", "Team Price (EUR)") == [("money", 1250, 2, "EUR")]
    assert read("12.50", "en", "Pris") == [("money", 1250, 2, "")]
    assert read("12.50", "en", "Seats") == [("number", 1250, 2, "")]


def test_numbers_of_json_are_exact_and_named_by_their_keys() -> None:
    text = '{"name": "T 5", "price": 12.500, "currency": "eur", "stock": 3, "in_stock": false, "ids": [1,300]}'
    found = [(one.value.type, one.value.text, one.value.unit) for one in values_in(text, Writing(exact=True))]
    assert found == [
        ("number", "5", ""),
        ("money", "12.500", "EUR"),
        ("number", "3", ""),
        ("availability", '"in_stock": false', ""),
        ("number", "1", ""),
        ("number", "300", ""),
    ]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("In stock", "in_stock"), ("Out of stock", "out_of_stock"), ("nicht vorrätig", "out_of_stock"),
        ("Auf Lager", "in_stock"), ("Slut i lager", "out_of_stock"), ("Finns i lager", "in_stock"),
        ("Rupture de stock", "out_of_stock"), ("Disponible", "in_stock"), ("non disponibile", "out_of_stock"),
        ("在庫あり", "in_stock"), ("売り切れ", "out_of_stock"), ("Only 3 left", "limited"),
        ("Pre-order now", "preorder"),
        ("No longer available", "discontinued"), ("Нет в наличии", "out_of_stock"), ("unavailable", "out_of_stock"),
        ("https://schema.org/OutOfStock", "out_of_stock"), ("niet leverbaar", "out_of_stock"),
        ("Ultimi pezzi", "limited"), ("Nur noch 12 Stück", "limited"), ("残り3点", "limited"),
        ("Only 3 left in stock", "limited"), ("Auf Lager · nur noch 3", "limited"),
    ],
)  # fmt: skip
def test_a_label_says_whether_it_can_be_had(text: str, state: str) -> None:
    assert [one[1] for one in read(text) if one[0] == "availability"] == [state]


@pytest.mark.parametrize(
    "text",
    [
        "Nur noch 12 Tage", "Plus que 3 jours", "Quedan 3 días", "Ultimi 3 giorni", "Nog 2 uur", "осталось 3 дня",
        "son 3 gün", "残り3日", "仅剩3天",
    ],
)  # fmt: skip
def test_days_that_are_left_are_no_stock(text: str) -> None:
    assert [one for one in read(text) if one[0] == "availability"] == []


def test_a_sentence_about_stocks_says_nothing_of_availability() -> None:
    text = (
        "The company said that shares were in stock portfolios of several funds, as these have been sold out of Asia."
    )
    assert read(text, "en") == []


@pytest.mark.parametrize(("locales", "seed"), [(TWELVE, 1), (HELD_OUT, 2)])
def test_none_of_ten_thousand_generated_prices_is_read_as_another(locales: dict[str, str], seed: int) -> None:
    for price in prices(locales, 10_000, seed):
        writing = Writing(price.locale.replace("_", "-").lower())
        found = [one.value for one in values_in(price.text, writing) if one.value.type == "money"]
        assert [(_decimal(value.number, value.scale), value.unit) for value in found] == [
            (price.amount, price.currency)
        ], price


def test_without_a_language_no_generated_price_is_read_as_another() -> None:
    for price in prices({**TWELVE, **HELD_OUT}, 10_000, 3):
        found = [one.value for one in values_in(price.text, Writing()) if one.value.type == "money"]
        # "TRY" before a number may be an English word; no value is better than a wrong one.
        assert [_decimal(value.number, value.scale) for value in found] in ([price.amount], []), price
        assert found or price.locale == "tr_TR", price


def _decimal(number: object, scale: int) -> Decimal:
    assert isinstance(number, int)
    return Decimal(number).scaleb(-scale)


@given(st.text(alphabet="0123456789., '€$%-:kKM\u00a0v\u0661EURabc/\"", max_size=60), st.sampled_from(["", "de", "en"]))
def test_values_of_any_text_are_disjoint_and_within_bounds(text: str, language: str) -> None:
    for writing in (Writing(language), Writing(exact=True)):
        end = 0
        for start, until, value in values_in(text, writing):
            assert end <= start < until <= len(text)
            end = until
            assert len(value.text) <= MOST_VALUE_TEXT
            if isinstance(value.number, int):
                assert abs(value.number) <= LARGEST and 0 <= value.scale <= MOST_SCALE
    assert len(levelled(text)) == len(text)


@pytest.mark.parametrize("text", ["1 " * 4_000, "$" * 4_000, "1-" * 2_000, '"price": ' * 600, "v1." * 1_300])
def test_a_text_made_to_be_slow_has_a_bounded_number_of_values(text: str) -> None:
    assert len(values_in(text, Writing())) <= MOST_VALUES


PIECES = (
    *(
        " ",
        "\u00a0",
        "7",
        "12",
        "1.234,50",
        "1.2.3",
        "€",
        "$",
        "US$",
        "EUR",
        "AMD",
        "kr",
        "mio",
        "%",
        "\uff05",
        "-",
        "v",
    ),
    *("version ", "release ", '{"price": ', "total", "save ", "sold out", "14 november", "\u0661", "\u0130", "word"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.booleans())
def test_a_text_passed_over_has_no_price_percentage_or_version(text: str, exact: bool) -> None:
    writing = Writing(exact=exact)
    named = {found.value.type for found in values_in(text, writing)}
    assert has_prices(text, writing) or not named & {"money", "percent", "version"}
