"""The signature around a delivery: Standard Webhooks, HMAC-SHA256 over `id.timestamp.body`.

It covers the raw bytes, so it proves that the request was not altered; the event's own signature (`event.py`) survives
re-serialisation and proves the author of the content.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence

from sanderling_client.verify import signed_bytes, token_of
from storage.records.destination import Secret
from storage.records.identity import Millis

PREFIX = "whsec_"
MOST_LIVE = 5


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
    signed = signed_bytes(webhook_id, timestamp, body)
    return " ".join(token_of(secret, signed) for secret in secrets)
