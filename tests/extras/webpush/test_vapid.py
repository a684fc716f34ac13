"""The token that identifies us to push services, checked without the library that made it."""

from __future__ import annotations

import json
import re

from extras.webpush import encryption
from extras.webpush.encryption import authorization
from extras.webpush.key import PushKey
from storage.records.identity import Millis
from tests.extras.webpush import curve
from tests.extras.webpush.device import b64

SECRET = encryption.drawn_secret(bytes(range(40)))
KEY = PushKey(encryption.spelled(encryption.public_half(encryption.private_key(SECRET))), SECRET, Millis(0))
NOW = 1_800_000_000
RFC_8292 = (
    "vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3Njgs"
    "InN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNj"
    "jvW2L9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
)


def claims(header: str) -> dict[str, object]:
    """Verify a header's signature; return its claims."""
    found = re.fullmatch(r"vapid t=(([\w-]+)\.([\w-]+))\.([\w-]+), k=([\w-]+)", header, re.ASCII)
    assert found is not None
    said, head, body, signature, key = found.groups()
    assert curve.verifies(b64(key), b64(signature), said.encode())
    assert json.loads(b64(head)) == {"typ": "JWT", "alg": "ES256"}
    return json.loads(b64(body))


def test_the_check_itself_takes_the_example_of_rfc_8292_and_no_other_word() -> None:
    assert claims(RFC_8292)["aud"] == "https://push.example.net"
    public, message = encryption.public_half(encryption.private_key(SECRET)), b"another"
    assert not curve.verifies(public, bytes(64), message) and not curve.verifies(public, b"\x01" * 64, message)


def test_a_token_has_audience_expiry_and_contact() -> None:
    said = claims(authorization(KEY, "https://push.example.net", NOW + 59, "mailto:anna@example.com"))
    assert said == {"aud": "https://push.example.net", "exp": NOW + 12 * 3_600, "sub": "mailto:anna@example.com"}
    assert authorization(KEY, "https://x.example", NOW, "").endswith(f", k={KEY.public}")


def test_without_a_contact_none_is_sent() -> None:
    assert claims(authorization(KEY, "https://push.example.net", NOW, "")).keys() == {"aud", "exp"}


def test_the_token_of_an_hour_is_one_and_never_ends_soon() -> None:
    of = [authorization(KEY, "https://push.example.net", NOW + second, "") for second in (0, 3_599, 3_600)]
    assert of[0] == of[1] != of[2]
    for second in (0, 1, 3_599):
        left = claims(authorization(KEY, "https://push.example.net", NOW + second, ""))["exp"] - (NOW + second)
        assert 11 * 3_600 < left <= 12 * 3_600
