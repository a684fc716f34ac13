from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from api.fields.alerts import AlertRecord
from api.fields.destinations import DestinationRecord
from api.fields.sources import DetectAnswer, Preview, SourceRecord, SourceStatus
from api.nouns.values import Values
from sanderling.client.api import Client
from sanderling.commands import sources
from sanderling.commands.keys import called
from sanderling.exits import CommandFailed, Exit
from tests.sanderling.client.documented import client, record_of, run

SOURCE, STATUS = record_of(SourceRecord), record_of(SourceStatus)
ALERT: Any = record_of(AlertRecord)  # its fields come from the declaration
HOOK: Any = msgspec.to_builtins(record_of(DestinationRecord))
PATH = f"/v1/sources/{SOURCE.id}"


def changes_of(*flags: str) -> Any:
    """Return the body that an edit with these flags sends."""
    asked: list[tuple[str, Any]] = []
    run(sources.edit, client(asked), SOURCE.id, *flags)
    ((label, body),) = asked
    assert label == f"PATCH {PATH}"
    return body


def test_the_page_shows_evidence_health_and_next_check(capsys: pytest.CaptureFixture[str]) -> None:
    run(sources.show, client([]), SOURCE.url)
    told = capsys.readouterr().out
    assert SOURCE.url in told and SOURCE.health.reason in told and SOURCE.detection.evidence in told
    assert "next check" in told and "total" in told


def test_a_source_is_called_by_its_users_name_else_by_its_own() -> None:
    assert called({"title": "Mine", "found_title": "Home"}) == "Mine"
    assert called({"title": "", "found_title": "Home"}) == "Home"
    assert called({}) == ""


def test_acts_on_a_source_are_those_of_the_api() -> None:
    asked: list[tuple[str, Any]] = []
    run(sources.check, client(asked), SOURCE.id)
    run(sources.resume, client(asked), SOURCE.id)
    run(sources.pause, client(asked), SOURCE.id)
    run(sources.delete, client(asked), SOURCE.id, "--yes")
    acts = ["POST /check", "POST /enable", "POST /disable", "GET ", "DELETE "]
    assert [what.replace(PATH, "") for what, _ in asked] == acts


def several(asked: list[Any], *answers: httpx.Response) -> Client:
    """Return a client of a service that gives one answer after the other."""
    left = iter(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"current": []})
        asked.append(msgspec.json.decode(request.content))
        return next(left)

    return Client("http://service.test", "k", httpx.MockTransport(handle))


def test_a_refused_url_blocks_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    record = msgspec.json.decode(msgspec.json.encode(SOURCE))
    no = httpx.Response(422, json={"detail": "it can't be watched now: answered 404"})
    asked: list[Any] = []
    there = several(asked, httpx.Response(201, json=record), no, httpx.Response(200, json=record))
    code = run(sources.add, there, "a.test/x", "b.test", "ws://c.test", "--tag", "shop")
    told = capsys.readouterr()
    assert asked == [{"url": url, "tags": ["shop"]} for url in ("a.test/x", "b.test", "ws://c.test")]
    assert (code, told.out.count(SOURCE.id)) == (Exit.FAILED, 2)
    assert "sanderling: b.test: It can't be watched now: answered 404." in told.err
    assert "Added." in told.err and "It is already watched." in told.err


def test_an_added_page_says_on_lines_of_their_own_that_a_browser_shows_it_and_when_it_is_checked_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evidence = (
        "an HTML document; served as text/html; This page is empty, so a browser shows it. It fills itself from x"
    )
    record = msgspec.json.decode(msgspec.json.encode(SOURCE)) | {"next_fetch_at": "2026-04-21T10:00:00Z"}
    record["detection"] = record["detection"] | {"evidence": evidence}
    run(sources.add, several([], httpx.Response(201, json=record)), "a.test")
    told = capsys.readouterr().err.splitlines()
    browser = ["  This page is empty, so a browser shows it.", "  It fills itself from x"]
    assert told[:4] == ["Added.", "  an HTML document; served as text/html", *browser]
    assert told[-1].startswith("  The next check is due 21 Apr 2026")


def test_a_path_is_printed_whole_so_that_it_can_be_copied() -> None:
    path = f"$.plans['{'a b ' * 25}'].price"
    value = {"type": "number", "value": "1" * 300, "unit": "", "path": path, "label": path[:60]}
    (told,) = sources.value_lines([value])
    assert told.startswith(f"  {path}: 111") and len(told) < 300


