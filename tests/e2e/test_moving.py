"""A whole instance moves while it runs, and the new one continues the watching."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from sanderling.client.api import Client
from sanderling.exits import CommandFailed
from sanderling_client.verify import check_encoded
from tests.e2e.origin import PARAGRAPH, Origin
from tests.e2e.service import Service, a_key, a_service, add, run_command
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

NEWS = f"A spoonbill has come to the beach this morning, the first one of this year. {PARAGRAPH}"


async def told(service: Service, key: str, count: int, *since: str) -> list[dict[str, Any]]:
    """Wait for this many events of a service and return them."""
    arguments = ("tail", "--count", str(count), "--json", *since)
    with trio.fail_after(HANG):
        found = await run_command(*arguments, SANDERLING_URL=service.url, SANDERLING_KEY=key)
    return [json.loads(line) for line in found.stdout.splitlines()]


async def look(client: Client, *sources: dict[str, object]) -> None:
    """Request checks of the sources again and again, as often as politeness allows."""
    while True:
        for source in sources:
            with suppress(CommandFailed):  # a check is under way, or just ended
                await client.ask("POST", f"/v1/sources/{source['id']}/check")
        await trio.sleep(0.3)


async def test_sources_alerts_cursors_and_signatures_go_on_after_a_move(tmp_path: Path) -> None:
    origin, file = Origin(), str(tmp_path / "instance.ndjson")
    old, new = tmp_path / "old", tmp_path / "new"
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        key = a_key(old)
        async with a_service(old) as service, Client(service.url, key) as client:
            feed = await add(client, f"http://{origin.place}/feed", backfill=1)
            page = await add(client, f"http://{origin.place}/page")
            body = {"name": "all", "filter_query": "", "private_source_ids": [feed["id"], page["id"]]}
            alert = (await client.ask("POST", "/v1/alerts", json=body)).json()
            (first,) = await told(service, key, 1, "--since", "00000000-0000-7000-8000-000000000000")
            done = await run_command("export", file, "--data", str(old))
            assert done.returncode == 0, done.stderr
        done = await run_command("import", "--yes", file, "--data", str(new))
        assert done.returncode == 0, done.stderr
        origin.items.append("the second note")
        origin.paragraphs.insert(1, NEWS)
        key = a_key(new)
        async with a_service(new) as service, Client(service.url, key) as client:
            async with trio.open_nursery() as looking:
                looking.start_soon(look, client, feed, page)
                events = await told(service, key, 2, "--since", first["id"])
                looking.cancel_scope.cancel()
            assert {event["source_id"] for event in events} == {feed["id"], page["id"]}
            assert {event["title"] for event in events if event["source_id"] == feed["id"]} == {"the second note"}
            (difference,) = [event["diff"] for event in events if event["source_id"] == page["id"]]
            assert (difference["added"], difference["removed"]) == ([NEWS], [])
            kept = (await client.ask("GET", "/v1/events")).json()["events"]
            assert [event["id"] for event in kept] == [first["id"], *(event["id"] for event in events)]
            published = (await client.ask("GET", "/.well-known/jwks.json")).content
            assert all(check_encoded(json.dumps(event).encode(), published).valid for event in kept)
            assert len({event["key_id"] for event in kept}) == 2
            with trio.fail_after(HANG):
                while (await client.ask("GET", f"/v1/alerts/{alert['id']}")).json()["match_count"] < 2:  # noqa: ASYNC110 - a poll
                    await trio.sleep(0.1)
        nursery.cancel_scope.cancel()
