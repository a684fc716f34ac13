"""`sanderling setup-link`: a link of 256 bits, stored as a hash, made even while the service holds the folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from actors.settings import Settings
from api.dashboard.sessions import hashed
from sanderling import cli, keyring
from sanderling.client.api import client_here, running_at
from storage.sqlite.database import open_keys, open_sqlite
from tests.api.house import make_house
from tests.sanderling.commands.test_operating import behind_a_socket
from tests.support.build import NOW

pytestmark = pytest.mark.real


async def test_a_link_made_by_the_command_is_seen_by_a_running_engine_and_replaced_by_the_next(tmp_path: Path) -> None:
    storage = await open_sqlite(tmp_path, clock=lambda: NOW / 1000, owner="test", warn=lambda says: None)
    first = keyring.set_up_link(Settings(data=str(tmp_path), base_url="https://watch.test/"))
    found = re.fullmatch(r"https://watch\.test/set-up#([A-Za-z0-9_-]{43})", first)
    assert found is not None
    waiting = await storage.people.link()
    assert waiting is not None and waiting.sha256 == hashed(found[1])
    keyring.set_up_link(Settings(data=str(tmp_path)))
    assert await storage.people.link() not in (None, waiting)
    with open_keys(tmp_path) as keys:
        assert keys.password() is None
    await storage.aclose()
    assert found[1].encode() not in (tmp_path / "sanderling.db").read_bytes()


async def test_the_link_has_the_running_services_address_unless_a_flag_gives_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = make_house(port=9123, host="0.0.0.0", base_url="")
    storage = await open_sqlite(tmp_path, clock=lambda: NOW / 1000, owner="test", warn=lambda says: None)
    words = ["setup-link", "--data", str(tmp_path)]
    async with behind_a_socket(tmp_path, house):
        for more, begins in (
            ([], "http://0.0.0.0:9123/set-up#"),
            (["--port", "9000"], "http://127.0.0.1:9000/set-up#"),
        ):
            result = await trio.to_thread.run_sync(CliRunner().invoke, cli.main, [*words, *more])
            assert result.stdout.startswith(begins), result.output
        monkeypatch.setenv("SANDERLING_DATA", str(tmp_path))
        monkeypatch.setenv("SANDERLING_KEY", "svc_x")
        for url, where in ((None, "http://127.0.0.1:9123"), ("http://b.test", "http://b.test")):
            assert (await trio.to_thread.run_sync(client_here, url, None)).url == where
    await storage.aclose()
    assert running_at(str(tmp_path)) is None


def test_the_command_prints_the_link_alone_on_stdout(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.main, ["setup-link", "--data", str(tmp_path), "--port", "9000"])
    assert result.exit_code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:9000/set-up#[\w-]{43}\n", result.stdout)
