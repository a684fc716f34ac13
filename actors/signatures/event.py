"""The signature inside an event: Ed25519 (RFC 8032) over the RFC 8785 form of all its other fields.

It belongs to the content, not to the transport: it stays valid on a stream, in a delivery, in a digest and in an
export, and after any re-serialisation of the JSON. It covers `key_id` and `signed_at`. Keys are published as a JWK Set
(RFC 7517, RFC 8037); a key's id is its thumbprint (RFC 7638).

The same keys sign other kinds of documents. Their signed form begins with a context, which names the kind and is not
JSON, so a signature of one kind is never valid for another.

Signed documents have ASCII names, no floats and only integers within 2^53. For them sorted compact JSON is the RFC 8785
form (a property test compares it with an independent implementation). `sanderling_client.verify` checks signatures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
import nacl.signing

from sanderling_client.verify import base64url, contexts_of, unbase64url
from sanderling_client.verify import canonical as canonical_json
from storage.records.event import Event
from storage.records.identity import Millis, rfc3339
from storage.records.key import PublicKey, SigningKey

_ENCODER, _SORTED = msgspec.json.Encoder(), msgspec.json.Encoder(order="sorted")


def canonical(event: Event) -> bytes:
    """Return the RFC 8785 form of an event without its `signature`. Raises UnicodeEncodeError on lone surrogates."""
    if event.signature is not msgspec.UNSET:
        event = msgspec.structs.replace(event, signature=msgspec.UNSET)
    return _SORTED.encode(event)


class Signer:
    """Signs events with one key. It has no other state, so any thread may use it."""

    def __init__(self, key: SigningKey) -> None:
        self.key_id = key.key_id
        self._key = nacl.signing.SigningKey(key.seed)

    def sign(self, event: Event, at: Millis) -> bytes:
        """Return the signed wire JSON of an event, in the order of `Event`. Lone surrogates become U+FFFD."""
        event = msgspec.structs.replace(event, signed_at=rfc3339(at), key_id=self.key_id, signature=msgspec.UNSET)
        try:
            signed = canonical(event)
        except UnicodeEncodeError:
            event = _without_surrogates(event)
            signed = canonical(event)
        signature = base64url(self._key.sign(signed).signature)
        return _ENCODER.encode(msgspec.structs.replace(event, signature=signature))

    def sign_document(self, document: Mapping[str, Any], at: Millis) -> bytes:
        """Sign a JSON object; members keep their order. Raises ValueError for no I-JSON, KeyError without `type`."""
        signed = {**document, "signed_at": rfc3339(at), "key_id": self.key_id}
        context = contexts_of(document["type"])[0]
        signature = base64url(self._key.sign(context + canonical_json(signed)).signature)
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
    if len(unbase64url(key.x)) != nacl.bindings.crypto_sign_PUBLICKEYBYTES or _thumbprint(key.x) != key.key_id:
        raise ValueError(f"{key.key_id[:60]!r} is not the thumbprint of its Ed25519 key")


def jwks(keys: Sequence[SigningKey], others: Sequence[PublicKey] = ()) -> bytes:
    """Encode public halves as a JWK Set, retired ones too: old events stay verifiable. others: of other instances."""
    published = [
        {"kty": "OKP", "crv": "Ed25519", "x": key.x, "kid": key.key_id, "alg": "EdDSA", "use": "sig"}
        for key in {each.key_id: each for each in (*map(public_half, keys), *others)}.values()
    ]
    return _ENCODER.encode({"keys": published})


def _without_surrogates(event: Event) -> Event:
    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(value, dict):
            return {name: clean(item) for name, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list | tuple) else value

    return msgspec.convert(clean(msgspec.to_builtins(event)), Event)


def _public(seed: bytes) -> str:
    return base64url(bytes(nacl.signing.SigningKey(seed).verify_key))


def _thumbprint(x: str) -> str:
    """Return the RFC 7638 thumbprint of an OKP key: only the required members, in the order of RFC 8037 (2)."""
    return base64url(sha256(canonical_json({"crv": "Ed25519", "kty": "OKP", "x": x})).digest())
