"""`sanderling serve`: from an empty process to the running tree, and back in reverse order.

log -> listeners -> data folder -> signing keys -> signals -> tree. Listeners open early, so that a busy port gives a
message and an exit code, not a crashing child. A stop ends the front end first and the log last, then closes the
storage.
"""

from __future__ import annotations

import errno
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import trio

from actors.app_context import AppContext
from actors.catalogue import Flaw
from actors.destination_kinds.kind import Service
from actors.destination_kinds.table import kinds_of
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.overseer.overseer import Journal
from actors.recorder.actor import signing_keys
from actors.setting_table import declared
from actors.settings import Settings, address
from actors.system import Front, Superseded, System
from actors.world import Certificate, Renewal, WorkerDied, WorkerTooSlow, World
from api.dashboard.account.entry import new_link
from api.server.server import StartupListener, admin_socket, front, metrics_listener, tell_renewal
from sanderling import __version__
from sanderling.data_folder import STAGE, STANDBY, unfinished
from sanderling.engines import engine_of
from sanderling.environment import Loaded, environ, on_terminal, typed, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling.listeners import CertificateFiles, CertificateUnusable
from sanderling.logs import make_log
from sanderling.notifications import languages_for, mail_of, messengers_of, templates_of
from sanderling.program import forbid_core_dumps
from sanderling.real_world import Listening, entropy, monotonic, now, real_world, wall
from storage.errors import StorageError
from storage.records.source import HEALTH, SOURCES
from storage.sql.storage import Storage
from supervision import Child, ChildSpec, Escalate, Stall, Watchdog

CLOSE_WITHIN = 8.0  # seconds for the storage to finish writing after an escalation; with the tree's own stop under 15
_WAYS_OUT = {
    errno.EACCES: " Ports below 1024 are root's: choose another with --port (docs/proxies.md: a proxy in front).",
    errno.EADDRNOTAVAIL: " No network card of this machine has that address; --host 0.0.0.0 is all of them.",
}
COLLECT = (5_000, 4, 5_000)
"""Garbage collection thresholds: young generations often, since a pass blocks the loop (380 ms for a million objects of
ten thousand new streams), the oldest rarely, since most objects here live long.
"""


def serve(loaded: Loaded) -> int:
    """Run the service until SIGTERM or SIGINT; return the exit code. Raises CommandFailed if it cannot start."""
    settings = loaded.settings
    terminal = on_terminal()
    journal = Journal()
    colour, level = wants_colour(environ(), 2), settings.log_level
    log = make_log(sys.stderr, wall, level=level, words=terminal, colour=colour, keep=journal.lines.add)
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # each stream needs a file; macOS reports a hard limit that it refuses
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    forbid_core_dumps()
    gc.set_threshold(*COLLECT)
    return trio.run(_serve, loaded, log, journal, terminal)


async def _serve(loaded: Loaded, log: Callable[..., None], journal: Journal, terminal: bool) -> int:
    settings = loaded.settings
    templates, messengers = templates_of(settings.templates), messengers_of(settings.kinds)
    _tell_flaws(log, "template.refused", templates.flaws)
    _tell_flaws(log, "kind.refused", messengers.flaws)
    kinds = partial(kinds_of, messengers, mail_of(settings), languages=languages_for(settings))
    _refuse_bad_addresses(settings)
    certificate, listening = _certificate(settings), Listening()
    await _refuse_weak_jail(settings)
    settings = await _listen(listening, settings)
    startup = StartupListener(settings.public_url(), certificate)
    listening.give_up = startup.give_up

    async def run() -> int:
        """Open the storage and run the tree; the startup listener answers until the front end takes over."""
        engine = engine_of(settings)
        await _refuse_half_of_it(settings)
        world = real_world(settings, listening, log, certificate, doing=startup.say)
        with engine.command_errors():
            storage = await world.open_storage()
        try:
            with engine.command_errors():
                keys = await signing_keys(world, storage)
            outside = ReadyNotifier(settings, log, terminal).after(partial(_listeners, loaded.origins))
            manager = manager_of(environ(), os.getpid())
            with Watchdog(clock=monotonic, report=partial(_report_stall, world)) as watchdog:
                system = System(
                    world,
                    settings,
                    storage,
                    keys,
                    outside if manager is None else manager.after(outside),
                    templates=templates,
                    kinds=kinds(Service(world, storage, settings)),
                    steps=watchdog,
                    journal=journal,
                    version=__version__,
                    stuck=partial(_end_now, log),
                )
                startup.doing = system.readiness.starting
                return await _run(system, log, certificate)
        finally:
            with trio.move_on_after(CLOSE_WITHIN, shield=True):
                await storage.aclose()
                if world.replica is not None:
                    await world.replica.aclose()

    code, failed = int(Exit.WELL), None
    async with trio.open_nursery() as nursery:
        for address, listeners in listening.ready.items():
            secure = certificate is not None and address == (settings.host, settings.port)
            nursery.start_soon(partial(startup.keep, address, listeners, secure=secure))
        try:
            code = await run()
        except Exception as error:  # raised below, outside the nursery's group
            failed = error
        nursery.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return code


