"""The overseer over the whole service: a feed, a receiver, and an operator."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import httpx
import trio

from actors.sources.polling import PolledSource
from actors.sources.schedule.pause import SPREAD
from tests.actors.test_delivering import HOUR, Town, asked

FEED = "http://news.test/feed"


async def rows(client: httpx.AsyncClient, **query: Any) -> dict[str, dict[str, Any]]:
    """Return the rows of the tree by path, in order."""
    answer = await client.get("/v1/admin/tree", params=query)
    return {row["path"]: row for row in answer.json()["rows"]}


async def test_the_tree_has_parts_sources_and_destinations(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            source = await asked(client, "/v1/sources", url=FEED, tags=["topic:news"])
            alert = await asked(client, "/v1/alerts", filter_query="", language="en", source_ids=[])
            hook = await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            await trio.sleep(2)
            found = await rows(client, sort="path")
            feed, post = found[f"sources/{source['id']}"], found[f"destinations/{hook['id']}"]
            assert (feed["kind"], feed["name"], feed["state"], feed["health"]) == ("feed", FEED, "ok", 1.0)
            assert feed["next"] is not None
            assert (post["kind"], post["name"], post["state"]) == ("destination", "https://hook.test/in", "ok")
            assert {"log", "matcher", "registry", "web"} <= set(found)
            assert list(await rows(client, filter="tag:news")) == [f"sources/{source['id']}"]
            await client.post(f"/v1/admin/tree/sources/{source['id']}/disable")
            assert (await rows(client))[f"sources/{source['id']}"]["state"] == "paused"
            log = (await client.get("/v1/admin/tree/log")).json()
            assert log["mailbox"]["bound"] == 1024 and log["awaiting"].endswith(" in receive")


async def test_a_row_shows_queue_last_results_and_failing_destinations(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        town.statuses = [500]
        async with town.running() as client:
            source = await asked(client, "/v1/sources", url=FEED)
            alert = await asked(client, "/v1/alerts", filter_query="", language="en", source_ids=[])
            hook = await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            town.titles += ["Weather"]
            await trio.sleep(12 * HOUR)
            found = await rows(client, tree=True, troubled=["sources", "destinations"])
            feed, post = f"sources/{source['id']}", f"destinations/{hook['id']}"
            assert (found[post]["state"], found[post]["error"]) == ("failing", "HTTP 500")
            assert found[post]["next"] > found[post]["since"] and found[post]["mailbox"] == 0
            assert found["destinations"]["below"] == {"total": 1, "worst": "failing"}
            assert found["sources"]["below"] == {"total": 1, "worst": "ok"} and feed not in found
            assert found["log"]["handled"] > 0 and found["log"]["below"] is None
            row = (await rows(client, tree=True, open=["sources"]))[feed]
            assert row["marks"] == 20 * "." and row["pace_s"] > 0
            town.titles += ["Wind"]
            await client.post(f"/v1/admin/tree/{feed}/check")
            await trio.sleep(120)
            assert (await rows(client, paths=[feed]))[feed]["marks"].rstrip(".").endswith("+")


async def test_a_source_in_quarantine_is_the_worst_says_why_and_can_be_released(
    autojump_clock: object, monkeypatch: Any
) -> None:
    async def broken(self: PolledSource, *, on_request: bool) -> None:
        raise ValueError("a bug\nof two lines")

    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            source = await asked(client, "/v1/sources", url=FEED)
            path = f"sources/{source['id']}"
            monkeypatch.setattr(PolledSource, "_check", broken)
            await trio.sleep(2 * HOUR)
            (worst, row), *_ = (await rows(client)).items()
            assert (worst, row["state"], row["error"]) == (path, "quarantined", "ValueError: a bug")
            assert row["restarts"] >= 6 and row["next"] > row["since"]
            whole = (await client.get(f"/v1/admin/tree/{path}")).json()
            assert len(whole["crashes"]) >= 6 and whole["crashes"][0]["error"] == "ValueError: a bug"
            assert whole["places"][-1].endswith("in broken")
            monkeypatch.undo()
            assert (await client.post(f"/v1/admin/tree/{path}/release")).status_code == 202
            await trio.sleep(1)
            assert (await rows(client))[path]["state"] == "ok"
            assert (await client.post(f"/v1/admin/tree/{path}/release")).status_code == 409


async def test_a_restart_of_a_part_restarts_its_dependants_and_loses_nothing(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url=FEED)
            before = {path: row["restarts"] for path, row in (await rows(client)).items()}
            assert (await client.post("/v1/admin/tree/matcher/restart")).status_code == 202
            await trio.sleep(30)
            with suppress(httpx.RemoteProtocolError):  # the front end restarted too, and dropped its connections
                await client.get("/healthz")
            town.titles += ["After"]
            await trio.sleep(2 * HOUR)
            after = {path: row["restarts"] for path, row in (await rows(client)).items()}
            assert after["matcher"] == before["matcher"] + 1 and after["log"] == before["log"]
            history = (await client.get("/v1/events")).json()["events"]
            assert [event["title"] for event in history] == ["After"]


async def test_a_drained_node_checks_nothing_and_resumes_within_a_minute(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            source = await asked(client, "/v1/sources", url=FEED)
            path = f"sources/{source['id']}"
            await client.post("/v1/admin/drain")
            town.titles += ["Meanwhile"]
            await trio.sleep(3 * HOUR)
            assert (await rows(client))[path]["state"] == "held"
            assert (await client.get("/v1/events")).json()["events"] == []
            assert (await client.get("/readyz")).status_code == 503
            await client.post("/v1/admin/resume")
            await trio.sleep(SPREAD + 5)
            assert [event["title"] for event in (await client.get("/v1/events")).json()["events"]] == ["Meanwhile"]
            assert (await client.get("/readyz")).status_code == 200


async def test_checks_events_and_matches_are_counted(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        town = Town(nursery)
        async with town.running() as client:
            await asked(client, "/v1/sources", url=FEED)
            alert = await asked(client, "/v1/alerts", filter_query="", language="en", source_ids=[])
            await asked(client, f"/v1/alerts/{alert['id']}/destinations", url="https://hook.test/in")
            town.titles += ["Weather"]
            await trio.sleep(2 * HOUR)
            metrics = town.world.metrics
            assert metrics.looks.values["feed", "changed"] == 1 and metrics.looks.values["feed", "unchanged"] > 1
            assert metrics.events.values == {("feed",): 1}
            assert metrics.matches.total() == 1
            assert (metrics.attempts.values, metrics.settled.values) == ({("delivered",): 1}, {("sent",): 1})
            assert sum(metrics.delivery_delay.counts) == sum(metrics.attempt_time.counts) == 1
            assert sum(metrics.look_delay.counts) == metrics.looks.total()
            text = (await client.get("/metrics")).text
            assert 'sanderling_looks_total{outcome="changed",tier="feed"} 1.0' in text
            assert 'sanderling_sources_watched{tier="feed"} 1.0' in text
            assert "sanderling_matcher_lag_seconds 0.0" in text and "sanderling_matcher_lag_events 0.0" in text
