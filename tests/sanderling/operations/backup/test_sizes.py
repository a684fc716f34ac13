from __future__ import annotations

import json
from pathlib import Path

import pytest

from sanderling import cli
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup import Size, sizes
from storage.append import events_of
from storage.sqlite import open_sqlite
from tests.storage.contract.builders import CountingMint, a_harvest, a_source, a_source_id, a_state, stamp

pytestmark = pytest.mark.real


async def test_the_heaviest_source_is_first_and_a_deleted_one_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = await open_sqlite(tmp_path, clock=lambda: 1_800_000_000.0, owner="test", warn=lambda _: None)
    for number in (1, 2):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)
    harvests = [a_harvest(1, "short"), a_harvest(2, "long " * 100, "and another")]
    stored = events_of(await storage.log.append(harvests, storage.lease, CountingMint(), stamp))
    await storage.sources.delete(a_source_id(1), storage.lease)
    found = sizes(tmp_path)
    await storage.aclose()
    assert found == [
        Size(a_source_id(2), a_source(2).url, 2, len(stored[1].body) + len(stored[2].body)),
        Size(a_source_id(1), None, 1, len(stored[0].body)),
    ]
    assert cli.run(["sources", "sizes", "--data", str(tmp_path), "--json", "--limit", "1"]) == Exit.WELL
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["url"] == a_source(2).url


def test_a_folder_without_a_database_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="--data"):
        sizes(tmp_path)
