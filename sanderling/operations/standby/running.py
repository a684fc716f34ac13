"""The command `standby`: follow until stopped or asked to take over, with one line per change of state."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import trio

from sanderling.data_folder import told_plainly, working_in
from sanderling.environment import machine, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.master_key import FILE_VARIABLE, replica_keys
from sanderling.operations.backup.restoring import who_gets_in
from sanderling.operations.standby.copy import FOLDER, StandbyCopy
from sanderling.operations.standby.follower import Follower, Standing
from sanderling.operations.standby.taking_over import TakenOver, take_over
from storage.errors import Locked
from storage.objects import Objects
from storage.records.identity import Millis
from storage.records.times import rfc3339
from storage.sqlite.engine.folder import DATABASE, FolderLock
from storage.sqlite.master_key import OWN

EVERY = 0.5
"""Seconds between checks whether the other command has taken over."""
TELL_EVERY = 60.0
ASKED = "take-over"
"""With this file another command asks the follower to take over."""
ASKED_WITHIN = 120.0
NO_KEY = (
    "A standby follows only what the service's master key vouches for: copy that key to {}, or name its file in "
    f"{FILE_VARIABLE}."
)

Tell = Callable[[str], None]


class _Followed(Exception):
    """Another command follows in this folder."""


async def follow(
    objects: Objects, data: Path, variables: Mapping[str, str], *, now: Callable[[], Millis], tell: Tell, once: bool
) -> int:
    """Follow until a signal, or take over on request; return the exit code. Raises CommandFailed."""
    with _held(data, variables) as copy:
        follower, asked = Follower(objects, copy), data / FOLDER / ASKED
        asked.unlink(missing_ok=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_end_at_signal, nursery.cancel_scope)
            said, told_at = Standing("", -1, None), float("-inf")
            while True:
                standing = await follower.step()
                if once or _differs(standing, said) or trio.current_time() - told_at >= TELL_EVERY:
                    tell(_line(standing, now()))
                    said, told_at = standing, trio.current_time()
                if once:
                    break
                if asked.exists():
                    try:
                        done = await take_over(
                            objects, copy, data, variables, now=now(), by=machine(), unreachable=_unreachable(asked)
                        )
                    except CommandFailed as error:
                        tell(error.message)
                        asked.unlink(missing_ok=True)
                    else:
                        for sentence in sentences(done, data):
                            tell(sentence)
                        break
                await trio.sleep(objects.every)
            nursery.cancel_scope.cancel()
    return Exit.FAILED if once and standing.says else Exit.WELL


async def take_over_now(
    objects: Objects,
    data: Path,
    variables: Mapping[str, str],
    *,
    now: Callable[[], Millis],
    tell: Tell,
    unreachable: bool,
) -> int:
    """Take over, or ask the following command to; return the exit code. Raises CommandFailed."""
    try:
        with _held(data, variables, resumes=True) as copy:
            done = await take_over(objects, copy, data, variables, now=now(), by=machine(), unreachable=unreachable)
    except _Followed:
        return await _ask(data, tell, unreachable=unreachable)
    for sentence in sentences(done, data):
        tell(sentence)
    return Exit.WELL


async def _ask(data: Path, tell: Tell, *, unreachable: bool) -> int:
    """Ask the following command to take over, and wait for it."""
    with told_plainly(data):
        (data / FOLDER).mkdir(mode=0o700, exist_ok=True)
        (data / FOLDER / ASKED).write_text("unreachable" if unreachable else "")
    tell("The command that follows takes over, and ends.")
    with trio.move_on_after(ASKED_WITHIN):
        while (data / FOLDER / ASKED).exists():  # noqa: ASYNC110 - another process deletes it
            await trio.sleep(EVERY)
        if _served(data):
            tell(f"Taken over. Start it: {typed('serve', str(data))}")
            return Exit.WELL
        raise CommandFailed("The command that follows has not taken over: see what it says.")
    raise CommandFailed(f"The command that follows has not taken over within {ASKED_WITHIN:.0f} s: see what it says.")


def sentences(done: TakenOver, data: Path) -> Iterator[str]:
    """Yield the result of the take-over, and the next steps."""
    yield f"Taken over: {done.content.events:,} events, all that was committed up to {rfc3339(done.at)}."
    yield from who_gets_in(done.entrances)
    yield "The other service stops as soon as it reads that, and does not start again from its data."
    yield f"Start this one: {typed('serve', str(data))}"


@contextmanager
def _held(data: Path, variables: Mapping[str, str], *, resumes: bool = False) -> Iterator[StandbyCopy]:
    """Lock a folder without a service. Raises CommandFailed; _Followed if `resumes` and another command follows."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with working_in(data):
        lock = FolderLock(data)
        try:
            lock.acquire()
        except Locked:
            if resumes and not _served(data):
                raise _Followed from None
            raise CommandFailed(f"{data} is in use by another process.", Exit.BAD_DATA) from None
        try:
            with told_plainly(data):
                keys = replica_keys(data, variables)
            if not keys:
                raise CommandFailed(NO_KEY.format(data / OWN), Exit.BAD_SETTING)
            copy = StandbyCopy(data, keys)
            cut_off = copy.applied is not None and not copy.database.exists()
            if _served(data) and not (resumes and cut_off):
                raise CommandFailed(
                    f"{data}: a take-over was cut off. Finish it with --take-over."
                    if cut_off
                    else f"{data} has a database of its own: name an empty folder for the standby.",
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


def _differs(one: Standing, other: Standing) -> bool:
    return (one.says, one.chain, one.at is None) != (other.says, other.chain, other.at is None)


def _line(standing: Standing, now: Millis) -> str:
    if standing.at is None:
        return f"{rfc3339(now)}  {standing.says}"
    behind = max(0, now - standing.at) / 1000
    how = f"waiting: {standing.says}" if standing.says else "up to date"
    return f"{rfc3339(now)}  {how}; the copy has all up to {rfc3339(standing.at)}, {behind:.1f} s ago"


def _unreachable(asked: Path) -> bool:
    return asked.read_text() == "unreachable"


async def _end_at_signal(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel()
