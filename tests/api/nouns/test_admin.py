"""The admin API over a fake registry: rows, feed, log, and actions with their author."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest
import trio
from msgspec.structs import replace

from actors.messages.sources import CheckNow, EditSource
from actors.messages.views import SourceView
from actors.overseer.overseer import StateTransition, StreamOwner
from actors.setting_table import declared
from storage.records.destination import Match
from storage.records.event import Diff
from storage.records.identity import COUNTER_BITS, Seq
from storage.records.source import BreakerState, Health, SourceRuntime
from supervision import State, StateChange
from supervision.errors import Crash
from tests.api.house import House, ids
from tests.api.listening import Listening, listening
from tests.api.nouns.test_destinations import hooked
from tests.support.build import NOW, a_draft, a_source


def watch(house: House, number: int, *, enabled: bool = True, found_title: str = "", **hot: Any) -> str:
    """Add a source; return its path in the tree."""
    source = a_source(number, enabled=enabled, found_title=found_title)
    house.registry.views[source.id] = SourceView(source, SourceRuntime(**hot))
    return f"sources/{source.id}"


async def test_rows_are_flat_and_paused_sources_are_among_them(house: House, client: httpx.AsyncClient) -> None:
    path = watch(
        house,
        1,
        enabled=False,
        found_title="Site 1 by its own word",
        last_error="503 Service\nmore",
        health=Health(0.25, "rotten"),
    )
    answer = (await client.get("/v1/admin/tree")).json()
    assert answer == {
        "total": 1,
        "start": 0,
        "rows": [
            {
                "path": path,
                "name": "https://site1.test/feed",
                "kind": "feed",
                "state": "paused",
                "health": 0.25,
                "flag": "rotten",
                "restarts": 0,
                "since": "2026-05-28T20:26:40.000Z",
                "error": "503 Service",
                "next": None,
                "title": "Site 1 by its own word",
                "mailbox": None,
                "handled": None,
                "pace_s": None,
                "marks": "",
                "below": None,
            }
        ],
    }


async def test_a_page_is_a_window_of_the_filtered_rows(house: House, client: httpx.AsyncClient) -> None:
    paths = [watch(house, number) for number in range(30)]
    query = {"sort": "path", "start": 25, "limit": 10}
    answer = (await client.get("/v1/admin/tree", params=query)).json()
    assert (answer["total"], [row["path"] for row in answer["rows"]]) == (30, paths[25:])
    found = (await client.get("/v1/admin/tree", params={"filter": "host:site7.test"})).json()
    assert (found["total"], [row["path"] for row in found["rows"]]) == (1, [paths[7]])


async def test_rows_of_named_parts_come_in_that_order_without_removed_parts(
    house: House, client: httpx.AsyncClient
) -> None:
    paths = [watch(house, number) for number in range(3)]
    gone = "sources/019db0a4-5c00-7000-8000-00000000ffff"
    answer = (await client.get("/v1/admin/tree", params={"paths": [paths[2], gone, paths[0]]})).json()
    assert (answer["total"], [row["path"] for row in answer["rows"]]) == (2, [paths[2], paths[0]])


async def test_a_source_shows_the_parts_of_its_score_and_the_reason_for_its_next_check(
    house: House, client: httpx.AsyncClient
) -> None:
    path = watch(house, 1)
    source = (await client.get(f"/v1/admin/tree/{path}")).json()["source"]
    assert [(part["cause"], part["left"]) for part in source["health"]] == [
        ("reach", 1.0),
        ("yield", 1.0),
        ("partial", 1.0),
        ("stuck", 1.0),
    ]
    assert source["next_look"].startswith("It has not been checked yet")


async def test_destinations_are_listed_by_failures_then_by_backlog(house: House, client: httpx.AsyncClient) -> None:
    hooks = [(await hooked(client))["id"] for _ in range(3)]
    failing = lambda hook: replace(hook, state="failing", failing_since=NOW)  # noqa: E731
    await house.storage.alerts.edit_destination(hooks[2], failing)
    await house.storage.outbox.enqueue([Match(hooks[1], Seq(5), NOW)], house.storage.lease)
    answer = (await client.get("/v1/admin/deliveries")).json()
    assert answer["total"] == 3
    assert [(row["id"], row["state"], row["waiting"]) for row in answer["rows"]] == [
        (hooks[2], "failing", 0),
        (hooks[1], "active", 1),
        (hooks[0], "active", 0),
    ]
    page = (await client.get("/v1/admin/deliveries", params={"start": 1, "limit": 1})).json()
    assert [row["id"] for row in page["rows"]] == [hooks[1]]


async def test_sizes_of_one_source_and_of_the_largest(house: House, client: httpx.AsyncClient) -> None:
    path = watch(house, 1)
    light = await house.publish("a")
    heavy = await house.publish(*["b" * 500] * 3, source=2)
    sizes = (await client.get("/v1/admin/sizes")).json()
    held = [{"events": len(found), "bytes": sum(len(event.body) for event in found)} for found in (heavy, light)]
    assert [{"events": one["events"], "bytes": one["bytes"]} for one in sizes["sources"]] == held
    assert sizes["bytes"] - sizes["free"] > sum(one["bytes"] for one in held)
    assert len((await client.get("/v1/admin/sizes", params={"limit": 1})).json()["sources"]) == 1
    assert (await client.get(f"/v1/admin/tree/{path}")).json()["source"]["held"] == held[1]
    status = await (await house.client("sources:read")).get(f"/v1/{path}/status")
    assert status.json()["held"] == held[1]


async def test_the_details_of_a_part_are_complete(house: House, client: httpx.AsyncClient) -> None:
    path = watch(house, 1, breaker=BreakerState("open", 5, 1, NOW), looks=7, last_status=503)
    for error in ("first", "second"):
        house.context.overseer.journal.changes.add(StateTransition(NOW, path, "running", "backoff", error))
    answer = (await client.get(f"/v1/admin/tree/{path}")).json()
    assert answer["row"]["path"] == path and answer["task"] is None
    assert [crash["error"] for crash in answer["crashes"]] == ["second", "first"]
    assert (answer["source"]["breaker"], answer["source"]["looks"], answer["source"]["last_status"]) == ("open", 7, 503)


@pytest.mark.parametrize("path", ["log", "sources/019db0a4-5c00-7000-8000-00000000ffff", "sources/nothing"])
async def test_an_unknown_path_of_the_tree_is_404(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(f"/v1/admin/tree/{path}")).status_code == 404
    assert (await client.post(f"/v1/admin/tree/{path}/restart")).status_code == 404


async def test_actions_reach_the_registry_and_the_log_names_the_caller(house: House) -> None:
    path = watch(house, 1)
    async with await house.client("admin") as client:
        for act in ("check", "disable", "enable"):
            answer = await client.post(f"/v1/admin/tree/{path}/{act}")
            assert (answer.status_code, answer.json()) == (202, {"done": act, "path": path})
    check, off, on = house.registry.seen
    assert isinstance(check, CheckNow) and isinstance(off, EditSource) and isinstance(on, EditSource)
    assert (off.patch.enabled, on.patch.enabled) == (False, True)
    acts = [fields for event, fields in house.logs if event == "admin.act"]
    assert [(act["act"], act["actor"], act["by"], act["done"]) for act in acts] == [
        (act, path, "svc_00000000", True) for act in ("check", "disable", "enable")
    ]


async def test_an_act_that_can_not_be_done_is_logged_as_such(house: House, client: httpx.AsyncClient) -> None:
    path = watch(house, 1, enabled=False)
    for act, says in (("restart", "paused"), ("release", "paused")):
        answer = await client.post(f"/v1/admin/tree/{path}/{act}")
        assert answer.status_code == 409 and says in answer.json()["detail"]
    assert [fields["done"] for event, fields in house.logs if event == "admin.act"] == [False, False]


async def test_a_drain_is_seen_until_it_is_resumed(house: House, client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/admin/drain")).status_code == 202
    assert (await client.get("/v1/admin/overview")).json()["draining"] is True
    await client.post("/v1/admin/resume")
    assert (await client.get("/v1/admin/overview")).json()["draining"] is False


async def test_the_settings_are_those_that_it_runs_with_and_no_secret(house: House, client: httpx.AsyncClient) -> None:
    told = (await client.get("/v1/admin/settings")).json()["settings"]
    assert told.keys() == declared().keys()
    assert told["port"] == house.context.settings.port
    hidden = [name for name, one in declared().items() if one.secret and one.default]
    assert {told[name] for name in hidden} <= {"********"}


async def test_open_streams_are_listed_with_owner_and_position_and_can_be_closed(
    house: House, client: httpx.AsyncClient, autojump_clock: object
) -> None:
    async with listening(house, "/v1/stream?tag=prices") as one:
        await trio.sleep(1)
        told = await house.publish("Rope")
        await trio.sleep(1)
        answer = (await client.get("/v1/admin/streams")).json()
        (seen,) = answer["streams"]
        assert (answer["total"], answer["node"]) == (1, "")
        assert seen["asked"] == "/v1/stream?tag=prices" and seen["behind_s"] == 0
        assert seen["cursor"][:13] == ids(told)[0][:13] and seen["bytes"] == 0, (
            "it has looked at it, and it did not pass"
        )
        assert "sha256" not in seen and seen["prefix"].startswith("svc_") and len(seen["prefix"]) == 12
        keys = {one["id"]: one for one in (await client.get("/v1/admin/keys")).json()["keys"]}
        assert [one["streams"] for id, one in keys.items() if id != seen["key"]] == [0] * (len(keys) - 1)
        assert keys[seen["key"]]["streams"] == 1
        assert (await client.post(f"/v1/admin/streams/{seen['number']}/close")).status_code == 202
        while await one.chunk():
            pass
    assert (await client.get("/v1/admin/streams")).json()["streams"] == []
    assert (await client.post(f"/v1/admin/streams/{seen['number']}/close")).status_code == 404


async def test_the_reader_furthest_behind_comes_first(house: House, client: httpx.AsyncClient) -> None:
    (now,) = await house.publish("Rope")
    behind = Seq(now.seq - (5_000 << COUNTER_BITS))
    for name, place in (("a", None), ("b", now.seq), ("c", behind)):
        reader = None if place is None else SimpleNamespace(cursor=place, sent=7)
        house.context.open_streams.add(
            StreamOwner("", name), "", "/v1/stream", NOW, progress=reader, close=lambda: None
        )
    answer = (await client.get("/v1/admin/streams?limit=2")).json()
    assert [(one["name"], one["behind_s"], one["cursor"] is None) for one in answer["streams"]] == [
        ("c", 5.0, False),
        ("a", 0, True),
    ]
    assert answer["total"] == 3


async def test_a_key_is_revoked_and_the_next_request_with_it_is_refused(
    house: House, client: httpx.AsyncClient
) -> None:
    plain = await house.key("stream:read")
    newest, *_rest = (await client.get("/v1/admin/keys")).json()["keys"]
    id = newest["id"]
    assert newest["scopes"] == ["stream:read"] and plain not in str(newest)
    async with house.stranger(Authorization=f"Bearer {plain}") as program:
        assert (await program.get("/v1/events")).status_code == 200
        assert (await program.get("/v1/admin/keys")).status_code == 403
        assert (await client.post(f"/v1/admin/keys/{id}/revoke")).status_code == 202
        assert (await program.get("/v1/events")).status_code == 401
    assert (await client.post(f"/v1/admin/keys/{id}/revoke")).status_code == 404
    acts = [fields for event, fields in house.logs if event == "admin.act"]
    assert [(one["act"], one["actor"], one["done"]) for one in acts] == [
        ("revoke", f"keys/{id}", True),
        ("revoke", f"keys/{id}", False),
    ]


async def test_the_overview_counts(house: House, client: httpx.AsyncClient) -> None:
    watch(house, 1)
    watch(house, 2, health=Health(0.5, "degraded"))
    house.readiness["matcher"] = "It is behind."
    house.context.world.metrics.looks.add("feed", "unchanged", by=3)
    async with listening(house):
        answer = (await client.get("/v1/admin/overview")).json()
    assert (answer["version"], answer["ready"], answer["failing"]) == ("9.9", False, {"matcher": "It is behind."})
    assert {name: answer["sources"][name] for name in ("total", "ok", "degraded", "rotten")} == {
        "total": 2,
        "ok": 1,
        "degraded": 1,
        "rotten": 0,
    }
    assert (answer["totals"]["looks"], answer["totals"]["events"]) == (3, 0)
    assert (answer["looks"]["passed_for_s"], answer["looks"]["says"]) == (0.0, "")
    assert answer["streams"] == 1
    assert answer["matching"] == {"behind": 0, "seconds": 0.0, "says": ""}


async def test_the_feed_sends_updates_each_second(house: House, autojump_clock: object) -> None:
    async with listening(house, "/v1/admin/feed", key=await house.key("admin")) as feed:
        assert [name for name, _ in await said(feed, 1)] == ["counts"]
        change = StateChange(
            "sanderling/log", State.RUNNING, State.BACKOFF, trio.current_time(), 1, Crash("Boom", "bad")
        )
        house.context.overseer.on_state_change(change)
        diff = Diff(("High tide",), (), ())
        await house.publish(a_draft("Tide"), a_draft("Page", source_type="html", diff=diff, summary="Tide: low → high"))
        _, (name, change_told), (_, event), (_, page) = await said(feed, 4)
        assert name == "change"
        assert {**change_told, "at": ""} == {
            "at": "",
            "path": "log",
            "was": "running",
            "now": "backoff",
            "error": "Boom: bad",
        }
        assert (event["headline"], event["source_type"]) == ("Tide", "feed")
        assert page["headline"] == "Tide: low → high · Page"
        for number in range(60):
            await house.publish(a_draft(str(number)))
        told = await said(feed, 52)
        assert told[1] == ("skipped", {"of": "event", "count": 10})
        assert [event["headline"] for _, event in told[2:]] == [str(number) for number in range(10, 60)]


async def said(feed: Listening, count: int) -> list[tuple[str, Any]]:
    """Return the next `count` named frames."""
    found: list[tuple[str, Any]] = []
    while len(found) < count:
        fields = dict(line.split(b": ", 1) for line in (await feed.frame()).split(b"\n"))
        if b"event" in fields:
            found.append((fields[b"event"].decode(), msgspec.json.decode(fields[b"data"])))
    return found


async def test_log_lines_of_an_actor_are_read_after_a_number(house: House, client: httpx.AsyncClient) -> None:
    for number in range(5):
        actor = "sources/1" if number % 2 else "log"
        line = {"ts": "2026", "level": "info", "event": "look", "actor": actor, "number_of": number}
        house.context.overseer.journal.lines.add(line)
    answer = (await client.get("/v1/admin/log", params={"actor": "log", "after": 1, "limit": 1})).json()
    assert answer == {
        "last": 5,
        "lines": [
            {
                "number": 5,
                "ts": "2026",
                "level": "info",
                "event": "look",
                "actor": "log",
                "fields": {"number_of": 4},
            }
        ],
    }
