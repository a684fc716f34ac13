"""The signature inside an event: Ed25519 (RFC 8032) over the RFC 8785 form of all its other fields.

It belongs to the content, not to the transport: it stays valid on a stream, in a delivery, in a digest and in an
export, and after any re-serialisation of the JSON. It covers `key_id` and `signed_at`. Keys are published as a JWK Set
(RFC 7517, RFC 8037); a key's id is its thumbprint (RFC 7638).

The same keys sign other kinds of documents. Their signed form begins with a context, which names the kind and is not
JSON, so a signature of one kind is never valid for another.

Every event is signed, so signing takes a shortcut: an `Event` has ASCII keys, no floats and only integers within 2^53.
For such a value sorted compact JSON is already canonical (a property test compares it with an independent
implementation). A verifier cannot know who wrote the JSON, so `canonical_json` is the full scheme.
"""

from __future__ import annotations

import json
import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
import nacl.signing
from nacl.exceptions import BadSignatureError

from storage.records.event import Event
from storage.records.identity import Millis, rfc3339
from storage.records.key import PublicKey, SigningKey

_SORTED = msgspec.json.Encoder(order="sorted")
_SAFE = 2**53 - 1


def canonical(event: Event) -> bytes:
    """Return the RFC 8785 form of an event without its `signature`. Raises UnicodeEncodeError on lone surrogates."""
    if event.signature is not msgspec.UNSET:
        event = msgspec.structs.replace(event, signature=msgspec.UNSET)
    return _SORTED.encode(event)


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 form of a decoded JSON value.

    Raises ValueError for values outside I-JSON (RFC 7493): infinities, integers that readers would alter, lone
    surrogates, and non-JSON values.
    """
    return _written(value).encode()


def es_number(number: float) -> str:
    """Format a finite double as ECMAScript does (RFC 8785, 3.2.2.3).

    >>> es_number(1e21), es_number(4.5), es_number(-0.0), es_number(2e-7), es_number(100.0)
    ('1e+21', '4.5', '0', '2e-7', '100')
    """
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a JSON number")
    if number == 0:
        return "0"
    # Python's repr has the same shortest digits; only the point and the exponent are placed differently.
    mantissa, _, power = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(power or 0) - (len(whole + fraction) - len(digits))
    return ("-" if number < 0 else "") + _place(digits.rstrip("0"), point)


def _place(digits: str, point: int) -> str:
    """Format 0.`digits` times ten to the `point` as ECMAScript does (ECMA-262, Number::toString)."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def _written(value: Any) -> str:
    match value:
        case None | bool() | str():
            return _SORTED.encode(value).decode()
        case int():
            return str(value) if abs(value) <= _SAFE else _large(value)
        case float():
            return es_number(value)
        case list() | tuple():
            return f"[{','.join(map(_written, value))}]"
        case dict():
            # RFC 8785, 3.2.3: by UTF-16 code units; beyond the BMP this is not the order of code points.
            members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
            return "{" + ",".join(f"{_written(name)}:{_written(item)}" for name, item in members) + "}"
        case _:
            raise ValueError(f"{type(value).__name__} is not a JSON type")


def _large(value: int) -> str:
    """Format an integer beyond 2^53 if it is a double in ECMAScript's spelling; readers would alter any other."""
    text = str(value)
    if len(text) > 22 or es_number(float(value)) != text:
        raise ValueError("an integer beyond 2^53 that is not spelled as a double")
    return text


_ENCODER = msgspec.json.Encoder()
_ONCE_WITHOUT = ("coverage",)
"""Kinds that were signed without a context before contexts existed."""


class Signer:
    """Signs events with one key. It has no other state, so any thread may use it."""

    def __init__(self, key: SigningKey) -> None:
        self.key_id = key.key_id
        self._key = nacl.signing.SigningKey(key.seed)

    def sign(self, event: Event, at: Millis) -> bytes:
        """Return the signed wire JSON of an event, its fields in the order of `Event`.

        Lone surrogates, which have no UTF-8 form, become U+FFFD before signing.
        """
        event = msgspec.structs.replace(event, signed_at=rfc3339(at), key_id=self.key_id, signature=msgspec.UNSET)
        try:
            signed = canonical(event)
        except UnicodeEncodeError:
            event = _without_surrogates(event)
            signed = canonical(event)
        signature = _b64url(self._key.sign(signed).signature)
        return _ENCODER.encode(msgspec.structs.replace(event, signature=signature))

    def sign_document(self, document: Mapping[str, Any], at: Millis) -> bytes:
        """Sign a JSON object of the kind that its `type` names; its members keep their order.

        Raises ValueError for no I-JSON, KeyError without a `type`.
        """
        signed = {**document, "signed_at": rfc3339(at), "key_id": self.key_id}
        signature = _b64url(self._key.sign(_context(document["type"]) + canonical_json(signed)).signature)
        return _ENCODER.encode({**signed, "signature": signature})


def new_signing_key(seed: bytes, at: Millis) -> SigningKey:
    """Return the key pair of 32 secret bytes, named by its thumbprint. Raises ValueError for another length."""
    if len(seed) != nacl.bindings.crypto_sign_SEEDBYTES:
        raise ValueError(f"a seed has 32 bytes, not {len(seed)}")
    return SigningKey(key_id=_thumbprint(_public(seed)), seed=seed, created_at=at)


def public_half(key: SigningKey) -> PublicKey:
    return PublicKey(key.key_id, _public(key.seed), key.created_at)


