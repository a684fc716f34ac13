from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from actors.content.wording.story import NewsItem, canonical_link, same_story
from tests.actors.content.wording.story_pairs import News, Pair, pairs

HELD_OUT = 20_261_128


def told_the_same(pair: Pair) -> bool:
    """Return whether the earlier piece's marks lead to the later piece, and the two count as one story."""
    one, other = NewsItem(*pair.one), NewsItem(*pair.other)
    return not set(one.marks()).isdisjoint(other.marks()) and same_story(one, other)


def rates(made: Sequence[Pair]) -> tuple[float, float, Counter[str]]:
    found = [(pair, told_the_same(pair)) for pair in made]
    right = sum(pair.same and told for pair, told in found)
    wrong = Counter(pair.how for pair, told in found if pair.same != told)
    return right / sum(told for _, told in found), right / sum(pair.same for pair in made), wrong


@pytest.mark.parametrize(("seed", "world"), [(1, 0), (2, 0), (HELD_OUT, 1), (HELD_OUT + 1, 1)])
def test_generated_pairs_of_one_story_are_found_and_no_others(seed: int, world: int) -> None:
    precision, recall, wrong = rates(pairs(seed, world))
    assert precision >= 0.98, wrong
    assert recall >= 0.90, wrong


def test_stories_match_whichever_clock_is_ahead() -> None:
    for pair in pairs(3, 0, 100):
        assert same_story(NewsItem(*pair.one), NewsItem(*pair.other)) == same_story(
            NewsItem(*pair.other), NewsItem(*pair.one)
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.example.org/a/?utm_source=rss", "http://example.org/a#comments"),
        ("https://m.example.org/a?b=1&a=2", "https://example.org/a/?a=2&b=1&fbclid=x"),
        ("https://example.org/a/index.html", "https://EXAMPLE.org/a"),
    ],
)
def test_spellings_of_one_link_are_one(one: str, other: str) -> None:
    assert canonical_link(one) == canonical_link(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a?id=1", "https://example.org/a?id=2"),
        ("https://example.org/log#v1", "https://example.org/log#v2"),
        ("https://example.org/A", "https://example.org/a"),
    ],
)
def test_two_links_stay_two(one: str, other: str) -> None:
    assert canonical_link(one) != canonical_link(other)


def test_the_front_page_of_a_site_and_a_broken_link_prove_nothing() -> None:
    assert canonical_link("https://example.org/?utm_source=x") == ""
    assert not any(mark >> 32 == 1 for mark in NewsItem("https://example.org/", "News", "Text").marks())
    assert canonical_link("https://[broken/a") == "https://[broken/a"


def test_entries_that_share_only_the_link_of_their_list_are_two() -> None:
    one = News(
        "https://example.org/list", "The museum opens again", "After two years of work the doors open on Friday."
    )
    other = News(
        "https://example.org/list", "Swimming hall closed", "A burst pipe keeps visitors out until further notice."
    )
    assert not same_story(NewsItem(*one), NewsItem(*other))
