"""Alerts on a change, on one side of it, or on the whole page."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from actors.matcher import StandingQueries
from actors.query import EventView, Match, Texts, decode_event, matches, parse
from actors.query.explain import PreviewRequest, explain, preview
from actors.query.parts import parts_of, text_of
from storage.records.alert import Matching


def a_change(title: str = "Acme", content: str = "the whole page", **diff: Any) -> EventView:
    whole = {"added": (), "removed": (), "changed": (), **diff}
    return msgspec.convert(
        {"title": title, "content": content, "source_type": "html", "diff": whole}, EventView, from_attributes=True
    )


def met(told: EventView, query: str, match: Match, language: str = "en") -> bool:
    """Return whether a query matches; the index and the query alone must agree."""
    parsed, text = parse(query, language), Texts(told).of(match)
    index = StandingQueries()
    index.add("it", parsed)
    found = matches(parsed, text)
    assert index.match(text, "source") == ["it"] * found
    return found


def modes(told: EventView, query: str, language: str = "en") -> list[Match]:
    return [match for match in get_args(Match) if met(told, query, match, language)]


CHANGE = a_change(
    content="arbitration and ticket prices, from 6 kr",
    added=("New arbitration clause",),
    removed=("Winter opening hours",),
    changed=({"before": "Ticket from 5 kr", "after": "Ticket from 6 kr"},),
)


def test_the_storage_and_the_queries_know_the_same_choices() -> None:
    assert get_args(Match) == get_args(Matching)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("arbitration", ["change", "added", "page"]),  # it was added
        ("winter", ["change", "removed"]),  # it was removed
        ("6", ["change", "added", "page"]),
        ("5", ["change", "removed"]),
        ("ticket", ["change", "page"]),  # it is on both sides of an altered block
        ("prices", ["page"]),  # it is on the page and did not change
        ("acme", ["change", "page"]),  # the title alone did not change
        ("acme arbitration", ["change", "added", "page"]),
        ("acme winter", ["change", "removed"]),
        ("acme OR winter", ["change", "removed", "page"]),
        ("arbitr*", ["change", "added", "page"]),
        ("tick*", ["change", "page"]),
        ("", ["change", "added", "removed", "page"]),
        ("-nothing", ["change", "added", "removed", "page"]),
        ("arbitration -winter", ["added", "page"]),  # an exclusion reads the same texts as the query
        ("arbitration -ticket", ["added"]),
        ("arbitration -acme", []),
        ("-acme", []),
        ('"from 6"', ["change", "added", "page"]),  # a phrase is added with any of its words
        ('"ticket from"', ["change"]),
        ("(acme 5) OR (ticket arbitration)", ["change", "removed", "page"]),
    ],
)
def test_a_query_matches_in_its_own_part_only(query: str, expected: list[str]) -> None:
    assert modes(CHANGE, query) == expected


def test_a_phrase_does_not_run_from_one_block_into_another_nor_from_one_side_into_the_other() -> None:
    told = a_change(
        "Acme", added=("vice", "president one"), removed=("two opening",), changed=({"before": "hours", "after": "x"},)
    )
    for query in ('"vice president"', '"acme vice"', '"one two"', '"opening hours"', '"hours x"'):
        assert modes(told, query) == [], query
    assert modes(told, '"president one"') == ["change", "added"]


def test_an_empty_side_matches_no_query() -> None:
    told = a_change(added=("price",))
    assert modes(told, "") == ["change", "added", "page"]
    assert not met(told, "-winter", "removed")
    assert not met(a_change(changed=({"before": "gone", "after": " "},)), "", "added")


def test_the_content_replaces_a_truncated_diff() -> None:
    told = a_change(content="far below: price", added=("one",), removed=("two",), truncated=True)
    assert modes(told, "price") == ["change", "added", "page"]


@pytest.mark.parametrize("source_type", ["feed", "push", "html"])
def test_an_event_without_diff_is_matched_by_title_and_content(source_type: str) -> None:
    told = EventView(title="Acme", content="a price", source_type=source_type)
    assert modes(told, "acme price") == list(get_args(Match))


def test_each_text_is_built_once_and_one_text_serves_all_parts_without_a_diff() -> None:
    texts = Texts(CHANGE)
    assert texts.of("change") is texts.of("change") is not texts.of("page")
    plain = Texts(EventView(title="a", content="b"))
    assert len({id(plain.of(match)) for match in get_args(Match)}) == 1


@pytest.mark.parametrize(
    ("language", "query", "before", "after", "expected"),
    [
        ("sv", "föreläggande", "Ett beslut", "Ett beslut och två förelägganden", ["change", "added"]),
        ("sv", "föreläggande", "Ett föreläggande", "Två FÖRELÄGGANDEN", ["change"]),  # the same word in another form
        ("sv", "epost", "Ny e-post i dag", "Nytt brev i dag", ["change", "removed"]),
        ("ja", "京都", "東京の天気", "京都の天気", ["change", "added"]),
        ("ja", "天気", "東京の天気", "京都の天気", ["change"]),
        ("simple", "京都", "東京の天気", "東京都の天気", ["change", "added"]),
    ],
)
def test_added_and_removed_words_are_compared_in_the_alerts_language(
    language: str, query: str, before: str, after: str, expected: list[str]
) -> None:
    code = "simple" if language == "ja" else language
    assert modes(a_change(changed=({"before": before, "after": after},)), query, code) == expected


def test_fields_that_are_not_known_are_skipped_and_missing_ones_are_empty() -> None:
    body = b'{"title":"t","source_type":"html","spans":[1],"diff":{"added":["a"],"changed":[{"after":"b","at":3}]}}'
    assert modes(decode_event(body), "a b") == ["change", "added"]
    assert modes(decode_event(b"{}"), "") == list(get_args(Match))


# --- its place -------------------------------------------------------------------------------------------------------


def why(query: str, match: Match) -> list[tuple[str, int, list[str]]]:
    found = explain(parse(query, "en"), parts_of(CHANGE, match), text_of(CHANGE, match))
    texts = {(part.name, part.place): part.text for part in parts_of(CHANGE, match)}
    rows = [("title", 0, ["Acme"[a:b] for a, b in found.title])] if found.title else []
    rows += [("content", 0, [CHANGE.content[a:b] for a, b in one.marks]) for one in found.content]
    for one in found.diff:
        rows.append((one.part, one.index, [texts[one.part, one.index][a:b] for a, b in one.excerpt.marks]))
    return rows


def test_marks_say_in_which_part_of_the_diff_they_are() -> None:
    assert why("acme OR ticket OR winter", "change") == [
        ("title", 0, ["Acme"]),
        ("removed", 0, ["Winter"]),
        ("before", 0, ["Ticket"]),
        ("after", 0, ["Ticket"]),
    ]
    assert why('arbitration OR "from 6" OR ticket', "added") == [
        ("added", 0, ["arbitration"]),
        ("after", 0, ["from 6"]),
    ]
    assert why("ticket", "page") == [("content", 0, ["ticket"])]


def test_a_match_without_words_shows_the_changes_first_text() -> None:
    assert why("", "change") == [("added", 0, [])]
    assert why("-x", "removed") == [("removed", 0, [])]


def test_a_preview_counts_and_explains_the_alerts_parts() -> None:
    page = {"title": "Acme", "content": "price", "source_type": "html"}
    bodies = tuple(
        msgspec.json.encode(page | {"diff": {"added": added, "removed": [], "changed": []}})
        for added in (["a price"], ["opening hours"])
    )
    for match, places, counted in (("change", (0,), (1,)), ("page", (0, 1), (2,)), ("removed", (), (0,))):
        answer = preview(PreviewRequest("price", "en", bodies, 5, match))
        assert (answer.matched, answer.found_in) == (places, counted)
