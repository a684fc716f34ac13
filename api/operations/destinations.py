"""Destinations: where an alert's matches go, and the secrets that sign them.

Records are stored here; what is sent, its own actor sends, also a test. A secret is told once, when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

import trio
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from actors.destination_kinds.kind import Admitted
from actors.destination_kinds.table import KINDS
from actors.errors import Conflict, NotFound, Unprocessable
from actors.messages.destinations import TestDelivery
from actors.messages.views import TestResult
from actors.signatures import webhook
from api.operations import alerts
from api.operations.context import OperationContext, known_id
from api.operations.revisions import guarded, refuse_stale
from api.operations.whole import whole
from api.schemas import alerts as wire
from storage.records.cursor import MATCHED
from storage.records.destination import WEEKDAYS, Destination, KindName, QuietHours, Secret
from storage.records.given import given
from storage.records.identity import START, Millis, Seq
from storage.records.revision import Expected

MOST_DESTINATIONS = 10_000
MOST_OF_AN_ALERT = 20
OVERLAP = Millis(24 * 3_600_000)
"""Milliseconds that an old secret goes on signing after a rotation."""
TEST_WITHIN = 30.0
"""Seconds for a test: those of its request, and a wait for room among the others."""
_UNSEEN = "Nobody knows its secret: make a new one, give it to the receiver, then resume it."


class WithSecret(NamedTuple):
    """A destination and its newest secret, to be shown this once."""

    destination: Destination
    secret: str


# --- what is asked for -----------------------------------------------------------------------------------------------


def _check_zone(name: object, location: str = "body.digest_timezone") -> None:
    """Raise Unprocessable unless a time zone is known here."""
    if not isinstance(name, str):
        return
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # OSError: the name of a folder, or one too long for a file
        rule = "not a time zone: write an IANA name such as Europe/Stockholm"
        raise Unprocessable(rule, location, name) from None


def _quiet(hours: wire.QuietHours | UnsetType | None) -> QuietHours | None:
    """Return quiet hours as they are stored. Raises Unprocessable."""
    if not isinstance(hours, wire.QuietHours):
        return None
    _check_zone(hours.timezone, "body.quiet_hours.timezone")
    if hours.start == hours.end:
        raise Unprocessable("quiet hours that begin as they end have no length", "body.quiet_hours.to", hours.end)
    return QuietHours(hours.start, hours.end, hours.timezone, tuple(day for day in WEEKDAYS if day in hours.weekdays))


async def admitted(call: OperationContext, kind: KindName, url: str) -> Admitted:
    """Check an address of a kind of destination. Raises UrlRefused, Overloaded."""
    context = call.context
    return await KINDS[kind].admit(url, context.world, context.storage, context.settings)


def rotated(secrets: Sequence[Secret], new: str, now: Millis) -> tuple[Secret, ...]:
    """Return secrets with a new one first; the one before it signs for the overlap, and five at most sign at all."""
    until = Millis(now + OVERLAP)
    old = [replace(secret, until=until) if secret.until is None else secret for secret in secrets]
    return (Secret(new), *(secret for secret in old if secret.until is None or now < secret.until))[: webhook.MOST_LIVE]


def _changed(old: Destination, patch: wire.DestinationPatch, url: str | None, now: Millis, matched: Seq) -> Destination:
    """Return a destination as a patch makes it, itself if nothing changes; `matched`: how far matching has come.

    Raises Conflict.
    """
    if patch.enabled is True and old.was_enabled is not None:
        raise Conflict(_UNSEEN)
    changes = given(patch, Destination)
    if patch.quiet_hours is not UNSET:
        changes["quiet_hours"] = _quiet(patch.quiet_hours)
    if url is not None:
        changes["url"] = url
    moved = url is not None and url != old.url
    if (patch.enabled is True and old.state == "disabled") or (moved and old.state == "failing"):
        changes |= {"state": "active", "failing_since": None, "told": 0}
    if patch.replay_from is None:
        changes["missed_after"] = None
    changed = replace(old, **changes)
    if changed == old:
        return old
    changed = replace(changed, updated_at=now)
    return changed.missing(matched) if old.enabled and not changed.enabled else changed


# --- acts ------------------------------------------------------------------------------------------------------------


async def named(call: OperationContext, id: str) -> Destination:
    """Return the destination of an id. Raises NotFound."""
    found = await call.context.storage.alerts.destination(known_id(id, "destination"))
    if found is None:
        raise _missing()
    return found


@whole
async def add(
    call: OperationContext, alert_id: str, new: wire.NewDestination, planned: str | None = None
) -> WithSecret:
    """Add a destination to an alert, with the `planned` id if there is one.

    Raises NotFound, Unprocessable, UrlRefused, Overloaded, Conflict.
    """
    alert = await alerts.named(call, alert_id)
    _check_zone(new.digest_timezone)
    quiet = _quiet(new.quiet_hours)
    found = await admitted(call, new.kind, new.url)
    kept, now = call.context.storage.alerts, call.context.world.now()
    secret = KINDS[new.kind].new_secret(call.context.world)
    id = planned or call.context.world.new_id()
    everyone = [each for each in await kept.destinations() if each.id != id]  # it is there in a call taken up again
    if len(everyone) >= MOST_DESTINATIONS or sum(d.alert_id == alert.id for d in everyone) >= MOST_OF_AN_ALERT:
        detail = f"an alert has at most {MOST_OF_AN_ALERT} destinations, the service {MOST_DESTINATIONS}"
        raise Conflict(f"{detail}: delete one first")
    destination = Destination(
        id=id,
        alert_id=alert.id,
        secrets=(Secret(secret),),
        created_at=now,
        updated_at=now,
        **given(new, Destination) | {"url": found.url, "label": new.label or found.label, "quiet_hours": quiet},
    )
    await kept.put_destination(destination)
    if await kept.destination(destination.id) is None:
        raise NotFound("There is no such alert.")  # any more
    await alerts.put_in_force(call)
    return WithSecret(destination, secret)


@whole
async def _edit(
    call: OperationContext, id: str, expected: Expected, change: Callable[[Destination], Destination]
) -> Destination:
    changed = await call.context.storage.alerts.edit_destination(known_id(id, "destination"), guarded(expected, change))
    if changed is None:
        raise _missing()
    await alerts.put_in_force(call)
    return changed


async def change(
    call: OperationContext, id: str, wanted: wire.DestinationPatch, expected: Expected = None
) -> Destination:
    """Change one destination. Raises NotFound, Conflict, Stale, Unprocessable, UrlRefused, Overloaded."""
    old = await named(call, id)
    _check_zone(wanted.digest_timezone)
    _quiet(wanted.quiet_hours)
    url = None if wanted.url is UNSET else (await admitted(call, old.kind, wanted.url)).url
    now = call.context.world.now()
    matched = await call.context.storage.outbox.cursor(MATCHED) or START
    return await _edit(call, id, expected, lambda old: _changed(old, wanted, url, now, matched))


async def rotate(call: OperationContext, id: str, expected: Expected = None) -> WithSecret:
    """Make a new secret; the one before it signs beside it for 24 hours, if known. Raises NotFound, Stale."""
    kind, now = (await named(call, id)).kind, call.context.world.now()
    secret = KINDS[kind].new_secret(call.context.world)

    def change(old: Destination) -> Destination:
        known = old.secrets if old.was_enabled is None else ()
        return replace(old, secrets=rotated(known, secret, now), updated_at=now, was_enabled=None)

    return WithSecret(await _edit(call, id, expected, change), secret)


@whole
async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Forget one destination and what waits for it. Raises NotFound, Stale."""
    kept = call.context.storage.alerts
    if not await kept.delete_destination(known_id(id, "destination"), lambda it: refuse_stale(it, expected)):
        raise _missing()
    await alerts.put_in_force(call)


async def test(call: OperationContext, id: str) -> TestResult:
    """Send one signed sample through the destination's own actor. Raises NotFound, Conflict, TooSlowError."""
    destination = await named(call, id)
    mailbox = call.context.destination(destination.id)
    if mailbox is None:
        raise Conflict("Nothing is sent to the destination: resume it first (`enabled: true`).")
    with trio.fail_after(TEST_WITHIN):
        return await mailbox.ask(lambda reply: TestDelivery(reply=reply))


def _missing() -> NotFound:
    return NotFound("There is no such destination.")
