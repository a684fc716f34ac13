"""The page on architecture shows the folders that there are."""

from __future__ import annotations

from tests.rules.tree import drawn, written


def test_the_tree_on_the_page_is_the_one_of_the_code() -> None:
    assert written() == drawn(), "python -m tests.rules.tree writes it anew"
