from __future__ import annotations

import json
from base64 import urlsafe_b64encode

import msgspec
import nacl.signing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.signatures import Signer, jwks, new_signing_key
from sanderling_client.verify import Cause, canonical, check_encoded
from storage.records.event import Event
from storage.records.identity import Millis
from tests.actors.signatures.events import EVENTS, an_event

# RFC 8032, 7.1, test 1. RFC 8037, appendix A, has the same key with its JWK and RFC 7638 thumbprint.
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
AT = Millis(1_795_255_200_123)
KEY = new_signing_key(SEED, AT)
SET = jwks([KEY])


def test_the_key_id_is_the_thumbprint_of_the_rfcs_example_key() -> None:
    assert KEY.key_id == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_the_published_key_is_the_jwk_of_the_rfcs_example() -> None:
    assert json.loads(SET) == {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                "kid": KEY.key_id,
                "alg": "EdDSA",
                "use": "sig",
            }
        ]
    }


def test_the_secret_half_is_in_no_public_form() -> None:
    assert SEED.hex() not in SET.hex()
    assert "x9d" not in repr(KEY) + repr(Signer(KEY))


def test_a_seed_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes, not 31"):
        new_signing_key(SEED[1:], AT)


@settings(max_examples=50)
@given(EVENTS)
def test_any_signed_event_verifies_as_it_is_and_after_re_serialisation(event: Event) -> None:
    body = Signer(KEY).sign(event, AT)
    assert check_encoded(body, SET).valid
    shuffled = dict(reversed(json.loads(body).items()))
    assert check_encoded(json.dumps(shuffled, indent=2).encode(), SET).valid


def test_the_wire_form_has_the_fields_in_the_order_of_the_record() -> None:
    body = Signer(KEY).sign(an_event(alert_type="source_quiet"), AT)
    assert body == msgspec.json.encode(msgspec.json.decode(body, type=Event))
    wire = json.loads(body)
    assert [*wire][-4:] == ["alert_type", "signed_at", "key_id", "signature"]
    assert wire["signed_at"] == "2026-11-21T10:00:00.123Z"
    assert len(wire["signature"]) == 86


def test_lone_surrogates_never_reach_the_wire_and_the_event_still_verifies() -> None:
    event = an_event(content="a\ud800b", tags=("t:\udfff",))
    body = Signer(KEY).sign(event, AT)
    wire = json.loads(body)
    assert (wire["content"], wire["tags"]) == ("a�b", ["t:�"])
    assert check_encoded(body, SET).valid


def test_signing_again_replaces_the_old_signature() -> None:
    once = msgspec.json.decode(Signer(KEY).sign(an_event(), AT), type=Event)
    assert check_encoded(Signer(KEY).sign(once, Millis(AT + 1)), SET).valid


@given(st.data())
@settings(max_examples=60)
def test_no_changed_field_goes_unnoticed(data: st.DataObject) -> None:
    wire = json.loads(Signer(KEY).sign(an_event(), AT))
    name = data.draw(st.sampled_from([*wire]))
    wire[name] = data.draw((st.text(max_size=5) | st.integers(-5, 5) | st.none()).filter(lambda new: new != wire[name]))
    assert not check_encoded(json.dumps(wire).encode(), SET).valid


def test_an_old_event_verifies_after_the_key_was_rotated() -> None:
    body = Signer(KEY).sign(an_event(), AT)
    newer = new_signing_key(bytes(32), Millis(AT + 5))
    assert check_encoded(body, jwks([newer, msgspec.structs.replace(KEY, state="retired")])).valid
    assert check_encoded(body, jwks([newer])).reason == f"key {KEY.key_id} is not in the key set"


SIGNED = Signer(KEY).sign(an_event(), AT)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "can't be read"),
        (b"\xff", "can't be read"),
        (b"[" * 100_000, "can't be read"),
        (b"[1]", "not a JSON object"),
        (b"{}", "no signature"),
        (SIGNED.replace(b'"author":"",', b'"author":"","author":"",'), "occurs twice"),
        (SIGNED.replace(b'"simhash":7', b'"simhash":9007199254740993'), "does not match"),
        (SIGNED.replace(b'"simhash":7', b'"simhash":NaN'), "not JSON compliant"),
        (SIGNED.replace(b"Ny text", b"Ny txet"), "does not match"),
        (SIGNED[:-2] + b'="}', "not base64url"),
    ],
)
def test_a_verdict_says_why(body: bytes, reason: str) -> None:
    verdict = check_encoded(body, SET)
    assert not verdict.valid
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (b"{", "can't be read"),
        (b"[]", "not a JWK Set"),
        (b'{"keys":[{"kid":"%s","kty":"RSA"}]}' % KEY.key_id.encode(), "not an Ed25519 key"),
        (b'{"keys":[{"kid":"%s","kty":"OKP","crv":"Ed25519","x":"AAAA"}]}' % KEY.key_id.encode(), "32"),
    ],
)
def test_a_useless_key_set_is_named_as_that(keys: bytes, reason: str) -> None:
    verdict = check_encoded(SIGNED, keys)
    assert verdict.cause is Cause.BAD_KEY_SET
    assert reason in verdict.reason


def resigned(document: dict[str, object], context: bytes) -> bytes:
    """Sign a document's canonical form after a context, with the key."""
    signed = {**document, "key_id": KEY.key_id}
    signature = nacl.signing.SigningKey(KEY.seed).sign(context + canonical(signed)).signature
    return json.dumps(signed | {"signature": urlsafe_b64encode(signature).rstrip(b"=").decode()}).encode()


def test_no_signature_of_one_kind_of_document_is_one_of_another() -> None:
    keys = SET
    one = json.loads(Signer(KEY).sign_document({"type": "coverage", "says": "All is well."}, AT))
    assert check_encoded(json.dumps(one).encode(), keys).valid
    for other in ({"type": "lease"}, {"type": 5}, {"type": None}):
        assert check_encoded(json.dumps(one | other).encode(), keys).cause is Cause.CHANGED
    del one["type"]
    assert check_encoded(json.dumps(one).encode(), keys).cause is Cause.CHANGED
    assert not check_encoded(resigned({"type": "lease"}, b""), keys).valid
    assert check_encoded(resigned({"type": "lease"}, b"sanderling lease\n"), keys).valid
    assert not check_encoded(resigned({"id": "1"}, b"sanderling event\n"), keys).valid


def test_events_and_receipts_that_were_signed_before_there_was_a_context_verify() -> None:
    keys = SET
    for document in ({"id": "1", "title": "Fares"}, {"type": "coverage", "says": "All is well."}):
        assert check_encoded(resigned(document, b""), keys).valid
