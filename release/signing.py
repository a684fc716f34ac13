"""What signs a release: its sums as text, and the publisher's key. `verifying.py` checks both."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from nacl.signing import SigningKey, VerifyKey

from release.verifying import PUBLIC_DER, is_key, opened_pem

_PRIVATE = bytes.fromhex("302e020100300506032b657004220420")


def written(sums: Mapping[str, str]) -> str:
    """Return the text for files and their hexadecimal SHA-256, sorted by name."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def private_key(pem: str) -> SigningKey:
    """Return the signing key. Raises ValueError; its text follows the file's name."""
    label, der = opened_pem(pem)
    if label == "ENCRYPTED PRIVATE KEY":
        raise ValueError("has a password: `openssl pkey -in KEY` writes it without")
    if label != "PRIVATE KEY" or not is_key(der, _PRIVATE):
        raise ValueError("is no private key for Ed25519: `openssl genpkey -algorithm ed25519` makes one")
    return SigningKey(der[len(_PRIVATE) :])


def public_pem(key: VerifyKey) -> str:
    """Return a public key's PEM, as openssl writes it."""
    return f"-----BEGIN PUBLIC KEY-----\n{b64encode(PUBLIC_DER + bytes(key)).decode()}\n-----END PUBLIC KEY-----\n"
