"""Checks the statements of docs/alerts.md about the query language."""

from __future__ import annotations

import re

import pytest

from actors.query import AnalysedText, languages, matches, parse
from actors.query.syntax import MOST_CHARACTERS, MOST_NESTING, MOST_TERMS
from actors.query.words import LONGEST
from tests.rules.source_files import ROOT

PAGE = (ROOT / "docs/alerts.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| (\w+) \| (.+?) \| (.+?) \|$", PAGE, re.M)


@pytest.mark.parametrize(("query", "language", "finds", "not_this"), ROWS)
def test_each_row_of_the_table_is_true(query: str, language: str, finds: str, not_this: str) -> None:
    parsed = parse(query, language)
    assert matches(parsed, AnalysedText("", finds))
    assert not matches(parsed, AnalysedText("", not_this))


def test_the_table_is_there_and_every_language_is_named() -> None:
    assert len(ROWS) > 10
    (named,) = re.findall(r"^(ar ca .*)\.$", PAGE, re.M)
    assert named.split() == sorted(languages())


def test_the_limits_are_those_of_the_parser() -> None:
    for limit in (
        f"{MOST_CHARACTERS:,} characters",
        f"{MOST_TERMS} words",
        f"{MOST_NESTING} levels",
        f"first {LONGEST}",
    ):
        assert limit in PAGE
