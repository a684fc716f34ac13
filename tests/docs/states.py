"""The tables of states. `python -m tests.docs.states` writes them into docs/words.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from storage.records import states
from storage.records.states import State
from storage.records.trail import Verdict
from tests.rules.source_files import ROOT

PAGE = ROOT / "docs/words.md"
BEGIN, END = "<!-- the states: python -m tests.docs.states -->\n", "<!-- the end of the states -->\n"
TITLES = {
    "SOURCES": "Of a source",
    "HEALTH": "Of a source's health",
    "LOOKS": "Of a look",
    "BREAKERS": "Of a breaker",
    "ALERTS": "Of an alert",
    "DESTINATIONS": "Of a destination",
    "ATTEMPTS": "Of an attempt",
    "PARTS": "Of a part of the tree",
}


def tables() -> dict[str, Mapping[Any, State]]:
    """Return every table of states by its name."""
    return {name: table for name, table in vars(states).items() if name.isupper() and isinstance(table, dict)}


def drawn() -> str:
    """Return all tables as Markdown."""
    return "".join(line + "\n" for name, table in tables().items() for line in _table(TITLES[name], table))


def _table(title: str, table: Mapping[Any, State]) -> Iterator[str]:
    yield from ("", f"### {title}", "", "| Word | Console | In code and API | Means |", "|---|---|---|---|")
    for key, state in table.items():
        name = key.name.lower() if isinstance(key, Verdict) else key
        yield f"| {state.word} | `{state.short}` | {'' if name == state.word else f'`{name}`'} | {state.says} |"
    if table is list(tables().values())[-1]:
        yield ""


def written() -> str:
    """Return what stands on the page."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + drawn() + END + rest.partition(END)[2], "utf-8")
