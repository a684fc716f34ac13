"""Conditions of queries on an event's changes."""

from __future__ import annotations

import random
import re
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.values.reading import CODES, UNITS
from actors.matcher import StandingQueries
from actors.query import QueryError, Texts, conditions, decode_event, matches, parse
from actors.query.parts import Match
from actors.query.syntax import has_conditions
from actors.query.words import TABLES
from storage.records.event import AVAILABILITIES, CHANGE_KINDS, TypedChange, Value

EMITTED = "2026-11-25T12:00:00Z"


def money(number: int, scale: int = 0, unit: str = "EUR") -> Value:
    return Value("x", "money", number, scale, unit)


DROP = TypedChange("price", "Team · Price", "$.plans[1].price", money(400), money(29999, 2), "2026-08-01T00:00:00Z")
RISE = TypedChange("price", "Max", before=money(40), after=money(50))
GONE = TypedChange("availability", "Max", after=Value("Sold out", "availability", value="out_of_stock"))
ITEM = TypedChange("added", "Bike", after=money(250, unit="USD"))
OUT = TypedChange("removed", "Car", before=money(10))
SHARE = TypedChange("number", "", before=Value("5 %", "percent", 5, 0, "%"), after=Value("7 %", "percent", 7, 0, "%"))
DISK = TypedChange("number", "Disk", before=Value("5 GB", "number", 5, 0, "GB"), after=Value("9", "number", 9, 0, "GB"))
SAVED = TypedChange("number", "You save", before=money(40), after=money(50))
DAY = TypedChange("date", "Deadline", after=Value("1 Dec 2026", "date", value="2026-12-01"))
RELEASE = TypedChange(
    "version", "", before=Value("2.9", "version", value="2.9"), after=Value("", "version", value="2.10.0")
)


def texts(*changes: TypedChange) -> Texts:
    told = {"title": "Plans", "content": "some words", "emitted_at": EMITTED, "changes": changes, "source_type": "html"}
    diff = {"added": ["words that came"], "removed": [], "changed": []}
    return Texts(decode_event(msgspec.json.encode({**told, "diff": diff})))


def holds(query: str, *changes: TypedChange, match: Match = "change") -> bool:
    text = texts(*changes).of(match)
    direct = matches(parse(query, "en"), text)
    index = StandingQueries()
    index.add("one", parse(query, "en"))
    assert bool(index.match(text, "source")) == direct, "the index and the query agree"
    return direct


@pytest.mark.parametrize(
    ("query", "change", "met"),
    [
        ("price<300", DROP, True),
        ("price<299.99", DROP, False),
        ("price<=299.99", DROP, True),
        ("price=299.990", DROP, True),
        ("price<300EUR", DROP, True),
        ("price<€300", DROP, True),
        ("price<300USD", DROP, False),
        ("price>300", DROP, False),
        ("price<300 price.before>=300", DROP, True),
        ("price<300 price.before>=500", DROP, False),
        ("price.before>5", OUT, True),
        ("version.before=2.9", RELEASE, True),
        ("price<300", ITEM, True),
        ("price<300", OUT, False),
        ("price<300", SHARE, False),
        ("price<300", SAVED, False),
        ("kind:number", SAVED, True),
        ("price.drop>=25%", DROP, True),
        ("price.drop>=25.01%", DROP, False),
        ("price.drop>=100", DROP, True),
        ("price.drop>100.01", DROP, False),
        ("price.drop>0", RISE, False),
        ("price.rise>=25%", RISE, True),
        ("price.rise>=10", RISE, True),
        ("price.drop>0", ITEM, False),
        ("price.lowest:90d", DROP, True),
        ("price.lowest:117d", DROP, False),
        ("price.highest:1d", DROP, False),
        ("price.lowest:1d", RISE, False),
        ("kind:price", DROP, True),
        ("kind:price", ITEM, False),
        ("kind:added", ITEM, True),
        ("availability:out_of_stock", GONE, True),
        ('availability:"out of stock"', GONE, True),
        ("availability:in_stock", GONE, False),
        ("percent>5", SHARE, True),
        ("percent.rise>=40%", SHARE, True),
        ("number>=9GB", DISK, True),
        ("number>=9TB", DISK, False),
        ("date<=2026-12-01", DAY, True),
        ("date<2026-12-01", DAY, False),
        ("version>2.9", RELEASE, True),
        ("version=2.10", RELEASE, True),
        ("path:$.plans[*]", DROP, True),
        ("path:$.plans[*].price", DROP, True),
        ("path:$.plan", DROP, False),
        ("path:$.plans[2]", DROP, False),
        ('label:"team · pri"', DROP, True),
        ("label:Max", DROP, False),
        ("-price>300", RISE, True),
    ],
)
def test_a_condition_is_met_or_not(query: str, change: TypedChange, met: bool) -> None:
    assert holds(query, change) == met
    assert holds(query, change, match="page") == met
    assert query.startswith("-") or holds(query, change, match="added") == met


