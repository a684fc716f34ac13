from __future__ import annotations

import json
from typing import Any, get_args

import click
import pytest

from api.openapi.texts import example_of
from api.schemas.alerts import AlertRecord
from api.schemas.sources import SourceRecord
from sanderling.client import alerts
from sanderling.commands import alerts as commands
from sanderling.commands import sources as source_commands
from sanderling.exits import CommandFailed, Exit
from storage.records.alert import Matching
from tests.sanderling.client.documented import client, record_of

SOURCE = record_of(SourceRecord)
ALERT = example_of(AlertRecord)
ID = ALERT["id"]
PATH = f"/v1/alerts/{ID}"
GROUPS = (commands.alerts, source_commands.sources)
OLD_NAMES = (("enable", "resume"), ("disable", "pause"))


def test_an_alert_is_made_of_sources_as_a_person_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    alerts.create(
        client(asked),
        "price",
        name=None,
        language="sv",
        match="added",
        sources=[SOURCE.url[8:]],
        tags=["shop"],
        channel=None,
        once_per_story=None,
        as_json=False,
    )
    body = {"filter_query": "price", "language": "sv", "match": "added", "source_ids": [SOURCE.id]}
    body["tags"] = ["shop"]
    assert ("POST /v1/alerts", body) in asked
    told = capsys.readouterr()
    assert told.out == f"{ID}\n" and "as its tags have it" in told.err


def test_the_secret_of_a_destination_is_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    wish = alerts.Wish("https://hooks.example/in", "webhook", {}, "daily", "event")
    alerts.deliver(client(asked), ALERT["name"], wish, as_json=False)
    assert asked[-1][0] == f"POST {PATH}/destinations"
    assert asked[-1][1] == {"url": "https://hooks.example/in", "delivery_mode": "daily"}
    assert capsys.readouterr().out.startswith("whsec_")


