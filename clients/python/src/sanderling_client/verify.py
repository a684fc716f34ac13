"""Whether what came is what the service signed: the request, by its HMAC, and the event, by Ed25519. Pure.

Every function raises `Unverified` with the reason, and returns what was verified.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from sanderling_client.problems import UnknownKey, Unverified

TOLERANCE = 300
"""Seconds by which the sender's clock may differ from ours, in either direction."""
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_TIMESTAMP = re.compile("[0-9]{1,12}", re.ASCII)


def verify_webhook(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: float | None = None,
    tolerance: float = TOLERANCE,
) -> str:
    """Verify a delivery by Standard Webhooks and return its `webhook-id`, by which repetitions are known.

    secret: what the destination was made with, or several while one is rotated. body: the bytes that came, before
    anything parses them. Raises Unverified.
    """
    named = {name.lower(): value for name, value in headers.items()}
    delivery, timestamp, tokens = (named.get(name, "") for name in _HEADERS)
    if not (delivery and timestamp and tokens):
        missing = ", ".join(name for name in _HEADERS if not named.get(name))
        raise Unverified(f"A header is missing: {missing}.")
    moment = time.time() if now is None else now
    if not _TIMESTAMP.fullmatch(timestamp) or abs(moment - int(timestamp)) > tolerance:
        raise Unverified(f"webhook-timestamp is more than {tolerance:g} seconds from this clock: {timestamp[:20]}.")
    signed = f"{delivery}.{timestamp}.".encode() + body
    came = [token.encode() for token in tokens.split(" ")]
    good = False
    for one in (secret,) if isinstance(secret, str) else secret:
        wanted = b"v1," + base64.b64encode(hmac.digest(_key_of(one), signed, "sha256"))
        for token in came:
            good |= hmac.compare_digest(wanted, token)
    if not good:
        raise Unverified("No token in webhook-signature matches: another secret, or the body is not as it was sent.")
    return delivery


def verify_event(event: Mapping[str, Any] | str | bytes, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Verify an event's own signature and return the event as plain JSON.

    keys: the JWK Set of `/.well-known/jwks.json` (`Client.read_keys`). Needs the extra `verify`. Raises Unverified, and
    of that UnknownKey when the set has no key of this name.
    """
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    document = _document(event)
    signed = {name: value for name, value in document.items() if name != "signature"}
    name, signature = document.get("key_id"), document.get("signature")
    if not (isinstance(name, str) and isinstance(signature, str)):
        raise Unverified("The event has no signature.")
    key = next((each for each in keys.get("keys", ()) if each.get("kid") == name), None)
    if key is None:
        raise UnknownKey(f"The set has no key {name[:80]}.")
    if (key.get("kty"), key.get("crv")) != ("OKP", "Ed25519"):
        raise Unverified(f"The key {name[:80]} is not of Ed25519.")
    try:
        VerifyKey(_unbase64(key["x"])).verify(canonical(signed), _unbase64(signature))
    except (BadSignatureError, KeyError, TypeError, ValueError):
        raise Unverified("The event is not as it was signed, or not by this key.") from None
    return document


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return the form of RFC 8785 of a document whose numbers are whole and whose names are ASCII, as events are.

    >>> canonical({"b": "\\u00e9", "a": [1, True]})
    b'{"a":[1,true],"b":"\\xc3\\xa9"}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _document(event: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
    if isinstance(event, Mapping):
        return dict(event)
    try:
        found = json.loads(event)
    except (ValueError, RecursionError):
        raise Unverified("The event is no JSON.") from None
    if not isinstance(found, dict):
        raise Unverified("The event is no JSON object.")
    return found


def _key_of(secret: str) -> bytes:
    """Return the key of a secret: base64 after `whsec_`, and if nothing is left of that, the secret's own bytes."""
    try:
        return base64.b64decode(secret.removeprefix("whsec_")) or secret.encode()
    except binascii.Error:
        raise ValueError("The secret is not what the service gave: whsec_ and base64.") from None


def _unbase64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
