"""`sanderling setup-link`: a link of 256 bits, of which a hash is kept, made beside whoever holds the folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from actors.settings import Settings
from api.dashboard.sessions import hashed
from sanderling import cli, keyring
from storage.sqlite.database import open_keys, open_sqlite
from tests.support.build import NOW

pytestmark = pytest.mark.real


async def test_a_link_made_by_the_command_is_seen_by_a_running_engine_and_replaced_by_the_next(tmp_path: Path) -> None:
    storage = await open_sqlite(tmp_path, clock=lambda: NOW / 1000, owner="test", warn=lambda says: None)
    first = keyring.set_up_link(Settings(data=str(tmp_path), base_url="https://watch.test/"))
    found = re.fullmatch(r"https://watch\.test/set-up\?key=([A-Za-z0-9_-]{43})", first)
    assert found is not None
    waiting = await storage.people.link()
    assert waiting is not None and waiting.sha256 == hashed(found[1])
    keyring.set_up_link(Settings(data=str(tmp_path)))
    assert await storage.people.link() not in (None, waiting)
    with open_keys(tmp_path) as keys:
        assert keys.password() is None
    await storage.aclose()
    assert found[1].encode() not in (tmp_path / "sanderling.db").read_bytes()


def test_the_command_prints_the_link_alone_on_stdout(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.main, ["setup-link", "--data", str(tmp_path), "--port", "9000"])
    assert result.exit_code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:9000/set-up\?key=[\w-]{43}\n", result.stdout)
