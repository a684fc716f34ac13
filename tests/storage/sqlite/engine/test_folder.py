"""Files next to the database, and a folder that disappears."""

from __future__ import annotations

from pathlib import Path

from storage.sqlite import open_sqlite
from storage.sqlite.engine import DATABASE


async def test_a_folder_that_is_taken_away_under_the_engine_is_noticed_and_so_is_its_return(tmp_path: Path) -> None:
    folder, aside = tmp_path / "data", tmp_path / "aside"
    storage = await open_sqlite(folder, clock=lambda: 0.0, owner="test", warn=print)
    assert storage.stands()
    folder.rename(aside)
    assert not storage.stands()
    folder.mkdir()
    (folder / DATABASE).touch()
    assert not storage.stands(), "another one lies there"
    (folder / DATABASE).unlink()
    folder.rmdir()
    aside.rename(folder)
    assert storage.stands()
    await storage.aclose()
