"""Selectors of the lines of a text or of a table of characters: by how a line begins, else by its number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from actors.content.pages import selectors
from actors.content.pages.blocks import Blocks

_PREFIX: Final = re.compile(r"[^\d:=,;|\t]{2,40}[:=,;|\t]")
_SPOKEN: Final = re.compile(r"[^\W\d_]{2}")


class LineReaches:
    """The selectors of one text: see `picker.Reaches`."""

    def __init__(self, text: str, blocks: Blocks) -> None:
        self._lines = text.lstrip("\ufeff").splitlines()
        self.blocks = blocks
        self._spans = tuple(_spans(self._lines, blocks.texts))

    def this(self, at: int, kind: str | None = None, *, whole: bool = False) -> str:
        first, last = self._spans[at]
        if not first:
            return ""
        prefix = _PREFIX.match(self._lines[first - 1])
        if first == last and prefix and _SPOKEN.search(prefix[0]):
            selector = f"re:^{re.escape(prefix[0])}"
            if self.chosen(selector) == {at}:
                return selector
        return f"lines:{first}" if first == last else f"lines:{first}-{last}"

    def like(self, at: int, kind: str | None = None) -> str:
        return ""

    def part(self, at: int, kind: str | None = None) -> str:
        """Return the lines around a block, as far as the next empty one."""
        first, last = self._spans[at]
        if not first:
            return ""
        start, end = first, last
        while start > 1 and self._lines[start - 2].strip():
            start -= 1
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        return f"lines:{start}-{end}" if (start, end) != (first, last) else ""

    def chosen(self, selector: str) -> frozenset[int]:
        test = selectors.line_test(selector)
        hit = frozenset(number for number, line in enumerate(self._lines, 1) if test(number, line) is not None)
        return frozenset(
            at for at, (first, last) in enumerate(self._spans) if first and hit.issuperset(range(first, last + 1))
        )

    def link(self, at: int) -> str | None:
        return None


def _spans(lines: list[str], texts: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each block, from 1; (0, 0) for one whose lines are not found again."""
    at = 0
    for text in texts:
        wanted = _letters(text)
        start = next((n for n in range(at, len(lines)) if _begins(wanted, lines[n])), None)
        if start is None:
            yield 0, 0
            continue
        end, said = start, _letters(lines[start])
        while len(said) < len(wanted) and end + 1 < len(lines):
            end += 1
            said += _letters(lines[end])
        at = end + 1
        yield (start + 1, end + 1) if said.startswith(wanted) else (0, 0)


def _begins(wanted: str, line: str) -> bool:
    letters = _letters(line)
    return bool(letters) and (wanted.startswith(letters) or letters.startswith(wanted))


def _letters(text: str) -> str:
    """Return what is left of a text without space and the signs that lay a table out."""
    return re.sub(r"[\s\"',;|]+", "", text)
