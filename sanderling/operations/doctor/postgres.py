"""Check PostgreSQL: reachable, suitable, and opened by the named master key."""

from __future__ import annotations

from collections.abc import Iterator

from sanderling import engines
from sanderling.exits import CommandFailed
from sanderling.master_key import named_vault
from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from sanderling.real_world import wall
from storage.errors import StorageError
from storage.postgres.address import Address


def postgres(patient: DoctorContext) -> Iterator[Finding]:
    """Check server and database, possibly in use."""
    try:
        address = engines.address_of(patient.settings)
        listen = engines.listen_address_of(patient.settings)
    except CommandFailed as error:
        yield Finding("fail", "PostgreSQL", error.message, "docs/postgresql.md has an example.")
        return
    assert address is not None
    try:
        yield from _asked(patient, address, listens=listen is not None)
    except ImportError:
        yield Finding("fail", "PostgreSQL", engines.NO_LIBRARY, engines.INSTALL_IT)
    except StorageError as error:
        do = "Is the server up, and does it let this machine in? docs/postgresql.md"
        yield Finding("fail", "PostgreSQL", f"{address}: {error}", do)


def _asked(patient: DoctorContext, address: Address, *, listens: bool) -> Iterator[Finding]:
    from storage.postgres.engine.examining import examine

    found = examine(address.url, wall, named_vault(patient.variables), listens=listens)
    yield Finding("ok", "PostgreSQL", f"{found.version} at {address}")
    for verdict in found.verdicts:
        yield Finding("fail" if verdict.refuses else "warn", "PostgreSQL", verdict.says, verdict.do)
    if found.schema is None:
        yield Finding("warn", "schema", "there is none yet", "The first start makes it.")
        return
    yield Finding("ok", "schema", str(found.schema))
    for member in found.inside:
        yield Finding("ok", "node", f"{member} is inside")
    if found.opened is None:
        do = "Name the file of the master key in SANDERLING_MASTER_KEY_FILE, the same one on every node."
        yield Finding("fail", "master key", "none is named, and beside PostgreSQL no node makes one", do)
    elif found.opened:
        yield Finding("fail", "master key", found.opened, "Name the one that this database was made with.")
    else:
        yield Finding("ok", "master key", "opens every secret")
