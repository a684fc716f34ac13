"""Checks of both signatures: the request, by its HMAC, and the event, by Ed25519. Pure.

`check_webhook` and `check_event` never raise and say why something fails. `verify_webhook` and `verify_event` raise
`Unverified` with that reason, and return the verified part. The service uses these checks too.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple

from sanderling_client.problems import UnknownKey, Unverified

TOLERANCE = 300
"""Seconds by which the sender's clock may differ from ours, in either direction."""
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
Keys = Mapping[str, Any]
"""A JWK Set (RFC 7517), decoded."""
_TIMESTAMP = re.compile("[0-9]{1,12}", re.ASCII)
_OTHER = re.compile(r"[^A-Za-z0-9+/]")


class Cause(Enum):
    """All results of a check. The values are for machines, the verdict's sentence is for people."""

    VERIFIED = "verified"
    ROTATED = "verified-rotated"
    """A secret was rotated: it verifies, but with the token of an older secret."""
    NOT_CHECKED = "not-checked"
    UNREADABLE = "unreadable"
    NO_SIGNATURE = "no-signature"
    MISSING_HEADER = "missing-header"
    BAD_TIMESTAMP = "bad-timestamp"
    STALE = "stale"
    WRONG_SECRET = "wrong-secret"  # noqa: S105 - a word
    ID_CHANGED = "id-changed"
    RESERIALISED = "re-serialised"
    CHANGED = "changed"
    UNKNOWN_KEY = "unknown-key"
    BAD_KEY_SET = "bad-key-set"
    NO_MATCH = "no-match"
    """Nothing matches, and no other evidence explains why."""


class Verdict(NamedTuple):
    """reason: always a sentence. key_id: the event's key, if the body names one."""

    cause: Cause
    reason: str
    key_id: str = ""

    @property
    def valid(self) -> bool:
        return self.cause in (Cause.VERIFIED, Cause.ROTATED)

    @property
    def failed(self) -> bool:
        """Whether the signature was checked and is invalid."""
        return not self.valid and self.cause is not Cause.NOT_CHECKED


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
    secrets = (secret,) if isinstance(secret, str) else secret
    verdict = check_webhook(secrets, named, body, now=time.time() if now is None else now, tolerance=tolerance)
    if not verdict.valid:
        raise Unverified(verdict.reason)
    return named["webhook-id"]


def check_webhook(
    secrets: Sequence[str], headers: Mapping[str, str], body: bytes, *, now: float, tolerance: float = TOLERANCE
) -> Verdict:
    """Check a delivery at `now` (Unix seconds). headers: lower-case names."""
    missing = [name for name in HEADERS if not headers.get(name)]
    if missing:
        return Verdict(Cause.MISSING_HEADER, f"no header {' and no '.join(missing)}")
    delivery, timestamp, tokens = (headers[name] for name in HEADERS)
    if not _TIMESTAMP.fullmatch(timestamp):
        return Verdict(Cause.BAD_TIMESTAMP, f"webhook-timestamp is not a number of seconds: {timestamp[:40]!r}")
    place, count = matching(secrets, delivery, timestamp, tokens, body)
    apart = int(timestamp) - now
    if abs(apart) > tolerance:
        where = "ahead of" if apart > 0 else "behind"
        but = " (the signature itself matches)" if place is not None else ""
        reason = f"webhook-timestamp is {abs(apart):.0f} s {where} this clock, {tolerance:g} may be{but}"
        return Verdict(Cause.STALE, reason)
    if place is None:
        return Verdict(Cause.NO_MATCH, "no token in webhook-signature matches the id, the timestamp and the raw body")
    if place:
        reason = f"token {place + 1} of {count} matches: the secret was rotated, and this older one soon stops signing"
        return Verdict(Cause.ROTATED, reason)
    return Verdict(Cause.VERIFIED, "the signature covers the id, the timestamp and the raw body")


def matching(secrets: Sequence[str], delivery: str, timestamp: str, tokens: str, body: bytes) -> tuple[int | None, int]:
    """Return the index of the matching token in a header, or None, and the number of tokens of the scheme `v1`."""
    signed = signed_bytes(delivery, timestamp, body)
    wanted = [token_of(secret, signed).encode() for secret in secrets]
    came = [token for token in tokens.encode(errors="replace").split(b" ") if token.startswith(b"v1,")]
    # Every pair is compared, each in constant time: the duration reveals nothing.
    found = [[hmac.compare_digest(token, one) for one in wanted] for token in came]
    return next((place for place, matches in enumerate(found) if any(matches)), None), len(came)


def signed_bytes(delivery: str, timestamp: int | str, body: bytes) -> bytes:
    return f"{delivery}.{timestamp}.".encode(errors="replace") + body


def token_of(secret: str, signed: bytes) -> str:
    """Return the token of `webhook-signature` for a secret."""
    return "v1," + base64.b64encode(hmac.digest(key_of(secret), signed, "sha256")).decode()


