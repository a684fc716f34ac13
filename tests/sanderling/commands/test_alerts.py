from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from api.fields.alerts import AlertRecord
from api.fields.sources import SourceRecord, TagRecord
from api.nouns.alerts import AlertPreview
from api.nouns.deliveries import DeliveryRecord
from api.openapi.document import example_of
from api.route import Route
from sanderling.client.lines import MATCHED
from sanderling.client.terminal import alert_page
from sanderling.commands import alerts, sources
from sanderling.exits import CommandFailed, Exit
from storage.records.alert import Matching
from tests.sanderling.client.documented import client, record_of, run

SOURCE = record_of(SourceRecord)
ALERT = example_of(AlertRecord)
ID = ALERT["id"]
PATH = f"/v1/alerts/{ID}"
GROUPS = (alerts.alerts, sources.sources)


def test_an_alert_is_made_of_sources_as_a_person_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    flags = ["--language", "sv", "--match", "added", "--source", SOURCE.url[8:], "--tag", "shop"]
    run(alerts.create, client(asked), "price", *flags)
    body = {"filter_query": "price", "language": "sv", "match": "added", "source_ids": [SOURCE.id]}
    body["tags"] = ["shop"]
    assert ("POST /v1/alerts", body) in asked
    told = capsys.readouterr()
    assert told.out == f"{ID}\n" and "from its tags" in told.err


def test_the_secret_of_a_destination_is_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    run(alerts.deliver, client(asked), ALERT["name"], "https://hooks.example/in", "--mode", "daily")
    assert asked[-1][0] == f"POST {PATH}/destinations"
    assert asked[-1][1] == {"url": "https://hooks.example/in", "delivery_mode": "daily"}
    assert capsys.readouterr().out.startswith("whsec_")


def test_the_format_option_requests_an_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    where = "https://hooks.example/in"
    run(alerts.deliver, client(asked), ALERT["name"], where, "--format", "cloudevents", "--json")
    assert asked[-1][1] == {"url": where, "delivery_mode": "instant", "format": "cloudevents"}


def test_the_page_shows_each_request_and_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    run(alerts.show, client([]), ID)
    told = capsys.readouterr().out
    assert ALERT["name"] in told and ALERT["filter_query"] in told
    assert "https://" in told.partition("sends to")[2]
    assert "of pages  added and removed texts" in told
    run(alerts.show, client([]), ID, "--json")
    assert json.loads(capsys.readouterr().out)["destinations"][0]["alert_id"] == ID


