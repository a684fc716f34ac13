from __future__ import annotations

from typing import Any

import click
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from api.fields.sources import TagRecord
from api.route import Route
from sanderling.client import terminal
from sanderling.commands import tags
from sanderling.commands.keys import given
from sanderling.commands.tags import SETTINGS, tag_page
from sanderling.exits import CommandFailed
from tests.sanderling.client.documented import client, record_of, run

TAG = record_of(TagRecord)
RECORD = to_builtins(TAG)


def asked_of(command: click.Command, *line: str, answers: Any = None) -> list[tuple[str, Any]]:
    asked: list[tuple[str, Any]] = []
    run(command, client(asked, answers), *line)
    return asked


def test_named_options_are_set_and_the_rest_stays() -> None:
    asked = asked_of(tags.put, "prices", "--bar", "0.6", "--hours", "")
    assert asked[-1] == (
        "PUT /v1/tags/prices",
        {"schedule": "15m", "bar": 0.6, "ignore": ["nav", ".visitors-online"]},
    )


def test_a_tag_without_defaults_gets_only_the_named_ones() -> None:
    def none(route: Route) -> Any:
        return [RECORD | {"defaults": None}] if route.label == "GET /v1/tags" else None

    asked = asked_of(tags.put, "label:prices", "--bar", "0.6", answers=none)
    assert asked == [("GET /v1/tags", None), ("PUT /v1/tags/label:prices", {"bar": 0.6})]


@pytest.mark.parametrize(
    ("names", "last"),
    [
        ((), ("DELETE /v1/tags/prices", None)),
        (SETTINGS, ("DELETE /v1/tags/prices", None)),
        (("ignore", "hours"), ("PUT /v1/tags/prices", {"schedule": "15m", "bar": 0.4})),
    ],
)
def test_named_defaults_are_removed_or_all_if_none_is_named(names: Any, last: Any) -> None:
    assert asked_of(tags.unset, "prices", *names)[-1] == last


def test_a_tag_is_listed_and_shown_with_its_defaults(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tags.listed, client([]))
    run(tags.show, client([]), "label:prices")
    line, head, *rest = capsys.readouterr().out.splitlines()
    assert line.startswith("500  label:prices  schedule 15m, hours weekdays 08-18")
    assert head == "label:prices  500 sources, and 12 below it"
    assert rest[0].split() == ["schedule", "15m"] and rest[-1].split() == ["ignore", "nav,", ".visitors-online"]
    monkeypatch.setattr(terminal, "for_a_person", lambda: True)
    run(tags.listed, client([]))
    assert capsys.readouterr().out.splitlines()[0].split() == ["sources", "tag", "defaults"]


def test_a_tag_reaches_the_terminal_escaped() -> None:
    told = "\n".join(tag_page(to_builtins(replace(TAG, tag="label:\x1b[2J", defaults=None))))
    assert "\x1b" not in told and "no defaults" in told


def test_empty_text_removes_a_setting_and_invalid_input_is_refused_before_any_request() -> None:
    options = {"bar": "", "schedule": "", "hours": None, "selector": None, "ignore": ("",), "destinations": ()}
    found = given(options)
    assert found == {"bar": None, "schedule": None, "ignore": []}
    with pytest.raises(CommandFailed, match="a number from"):
        run(tags.put, client([]), "prices", "--bar", "high")
    with pytest.raises(CommandFailed, match="Name something to set"):
        run(tags.put, client([]), "prices")
    with pytest.raises(CommandFailed, match="Which tag"):
        run(tags.show, client([]), " ")
