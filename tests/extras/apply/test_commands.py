from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from extras.apply import commands as command
from extras.apply.acting import state_of
from extras.apply.commands import ApplyFlags, apply, planned
from extras.apply.reading import as_text, schema
from extras.apply.writing import write, written
from sanderling.cli import run
from sanderling.client.api import Client
from sanderling.exits import CommandFailed, Exit
from tests.extras.apply.folder import Service, files
from tests.rules.source_files import ROOT

ONE = '[sources.tickets]\nurl = "https://shore.test/tickets"\n'


def a_client(asked: list[str], refusing: str = "") -> Client:
    """Return the client of an empty service that accepts or refuses every change."""

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.method} {request.url.path}")
        if request.method == "GET":
            return httpx.Response(200, json=[])
        if refusing:
            return httpx.Response(422, json={"type": "x/unprocessable", "title": "No", "detail": refusing})
        body = json.loads(request.content)
        made = {
            "id": "1",
            "revision": "r",
            "created_at": "",
            "updated_at": "",
            "has_hello": False,
            "has_headers": False,
        }
        kept = {"type": "feed", "render": "auto"}
        return httpx.Response(201, json=made | kept | body)

    return Client("http://service.test", "svc_k", httpx.MockTransport(handle))


def run_apply(folder: Path, *, refusing: str = "", **asked: Any) -> tuple[int, list[str]]:
    requests: list[str] = []
    return apply(a_client(requests, refusing), folder, ApplyFlags(**asked)), requests


def test_a_plan_asks_no_confirmation_and_does_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, requests = run_apply(files(tmp_path / "f", all=ONE), only_plan=True)
    assert (code, {one.partition(" ")[0] for one in requests}) == (Exit.WELL, {"GET"})
    assert capsys.readouterr().out == (
        "+ sources.tickets\n    url  https://shore.test/tickets\n\n1 to make, 0 to change, 0 to delete.\n"
    )


def test_files_without_a_workspace_belong_to_one_called_as_their_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder := tmp_path / "Shop").mkdir()
    with pytest.raises(CommandFailed, match="it has no"):
        run_apply(folder, only_plan=True)
    (folder / "a.toml").write_text(ONE)
    assert run_apply(folder, only_plan=True, as_json=True)[0] == Exit.WELL
    assert json.loads(capsys.readouterr().out)["workspace"] == "shop"
    folder = folder.rename(tmp_path / "my shop")
    with pytest.raises(CommandFailed, match="no file says whose files"):
        run_apply(folder, only_plan=True)


async def test_a_person_needs_no_flag_to_take_over_an_export_and_a_script_does(
    service: Service, tmp_path: Path
) -> None:
    await service.ask("POST", "/v1/sources", json={"url": "https://shore.test/tickets", "tags": ["mine"]})
    files_of = written(await state_of(service.client()), "main").files
    write(tmp_path / "watch", files_of)
    for asked in (ApplyFlags(only_plan=True), ApplyFlags()):
        plan = await planned(service.client(), tmp_path / "watch", asked)
        assert not plan.faults and [(act.verb, act.changes) for act in plan.acts] == [("take over", [])]
    for asked in (ApplyFlags(yes=True), ApplyFlags(only_plan=True, exit_code=True)):
        assert len((await planned(service.client(), tmp_path / "watch", asked)).faults) == 1


def test_the_exit_code_of_a_plan_says_whether_there_is_something_to_do(tmp_path: Path) -> None:
    assert run_apply(files(tmp_path / "f", all=ONE), only_plan=True, exit_code=True)[0] == Exit.DIFFERS == 3
    assert run_apply(files(tmp_path / "f"), only_plan=True, exit_code=True)[0] == Exit.WELL


@pytest.mark.parametrize("answer", [True, False])
def test_applying_asks_for_confirmation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, answer: bool) -> None:
    monkeypatch.setattr(command, "on_terminal", lambda stream: True)
    monkeypatch.setattr("click.confirm", lambda *args, **kwargs: answer)
    code, requests = run_apply(files(tmp_path / "f", all=ONE))
    assert (code, "POST /v1/sources" in requests) == (Exit.WELL, answer)


def test_without_a_terminal_yes_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "on_terminal", lambda stream: False)
    with pytest.raises(CommandFailed, match="add --yes, or --plan to see the plan") as caught:
        run_apply(files(tmp_path / "f", all=ONE))
    assert caught.value.code is Exit.USAGE


def test_actions_are_printed_and_refusals_set_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_apply(files(tmp_path / "f", all=ONE), yes=True)[0] == Exit.WELL
    told = capsys.readouterr()
    assert told.out.endswith("made       sources.tickets\n") and told.err == "1 made.\n"
    assert run_apply(files(tmp_path / "f", all=ONE), yes=True, refusing="It is full.")[0] == Exit.FAILED
    told = capsys.readouterr()
    assert told.out.endswith("refused    sources.tickets: It is full.\n")
    assert told.err == "1 refused. Run the same command again to continue; finished steps stay.\n"


def test_json_is_the_plan_and_then_each_act(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_apply(files(tmp_path / "f", all=ONE), yes=True, as_json=True)
    plan, act = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (plan["workspace"], plan["sums"]["make"], plan["acts"][0]["name"]) == ("shop", 1, "tickets")
    assert act == {"became": "made", "kind": "sources", "name": "tickets", "says": None}


def test_bad_files_come_before_a_service_that_is_not_there(tmp_path: Path) -> None:
    def nobody(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("All connection attempts failed")

    def client() -> Client:
        return Client("http://service.test", None, httpx.MockTransport(nobody))

    with pytest.raises(CommandFailed, match=r"all.toml:1: sorces: there is no such key; did you mean sources\?"):
        apply(client(), files(tmp_path / "f", all='[sorces.x]\nurl = ""\n'), ApplyFlags())
    with pytest.raises(CommandFailed, match="there is no answer"):
        apply(client(), files(tmp_path / "f", all=ONE), ApplyFlags())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Name the folder of the files"),
        (["nowhere"], "nowhere: there is no such folder."),
        ([".", "--plan", "--yes"], "--plan and --yes exclude each other."),
        ([".", "--exit-code"], "--exit-code needs --plan."),
    ],
)
def test_invalid_flags_are_reported(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["apply", *arguments]) == Exit.USAGE
    assert says in capsys.readouterr().err


def test_the_schema_that_is_shipped_is_that_of_the_tables_that_are_read() -> None:
    assert (ROOT / "docs/schemas/configuration.json").read_text("utf-8") == as_text()
    assert {"url", "headers", "schedule"} <= schema()["$defs"]["SourceTable"]["properties"].keys()
