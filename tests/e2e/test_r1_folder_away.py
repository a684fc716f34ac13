"""The data folder is away for some seconds, as on a network disk; events keep coming, during and after."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import trio

from sanderling.client.api import Client
from tests.e2e.service import a_key, a_service
from tests.support.waiting import HANG

pytestmark = pytest.mark.real

NO_RIGHTS = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
AWAY = 3.0


@pytest.mark.skipif(bool(NO_RIGHTS) and shutil.which(NO_RIGHTS[0]) is None, reason="root sees through a folder's mode")
async def test_r1_a_folder_that_was_away_for_seconds_is_written_to_again(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    key = a_key(folder)
    async with a_service(folder, under=NO_RIGHTS) as service:
        client = Client(service.url, key)

        async def make(name: str) -> None:
            with trio.fail_after(HANG):
                await client.ask("POST", "/v1/alerts", json={"name": name, "filter_query": "plover"})

        await make("before")
        folder.chmod(0)
        try:
            await make("meanwhile")
            await trio.sleep(AWAY)
        finally:
            folder.chmod(0o700)
        for n in range(3):
            await make(f"after {n}")
        found = [each["name"] async for each in client.every("/v1/alerts")]
        assert set(found) >= {"before", "meanwhile", "after 2"}
        await client.ask("GET", "/readyz")
        await client.aclose()
        assert await service.end() == 0
    assert any("storage.warning" in line and "Permission" in line for line in service.log), service.log
