"""The kit and the service judge a delivery alike; the service judges those to webhook bins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random

import pytest

from actors.destination_kinds.webhook import enveloped
from actors.signatures import receipt as services
from actors.signatures.event import KeySet, Signer, jwks
from sanderling_client.receiver import cases
from sanderling_client.receiver.cases import CASES, Case, Forge
from sanderling_client.receiver.receipt import coverage_explained, is_coverage, judge
from tests.clients.receiver.deliveries import ANOTHER, AT, BODY, ID, KEY, KEYS, NEW_KEY, NOW, SECRET, a_body, headers

PAGE = a_body(source_type="html", tags=("a:b",), title="Ä \u2028 \x7f")
CHANGED = BODY.replace(b"Ny text", b"Ny txet")


def digest(*events: bytes) -> bytes:
    frame = {"id": ID, "destination_id": ID, "alert_id": ID, "delivery_mode": "15min", "window_start": "a"}
    return json.dumps({**frame, "window_end": "b", "count": len(events), "events": [*map(json.loads, events)]}).encode()


def rewritten(body: bytes) -> bytes:
    return json.dumps(json.loads(body), indent=1, sort_keys=True).encode()


def compact(body: bytes) -> bytes:
    return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()


DIGEST = compact(digest(BODY, PAGE))


@pytest.mark.parametrize(
    ("body", "signed", "cause"),
    [
        (BODY, headers(), "verified"),
        (BODY, headers(secrets=(ANOTHER, SECRET)), "verified-rotated"),
        (rewritten(BODY), headers(), "re-serialised"),
        (rewritten(PAGE), headers(PAGE), "re-serialised"),
        (rewritten(DIGEST), headers(DIGEST), "re-serialised"),
        (BODY, headers(id="other") | {"webhook-id": "third"}, "wrong-secret"),
        (BODY, headers() | {"webhook-id": "other"}, "id-changed"),
        (BODY, headers(secrets=(ANOTHER,)), "wrong-secret"),
        (CHANGED, headers(), "changed"),
        (a_body(NEW_KEY), headers(secrets=(ANOTHER,)), "no-match"),
        (enveloped(ID, CHANGED), headers(), "no-match"),
        (b"{}", headers(), "no-match"),
        (b"[" * 100_000, headers(), "no-match"),
        (b'{"events":[1],"destination_id":1}', headers(), "no-match"),
        (BODY, headers(at=NOW - 301), "stale"),
        (BODY, headers() | {"webhook-timestamp": "soon"}, "bad-timestamp"),
        (BODY, {"webhook-id": ID}, "missing-header"),
    ],
)
def test_the_request_is_judged_as_the_service_judges_it(body: bytes, signed: Mapping[str, str], cause: str) -> None:
    for keys in (jwks([KEY]), None):
        ours = judge(signed, body, secrets=[SECRET], keys=None if keys is None else json.loads(keys), now=NOW)
        known = None if keys is None else KeySet(keys)
        theirs = services.judge(signed, body, secrets=[SECRET], keys=known, now=NOW)
        assert ours.webhook.reason == theirs.webhook.reason
        assert (ours.shape, ours.webhook_id, ours.body) == (theirs.shape, theirs.webhook_id, theirs.body)
        assert [each.verdict.reason for each in ours.events] == [each.verdict.reason for each in theirs.events]
        assert ours.failed == theirs.failed
        if keys:
            assert ours.webhook.cause.value == cause


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_the_probe_sends_is_judged_alike(case: Case) -> None:
    forge = Forge(SECRET, cases.Signer(KEY.seed), lambda: AT, Random(5))
    for posting in case.make(forge):
        ours = judge(posting.headers, posting.body, secrets=[SECRET], keys=json.loads(KEYS), now=NOW)
        theirs = services.judge(posting.headers, posting.body, secrets=[SECRET], keys=KeySet(KEYS), now=NOW)
        assert (ours.webhook.reason, ours.failed) == (theirs.webhook.reason, theirs.failed)
        assert [each.verdict.reason for each in ours.events] == [each.verdict.reason for each in theirs.events]


def test_a_receipt_of_coverage_verifies_and_says_what_it_proves() -> None:
    unknown = [{"from": "a", "to": "b", "why": "crash"}]
    document = {"type": "coverage", "url": "https://a.test/", "says": "so", "unknown": unknown, "outcomes": {}}
    body = Signer(KEY).sign_document(document, AT)
    (event,) = judge({}, body, secrets=[], keys=json.loads(KEYS), now=NOW).events
    assert event.verdict.valid and is_coverage(event.event)
    assert "unknown from a to b: the service ended without a word" in [*coverage_explained(event.event)]
    other = json.loads(body) | {"type": "attestation"}
    assert judge({}, json.dumps(other).encode(), secrets=[], keys=json.loads(KEYS), now=NOW).events[0].verdict.failed
