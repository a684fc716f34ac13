from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.signatures import live_secrets, new_secret, sign_webhook
from sanderling_client.verify import HEADERS, Verdict, check_webhook, key_of
from storage.records.destination import Secret
from storage.records.identity import Millis

# The example in the tests of the published Standard Webhooks libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
HEADER = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def verify(secrets: Sequence[str], id: str, timestamp: str, signature: str, body: bytes, *, now: int) -> Verdict:
    return check_webhook(secrets, dict(zip(HEADERS, (id, timestamp, signature), strict=True)), body, now=now)


def test_the_published_example_gives_the_published_signature() -> None:
    assert sign_webhook([SECRET], ID, AT, BODY) == HEADER


def test_d11_during_a_rotation_both_secrets_sign_the_new_one_first() -> None:
    new = new_secret(bytes(range(32)))
    header = sign_webhook([new, SECRET], ID, AT, BODY)
    assert header.split(" ")[1] == HEADER
    for held in (new, SECRET):
        assert verify([held], ID, str(AT), header, BODY, now=AT).valid


def test_d11_the_old_secret_stops_at_its_minute_and_at_most_five_sign() -> None:
    secrets = (Secret("new"), Secret("old", until=Millis(1000)))
    assert live_secrets(secrets, Millis(999)) == ("new", "old")
    assert live_secrets(secrets, Millis(1000)) == ("new",)
    assert live_secrets([Secret(str(n)) for n in range(9)], Millis(0)) == ("0", "1", "2", "3", "4")


def test_a_header_with_unknown_tokens_is_valid_when_any_token_matches() -> None:
    assert verify([SECRET], ID, str(AT), f"v1a,xxx v2,abc {HEADER} é", BODY, now=AT).valid


@given(st.data())
@settings(max_examples=80)
def test_d15_any_flipped_bit_of_id_timestamp_or_body_fails(data: st.DataObject) -> None:
    parts = [ID.encode(), str(AT).encode(), BODY]
    which = data.draw(st.integers(0, 2))
    bit = data.draw(st.integers(0, len(parts[which]) * 8 - 1))
    changed = bytearray(parts[which])
    changed[bit // 8] ^= 1 << bit % 8
    parts[which] = bytes(changed)
    verdict = verify([SECRET], parts[0].decode("latin-1"), parts[1].decode("latin-1"), HEADER, parts[2], now=AT)
    assert not verdict.valid


@pytest.mark.parametrize("apart", [-301, 301, 10**9])
def test_a_stale_timestamp_is_refused_however_well_signed(apart: int) -> None:
    verdict = verify([SECRET], ID, str(AT), HEADER, BODY, now=AT + apart)
    assert (verdict.valid, str(abs(apart)) in verdict.reason) == (False, True)
    assert verify([SECRET], ID, str(AT), HEADER, BODY, now=AT + 300).valid


@pytest.mark.parametrize("timestamp", ["x", "-5", "1_0", "１２", "1.5", "9" * 5000])
def test_a_timestamp_that_is_no_number_is_refused_in_words(timestamp: str) -> None:
    assert "not a number" in verify([SECRET], ID, timestamp, HEADER, BODY, now=AT).reason


@pytest.mark.parametrize("header", ["", " ", "v1,", HEADER[:-1], HEADER.replace("v1", "v2"), "\ud800", HEADER[3:]])
def test_a_header_without_the_expected_token_is_refused(header: str) -> None:
    assert not verify([SECRET], ID, str(AT), header, BODY, now=AT).valid


@given(st.binary(min_size=24, max_size=64))
def test_the_key_of_a_new_secret_is_its_entropy(entropy: bytes) -> None:
    assert key_of(new_secret(entropy)) == entropy


@pytest.mark.parametrize("secret", ["whsec_", "whsec_!!", "", "whsec_A", "=", "é"])
def test_a_secret_that_decodes_to_nothing_is_its_own_key(secret: str) -> None:
    assert key_of(secret) == secret.encode()


def test_a_secret_without_its_prefix_or_its_padding_has_the_same_key() -> None:
    raw = bytes(range(31))
    text = b64encode(raw).decode()
    assert key_of(text) == key_of("whsec_" + text) == key_of(text.rstrip("=")) == raw


@pytest.mark.parametrize("size", [0, 23, 65])
def test_a_secret_is_made_of_enough_entropy(size: int) -> None:
    with pytest.raises(ValueError, match=f"not {size}"):
        new_secret(bytes(size))
