"""Signatures of HTTP messages (RFC 9421): checks identify their sender, so a site need not trust an address.

Web Bot Auth (draft-ietf-webbotauth-httpsig-protocol): a request names the origin that publishes its keys, and is signed
with one of them. These keys are derived from those of events, since one key should have one use: they rotate with them
and need no storage.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import Final

import msgspec
import nacl.signing

from actors.signatures.event import new_signing_key, public_half
from storage.records.key import SigningKey

LIFE: Final = 300
"""Validity of a request's signature in seconds: allows for wrong clocks and slow connections."""
DIRECTORY_LIFE: Final = 7 * 86_400
"""Validity of the directory's proof in seconds; a list may use a copy for as long."""
_LABEL: Final = "sig1"
_PERSON: Final = b"looks of rfc9421"


class MessageSigner:
    """Signs messages with the key derived from one of events."""

    def __init__(self, key: SigningKey) -> None:
        seed = blake2b(key.seed, digest_size=32, person=_PERSON).digest()
        self.key = new_signing_key(seed, key.created_at)
        self._key = nacl.signing.SigningKey(seed)

    def sign_request(self, method: str, authority: str, path: str, agent: str, at: int) -> list[tuple[str, str]]:
        """Return the headers that sign a request. agent: the origin that publishes the keys. at: seconds since 1970."""
        agent_component = f'"signature-agent";key="{_LABEL}"'
        components = [("@authority", authority), ("@method", method), ("@path", path or "/")]
        lines = [*((f'"{name}"', value) for name, value in components), (agent_component, f'"{agent}"')]
        return [("Signature-Agent", f'{_LABEL}="{agent}"'), *self._signed(lines, at, at + LIFE, "web-bot-auth")]

    def sign_directory(self, authority: str, digest: str, at: int) -> list[tuple[str, str]]:
        """Return the headers that sign a directory: this key's holder publishes it at this authority."""
        lines = [('"@authority";req', authority), ('"content-digest"', digest)]
        return self._signed(lines, at, at + DIRECTORY_LIFE, "http-message-signatures-directory")

    def _signed(self, lines: Sequence[tuple[str, str]], created: int, expires: int, tag: str) -> list[tuple[str, str]]:
        names = " ".join(name for name, _ in lines)
        params = f'({names});created={created};expires={expires};keyid="{self.key.key_id}";alg="ed25519";tag="{tag}"'
        base = "\n".join(f"{name}: {value}" for name, value in [*lines, ('"@signature-params"', params)])
        signature = b64encode(self._key.sign(base.encode()).signature).decode()
        return [("Signature-Input", f"{_LABEL}={params}"), ("Signature", f"{_LABEL}=:{signature}:")]


def directory(signers: Sequence[MessageSigner]) -> bytes:
    """Encode the public halves as a directory, a JWK Set, with retired keys for requests in flight."""
    keys = [
        {"kty": "OKP", "crv": "Ed25519", "x": key.x, "kid": key.key_id, "use": "sig", "nbf": key.created_at // 1000}
        for key in (public_half(signer.key) for signer in signers)
    ]
    return msgspec.json.encode({"keys": keys})


def content_digest(body: bytes) -> str:
    return f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"
