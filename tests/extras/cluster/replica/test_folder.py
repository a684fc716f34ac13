"""Objects in a folder: complete or absent; a missing folder is not an empty one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from extras.cluster.replica import log as module
from extras.cluster.replica.log import FolderObjects, ObjectsAway


async def test_stored_objects_are_listed_sorted(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path)
    await objects.put("owner", b"me")
    await objects.put("chain-1/copy/000001", b"b")
    await objects.put("chain-1/copy/000000", b"a")
    await objects.put("owner", b"you")
    assert await objects.get("owner") == b"you"
    assert await objects.get("chain-1") is None and await objects.get("owner/x") is None
    assert await objects.names() == ["chain-1/copy/000000", "chain-1/copy/000001", "owner"]
    await objects.delete("chain-1/copy/000000")
    await objects.delete("chain-1/copy/000000")
    await objects.delete("chain-1/copy/000001")
    assert os.listdir(tmp_path) == ["owner"], "folders that are empty go, too"
    assert (tmp_path / "owner").stat().st_mode & 0o777 == 0o600


async def test_an_interrupted_put_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = FolderObjects(tmp_path)
    await objects.put("owner", b"me")
    monkeypatch.setattr(os, "fsync", lambda _fd: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ObjectsAway, match="No space left"):
        await objects.put("owner", b"you")
    monkeypatch.undo()
    assert await objects.get("owner") == b"me"
    assert await objects.names() == ["owner"]


async def test_a_folder_that_is_not_mounted_is_away_and_is_not_made(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path / "mount")
    for what in (objects.put("owner", b"me"), objects.get("owner")):
        with pytest.raises(ObjectsAway, match="mount its disk"):
            await what
    assert not (tmp_path / "mount").exists()


@pytest.mark.parametrize("name", ["../owner", "/etc/passwd", "a//b", "", "Owner", "a/..", "a.b"])
async def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no name of an object"):
        await FolderObjects(tmp_path).get(name)


async def test_a_disk_that_hangs_is_away_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WITHIN", 0.05)
    read, write = os.pipe()
    objects = FolderObjects(tmp_path)
    monkeypatch.setattr(objects, "_get", lambda _path: os.read(read, 1))
    with pytest.raises(ObjectsAway, match="did not answer"):
        await objects.get("owner")
    os.write(write, b"x")  # ends the thread
    os.close(write)