def test_a_preview_shows_the_terms_and_the_matches(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    run(alerts.preview, client(asked), "q", "--match", "page", "--last", "5", "--limit", "3")
    assert asked[-1][1]["match"] == "page"
    told = capsys.readouterr().out
    assert "2 of the newest 61 events since 21 Apr 2026" in told and "about 0.33 a day" in told
    assert '      0  "opening hours"' in told


def test_all_are_listed_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    run(alerts.listed, client([]))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split()[0] == "active" and ID in line and ALERT["filter_query"] in line


def test_an_edit_sends_only_named_fields(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    run(alerts.edit, client(asked), ID, "--match", "removed")
    assert asked == [(f"PATCH {PATH}", {"match": "removed"})]
    assert capsys.readouterr().out.startswith(f"{ALERT['name']} (active)  {ID}\n  query ")


@pytest.mark.parametrize(
    ("flags", "tags", "ids"),
    [
        (["--source", SOURCE.url[8:]], [], [SOURCE.id]),
        (["--tag", "shop", "--tag", "sea"], ["shop", "sea"], []),
        (["--all-sources"], [], []),
    ],
)
def test_an_edit_puts_an_alert_over_these_sources_and_tags_or_over_all(
    flags: list[str], tags: list[str], ids: list[str]
) -> None:
    asked: list[tuple[str, Any]] = []
    run(alerts.edit, client(asked), ID, *flags, "--json")
    assert asked[-1] == (f"PATCH {PATH}", {"source_ids": ids, "tags": tags})


def test_a_new_alert_names_its_private_sources_and_its_page_shows_them() -> None:
    asked: list[tuple[str, Any]] = []
    run(alerts.create, client(asked), "x", "--private", SOURCE.id, "--json")
    body = {"filter_query": "x", "language": "en", "match": "change", "source_ids": []}
    assert asked[-1] == ("POST /v1/alerts", body | {"private_source_ids": [SOURCE.id]})
    told = list(alert_page(ALERT | {"private_source_ids": [SOURCE.id]}, []))
    assert f"  private   {SOURCE.id}: over these, too" in told


def test_the_page_shows_the_tags_of_an_alert() -> None:
    told = list(alert_page(ALERT | {"source_ids": [], "tags": ["label:shop", "label:sea\x1b"]}, []))
    assert "  sources   those with a tag" in told and any("label:shop, label:sea" in line for line in told)
    assert not any("\x1b" in line for line in told)


@pytest.mark.parametrize(
    ("flags", "changes"),
    [
        (["--name", "N", "--query", "", "--language", "sv"], {"name": "N", "filter_query": "", "language": "sv"}),
        (["--match", "page", "--paused"], {"match": "page", "enabled": False}),
        (["--active", "--channel", ""], {"enabled": True, "channel": None}),
        (["--private", SOURCE.id], {"private_source_ids": [SOURCE.id]}),
    ],
)
def test_the_edit_command_distinguishes_an_empty_value_from_none(flags: list[str], changes: dict[str, Any]) -> None:
    asked: list[tuple[str, Any]] = []
    assert run(alerts.edit, client(asked), ID, *flags) == Exit.WELL
    assert asked == [(f"PATCH {PATH}", changes)]


@pytest.mark.parametrize(
    ("flags", "says"), [([], "at least one option"), (["--source", "a", "--all-sources"], "excludes --source")]
)
def test_an_edit_that_says_nothing_or_two_things_is_an_error_of_use(flags: list[str], says: str) -> None:
    with pytest.raises(CommandFailed, match=says) as caught:
        run(alerts.edit, client([]), ID, *flags)
    assert caught.value.code == Exit.USAGE


def test_switching_and_deleting_ask_for_nothing_else() -> None:
    asked: list[tuple[str, Any]] = []
    run(alerts.pause, client(asked), ID)
    run(alerts.delete, client(asked), ID, "--yes")
    assert asked == [(f"PATCH {PATH}", {"enabled": False}), (f"GET {PATH}", None), (f"DELETE {PATH}", None)]


def test_nothing_is_deleted_without_confirmation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.commands.keys.on_terminal", lambda stream: False)
    asked: list[tuple[str, Any]] = []
    with pytest.raises(CommandFailed, match="--yes") as caught:
        run(alerts.delete, client(asked), ID)
    assert caught.value.code == Exit.USAGE
    assert [what for what, _ in asked] == [f"GET {PATH}"]


def test_the_command_takes_the_choices_of_the_service_and_begins_with_its_default() -> None:
    for command in (alerts.create, alerts.preview):
        (option,) = [one for one in command.params if one.name == "match"]
        assert isinstance(option.type, click.Choice)
        assert (tuple(option.type.choices), option.default) == (get_args(Matching), "change")
    assert MATCHED.keys() == set(get_args(Matching))


def test_conditions_that_hold_already_and_matched_values_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    now = [{"source_id": SOURCE.id, "source": "Kettle", "label": "Price", "text": "£289"}]

    def answers(route: Route) -> Any:
        kind = {"/v1/alerts": AlertRecord, "/v1/alerts/preview": AlertPreview}.get(route.path)
        return kind and example_of(kind) | {"true_now": now}

    run(alerts.create, client([], answers), "price<300")
    assert "True already: Kettle: Price: £289. It matches once this changes again." in capsys.readouterr().err
    run(alerts.preview, client([], answers), "price<300")
    told = capsys.readouterr().out
    assert "True already: Kettle: Price: £289." in told and "Prices: Day ticket: 14 euros." in told


def test_a_destinations_address_is_read_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    (tmp_path / "address").write_text("https://hooks.slack.example/T/B/x\n")
    run(alerts.deliver, client(asked), ID, "--kind", "slack", f"@{tmp_path / 'address'}")
    assert asked[-1][1]["url"] == "https://hooks.slack.example/T/B/x"
    with pytest.raises(CommandFailed, match="Could not read the value of URL"):
        run(alerts.deliver, client(asked), ID, f"@{tmp_path / 'missing'}")


def test_the_page_shows_why_the_newest_delivery_failed(capsys: pytest.CaptureFixture[str]) -> None:
    def answers(route: Route) -> Any:
        failed = {"result": "retry", "error": "Connection refused", "next_attempt_at": "2026-04-21T10:05:00.000Z"}
        if route.path == "/v1/destinations/{id}/deliveries":
            return [example_of(DeliveryRecord) | failed]
        return None

    run(alerts.show, client([], answers), ID)
    told = capsys.readouterr().out
    assert "last attempt failed" in told and "    Connection refused; next attempt 21 Apr 2026 " in told


def test_a_new_alert_says_which_tag_no_source_has_and_how_to_add_a_destination(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def answers(route: Route) -> Any:
        if route.path == "/v1/tags":
            return [example_of(TagRecord) | {"tag": "label:shop"}]
        return None

    run(alerts.create, client([], answers), "x", "--tag", "shop", "--tag", "shpo", "--tag", "category:news")
    assert "No source has the tag shpo yet." in capsys.readouterr().err
    run(alerts.create, client([]), "x")
    assert f"alerts deliver {ID} URL" in capsys.readouterr().err