def test_the_where_operator_limits_its_conditions_to_one_change() -> None:
    assert holds("label:Team price<300", DROP, RISE)
    assert not holds("label:Max price>300", TypedChange("price", "Team", after=money(400)), RISE)
    assert holds("label:Max kind:price kind:availability", RISE, GONE)
    assert holds("words label:Max", RISE) and not holds("nothing label:Max", RISE)


def test_conditions_combine_with_words_and_groups() -> None:
    assert holds("plans (price<300 OR kind:availability) -kind:removed", GONE)
    assert not holds("plans (price<300 OR kind:availability) -kind:removed", GONE, OUT)
    assert not holds("careers price<300", DROP)


def test_events_that_say_nothing_of_it_meet_no_condition() -> None:
    assert not holds("price<300") and not holds("kind:text") and not holds("path:$")


@given(st.decimals(0, 10**7, places=2), st.decimals(0, 10**7, places=3), st.sampled_from(["<", "<=", ">", ">=", "="]))
def test_thresholds_compare_as_decimals(price: Decimal, bar: Decimal, sign: str) -> None:
    change = TypedChange("price", after=money(int(price.scaleb(2)), 2))
    asked = {"<": price < bar, "<=": price <= bar, ">": price > bar, ">=": price >= bar, "=": price == bar}
    written = f"{bar:f}"
    assert holds(f"price{sign}{written}", change) == asked[sign]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("price<1,299", "1,299 is ambiguous: write 1299 or 1.299"),
        ("price<abc", "price is compared with a number, as in price<300"),
        ("price<10%", "a price has no percentage"),
        ("price<€300€", "one currency is enough"),
        ("kind:foo", "kind 'foo' is not known: it is one of price"),
        ("kind<price", "kind can't be compared"),
        ("price.foo>1", "price.foo is not known: price has .before and .drop and .highest and .lowest and .rise"),
        ("number.lowest:9d", "number.lowest is not known"),
        ("price.lowest:soon", "price.lowest takes days"),
        ("price.drop:5", "name the smallest movement, as in price.drop>=10%"),
        ("price.drop>=-5", "drop must be 0 or more"),
        ("date<soon", "a date is compared with a day"),
        ("version>x", "a version is compared with numbers and dots"),
        ("price<5kr", "kr is not a currency: write its code"),
        ('label:"x', "this quotation mark is not closed"),
    ],
)
def test_an_invalid_condition_says_how_to_write_it(query: str, says: str) -> None:
    with pytest.raises(QueryError, match=says.replace(".", r"\.").replace("(", r"\(")):
        parse(f"word {query}", "en")


@pytest.mark.parametrize(
    "query", ["Price: 20", "date:today", "version:beta", '"price<300"', "price", "pricey<3", "kind"]
)
def test_text_that_only_resembles_a_condition_is_words(query: str) -> None:
    assert "Condition" not in repr(parse(query, "en").root)


