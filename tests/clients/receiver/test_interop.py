"""Our signatures and those of the published Standard Webhooks library are the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from actors import signatures
from sanderling.real_world import wall
from sanderling_client.verify import check_webhook
from tests.actors.signatures.events import TEXT
from tests.clients.receiver.deliveries import ANOTHER, ID, SECRET

BODIES = st.dictionaries(TEXT, TEXT | st.integers(), max_size=3).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)


@given(BODIES, st.binary(min_size=24, max_size=64))
def test_d15_the_library_accepts_our_headers_and_we_accept_its(body: str, entropy: bytes) -> None:
    secret, at = signatures.new_secret(entropy), int(wall())
    ours = signatures.sign_webhook([signatures.new_secret(bytes(24)), secret], ID, at, body.encode())
    headers = {"webhook-id": ID, "webhook-timestamp": str(at), "webhook-signature": ours}
    assert Webhook(secret).verify(body, headers) == json.loads(body)
    theirs = Webhook(secret).sign(ID, datetime.fromtimestamp(at, UTC), body)
    assert check_webhook([secret], headers | {"webhook-signature": theirs}, body.encode(), now=at).valid
    assert theirs == ours.split(" ")[1]


def test_d15_the_library_refuses_the_same_requests() -> None:
    at = int(wall())
    headers = {
        "webhook-id": ID,
        "webhook-timestamp": str(at),
        "webhook-signature": signatures.sign_webhook([SECRET], ID, at, b"{}"),
    }
    for secret, change in ((ANOTHER, {}), (SECRET, {"webhook-id": "x"}), (SECRET, {"webhook-timestamp": str(at - 1)})):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify("{}", headers | change)
