from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors import matcher as matcher_index
from actors.matcher import NARROW, StandingQueries
from actors.query import AnalysedText, EventSide, matches, parse
from actors.query.parts import holds

WORD = st.sampled_from(
    ["price", "plan", "planer", "förslag", "forslag", "e-post", "epost", "東京", "東京都", "c++", "ny"]
)
LEAF = st.one_of(
    WORD,
    WORD.map(lambda word: f"-{word}"),
    st.lists(WORD, min_size=1, max_size=3).map(lambda words: '"' + " ".join(words) + '"'),
    st.sampled_from(["pl*", "fors*", "ep*", "-pr*", '"ny e-po*"']),
)
QUERY = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: "(" + " ".join(parts) + ")"),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: "(" + " OR ".join(parts) + ")"),
        inner.map(lambda part: f"-({part})"),
    ),
    max_leaves=6,
) | st.just("")
TEXT = st.lists(WORD, max_size=6).map(" ".join)
SOURCES = st.sampled_from([(), ("a",), ("b",), ("a", "b"), ("b", *map(str, range(NARROW)))])
TAGS = st.sampled_from([(), ("t:1",), ("t:1", "t:2"), ("t:3", *(f"t:x{n}" for n in range(NARROW)))])
SCOPES = st.builds(lambda sources, tags: (*sources, *tags), SOURCES, TAGS)
ALERTS = st.lists(st.tuples(QUERY, st.sampled_from(["sv", "en", "simple"]), SCOPES), max_size=8)


@settings(max_examples=300, deadline=None)
@given(ALERTS, st.lists(TEXT, min_size=1, max_size=4), st.data())
def test_the_index_finds_the_same_as_a_scan_of_all_queries(
    alerts: list[tuple[str, str, tuple[str, ...]]], texts: list[str], data: st.DataObject
) -> None:
    """Removed queries and reused ids leave nothing behind."""
    index = StandingQueries()
    live: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    for number, alert in enumerate(alerts):
        id = f"alert {number % 5}"
        live.pop(id, None)
        live[id] = alert
        index.add(id, parse(alert[0], alert[1]), alert[2])
        if data.draw(st.booleans()):
            gone = data.draw(st.sampled_from([*live]))
            del live[gone]
            index.remove(gone)
        for text in texts:
            analysed = AnalysedText(text, "")
            for source, *tags in (("a",), ("b", "t:1"), ("c", "t:2", "t:3", "t:4"), ("c",)):
                naive = [
                    id
                    for id, (query, language, scopes) in live.items()
                    if (not scopes or {source, *tags} & {*scopes})
                    and matches(parse(query, language), AnalysedText(text, ""))
                ]
                assert sorted(index.match(analysed, source, tags)) == sorted(naive)
    assert len(index) == len(live)


def test_many_queries_over_few_words_are_found_whatever_their_form_and_anchors() -> None:
    """Rows are long, so that queries move to rarer words; anchors, partners, exclusions and scopes occur together."""
    chance = random.Random(5)
    vocabulary = [*"abcd", "affär", "affar", "e-f", "aff"]

    def part(depth: int) -> str:
        word = chance.choice(vocabulary)
        if depth and chance.random() < 0.5:
            return "(" + chance.choice((" ", " OR ")).join(part(depth - 1) for _ in range(chance.randint(2, 3))) + ")"
        return chance.choice((word, word, f"-{word}", f'"{word} {chance.choice(vocabulary)}"', "af*"))

    def query() -> str:
        return chance.choice((" ", " OR ")).join(part(2) for _ in range(chance.randint(1, 3)))

    wide = [f"s{number}" for number in range(NARROW + 1)]
    alerts = {
        str(number): (
            parse(query(), chance.choice(("sv", "simple"))),
            chance.choice(((), (), ("s1",), ("s1", "t:1"), wide)),
        )
        for number in range(300)
    }
    index = StandingQueries()
    for id, alert in alerts.items():
        index.add(id, *alert)
    for _ in range(25):
        words = chance.choices(vocabulary, range(1, len(vocabulary) + 1), k=chance.randint(1, 12))
        text, scopes = " ".join(words), chance.choice((("s1",), ("s1", "t:1"), ("other", "t:1"), ("other",)))
        for analysed in (AnalysedText(text, ""), EventSide("a", [(text, None), ("b c", "c d")])):
            expected = [
                id
                for id, (query, bound) in alerts.items()
                if (not bound or not {*scopes}.isdisjoint(bound)) and matches(query, analysed)
            ]
            assert sorted(index.match(analysed, *scopes[:1], scopes[1:])) == sorted(expected)


@pytest.mark.parametrize(("text", "found"), [("one", []), ("one three", ["it"]), ("two", ["it"]), ("three", [])])
def test_groups_that_share_a_word_are_both_checked(text: str, found: list[str]) -> None:
    index = StandingQueries()
    index.add("it", parse("(one OR two) (two OR three)", "simple"))
    assert index.match(AnalysedText(text, ""), "source") == found


def test_an_emptied_index_holds_nothing() -> None:
    index = StandingQueries()
    for number, query in enumerate(['a "b c" -d', "x OR yz*", "", "-q"]):
        index.add(str(number), parse(query, "sv"), ("source",) if number % 2 else ())
    for number in range(5):
        index.remove(str(number))
    assert (len(index), index._tables) == (0, {})


def test_an_event_meets_only_the_queries_that_could_match_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand alerts share a word; the index notices that it is common and files them under their other words."""
    evaluated = 0

    def counting(*args: Any) -> bool:
        nonlocal evaluated
        evaluated += 1
        return holds(*args)

    monkeypatch.setattr(matcher_index, "holds", counting)
    index = StandingQueries()
    for number in range(1_000):
        index.add(str(number), parse(f'commonword (r{number} OR "s{number} t")', "simple"))
    index.match(AnalysedText("commonword", ""), "s")
    assert evaluated == 1_000
    for _ in range(100):
        index.match(AnalysedText("commonword", ""), "s")
    evaluated = 0
    assert index.match(AnalysedText("a commonword r77 text", ""), "s") == ["77"]
    assert evaluated == 1


def test_an_alert_bound_to_sources_costs_nothing_on_others() -> None:
    index = StandingQueries()
    index.add("bound", parse("", "sv"), ("a",))
    assert index.match(AnalysedText("x", ""), "a") == ["bound"]
    assert index.match(AnalysedText("x", ""), "b") == []


def test_words_on_both_sides_of_a_change_match_neither() -> None:
    index = StandingQueries()
    queries = ("price", "nine", "price nine", "title", "pri*", '"price nine"')
    for query in queries:
        index.add(query, parse(query, "simple"))
    came = EventSide("the title", [("price nine", "price eight")])
    found = set(index.match(came, "s"))
    assert found == {query for query in queries if matches(parse(query, "simple"), came)}
    assert found == {'"price nine"', "nine"}