def check_public(key: PublicKey) -> None:
    """Raise ValueError unless a key has 32 bytes and its own thumbprint as id."""
    if len(_from_b64url(key.x)) != nacl.bindings.crypto_sign_PUBLICKEYBYTES or _thumbprint(key.x) != key.key_id:
        raise ValueError(f"{key.key_id[:60]!r} is not the thumbprint of its Ed25519 key")


def jwks(keys: Sequence[SigningKey], others: Sequence[PublicKey] = ()) -> bytes:
    """Encode the public halves as a JWK Set, with retired keys: old events must stay verifiable.

    others: keys of other instances that have events in the log.
    """
    published = [
        {"kty": "OKP", "crv": "Ed25519", "x": key.x, "kid": key.key_id, "alg": "EdDSA", "use": "sig"}
        for key in {each.key_id: each for each in (*map(public_half, keys), *others)}.values()
    ]
    return _ENCODER.encode({"keys": published})


class KeySet:
    """A parsed JWK Set (RFC 7517). Raises ValueError for anything else; keys are checked on use."""

    def __init__(self, encoded: bytes) -> None:
        try:
            document = decode(encoded)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the key set can't be read: {str(error)[:100]}") from None
        entries = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(entries, list):
            raise ValueError("the key set is not a JWK Set (RFC 7517)")
        self._entries = {str(entry.get("kid")): entry for entry in entries if isinstance(entry, dict)}

    def find(self, key_id: str) -> nacl.signing.VerifyKey | None:
        """Return a key by its id, None if it is missing. Raises ValueError if it is no Ed25519 key."""
        entry = self._entries.get(key_id)
        if entry is None:
            return None
        if entry.get("kty") != "OKP" or entry.get("crv") != "Ed25519" or not isinstance(entry.get("x"), str):
            raise ValueError(f"key {key_id} of the set is not an Ed25519 key")
        return nacl.signing.VerifyKey(_from_b64url(entry["x"]))


def verify(body: bytes, jwks: bytes) -> SignatureVerdict:
    """Check an event as received against a JWK Set, offline. Never raises."""
    try:
        event = decode(body)
    except (ValueError, RecursionError) as error:
        return SignatureVerdict(Cause.UNREADABLE, f"the event can't be read: {str(error)[:200]}")
    return check(event, jwks)


def check(event: object, keys: KeySet | bytes) -> SignatureVerdict:
    """Check an event from `decode` against a key set, parsed or encoded. Never raises."""
    if not isinstance(event, dict):
        return SignatureVerdict(Cause.UNREADABLE, "the event is not a JSON object")
    signature, key_id = event.get("signature"), event.get("key_id")
    if not isinstance(signature, str) or not isinstance(key_id, str):
        return SignatureVerdict(Cause.NO_SIGNATURE, "the event has no signature and key_id")
    try:
        key = (KeySet(keys) if isinstance(keys, bytes) else keys).find(key_id)
    except ValueError as error:
        return SignatureVerdict(Cause.BAD_KEY_SET, str(error), key_id)
    if key is None:
        return SignatureVerdict(Cause.UNKNOWN_KEY, f"key {key_id[:80]} is not in the key set", key_id)
    try:
        signed = canonical_json({name: value for name, value in event.items() if name != "signature"})
        kind = event.get("type")  # events have none
        contexts = [_context(kind) if isinstance(kind, str) else b"", *([b""] if kind in _ONCE_WITHOUT else [])]
        _verify_any(key, [context + signed for context in contexts], _from_b64url(signature))
    except BadSignatureError:
        return SignatureVerdict(Cause.CHANGED, "the signature does not match the event's content", key_id)
    except (ValueError, RecursionError) as error:
        return SignatureVerdict(Cause.UNREADABLE, str(error)[:200], key_id)
    return SignatureVerdict(Cause.VERIFIED, f"signed with key {key_id} at {str(event.get('signed_at'))[:40]}", key_id)


def _context(kind: str) -> bytes:
    return f"sanderling {kind}\n".encode()


def _verify_any(key: nacl.signing.VerifyKey, forms: Sequence[bytes], signature: bytes) -> None:
    """Raise BadSignatureError unless a signature fits one of the forms."""
    for form in forms[:-1]:
        with suppress(BadSignatureError):
            key.verify(form, signature)
            return
    key.verify(forms[-1], signature)


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


def _without_surrogates(event: Event) -> Event:
    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(value, dict):
            return {name: clean(item) for name, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list | tuple) else value

    return msgspec.convert(clean(msgspec.to_builtins(event)), Event)


def _public(seed: bytes) -> str:
    return _b64url(bytes(nacl.signing.SigningKey(seed).verify_key))


def _thumbprint(x: str) -> str:
    """Return the RFC 7638 thumbprint of an OKP key: only the required members, in the order of RFC 8037 (2)."""
    return _b64url(sha256(canonical_json({"crv": "Ed25519", "kty": "OKP", "x": x})).digest())


def _b64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _from_b64url(text: str) -> bytes:
    """Decode base64url without padding, accepting only the canonical spelling. Raises ValueError."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raw = b""
    if not raw or _b64url(raw) != text:
        raise ValueError(f"not base64url: {text[:20]!r}")
    return raw


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


class SignatureVerdict(NamedTuple):
    """reason: always a sentence. key_id: the event's key, if the body names one."""

    cause: Cause
    reason: str
    key_id: str | None = None

    @property
    def valid(self) -> bool:
        return self.cause in (Cause.VERIFIED, Cause.ROTATED)

    @property
    def failed(self) -> bool:
        """Whether the signature was checked and is invalid."""
        return not self.valid and self.cause is not Cause.NOT_CHECKED
