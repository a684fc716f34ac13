"""A user's template over a local origin: attached for real, finished after a kill, streamed by its channel."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio
from quart import Response

from sanderling.client.api import Client
from sanderling.exits import CommandFailed
from tests.e2e.origin import PARAGRAPH, Origin
from tests.e2e.service import a_key, a_service, run_command
from tests.e2e.test_watching import BEGINNING, Reader, checking
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

TEMPLATE = """
id = "beach"
version = 2
name = "The beach"
summary = "All that the beach has."
category = "birds"

[[sources]]
url = "http://{place}/page"
type = "html"

[[sources]]
url = "http://{place}/feed"
type = "feed"

[[sources]]
url = "http://{place}/stalls"
type = "html"

[[sources]]
url = "http://{place}/absent"
type = "html"

[[alerts]]
key = "waders"
name = "Waders"
query = "sanderling OR knot"
"""


class StallingOrigin(Origin):
    """An origin with a page that a test holds back, and a missing one."""

    def __init__(self) -> None:
        super().__init__()
        self.may = trio.Event()
        self.asked = trio.Event()
        self.app.add_url_rule("/stalls", view_func=self._stalls)

    async def _stalls(self) -> Response:
        self.asked.set()
        await self.may.wait()
        return Response(
            f"<html><title>Late</title><body><main><p>{PARAGRAPH}</p><p>Late. {PARAGRAPH}</p></main></body>"
        )


def furnish(folder: Path, place: str) -> Path:
    """Write a data folder's settings, and a folder with a good template and a bad one."""
    templates = folder / "templates"
    templates.mkdir()
    (templates / "beach.toml").write_text(TEMPLATE.replace("{place}", place), "utf-8")
    (templates / "typo.toml").write_text(TEMPLATE.replace('"beach"', '"typo"').replace("version", "versoin"), "utf-8")
    (folder / "sanderling.toml").write_text(f'templates = "{templates}"\n', "utf-8")
    return templates


async def instantiate(client: Client) -> dict[str, Any]:
    answer = await client.ask("POST", "/v1/templates/beach/instantiate", json={"alerts": True})
    return dict(answer.json())


async def cut_off(client: Client) -> None:
    """Instantiate, but drop the connection before the answer."""
    with suppress(CommandFailed):
        await instantiate(client)
        raise AssertionError("it was not cut off")


async def test_a_call_cut_off_by_a_kill_is_finished_by_the_next_one(tmp_path: Path) -> None:
    origin, key = StallingOrigin(), a_key(tmp_path)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        templates = furnish(tmp_path, origin.place)
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            refused = [line for line in service.log if '"template.refused"' in line]
            assert len(refused) == 1 and "typo.toml" in refused[0] and '"line":3' in refused[0].replace(" ", "")
            async with trio.open_nursery() as calls:
                calls.start_soon(cut_off, client)
                with trio.fail_after(HANG):
                    await origin.asked.wait()
                    while len((await client.ask("GET", "/v1/sources")).json()) < 2:  # noqa: ASYNC110  # no event
                        await trio.sleep(0.1)
                assert await service.end(signal.SIGKILL) == -signal.SIGKILL
                calls.cancel_scope.cancel()
        origin.may.set()
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            report = await instantiate(client)
            assert {source["url"].rpartition("/")[2]: source["status"] for source in report["sources"]} == {
                "page": "attached_existing",
                "feed": "attached_existing",
                "stalls": "attached_new",
                "absent": "failed",
            }
            assert (report["version"], report["status"]) == (2, "partial")
            assert "404" in report["sources"][3]["reason"]
            (alert,) = report["alerts"]
            assert (alert["status"], alert["source_count"]) == ("created", 3)
            assert [each["status"] for each in (await instantiate(client))["alerts"]] == ["exists"]
            reader = Reader()
            nursery.start_soon(client.follow, "/v1/streams/beach", [("since", BEGINNING)], reader.take)
            origin.items.append("a knot")
            async with checking(client, report["sources"][1]["source_id"]):
                note = await reader.wait_for(lambda event: event["title"] == "a knot")
            assert "template:beach" in note["tags"]
            nursery.cancel_scope.cancel()
    checked = await run_command("templates", "check", str(templates))
    assert checked.returncode == 1
    assert checked.stdout.decode().splitlines() == [
        "beach.toml: beach, version 2, is well",
        "typo.toml:3: versoin: there is no such field: take it out",
    ]
