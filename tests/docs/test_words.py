"""docs/words.md and docs/states.md: every state has a row, as in the code, and no page uses a refused word."""

from __future__ import annotations

import re
from typing import get_args, get_type_hints

import click
import pytest

from actors.delivery.status import PATIENCE
from actors.overseer.overseer import STATES
from actors.sources.health.score import DEGRADED_FROM, OK_FROM
from api.fields.admin import DeliveryState
from sanderling.cli import main
from storage.records import source
from storage.records.checks import Verdict
from storage.records.destination import Destination, Result
from storage.records.source import BreakerState, Flag
from tests.docs.states import TITLES, drawn, tables, written
from tests.rules.source_files import ROOT

REFUSED = (
    "subscriptions?",
    "scrap(e|es|ed|ing)",
    "back ?doors?",
    "snapshots?",
    "switch(ed|es)? off",
    "turn(ed|s)? off",
)
"""Refused words of docs/words.md with no other meaning here."""
SAID_OF_OTHERS = {
    "api/dashboard/templates/sources/options.html": ("such as a subscription",),  # WebSocket term
    "docs/agents.md": ("`subscriptions/listen`",),  # MCP's own method
    "docs/feeds-out.md": ("20,000 subscriptions are",),  # WebSub's own term
    "docs/moving.md": ("`filter_text_replaced` switched off",),  # a setting of another program
    "docs/words.md": (
        "subscription, monitor",
        "crawl, scrape |",
        "| snapshot |",
        "| back door |",
        "switch off, turn off",
    ),
}


def test_the_tables_of_the_page_are_the_tables_of_the_code() -> None:
    assert written() == drawn(), "run: python -m tests.docs.states"
    assert tables().keys() == TITLES.keys()


def values(of: object) -> set[str]:
    return set(get_args(of))


def test_every_state_that_code_can_have_has_a_row() -> None:
    assert values(source.SourceStateName) == source.SOURCES.keys() <= source.PARTS.keys()
    assert values(Flag) == source.HEALTH.keys()
    assert values(source.PartState) == source.PARTS.keys() >= set(STATES.values())
    assert values(source.AlertState) == source.ALERTS.keys()
    assert values(source.DestinationState) == source.DESTINATIONS.keys()
    assert values(get_type_hints(Destination)["state"]) | values(DeliveryState) <= source.DESTINATIONS.keys()
    assert values(Result) == source.ATTEMPTS.keys()
    assert values(get_type_hints(BreakerState)["state"]) == source.BREAKERS.keys()
    assert set(Verdict) == source.LOOKS.keys()


def test_sentences_name_the_limits_that_hold() -> None:
    assert f"below {DEGRADED_FROM}:" in source.HEALTH["rotten"].says
    assert f"from {DEGRADED_FROM} to {OK_FROM}." in source.HEALTH["degraded"].says
    assert f"is {OK_FROM} or more" in source.HEALTH["ok"].says
    assert f"for {PATIENCE // 3_600_000} hours" in source.DESTINATIONS["disabled"].says


@pytest.mark.parametrize("name", TITLES)
def test_a_word_and_its_short_form_say_one_state_of_a_table(name: str) -> None:
    table = tables()[name]
    assert len({state.word for state in table.values()}) == len(table)
    assert all(state.says.endswith(".") and 0 < len(state.short) <= 7 for state in table.values())
    if name in ("PARTS", "DESTINATIONS"):  # a column of five cells
        assert all(len(state.short) <= 5 for state in table.values())


def test_one_word_means_one_thing_in_all_tables() -> None:
    paused = {table["paused"].word for table in tables().values() if "paused" in table}
    assert paused == {"paused"}
    assert {state.word for table in tables().values() for key, state in table.items() if key == "disabled"} == {
        "disabled"
    }


def helped(command: click.Command, name: str = "sanderling") -> str:
    context = click.Context(command, info_name=name)
    parts = [command.get_help(context)]
    if isinstance(command, click.Group):
        below = (command.get_command(context, each) for each in command.list_commands(context))
        parts += [helped(each, f"{name} {each.name}") for each in below if each is not None and not each.hidden]
    return "\n".join(parts)


def refused_in(text: str, allowed: tuple[str, ...] = ()) -> list[str]:
    for phrase in allowed:
        assert phrase in text, f"{phrase!r} is gone: take it out of the list"
        text = text.replace(phrase, "")
    return [found.group() for found in re.finditer(rf"\b({'|'.join(REFUSED)})\b", text, re.IGNORECASE)]


USERS_TEXTS = [
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "README.md",
    *sorted((ROOT / "api/dashboard/templates").rglob("*.html")),
    *sorted((ROOT / "extras").rglob("*.html")),
    *sorted((ROOT / "sanderling/console").glob("*.py")),
    *sorted((ROOT / "api/openapi/words").glob("*.md")),
]


def test_no_page_or_screen_says_a_refused_word(subtests: pytest.Subtests) -> None:
    for path in USERS_TEXTS:
        name = path.relative_to(ROOT).as_posix()
        with subtests.test(name):
            assert refused_in(path.read_text("utf-8"), SAID_OF_OTHERS.get(name, ())) == []


def test_no_command_says_a_refused_word() -> None:
    assert len(helped(main)) > 20_000
    assert refused_in(helped(main)) == []
    assert refused_in("A paused source was switched off.") == ["switched off"]


def test_every_word_of_the_domain_stands_once_and_is_used() -> None:
    page = (ROOT / "docs/words.md").read_text("utf-8")
    words = [word for row in re.findall(r"^\| ([a-z ,]+) \|", page, re.MULTILINE) for word in row.split(", ")]
    assert len(words) > 30 and len(set(words)) == len(words)
    pages = [path.read_text("utf-8").lower() for path in (ROOT / "docs").glob("*.md") if path.name != "words.md"]
    code = [
        path.read_text("utf-8").lower() for room in ("actors", "storage", "api") for path in (ROOT / room).rglob("*.py")
    ]
    assert [word for word in words if not any(word in text for text in (*pages, *code))] == []
