"""The command `standby`: follow until stopped; with `--take-over`, make the copy the data folder.

A take-over checks everything first. Then the replica gets a new owner, which the other service reads within a second
and stops; then the copy becomes the folder's database and gets the owner's number. After an interruption, run it again:
no service starts from the folder before the last step.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import trio
from msgspec import structs

from extras.cluster.replica.folder import Objects, ObjectsAway
from extras.cluster.replica.parts import OWNER, BadPart, Owner, read_owner, written_record
from extras.cluster.replica.place import replica_keys
from extras.cluster.replica.shipping import ID, NUMBER, REPLICA
from extras.cluster.standby.following import Follower, FollowStatus, StandbyCopy
from sanderling.data_folder import FILE_VARIABLE, command_errors, named_vault, working_in
from sanderling.environment import machine, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup.restoring import who_gets_in
from storage.errors import Locked
from storage.records.identity import Millis, rfc3339, seq_at
from storage.sqlite.engine.connection import COMMAND, connect, translated
from storage.sqlite.engine.folder import DATABASE, FolderLock
from storage.sqlite.engine.migrations import check_schema
from storage.sqlite.master_key import OWN
from storage.sqlite.ownership import sync
from storage.sqlite.upkeep.copying import AccessGrants, Content, access_grants, examine, key_of

TELL_EVERY = 60.0
NO_KEY = (
    "A standby accepts only copies authenticated by the service's master key: copy that key to {}, or name its file in "
    f"{FILE_VARIABLE}."
)
MARGIN = Millis(60_000)
"""How far the other clock may be ahead: positions that it assigned but never shipped are not reused."""
_FACT = "SELECT value FROM fact WHERE name=?"
_KEEP = "INSERT INTO fact VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value=excluded.value"
_UNFENCED = (
    "The other service could not be stopped: {}. If you are sure that it does not run, and will not be started again, "
    "take over with --unreachable."
)


class Takeover(NamedTuple):
    """The result: the database's content, its time, the replica's new owner number, and the accesses it grants."""

    content: Content
    at: Millis
    number: int
    access_grants: AccessGrants


async def take_over(
    objects: Objects,
    copy: StandbyCopy,
    data: Path,
    variables: Mapping[str, str],
    *,
    now: Millis,
    by: str,
    unreachable: bool,
) -> Takeover:
    """Take over. Raises CommandFailed, with at most the replica's owner changed."""
    standing = await _last_step(objects, copy)
    if copy.applied is None or standing.at is None:
        raise CommandFailed(f"There is nothing to take over: {standing.says}.", Exit.BAD_DATA)
    if standing.says and not unreachable:
        raise CommandFailed(_UNFENCED.format(standing.says), Exit.TRY_AGAIN)
    database = copy.database if copy.database.exists() else data / DATABASE
    with command_errors(data):
        check_schema(database)
        content = examine(database)
        vault = key_of(database, data, named_vault(variables))
        id, number = _facts(database)
        found = access_grants(database)
    if vault is None:
        raise CommandFailed("The copy is sealed with no master key: it was not made by `replica`.", Exit.BAD_DATA)
    number = await _own(objects, Owner(id, number, by, now), vault.mac_key(REPLICA), unreachable=unreachable)
    with command_errors(data):
        if database != data / DATABASE:
            os.replace(database, data / DATABASE)
            sync(data)
        _keep(data / DATABASE, {NUMBER: number, "above": seq_at(Millis(max(now, standing.at) + MARGIN))})
    copy.delete()
    return Takeover(content, standing.at, number, found)


async def _last_step(objects: Objects, copy: StandbyCopy) -> FollowStatus:
    if copy.applied is not None and not copy.database.exists():  # an earlier take-over was cut off
        return FollowStatus(copy.applied.chain, copy.applied.change, copy.applied.at)
    return await Follower(objects, copy).step()


