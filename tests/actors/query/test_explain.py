from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.query import AnalysedText, Query, matches, parse
from actors.query.explain import (
    AROUND,
    LONGEST_EXCERPT,
    MOST_EXCERPTS,
    Explanation,
    PreviewRequest,
    advice,
    counted_terms,
    explain,
    preview,
)
from actors.query.parts import TextPart


def why(query: str, title: str = "", content: str = "", language: str = "en") -> Explanation:
    parsed = parse(query, language)
    assert matches(parsed, AnalysedText(title, content))
    return explained(parsed, title, content)


def explained(query: Query, title: str, content: str) -> Explanation:
    return explain(query, (TextPart("title", title), TextPart("content", content)), AnalysedText(title, content))


def marked(found: Explanation, title: str, content: str) -> list[str]:
    return [title[a:b] for a, b in found.title] + [content[a:b] for each in found.content for a, b in each.marks]


@pytest.mark.parametrize(
    ("query", "language", "content", "terms", "places"),
    [
        ("price", "en", "Pricing and the PRICES of plans", ["price"], ["Pricing", "PRICES"]),
        ("foreläggande", "sv", "Ett förelägganden", ["foreläggande"], ["förelägganden"]),
        ("affar", "sv", "en affär", ["affar"], ["affär"]),
        ("price OR ticket", "en", "a ticket", ["ticket"], ["ticket"]),
        ("(a OR b) c", "simple", "b c", ["b", "c"], ["b", "c"]),
        ("price -old", "en", "price", ["price"], ["price"]),
        ('"vice president"', "en", "Vice Presidents, vice or president", ['"vice president"'], ["Vice Presidents"]),
        ('"ny e-post idag"', "sv", "en ny epost idag", ['"ny e post idag"'], ["ny epost idag"]),
        ('"chief exec*"', "en", "the chief executive", ['"chief exec*"'], ["chief executive"]),
        ("exec*", "en", "executive exec", ["exec*"], ["executive", "exec"]),
        ("東京都", "simple", "東京都の天気", ["東京都"], ["東京都"]),
        ("京都 天気", "simple", "東京都の天気", ["京都", "天気"], ["京都", "天気"]),
        ("info@example.com", "en", "mail INFO@Example.com", ['"info example com"'], ["INFO@Example.com"]),
        ("C++", "en", "We use C++.", ["c++"], ["C++"]),
        ("👍", "en", "yes 👍🏽!", ["👍"], ["👍"]),
        ("Œuvre", "fr", "une oeuvre d’art", ["œuvre"], ["oeuvre"]),
        ("straße", "de", "die STRASSE", ["strasse"], ["STRASSE"]),
        ("a b", "simple", "a-b ab", ["a", "b"], ["a", "b"]),
        ("ab", "simple", "a-b", ["ab"], ["a-b"]),
    ],
)
def test_matches_are_marked_in_place(
    query: str, language: str, content: str, terms: list[str], places: list[str]
) -> None:
    found = why(query, content=content, language=language)
    assert (list(found.matched), marked(found, "", content)) == (terms, places)
    in_title = why(query, title=content, language=language)
    assert (marked(in_title, content, ""), in_title.content) == (places, ())


def test_title_and_content_are_marked_apart() -> None:
    found = why("price plan", "A price plan", "plan of price")
    assert found.title == ((2, 7), (8, 12))
    assert found.content[0].marks == ((0, 4), (8, 13))


def test_excerpts_are_around_the_first_marks_and_begin_at_a_word() -> None:
    content = " ".join(["needle", *["hay"] * 60, "needle needle", *["hay"] * 60, "needle", *["hay"] * 60, "needle"])
    found = why("needle", content=content)
    assert len(found.content) == MOST_EXCERPTS
    assert [len(each.marks) for each in found.content] == [1, 2, 1]
    for each in found.content:
        assert content[each.start : each.start + len(each.text)] == each.text
        assert each.start == 0 or content[each.start - 1] == " "
        assert each.marks[0][0] - each.start <= AROUND and len(each.text) <= LONGEST_EXCERPT


def test_a_match_without_words_shows_the_beginning() -> None:
    for query in ("", "-gone"):
        found = why(query, "A title", "x" * 1000)
        assert (found.matched, found.title) == ((), ())
        assert [(each.start, each.text, each.marks) for each in found.content] == [(0, "x" * 2 * AROUND, ())]
    assert why("", "A title", "").content == ()


