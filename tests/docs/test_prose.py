"""The manual, the screens and the code's docstrings read as plain English: few constructions that slow a reader down.

A rule finds a form, not a fault: a sentence with one can be right. So each place has a ceiling, in findings per 1,000
words, and a ceiling only falls. `python -m tests.docs.test_prose PATH` prints the sentences that count.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.rules.source_files import ROOT

RULES = {
    "clause as a noun": r"\bwhat(?:ever)? (?:(?:is|was|are|were|has|had|it|they|you|an?|the|this|that)\b|[a-z]+s\b)",
    "person for a program": r"\b(?:whoever|whom|who (?:is|was|has|may|can|(?:ask|read|send|wait|look|want)s?))\b",
    "told": r"\b(?:is|are|was|were|be|been|not|never) told\b|\btells? (?:of|that)\b|\btold (?:of|that|as|once)\b",
    "look as a noun": r"\b(?:a|an|the|each|every|next|last|first|no|of|\d+) looks?\b(?! (?:at|like))",
    "preposition and pronoun": r"\b(?:by|of|from|to|in|on|for|with) (?:which|whom|whose|what)\b",
    "said": r"\b(?:is|are) said\b|\bsays? so\b|\bin words\b|\bas such\b",
    "old adverb": r"\b(?:anew|meanwhile|thereby|hence|herein|therein|thereof|lest|beside|of its own)\b",
    "stands, lies, goes on": r"\b(?:stands?|stood|lies|lay) (?:in|on|there|below|above)\b|\b(?:goes|went) on\b",
    "nobody for nothing": r"\b(?:nobody|somebody|everybody)\b",
}
_RULES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in RULES.items()}
CEILINGS = {
    "README.md": 0.0,
    "CHANGELOG.md": 0.0,
    "CONTRIBUTING.md": 0.0,
    "SECURITY.md": 0.0,
    "docs*.md": 1.0,
    "api/dashboard/templates*.html": 0.0,
    "extras*.html": 0.0,
    "supervision*.md": 0.0,
    "supervision*.py": 0.3,
    "storage*.py": 0.4,
    "actors*.py": 0.6,
    "api*.py": 0.1,
    "sanderling*.py": 0.2,
    "extras*.py": 1.1,
    "bench*.py": 1.6,
    "tests*.py": 0.2,
}
"""Findings per 1,000 words at most: Markdown, templates, and the docstrings and comments of Python files."""
SLACK = 0.5


def prose_of(path: Path) -> str:
    """Return the sentences of a file, without code."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return "\n\n".join([*_docstrings(ast.parse(text)), *_comments(text)])
    if path.suffix == ".html":
        text = re.sub(r"<(script|style).*?</\1>|\{#.*?#\}|\{%.*?%\}", "\n", text, flags=re.DOTALL)
        return re.sub(r"<[^>]*>", "\n", re.sub(r"\{\{.*?\}\}", "X", text, flags=re.DOTALL))
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`]*`", "X", re.sub(r"\]\([^)]*\)", "]", text)).replace("|", "\n")


def _docstrings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


_STRING_OR_COMMENT = re.compile(
    r"(?s:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|(#[^\n]*)"
)


def _comments(text: str) -> Iterator[str]:
    for token in _STRING_OR_COMMENT.finditer(text):
        if token[1] and not re.match(r"#\s*(?:noqa|type:)", token[1]):
            yield token[1].lstrip("# ")


def found(text: str) -> list[tuple[str, str]]:
    """Return (rule, sentence) of each construction."""
    sentences = (" ".join(part.split()) for part in re.split(r"(?<=[.!?:])\s+|\n\n", text))
    return [(name, each) for each in sentences for name, rule in _RULES.items() for _ in rule.finditer(each)]


def rate(paths: Iterable[Path]) -> float:
    """Return the constructions per 1,000 words."""
    texts = [prose_of(path) for path in paths]
    words = sum(len(re.findall(r"[A-Za-z']+", text)) for text in texts)
    return 1000 * sum(len(found(text)) for text in texts) / max(1, words)


def files_of(place: str) -> list[Path]:
    top, _, suffix = place.partition("*")
    path = ROOT / top
    return sorted(path.rglob(f"*{suffix}")) if path.is_dir() else [path]


@pytest.mark.parametrize("place", CEILINGS)
def test_a_place_reads_as_plainly_as_before(place: str) -> None:
    paths = files_of(place)
    assert paths
    now = rate(paths)
    assert now <= CEILINGS[place], f"python -m tests.docs.test_prose {place.partition('*')[0]}"
    assert now > CEILINGS[place] - SLACK or not now, f"lower the ceiling to {now:.1f}"


def test_the_rules_find_their_examples() -> None:
    before = "What a look found is told once; whoever asks anew hears of it, and nobody is said to have asked before."
    assert {name for name, _ in found(before)} == {
        "clause as a noun",
        "look as a noun",
        "told",
        "person for a program",
        "old adverb",
        "nobody for nothing",
        "said",
    }
    assert found("Sanderling reports each change once. A later request gets the same answer.") == []


if __name__ == "__main__":
    for given in map(Path, sys.argv[1:]):
        paths = [path for suffix in ("md", "py", "html") for path in given.rglob(f"*.{suffix}")]
        for path in paths if given.is_dir() else [given]:
            for name, sentence in found(prose_of(path)):
                print(f"{path}: {name}: {sentence[:200]}")
