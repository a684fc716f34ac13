"""Markdown for a terminal, rendered by rich: headings at the left, code unwrapped, links as topics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import ClassVar

from markdown_it.token import Token
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from rich.theme import Theme

THEME = Theme(
    {"markdown.code": "cyan", "markdown.em": "bold", "markdown.link": "none", "markdown.link_url": "none"}
    | {f"markdown.h{level}": "bold" for level in range(1, 7)}
    | {f"markdown.table.{part}": "none" for part in ("border", "header")}
)
PAGE = re.compile(r"(?:\.\./)*((?:decisions/)?[a-z\d-]+)\.md(?:#.*)?")
BREAK = re.compile(r"<br */?>")
MARKS = re.compile(r"[`*]|\[(?=[^]]*\]\()|\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Look:
    """The terminal's width in cells, and whether to use colour."""

    width: int = 80
    colour: bool = False


class Heading(rich_markdown.Heading):
    """A left-aligned heading."""

    LEVEL_ALIGN: ClassVar = {}


class Code(rich_markdown.CodeBlock):
    """Code without wrapping, ready to copy."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.plain.rstrip().splitlines():
            yield Text(f"    {line}", no_wrap=True, overflow="ignore")


class Page(rich_markdown.Markdown):
    """A manual page."""

    elements: ClassVar = rich_markdown.Markdown.elements | {"heading_open": Heading, "fence": Code, "code_block": Code}

    def __init__(self, markdown: str) -> None:
        super().__init__(markdown, hyperlinks=False)
        for token in self.parsed:
            token.children = list(_ours(token.children or ()))
            for child in token.children if self.parsed[0].tag == "h1" and token is self.parsed[1] else ():
                child.content = child.content.upper()


def lines(markdown: str, look: Look) -> Iterator[str]:
    console = Console(
        file=StringIO(),
        width=look.width,
        theme=THEME,
        force_terminal=look.colour,
        color_system="standard" if look.colour else None,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as shown:
        console.print(Page(markdown), crop=False)
    yield from re.sub(" +$", "", shown.get(), flags=re.MULTILINE).strip("\n").split("\n")


def title_of(markdown: str) -> str:
    """Return the first heading without markup."""
    found = re.search(r"^# +(.+)$", markdown, re.MULTILINE)
    return MARKS.sub("", found.group(1)) if found else ""


def _ours(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield inline tokens; links show their text plus a reachable target, and `<br>` breaks the line."""
    shown = False
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrs["href"])
            page = PAGE.fullmatch(href)
            token.attrs["href"] = f"help {page[1]}" if page else href
            shown = page is not None or "://" in href
        if token.type == "html_inline" and BREAK.fullmatch(token.content):
            token.type = "hardbreak"
        if shown or token.type not in ("link_open", "link_close"):
            yield token
