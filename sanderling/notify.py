"""Notify systemd by datagram (sd_notify(3)): ready, status, alive, stopping.

Nothing is sent unless the manager set NOTIFY_SOCKET (`Type=notify`).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import trio

from actors.app_context import AppContext
from actors.system import Front
from storage.records.source import HEALTH, SOURCES
from supervision import Child, ChildSpec

Tell = Callable[[str], None]
EVERY = 10.0  # seconds between datagrams if no watchdog needs them faster
STUCK = 30.0  # stop feeding the watchdog after the log's writer has not moved for so many seconds with work waiting


def tell_manager(address: str, words: str) -> None:
    """Send one datagram or lose it: a deaf manager must not block. address: a path, or an abstract `@name`."""
    where = "\0" + address[1:] if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as ours:
        ours.setblocking(False)
        ours.sendto(words.encode(), where)


def watchdog_seconds(variables: Mapping[str, str], pid: int) -> float | None:
    if variables.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    allowed = variables.get("WATCHDOG_USEC", "")
    return int(allowed) / 1e6 if allowed.isdecimal() and int(allowed) else None


class ServiceManager:
    """Feeds the watchdog with progress of the log's writer, since a loop may run and not write. within: seconds."""

    def __init__(self, tell: Tell, within: float | None) -> None:
        self._tell = tell
        self._watched = within is not None
        self._every = EVERY if within is None else min(EVERY, within / 3)

    def after(self, front: Front) -> Front:
        """Append this child to a front end, so that it is ready last and stops first."""
        return lambda context: (*front(context), ChildSpec("manager", partial(self._run, context), shutdown=1.0))

    async def _run(self, context: AppContext, child: Child) -> None:
        self._tell("READY=1")
        try:
            while not child.stopping.is_set():
                if self._watched and trio.current_time() - context.storage.writer_moved_at() < STUCK:
                    self._tell("WATCHDOG=1")
                self._tell(f"STATUS={status_of(context)}")
                with trio.move_on_after(self._every):
                    await child.stopping.wait()
        finally:
            if context.draining():
                self._tell("STOPPING=1\nSTATUS=Stopping.")


def status_of(context: AppContext) -> str:
    census = context.overseer.table.flag_counts()
    parts = [f"{sum(census.values()):,} sources"]
    states = context.overseer.table.states()
    parts += [f"{count:,} {SOURCES[state].word}" for state, count in states.items() if count and state != "ok"]
    parts += [f"{census[flag]:,} {HEALTH[flag].word}" for flag in ("degraded", "rotten") if census[flag]]
    troubles = [f"{name}: {says}" for name, says in context.readiness().items() if says]
    return ", ".join(parts) + "." + "".join(f" {trouble}" for trouble in troubles).replace("\n", " ")


def manager_of(variables: Mapping[str, str], pid: int) -> ServiceManager | None:
    """Return the child that talks to the service manager; None without NOTIFY_SOCKET."""
    address = variables.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return None
    return ServiceManager(partial(tell_manager, address), watchdog_seconds(variables, pid))
