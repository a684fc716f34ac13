"""The take-over: the copy becomes the data folder, and the original service has to stop.

Everything is checked first. Then the replica gets a new owner, which the other service reads within a second; then the
copy becomes the folder's database and gets the owner's number. After an interruption, run it again: no service starts
from the folder before the last step.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from actors.replica.parts import OWNER, BadPart, Owner, read_owner, written_record
from sanderling.data_folder import told_plainly
from sanderling.exits import CommandFailed, Exit
from sanderling.master_key import named_vault
from sanderling.operations.standby.copy import StandbyCopy
from sanderling.operations.standby.follower import Follower, Standing
from storage.objects import Objects, ObjectsAway
from storage.records.identity import Millis, seq_at
from storage.secrets.vault import REPLICA
from storage.sqlite.engine.connection import COMMAND, connect, translated
from storage.sqlite.engine.folder import DATABASE
from storage.sqlite.engine.migrations import check_schema
from storage.sqlite.engine.shipping import ID, NUMBER
from storage.sqlite.upkeep.copying import Content, Entrances, entrances, examine, key_of

MARGIN = Millis(60_000)
"""How far the other clock may be ahead: positions that it assigned but never shipped are not reused."""
_FACT = "SELECT value FROM fact WHERE name=?"
_KEEP = "INSERT INTO fact VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value=excluded.value"
_UNFENCED = (
    "The other service can't be told to stop: {}. If you are sure that it does not run, and will not be started again, "
    "take over with --unreachable."
)


class TakenOver(NamedTuple):
    """The result: the database's content, its time, the replica's new owner number, and the accesses it grants."""

    content: Content
    at: Millis
    number: int
    entrances: Entrances


async def take_over(
    objects: Objects,
    copy: StandbyCopy,
    data: Path,
    variables: Mapping[str, str],
    *,
    now: Millis,
    by: str,
    unreachable: bool,
) -> TakenOver:
    """Take over. Raises CommandFailed, with at most the replica's owner changed."""
    standing = await _last_step(objects, copy)
    if copy.applied is None or standing.at is None:
        raise CommandFailed(f"There is nothing to take over: {standing.says}.", Exit.BAD_DATA)
    if standing.says and not unreachable:
        raise CommandFailed(_UNFENCED.format(standing.says), Exit.TRY_AGAIN)
    database = copy.database if copy.database.exists() else data / DATABASE
    with told_plainly(data):
        check_schema(database)
        content = examine(database)
        vault = key_of(database, data, named_vault(variables))
        id, number = _facts(database)
        found = entrances(database)
    if vault is None:
        raise CommandFailed("The copy is sealed with no master key: it was not made by `replica`.", Exit.BAD_DATA)
    key = vault.mac_key(REPLICA)
    number = await _own(objects, Owner(id, number, by, now), key, unreachable=unreachable)
    with told_plainly(data):
        if database != data / DATABASE:
            os.replace(database, data / DATABASE)
            _sync(data)
        _keep(data / DATABASE, {NUMBER: number, "above": seq_at(Millis(max(now, standing.at) + MARGIN))})
    copy.delete()
    return TakenOver(content, standing.at, number, found)


async def _last_step(objects: Objects, copy: StandbyCopy) -> Standing:
    if copy.applied is not None and not copy.database.exists():  # an earlier take-over was cut off
        return Standing(copy.applied.chain, copy.applied.change, copy.applied.at)
    return await Follower(objects, copy).step()


async def _own(objects: Objects, ours: Owner, key: bytes, *, unreachable: bool) -> int:
    """Write this machine as the replica's owner, with a number above `ours`; return it."""
    number = ours.number
    try:
        body = await objects.get(OWNER)
        if body is not None:
            owner = read_owner(body, key)
            if owner.id != ours.id:
                raise CommandFailed("The replica is another instance's by now: nothing was taken over.", Exit.BAD_DATA)
            number = max(number, owner.number)
        await objects.put(OWNER, written_record(OWNER, structs.replace(ours, number=number + 1), key))
    except (ObjectsAway, BadPart) as error:
        if not unreachable:
            raise CommandFailed(_UNFENCED.format(error), Exit.TRY_AGAIN) from None
    return number + 1


def _facts(database: Path) -> tuple[int, int]:
    with closing(connect(database, COMMAND)) as connection, translated():
        found = [connection.execute(_FACT, (name,)).fetchone() for name in (ID, NUMBER)]
    if None in found:
        raise CommandFailed("The copy does not say whose it is: it was not made by `replica`.", Exit.BAD_DATA)
    return found[0][0], found[1][0]


def _keep(database: Path, facts: Mapping[str, int]) -> None:
    with closing(connect(database, COMMAND)) as connection, translated():
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_KEEP, facts.items())
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
