"""Message signatures, verified only from the headers (RFC 9421, 3.2)."""

from __future__ import annotations

import json
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Mapping

import nacl.signing
import pytest
from nacl.exceptions import BadSignatureError

from actors.signatures import DIRECTORY_LIFE, LIFE, MessageSigner, content_digest, key_directory, new_signing_key
from storage.records.identity import Millis

KEY = new_signing_key(bytes(range(32)), Millis(1_792_317_847_000))
AGENT = "https://watch.example"
AT = 1_800_000_000


def checked(headers: Mapping[str, str], components: Mapping[str, str], jwks: bytes) -> dict[str, str]:
    """Verify a signature; return its parameters. components: values of the message by identifier."""
    label, _, params = headers["Signature-Input"].partition("=")
    covered = re.findall(r'"[^"]+"(?:;key="[^"]+"|;req)?', params[1 : params.index(")")])
    lines = [f"{name}: {components[name]}" for name in covered]
    base = "\n".join([*lines, f'"@signature-params": {params}'])
    found = dict(re.findall(r';(\w+)="?([^";]+)"?', params[params.index(")") :]))
    (key,) = [key for key in json.loads(jwks)["keys"] if key["kid"] == found["keyid"]]
    signature = headers["Signature"].removeprefix(f"{label}=:").removesuffix(":")
    verifier = nacl.signing.VerifyKey(urlsafe_b64decode(key["x"] + "="))
    verifier.verify(base.encode(), b64decode(signature))
    return found


def components(**more: str) -> dict[str, str]:
    said = {
        '"@authority"': "news.example",
        '"@method"': "GET",
        '"@path"': "/list",
        '"signature-agent";key="sig1"': f'"{AGENT}"',
    }
    return said | {f'"@{name}"': value for name, value in more.items()}


def test_a_signed_request_can_be_checked_by_the_directory_alone() -> None:
    signer = MessageSigner(KEY)
    headers = dict(signer.sign_request("GET", "news.example", "/list", AGENT, AT))
    found = checked(headers, components(), key_directory([signer]))
    assert headers["Signature-Agent"] == f'sig1="{AGENT}"'
    assert (found["tag"], found["alg"]) == ("web-bot-auth", "ed25519")
    assert (int(found["created"]), int(found["expires"])) == (AT, AT + LIFE)


@pytest.mark.parametrize("other", [{"authority": "bank.example"}, {"method": "POST"}, {"path": "/admin"}])
def test_it_holds_for_no_other_request(other: dict[str, str]) -> None:
    signer = MessageSigner(KEY)
    headers = dict(signer.sign_request("GET", "news.example", "/list", AGENT, AT))
    with pytest.raises(BadSignatureError):
        checked(headers, components(**other), key_directory([signer]))


def test_checks_and_events_are_signed_with_different_keys() -> None:
    signer = MessageSigner(KEY)
    (published,) = json.loads(key_directory([signer]))["keys"]
    assert published["kid"] == signer.key.key_id != KEY.key_id
    assert MessageSigner(KEY).key == signer.key, "it is the same after a restart"
    assert KEY.seed.hex() not in repr(signer) and "d" not in published


def test_the_directory_is_signed_for_one_authority_and_its_own_text() -> None:
    signer = MessageSigner(KEY)
    body = key_directory([signer])
    headers = dict(signer.sign_directory("watch.example", content_digest(body), AT))
    said = {'"@authority";req': "watch.example", '"content-digest"': content_digest(body)}
    found = checked(headers, said, body)
    assert found["tag"] == "http-message-signatures-directory"
    assert int(found["expires"]) - int(found["created"]) == DIRECTORY_LIFE
    with pytest.raises(BadSignatureError):
        checked(headers, said | {'"@authority";req': "thief.example"}, body)
