"""Check that names of the user's own sources resolve. No other names are queried."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from ipaddress import ip_address
from urllib.parse import urlsplit

import trio

from actors.egress.sockets import SystemResolver
from actors.world import ResolveFailed, Resolver
from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from storage.errors import StorageError
from storage.sqlite.engine.connection import READER, connect
from storage.sqlite.engine.folder import DATABASE

NOBODYS = "invalid."
"""Never assigned (RFC 6761): a working resolver reports that it does not exist."""
ASKED, LOOKED_AT = 3, 500
WITHIN = 12.0


async def names(patient: DoctorContext) -> AsyncIterator[Finding]:
    """Resolve the hosts of a few sources; without sources, test the resolver itself."""
    if not patient.offline:
        yield await answered(watched_hosts(patient), SystemResolver())


async def answered(hosts: Sequence[str], resolver: Resolver) -> Finding:
    """Return the finding for some hosts."""
    told = {host: await _asked(host, resolver) for host in hosts or (NOBODYS,)}
    bad = {host: error for host, error in told.items() if error is not None}
    silent = [error for error in bad.values() if error.local]
    if silent:
        do = "Nothing can be watched by name: see /etc/resolv.conf and the firewall. (--offline leaves this out.)"
        return Finding("fail", "names", f"the resolver does not answer: {silent[0]}", do)
    if not hosts:
        return Finding("ok", "names", "the resolver answers; no source has a name to ask for yet")
    if bad:
        says = "; ".join(f"{host} does not resolve: {error}" for host, error in bad.items())
        do = "The others do. Is it still there? sanderling sources list" if len(bad) < len(told) else "Is DNS filtered?"
        return Finding("warn", "names", says, do)
    return Finding("ok", "names", f"{', '.join(hosts)}: watched, and resolved")


def watched_hosts(patient: DoctorContext) -> Sequence[str]:
    """Return a few host names of sources; none if the database is unreadable, which another check reports."""
    try:
        with closing(connect(patient.folder / DATABASE, READER)) as connection:
            rows = connection.execute("SELECT url FROM source ORDER BY key LIMIT ?", (LOOKED_AT,)).fetchall()
    except (StorageError, sqlite3.Error, OSError):
        return ()
    hosts = dict.fromkeys(urlsplit(url).hostname or "" for (url,) in rows)
    return [host for host in hosts if _is_name(host)][:ASKED]


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


def _is_name(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return bool(host) and host != "localhost"
    return False
