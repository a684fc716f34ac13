"""The boxes that secrets lie in, and the keys that open them.

A box is XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) under a key that is derived from the master key for one kind of
row (keyed BLAKE2b, RFC 7693), with the row's own name as associated data. So a box that was altered, or put into
another row or table, does not open: whoever can write to the database without the key can't give one destination the
secret of another, whose receiver he is.
"""

from __future__ import annotations

import base64
import re
from hashlib import blake2b
from typing import Final

from nacl.exceptions import CryptoError
from nacl.secret import Aead
from nacl.utils import random

from storage.errors import Unopened

SIZE = 32
NONCE = Aead.NONCE_SIZE
_PERSON = b"sanderling at"  # at rest; BLAKE2b's "person" keeps this use of the key apart from any other
_MAC = b"sanderling mac"
REPLICA: Final = "replica"
"""The context of the key that a replica's MACs are made with."""
_FORM = b"\x01"
"""The first byte of a box. There is one form so far."""
_WRITTEN = re.compile(r"smk_([A-Za-z0-9_-]{43})", re.ASCII)


class Vault:
    """Seals and opens with one master key of 32 bytes. Its repr, and so any log line or traceback, does not show it."""

    def __init__(self, master: bytes) -> None:
        assert len(master) == SIZE
        self._master = master
        self._boxes: dict[str, Aead] = {}

    def __repr__(self) -> str:
        return "Vault(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vault) and self._master == other._master

    def __hash__(self) -> int:
        return hash(self._master)

    def seal(self, kind: str, name: str, secret: bytes) -> bytes:
        """Return a box for the row `name` of a kind of rows: 41 bytes longer than the secret, other at each call."""
        # 24 bytes never repeat by chance, and nothing else hangs on them.
        return self.seal_with(kind, name, secret, random(NONCE))

    def seal_with(self, kind: str, name: str, secret: bytes, nonce: bytes) -> bytes:
        """Return a box as `seal` does, with a nonce that no other box of this kind has."""
        return _FORM + bytes(self._box(kind).encrypt(secret, name.encode(), nonce))

    def open(self, kind: str, name: str, box: bytes) -> bytes:
        """Return what was sealed. Raises Unopened when it was altered, moved, or sealed with another master key."""
        if box[:1] == _FORM:
            try:
                return self._box(kind).decrypt(box[1:], name.encode())
            except (CryptoError, ValueError):
                pass
        raise Unopened(kind, name)

    def opens(self, kind: str, name: str, box: bytes) -> bool:
        try:
            self.open(kind, name, box)
        except Unopened:
            return False
        return True

    def mac_key(self, context: str) -> bytes:
        """Return a key of 32 bytes for what only who has the master key can say, another one for each context."""
        return blake2b(context.encode(), key=self._master, digest_size=SIZE, person=_MAC).digest()

    def _box(self, kind: str) -> Aead:
        if kind not in self._boxes:
            derived = blake2b(kind.encode(), key=self._master, digest_size=Aead.KEY_SIZE, person=_PERSON)
            self._boxes[kind] = Aead(derived.digest())
        return self._boxes[kind]


def written(master: bytes) -> str:
    """Return a master key as it is written to a file.

    >>> written(bytes(32))
    'smk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return "smk_" + base64.urlsafe_b64encode(master).decode().rstrip("=")


def read_master(text: str) -> bytes | None:
    """Return the master key that a text is, None when it is none. White space around it does not count."""
    found = _WRITTEN.fullmatch(text.strip())
    return None if found is None else base64.urlsafe_b64decode(found[1] + "=")
