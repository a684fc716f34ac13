"""The data folder: its faults as messages and exit codes, the operator's master key, which opens its secrets, and
interrupted imports.

The master key is 256 bits to be kept apart from backups. It comes from a file, the environment, or systemd's
credentials, in this order; never from a flag, which everyone on the machine can see. Without one, the database uses the
data folder's own key (`storage/sqlite/master_key.py`) and backups have no key. Backups use NaCl's secret box
(XSalsa20-Poly1305): altered data does not open.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from sanderling.exits import CommandFailed, Exit
from storage.errors import Corrupt, DiskFull, Exposed, Locked, NewerSchema, NoKey, Unavailable
from storage.secrets import Vault, read_master
from storage.sqlite.engine import DATABASE
from storage.sqlite.ownership import as_owner, as_root

STANDBY = "standby"  # the folder that only a standby's data folder has
VARIABLE = "SANDERLING_MASTER_KEY"
FILE_VARIABLE = "SANDERLING_MASTER_KEY_FILE"
CREDENTIAL = "sanderling.master-key"
NO_KEY = (
    "{}: its secrets are sealed, and {}. Name the file of the master key in SANDERLING_MASTER_KEY_FILE, as the service "
    "has it (a unit gets it as its credential `sanderling.master-key`), or put the data folder's own master.key back. "
    "If the key is lost: restore a backup whose key you have, or give the sealed secrets up with `sanderling keys "
    "rotate-master --lost` (docs/backup.md)."
)
_A_FILE = "{0} can't be used as data folder: it is a file, or leads through one. Choose a folder with --data."
_SAYS: Mapping[type[Exception], tuple[Exit, str]] = {
    Locked: (Exit.BAD_DATA, "{0} is in use: {1}."),
    Exposed: (
        Exit.BAD_DATA,
        "{1}, and it is not ours to change. It holds secrets: run `chmod go-rwx {1.path}` as its owner, or name a "
        "folder of your own with --data.",
    ),
    NoKey: (Exit.BAD_SETTING, NO_KEY),
    NewerSchema: (
        Exit.BAD_DATA,
        "{0} was written by a newer version: {1}. Upgrade Sanderling; or restore the copy that the newer version's "
        "upgrade has kept, before-upgrade-*.db (docs/upgrade.md).",
    ),
    Corrupt: (Exit.BAD_DATA, "{0} is damaged: {1}: sanderling restore FILE --replace --data {0}"),
    DiskFull: (Exit.TRY_AGAIN, "{0}: {1}. Free some room and try again."),
    Unavailable: (Exit.TRY_AGAIN, "{0}: the database does not answer now: {1}. Try again."),
    **dict.fromkeys((FileExistsError, NotADirectoryError), (Exit.BAD_DATA, _A_FILE)),
    OSError: (Exit.BAD_DATA, "{0} can't be used as data folder: {2}. Make it writable, or choose another with --data."),
}
"""The exit code and sentence of each fault of a folder (0): the error (1), its reason (2). The first kind counts."""


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a data folder as its owner if this is root. Raises CommandFailed."""
    with command_errors(folder), as_owner(folder):
        yield


@contextmanager
def command_errors(folder: Path) -> Iterator[None]:
    """Turn storage errors, and OSErrors about the folder, into CommandFailed."""
    try:
        yield
    except tuple(_SAYS) as error:
        code, says = next(row for kind, row in _SAYS.items() if isinstance(error, kind))
        why = getattr(error, "strerror", None) or error
        raise CommandFailed(says.format(folder, error, why), code) from None


class MasterKey:
    """A master key: `vault` works on databases, the other methods on backups. Its repr hides it from logs."""

    def __init__(self, secret: bytes) -> None:
        self._box, self.vault = SecretBox(secret), Vault(secret)

    def __repr__(self) -> str:
        return "MasterKey(...)"

    def seal(self, data: bytes, nonce: bytes) -> bytes:
        """nonce: 24 unguessable bytes."""
        return bytes(self._box.encrypt(data, nonce))

    def mac(self, data: bytes) -> str:
        """Return a MAC as the hex of 32 bytes, made with a key derived for this use."""
        return blake2b(data, key=self.vault.mac_key(""), digest_size=32).hexdigest()

    def open(self, sealed: bytes) -> bytes | None:
        try:
            return self._box.decrypt(sealed)
        except (CryptoError, ValueError):
            return None


def find_master_key(variables: Mapping[str, str]) -> MasterKey | None:
    """Return the master key from the environment; None without one. Raises CommandFailed (BAD_SETTING)."""
    if named := variables.get(FILE_VARIABLE):
        return master_in(Path(named))
    if text := variables.get(VARIABLE):
        return _read(text, VARIABLE)
    if folder := variables.get("CREDENTIALS_DIRECTORY"):
        path = Path(folder) / CREDENTIAL
        with as_root():
            there = path.is_file()
        if there:  # systemd protects it
            return _read(_text(path, private=False), str(path))
    return None


def named_vault(variables: Mapping[str, str]) -> Vault | None:
    """Raises CommandFailed."""
    master = find_master_key(variables)
    return None if master is None else master.vault


def master_in(path: Path) -> MasterKey:
    """Raises CommandFailed."""
    return _read(_text(path, private=True), str(path))


def _text(path: Path, *, private: bool) -> str:
    try:
        with as_root():
            mode, text = path.stat().st_mode, path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise CommandFailed(f"{path}: the master key cannot be read: {why}.", Exit.BAD_SETTING) from None
    if private and mode & (stat.S_IRWXG | stat.S_IRWXO):
        says = f"{path}: others may read the master key (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}"
        raise CommandFailed(says, Exit.BAD_SETTING)
    return text


def _read(text: str, origin: str) -> MasterKey:
    if (master := read_master(text)) is None:
        raise CommandFailed(
            f"{origin}: holds no master key; one begins with smk_, and `sanderling keys master` makes one.",
            Exit.BAD_SETTING,
        )
    return MasterKey(master)


STAGE = ".importing"


def unfinished(folder: Path) -> bool:
    """Return whether an import was cut off; the folder then holds none of it."""
    try:
        return (folder / STAGE / DATABASE).exists()
    except PermissionError:  # root's stage: ownership changes only when complete
        return True
