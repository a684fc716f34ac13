from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.query import QueryError, UnknownLanguage, languages, parse


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("", ""),
        (" \n", ""),
        ("pricing plan", "pricing plan"),
        ("a AND b", "a b"),
        ("a b OR c", "a b OR c"),
        ("(a OR b) c", "(a OR b) c"),
        ("a OR (b OR c)", "a OR (b OR c)"),
        ("((a))", "a"),
        ('"chief executive" OR CEO', '"chief executive" OR ceo'),
        ("“vice president”", '"vice president"'),
        ('"one"', "one"),
        ("-old NOT worn", "-old -worn"),
        ('-"old car" −(a OR b)', '-"old car" -(a OR b)'),
        ("(a)(b)-c", "a b -c"),
        ("(a)(b) -c", "a b -c"),
        ("Förel*", "forel*"),
        ('"chief exec*"', '"chief exec*"'),
        ("or and not", "or and not"),
        ('"OR"', "or"),
        ("info@example.com", '"info example com"'),
        ("C++ .NET 3,14", "c++ .net 3.14"),
        ("🇸🇪 👩‍💻", '🇸🇪 "👩 💻"'),
    ],
)
def test_a_query_is_understood_as_written(text: str, understood: str) -> None:
    assert str(parse(text, "simple")) == understood


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("pricing OR", 10, "ends before the expected word"),
        ("OR pricing", 0, "OR needs a word before and after"),
        ("a OR OR b", 5, "OR needs a word"),
        ("a AND", 5, "ends before the expected word"),
        ("a (b c", 2, "( is not closed"),
        ("a) b", 1, "closes nothing"),
        ("a () b", 2, "these parentheses are empty"),
        ("(a OR )", 6, "no word before this )"),
        ('say "hello', 4, "quotation mark is not closed"),
        ('a ""', 2, "no searchable word"),
        ("a - b", 2, "right before the excluded word"),
        ("a --b", 2, "right before the excluded word"),
        ("R & D", 2, "already means AND"),
        ("a | b", 2, "write OR"),
        ("price < 300", 6, "a condition has no spaces, as in price<300"),
        ("a !!!", 2, "no letter, digit or emoji"),
        ("wild*card", 0, "can only end a word"),
        ("x a*", 2, "at least 2 letters"),
        ("x *", 2, "no searchable word"),
        ("a" * 4097, 4096, "4096 characters, not 4097"),
        ("a " * 256 + "b", 512, "at most 256 words"),
        ("(" * 33 + "a" + ")" * 33, 32, "parentheses nest at most 32 deep"),
    ],
)
def test_a_syntax_error_names_the_problem_and_the_position(text: str, position: int, says: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text, "en")
    assert says in caught.value.reason
    assert caught.value.position == position + 1  # from 1, as in a selector
    assert f"(at character {position + 1})" in str(caught.value)


def test_the_limits_themselves_are_within_the_limits() -> None:
    assert str(parse("(" * 32 + "a" + ")" * 32, "en")) == str(parse("a", "en"))
    widest = str(parse(" OR ".join(f"w{n}" for n in range(256)), "en"))
    assert all(f"w{n}" in widest for n in range(256))


def test_an_unknown_language_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(UnknownLanguage, match=r"'xx'.*sv"):
        parse("a", "xx")


@pytest.mark.parametrize("code", list(languages()))
def test_every_language_parses_and_finds_its_own_words(code: str) -> None:
    assert parse("alpha beta", code).language == code


@given(
    st.text(st.sampled_from('ab*-() "“”ORANDT.,\u0301\ud800東👍\x00'), max_size=40), st.sampled_from(["sv", "simple"])
)
def test_any_text_is_a_query_or_an_error_inside_it(text: str, code: str) -> None:
    try:
        str(parse(text, code))
    except QueryError as error:
        assert 1 <= error.position <= len(text) + 1


def test_a_word_with_a_hyphen_is_printed_so_that_it_parses_back() -> None:
    for typed, shown in (("e-post", '"e-post"'), ('"ny e-post idag"', '"ny e-post idag"'), ("U.S.", '"u-s"')):
        query = parse(typed, "sv")
        assert str(query) == shown
        assert parse(shown, "sv").root == query.root
