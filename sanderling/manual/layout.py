"""Markdown as a terminal shows it: headings, wrapped paragraphs, lists, code as it is, tables in columns. Pure.

It reads what our own pages use, and lets anything else stand as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from sanderling.rendering import cells

# A style is a private character before and after each word, so that words can be measured and moved with theirs.
STYLES = {"\ue000": "\x1b[1m", "\ue001": "\x1b[36m", "\ue002": "\x1b[0m"}
STRONG, CODE, PLAIN = STYLES
MARKS = re.compile(f"[{STRONG}{CODE}{PLAIN}]")

SPAN = re.compile(
    r"(`+)(?P<code>.+?)\1|!\[(?P<alt>[^]]*)\]\([^)]*\)|\[(?P<text>[^]]+)\]\((?P<to>[^)]+)\)"
    r"|\*\*(?P<bold>.+?)\*\*|(?<![\w*])\*(?P<stressed>[^*\s][^*]*)\*(?![\w*])"
)
ITEM = re.compile(r"^( *)([-*]|\d+\.) +")
RULE = re.compile(r"^\|?[\s:|-]+\|?$")
BREAK = re.compile(r"<br */?>")
NARROWEST = 8
"""Cells: a table's column is not made narrower than this."""
GAP = "  "


@dataclass(frozen=True, slots=True)
class Look:
    """How wide the terminal is, in cells, and whether it shows colour."""

    width: int = 80
    colour: bool = False


def lines(markdown: str, look: Look) -> Iterator[str]:
    """Yield a page line by line."""
    blocks = list(_blocks(markdown))
    for number, block in enumerate(blocks):
        if number and not (ITEM.match(block[0]) and ITEM.match(blocks[number - 1][0])):
            yield ""
        for line in _set(block, look):
            yield _painted(line, colour=look.colour)


def inline(text: str) -> str:
    """Return a line's words with styles as marks; links say where they lead."""
    return SPAN.sub(_span, text)


def title_of(markdown: str) -> str:
    """Return the first heading, as plain words."""
    found = re.search(r"^# +(.+)$", markdown, re.MULTILINE)
    return MARKS.sub("", inline(found.group(1))) if found else ""


def _blocks(markdown: str) -> Iterator[list[str]]:
    """Yield headings, fences with their content, tables, items and paragraphs; each is at least a line."""
    block: list[str] = []
    fenced = False
    for line in markdown.splitlines():
        if line.lstrip().startswith("```"):
            if not fenced and block:
                yield block
                block = []
            fenced = not fenced
            block.append(line)
            if not fenced:
                yield block
                block = []
        elif fenced:
            block.append(line)
        elif not line.strip() or line.startswith("#") or ITEM.match(line) or _another_kind(block, line):
            if block:
                yield block
            block = [line] if line.strip() else []
            if line.startswith("#"):
                yield block
                block = []
        else:
            block.append(line)
    if block:
        yield block


def _another_kind(block: Sequence[str], line: str) -> bool:
    return bool(block) and (block[-1].startswith("|") != line.startswith("|"))


def _set(block: Sequence[str], look: Look) -> Iterator[str]:
    """Yield the lines of one block, with marks."""
    first = block[0]
    if first.startswith("#"):
        level, _, words = first.partition(" ")
        text = MARKS.sub("", inline(words))
        yield _styled(STRONG, text.upper() if len(level) == 1 else text)
    elif first.lstrip().startswith("```"):
        yield from (f"    {line}" for line in block[1:-1])
    elif first.startswith("|"):
        yield from _table(block, look.width)
    elif first.startswith("    "):
        yield from block
    elif item := ITEM.match(first):
        before = f"{item.group(1)}{item.group(2)} "
        yield from _wrapped(" ".join([first[item.end() :], *block[1:]]), look.width, before, " " * len(before))
    else:
        yield from _wrapped(" ".join(block), look.width)


def _wrapped(text: str, width: int, before: str = "", rest: str = "") -> Iterator[str]:
    yield from (f"{rest if number else before}{line}" for number, line in enumerate(_fill(text, width - len(rest))))


def _fill(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` cells; a word that is longer has a line of its own."""
    found: list[str] = []
    line = ""
    for word in inline(text).split():
        longer = f"{line} {word}" if line else word
        if line and _cells(longer) > width:
            found.append(line)
            line = word
        else:
            line = longer
    return [*found, line]


def _table(block: Sequence[str], width: int) -> Iterator[str]:
    """Yield a table in columns; cells that are too long are wrapped in theirs."""
    rows = [_row(line) for line in block if not RULE.match(line)]
    columns = max(len(row) for row in rows)
    rows = [row + [""] * (columns - len(row)) for row in rows]
    widths = _widths(rows, width - len(GAP) * (columns - 1))
    for number, row in enumerate(rows):
        if not number and not any(row):
            continue
        parts = [_parts(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        for together in zip_longest(*parts, fillvalue=""):
            line = GAP.join(text + " " * (wide - _cells(text)) for text, wide in zip(together, widths, strict=True))
            yield line.rstrip()
        if not number:
            yield GAP.join("-" * wide for wide in widths).rstrip()


def _row(line: str) -> list[str]:
    """Return a row's cells; a bar in code, or after a backslash, does not part them."""
    inner = re.sub(r"`[^`]*`", lambda code: code.group().replace("|", "\0"), line.strip().strip("|"))
    return [cell.replace("\0", "|").strip() for cell in inner.replace("\\|", "\0").split("|")]


def _parts(cell: str, width: int) -> list[str]:
    return [line for part in BREAK.split(cell) for line in _fill(part, width)]


def _widths(rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return each column's width: what it needs, and when there is less room, the widest ones give."""
    wide = [max(_cells(inline(part)) for row in rows for part in BREAK.split(row[n])) for n in range(len(rows[0]))]
    least = [
        max((_cells(word) for row in rows for word in inline(BREAK.sub(" ", row[n])).split()), default=0)
        for n in range(len(wide))
    ]
    while sum(wide) > room:
        widest = max(range(len(wide)), key=lambda n: wide[n] if wide[n] > max(least[n], NARROWEST) else 0)
        if wide[widest] <= max(least[widest], NARROWEST):
            break
        wide[widest] -= 1
    return wide


def _span(found: re.Match[str]) -> str:
    parts = found.groupdict()
    if parts["code"] is not None:
        return _styled(CODE, parts["code"].strip())
    if parts["alt"] is not None:
        return f"[picture: {parts['alt']}]"
    for marked in (parts["bold"], parts["stressed"]):
        if marked is not None:
            return _styled(STRONG, MARKS.sub("", inline(marked)))
    words, target = inline(parts["text"]), parts["to"]
    if "://" in target and target not in words:
        return f"{words} ({target})"
    page = re.fullmatch(r"(?:\.\./)*((?:decisions/)?[\w-]+)\.md(#.*)?", target)
    return f"{words} [help {page.group(1)}]" if page and page.group(1).islower() else words


def _styled(style: str, text: str) -> str:
    return " ".join(f"{style}{word}{PLAIN}" for word in text.split())


def _cells(text: str) -> int:
    return cells(MARKS.sub("", text))


def _painted(text: str, *, colour: bool) -> str:
    return MARKS.sub(lambda mark: STYLES[mark.group()] if colour else "", text)
