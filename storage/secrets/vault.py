"""The boxes that hold secrets, and the keys that open them.

A box is XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) under a key derived from the master key for one kind of row (keyed
BLAKE2b, RFC 7693), with the row's name as associated data. So a box that was altered, or moved to another row or table,
cannot be opened. An attacker with write access to the database but without the key cannot give one destination the
secret of another, whose receiver the attacker controls.
"""

from __future__ import annotations

import base64
import re
from hashlib import blake2b

from nacl.exceptions import CryptoError
from nacl.secret import Aead
from nacl.utils import random

from storage.errors import Unopened

SIZE = 32
NONCE = Aead.NONCE_SIZE
_PERSON = b"sanderling at"  # at rest; BLAKE2b's "person" separates this use of the key from any other
_MAC = b"sanderling mac"
_FORM = b"\x01"
"""The first byte of a box: its format. There is one so far."""
_WRITTEN = re.compile(r"smk_([A-Za-z0-9_-]{43})", re.ASCII)


class Vault:
    """Seals and opens with one master key of 32 bytes. Its repr hides the key from log lines and tracebacks."""

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
        """Seal a secret for the row `name` of a kind: 41 bytes longer, and different at each call."""
        # Random nonces of 24 bytes do not repeat, and need no other property.
        return self.seal_with(kind, name, secret, random(NONCE))

    def seal_with(self, kind: str, name: str, secret: bytes, nonce: bytes) -> bytes:
        """Seal like `seal`, with a nonce that no other box of this kind has."""
        return _FORM + bytes(self._box(kind).encrypt(secret, name.encode(), nonce))

    def open(self, kind: str, name: str, box: bytes) -> bytes:
        """Return the secret. Raises Unopened if the box was altered, moved, or sealed with another master key."""
        if box[:1] == _FORM:
            try:
                return self._box(kind).decrypt(box[1:], name.encode())
            except (CryptoError, ValueError):
                pass  # raised below, like a box of another form
        raise Unopened(kind, name)

    def opens(self, kind: str, name: str, box: bytes) -> bool:
        try:
            self.open(kind, name, box)
        except Unopened:
            return False
        return True

    def mac_key(self, context: str) -> bytes:
        """Derive a key of 32 bytes for MACs that only holders of the master key can make, one for each context."""
        return blake2b(context.encode(), key=self._master, digest_size=SIZE, person=_MAC).digest()

    def _box(self, kind: str) -> Aead:
        if kind not in self._boxes:
            derived = blake2b(kind.encode(), key=self._master, digest_size=Aead.KEY_SIZE, person=_PERSON)
            self._boxes[kind] = Aead(derived.digest())
        return self._boxes[kind]


def written(master: bytes) -> str:
    """Return a master key in the form of its file.

    >>> written(bytes(32))
    'smk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return "smk_" + base64.urlsafe_b64encode(master).decode().rstrip("=")


def read_master(text: str) -> bytes | None:
    """Parse a master key, ignoring surrounding white space; None if the text is none."""
    found = _WRITTEN.fullmatch(text.strip())
    return None if found is None else base64.urlsafe_b64decode(found[1] + "=")
