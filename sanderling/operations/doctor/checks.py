"""Run the checks: settings first, then all others in order. A check that fails to run becomes a finding."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from errno import ENOSPC
from pathlib import Path
from urllib.parse import urlsplit

import trio

from actors.extras import always_on
from actors.setting_table import with_values
from actors.settings import Settings
from sanderling.client.admin_socket import at_socket, running_at, settings_at, unlike
from sanderling.engines import engine_of
from sanderling.environment import FILE_NAME, load, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.operations.doctor import database, machine, network
from sanderling.operations.findings import DoctorContext, Finding, tell
from storage.errors import Corrupt, DiskFull, StorageError
from storage.sqlite.ownership import as_owner

Question = Callable[[DoctorContext], Iterator[Finding] | AsyncIterator[Finding]]
QUESTIONS: Mapping[str, Question] = {
    "folder": machine.permissions,
    "import": machine.half_an_import,
    "disk room": machine.room,
    "disk speed": machine.speed,
    "database": database.database,
    "private": database.private_sources,
    "master key": database.master_key,
    "clock": machine.clock,
    "open files": machine.limits,
    "worker": machine.worker,
    "names": network.names,
    "guard": network.guard,
    "tls": network.tls,
    "port": network.port,
    "proxy": network.proxies,
}

OF_SQLITE = frozenset({"import", "disk room", "disk speed", "database", "private", "master key", "names"})


def doctor(
    flags: Mapping[str, str], variables: Mapping[str, str], config: str | None, *, offline: bool, as_json: bool
) -> Exit:
    return tell(trio.run(findings, flags, variables, config, offline), as_json=as_json)


async def findings(
    flags: Mapping[str, str], variables: Mapping[str, str], config: str | None, offline: bool
) -> Sequence[Finding]:
    first, settings = _settings(flags, variables, config)
    place = Path(settings.data)
    service = at_socket(place)
    if service is None:
        second = Finding("ok", "service", "none runs on this folder")
    else:
        ready, says = service
        second = Finding("ok" if ready else "warn", "service", says, "" if ready else f"{typed('status')} says more.")
    found, theirs = [first, second], None if service is None else settings_at(settings)
    if theirs is not None:
        says, others = "those of the running service are checked", ", ".join(unlike(settings, theirs))
        says += f"; this shell differs in: {others}" if others else ""
        found.append(Finding("ok", "settings", says))
        running = running_at(settings.data)  # the system may have chosen its port
        theirs = with_values(theirs, port=(running and urlsplit(running.local_url).port) or theirs.port)
    patient = DoctorContext(theirs or settings, place, variables, service is not None, offline)
    with as_owner(place):
        for what, question in _questions(patient.settings).items():
            try:
                answers = question(patient)
                if isinstance(answers, Iterator):
                    found += answers
                else:
                    async for answer in answers:
                        found.append(answer)
            except (OSError, StorageError, CommandFailed, ValueError) as error:
                found.append(_unasked(what, error))
    return found


def _questions(settings: Settings) -> Mapping[str, Question]:
    left_out = OF_SQLITE if _elsewhere(settings) else frozenset()
    ours = {what: question for what, question in QUESTIONS.items() if what not in left_out}
    return ours | {what: question for each in always_on() for what, question in each.checks().items()}


def _elsewhere(settings: Settings) -> bool:
    try:
        return engine_of(settings).elsewhere
    except CommandFailed:  # the settings of an engine are wrong, which its own check reports
        return True


def _unasked(what: str, error: Exception) -> Finding:
    if isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno == ENOSPC):
        return Finding("fail", what, "could not run: the disk is full", "Free some space and run doctor again.")
    if isinstance(error, Corrupt):
        return Finding("fail", what, "could not run: the database is damaged", database.RESTORE)
    return Finding("fail", what, f"{type(error).__name__}: {error}", "Fix that and run doctor again.")


def _settings(flags: Mapping[str, str], variables: Mapping[str, str], config: str | None) -> tuple[Finding, Settings]:
    """Read the settings; on failure use the defaults, with the named folder."""
    try:
        found = load(flags, variables, config)
    except CommandFailed as error:
        data = flags.get("data") or variables.get("SANDERLING_DATA") or Settings().data
        says = f"{error.message} The other checks use the defaults."
        finding = Finding("fail", "settings", says, "Fix it: the service does not start with it.")
        return finding, Settings(data=data)
    own = Path(found.settings.data) / FILE_NAME
    source = f", {own}" if own.is_file() else ""
    set_here = len(found.origins)
    count = f"{set_here} {'is' if set_here == 1 else 'are'} set"
    return Finding("ok", "settings", f"{count}{source}"), found.settings
