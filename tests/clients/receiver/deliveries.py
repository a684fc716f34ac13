"""Deliveries for the tests of this room, signed by the code that signs real ones."""

from __future__ import annotations

from actors import signatures
from actors.signatures import Signer, jwks, new_signing_key
from sanderling_client.receiver.capture import Capture
from storage.records.identity import Millis
from tests.actors.signatures.events import an_event

AT = Millis(1_795_255_200_123)
NOW = AT // 1000
KEY, NEW_KEY = new_signing_key(bytes(32), AT), new_signing_key(bytes([7]) * 32, AT)
KEYS = jwks([KEY])
SECRET, ANOTHER = signatures.new_secret(bytes(range(32))), signatures.new_secret(bytes(range(1, 33)))
ID = an_event().id


def a_body(key: object = KEY, **changes: object) -> bytes:
    return Signer(key).sign(an_event(**changes), AT)  # type: ignore[arg-type]


BODY = a_body()


def headers(body: bytes = BODY, *, secrets: tuple[str, ...] = (SECRET,), id: str = ID, at: int = NOW) -> dict[str, str]:
    signature = signatures.sign_webhook(secrets, id, at, body)
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": signature}


def a_capture(body: bytes = BODY, given: dict[str, str] | None = None, **how: object) -> Capture:
    fields = headers(body, **how) if given is None else given  # type: ignore[arg-type]
    return Capture("POST", "/hook", "a=b", tuple((name.title(), text) for name, text in fields.items()), body, AT)
