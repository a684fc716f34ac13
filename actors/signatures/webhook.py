"""The signature around a delivery: Standard Webhooks, HMAC-SHA256 over `id.timestamp.body`.

It covers the raw bytes, so it proves that the request was not altered; the event's own signature (`event.py`) survives
re-serialisation and proves the author of the content.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence

from actors.signatures.event import Cause, SignatureVerdict
from storage.records.destination import Secret
from storage.records.identity import Millis

PREFIX = "whsec_"
FRESH = 300
"""Maximum seconds between a receiver's clock and a delivery's timestamp."""
MOST_LIVE = 5
_OTHER = re.compile(r"[^A-Za-z0-9+/]")


def new_secret(entropy: bytes) -> str:
    """Return a signing secret of 24 to 64 unguessable bytes (the bounds of Standard Webhooks)."""
    if not 24 <= len(entropy) <= 64:
        raise ValueError(f"a secret is made of 24 to 64 bytes, not {len(entropy)}")
    return PREFIX + b64encode(entropy).decode()


def is_secret(text: str) -> bool:
    """Whether a text is a secret in the form of `new_secret`.

    >>> is_secret(new_secret(bytes(range(32)))), is_secret("whsec_c2hvcnQ="), is_secret("hunter2")
    (True, False, False)
    """
    try:
        entropy = b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return text.startswith(PREFIX) and 24 <= len(entropy) <= 64


def live(secrets: Sequence[Secret], at: Millis) -> tuple[str, ...]:
    """Return the secrets that sign at a moment, newest first: the current one and those in their overlap."""
    return tuple(secret.value for secret in secrets if secret.until is None or at < secret.until)[:MOST_LIVE]


def sign(secrets: Sequence[str], webhook_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: one token per secret, so that a receiver may hold any of them."""
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    return " ".join(_token(secret, signed) for secret in secrets)


def verify(
    secrets: Sequence[str], webhook_id: str, timestamp: str, signature: str, body: bytes, *, now: int
) -> SignatureVerdict:
    """Check a delivery like a receiver at `now` (Unix seconds); the three headers as received. Never raises."""
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 12):
        return SignatureVerdict(
            Cause.BAD_TIMESTAMP, f"webhook-timestamp is not a number of seconds: {timestamp[:40]!r}"
        )
    place, tokens = matching(secrets, webhook_id, timestamp, signature, body)
    apart = int(timestamp) - now
    if abs(apart) > FRESH:
        where = "ahead of" if apart > 0 else "behind"
        but = " (the signature itself matches)" if place is not None else ""
        reason = f"webhook-timestamp is {abs(apart)} s {where} this clock, {FRESH} may be{but}"
        return SignatureVerdict(Cause.STALE, reason)
    if place is None:
        reason = "no token in webhook-signature matches the id, the timestamp and the raw body"
        return SignatureVerdict(Cause.NO_MATCH, reason)
    if place:
        reason = f"token {place + 1} of {tokens} matches: the secret was rotated, and this older one soon stops signing"
        return SignatureVerdict(Cause.ROTATED, reason)
    return SignatureVerdict(Cause.VERIFIED, "the signature covers the id, the timestamp and the raw body")


def matching(
    secrets: Sequence[str], webhook_id: str, timestamp: str, signature: str, body: bytes
) -> tuple[int | None, int]:
    """Return the index of the matching token in a header, or None, and the number of tokens in our scheme, `v1`."""
    signed = f"{webhook_id}.{timestamp}.".encode(errors="replace") + body
    expected = [_token(secret, signed).encode() for secret in secrets]
    tokens = [token for token in signature.encode(errors="replace").split(b" ") if token.startswith(b"v1,")]
    # Every pair is compared, each in constant time: the duration reveals nothing.
    found = [[hmac.compare_digest(token, wanted) for wanted in expected] for token in tokens]
    places = [place for place, matches in enumerate(found) if any(matches)]
    return (places[0] if places else None), len(tokens)


def key_of(secret: str) -> bytes:
    """Return the MAC key of a secret: the decoded part after the prefix; if that is empty, the secret itself.

    Decodes like lenient base64 readers: skips characters outside the alphabet, and padding may be missing.

    >>> key_of('whsec_AQID'), key_of('whsec_'), key_of('whsec_!')
    (b'\\x01\\x02\\x03', b'whsec_', b'whsec_!')
    """
    digits = _OTHER.sub("", secret.removeprefix(PREFIX).partition("=")[0])
    if len(digits) % 4 == 1:  # a lone digit is six bits: not even one byte
        digits = digits[:-1]
    return b64decode(digits + "=" * (-len(digits) % 4)) or secret.encode()


def _token(secret: str, signed: bytes) -> str:
    return "v1," + b64encode(hmac.digest(key_of(secret), signed, "sha256")).decode()
