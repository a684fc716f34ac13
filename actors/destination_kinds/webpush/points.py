"""P-256: keys from the World's entropy, and the browsers' encoding of keys. Pure."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE: Final = SECP256R1()
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
DRAWN: Final = 40
"""Bytes of entropy for a key: 64 bits more than it has, so that all are equally likely (FIPS 186-5, A.2.1)."""
SIZE: Final = 32


def drawn_secret(chance: bytes) -> bytes:
    """Return the private half of a new key."""
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
