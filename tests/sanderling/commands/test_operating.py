"""`sanderling status` and `health` against the real admin socket, and their words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from stat import S_IMODE
from typing import Any

import httpx
import pytest
import trio

from api.openapi.document import example_of
from api.server.server import admin_socket
from sanderling import ADMIN_SOCKET
from sanderling.cli import run
from sanderling.client.api import Client, client_of
from sanderling.client.lines import span
from sanderling.commands import operating
from sanderling.commands.operating import screen
from sanderling.exits import CommandFailed, Exit
from sanderling.listeners import open_admin_socket
from storage.records.event import Event
from storage.records.identity import seq_of
from storage.records.source import Health
from supervision import ChildSpec, State, Supervisor
from tests.api.house import House, make_house, running
from tests.api.nouns.test_admin import watch
from tests.sanderling.client.documented import run as typed
from tests.support.build import a_source_id
from tests.support.waiting import HANG, until

OVERVIEW: dict[str, Any] = {
    "at": "2026-04-21T10:00:00.000Z",
    "started_at": "2026-04-20T08:00:00.000Z",
    "version": "9.9",
    "ready": False,
    "draining": True,
    "failing": {"watching": "no check has finished for 10 min"},
    "sources": {"total": 98412, "ok": 98000, "states": {"failing": 2, "resting": 0, "ok": 98410}},
    "destinations": {"total": 2},
    "totals": {"looks": 12, "events": 3, "secret": 4},
    "queues": {"log": 0},
    "matching": {"behind": 7, "seconds": 80.0, "says": "7 events not matched with alerts yet"},
    "streams": 61,
    "loop_lag_s": 0.004,
    "nodes": [
        {"name": "a-1f", "this": True, "inside": True, "sources": 1200, "overdue": 3, "streams": 9},
        {"name": "b-2c", "this": False, "inside": False, "sources": 0, "overdue": 0, "streams": 0},
        {
            "name": "c-9d",
            "this": False,
            "inside": True,
            "sources": 0,
            "overdue": 0,
            "streams": 4,
            "role": "web",
            "missing": {"after": "2026-04-21T09:00:00Z", "until": "2026-04-21T09:00:02Z"},
        },
    ],
}


@asynccontextmanager
async def behind_a_socket(folder: Path, house: House) -> AsyncIterator[Supervisor]:
    """Answer on the admin socket of a folder for the length of the block."""

    async def open_it() -> Any:
        return await open_admin_socket(folder, house.context.world.log)

    context = replace(house.context, world=replace(house.context.world, admin_socket=open_it))
    tree = Supervisor("root", admin_socket(context), chance=house.context.world.chance("x"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(house.registry.run)
        nursery.start_soon(tree.run)
        await until(lambda: [child.state for child in tree.children] == [State.RUNNING])
        yield tree
        tree.stop()
        nursery.cancel_scope.cancel()


@pytest.mark.real
async def test_the_socket_is_the_owners_and_has_the_whole_api_without_a_key_and_no_page(tmp_path: Path) -> None:
    house = make_house()
    async with behind_a_socket(tmp_path, house), client_of(str(tmp_path), None, None, {}) as client:
        assert S_IMODE((tmp_path / ADMIN_SOCKET).stat().st_mode) == 0o600
        for path in ("/v1/admin/overview", "/v1/sources", "/v1/alerts", "/v1/webhook-bins", "/v1/events", "/metrics"):
            answer = await client.ask("GET", path)
            assert (answer.status_code, "RateLimit-Limit" in answer.headers) == (200, True)
        for path in ("/", "/sources", "/sign-in", "/bins/x", "/docs"):
            with pytest.raises(CommandFailed, match="There is nothing at this path"):
                await client.ask("GET", path)
        with pytest.raises(CommandFailed, match="There is no such destination"):
            await client.ask("POST", f"/v1/destinations/{a_source_id(1)}/test")
        await client.ask("POST", "/v1/admin/drain")
    (act,) = [fields for event, fields in house.logs if event == "admin.act"]
    assert (act["act"], act["by"], act["name"], act["done"]) == ("drain", "socket", "this machine", True)


@pytest.mark.real
async def test_a_stream_over_the_socket_has_keep_alives(tmp_path: Path) -> None:
    came = b""
    async with (
        behind_a_socket(tmp_path, make_house(keepalive=1)),
        await trio.open_unix_socket(str(tmp_path / ADMIN_SOCKET)) as stream,
    ):
        await stream.send_all(b"GET /v1/stream HTTP/1.1\r\nHost: local\r\n\r\n")
        with trio.fail_after(HANG):
            while came.count(b"\n: ") < 2:  # the first gives the stream's start
                came += await stream.receive_some()
    assert came.startswith(b"HTTP/1.1 200")


@pytest.mark.real
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Cookie": "session=x"},
        {"Host": "watch.example.org"},
        {"X-Forwarded-For": "192.0.2.1"},
        {"Forwarded": "for=192.0.2.1"},
        {"Via": "1.1 proxy"},
    ],
)
async def test_x25_requests_passed_on_by_a_browser_or_proxy_are_refused(
    headers: dict[str, str], tmp_path: Path
) -> None:
    house = make_house(cors_origins=("http://localhost",))
    async with behind_a_socket(tmp_path, house), client_of(str(tmp_path), None, None, {}) as client:
        for method, path in (("GET", "/v1/sources"), ("POST", "/v1/sources"), ("OPTIONS", "/v1/sources")):
            answer = await client._http.request(method, path, headers=headers, json={"url": "https://example.org/"})
            assert answer.status_code == 403, (method, path)
    assert house.registry.seen == []


@pytest.mark.real
async def test_leftovers_of_an_earlier_run_are_no_problem(tmp_path: Path) -> None:
    (tmp_path / ADMIN_SOCKET).write_text("left over")
    house = make_house()
    async with behind_a_socket(tmp_path, house) as tree:
        made = (tmp_path / ADMIN_SOCKET).stat().st_ctime_ns
        tree.restart_child("admin")
        await until(lambda: (tmp_path / ADMIN_SOCKET).exists() and (tmp_path / ADMIN_SOCKET).stat().st_ctime_ns != made)
        await until(lambda: tree.status("admin").state is State.RUNNING)
        async with client_of(str(tmp_path), None, None, {}) as client:
            assert (await client.ask("GET", "/healthz")).status_code == 200


@pytest.mark.real
async def test_health_is_one_line_and_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house = make_house()

    async def asked() -> tuple[int, str]:
        code = await trio.to_thread.run_sync(run, ["health", "--data", str(tmp_path)])
        return code, capsys.readouterr().out

    code, line = await asked()
    assert code == 1 and line.startswith("not reachable: ") and line.count("\n") == 1
    async with behind_a_socket(tmp_path, house):
        assert await asked() == (0, "ready\n")
        house.readiness["watching"] = "no check has \x1b[31m ended"
        assert await asked() == (1, "not ready: watching: no check has ?[31m ended\n")


@pytest.mark.real
async def test_status_shows_the_worst_and_exits_by_readiness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = make_house()
    watch(house, 1, health=Health(0.1, "rotten"), last_error="503")
    watch(house, 2)

    def shown(*flags: str) -> tuple[int, str]:
        return run(["status", "--data", str(tmp_path), *flags]), capsys.readouterr().out

    async with behind_a_socket(tmp_path, house):
        code, text = await trio.to_thread.run_sync(shown)
        assert code == 0 and "ready" in text and "ok 1" in text and "rotten 1" in text
        house.readiness["watching"] = "stalled"
        code, text = await trio.to_thread.run_sync(lambda: shown("--json"))
        found = json.loads(text)
        assert code == 1 and found["failing"] == {"watching": "stalled"} and found["sources"]["total"] == 2


@pytest.mark.real
def test_an_unreachable_service_is_exit_code_69(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--data", str(tmp_path)]) == Exit.UNREACHABLE
    assert f"No service runs on the data folder {tmp_path}. Start it: " in capsys.readouterr().err
    assert run(["health", "--data", str(tmp_path)]) == Exit.FAILED


def test_top_shows_figures_failures_and_the_worst_sources() -> None:
    row: dict[str, Any] = {
        "path": "sources/019db0a4-5c00-7000-8000-000000000001",
        "name": "https://shop.example/p",
        "error": "503 x6",
    }
    rows = [{**row, "state": "quarantined", "health": 0.25}, {**row, "path": "log", "state": "backoff", "health": None}]
    lines = list(screen(OVERVIEW, rows, 80))
    assert lines[0] == "Sanderling 9.9  NOT READY, drained  up 1d 2h"
    assert "sources       total 98,412  failing 2  ok 98,410" in lines
    assert "since start   looks 12  events 3" in lines
    assert "! watching: no check has finished for 10 min" in lines
    assert "! matching: 7 events not matched with alerts yet" in lines
    assert f"{'node':<13} a (this)  sources 1,200  overdue 3  streams 9" in lines
    assert f"{'node':<13} b  not inside" in lines
    assert lines[-2].split() == ["sources/…000001", "quarantined", "0.25", "https://shop.example/p", "503", "x6"]
    assert all(len(line) <= 80 for line in lines)
    assert list(screen(OVERVIEW, [{**rows[0], "title": "Kettles"}], 80))[-1].split()[-3:] == ["Kettles", "503", "x6"]


def test_no_line_of_the_screen_is_wider_than_80_cells_and_requests_are_those_of_the_api() -> None:
    totals = dict.fromkeys(("looks", "events", "matches", "attempts", "http_requests"), 123_456_789)
    queues = dict.fromkeys(("log", "matcher", "registry", "importer", "hub"), 12_345)
    lines = list(screen(OVERVIEW | {"totals": totals, "queues": queues}, [], 80))
    assert max(map(len, lines)) <= 80
    assert any(line.endswith("  API requests 123,456,789") for line in lines)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59, "59s"), (3600, "1h"), (3661, "1h 1m"), (90_000, "1d 1h"), (86_460, "1d")]
)
def test_a_span_is_its_two_largest_units(seconds: float, text: str) -> None:
    assert span(seconds) == text


async def test_without_a_socket_the_rest_still_works(autojump_clock: object) -> None:
    house = make_house()

    async def refuse() -> Any:
        raise OSError("AF_UNIX path too long")

    context = replace(house.context, world=replace(house.context.world, admin_socket=refuse))
    tree = Supervisor("root", [*admin_socket(context)], chance=house.context.world.chance("x"))
    async with running(house), trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        await trio.sleep(1)
        assert str(tree.status("admin").state) == "running"
        assert ("admin.no_socket", "AF_UNIX path too long") in [(name, told.get("error")) for name, told in house.logs]
        tree.stop()


def test_no_world_without_an_admin_socket_has_the_child() -> None:
    assert [spec for spec in admin_socket(make_house().context) if isinstance(spec, ChildSpec)] == []


def test_the_replica_has_a_line_with_its_lag_and_error() -> None:
    replica = {"place": "/mnt/standby", "told_at": "2026-04-21T09:59:58.000Z", "untold": 0, "says": ""}
    for told, line in (
        ({}, "replica       2s behind  /mnt/standby"),
        ({"told_at": None}, "replica       nothing is in it yet  /mnt/standby"),
        ({"says": "it is away"}, "! replica:    2s behind  it is away"),
    ):
        assert line in list(screen({**OVERVIEW, "replica": replica | told}, [], 80))
    assert not [line for line in screen(OVERVIEW, [], 80) if "replica" in line]


def test_past_events_are_the_newest_in_a_window_oldest_first(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[httpx.Request] = []
    bodies = [example_of(Event) | {"title": title} for title in ("newer", "older")]

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"events": bodies if request.url.params["from"] == "earliest" else []})

    def service() -> Client:
        return Client("http://service", "key", httpx.MockTransport(answer))

    typed(operating.events, service(), "--json", "-n", "2", "--tag", "shop")
    assert [json.loads(line)["title"] for line in capsys.readouterr().out.splitlines()] == ["older", "newer"]
    assert asked[0].url.params["order"] == "desc" and asked[0].url.params["limit"] == "2"
    assert asked[0].url.params["tag"] == "shop"
    typed(operating.events, service(), "--since", "10m")
    assert "No events" in capsys.readouterr().err
    assert seq_of(asked[1].url.params["from"])  # a position that the service reads