TEXT = st.lists(
    st.sampled_from(
        ["price", "Prices", "e-post", "東京都", "Straße", "e\u0301te", "👍🏽", "1,000", "x" * 90, "\n", "C++"]
    )
).map(" ".join)
QUERY = st.sampled_from(
    ["price", "pri*", "epost OR 京都", "strasse OR été", '"price price"', "-price", "1000 OR C++", "👍"]
)


@settings(max_examples=200)
@given(TEXT, TEXT, QUERY)
def test_marks_are_inside_their_excerpts_in_order_and_cover_the_matched_words(
    title: str, content: str, query: str
) -> None:
    parsed = parse(query, "simple")
    text = AnalysedText(title, content)
    if not matches(parsed, text):
        return
    found = explained(parsed, title, content)
    for whole, marks, start, end in (
        (title, found.title, 0, len(title)),
        *((content, each.marks, each.start, each.start + len(each.text)) for each in found.content),
    ):
        places = [place for mark in marks for place in mark]
        assert places == sorted(places) and all(start <= place <= end for place in places)
        for a, b in marks:
            assert any(matches(parse(term, "simple"), AnalysedText(whole[a:b], "")) for term in found.matched), (
                whole[a:b],
                found.matched,
            )


# --- advice ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "everything matches"),
        ("-old", "only excludes"),
        ("-(a OR b) -c", "only excludes"),
        ("price OR -old", "alternative -old only excludes"),
        ("price -prices", "price can't match: -prices excludes"),
        ('"old car" -"old car"', '"old car" can\'t match'),
        ("x OR (a -a)", "a can't match"),
        ('a "price"', '"price" is one word once it has been read'),
        ('"e-post"', None),
        ("price or plan", "or is read as a word that must occur: if you mean the operator, write OR"),
        ("price not plan", "write NOT"),
        ('"this or that"', None),
        ("x" * 100, "only the first 64 characters count"),
        ("price plan", None),
        ("(price OR -old) plan", None),
        ("price -old", None),
    ],
)
def test_a_query_is_commented_on_in_words(query: str, says: str | None) -> None:
    found = advice(parse(query, "en"))
    assert found == [] if says is None else any(says in sentence for sentence in found)


# --- on events -------------------------------------------------------------------------------------------------------


def test_a_preview_counts_terms_and_explains_the_first_matches() -> None:
    bodies = tuple(
        b'{"title":"%b","content":"%b"}' % pair
        for pair in ((b"Price", b"one"), (b"plan", b""), (b"", b"new prices"), (b"old price", b"x"))
    )
    answer = preview(PreviewRequest("price -old", "en", bodies, 1))
    assert (answer.matched, answer.found_in) == ((0, 2), (3,))
    assert [each.title for each in answer.why] == [((0, 5),)]
    assert counted_terms("price -old plan price", "en") == ("price", "plan")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("price<300", [("after", "£289.00")]),
        ("price.before>=300", [("before", "£349.00")]),
        ("price.drop>=10%", [("after", "£289.00")]),
        ("price>300", [("added", "£999")]),
        ("label:Fares price<300", []),
    ],
)
def test_a_condition_marks_the_value_that_meets_it(query: str, found: list[tuple[str, str]]) -> None:
    """Not the old price of a page whose price has fallen below the bar."""
    diff = {
        "added": ["Gold kettle £999", "Care: £9990"],
        "removed": [],
        "changed": [{"before": "Price: £349.00", "after": "Price: £289.00"}],
    }
    money = {"type": "money", "unit": "GBP"}
    changes = [
        {
            "kind": "price",
            "label": "Price",
            "before": money | {"text": "£349.00", "number": 349},
            "after": money | {"text": "£289.00", "number": 289},
        },
        {"kind": "added", "label": "Gold kettle", "after": money | {"text": "£999", "number": 999}},
    ]
    event = {"title": "Kettles", "content": "x", "source_type": "html", "diff": diff, "changes": changes}
    for match in ("change", "page"):
        answer = preview(PreviewRequest(query, "en", (msgspec.json.encode(event),), 1, match))  # type: ignore[arg-type]
        assert bool(answer.matched) == bool(found)
        for why in answer.why if match == "change" else ():
            shown = [(one.part, one.excerpt.text[a:b]) for one in why.diff for a, b in one.excerpt.marks]
            assert [(name, text.split(": ")[-1]) for name, text in shown] == found
