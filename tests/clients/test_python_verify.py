"""The Python client accepts events signed by the service, and nothing else."""

from __future__ import annotations

import json
import random

import pytest

from actors.signatures import jwks
from sanderling_client import UnknownKey, Unverified, verify_event, verify_webhook
from sanderling_client.receiver.cases import CASES, Case, Forge, Posting, Should, Signer
from tests.clients.receiver.deliveries import ANOTHER, AT, BODY, ID, KEY, NEW_KEY, NOW, SECRET, a_body, headers

KEYS = json.loads(jwks([KEY]))


def test_a_delivery_that_was_signed_gives_its_id() -> None:
    assert verify_webhook(SECRET, headers(), BODY, now=NOW) == ID
    assert verify_webhook(SECRET, {name.title(): text for name, text in headers().items()}, BODY, now=NOW) == ID


def test_while_a_secret_is_rotated_either_side_may_have_two() -> None:
    assert verify_webhook(SECRET, headers(secrets=(ANOTHER, SECRET)), BODY, now=NOW) == ID
    assert verify_webhook([ANOTHER, SECRET], headers(), BODY, now=NOW) == ID


@pytest.mark.parametrize("off", [-300, -1, 0, 300])
def test_clocks_may_differ_by_five_minutes(off: int) -> None:
    assert verify_webhook(SECRET, headers(), BODY, now=NOW + off) == ID


@pytest.mark.parametrize("off", [-301, 301, 10**9])
def test_and_by_no_more(off: int) -> None:
    with pytest.raises(Unverified, match="webhook-timestamp"):
        verify_webhook(SECRET, headers(), BODY, now=NOW + off)


def test_not_one_bit_may_be_changed() -> None:
    chance = random.Random(7)
    for _ in range(300):
        given, body = headers(), bytearray(BODY)
        where = chance.choice(["body", "webhook-id", "webhook-timestamp"])
        if where == "body":
            body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
        else:
            text = bytearray(given[where].encode())
            text[chance.randrange(len(text))] ^= 1 << chance.randrange(4)
            given[where] = text.decode("latin-1")
        with pytest.raises(Unverified):
            verify_webhook(SECRET, given, bytes(body), now=NOW)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_header_that_is_missing_is_named(name: str) -> None:
    given = {key: text for key, text in headers().items() if key != name}
    with pytest.raises(Unverified, match=name):
        verify_webhook(SECRET, given, BODY, now=NOW)


@pytest.mark.parametrize("timestamp", ["", " 1795255200", "١٧٩٥٢٥٥٢٠٠", "1795255200.0", "-1", "9" * 13])
def test_a_timestamp_is_digits(timestamp: str) -> None:
    with pytest.raises(Unverified):
        verify_webhook(SECRET, headers() | {"webhook-timestamp": timestamp}, BODY, now=NOW)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_library_passes_the_receiver_probe(case: Case) -> None:
    """Forged, stale, repeated, re-serialised, in a later version: `sanderling probe`'s own deliveries."""
    forge = Forge(SECRET, Signer(KEY.seed), lambda: AT, random.Random(3))
    for posting in case.make(forge):
        if case.should is not Should.EITHER:
            assert taken(posting) is (case.should is Should.ACCEPT), case.fault


def taken(posting: Posting) -> bool:
    try:
        verify_webhook(SECRET, posting.headers, posting.body, now=NOW)
        found = json.loads(posting.body)
        for event in found.get("events", [found]):
            verify_event(event, KEYS)
    except Unverified:
        return False
    return True


# --- the event's own signature ---------------------------------------------------------------------------------------


def test_an_event_verifies_as_bytes_as_text_and_as_json_again() -> None:
    document = json.loads(BODY)
    for form in (BODY, BODY.decode(), document, json.dumps(document, indent=2)):
        assert verify_event(form, KEYS) == document


def test_no_field_may_be_changed_added_or_taken_away() -> None:
    document = json.loads(BODY)
    for name in document:
        without = {key: value for key, value in document.items() if key != name}
        for other in (without, {**document, name: "another"}):
            with pytest.raises(Unverified):
                verify_event(other, KEYS)
    with pytest.raises(Unverified):
        verify_event({**document, "more": 1}, KEYS)


def test_a_key_that_is_not_in_the_set_is_its_own_error() -> None:
    with pytest.raises(UnknownKey):
        verify_event(a_body(NEW_KEY), KEYS)
    assert verify_event(a_body(NEW_KEY), json.loads(jwks([KEY, NEW_KEY])))["id"] == ID


@pytest.mark.parametrize("change", [{"x": "AAAA"}, {"x": 7}, {"kty": "RSA"}, {"crv": "P-256"}, {"x": None}])
def test_a_key_that_is_none_verifies_nothing(change: dict[str, object]) -> None:
    with pytest.raises(Unverified):
        verify_event(BODY, {"keys": [{**KEYS["keys"][0], **change}]})


@pytest.mark.parametrize("event", ["", "[]", "7", b"\xff", {}, {"key_id": 7, "signature": 7}, "[" * 100_000])
def test_a_document_that_is_no_event_does_not_verify(event: object) -> None:
    with pytest.raises(Unverified):
        verify_event(event, KEYS)


def test_a_signature_of_another_event_is_none() -> None:
    other = json.loads(a_body(title="Another"))
    with pytest.raises(Unverified):
        verify_event({**json.loads(BODY), "signature": other["signature"]}, KEYS)
