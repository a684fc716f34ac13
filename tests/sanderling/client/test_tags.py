from __future__ import annotations

from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from api.route import Route
from api.schemas.sources import TagRecord
from sanderling.client import tags
from sanderling.client.tags import tag_page
from sanderling.commands.tags import SETTINGS, changes_of
from sanderling.exits import CommandFailed
from tests.sanderling.client.documented import client, record_of

TAG = record_of(TagRecord)
RECORD = to_builtins(TAG)


def asked_of(act: Any, answers: Any = None) -> list[tuple[str, Any]]:
    asked: list[tuple[str, Any]] = []
    act(client(asked, answers))
    return asked


def test_what_is_named_is_set_and_the_rest_stays() -> None:
    asked = asked_of(lambda service: tags.put(service, "prices", {"bar": 0.6, "hours": None}, as_json=False))
    assert asked[-1] == (
        "PUT /v1/tags/prices",
        {"schedule": "15m", "bar": 0.6, "ignore": ["nav", ".visitors-online"]},
    )


def test_a_tag_without_defaults_gets_what_is_named_alone() -> None:
    def none(route: Route) -> Any:
        return [RECORD | {"defaults": None}] if route.label == "GET /v1/tags" else None

    asked = asked_of(lambda service: tags.put(service, "label:prices", {"bar": 0.6}, as_json=False), none)
    assert asked == [("GET /v1/tags", None), ("PUT /v1/tags/label:prices", {"bar": 0.6})]


@pytest.mark.parametrize(
    ("names", "last"),
    [
        ((), ("DELETE /v1/tags/prices", None)),
        (SETTINGS, ("DELETE /v1/tags/prices", None)),
        (("ignore", "hours"), ("PUT /v1/tags/prices", {"schedule": "15m", "bar": 0.4})),
    ],
)
def test_what_is_named_is_taken_away_and_all_of_it_if_nothing_is(names: Any, last: Any) -> None:
    assert asked_of(lambda service: tags.unset(service, "prices", names, as_json=False))[-1] == last


def test_a_tag_is_listed_and_shown_with_what_its_sources_inherit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tags.list_tags(client([]), as_json=False)
    tags.show(client([]), "label:prices", as_json=False)
    line, head, *rest = capsys.readouterr().out.splitlines()
    assert line.startswith("500  label:prices  schedule 15m, hours weekdays 08-18")
    assert head == "label:prices  500 sources, and 12 below it"
    assert rest[0].split() == ["schedule", "15m"] and rest[-1].split() == ["ignore", "nav,", ".visitors-online"]
    monkeypatch.setattr(tags, "for_a_person", lambda: True)
    tags.list_tags(client([]), as_json=False)
    assert capsys.readouterr().out.splitlines()[0].split() == ["sources", "tag", "defaults"]


def test_a_tag_reaches_the_terminal_escaped() -> None:
    told = "\n".join(tag_page(to_builtins(replace(TAG, tag="label:\x1b[2J", defaults=None))))
    assert "\x1b" not in told and "no defaults" in told


def test_empty_text_takes_a_setting_away_and_rubbish_is_refused_before_anybody_is_asked() -> None:
    found = changes_of(bar="", schedule="", hours=None, selector=None, ignore=("",), destinations=())
    assert found == {"bar": None, "schedule": None, "ignore": []}
    with pytest.raises(CommandFailed, match="a number from"):
        changes_of(bar="high")
    with pytest.raises(CommandFailed, match="Say what to set"):
        tags.put(client([]), "prices", {}, as_json=False)
    with pytest.raises(CommandFailed, match="Which tag"):
        tags.show(client([]), " ", as_json=False)
