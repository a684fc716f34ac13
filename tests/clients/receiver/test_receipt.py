"""A delivery as the receiver kit and the service's webhook bins check it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.delivery.schedule import DigestWindow, digest_body
from actors.destination_kinds.webhook import to_cloudevent
from actors.signatures import Signer
from sanderling_client.receiver.receipt import (
    Receipt,
    as_sent,
    coverage_explained,
    is_coverage,
    judge,
)
from sanderling_client.verify import Cause, Keys, key_set
from storage.records.destination import Destination
from storage.records.event import Event
from storage.records.identity import Millis
from tests.actors.signatures.events import EVENTS, an_event
from tests.clients.receiver.deliveries import ANOTHER, AT, ID, KEY, NEW_KEY, NOW, SECRET, headers
from tests.clients.receiver.deliveries import KEYS as JWKS

KEYS = key_set(JWKS)
BODY = Signer(KEY).sign(an_event(content='Ärende "42" / 😀'), AT)
HOOK = Destination(ID, ID, "webhook", "https://h.test/", "15min", "h.test", (), AT, AT)
DIGEST = digest_body(ID, HOOK, DigestWindow(AT, Millis(AT + 900_000)), [BODY, Signer(KEY).sign(an_event(), AT)])


def received(body: bytes = BODY, given: dict[str, str] | None = None, keys: Keys | None = KEYS, **how: Any) -> Receipt:
    found = judge(given or headers(BODY, **how), body, secrets=[SECRET], keys=keys, now=NOW)
    assert found.webhook.reason and all(told.verdict.reason for told in found.events)
    return found


def test_a_delivery_as_it_was_sent_verifies_twice() -> None:
    found = received()
    assert (found.shape, found.webhook_id, found.failed) == ("event", ID, False)
    assert (found.webhook.cause, found.events[0].verdict.cause) == (Cause.VERIFIED, Cause.VERIFIED)


def test_a_digest_is_checked_event_by_event() -> None:
    found = received(DIGEST, headers(DIGEST))
    assert (found.shape, found.webhook.cause) == ("digest", Cause.VERIFIED)
    assert [told.verdict.cause for told in found.events] == [Cause.VERIFIED] * 2
    assert found.events[0].event["content"] == 'Ärende "42" / 😀'


@pytest.mark.parametrize(("inner", "shape"), [(BODY, "event"), (DIGEST, "digest")])
def test_an_envelope_of_cloudevents_is_opened_and_both_signatures_verify(inner: bytes, shape: str) -> None:
    body = to_cloudevent(ID, inner)
    found = received(body, headers(body))
    assert (found.shape, found.webhook.cause, found.failed) == (shape, Cause.VERIFIED, False)
    assert {told.verdict.cause for told in found.events} == {Cause.VERIFIED}
    other = received(body, headers(body, secrets=(ANOTHER,)))
    assert other.webhook.cause is Cause.NO_MATCH and not any(told.verdict.failed for told in other.events)
    changed = body.replace(b"42", b"43")
    assert received(changed, headers(body)).failed


def test_an_envelope_of_something_else_is_something_else() -> None:
    assert received(b'{"specversion":"1.0","data":{}}').shape == "other"
    assert received(b'{"specversion":"1.0","data":[]}').shape == "other"


@pytest.mark.parametrize("body", [BODY, DIGEST], ids=["event", "digest"])
@pytest.mark.parametrize("keys", [KEYS, None], ids=["with a key set", "without"])
@pytest.mark.parametrize("how", [{"indent": 2}, {"sort_keys": True}, {"ensure_ascii": False}])
def test_a_reserialised_body_is_reported_as_reserialised(body: bytes, keys: Keys | None, how: Any) -> None:
    rewritten = json.dumps(json.loads(body), **how).encode()
    found = received(rewritten, headers(body), keys)
    assert found.webhook.cause is Cause.RESERIALISED
    assert "JCS form matches, the raw bytes don't" in found.webhook.reason
    assert found.failed and not any(told.verdict.failed for told in found.events)


@settings(max_examples=40)
@given(EVENTS)
def test_any_event_can_be_rebuilt_from_its_parsed_form(event: Event) -> None:
    body = Signer(KEY).sign(event, AT)
    rewritten = json.dumps(dict(reversed(json.loads(body).items())), indent=1).encode()
    assert as_sent(rewritten, json.loads(rewritten)) == body


def test_a_digest_can_be_rebuilt_from_its_parsed_form() -> None:
    assert as_sent(json.dumps(json.loads(DIGEST)).encode(), json.loads(DIGEST)) == DIGEST


def test_a_body_with_more_in_it_is_changed_and_not_re_serialised() -> None:
    body = json.dumps(json.loads(BODY) | {"trace": "x"}).encode()
    assert received(body, headers(BODY)).webhook.cause is Cause.CHANGED


def test_an_event_distinguishes_a_wrong_secret_from_another_body() -> None:
    assert received(secrets=(ANOTHER,)).webhook.cause is Cause.WRONG_SECRET
    altered = BODY.replace(b"42", b"43")
    found = received(altered, headers(BODY))
    assert (found.webhook.cause, found.events[0].verdict.cause) == (Cause.CHANGED, Cause.CHANGED)


def test_without_a_witness_it_does_not_pretend_to_know() -> None:
    assert received(secrets=(ANOTHER,), keys=None).webhook.cause is Cause.NO_MATCH
    assert received(BODY.replace(b"42", b"43"), headers(BODY), None).webhook.cause is Cause.NO_MATCH


def test_a_changed_id_is_reported() -> None:
    found = received(given=headers(BODY) | {"webhook-id": "another"})
    assert (found.webhook.cause, ID in found.webhook.reason) == (Cause.ID_CHANGED, True)


@pytest.mark.parametrize(("apart", "words"), [(-361, "361 s behind"), (361, "361 s ahead of")])
def test_a_stale_delivery_says_by_how_much_and_that_only_the_time_is_wrong(apart: int, words: str) -> None:
    found = received(at=NOW + apart)
    assert found.webhook.cause is Cause.STALE
    assert words in found.webhook.reason and "itself matches" in found.webhook.reason
    assert "itself" not in received(at=NOW + apart, secrets=(ANOTHER,)).webhook.reason


def test_the_second_token_of_a_rotation_is_recognised() -> None:
    found = received(secrets=(ANOTHER, SECRET))
    assert (found.webhook.cause, found.webhook.valid) == (Cause.ROTATED, True)
    assert "token 2 of 2" in found.webhook.reason
    assert received(secrets=(SECRET, ANOTHER)).webhook.cause is Cause.VERIFIED


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_named(name: str) -> None:
    given = {key: value for key, value in headers(BODY).items() if key != name}
    found = received(given=given)
    assert (found.webhook.cause, found.webhook.reason) == (Cause.MISSING_HEADER, f"no header {name}")


def test_an_unknown_key_a_missing_signature_and_nothing_to_check_with_are_three_things() -> None:
    strange = Signer(NEW_KEY).sign(an_event(), AT)
    assert received(strange, headers(strange)).events[0].verdict.cause is Cause.UNKNOWN_KEY
    bare = msgspec.json.encode(an_event())
    assert received(bare, headers(bare)).events[0].verdict.cause is Cause.NO_SIGNATURE
    found = judge(headers(BODY), BODY, secrets=[], keys=None, now=NOW)
    assert [found.webhook.cause, found.events[0].verdict.cause] == [Cause.NOT_CHECKED] * 2
    assert not found.failed


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 100_000, b"\xff", b'{"events":[]}', b'{"a":1,"a":2}', b"7"])
def test_any_other_body_is_no_delivery_even_with_a_valid_mac(body: bytes) -> None:
    found = received(body, headers(body))
    assert (found.shape, found.webhook.valid, found.failed) == ("other", True, True)


@given(st.data())
@settings(max_examples=100)
def test_d15_no_flipped_bit_of_id_timestamp_or_body_passes(data: st.DataObject) -> None:
    parts = [ID.encode(), str(NOW).encode(), BODY]
    which = data.draw(st.integers(0, 2))
    bit = data.draw(st.integers(0, len(parts[which]) * 8 - 1))
    flipped = bytearray(parts[which])
    flipped[bit // 8] ^= 1 << bit % 8
    parts[which] = bytes(flipped)
    given = headers(BODY) | {"webhook-id": parts[0].decode("latin-1"), "webhook-timestamp": parts[1].decode("latin-1")}
    assert received(parts[2], given).webhook.failed


@pytest.mark.parametrize(
    ("body", "signed", "cause"),
    [
        (BODY, headers(BODY, id="other") | {"webhook-id": "third"}, Cause.WRONG_SECRET),
        (to_cloudevent(ID, BODY.replace(b"42", b"43")), headers(BODY), Cause.NO_MATCH),
        (b'{"events":[1],"destination_id":1}', headers(BODY), Cause.NO_MATCH),
        (BODY, headers(BODY) | {"webhook-timestamp": "soon"}, Cause.BAD_TIMESTAMP),
    ],
)
def test_a_request_that_fails_names_its_cause(body: bytes, signed: dict[str, str], cause: Cause) -> None:
    assert received(body, signed).webhook.cause is cause


def test_a_receipt_of_coverage_verifies_and_says_what_it_proves() -> None:
    unknown = [{"from": "a", "to": "b", "why": "crash"}]
    document = {"type": "coverage", "url": "https://a.test/", "says": "so", "unknown": unknown, "outcomes": {}}
    body = Signer(KEY).sign_document(document, AT)
    (event,) = judge({}, body, secrets=[], keys=KEYS, now=NOW).events
    assert event.verdict.valid and is_coverage(event.event)
    assert "unknown from a to b: the service ended without a word" in [*coverage_explained(event.event)]
    other = json.loads(body) | {"type": "attestation"}
    assert judge({}, json.dumps(other).encode(), secrets=[], keys=KEYS, now=NOW).events[0].verdict.failed
