"""Examples of a webhook bin and a capture."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import EVENT_ID, HERE, LOOKED, MADE
from api.schemas import bins as wire

_TOKEN = "vS6m1mJ3s0vUq0Zb5Yk2cRr8nQeW7xTa"  # noqa: S105  # an example's
BIN = wire.BinRecord(
    id="019db0a4-a050-7000-8000-0000000000e1",
    url=f"{HERE}/bins/{_TOKEN}",
    created_at=MADE,
    expires_at="2026-04-28T09:00:00.000Z",
)
_HOLDS = "the signature covers the id, the timestamp and the raw body"
_SIGNED = "signed with key kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k at 2026-04-21T10:24:07.184Z"
CAPTURE = wire.CaptureRecord(
    id="019db0a4-a051-7000-8000-0000000000e2",
    received_at=LOOKED,
    method="POST",
    path=f"/bins/{_TOKEN}/in",
    query="",
    headers=(
        ("host", "shore.example"),
        ("content-type", "application/json"),
        ("webhook-id", EVENT_ID),
        ("webhook-timestamp", "1776767047"),
        ("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
    ),
    body=f'{{"id":"{EVENT_ID}"}}',
    size=45,
    truncated=False,
    signature_check=wire.SignatureCheck(
        hmac=wire.Checked(ok=True, cause="verified", why=_HOLDS),
        ed25519=wire.CheckedEvents(
            ok=True,
            cause="verified",
            why=_SIGNED,
            events=(wire.CheckedEvent(id=EVENT_ID, ok=True, cause="verified", why=_SIGNED),),
        ),
    ),
)

ALL: tuple[Struct, ...] = (BIN, CAPTURE)
