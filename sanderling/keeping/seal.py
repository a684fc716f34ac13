"""The master key: 256 bits that the owner keeps apart from backups, and that seal the secrets inside them.

It comes from a file, the environment, or systemd's credentials, in this order; never from a flag, as everybody on a
machine sees those. Sealing is NaCl's secret box (XSalsa20-Poly1305): what is altered does not open.
"""

from __future__ import annotations

import base64
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from sanderling.exits import CommandFailed, Exit

VARIABLE = "SANDERLING_MASTER_KEY"
FILE_VARIABLE = "SANDERLING_MASTER_KEY_FILE"
CREDENTIAL = "sanderling.master-key"
_WRITTEN = re.compile(r"smk_[A-Za-z0-9_-]{43}", re.ASCII)


class MasterKey:
    """A master key. Its repr, and so any log line or traceback, does not show it."""

    def __init__(self, secret: bytes) -> None:
        self._box = SecretBox(secret)

    def __repr__(self) -> str:
        return "MasterKey(...)"

    def seal(self, data: bytes, nonce: bytes) -> bytes:
        """Return data sealed; `nonce` is 24 unguessable bytes."""
        return bytes(self._box.encrypt(data, nonce))

    def open(self, sealed: bytes) -> bytes | None:
        """Return what was sealed; None when it was sealed with another key, or is altered."""
        try:
            return self._box.decrypt(sealed)
        except (CryptoError, ValueError):
            return None


def written(secret: bytes) -> str:
    """Return a master key as it is written to a file."""
    return "smk_" + base64.urlsafe_b64encode(secret).decode().rstrip("=")


def find_master_key(variables: Mapping[str, str]) -> MasterKey | None:
    """Return the master key that the environment leads to; None for none. Raises CommandFailed (BAD_SETTING)."""
    if named := variables.get(FILE_VARIABLE):
        return _read(_text(Path(named), private=True), named)
    if text := variables.get(VARIABLE):
        return _read(text, VARIABLE)
    if folder := variables.get("CREDENTIALS_DIRECTORY"):
        path = Path(folder) / CREDENTIAL
        if path.is_file():  # systemd sees to its rights
            return _read(_text(path, private=False), str(path))
    return None


def _text(path: Path, *, private: bool) -> str:
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
    if not _WRITTEN.fullmatch(text.strip()):
        raise CommandFailed(
            f"{origin}: holds no master key; one begins with smk_, and `sanderling keys master` makes one.",
            Exit.BAD_SETTING,
        )
    return MasterKey(base64.urlsafe_b64decode(text.strip()[4:] + "="))
