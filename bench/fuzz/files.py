"""Files that a person gives to the command: backups, exports, and other programs' files."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import trio

from bench.fuzz.chance import Chance
from extras.migrate.detection import kind_of
from extras.migrate.drafting import Kind, NotReadable
from extras.migrate.reading import READERS, read
from extras.migrate.whole.loading import look_through
from sanderling.exits import CommandFailed
from sanderling.operations import backup as archive
from sanderling.operations.backup import Manifest, Member, SourceFile, unpack, write_archive
from storage.records.identity import Seq
from storage.sqlite.upkeep import Content
from tests.extras.migrate import samples
from tests.extras.migrate.test_hostile_files import SAMPLES, check
from tests.extras.migrate.test_whole_hostile import honest
from tests.extras.migrate.whole_instance import a_folder, exported

ODD_NAMES = (
    "../x",
    "/etc/x",
    "templates/../../x",
    "templates/a.toml",
    "sanderling.db",
    "manifest.json",
    "a" * 200,
    "ä",
    "",
)


@cache
def a_backup() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        pieces = []
        for name, content in (("sanderling.db", b"SQLite format 3\0" * 64), ("templates/a.toml", b"id = 'a'\n")):
            path = Path(folder, name.replace("/", "_"))
            path.write_bytes(content)
            pieces.append(SourceFile(name, path))
        members = tuple(map(archive.member, pieces))
        target = Path(folder, "backup.tar")
        write_archive(
            target, Manifest(1, "0.1.0", "2026-03-03T07:00:00Z", "none", Content(1, 2, Seq(3)), members), pieces
        )
        return target.read_bytes()


def an_archive(chance: Chance) -> bytes:
    if chance.often(0.5):
        return chance.bent(a_backup(), (samples.new_datastore(),))
    return _forged(chance)


def _forged(chance: Chance) -> bytes:
    """Return a forged tar: escaping names, links, a lying manifest."""
    names = ["sanderling.db", *(chance.choice(ODD_NAMES) for _ in range(chance.randrange(3)))]
    content = chance.randbytes(chance.randrange(600))
    lie = chance.often(0.2)
    members = [Member(name, len(content) + lie, hashlib.sha256(content).hexdigest()) for name in names]
    head = msgspec.json.encode(
        Manifest(chance.choice((1, 1, 1, 2)), "0", "", "none", Content(1, 2, Seq(3)), tuple(members))
    )
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in [
            ("manifest.json", chance.bent(head) if chance.often(0.2) else head),
            *((n, content) for n in names),
        ]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            if chance.often(0.1):
                info.type = chance.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, b"S"))
                info.linkname = chance.choice(ODD_NAMES)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def backup(case: bytes) -> None:
    """It is refused with a message, or unpacks exactly the manifest's plain files, inside the folder."""
    with tempfile.TemporaryDirectory() as outer:
        path, folder = Path(outer, "backup.tar"), Path(outer, "in", "here")
        path.write_bytes(case)
        folder.mkdir(parents=True)
        try:
            manifest = unpack(path, folder)
        except CommandFailed as error:
            assert str(error)
        else:
            there = {str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir()}
            assert there == {each.name for each in manifest.files}
        assert sorted(each.name for each in Path(outer).iterdir()) == ["backup.tar", "in"]
        assert [each.name for each in Path(outer, "in").iterdir()] == ["here"]
        assert not any(file.is_symlink() for file in folder.rglob("*"))


@cache
def _whole() -> bytes:
    async def make(folder: Path) -> bytes:
        return await exported(await a_folder(folder / "old"))

    with tempfile.TemporaryDirectory() as folder:
        return trio.run(make, Path(folder))


def an_export(chance: Chance) -> bytes:
    """Return a corrupted export; or one with odd values, its counts and digest adjusted."""
    if chance.often(0.3):
        return chance.bent(_whole())
    every = [json.loads(line) for line in _whole().splitlines()]
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(every) - 1)
        if chance.often(0.2):
            every.insert(chance.randrange(1, len(every) - 1), every[at])
        elif chance.often(0.1) and len(every) > 2:
            del every[at]
        else:
            every[at] |= {(name := chance.choice(sorted(every[at]))): _oddly(chance, every[at][name])}
    return honest(every)


def _oddly(chance: Chance, value: object) -> object:
    """Change one thing in a JSON value."""
    if isinstance(value, dict) and value and chance.often(0.9):
        name = chance.choice(sorted(value))
        return value | ({name: _oddly(chance, value[name])} if chance.often(0.9) else {chance.utf8(3): None})
    if isinstance(value, list) and value and chance.often(0.9):
        at = chance.randrange(len(value))
        return [*value[:at], _oddly(chance, value[at]), *value[at + 1 :]]
    if isinstance(value, str) and chance.often(0.6):
        return chance.bent_text(value).replace("\ud800", "")
    return chance.choice((None, True, -1, 0, 1 << 70, 1e300, "", "x" * 3000, [], {}, [[]], {"a": 1}))


def export(case: bytes) -> None:
    """It is refused with its line, or read to its end."""
    try:
        look_through(io.BytesIO(case), "F")
    except CommandFailed as error:
        assert str(error).startswith("F: "), str(error)


def a_file(chance: Chance) -> tuple[Kind, bytes]:
    kinds: Sequence[Kind] = sorted(READERS)
    sound = {**SAMPLES, "changedetection": chance.choice((samples.old_datastore(), samples.new_datastore()))}
    kind = chance.choice(kinds)
    bent = chance.bent(sound[kind], list(sound.values()))
    return (chance.choice(kinds) if chance.often(0.2) else kind), bent


def moving(case: tuple[Kind, bytes]) -> None:
    """It is refused with a message, or becomes a plan that the service accepts."""
    kind, data = case
    for each in (lambda: read(kind, data), lambda: read(kind_of(data), data)):
        try:
            plan = each()
        except NotReadable as error:
            assert str(error).endswith("."), str(error)
        else:
            check(plan)
