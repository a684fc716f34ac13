"""`sanderling doctor`: check an installation, with or without a running service, even a broken folder.

Settings come first, then all other checks in order. Each takes a `DoctorContext` and yields findings; none changes
anything except temporary files. May import everything below the commands. A check that fails to run becomes a finding.
Only names of the user's own sources are queried.
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from errno import ENOSPC
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from statistics import median
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import trio
from msgspec.json import decode

from actors.egress.transport import SystemResolver
from actors.extras import always_on
from actors.setting_table import declared, with_values
from actors.settings import Settings, parsed
from actors.world import ResolveFailed, Resolver
from api.peers import ip_in
from sanderling.client.api import at_socket, running_at, settings_at, unlike
from sanderling.data_folder import STAGE, named_vault, unfinished
from sanderling.engines import engine_of
from sanderling.environment import FILE_NAME, load, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.listeners import CertificateFiles, CertificateUnusable
from sanderling.operations import self_test
from sanderling.operations.findings import DoctorContext, Finding, Level, tell
from sanderling.real_world import entropy, monotonic, now, open_listeners, wall
from storage.errors import Corrupt, DiskFull, NewerSchema, NoKey, StorageError, Unopened
from storage.records.alert import Alert
from storage.records.identity import START, Seq, millis_of, rfc3339
from storage.records.publication import Publication
from storage.records.secrecy import plain
from storage.records.source import Source
from storage.retention import too_roomy
from storage.sql.stores import log
from storage.sql.stores.sources import decode_hot
from storage.sqlite import engine
from storage.sqlite.engine import connect
from storage.sqlite.master_key import NEXT, OTHER, OWN
from storage.sqlite.ownership import as_owner
from storage.sqlite.upkeep import key_of

RESTORE = "Stop the service and restore a backup: sanderling restore FILE --replace"
LARGE_WAL = 64 << 20
AHEAD_MS = 60_000
A_DAY = 86_400.0
NAME_IT = (
    "Name the one that the service has in SANDERLING_MASTER_KEY_FILE (a unit's credential is often "
    "/etc/sanderling/master.key), or put the folder's own back. If it is lost: sanderling keys rotate-master --lost"
)
MAKE_ONE = "Make one: (umask 077; sanderling keys master > FILE), and name it in SANDERLING_MASTER_KEY_FILE."


def database(patient: DoctorContext) -> Iterator[Finding]:
    path = patient.folder / engine.DATABASE
    if not path.exists() or not path.stat().st_size:
        yield Finding("warn", "database", "there is none yet", "The first start creates it.")
        return
    ahead = path.stat().st_mtime - wall()
    if ahead > A_DAY:
        says = f"it is {ahead / A_DAY:,.0f} days behind the last write to the database"
        yield Finding("fail", "clock", says, "Set the clock: timedatectl set-ntp true")
    try:
        with closing(connect(path, engine.COMMAND)) as connection, engine.translated():
            yield _integrity(connection)
            schema = engine.version_of(connection)
            later = f"; the next start upgrades it to {len(engine.STEPS)}, after making a copy"
            yield Finding("ok", "schema", f"{schema}{later if schema < len(engine.STEPS) else ', up to date'}")
            if schema:
                yield from _log(patient, connection)
    except Corrupt as error:
        yield Finding("fail", "database", str(error), RESTORE)
    except NewerSchema as error:
        do = "Use the newer version, or restore the copy that its upgrade kept (docs/upgrade.md)."
        yield Finding("fail", "schema", str(error), do)
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size > LARGE_WAL:
        says = f"the write-ahead log takes {wal.stat().st_size >> 20} MiB"
        yield Finding("warn", "database", says, "A long read keeps it from shrinking. End that reader, or restart.")


def private_sources(patient: DoctorContext) -> Iterator[Finding]:
    path = patient.folder / engine.DATABASE
    if not path.exists() or not path.stat().st_size:
        return
    with closing(connect(path, engine.READER)) as connection, engine.translated():
        if engine.version_of(connection) == len(engine.STEPS):
            yield from gone_private(connection.execute)


def gone_private(execute: Callable[[str], Any]) -> Iterator[Finding]:
    """Yield the faces that sources left as they became private. execute: of a connection of either engine."""
    rows = execute("SELECT s.body, h.body FROM source s JOIN source_hot h ON h.key=s.key").fetchall()
    watched = [(decode(body, type=Source), hot) for body, stored in rows if (hot := decode_hot(stored)).private_since]
    alerts = [decode(body, type=Alert) for (body,) in execute("SELECT body FROM alert").fetchall()]
    published = [decode(body, type=Publication) for (body,) in execute("SELECT body FROM publication").fetchall()]
    faces: list[tuple[str, Callable[..., bool]]] = [(f"the alert {alert.name}", alert.has_left) for alert in alerts]
    faces += [(f"the publication {feed.title}", partial(feed.has_left, alerts=alerts)) for feed in published]
    for face, has_left in faces:
        gone = (each.called for each, hot in watched if each.deleted_at is None and has_left(each, hot))
        if names := ", ".join(map(plain, gone)):
            do = "Include them by name or leave them out, on its page in the dashboard."
            yield Finding("warn", "private", f"{plain(face)} leaves out sources that became private: {names}", do)


def _integrity(connection: Connection) -> Finding:
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise Corrupt(f"the database is damaged: {said.splitlines()[-1]}")
    room = engine.room_of(connection)
    says = f"whole, {room.whole >> 20} MiB, {100 * room.free // max(room.whole, 1)} % of it free for new events"
    if too_roomy(room) and not engine.gives_back(connection):
        do = "To return that to the disk, stop the service and run: sanderling migrate"
        return Finding("warn", "database", says, do)
    return Finding("ok", "database", says + ("; some of it returns to the disk" if too_roomy(room) else ""))


def _log(patient: DoctorContext, connection: Connection) -> Iterator[Finding]:
    newest = log.bounds(connection, START).newest
    mark = patient.folder / engine.MARK
    text = mark.read_text("ascii", "replace").strip() if mark.exists() else ""
    if text and not text.isdigit():
        yield Finding("warn", "head mark", f"{mark} is damaged", "The next start rewrites it.")
    elif text and int(text) > newest:
        says = f"events up to {rfc3339(millis_of(Seq(int(text))))} were committed and are missing"
        do = "The write-ahead log was lost or a backup restored. New ids continue above them; nothing else is affected."
        yield Finding("warn", "head mark", says, do)
    if newest and millis_of(newest) > now() + AHEAD_MS:
        says = f"the newest event is of {rfc3339(millis_of(newest))}, which is in the future"
        yield Finding("fail", "clock", says, "Set the clock (timedatectl set-ntp true); ids wait until it gets there.")


def master_key(patient: DoctorContext) -> Iterator[Finding]:
    named = named_vault(patient.variables)
    database = patient.folder / engine.DATABASE
    try:
        there = database.exists() and database.stat().st_size > 0
        key = key_of(database, patient.folder, named) if there else None
    except NoKey as error:
        yield Finding("fail", "master key", f"the secrets are sealed, and {error}", NAME_IT)
        return
    except Unopened as error:
        yield Finding("fail", "master key", str(error), "Restore a backup: sanderling restore FILE --replace")
        return
    if named is None:
        says = "none is named, so backups can't hold the secrets"
        yield Finding("warn", "master key", says + ("; the folder's own opens them" if key else ""), MAKE_ONE)
    elif key is not None and key != named:
        yield Finding("warn", "master key", OTHER.partition(":")[0], OTHER.partition(": ")[2])
    else:
        yield Finding("ok", "master key", "for its owner only" + ("; opens every secret" if key else ""))


LITTLE, HARDLY_ANY = 512 << 20, 64 << 20
SYNCS = 15
SLOW_MS = 30.0
"""Ordinary disks take 0.2 to 10 ms. A harvest waits for one fsync, so 30 ms still allow 30 commits a second."""
BUILT = 1_760_000_000.0  # an earlier wall clock was never set: the program is younger


def permissions(patient: DoctorContext) -> Iterator[Finding]:
    folder = patient.folder
    if not folder.exists():
        yield Finding(
            "warn", "folder", f"{folder} does not exist", "The first start creates it. Or choose another with --data."
        )
        return
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        do = f"Run this as the service's user, or: chown -R USER {folder}"
        yield Finding("fail", "folder", f"{folder} is not readable and writable for user {os.geteuid()}", do)
        return
    open_to_others = []
    for path in (folder, *sorted(folder.iterdir())):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            continue
        if status.st_uid not in (os.geteuid(), folder.stat().st_uid):
            do = f"chown {folder.stat().st_uid} {path}"
            yield Finding("warn", "folder", f"{path} belongs to another user ({status.st_uid})", do)
        if status.st_mode & 0o077:
            open_to_others.append(path)
    for path in open_to_others:
        mode = stat.S_IMODE(path.stat().st_mode)
        level = "fail" if path == folder or path.name.startswith((engine.DATABASE, OWN, NEXT)) else "warn"
        do = f"chmod go-rwx {path}"
        yield Finding(level, "folder", f"other users can access {path} (mode {mode:04o})", do)  # type: ignore[arg-type]  # a Level
    if not open_to_others:
        yield Finding("ok", "folder", f"{folder.absolute()}: for its owner only")


def half_an_import(patient: DoctorContext) -> Iterator[Finding]:
    if unfinished(patient.folder):
        do = f"If none is running: run `sanderling import` again, or delete {patient.folder / STAGE}"
        yield Finding("fail", "import", "an import into the folder was interrupted: the service does not start", do)


def room(patient: DoctorContext) -> Iterator[Finding]:
    folder = next(path for path in (patient.folder.absolute(), *patient.folder.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    database = patient.folder / engine.DATABASE
    size = database.stat().st_size if database.exists() else 0
    says = f"{free >> 20} MiB free, the database takes {size >> 20} MiB"
    do = "Free some space, move the folder, or keep less (retention_days, retention_events)."
    if free < HARDLY_ANY:
        yield Finding("fail", "disk room", says, do)
    elif free < max(LITTLE, size):
        yield Finding("warn", "disk room", says + "; an upgrade copies the database first", do)
    else:
        yield Finding("ok", "disk room", says)
    files = os.statvfs(folder)
    if files.f_files and files.f_favail < 1000:
        yield Finding(
            "fail", "disk room", f"{files.f_favail} more files can be created", "Delete files that are not needed."
        )


def speed(patient: DoctorContext) -> Iterator[Finding]:
    if not patient.folder.is_dir() or not os.access(patient.folder, os.W_OK):
        return
    path = patient.folder / f".doctor-{entropy(6).hex()}"
    took = []
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        for number in range(SYNCS):
            started = monotonic()
            os.pwrite(fd, b"x" * 4096, number * 4096)
            os.fsync(fd)
            took.append((monotonic() - started) * 1000)
    finally:
        os.close(fd)
        path.unlink()
    says = f"an fsync takes {median(took):.1f} ms (the longest of {SYNCS}: {max(took):.0f} ms)"
    if median(took) > SLOW_MS:
        yield Finding("warn", "disk speed", says, "Every commit waits for it. Put the folder on a local disk.")
    else:
        yield Finding("ok", "disk speed", says)


def clock(patient: DoctorContext) -> Iterator[Finding]:
    if wall() < BUILT:
        yield Finding("fail", "clock", "it was never set", "Set it: timedatectl set-ntp true")
    else:
        yield Finding("ok", "clock", "set")
    try:
        ZoneInfo("Europe/Stockholm")
    except LookupError:
        yield Finding("fail", "time zones", "no time zone database was found", "Install tzdata.")


def limits(patient: DoctorContext) -> Iterator[Finding]:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = patient.settings.max_streams + 1000
    unlimited = hard == resource.RLIM_INFINITY
    says = "no limit on open files" if unlimited else f"up to {hard} open files"
    if not unlimited and hard < needed:
        do = f"LimitNOFILE={needed} in the unit (ulimit -n), or a smaller max_streams."
        yield Finding("warn", "open files", f"{says}, max_streams is {patient.settings.max_streams}", do)
    else:
        yield Finding("ok", "open files", says)


async def worker(patient: DoctorContext) -> AsyncIterator[Finding]:
    lacks = ""

    async def look() -> str:
        nonlocal lacks
        entries, memory_kib, lacks = await self_test.tried(patient.variables)
        return f"a feed of {entries} entries and a page read, {memory_kib >> 10} MiB"

    finding = await self_test.found("worker", look)
    if finding.level != "ok":
        do = "Check that no security module or container forbids new processes, and check worker_memory."
        yield Finding("fail", "worker", finding.says, do)
        return
    yield finding
    yield jail(lacks, demanded=patient.settings.jail == "demanded")


def jail(lacks: str, *, demanded: bool) -> Finding:
    if not lacks:
        return Finding("ok", "jail", "Landlock and a system call filter confine the workers")
    do = "Linux 5.13 or later with Landlock on, and a container that allows landlock_* and seccomp (docs/security.md)."
    level: Level = "fail" if demanded else "warn"
    says = f"the kernel does not fully confine the workers: {lacks}"
    return Finding(level, "jail", says + ("; with jail = demanded the service does not start" if demanded else ""), do)


SOON_DAYS = 14
NOBODYS = "invalid."  # never assigned (RFC 6761): a working resolver reports that it does not exist
ASKED, LOOKED_AT = 3, 500
WITHIN = 12.0


async def names(patient: DoctorContext) -> AsyncIterator[Finding]:
    if not patient.offline:
        yield await answered(watched_hosts(patient), SystemResolver())


async def answered(hosts: Sequence[str], resolver: Resolver) -> Finding:
    told = {host: await _asked(host, resolver) for host in hosts or (NOBODYS,)}
    bad = {host: error for host, error in told.items() if error is not None}
    if silent := [error for error in bad.values() if error.local]:
        do = "No source can be fetched by name. Check /etc/resolv.conf and the firewall. (--offline skips this.)"
        return Finding("fail", "names", f"the resolver does not answer: {silent[0]}", do)
    if not hosts:
        return Finding("ok", "names", "the resolver answers; no source has a host name to resolve yet")
    if bad:
        says = "; ".join(f"{host} does not resolve: {error}" for host, error in bad.items())
        do = (
            "The others resolve. Does it still exist? sanderling sources list"
            if len(bad) < len(told)
            else "Is DNS filtered?"
        )
        return Finding("warn", "names", says, do)
    return Finding("ok", "names", f"{', '.join(hosts)}: resolved")


def watched_hosts(patient: DoctorContext) -> Sequence[str]:
    """Return a few host names of sources; none if the database is unreadable, which another check reports."""
    try:
        with closing(connect(patient.folder / engine.DATABASE, engine.READER)) as connection:
            rows = connection.execute("SELECT url FROM source ORDER BY key LIMIT ?", (LOOKED_AT,)).fetchall()
    except (StorageError, sqlite3.Error, OSError):
        return ()
    hosts = dict.fromkeys(urlsplit(url).hostname or "" for (url,) in rows)
    return [host for host in hosts if host not in ("", "localhost") and ip_in(host) is None][:ASKED]


async def _asked(host: str, resolver: Resolver) -> ResolveFailed | None:
    """Resolve a host; None means success. NOBODYS must not exist."""
    try:
        with trio.fail_after(WITHIN):
            await resolver.resolve(host)
    except trio.TooSlowError:
        return ResolveFailed(f"no answer after {WITHIN:g} s", local=True)
    except ResolveFailed as error:
        return None if host == NOBODYS and not error.local else error
    return None


def guard(patient: DoctorContext) -> Iterator[Finding]:
    """Report the private networks that settings open; `actors/egress/address.py` refuses all others."""
    ways = {"watched": patient.settings.watch_networks(), "delivered to": patient.settings.deliver_networks()}
    ways |= {item.reached: parsed(item.value(patient.settings)) for item in declared().values() if item.reached}
    for way, networks in ways.items():
        if networks:
            do = "The settings *_networks allow them. Anyone who can add sources can reach them."
            yield Finding("warn", "guard", f"private addresses may be {way}: {', '.join(map(str, networks))}", do)
        else:
            yield Finding("ok", "guard", f"no private address may be {way}")


def tls(patient: DoctorContext) -> Iterator[Finding]:
    settings = patient.settings
    if not settings.tls_cert:
        own = ip_in(settings.host)
        is_own = settings.host == "localhost" if own is None else own.is_loopback
        if not is_own and not settings.base_url.startswith("https://"):
            do = "Set tls_cert and tls_key, or a proxy in front with base_url = https://... (docs/operating.md)."
            yield Finding("warn", "tls", f"API keys travel unencrypted to {settings.host}", do)
        return
    from cryptography.x509 import load_pem_x509_certificate  # slow, and most services have no certificate

    path = Path(settings.tls_cert)
    try:
        CertificateFiles(path, Path(settings.tls_key))
        certificate = load_pem_x509_certificate(path.read_bytes())
        days = (certificate.not_valid_after_utc - datetime.fromtimestamp(wall(), UTC)).days
    except (CertificateUnusable, OSError, ValueError) as error:
        yield Finding("fail", "tls", str(error), "Fix tls_cert and tls_key: the service does not start with them.")
        return
    if days < 0:
        yield Finding("fail", "tls", f"the certificate ended {-days} days ago", "Renew it; the service reloads it.")
    elif days < SOON_DAYS:
        yield Finding("warn", "tls", f"the certificate ends in {days} days", "Does its renewal work?")
    else:
        yield Finding("ok", "tls", f"the certificate is valid for {days} more days")


async def port(patient: DoctorContext) -> AsyncIterator[Finding]:
    settings, figures = patient.settings, patient.settings.metrics_address()
    yield await _port(patient, settings.host, settings.port, "--port")
    if figures is not None:
        yield await _port(patient, *figures, "--metrics-bind")


async def _port(patient: DoctorContext, host: str, number: int, flag: str) -> Finding:
    where = f"{host} port {number}"
    try:
        listeners = await open_listeners(host, number)
    except OSError as error:
        if patient.running:
            return Finding("ok", "port", f"{where} is in use by the running service")
        do = f"Stop the program there (ss -ltnp), or choose another with {flag}."
        return Finding("fail", "port", f"can't listen on {where}: {error.strerror or error}", do)
    for listener in listeners:
        await listener.aclose()
    running = "; the service listens elsewhere" if patient.running else ""
    return Finding("ok", "port", f"{where} is free{running}")


def proxies(patient: DoctorContext) -> Iterator[Finding]:
    settings = patient.settings
    if settings.base_url.startswith("https://") and not settings.tls_cert and not settings.trusted_proxies:
        do = 'Name it: trusted_proxies = ["127.0.0.1/32"]; otherwise all clients count as one address.'
        yield Finding("warn", "proxy", "HTTPS comes from a proxy in front, but no proxy is trusted", do)
    for network in settings.proxies():
        if network.prefixlen == 0:
            do = "Name the proxy's own address; otherwise any client can claim any address."
            yield Finding("fail", "proxy", f"trusted_proxies holds {network}, which trusts everyone", do)
    variables = ("http_proxy", "https_proxy", "all_proxy")
    ignored = [name for name in variables if patient.variables.get(name) or patient.variables.get(name.upper())]
    if ignored:
        do = (
            "Sanderling connects directly, so that its guard sees each address. Let the firewall pass ports 80 and 443."
        )
        yield Finding("warn", "proxy", f"{', '.join(ignored)} is set but ignored", do)


Question = Callable[[DoctorContext], Iterator[Finding] | AsyncIterator[Finding]]
QUESTIONS: Mapping[str, Question] = {
    "folder": permissions,
    "import": half_an_import,
    "disk room": room,
    "disk speed": speed,
    "database": database,
    "private": private_sources,
    "master key": master_key,
    "clock": clock,
    "open files": limits,
    "worker": worker,
    "names": names,
    "guard": guard,
    "tls": tls,
    "port": port,
    "proxy": proxies,
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
    if (service := at_socket(place)) is None:
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
                    found += [answer async for answer in answers]
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
        return Finding("fail", what, "could not run: the database is damaged", RESTORE)
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