def _tell_flaws(log: Callable[..., None], event: str, flaws: Sequence[Flaw]) -> None:
    for flaw in flaws:
        log(event, level="warning", file=flaw.file, line=flaw.line, says=flaw.says)


def _end_now(log: Callable[..., None], error: Escalate) -> None:
    """End the process when a task refuses to end; committed data survive, as in a crash."""
    log("serve.gave_up", level="error", why=str(error), now=True)
    sys.stderr.flush()
    os._exit(Exit.GAVE_UP)


def _report_stall(world: World, stall: Stall) -> None:
    """Report a task that blocks the loop. Runs in the watchdog's thread."""
    world.metrics.stalls.add()
    world.log("loop.held", level="error", actor=stall.path, seconds=round(stall.seconds, 2), stack=list(stall.stack))


def _listeners(origins: Mapping[str, str], context: AppContext) -> Sequence[ChildSpec]:
    """Return the listeners' children, the public front end last so that its crashes do not affect the others."""
    return (*admin_socket(context), *metrics_listener(context), *front(replace(context, origins=origins)))


async def _run(system: System, log: Callable[..., None], certificate: Certificate | None = None) -> int:
    code = Exit.WELL
    async with trio.open_nursery() as nursery:
        await nursery.start(_obey_signals, system, log, certificate)
        try:
            await system.run()
        except Escalate as error:
            log("serve.gave_up", level="error", why=str(error))
            code = Exit.GAVE_UP
        except Superseded as error:
            log("serve.superseded", level="error", why=f"{error}: this service is stopped, and must stay so")
            code = Exit.BAD_DATA
        nursery.cancel_scope.cancel()
    log("serve.stopped", code=int(code))
    return code


def _certificate(settings: Settings) -> CertificateFiles | None:
    if not settings.tls_cert:
        return None
    try:
        return CertificateFiles(Path(settings.tls_cert), Path(settings.tls_key))
    except CertificateUnusable as error:
        raise CommandFailed(f"{error} (tls_cert, tls_key)", Exit.BAD_SETTING) from None


async def _refuse_half_of_it(settings: Settings) -> None:
    """Raise CommandFailed if an import was cut off, because the data are missing, and for a standby's folder."""
    engine, folder = engine_of(settings), Path(settings.data)
    if engine.elsewhere:
        await trio.to_thread.run_sync(engine.refuse_half, limiter=trio.CapacityLimiter(1))
        return
    if unfinished(folder):
        raise CommandFailed(
            f"{folder}: an import into it was interrupted and left nothing. Run it again (`sanderling import`), or do "
            f"without it: delete {folder / STAGE}.",
            Exit.BAD_DATA,
        )
    if (folder / STANDBY).exists():
        raise CommandFailed(
            f"{folder} is a standby's. To serve from it, take over first: "
            f"{typed('standby', str(folder))} --from REPLICA --take-over (docs/standby.md).",
            Exit.BAD_DATA,
        )


def _refuse_bad_addresses(settings: Settings) -> None:
    for name, setting in declared().items():
        try:
            if setting.check is address and (found := setting.value(settings)):
                parse_url(found, schemes=("http", "https"))
        except UrlRefused as error:
            raise CommandFailed(f"{name}: {error.detail}.", Exit.BAD_SETTING) from None


