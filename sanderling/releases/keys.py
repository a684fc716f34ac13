"""Ed25519 keys in PEM, as openssl's `genpkey -algorithm ed25519` and `pkey -pubout` write them (RFC 8410). Pure.

Such a key's DER is a constant plus 32 bytes, so there is no ASN.1 parser that could be deceived.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from base64 import b64decode, b64encode

from nacl.signing import SigningKey, VerifyKey

_PUBLIC = bytes.fromhex("302a300506032b6570032100")
_PRIVATE = bytes.fromhex("302e020100300506032b657004220420")
_KEY_BYTES = 32
_BLOCK = re.compile(r"\s*-----BEGIN ([A-Z0-9 ]+)-----\s+([A-Za-z0-9+/=\s]+)-----END \1-----\s*")
_GIVE_PUBLIC = "is a private key, which nobody needs for checking: `openssl pkey -in KEY -pubout` writes the public one"


def public_key(pem: str) -> VerifyKey:
    """Return the verification key. Raises ValueError; its text follows the file's name."""
    label, der = _opened(pem)
    if label.endswith("PRIVATE KEY"):
        raise ValueError(_GIVE_PUBLIC)
    if label != "PUBLIC KEY" or not _is(der, _PUBLIC):
        raise ValueError("is no public key for Ed25519")
    return VerifyKey(der[len(_PUBLIC) :])


def private_key(pem: str) -> SigningKey:
    """Return the signing key. Raises ValueError; its text follows the file's name."""
    label, der = _opened(pem)
    if label == "ENCRYPTED PRIVATE KEY":
        raise ValueError("has a password: `openssl pkey -in KEY` writes it without")
    if label != "PRIVATE KEY" or not _is(der, _PRIVATE):
        raise ValueError("is no private key for Ed25519: `openssl genpkey -algorithm ed25519` makes one")
    return SigningKey(der[len(_PRIVATE) :])


def public_pem(key: VerifyKey) -> str:
    """Return a public key's PEM, as openssl writes it."""
    return f"-----BEGIN PUBLIC KEY-----\n{b64encode(_PUBLIC + bytes(key)).decode()}\n-----END PUBLIC KEY-----\n"


def fingerprint(key: VerifyKey) -> str:
    """Return a public key's SHA-256, as `openssl pkey -pubin -in KEY -outform DER | sha256sum` prints it."""
    return hashlib.sha256(_PUBLIC + bytes(key)).hexdigest()


def _is(der: bytes, begin: bytes) -> bool:
    return der.startswith(begin) and len(der) == len(begin) + _KEY_BYTES


def _opened(pem: str) -> tuple[str, bytes]:
    """Return label and bytes of the only block."""
    block = _BLOCK.fullmatch(pem)
    if block is None:
        raise ValueError("is no key in PEM (-----BEGIN ... KEY-----)")
    try:
        return block[1], b64decode("".join(block[2].split()), validate=True)
    except binascii.Error:
        raise ValueError("is no key in PEM: it is cut or altered") from None