def test_an_envelope_is_asked_for_by_its_format(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    where = "https://hooks.example/in"
    alerts.deliver(
        client(asked), ALERT["name"], alerts.Wish(where, "webhook", {}, "instant", "cloudevents"), as_json=True
    )
    assert asked[-1][1] == {"url": where, "delivery_mode": "instant", "format": "cloudevents"}


def test_a_page_tells_what_is_asked_and_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    alerts.show_alert(client([]), ID, as_json=False)
    told = capsys.readouterr().out
    assert ALERT["name"] in told and ALERT["filter_query"] in told
    assert "https://" in told.partition("sends to")[2]
    assert "of pages  what came and what went" in told
    alerts.show_alert(client([]), ID, as_json=True)
    assert json.loads(capsys.readouterr().out)["destinations"][0]["alert_id"] == ID


def test_a_preview_tells_the_terms_and_the_matches(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    alerts.preview(client(asked), "q", language="en", match="page", sources=(), tags=(), last=5, limit=3, as_json=False)
    assert asked[-1][1]["match"] == "page"
    told = capsys.readouterr().out
    assert "2 of the newest 61 events since 21 Apr 2026" in told and "about 0.33 a day" in told
    assert '      0  "opening hours"' in told


def test_all_are_listed_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    alerts.list_alerts(client([]), as_json=False)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split()[0] == "active" and ID in line and ALERT["filter_query"] in line


def test_an_edit_sends_what_is_named_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    changes = {"match": "removed"}
    alerts.edit(client(asked), ID, changes=changes, sources=(), tags=(), everywhere=False, as_json=False)
    assert asked == [(f"PATCH {PATH}", {"match": "removed"})]
    assert capsys.readouterr().out.startswith(f"{ALERT['name']} (active)  {ID}\n  query ")


@pytest.mark.parametrize(
    ("sources", "tags", "ids"), [([SOURCE.url[8:]], [], [SOURCE.id]), ([], ["shop", "sea"], []), ([], [], [])]
)
def test_an_edit_puts_an_alert_over_these_sources_and_tags_or_over_all(
    sources: list[str], tags: list[str], ids: list[str]
) -> None:
    asked: list[tuple[str, Any]] = []
    everywhere = not (sources or tags)
    alerts.edit(client(asked), ID, changes={}, sources=sources, tags=tags, everywhere=everywhere, as_json=True)
    assert asked[-1] == (f"PATCH {PATH}", {"source_ids": ids, "tags": tags})


def test_a_new_alert_names_its_private_sources_and_its_page_shows_them() -> None:
    asked: list[tuple[str, Any]] = []
    flags = {"name": None, "language": "en", "match": "change", "channel": None, "once_per_story": None}
    alerts.create(client(asked), "x", sources=(), tags=(), private=(SOURCE.id,), as_json=True, **flags)  # type: ignore[arg-type]
    body = {"filter_query": "x", "language": "en", "match": "change", "source_ids": []}
    assert asked[-1] == ("POST /v1/alerts", body | {"private_source_ids": [SOURCE.id]})
    told = list(alerts.alert_page(ALERT | {"private_source_ids": [SOURCE.id]}, []))
    assert f"  private   {SOURCE.id}: over these, too" in told


def test_a_page_tells_the_tags_that_an_alert_is_over() -> None:
    told = list(alerts.alert_page(ALERT | {"source_ids": [], "tags": ["label:shop", "label:sea\x1b"]}, []))
    assert "  sources   those with a tag" in told and any("label:shop, label:sea" in line for line in told)
    assert not any("\x1b" in line for line in told)


@pytest.mark.parametrize(
    ("flags", "changes"),
    [
        (["--name", "N", "--query", "", "--language", "sv"], {"name": "N", "filter_query": "", "language": "sv"}),
        (["--match", "page", "--paused"], {"match": "page", "enabled": False}),
        (["--match", "page", "--disabled"], {"match": "page", "enabled": False}),
        (["--active", "--channel", ""], {"enabled": True, "channel": None}),
        (["--private", SOURCE.id], {"private_source_ids": [SOURCE.id]}),
    ],
)
def test_the_edit_command_tells_an_empty_value_from_none(
    flags: list[str], changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Any]] = []
    monkeypatch.setattr("sanderling.client.running.client_here", lambda *_: client(asked))
    assert commands.edit.main([ID, *flags], standalone_mode=False) == Exit.WELL
    assert asked == [(f"PATCH {PATH}", changes)]


@pytest.mark.parametrize(
    ("flags", "says"), [([], "Nothing is named"), (["--source", "a", "--all-sources"], "beside --source")]
)
def test_an_edit_that_says_nothing_or_two_things_is_an_error_of_use(flags: list[str], says: str) -> None:
    with pytest.raises(CommandFailed, match=says) as caught:
        commands.edit.main([ID, *flags], standalone_mode=False)
    assert caught.value.code == Exit.USAGE


def test_switching_and_deleting_ask_for_nothing_else() -> None:
    asked: list[tuple[str, Any]] = []
    alerts.switch(client(asked), ID, on=False)
    alerts.delete(client(asked), ID, sure=True)
    assert asked == [(f"PATCH {PATH}", {"enabled": False}), (f"GET {PATH}", None), (f"DELETE {PATH}", None)]


def test_nothing_is_deleted_when_nobody_says_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.client.speaking.on_terminal", lambda stream: False)
    asked: list[tuple[str, Any]] = []
    with pytest.raises(CommandFailed, match="--yes") as caught:
        alerts.delete(client(asked), ID, sure=False)
    assert caught.value.code == Exit.USAGE
    assert [what for what, _ in asked] == [f"GET {PATH}"]


def test_the_command_takes_the_choices_of_the_service_and_begins_with_its_default() -> None:
    for command in (commands.create, commands.preview):
        (option,) = [one for one in command.params if one.name == "match"]
        assert isinstance(option.type, click.Choice)
        assert (tuple(option.type.choices), option.default) == (get_args(Matching), "change")
    assert alerts.ABOUT.keys() == set(get_args(Matching))


@pytest.mark.parametrize(("group", "old", "new"), [(g, o, n) for g in GROUPS for o, n in OLD_NAMES])
def test_a_command_answers_to_the_name_it_had_before_and_help_does_not_show_that(
    group: click.Group, old: str, new: str
) -> None:
    assert group.commands[old].callback is group.commands[new].callback
    assert group.commands[old].hidden and not group.commands[new].hidden
    assert f"  {old} " not in group.get_help(click.Context(group))