async def _refuse_weak_jail(settings: Settings) -> None:
    if settings.jail != "demanded":
        return
    from sanderling.operations.self_test import tried  # imported only if demanded

    try:
        _, _, lacks = await tried(environ())
    except (OSError, WorkerDied, WorkerTooSlow) as error:
        raise CommandFailed(f"No worker can be started: {error}", Exit.TRY_AGAIN) from None
    if lacks:
        raise CommandFailed(
            f"The kernel cannot confine the workers that read pages and feeds: {lacks}. The setting jail = demanded "
            "refuses to start without; docs/security.md lists the requirements.",
            Exit.BAD_SETTING,
        )


async def _listen(listening: Listening, settings: Settings) -> Settings:
    """Open the listeners; return settings with the actual ports. Raises CommandFailed."""
    settings = replace(settings, port=await _open(listening, settings.host, settings.port, "--port"))
    if (address := settings.metrics_address()) is not None:
        port = await _open(listening, *address, "--metrics-bind")
        settings = replace(settings, metrics_bind=f"{settings.metrics_bind.rpartition(':')[0]}:{port}")
    return settings


async def _open(listening: Listening, host: str, port: int, flag: str) -> int:
    where = f"{host} port {port}"
    try:
        return await listening.open(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandFailed(
                f"{where} is in use by another program, perhaps another Sanderling. Stop it, or choose with {flag}.",
                Exit.TRY_AGAIN,
            ) from None
        hint = _WAYS_OUT.get(error.errno or 0, "")
        raise CommandFailed(f"Can't listen on {where}: {error.strerror or error}.{hint}", Exit.BAD_SETTING) from None


async def _obey_signals(
    system: System, log: Callable[..., None], certificate: Certificate | None, task_status: trio.TaskStatus[None]
) -> None:
    """Stop in order at SIGTERM or SIGINT, at once at the second. SIGHUP reloads the certificate, else stops, too."""
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        task_status.started()
        asked = False
        async for number in signals:
            if number == signal.SIGHUP and certificate is not None:
                tell_renewal(log, certificate.refresh() or Renewal(True, "The certificate's files have not changed."))
                continue
            log("serve.stopping", signal=signal.Signals(number).name, now=asked)
            system.stop(now=asked)
            asked = True


class ReadyNotifier:
    """The last child of the tree: announces the address once all others are ready."""

    def __init__(self, settings: Settings, log: Callable[..., None], terminal: bool) -> None:
        self._url, self._data = settings.public_url(), os.path.abspath(settings.data)
        self._log, self._terminal = log, terminal

    def after(self, front: Front) -> Front:
        return lambda context: (
            *front(context),
            ChildSpec("notifier", partial(self._run, context.storage), shutdown=1.0),
        )

    async def _run(self, storage: Storage, child: Child) -> None:
        self._log("serve.ready", url=self._url, data=self._data, version=__version__)
        if self._terminal:
            print(f"\nSanderling is at {self._url}; Ctrl-C stops it. {await self._hint(storage)}\n", file=sys.stderr)
        elif await storage.people.password() is None:  # a link is a secret and must not reach the log
            self._log("dashboard.no_password", says=f"`{typed('setup-link', self._data)}` makes the link to set one.")
        await child.stopping.wait()

    async def _hint(self, storage: Storage) -> str:
        if await storage.people.password() is None:
            path, link = new_link(entropy, now())
            with suppress(StorageError):  # the link is then useless, and its page explains how to make another
                await storage.people.offer(link)
            return f"Open this link within an hour to set the dashboard's password:\n\n  {self._url}{path}"
        return f"In another terminal:\n  {typed('add URL', self._data)}\n  {typed('tail', self._data)}"


Tell = Callable[[str], None]
EVERY = 10.0  # seconds between datagrams if no watchdog needs them faster
STUCK = 30.0  # stop feeding the watchdog after the log's writer has not moved for so many seconds with work waiting


def tell_manager(address: str, words: str) -> None:
    """Send systemd one datagram (sd_notify(3)) or lose it: it may be deaf. address: a path, or an abstract `@name`."""
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
