"""Turn faults of the data folder into messages and exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sanderling.exits import CommandFailed, Exit
from storage.errors import Corrupt, DiskFull, Exposed, Locked, NewerSchema, NoKey, Unavailable
from storage.sqlite.ownership import as_owner

NO_KEY = (
    "{}: its secrets are sealed, and {}. Name the file of the master key in SANDERLING_MASTER_KEY_FILE, as the service "
    "has it (a unit gets it as its credential `sanderling.master-key`), or put the data folder's own master.key back. "
    "If the key is lost: restore a backup whose key you have, or give the sealed secrets up with `sanderling keys "
    "rotate-master --lost` (docs/backup.md)."
)


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a data folder as its owner if this is root. Raises CommandFailed."""
    with told_plainly(folder), as_owner(folder):
        yield


@contextmanager
def told_plainly(folder: Path) -> Iterator[None]:
    """Turn storage errors, and OSErrors about the folder, into CommandFailed."""
    try:
        yield
    except Locked as error:
        raise CommandFailed(f"{folder} is in use: {error}.", Exit.BAD_DATA) from None
    except Exposed as error:
        raise CommandFailed(
            f"{error}, and it is not ours to change. It holds secrets: run `chmod go-rwx {error.path}` as its owner, "
            "or name a folder of your own with --data.",
            Exit.BAD_DATA,
        ) from None
    except NoKey as error:
        raise CommandFailed(NO_KEY.format(folder, error), Exit.BAD_SETTING) from None
    except NewerSchema as error:
        raise CommandFailed(
            f"{folder} was written by a newer version: {error}. Upgrade Sanderling; or restore the copy that the newer "
            "version's upgrade has kept, before-upgrade-*.db (docs/upgrade.md).",
            Exit.BAD_DATA,
        ) from None
    except Corrupt as error:
        raise CommandFailed(
            f"{folder} is damaged: {error}: sanderling restore FILE --replace --data {folder}", Exit.BAD_DATA
        ) from None
    except DiskFull as error:
        raise CommandFailed(f"{folder}: {error}. Free some room and try again.", Exit.TRY_AGAIN) from None
    except Unavailable as error:
        raise CommandFailed(
            f"{folder}: the database does not answer now: {error}. Try again.", Exit.TRY_AGAIN
        ) from None
    except (FileExistsError, NotADirectoryError):
        raise CommandFailed(
            f"{folder} can't be used as data folder: it is a file, or leads through one. Choose a folder with --data.",
            Exit.BAD_DATA,
        ) from None
    except OSError as error:
        raise CommandFailed(
            f"{folder} can't be used as data folder: {error.strerror or error}. "
            "Make it writable, or choose another with --data.",
            Exit.BAD_DATA,
        ) from None
