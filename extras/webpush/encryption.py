"""Messages that only one browser can read, from a sender that its push service knows. Pure.

RFC 8291 on the encoding `aes128gcm` of RFC 8188, and the sender's signed token (RFC 8292), both on P-256. Keys are made
of the World's entropy.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
)
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

if TYPE_CHECKING:
    from extras.webpush.key import PushKey

CURVE: Final = SECP256R1()
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
DRAWN: Final = 40
"""Bytes of entropy for a key: 64 bits more than it has, so that all are equally likely (FIPS 186-5, A.2.1)."""
SIZE: Final = 32


def drawn_secret(chance: bytes) -> bytes:
    return (int.from_bytes(chance, "big") % (_ORDER - 1) + 1).to_bytes(SIZE, "big")


def private_key(secret: bytes) -> EllipticCurvePrivateKey:
    return derive_private_key(int.from_bytes(secret, "big"), CURVE)


def public_half(key: EllipticCurvePrivateKey | EllipticCurvePublicKey) -> bytes:
    """Return the point, uncompressed: 65 bytes."""
    public = key.public_key() if isinstance(key, EllipticCurvePrivateKey) else key
    return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def point(encoded: bytes) -> EllipticCurvePublicKey:
    """Return the public key from 65 bytes. Raises ValueError for a point off the curve, which would leak secrets."""
    if len(encoded) != 1 + 2 * SIZE:
        raise ValueError("not an uncompressed point")
    return EllipticCurvePublicKey.from_encoded_point(CURVE, encoded)


def spelled(data: bytes) -> str:
    """Return base64url without padding (RFC 7515, 2)."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read(text: str) -> bytes:
    """Decode base64url, with or without padding. Raises ValueError."""
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(str(error)) from None


RECORD: Final = 4096  # bytes of the one record; push services need not accept a larger body (RFC 8030, 7.2)
SALT: Final = 16
AUTH: Final = 16
_TAG, _LAST = 16, b"\x02"
_HEAD: Final = SALT + 4 + 1 + 65
LONGEST: Final = RECORD - _HEAD - _TAG - len(_LAST)  # longest text for a body of one record, in bytes: 3,993


class Device(NamedTuple):
    """The keys of a browser's subscription: its public key (`p256dh`, 65 bytes) and `auth` (16)."""

    public: bytes
    auth: bytes


def encrypted(text: bytes, device: Device, secret: bytes, salt: bytes) -> bytes:
    """secret, salt: a key and 16 bytes for this message. Raises ValueError for a long text or invalid key."""
    ours = private_key(secret)
    public = public_half(ours)
    shared = ours.exchange(ECDH(), point(device.public))
    return encoded(text, _derived(device.auth, shared, b"WebPush: info\x00" + device.public + public, 32), salt, public)


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
    return hmac.digest(hmac.digest(salt, key, "sha256"), info + b"\x01", "sha256")[:size]


_HOUR: Final = 3_600
_GOOD_FOR: Final = 12 * _HOUR  # seconds; a day is the limit
_TOKEN_HEAD: Final = spelled(b'{"typ":"JWT","alg":"ES256"}')


class _Claims(msgspec.Struct, frozen=True, omit_defaults=True):
    aud: str
    exp: int
    sub: str = ""


def authorization(key: PushKey, origin: str, at: int, contact: str) -> str:
    """Return a header, the same for an hour (RFC 6979): services cache tokens. contact: https, mailto or ""."""
    claims = _Claims(origin, at - at % _HOUR + _GOOD_FOR, contact)
    said = f"{_TOKEN_HEAD}.{spelled(msgspec.json.encode(claims))}"
    signature = private_key(key.secret).sign(said.encode(), ECDSA(SHA256(), deterministic_signing=True))
    pair = b"".join(number.to_bytes(SIZE, "big") for number in decode_dss_signature(signature))
    return f"vapid t={said}.{spelled(pair)}, k={key.public}"