@pytest.mark.parametrize(
    "query", ['label:"a b" price<5', "price.drop>=10% OR kind:text", "-(path:$.a number>3)", "price<=300.50EUR"]
)
def test_a_condition_is_shown_as_it_can_be_typed(query: str) -> None:
    read = parse(query, "en")
    assert parse(str(read), "en").root == read.root


def test_long_numbers_of_versions_are_compared_to_their_last_digit() -> None:
    release = TypedChange("version", "", after=Value("", "version", value="1.20261125123456"))
    assert holds("version<1.20261125123457", release)
    assert holds("version>1.20261125123455", release)
    assert not holds("version=1.20261125123457", release)


def test_conditions_name_the_kinds_and_states_of_the_records() -> None:
    """The query language imports no records, so it has its own copies of these lists."""
    assert conditions._KINDS == CHANGE_KINDS
    assert conditions._STATES == AVAILABILITIES


def test_a_word_one_edit_from_a_condition_is_refused_in_a_new_query_and_read_as_before_in_a_stored_one() -> None:
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz<>=: "
    for written in ("price<300", "price.drop>=10%", "number>5", "percent>=2", "availability:in_stock", "version>=2.1"):
        for _ in range(200):
            at, letter = chance.randrange(len(written)), chance.choice(letters)
            edited = chance.choice(
                (
                    written[:at] + written[at + 1 :],
                    written[:at] + letter + written[at:],
                    written[:at] + letter + written[at + 1 :],
                )
            )
            if not re.search("[<>=]|[a-z]:.", edited):
                continue  # the edit took the sign: words
            try:
                query = parse(edited, "en", strict=True)
            except QueryError:
                continue
            assert has_conditions(query.root) or re.search(
                r"(?i)\b(date|version|price|number|percent)[.a-z]*:", edited
            ), edited


@pytest.mark.parametrize("typed", ["prise<300", "tag:outages AND degraded", "price <300", "price< 300", "titel:news"])
def test_a_misspelled_condition_names_its_place(typed: str) -> None:
    with pytest.raises(QueryError, match="condition"):
        parse(typed, "en", strict=True)
    assert str(parse(typed, "en").root)


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("price<300XYZ", "there is no currency XYZ: write a code, as in price<300EUR"),
        ("lamp price<300 euro", "a currency joins its number, as in price<300EUR"),
        ("(price<300 Euros)", "a currency joins its number"),
        ("price.drop>=10 SEK lamp", "a currency joins its number"),
        ("price<300 €", "a currency joins its number"),
        ("number<5XYZ", "there is no unit XYZ: there are GHz, MHz, GiB"),
        ("number>=5gb", "there is no unit gb: did you mean GB?"),
        ("number.drop>=5kgs", "there is no unit kgs: did you mean kg?"),
    ],
)
def test_a_price_in_no_currency_a_number_in_no_unit_and_one_with_its_currency_apart_are_refused(
    typed: str, advice: str
) -> None:
    with pytest.raises(QueryError, match=re.escape(advice)):
        parse(typed, "en", strict=True)
    assert typed.endswith("€") or str(parse(typed, "en").root), "a stored query is read as before"


@pytest.mark.parametrize(
    "typed",
    [
        "price<300SEK",
        'price<300 "euro"',
        "euro price<300",
        "price.drop>=10% euro",
        "price<300EUR euro zone",
        "number<5GB",
        "number<5",
    ],
)
def test_words_beside_a_price_stay_words(typed: str) -> None:
    assert str(parse(typed, "en", strict=True).root)


def test_the_currencies_and_units_of_queries_are_those_of_values() -> None:
    assert TABLES["units"].split() == UNITS
    assert frozenset(TABLES["currencies"].split()) == CODES


@pytest.mark.parametrize("typed", ["https://example.org/?q=1", "10:30", '"tag:outages"', "re: minutes", "version:beta"])
def test_urls_times_and_quoted_texts_are_no_conditions(typed: str) -> None:
    assert str(parse(typed, "en", strict=True).root)
