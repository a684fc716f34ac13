"""The standby: a copy of the database on a second machine, kept from the replica, and the take-over.

The standby's copy in its data folder, and the follower, which brings it up to date with the replica step by step.

standby/<chain>.db       the database; only `standby.json` decides which one counts
standby/change           the change being applied: applying it twice is harmless
standby/standby.json     the progress

After a crash at any point the copy opens to a committed state.

The command `standby`: follow until stopped; with `--take-over`, make the copy the data folder. A take-over checks
everything first. Then the replica gets a new owner, which the other service reads within a second and stops; then the
copy becomes the folder's database and gets the owner's number. After an interruption, run it again: no service starts
from the folder before the last step.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import trio
from msgspec import Struct, structs
from msgspec.structs import replace

from extras.cluster.replica import parts
from extras.cluster.replica.log import Objects, ObjectsAway, put_into
from extras.cluster.replica.place import replica_keys
from extras.cluster.replica.shipping import ID, NUMBER, REPLICA
from sanderling.data_folder import FILE_VARIABLE, STANDBY, command_errors, named_vault, working_in
from sanderling.environment import machine, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.backup import who_gets_in
from storage.errors import Locked, StorageError
from storage.records.identity import Millis, rfc3339, seq_at
from storage.sqlite.engine import COMMAND, DATABASE, STEPS, FolderLock, check_schema, connect, translated
from storage.sqlite.master_key import OWN
from storage.sqlite.ownership import sync
from storage.sqlite.upkeep import AccessGrants, Content, access_grants, examine, key_of

_STATE = "standby.json"
_CHANGE = "change"
_NEW = ".new"
EMPTY = "nothing is there yet: does the service run that is to put it there (its setting `replica`)?"


class Applied(Struct, frozen=True):
    """A copy's chain, and number (0: none), hash and time of its newest change. vouched: every part had a valid MAC."""

    chain: str
    change: int
    hash: bytes
    at: Millis
    vouched: bool = False


class StandbyCopy:
    """The copy. keys: one of them made the replica. One process at a time; calls are slow and raise OSError."""

    def __init__(self, data: Path, keys: Sequence[bytes]) -> None:
        self.keys = keys
        self._folder = data / STANDBY
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.applied = self._read()

    def __repr__(self) -> str:
        return f"<StandbyCopy {self.applied}>"

    @property
    def database(self) -> Path:
        """The database file. Only after something was applied."""
        assert self.applied is not None
        return self._folder / f"{self.applied.chain}.db"

    def put_part(self, chain: str, number: int, body: bytes) -> None:
        fd = os.open(self._folder / f"{chain}.db", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.pwrite(fd, body, number * parts.PART)
        finally:
            os.close(fd)

    def begin(self, chain: str, size: int, at: Millis) -> None:
        """Check a chain's complete initial copy and switch to it. Raises StorageError."""
        path = self._folder / f"{chain}.db"
        with path.open("r+b") as database:
            database.truncate(size)
            os.fsync(database.fileno())
        examine(path)
        self._note(Applied(chain, 0, parts.start_of(chain), at, vouched=True))
        for other in self._folder.glob("*.db"):
            if other != path:
                other.unlink()

    def put(self, found: parts.ReadChange, body: bytes) -> None:
        self._write(_CHANGE, body)
        self._put(found)

    def delete(self) -> None:
        """Delete everything; the database was moved away before."""
        shutil.rmtree(self._folder)

    def _put(self, found: parts.ReadChange) -> None:
        assert self.applied is not None
        with self.database.open("r+b") as database:
            put_into(database, found.change.pages, found.change.size)
            database.flush()
            os.fsync(database.fileno())
        self._note(replace(self.applied, change=self.applied.change + 1, hash=found.hash, at=found.at))

    def _read(self) -> Applied | None:
        """Return the progress after finishing an interrupted change."""
        try:
            self.applied = msgspec.json.decode((self._folder / _STATE).read_bytes(), type=Applied)
        except FileNotFoundError:
            return None
        if not self.applied.vouched:
            return None
        try:
            body = (self._folder / _CHANGE).read_bytes()
        except FileNotFoundError:
            return self.applied
        name = parts.change_name(self.applied.chain, self.applied.change + 1)
        for key in self.keys:
            with suppress(parts.BadPart):  # it belongs to an earlier change or another chain
                self._put(parts.read_change(body, self.applied.hash, name, key))
                break
        return self.applied

    def _note(self, applied: Applied) -> None:
        self._write(_STATE, msgspec.json.encode(applied))
        self.applied = applied

    def _write(self, name: str, body: bytes) -> None:
        new = self._folder / (name + _NEW)
        with new.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / name)
        sync(self._folder)


