"""The fenced code blocks of the documents, each with its language."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tests.rules.source_files import ROOT, name_of

PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "clients").glob("*/README.md")),
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_INDENTED = re.compile(r"\n\n(?: {4,}|\t).*\n")


class Block(NamedTuple):
    """page: path in the project; line: of the opening fence."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def blocks() -> tuple[Block, ...]:
    return tuple(block for page in PAGES for block in _blocks(name_of(page), page.read_text("utf-8")))


def of(page: str, *languages: str) -> list[Block]:
    """Return the blocks of a page in these languages."""
    return [block for block in blocks() if block.page == page and block.language in languages]


def the(page: str, language: str, begins: str = "") -> str:
    """Return the text of the only block of a page in this language that begins with `begins`."""
    (found,) = [block.text for block in of(page, language) if block.text.startswith(begins)]
    return found


def indented(text: str) -> list[str]:
    """Return the lines that Markdown reads as an unfenced block: it has no language, so no test finds it."""
    outside = _FENCE.sub(lambda found: "x\n" * found[0].count("\n"), text)
    return [found[0].strip() for found in _INDENTED.finditer(outside)]


def _blocks(page: str, text: str) -> list[Block]:
    return [Block(page, text.count("\n", 0, found.start()) + 1, *found.groups()) for found in _FENCE.finditer(text)]
