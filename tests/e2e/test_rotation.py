"""The signing key changes while the service runs: nothing restarts, and every event still verifies."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
import trio

from sanderling.client.api import Client
from sanderling_client.verify import check_encoded
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add, run_command
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

BEGINNING = "00000000-0000-7000-8000-000000000000"


async def test_d11_a_rotated_key_signs_the_next_event_and_the_old_ones_still_verify(tmp_path: Path) -> None:
    origin, key = Origin(), a_key(tmp_path)
    data = ("--data", str(tmp_path))
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path) as service, Client(service.url, key) as client:
            first = (await run_command("keys", "signing", *data)).stdout.split()[0].decode()
            await add(client, f"http://{origin.place}/feed", backfill=1)
            rotated = await run_command("keys", "rotate-signing", *data)
            await add(client, f"http://{origin.place}/feed?again", backfill=1)
            found = await run_command(
                "tail", "--since", BEGINNING, "--count", "2", "--json", SANDERLING_URL=service.url, SANDERLING_KEY=key
            )
            async with httpx.AsyncClient(timeout=HANG) as anybody:
                published = (await anybody.get(f"{service.url}/.well-known/jwks.json")).content
        nursery.cancel_scope.cancel()
    events = [json.loads(line) for line in found.stdout.splitlines()]
    second = rotated.stdout.decode().strip()
    assert [event["key_id"] for event in events] == [first, second]
    assert [key["kid"] for key in json.loads(published)["keys"]] == [second, first]
    assert [check_encoded(json.dumps(event).encode(), published).valid for event in events] == [True, True]
