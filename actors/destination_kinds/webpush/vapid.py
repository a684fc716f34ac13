"""The sender's identification for a push service: a signed token for its origin (RFC 8292). Pure."""

from __future__ import annotations

from typing import Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from actors.destination_kinds.webpush.points import SIZE, private_key, spelled
from storage.records.key import PushKey

_HOUR: Final = 3_600
_GOOD_FOR: Final = 12 * _HOUR
"""Seconds; a day is the limit."""
_HEAD: Final = spelled(b'{"typ":"JWT","alg":"ES256"}')


class _Claims(msgspec.Struct, frozen=True, omit_defaults=True):
    aud: str
    exp: int
    sub: str = ""


def authorization(key: PushKey, origin: str, at: int, contact: str) -> str:
    """Return the value of the header `Authorization` at a moment, in seconds since 1970.

    contact: an https or mailto URL of the service's owner, "" without one. The value is the same for an hour, as the
    signature is deterministic (RFC 6979): push services cache verified tokens.
    """
    claims = _Claims(origin, at - at % _HOUR + _GOOD_FOR, contact)
    said = f"{_HEAD}.{spelled(msgspec.json.encode(claims))}"
    signature = private_key(key.secret).sign(said.encode(), ECDSA(SHA256(), deterministic_signing=True))
    pair = b"".join(number.to_bytes(SIZE, "big") for number in decode_dss_signature(signature))
    return f"vapid t={said}.{spelled(pair)}, k={key.public}"
