"""The promises of a delivery."""

from __future__ import annotations

from collections.abc import Iterator

from storage.records.event import RESET
from tests.simulation.facts import Facts
from tests.simulation.program import ALERT_WORD


def deliveries(facts: Facts) -> Iterator[str]:
    """A delivery's body is its event in the log."""
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    for receipt in facts.receipts:
        event_id = receipt.headers.get("webhook-id", "")
        if event_id not in bodies:
            yield f"{event_id or 'something without an id'} was delivered and is not in the log"
        elif bodies[event_id] != receipt.body:
            yield f"{event_id} was delivered with other bytes than the log's"
        elif RESET.encode() in receipt.body and b'"alert_type"' not in receipt.body:
            yield f"{event_id} was delivered, though a reset held it"
        elif ALERT_WORD not in receipt.body.decode().lower() and b'"alert_type"' not in receipt.body:
            yield f"{event_id} was delivered and does not match the alert"
