"""docs/decisions: each page has a title, a status, a condition to reopen it, and one place in the index."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.rules.source_files import ROOT

FOLDER = ROOT / "docs/decisions"
PAGES = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md"}
INDEX = (FOLDER / "README.md").read_text("utf-8")
MOST = 50
"""Pages. Beyond that, merge two, or move a detail of one file into its docstring."""
MOST_WORDS = 320
"""Words of one page."""
TITLE = re.compile(r"# [A-Z][\w -]{1,34}\n\n")
STATUS = re.compile(r"^Status: (?:accepted|replaced by \[[^]]+\]\(([\w-]+\.md)\)), \d{4}-\d\d-\d\d$", re.MULTILINE)
REOPEN = re.compile(r"^\*\*Reopen when\*\* \S[^*]{20,}\.\n\Z", re.MULTILINE)


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def test_there_are_few_enough_to_read() -> None:
    assert 0 < len(PAGES) <= MOST


def test_the_index_names_each_page_once_and_by_its_title() -> None:
    linked = re.findall(r"^- \[([^]]+)\]\(([\w-]+\.md)\)", INDEX, re.MULTILINE)
    assert Counter(linked) == Counter((title_of(text), name) for name, text in PAGES.items())
    assert len(re.findall(r"\]\(", INDEX)) == len(linked)


def test_every_topic_of_the_index_has_pages_in_the_order_of_their_titles() -> None:
    topics = INDEX.split("\n## ")[1:]
    titles = [re.findall(r"^- \[([^]]+)\]", topic, re.MULTILINE) for topic in topics]
    assert len(titles) > 5
    assert [names for names in titles if not names or names != sorted(names, key=str.lower)] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_noun_as_title_and_a_status(name: str) -> None:
    text = PAGES[name]
    assert TITLE.match(text), "the title is a short noun"
    status = STATUS.findall(text)
    assert len(status) == 1, "one line such as: Status: accepted, 2026-11-21"
    assert status[0] in ("", *PAGES), "its successor is a page of this folder"
    assert len(REOPEN.findall(text)) == text.count("Reopen when") == 1, "the page ends with its **Reopen when**"
    assert "**Decision" in text
    assert len(text.split()) <= MOST_WORDS


def test_titles_differ() -> None:
    titles = Counter(title_of(text) for text in PAGES.values())
    assert [title for title, count in titles.items() if count > 1] == []