class FollowStatus(NamedTuple):
    """at: the copy has all commits up to then, None without one. says: why it is not up to date, "" if it is."""

    chain: str
    change: int
    at: Millis | None
    says: str = ""


class Follower:
    """Brings a copy up to date with a replica."""

    def __init__(self, objects: Objects, copy: StandbyCopy) -> None:
        self._objects, self._copy = objects, copy
        self._limiter = trio.CapacityLimiter(1)
        self._damaged = ("", "")
        """The chain with a damaged copy, and the reason, so that it is fetched only once."""

    def __repr__(self) -> str:
        return f"<Follower of {self._objects}: {self._copy}>"

    async def step(self) -> FollowStatus:
        try:
            body = await self._objects.get(parts.CURRENT)
            if body is None:
                return self._standing(None, EMPTY)
            key = parts.key_that_made(body, parts.CURRENT, self._copy.keys)
            current = parts.read_current(body, key)
            if self._copy.applied is None or self._copy.applied.chain != current.chain:
                await self._begin(current.chain, key)
            await self._follow(key)
        except (ObjectsAway, parts.BadPart) as error:
            return self._standing(None, str(error))
        return self._standing(current, "")

    def _standing(self, current: parts.Current | None, says: str) -> FollowStatus:
        applied = self._copy.applied
        if applied is None:
            return FollowStatus("", 0, None, says or EMPTY)
        at = applied.at
        if current is not None and current.chain == applied.chain:
            if applied.change < current.change:
                says = f"change {applied.change + 1} of {applied.chain} is missing, of {current.change}"
            else:
                at = max(at, current.at)
        return FollowStatus(applied.chain, applied.change, at, says)

    async def _begin(self, chain: str, key: bytes) -> None:
        if self._damaged[0] == chain:
            raise parts.BadPart(self._damaged[1])
        body = await self._objects.get(parts.whole_name(chain))
        if body is None:
            raise parts.BadPart(f"{parts.whole_name(chain)}: is missing")
        whole = parts.read_whole(body, parts.whole_name(chain), key)
        if whole.schema > len(STEPS):
            raise CommandFailed(
                f"The service there is newer than this program (version {whole.version}, schema {whole.schema}; this "
                f"one knows {len(STEPS)}): upgrade this machine first.",
                Exit.BAD_DATA,
            )
        for number, hash in enumerate(whole.parts):
            name = parts.copy_name(chain, number)
            part = await self._objects.get(name)
            if part is None:
                raise parts.BadPart(f"{name}: is missing")
            await self._run(self._put_part, chain, number, part, hash)
        try:
            await self._run(self._copy.begin, chain, whole.size, whole.at)
        except StorageError as error:
            self._damaged = chain, f"{chain}: {error}: the next start of the service mends it"
            raise parts.BadPart(self._damaged[1]) from None

    def _put_part(self, chain: str, number: int, part: bytes, hash: str) -> None:
        self._copy.put_part(chain, number, parts.read_part(part, hash, parts.copy_name(chain, number)))

    async def _follow(self, key: bytes) -> None:
        while (applied := self._copy.applied) is not None:
            name = parts.change_name(applied.chain, applied.change + 1)
            body = await self._objects.get(name)
            if body is None:
                return
            await self._run(self._put_change, body, applied.hash, name, key)

    def _put_change(self, body: bytes, before: bytes, name: str, key: bytes) -> None:
        self._copy.put(parts.read_change(body, before, name, key), body)

    async def _run(self, what: Callable[..., object], *args: object) -> None:
        await trio.to_thread.run_sync(what, *args, limiter=self._limiter)


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
    number = await _own(objects, parts.Owner(id, number, by, now), vault.mac_key(REPLICA), unreachable=unreachable)
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


async def _own(objects: Objects, ours: parts.Owner, key: bytes, *, unreachable: bool) -> int:
    """Write this machine as the replica's owner, with a number above `ours`; return it."""
    number = ours.number
    try:
        body = await objects.get(parts.OWNER)
        if body is not None:
            owner = parts.read_owner(body, key)
            if owner.id != ours.id:
                raise CommandFailed("Another instance owns the replica now: nothing was taken over.", Exit.BAD_DATA)
            number = max(number, owner.number)
        await objects.put(parts.OWNER, parts.written_record(parts.OWNER, structs.replace(ours, number=number + 1), key))
    except (ObjectsAway, parts.BadPart) as error:
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


def _differs(status: FollowStatus, other: FollowStatus) -> bool:
    return (status.says, status.chain, status.at is None) != (other.says, other.chain, other.at is None)


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
