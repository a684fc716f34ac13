"""Keys equal those of openssl, byte for byte; the error names any other kind of key."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from release.signing import private_key, public_pem
from release.verifying import fingerprint, public_key
from tests.support.certificates import needs_openssl

# Of RFC 8410, section 10.
PRIVATE = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
"""
BODY = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
PUBLIC = f"""-----BEGIN PUBLIC KEY-----
{BODY}
-----END PUBLIC KEY-----
"""


def openssl(*arguments: str) -> bytes:
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout


def test_the_keys_of_the_standard_belong_together() -> None:
    assert public_pem(private_key(PRIVATE).verify_key) == PUBLIC
    assert public_key(PUBLIC) == private_key(PRIVATE).verify_key


@needs_openssl
@pytest.mark.real
def test_keys_that_openssl_makes_are_read_and_named_as_it_names_them(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    openssl("genpkey", "-algorithm", "ed25519", "-out", str(key))
    public = openssl("pkey", "-in", str(key), "-pubout").decode()
    assert public_pem(private_key(key.read_text()).verify_key) == public
    der = openssl("pkey", "-in", str(key), "-pubout", "-outform", "DER")
    assert fingerprint(public_key(public)) == hashlib.sha256(der).hexdigest()


@needs_openssl
@pytest.mark.real
def test_a_key_with_a_password_or_of_another_kind_is_refused_in_words(tmp_path: Path) -> None:
    locked = openssl("genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:x").decode()
    with pytest.raises(ValueError, match="has a password"):
        private_key(locked)
    other = openssl("genpkey", "-algorithm", "x25519").decode()
    with pytest.raises(ValueError, match="is no private key for Ed25519"):
        private_key(other)


def test_the_private_key_is_not_taken_for_the_public_one_nor_the_other_way() -> None:
    with pytest.raises(ValueError, match="is a private key, which checking does not need"):
        public_key(PRIVATE)
    with pytest.raises(ValueError, match="is no private key"):
        private_key(PUBLIC)


@pytest.mark.parametrize("pem", ["", "key", PUBLIC * 2, PUBLIC.replace("END PUBLIC", "END OTHER"), f"more\n{PUBLIC}"])
def test_a_file_without_exactly_one_key_is_refused(pem: str) -> None:
    with pytest.raises(ValueError, match="is no key in PEM"):
        public_key(pem)


@pytest.mark.parametrize("cut", ["MCowBQYDK2VwAyEAGb9E", BODY.replace("2Vw", "2Vu")])
def test_a_key_that_is_cut_or_of_another_kind_is_none(cut: str) -> None:
    with pytest.raises(ValueError, match="is no public key for Ed25519"):
        public_key(f"-----BEGIN PUBLIC KEY-----\n{cut}\n-----END PUBLIC KEY-----\n")


def test_two_keys_have_two_fingerprints() -> None:
    one, other = (SigningKey(bytes([value]) * 32).verify_key for value in (1, 2))
    assert fingerprint(one) != fingerprint(other)