def verify_event(event: Mapping[str, Any] | str | bytes, keys: Keys) -> dict[str, Any]:
    """Verify an event's own signature and return the event as plain JSON.

    keys: the JWK Set of `/.well-known/jwks.json` (`Client.read_keys`). Needs the extra `verify`. Raises Unverified, and
    of that UnknownKey when the set has no key of this name.
    """
    if isinstance(event, Mapping):
        document: Any = dict(event)
    else:
        try:
            document = decode(event)
        except (ValueError, RecursionError):
            raise Unverified("the event is no JSON") from None
    verdict = check_event(document, keys)
    if not verdict.valid:
        raise (UnknownKey if verdict.cause is Cause.UNKNOWN_KEY else Unverified)(verdict.reason)
    return dict(document)


def check_encoded(event: bytes | str, jwks: bytes | str) -> Verdict:
    """Check an event as it came against an encoded JWK Set."""
    try:
        document = decode(event)
    except (ValueError, RecursionError) as error:
        return Verdict(Cause.UNREADABLE, f"the event can't be read: {str(error)[:200]}")
    try:
        return check_event(document, key_set(jwks))
    except ValueError as error:
        return Verdict(Cause.BAD_KEY_SET, str(error))


def check_event(event: object, keys: Keys) -> Verdict:
    """Check the signature of an event, or of another document of the service, as decoded JSON."""
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    if not isinstance(event, dict):
        return Verdict(Cause.UNREADABLE, "the event is not a JSON object")
    signature, key_id = event.get("signature"), event.get("key_id")
    if not isinstance(signature, str) or not isinstance(key_id, str):
        return Verdict(Cause.NO_SIGNATURE, "the event has no signature and key_id")
    key = next((each for each in keys.get("keys", ()) if isinstance(each, dict) and each.get("kid") == key_id), None)
    if key is None:
        return Verdict(Cause.UNKNOWN_KEY, f"key {key_id[:80]} is not in the key set", key_id)
    if (key.get("kty"), key.get("crv")) != ("OKP", "Ed25519") or not isinstance(key.get("x"), str):
        return Verdict(Cause.BAD_KEY_SET, f"key {key_id[:80]} of the set is not an Ed25519 key", key_id)
    try:
        verifier = VerifyKey(unbase64url(key["x"]))
    except ValueError as error:
        return Verdict(Cause.BAD_KEY_SET, str(error)[:200], key_id)
    try:
        raw = unbase64url(signature)
        signed = canonical({name: value for name, value in event.items() if name != "signature"})
        for context in contexts_of(event.get("type")):
            with suppress(BadSignatureError):
                verifier.verify(context + signed, raw)
                at = str(event.get("signed_at"))[:40]
                return Verdict(Cause.VERIFIED, f"signed with key {key_id} at {at}", key_id)
    except (TypeError, ValueError, RecursionError) as error:
        return Verdict(Cause.UNREADABLE, str(error)[:200], key_id)
    return Verdict(Cause.CHANGED, "the signature does not match the event's content", key_id)


def key_set(encoded: bytes | str) -> Keys:
    """Decode a JWK Set (RFC 7517); its keys are checked on use. Raises ValueError for anything else."""
    try:
        document = decode(encoded)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the key set can't be read: {str(error)[:100]}") from None
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("the key set is not a JWK Set (RFC 7517)")
    return {"keys": [entry for entry in entries if isinstance(entry, dict)]}


def contexts_of(kind: object) -> Sequence[bytes]:
    """Return what may come before a document's signed form; signing uses the first. Events have no `type`.

    A context is no JSON, so a signature of one kind is never valid for another. Receipts of coverage had none in the
    beginning.
    """
    if not isinstance(kind, str):
        return (b"",)
    context = f"sanderling {kind}\n".encode()
    return (context, b"") if kind == "coverage" else (context,)


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return the form of RFC 8785 of a document whose numbers are whole and whose names are ASCII, as events are.

    >>> canonical({"b": "\\u00e9", "a": [1, True]})
    b'{"a":[1,true],"b":"\\xc3\\xa9"}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def decode(body: bytes | str) -> Any:
    """Decode I-JSON. Rejects a repeated name: two parsers could read two different events under one signature.

    Raises ValueError, RecursionError.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name occurs twice in one object")
        return found

    return json.loads(body, object_pairs_hook=members)


def key_of(secret: str) -> bytes:
    """Return the key of a secret: base64 after `whsec_`, and if nothing is left of that, the secret's own bytes.

    Decodes as the service does: skips characters outside the alphabet, and padding may be missing.
    """
    digits = _OTHER.sub("", secret.removeprefix("whsec_").partition("=")[0])
    if len(digits) % 4 == 1:  # a lone digit is six bits: not even one byte
        digits = digits[:-1]
    return base64.b64decode(digits + "=" * (-len(digits) % 4)) or secret.encode()


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unbase64url(text: str) -> bytes:
    """Decode base64url without padding, accepting only the canonical spelling. Raises ValueError."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raw = b""
    if not raw or base64url(raw) != text:
        raise ValueError(f"not base64url: {text[:20]!r}")
    return raw