def test_a_new_source_gets_each_setting_that_is_given_and_no_other() -> None:
    record, asked = msgspec.json.decode(msgspec.json.encode(SOURCE)), list[Any]()
    options = [
        "--schedule",
        "15m",
        "--bar",
        "0.4",
        "--title",
        "Ours",
        "--own-only",
        "hours",
        "--render",
        "never",
        "--filter",
    ]
    run(sources.add, several(asked, httpx.Response(201, json=record)), "a.test", *options, "")
    given = {"schedule": "15m", "bar": 0.4, "title": "Ours", "own_only": ["hours"], "render": "never", "filter": ""}
    assert asked == [{"url": "a.test", **given}]


def test_a_service_that_is_gone_ends_it_at_once() -> None:
    asked: list[Any] = []
    busy = httpx.Response(503, json={"detail": "The service is stopping."})
    with pytest.raises(CommandFailed, match="stopping"):
        run(sources.add, several(asked, busy), "a.test", "b.test")
    assert len(asked) == 1


def test_added_sources_can_be_had_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    record = msgspec.json.decode(msgspec.json.encode(SOURCE))
    there = several([], httpx.Response(201, json=record))
    assert run(sources.add, there, "a.test", "--json") == Exit.WELL
    told = capsys.readouterr()
    assert (msgspec.json.decode(told.out), told.err) == (record, "")


def test_named_fields_are_changed_and_an_empty_text_clears_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, Any]] = []
    empty = tmp_path / "headers"
    empty.write_text("")
    named = ["--title", "Mine", "--schedule", "", "--hours", "", "--bar", "0.5", "--headers-file", str(empty)]
    emptied = {"schedule": None, "hours": None, "headers": None}
    changes = {"title": "Mine", "ignore": [".ad"], "bar": 0.5} | emptied
    assert run(sources.edit, client(asked), SOURCE.id, "--ignore", ".ad", "--ignore", "", *named, "--json") == Exit.WELL
    assert asked == [(f"PATCH {PATH}", changes)]
    assert msgspec.json.decode(capsys.readouterr().out)["id"] == SOURCE.id
    assert changes_of("--follow") == {"follow": "new_links"}
    assert changes_of("--no-follow") == {"follow": "none"}
    assert changes_of("--follow-host", "a.example") == {"follow_hosts": ["a.example"]}
    assert changes_of("--headers-for", "*.a.example") == {"headers_for": ["*.a.example"]}
    assert changes_of("--follow-host", "") == {"follow_hosts": []}
    assert changes_of("--own-only", "bar", "--own-only", "hours") == {"own_only": ["bar", "hours"]}
    assert changes_of("--own-only", "") == {"own_only": []}
    with pytest.raises(CommandFailed, match="--bar"):
        changes_of("--bar", "much")
    with pytest.raises(CommandFailed, match="Name something to change"):
        run(sources.edit, client([]), SOURCE.id)


def test_tags_are_added_and_removed_and_a_refused_one_blocks_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[tuple[str, Any]] = []
    assert run(sources.tag, client(asked), "shop", SOURCE.id) == Exit.WELL
    assert asked[-1] == (f"PATCH {PATH}", {"tags": [*SOURCE.tags, "label:shop"]})
    assert run(sources.untag, client(asked), SOURCE.tags[0], SOURCE.id) == Exit.WELL
    assert asked[-1] == (f"PATCH {PATH}", {"tags": list(SOURCE.tags[1:])})
    count = len(asked)
    assert run(sources.tag, client(asked), SOURCE.tags[0], SOURCE.id) == Exit.WELL
    assert len(asked) == count + 1 and "already" in capsys.readouterr().err
    assert run(sources.tag, client(asked), "shop", "nobody.test", SOURCE.id) == Exit.FAILED
    assert asked[-1][0] == f"PATCH {PATH}" and "nobody.test" in capsys.readouterr().err


def test_how_a_page_is_shown_is_changed_like_anything_else_of_it() -> None:
    assert changes_of("--render", "always", "--wait-for", "#p") == {"render": "always", "wait_for": "#p"}
    assert changes_of("--wait-for", "") == {"wait_for": None}


def test_a_rendered_source_shows_the_cost_of_its_checks() -> None:
    record: dict[str, Any] = msgspec.to_builtins(SOURCE)
    status = msgspec.to_builtins(STATUS)
    assert not any("100 plain ones" in line for line in sources.source_page(record, status))
    shown = sources.source_page(record | {"rendered": True, "render": "auto"}, status)
    assert any("auto: a browser shows it, so a check costs as much as 100 plain ones" in line for line in shown)


