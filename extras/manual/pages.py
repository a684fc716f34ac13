"""The manual's pages, their kinds, how to find one by name, and `sanderling help`, which shows them.

They are the files of `docs/`: next to the packages in a checkout, an installed folder and the single file, or inside
the package `sanderling` when installed by pip. `references.py` generates some more.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import ClassVar

import click
from markdown_it.token import Token
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from rich.theme import Theme

import sanderling
from extras.manual import references
from sanderling import settings_shown
from sanderling.environment import environ, typed, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling_client.receiver.terminal import fit

THEME = Theme(
    {"markdown.code": "cyan", "markdown.em": "bold", "markdown.link": "none", "markdown.link_url": "none"}
    | {f"markdown.h{level}": "bold" for level in range(1, 7)}
    | {f"markdown.table.{part}": "none" for part in ("border", "header")}
)
PAGE = re.compile(r"(?:\.\./)*((?:decisions/)?[a-z\d-]+)\.md(?:#.*)?")
BREAK = re.compile(r"<br */?>")
MARKS = re.compile(r"[`*]|\[(?=[^]]*\]\()|\]\([^)]*\)")


class Heading(rich_markdown.Heading):
    """A left-aligned heading."""

    LEVEL_ALIGN: ClassVar = {}


class Code(rich_markdown.CodeBlock):
    """Code without wrapping, ready to copy."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.plain.rstrip().splitlines():
            yield Text(f"    {line}", no_wrap=True, overflow="ignore")


class TerminalPage(rich_markdown.Markdown):
    """A page as rich prints it: headings at the left, code unwrapped, links as topics."""

    elements: ClassVar = rich_markdown.Markdown.elements | {"heading_open": Heading, "fence": Code, "code_block": Code}

    def __init__(self, markdown: str) -> None:
        super().__init__(markdown, hyperlinks=False)
        for token in self.parsed:
            token.children = list(_ours(token.children or ()))
            for child in token.children if self.parsed[0].tag == "h1" and token is self.parsed[1] else ():
                child.content = child.content.upper()


def lines(markdown: str, width: int = 80, *, colour: bool = False) -> Iterator[str]:
    console = Console(
        file=StringIO(),
        width=width,
        theme=THEME,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as shown:
        console.print(TerminalPage(markdown), crop=False)
    yield from re.sub(" +$", "", shown.get(), flags=re.MULTILINE).strip("\n").split("\n")


def title_of(markdown: str) -> str:
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


WIDEST = 100  # maximum width in cells; longer lines are hard to read
NAMES = 14

_PLACES = (Path(__file__).parents[2] / "docs", Path(sanderling.__file__).with_name("docs"))
FOLDER = next((place for place in _PLACES if (place / "start.md").is_file()), _PLACES[0])

KINDS: Mapping[str, Sequence[str]] = tomllib.loads(files("extras.manual").joinpath("pages.toml").read_text("utf-8"))
"""Four kinds: to learn, to do something, to look something up, to understand. Unlisted pages are of the second kind."""
DECISIONS = "decisions/"


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its name and its Markdown."""

    name: str
    markdown: str


def contents() -> dict[str, list[str]]:
    """Raises CommandFailed if the pages are missing."""
    there = {path.stem for path in _files("*.md")} | set(WRITTEN)
    kinds = {kind: [name for name in names if name in there] for kind, names in KINDS.items()}
    kinds["How to"] += sorted(there - {name for names in kinds.values() for name in names})
    kinds["Why"] += [DECISIONS + path.stem for path in _files("decisions/*.md") if path.stem != "README"]
    return {kind: names for kind, names in kinds.items() if names}


def page(name: str) -> Page:
    """Return the page with this name or unique prefix. Raises CommandFailed with the nearest names."""
    names = [each for each_kind in contents().values() for each in each_kind]
    wanted = name.lower().removeprefix("docs/").removesuffix(".md")
    fitting = [each for each in (wanted, DECISIONS + wanted) if each in names][:1]
    fitting = fitting or [each for each in names if each.startswith(wanted) and wanted]
    if len(fitting) != 1:
        near = fitting or get_close_matches(wanted, [each.removeprefix(DECISIONS) for each in names], 3, 0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else "`sanderling help` lists the pages"
        raise CommandFailed(f"there is no page {name!r} in the manual; {hint}", Exit.USAGE)
    (found,) = fitting
    return Page(found, _text(found))


def _decisions() -> str:
    """Return the index of decisions, its links relative to the manual's folder."""
    return re.sub(r"(?<=\]\()(?=[\w-]+\.md\))", DECISIONS, (FOLDER / DECISIONS / "README.md").read_text("utf-8"))


WRITTEN: Mapping[str, tuple[str, Callable[[], str]]] = {
    "commands": ("Commands", references.commands),
    "decisions": ("Decisions", _decisions),
    "reference": ("API reference", references.api),
    "settings": ("Settings", settings_shown.as_markdown),
}


def title(name: str) -> str:
    return WRITTEN[name][0] if name in WRITTEN else title_of(_text(name))


def _text(name: str) -> str:
    return WRITTEN[name][1]() if name in WRITTEN else (FOLDER / f"{name}.md").read_text("utf-8")


def _files(pattern: str) -> list[Path]:
    found = sorted(FOLDER.glob(pattern))
    if not found:
        raise CommandFailed(f"the manual's pages are missing from {FOLDER}; install the program again")
    return found


def _topics(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    return [name for names in contents().values() for name in names if name.startswith(typed)]


@click.command("help")
@click.argument("topic", required=False, shell_complete=_topics)
@click.option("--markdown", "as_markdown", is_flag=True, help="The page's Markdown source.")
def help_page(topic: str | None, *, as_markdown: bool) -> int:
    """Show a page of the manual; without a TOPIC, list the pages."""
    return show_help(topic, environ(), as_markdown=as_markdown)


def show_help(topic: str | None, variables: Mapping[str, str], *, as_markdown: bool) -> int:
    size = shutil.get_terminal_size((WIDEST, 24))
    width = min(size.columns, WIDEST)
    if topic is None:
        text = listing(width)
    elif as_markdown:
        text = page(topic).markdown.rstrip("\n")
    else:
        text = "\n".join(lines(page(topic).markdown, width, colour=wants_colour(variables)))
    if sys.stdout.isatty() and text.count("\n") >= size.lines - 1:
        # With None, Click asks less for colours. With True, less would show their codes as letters.
        click.echo_via_pager(text + "\n", color=None if wants_colour(variables) else False)
    else:
        click.echo(text)
    return Exit.WELL


def listing(width: int) -> str:
    shown = [f"{typed('help TOPIC')} shows a page; the beginning of a name is enough."]
    for kind, names in contents().items():
        shown += ["", kind]
        for name in names:
            if not name.startswith(DECISIONS):
                shown.append(f"  {name:<{NAMES}} {fit(title(name), width - NAMES - 3)}")
    return "\n".join(shown)
