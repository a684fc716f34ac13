"""The command against a running service: add, list, tail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, run_command

pytestmark = pytest.mark.real

BEGINNING = "00000000-0000-7000-8000-000000000000"


async def test_an_added_source_is_listed_and_its_events_are_shown(tmp_path: Path) -> None:
    origin, key = Origin(), a_key(tmp_path)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service:
            to = {"SANDERLING_URL": service.url, "SANDERLING_KEY": key}
            url = f"http://{origin.place}/feed"
            added = await run_command("sources", "add", url, "--tag", "beach", "--backfill", "1", **to)
            again = await run_command("sources", "add", url, **to)
            listed = await run_command("sources", "list", **to)
            why = await run_command("why", "/feed", "FIRST  note", **to)
            told = await run_command("tail", "--since", BEGINNING, "--count", "1", **to)
            raw = await run_command(
                "tail", "--since", BEGINNING, "--count", "1", "--json", "--tag", "label:beach", **to
            )
        nursery.cancel_scope.cancel()

    source = added.stdout.split()[0].decode()
    assert added.returncode == again.returncode == 0
    assert b"feed" in added.stdout and b"Added" in added.stderr and b"already" in again.stderr
    assert source.encode() in again.stdout
    assert listed.stdout.decode().split() == ["ok", "1.00", "feed", source, url, "Notes"]
    assert f"{url}  (Notes)\n  It was reported on ".encode() in why.stdout and b"The last check was on" in why.stdout
    line, text = told.stdout.decode().splitlines()
    assert line.endswith("the first note") and text.strip() == "About the first note."
    event = json.loads(raw.stdout)
    assert (event["title"], event["source_id"]) == ("the first note", source)