def test_the_list_takes_a_state_and_a_tag(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[httpx.Request] = []
    found = msgspec.to_builtins(SOURCE) | {"tags": ["label:shop"]}

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=[found])

    def service() -> Client:
        return Client("http://service", "key", httpx.MockTransport(answer))

    run(sources.listed, service(), "--state", "failing", "--tag", "shop")
    assert dict(asked[0].url.params) == {"state": "failing"}
    assert SOURCE.url in capsys.readouterr().out
    run(sources.listed, service(), "--tag", "other")
    assert capsys.readouterr() == ("", "No source matches.\n")


def checked(*statuses: dict[str, Any], refusals: int = 0, after: str = "3") -> tuple[Client, list[str]]:
    """Return a service with these statuses in turn, which refuses a number of checks, and the list of its requests."""
    asked: list[str] = []
    left = list(statuses)

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if request.url.path == "/v1/events":
            newest = [CHANGED | {"title": f"Change {i}"} for i in range(int(request.url.params["limit"]))]
            return httpx.Response(200, json={"events": newest})
        if request.method == "GET":
            return httpx.Response(200, json=msgspec.to_builtins(STATUS) | (left.pop(0) if len(left) > 1 else left[0]))
        if asked.count("POST") <= refusals:
            problem = {"type": "https://x/problems/rate-limited", "detail": f"again in {after} s"}
            return httpx.Response(429, json=problem, headers={"Retry-After": after})
        return httpx.Response(202, json={"next_fetch_at": "2026-04-21T10:00:00.000Z"})

    return Client("http://service", "key", httpx.MockTransport(answer)), asked


EARLIER = {"last_fetch_at": "2026-04-21T09:00:00.000Z", "events": 3, "last_error": None, "reasons": []}
LATER = EARLIER | {"last_fetch_at": "2026-04-21T10:00:00.000Z"}
HELD = {"says": "21 Apr 2026 10:00 UTC, held: another check follows soon.", "at": LATER["last_fetch_at"]}


CHANGED = {
    "source_type": "html",
    "source_url": "https://shop.test/",
    "emitted_at": "2026-04-21T10:00:00.000Z",
    "summary": "Price: £349 → £289",
    "diff": {"added": [], "removed": [], "changed": [{"before": "£349", "after": "£289"}]},
}


def test_a_check_prints_the_difference_that_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    service, _ = checked(EARLIER, EARLIER, LATER | {"events": 4})
    assert run(sources.check, service, SOURCE.id, "--wait") == Exit.WELL
    told = capsys.readouterr()
    assert told.err == "1 new event:\n" and "£349 → £289" in told.out and "Change 0" in told.out
    service, _ = checked(EARLIER, EARLIER, LATER | {"events": 100})
    run(sources.check, service, SOURCE.id, "--wait")
    told = capsys.readouterr()
    assert told.out.count("Change") == 5 and "-n 97" in told.err


@pytest.mark.parametrize(
    ("after", "says", "code"),
    [
        (LATER, "Nothing new.", Exit.WELL),
        (LATER | {"reasons": [HELD]}, "No event: 21 Apr 2026", Exit.WELL),
        (LATER | {"reasons": [HELD | {"at": EARLIER["last_fetch_at"]}]}, "Nothing new.", Exit.WELL),
        (LATER | {"events": 5}, "2 new events:", Exit.WELL),
        (LATER | {"last_error": "the server answered 500"}, "The check failed: the server answered 500.", Exit.FAILED),
    ],
)
def test_a_check_waits_for_its_result(
    capsys: pytest.CaptureFixture[str], after: dict[str, Any], says: str, code: Exit
) -> None:
    service, _ = checked(EARLIER, EARLIER, after)
    assert run(sources.check, service, SOURCE.id, "--wait") == code
    assert capsys.readouterr().err.startswith(says)


def test_a_refusal_of_seconds_is_waited_out_and_a_longer_one_is_not() -> None:
    service, asked = checked(EARLIER, LATER, refusals=1)
    run(sources.check, service, SOURCE.id, "--wait")
    assert asked.count("POST") == 2
    service, asked = checked(EARLIER, LATER, refusals=1, after="40")
    with pytest.raises(CommandFailed, match="again in 40 s"):
        run(sources.check, service, SOURCE.id, "--wait")