async def _own(objects: Objects, ours: Owner, key: bytes, *, unreachable: bool) -> int:
    """Write this machine as the replica's owner, with a number above `ours`; return it."""
    number = ours.number
    try:
        body = await objects.get(OWNER)
        if body is not None:
            owner = read_owner(body, key)
            if owner.id != ours.id:
                raise CommandFailed("Another instance owns the replica now: nothing was taken over.", Exit.BAD_DATA)
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
        raise CommandFailed("The copy has no owner: it was not made by `replica`.", Exit.BAD_DATA)
    return found[0][0], found[1][0]


def _keep(database: Path, facts: Mapping[str, int]) -> None:
    with closing(connect(database, COMMAND)) as connection, translated():
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_KEEP, facts.items())
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


Tell = Callable[[str], None]


async def follow(
    objects: Objects, data: Path, variables: Mapping[str, str], *, now: Callable[[], Millis], tell: Tell, once: bool
) -> int:
    with _held(data, variables) as copy:
        follower = Follower(objects, copy)
        if once:
            standing = await follower.step()
            tell(_line(standing, now()))
            return Exit.FAILED if standing.says else Exit.WELL
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_end_at_signal, nursery.cancel_scope)
            await _keep_up(follower, objects.every, now, tell)
    return Exit.WELL


async def _keep_up(follower: Follower, every: float, now: Callable[[], Millis], tell: Tell) -> None:
    said, told_at = FollowStatus("", -1, None), float("-inf")
    while True:
        standing = await follower.step()
        if _differs(standing, said) or trio.current_time() - told_at >= TELL_EVERY:
            tell(_line(standing, now()))
            said, told_at = standing, trio.current_time()
        await trio.sleep(every)


async def take_over_now(
    objects: Objects,
    data: Path,
    variables: Mapping[str, str],
    *,
    now: Callable[[], Millis],
    tell: Tell,
    unreachable: bool,
) -> int:
    with _held(data, variables, resumes=True) as copy:
        done = await take_over(objects, copy, data, variables, now=now(), by=machine(), unreachable=unreachable)
    for sentence in sentences(done, data):
        tell(sentence)
    return Exit.WELL


def sentences(done: Takeover, data: Path) -> Iterator[str]:
    yield f"Taken over: {done.content.events:,} events, all that was committed up to {rfc3339(done.at)}."
    yield from who_gets_in(done.access_grants)
    yield "The other service stops as soon as it reads that, and does not start again from its data."
    yield f"Start this one: {typed('serve', str(data))}"


@contextmanager
def _held(data: Path, variables: Mapping[str, str], *, resumes: bool = False) -> Iterator[StandbyCopy]:
    """Lock a folder without a service. resumes: an interrupted take-over. Raises CommandFailed."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with working_in(data):
        lock = FolderLock(data)
        try:
            lock.acquire()
        except Locked:
            raise CommandFailed(f"{data} is in use by another process; stop it first.", Exit.BAD_DATA) from None
        try:
            with command_errors(data):
                keys = replica_keys(data, variables)
            if not keys:
                raise CommandFailed(NO_KEY.format(data / OWN), Exit.BAD_SETTING)
            copy = StandbyCopy(data, keys)
            cut_off = copy.applied is not None and not copy.database.exists()
            if _served(data) and not (resumes and cut_off):
                raise CommandFailed(
                    f"{data}: a take-over was cut off. Finish it with --take-over."
                    if cut_off
                    else f"{data} already has a database: name an empty folder for the standby.",
                    Exit.BAD_DATA,
                )
            yield copy
        finally:
            lock.release()


def _served(data: Path) -> bool:
    """Return whether a folder has a database; an empty file is left by a service that found the folder locked."""
    try:
        return (data / DATABASE).stat().st_size > 0
    except FileNotFoundError:
        return False


def _differs(one: FollowStatus, other: FollowStatus) -> bool:
    return (one.says, one.chain, one.at is None) != (other.says, other.chain, other.at is None)


def _line(standing: FollowStatus, now: Millis) -> str:
    if standing.at is None:
        return f"{rfc3339(now)}  {standing.says}"
    behind = max(0, now - standing.at) / 1000
    how = f"waiting: {standing.says}" if standing.says else "up to date"
    return f"{rfc3339(now)}  {how}; the copy has all up to {rfc3339(standing.at)}, {behind:.1f} s ago"


async def _end_at_signal(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel()
