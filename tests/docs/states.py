"""The tables of states. `python -m tests.docs.states` writes them into docs/states.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from storage.records import source
from storage.records.checks import Verdict
from storage.records.source import State
from tests.rules.source_files import ROOT

PAGE = ROOT / "docs/states.md"
BEGIN, END = "<!-- the states: python -m tests.docs.states -->\n", "<!-- the end of the states -->\n"
TITLES = {
    "SOURCES": "Sources",
    "HEALTH": "Health of a source",
    "LOOKS": "Checks",
    "BREAKERS": "Breakers",
    "ALERTS": "Alerts",
    "DESTINATIONS": "Destinations",
    "ATTEMPTS": "Attempts",
    "PARTS": "Parts of the tree",
}


def tables() -> dict[str, Mapping[Any, State]]:
    return {
        name: table
        for name, table in vars(source).items()
        if isinstance(table, dict) and all(isinstance(row, State) for row in table.values()) and name.isupper()
    }


def drawn() -> str:
    return "".join(line + "\n" for name, table in tables().items() for line in _table(TITLES[name], table))


def _table(title: str, table: Mapping[Any, State]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    if same := [state.word for state in table.values() if _is_of_sources(table, state)]:
        yield from (f"As for sources: {', '.join(same)}. The others:", "")
    yield from ("| Word | Console | API and code | Meaning |", "|---|---|---|---|")
    for key, state in table.items():
        if _is_of_sources(table, state):
            continue
        name = key.name.lower() if isinstance(key, Verdict) else key
        yield f"| {state.word} | `{state.short}` | {'' if name == state.word else f'`{name}`'} | {state.says} |"
    if table is list(tables().values())[-1]:
        yield ""


def _is_of_sources(table: Mapping[Any, State], state: State) -> bool:
    return table is not source.SOURCES and state in source.SOURCES.values()


def written() -> str:
    """Return the tables of the page."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + drawn() + END + rest.partition(END)[2], "utf-8")