def test_options_that_a_watched_source_does_not_take_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    found = msgspec.to_builtins(SOURCE) | {"tags": ["label:shop"], "selector": None}

    def service() -> Client:
        return Client("http://service", "key", httpx.MockTransport(lambda _: httpx.Response(200, json=found)))

    assert run(sources.add, service(), SOURCE.url, "--tag", "shop") == Exit.WELL
    capsys.readouterr()
    assert run(sources.add, service(), SOURCE.url, "--selector", ".price", "--tag", "other") == Exit.FAILED
    assert "--selector, --tag: not applied" in capsys.readouterr().err


def test_an_added_page_shows_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(sources.add, client([]), SOURCE.url) == Exit.WELL
    value = record_of(Values).current[0]
    assert f"{value.path or value.label}: €14.50" in capsys.readouterr().err


def test_a_dry_run_previews_a_source_and_adds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    assert run(sources.add, client(asked), SOURCE.url, "--dry-run", "--tag", "shop", "--schedule", "1h") == Exit.WELL
    assert asked == [("POST /v1/sources/detect", {"url": SOURCE.url, "tags": ["shop"]})]
    found, told = record_of(DetectAnswer), capsys.readouterr().out
    assert found.evidence in told and found.preview.feed is not None and found.preview.feed.newest[0].title in told


def test_a_dry_run_shows_the_values_of_a_page_and_its_texts_only_without_any() -> None:
    found = msgspec.to_builtins(record_of(DetectAnswer))
    page = msgspec.to_builtins(record_of(Preview).page)
    value = {
        "type": "money",
        "text": "12.50 €",
        "value": "12.50",
        "label": "",
        "path": "$.plans[Team].price",
        "unit": "EUR",
    }
    shown = found | {"preview": found["preview"] | {"feed": None, "page": page | {"values": [value]}}}
    told = "\n".join(sources.found_lines(shown))
    assert "$.plans[Team].price: €12.50" in told and page["blocks"][0]["text"] not in told
    shown["preview"]["page"]["values"] = []
    assert page["blocks"][0]["text"] in "\n".join(sources.found_lines(shown))


@pytest.mark.parametrize(
    ("options", "asks", "copied"),
    [
        (("--when", "price<300"), [], []),
        (("--when", "price<300", "--notify", HOOK["label"]), ["GET /v1/destinations"], [HOOK["id"]]),
        (("--notify", "https://hooks.test/in"), [], []),
    ],
)
def test_a_source_comes_with_its_alert(options: tuple[str, ...], asks: list[str], copied: list[str]) -> None:
    asked: list[tuple[str, Any]] = []
    assert run(sources.add, client(asked), SOURCE.url, *options) == Exit.WELL
    to_url = [f"POST /v1/alerts/{ALERT.alert_id}/destinations"] * ("https" in options[-1])
    there = [f"POST {path}" for path in ("/v1/alerts/preview", "/v1/sources", "/v1/alerts")]
    values = f"GET {PATH}/values"
    assert [what for what, _ in asked] == [*asks, there[0], there[1], values, there[2], *to_url]
    alert = dict(asked)[there[2]]
    assert (alert["source_ids"], alert["destination_ids"]) == ([SOURCE.id], copied)
    assert alert["filter_query"] == ("price<300" if "--when" in options else "")


def test_a_webhook_that_is_refused_leaves_nothing_behind() -> None:
    record, asked = msgspec.json.decode(msgspec.json.encode(SOURCE)), list[str]()

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.method} {request.url.path}")
        if request.url.path.endswith("/destinations"):
            return httpx.Response(422, json={"detail": "10.0.0.1 is not a public address"})
        return httpx.Response(201, json=record | {"true_now": [], "name": "x", "current": []})

    there = Client("http://service.test", "k", httpx.MockTransport(handle))
    with pytest.raises(CommandFailed, match=r"Nothing was added\. 10\.0\.0\.1"):
        run(sources.add, there, SOURCE.url, "--notify", "http://10.0.0.1/in")
    assert asked[-2:] == [f"DELETE /v1/alerts/{SOURCE.id}", f"DELETE {PATH}"]


def test_a_query_that_is_refused_adds_nothing() -> None:
    asked: list[Any] = []
    no = httpx.Response(400, json={"detail": "there is no condition prise: did you mean price<300?"})
    with pytest.raises(CommandFailed, match="did you mean price<300"):
        run(sources.add, several(asked, no), SOURCE.url, "--when", "prise<300")
    assert [list(body) for body in asked] == [["filter_query", "last", "limit"]]
