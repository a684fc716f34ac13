"""Destinations and attempts, written directly into storage."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from storage.records.alert import Alert
from storage.records.destination import Attempt, Destination, Result, Secret
from storage.records.identity import Millis
from supervision import Mailbox
from tests.api.house import House
from tests.support.build import NOW
from tests.support.disks import note_attempt

ALERT = "00000000-0000-7000-8000-0000000000a1"
HOOK = "00000000-0000-7000-8000-0000000000d1"


async def a_hook(house: House, *, awake: bool = True, **changes: Any) -> Destination:
    """Store an alert and its destination. awake: the destination has a mailbox."""
    await house.storage.alerts.put(Alert(ALERT, "Prices", "price", "en", (), NOW, NOW))
    plain = Destination(
        HOOK, ALERT, "webhook", "https://hooks.test/in", "instant", "hooks.test", (Secret("whsec_eA=="),), NOW, NOW
    )
    hook = replace(plain, **changes)
    await house.storage.alerts.put_destination(hook)
    if awake:
        house.destinations[hook.id] = Mailbox(hook.id, 8)
    return hook


def attempts(house: House, *lines: Attempt, hook: str = HOOK) -> None:
    """Store attempts of a destination, the oldest first."""
    for line in lines:
        note_attempt(house.storage.disk, replace(line, destination=hook))


def an_attempt(event_id: str = "e1", result: Result = "sent", **changes: Any) -> Attempt:
    plain = Attempt(HOOK, event_id, 1, result, NOW, 200 if result == "sent" else 503, 12, None, None)
    if result == "retry":
        plain = replace(plain, error="HTTP 503 busy", next_at=Millis(NOW + 300_000))
    return replace(plain, **changes)
