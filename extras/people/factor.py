"""The second factor: time-based codes (RFC 6238) and recovery codes. Pure.

A person's secret and the unused recovery codes are one sealed value. Each code works once: the value keeps the
step of the last one (RFC 6238, 5.2).
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from collections.abc import Sequence
from hashlib import sha1, sha256
from typing import Final
from urllib.parse import quote

from msgspec import Struct, json
from msgspec.structs import replace

from storage.records.identity import Millis

STEP: Final = 30_000  # milliseconds that a code stands for
SKEW: Final = 1  # steps that the clock of a phone may be off, either way
DIGITS: Final = 6
SECRET_BYTES: Final = 20
RECOVERY_CODES: Final = 10
_RECOVERY_BYTES: Final = 10


class Factor(Struct, frozen=True):
    """step: of the last code that was used. recovery: the SHA-256 of each unused recovery code."""

    secret: bytes
    step: int = 0
    recovery: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Factor({len(self.recovery)} recovery codes)"

    def encoded(self) -> bytes:
        return json.encode(self)


def decoded(stored: bytes) -> Factor:
    return json.decode(stored, type=Factor)


def code_at(secret: bytes, step: int) -> str:
    """Return the code of a step (RFC 4226, 5.3).

    >>> code_at(b"12345678901234567890", 1), code_at(b"12345678901234567890", 1111111109 // 30)
    ('287082', '081804')
    """
    digest = hmac.new(secret, step.to_bytes(8, "big"), sha1).digest()
    at = digest[-1] & 15
    return f"{(int.from_bytes(digest[at : at + 4], 'big') & 0x7FFFFFFF) % 10**DIGITS:0{DIGITS}}"


def used(factor: Factor, code: str, now: Millis) -> Factor | None:
    """Return the factor after a code has been used; None if the code is wrong or was used before."""
    given = "".join(code.split()).replace("-", "").lower()
    present = now // STEP
    for step in range(max(factor.step + 1, present - SKEW), present + SKEW + 1):
        if hmac.compare_digest(code_at(factor.secret, step).encode(), given.encode("utf-8", "replace")):
            return replace(factor, step=step)
    mark = sha256(given.encode("utf-8", "replace")).hexdigest()
    if mark in factor.recovery:
        return replace(factor, recovery=tuple(one for one in factor.recovery if one != mark))
    return None


def recovery_codes(entropy: bytes) -> tuple[Sequence[str], tuple[str, ...]]:
    pieces = [entropy[at : at + _RECOVERY_BYTES] for at in range(0, len(entropy), _RECOVERY_BYTES)]
    codes = [b32encode(piece).decode().lower() for piece in pieces]
    shown = ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]
    return shown, tuple(sha256(code.encode()).hexdigest() for code in codes)


RECOVERY_ENTROPY: Final = RECOVERY_CODES * _RECOVERY_BYTES


def address_of(secret: str, email: str, issuer: str) -> str:
    """Return the address that adds a secret (base32) to an app.

    >>> address_of("GEZD", "a@b.example", "Sanderling")
    'otpauth://totp/Sanderling:a%40b.example?secret=GEZD&issuer=Sanderling'
    """
    return f"otpauth://totp/{quote(issuer)}:{quote(email)}?secret={secret}&issuer={quote(issuer)}"
