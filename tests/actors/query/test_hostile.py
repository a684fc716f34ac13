"""Hostile queries and texts: refused with a reason or answered, with work in proportion to their length."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from actors.matcher import StandingQueries
from actors.query import AnalysedText, QueryError, languages, matches, parse
from actors.query.explain import advice, explain
from actors.query.parts import TextPart
from api.nouns.events import event_filter_of
from api.problems import Refusal
from api.streams.reader import Texts
from storage.records.event import Stored
from storage.records.identity import Seq, SourceId
from storage.records.tiers import Kind

PIECES = (
    *("price", "plan", "OR", "AND", "NOT", "or", "(", ")", '"', "“", "”", "„", "*", "-", "−", "|", "&", "''", ";--"),
    *("' OR '1'='1", "%", "_", "\\", "NEAR(", "title:", "^", "{", "}", "$1", "?", "MATCH", "rowid", "DROP TABLE log"),
    *(
        "\x00",
        "\x1b[31m",
        "\r\n",
        "\x85",
        "\u2028",
        "\u202e",
        "\u200f",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\ud800",
        "\udfff",
    ),
    *(
        "東京都",
        "한국",
        "ไทย",
        "が",
        "👍🏽",
        "👩\u200d👩\u200d👧",
        "🇸🇪",
        "e\u0301" * 3,
        "Z\u0300\u0301\u0302\u0303" * 3,
        "ß",
        "İ",
        "ﬁ",
    ),
    *(
        "C++",
        ".NET",
        "3,14",
        "1.000.000",
        "a@b.c",
        "e-post",
        "o'brien",
        "U.S.A.",
        "x" * 70,
        "a-" * 9,
        "1," * 9,
        "#" * 5,
    ),
    *("pri*", "*", "**", "a*b*", '"a b*"', "-(", "--", "OR OR", "() ()", "((((", "))))", "\t", " " * 20, "\U0010ffff"),
)
TEXTS = (
    ("A new price", "e-post om priset: 1,000 kr i 東京都 👍🏽 C++ .NET"),
    ("", ""),
    ("\x00\u202e\u2028", "Z\u0300\u0301" * 50 + "\u200d" * 50 + "東" * 100),
)


def hostile(seed: int, count: int) -> Sequence[str]:
    """Return queries composed of random pieces, some of them long."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        pieces = chance.choices(PIECES, k=chance.choice((1, 2, 3, 5, 8, 13, 40)))
        made.append(chance.choice(("", " ", " ")).join(pieces) * chance.choice((1, 1, 1, 2, 50)))
    return made


def test_x19_five_thousand_hostile_queries_are_read_or_refused_and_never_anything_else() -> None:
    analysed = [AnalysedText(*text) for text in TEXTS]
    codes = list(languages())
    read = 0
    for number, text in enumerate(hostile(1, 5_000)):
        try:
            query = parse(text, codes[number % len(codes)])
        except QueryError as error:
            assert error.reason and 1 <= error.position <= len(text) + 1
            continue
        read += 1
        advice(query)
        for whole, (title, content) in zip(analysed, TEXTS, strict=True):
            if matches(query, whole):
                explain(query, (TextPart("title", title), TextPart("content", content)), whole)
    assert 500 < read < 4_500


async def test_x19_hostile_keywords_filter_or_are_refused_and_never_anything_else() -> None:
    event = Stored(Seq(1), SourceId("x"), Kind.FEED, b'{"title":"A new price","content":"e-post"}')
    texts = Texts()
    for text in hostile(2, 1_500):
        try:
            event_filter = event_filter_of((), (), (), (text,), texts, languages=("sv", "simple"))
        except Refusal as refusal:
            assert (refusal.slug, refusal.errors[0].location) == ("invalid-request", "query.keyword")
        else:
            await event_filter.admits(event)


def test_x19_hostile_standing_queries_are_found_by_the_index_exactly_when_they_match() -> None:
    queries = {}
    for number, text in enumerate(hostile(3, 1_500)):
        try:
            queries[str(number)] = parse(text, "sv")
        except QueryError:
            continue
    index = StandingQueries()
    for name, query in queries.items():
        index.add(name, query)
    for text in TEXTS:
        whole = AnalysedText(*text)
        assert sorted(index.match(whole, "")) == sorted(
            name for name, query in queries.items() if matches(query, whole)
        )


# --- work in proportion to the length -------------------------------------------------------------------------------


def calls_of(work: Callable[[], object]) -> int:
    """Return the number of calls, in Python and in C: a slow machine does not change it."""
    count = 0

    def tick(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def parsed(text: str) -> None:
    with suppress(QueryError):
        parse(text, "sv")


def long(piece: str, length: int) -> str:
    """Repeat a piece up to a length, counting `{n}` up."""
    parts, size = list[str](), 0
    while size < length:
        parts.append(piece.format(n=len(parts)))
        size += len(parts[-1])
    return "".join(parts)[:length]


LONG = {
    "ORs": "a{n} OR ",
    "words": "w{n} ",
    "parentheses": "(a ",
    "quotes": '"a b" ',
    "open quotes": '" ',
    "exclusions": "-a{n} ",
    "dashes": "-",
    "stars": "a*b",
    "glued": "a-",
    "dots": "1.",
    "apostrophes": "a'",
    "emoji": "👍🏽",
    "flags": "🇸",
    "marks": "\u0301",
    "hidden": "\u00ad",
    "cjk": "東京",
    "rtl": "\u202eא",
    "controls": "\x00a",
    "plus": "c++",
    "spaces": " ",
}


@pytest.mark.parametrize("piece", LONG.values(), ids=LONG)
def test_x10_a_query_costs_as_much_as_it_is_long_and_beyond_the_limits_nothing(piece: str) -> None:
    half, whole, beyond, far = (long(piece, length) for length in (1_900, 3_800, 5_000, 100_000))
    for text in (half, whole, half):
        parsed(text)  # fill the caches
    assert calls_of(partial(parsed, whole)) <= 2.5 * calls_of(partial(parsed, half)) + 100
    assert calls_of(partial(parsed, far)) == calls_of(partial(parsed, beyond)) < 100


@pytest.mark.parametrize("piece", LONG.values(), ids=LONG)
def test_x10_matching_costs_as_much_as_a_text_is_long(piece: str) -> None:
    queries = [parse(text, "sv") for text in ('"a b"', '"a a aa*"', "東京", "-(a1 OR a2)", '"1 1 1 1"', "pri*")]

    def match(text: str) -> None:
        whole = AnalysedText("", text)
        for query in queries:
            matches(query, whole)

    half, whole = long(piece, 10_000), long(piece, 20_000)
    for text in (half, whole, half):
        match(text)
    assert calls_of(partial(match, whole)) <= 2.5 * calls_of(partial(match, half)) + 100


@pytest.mark.real
@pytest.mark.parametrize("piece", LONG.values(), ids=LONG)
def test_x10_no_expression_of_ours_is_slow_on_100_kb(piece: str) -> None:
    """Regular expressions make no calls to count, so this measures time: quadratic work takes minutes."""
    text = long(piece, 100_000)
    took = _seconds(lambda: (parsed(text), AnalysedText(text, "").keys("simple")))
    assert took < 3


def _seconds(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
