"""Check the master key: named, able to open the secrets, usable for backups."""

from __future__ import annotations

from collections.abc import Iterator

from sanderling.master_key import named_vault
from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from storage.errors import NoKey, Unopened
from storage.sqlite.engine.folder import DATABASE
from storage.sqlite.master_key import OTHER
from storage.sqlite.upkeep.copying import key_of

NAME_IT = (
    "Name the one that the service has in SANDERLING_MASTER_KEY_FILE (a unit's credential is often "
    "/etc/sanderling/master.key), or put the folder's own back. If it is lost: sanderling keys rotate-master --lost"
)
MAKE_ONE = "Make one: (umask 077; sanderling keys master > FILE), and name it in SANDERLING_MASTER_KEY_FILE."


def master_key(patient: DoctorContext) -> Iterator[Finding]:
    """Check that the key opens every secret and that backups can include them."""
    named = named_vault(patient.variables)
    database = patient.folder / DATABASE
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
