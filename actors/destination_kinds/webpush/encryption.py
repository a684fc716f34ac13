"""Messages that only one browser can read: RFC 8291 on the encoding `aes128gcm` of RFC 8188. Pure."""

from __future__ import annotations

import hmac
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ec import ECDH
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from actors.destination_kinds.webpush.points import point, private_key, public_half

RECORD: Final = 4096
"""Bytes of the one record; push services need not accept a larger body (RFC 8030, 7.2)."""
SALT: Final = 16
AUTH: Final = 16
_TAG, _LAST = 16, b"\x02"
_HEAD: Final = SALT + 4 + 1 + 65
LONGEST: Final = RECORD - _HEAD - _TAG - len(_LAST)
"""Longest text for a body of one record, in bytes: 3,993."""


class Device(NamedTuple):
    """The keys of a browser's subscription: its public key (`p256dh`, 65 bytes) and `auth` (16)."""

    public: bytes
    auth: bytes


def encrypted(text: bytes, device: Device, secret: bytes, salt: bytes) -> bytes:
    """Return the body of a push message. secret, salt: a key and 16 bytes drawn for this one message.

    Raises ValueError for a text that is too long, and for an invalid key.
    """
    ours = private_key(secret)
    public = public_half(ours)
    shared = ours.exchange(ECDH(), point(device.public))
    info = b"WebPush: info\x00" + device.public + public
    return encoded(text, _derived(device.auth, shared, info, 32), salt, public)


def encoded(text: bytes, key: bytes, salt: bytes, key_id: bytes = b"") -> bytes:
    """Return a text in one record of `aes128gcm`. Raises ValueError if it is too long."""
    if len(text) > LONGEST:
        raise ValueError(f"{len(text)} bytes, and {LONGEST} are the most")
    content_key = _derived(salt, key, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derived(salt, key, b"Content-Encoding: nonce\x00", 12)
    head = salt + RECORD.to_bytes(4, "big") + bytes([len(key_id)]) + key_id
    return head + AESGCM(content_key).encrypt(nonce, text + _LAST, None)


def _derived(salt: bytes, key: bytes, info: bytes, size: int) -> bytes:
    """Return HKDF-SHA-256 of at most one block (RFC 5869)."""
    extracted = hmac.digest(salt, key, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")[:size]
