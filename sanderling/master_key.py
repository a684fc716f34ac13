"""The operator's master key: 256 bits to be kept apart from backups.

It comes from a file, the environment, or systemd's credentials, in this order; never from a flag, which everyone on the
machine can see. Without one, the database uses the data folder's own key (`storage/sqlite/master_key.py`) and
backups have no key. Backups use NaCl's secret box (XSalsa20-Poly1305): altered data does not open.
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
from storage.sqlite.master_key import own_keys
from storage.sqlite.ownership import as_root

VARIABLE = "SANDERLING_MASTER_KEY"
FILE_VARIABLE = "SANDERLING_MASTER_KEY_FILE"
CREDENTIAL = "sanderling.master-key"


class MasterKey:
    """A master key: `vault` works on databases, the other methods on backups.

    Its repr hides it, and so do log lines and tracebacks.
    """

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
        """Return the plaintext; None if it was altered or sealed with another key."""
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
    """Return the named master key's vault; None without one. Raises CommandFailed."""
    master = find_master_key(variables)
    return None if master is None else master.vault


def replica_keys(folder: Path, variables: Mapping[str, str]) -> list[bytes]:
    """Return the possible MAC keys of a replica: from the named master key and the folder's own keys.

    Raises CommandFailed, NoKey, OSError.
    """
    vaults = (named_vault(variables), *own_keys(folder).values())
    return [vault.mac_key(REPLICA) for vault in vaults if vault is not None]


def master_in(path: Path) -> MasterKey:
    """Raises CommandFailed."""
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
