"""The master key that the owner names: 256 bits that he keeps apart from backups.

It comes from a file, the environment, or systemd's credentials, in this order; never from a flag, as everybody on a
machine sees those. Who names none has the data folder's own (`storage/sqlite/secrets/own_key.py`) for the database, and
none for backups. A backup's secrets are in NaCl's secret box (XSalsa20-Poly1305): what is altered does not open.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from sanderling.exits import CommandFailed, Exit
from storage.secrets.vault import REPLICA, Vault, read_master
from storage.sqlite.ownership import as_root
from storage.sqlite.secrets.own_key import own_keys

VARIABLE = "SANDERLING_MASTER_KEY"
FILE_VARIABLE = "SANDERLING_MASTER_KEY_FILE"
CREDENTIAL = "sanderling.master-key"


class MasterKey:
    """A master key: `vault` is what it does in a database, the rest what it does in backups.

    Its repr, and so any log line or traceback, does not show it.
    """

    def __init__(self, secret: bytes) -> None:
        self._box, self.vault = SecretBox(secret), Vault(secret)

    def __repr__(self) -> str:
        return "MasterKey(...)"

    def seal(self, data: bytes, nonce: bytes) -> bytes:
        """Return data sealed; `nonce` is 24 unguessable bytes."""
        return bytes(self._box.encrypt(data, nonce))

    def mac(self, data: bytes) -> str:
        """Return what only who has this key can say of data: hex of 32 bytes, by a key derived for this use."""
        return blake2b(data, key=self.vault.mac_key(""), digest_size=32).hexdigest()

    def open(self, sealed: bytes) -> bytes | None:
        """Return what was sealed; None when it was sealed with another key, or is altered."""
        try:
            return self._box.decrypt(sealed)
        except (CryptoError, ValueError):
            return None


def find_master_key(variables: Mapping[str, str]) -> MasterKey | None:
    """Return the master key that the environment leads to; None for none. Raises CommandFailed (BAD_SETTING)."""
    if named := variables.get(FILE_VARIABLE):
        return master_in(Path(named))
    if text := variables.get(VARIABLE):
        return _read(text, VARIABLE)
    if folder := variables.get("CREDENTIALS_DIRECTORY"):
        path = Path(folder) / CREDENTIAL
        with as_root():
            there = path.is_file()
        if there:  # systemd sees to its rights
            return _read(_text(path, private=False), str(path))
    return None


def named_vault(variables: Mapping[str, str]) -> Vault | None:
    """Return what the named master key does in a database; None when none is named. Raises CommandFailed."""
    master = find_master_key(variables)
    return None if master is None else master.vault


def replica_keys(folder: Path, variables: Mapping[str, str]) -> list[bytes]:
    """Return the keys that a replica's MACs may be made with: of the named master key, and of the folder's own.

    Raises CommandFailed, NoKey, OSError.
    """
    vaults = (named_vault(variables), *own_keys(folder).values())
    return [vault.mac_key(REPLICA) for vault in vaults if vault is not None]


def master_in(path: Path) -> MasterKey:
    """Return the master key in a file. Raises CommandFailed."""
    return _read(_text(path, private=True), str(path))


def _text(path: Path, *, private: bool) -> str:
    with as_root():
        return _text_of(path, private=private)


def _text_of(path: Path, *, private: bool) -> str:
    try:
        mode = path.stat().st_mode
        if private and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise CommandFailed(
                f"{path}: others may read the master key (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}",
                Exit.BAD_SETTING,
            )
        return path.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise CommandFailed(f"{path}: the master key cannot be read: {why}.", Exit.BAD_SETTING) from None


def _read(text: str, origin: str) -> MasterKey:
    master = read_master(text)
    if master is None:
        raise CommandFailed(
            f"{origin}: holds no master key; one begins with smk_, and `sanderling keys master` makes one.",
            Exit.BAD_SETTING,
        )
    return MasterKey(master)
