"""Destinations: the receivers of an alert's matches, the secrets that sign, and their routes.

Records are stored here. The destination's actor sends everything, also tests. A secret is shown once, when it is made.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
import trio
from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from actors import signatures
from actors.destination_kinds import kind as kinds
from actors.destination_kinds.contract import Answer as Attempted
from actors.destination_kinds.kind import AdmittedAddress, Consent, DestinationKind, Values, validated
from actors.errors import Conflict, NotFound, Unprocessable, did_you_mean
from actors.messages.declaring import made_of
from actors.messages.views import TestResult
from actors.messages.workers import DestinationMessage, TestDelivery
from api.etags import created, deleting, etag_of, expected, shown
from api.fields import destinations as wire
from api.fields.queries import ListQuery
from api.nouns import context
from api.nouns.context import OperationContext, alert_named, existing, guarded, known_id, put_in_force, whole
from api.pagination import oldest_first
from api.route import LETS_OUT, Answer, Call, Routes
from storage.records import destination as stored
from storage.records.alert import Alert
from storage.records.destination import ADDRESS, LINK, Destination, Private, QuietHours, Secret
from storage.records.event import MATCHED
from storage.records.identity import START, Millis, given_fields, id_of
from storage.records.revision import Expected, revision_of
from supervision import Mailbox

MOST_DESTINATIONS = 10_000
_LABEL = 200
_OF = " · "  # separates a default label from the alert's name
MOST_OF_AN_ALERT = 20
FOR_PEOPLE = 20  # events sent to people one by one; more of them become one digest
OVERLAP = Millis(24 * 3_600_000)  # milliseconds that an old secret still signs after a rotation
TEST_WITHIN = 30.0  # seconds for a test: its request, and a wait for a free slot
MISSING = "There is no such destination."
_UNSEEN = "Its secret is missing. Create a new one, give it to the receiver, then resume it."


class WithSecret(NamedTuple):
    """A destination, and its newest secret, to show once; "" for none. invited: the outcome of a consent request."""

    destination: Destination
    secret: str
    invited: Attempted | None = None


# --- input -----------------------------------------------------------------------------------------------------------


def _check_zone(name: object, location: str = "body.digest_timezone") -> None:
    if not isinstance(name, str):
        return
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # OSError: the name of a folder, or one too long for a file
        rule = "not a time zone: write an IANA name such as Europe/Stockholm"
        raise Unprocessable(rule, location, name) from None


def _quiet(hours: wire.QuietHours | None) -> QuietHours | None:
    if hours is None:
        return None
    _check_zone(hours.timezone, "body.quiet_hours.timezone")
    if hours.start == hours.end:
        raise Unprocessable("quiet hours begin and end at the same time", "body.quiet_hours.to", hours.end)
    return QuietHours(
        hours.start, hours.end, hours.timezone, tuple(day for day in stored.WEEKDAYS if day in hours.weekdays)
    )


def kind_of(call: OperationContext, id: str) -> DestinationKind:
    """Return the kind with an id. Raises Unprocessable."""
    if id not in (known := call.context.kinds):
        says = f"there is no such kind of destination.{did_you_mean(id, known)} There are: {', '.join(known)}"
        raise Unprocessable(says, "body.kind", id)
    return known[id]


async def admitted(call: OperationContext, kind: DestinationKind, url: str) -> AdmittedAddress:
    """Check an address for a kind of destination. Raises UrlRefused, Overloaded."""
    return await kind.admit(url, call.context.world, call.context.storage, call.context.settings)


async def _check_templates(call: OperationContext, kind: DestinationKind, options: Mapping[str, str | None]) -> None:
    given = {name: value for name, value in options.items() if value and len(value) <= kinds.LONGEST}
    if kind.limits is not None:
        for name, reason in (await kinds.template_errors(call.context.world.jail, kind.limits, given)).items():
            raise Unprocessable(reason, f"body.options.{name}", given[name])


def _addressed(kind: DestinationKind, url: str, values: Values, own: Mapping[str, Private]) -> dict[str, Any]:
    """Return the fields of a destination for its address and values. own: private values that we generated."""
    private = {**values.private, **own} | ({ADDRESS: Private(url)} if kind.address.private else {})
    shown = {"url": kinds.visible_address(kind, url), "options": values.options}
    return shown | {"private": private, "private_names": tuple(private)}


def rotated(secrets: Sequence[Secret], new: str, now: Millis) -> tuple[Secret, ...]:
    """Return secrets with a new one first. The previous one signs during the overlap; at most five sign at all."""
    until = Millis(now + OVERLAP)
    old = [replace(secret, until=until) if secret.until is None else secret for secret in secrets]
    live = [secret for secret in old if secret.until is None or now < secret.until]
    return (Secret(new), *live)[: signatures.MOST_LIVE]


def _changed(
    old: Destination, changes: dict[str, Any], kind: DestinationKind | None, url: str | None, *, token: str, now: Millis
) -> Destination:
    """Apply a patch. url: the admitted one. token: for kinds that need consent. Raises Conflict, Unprocessable."""
    options, secret = changes.pop("options", None), changes.pop("secret", None)
    if "quiet_hours" in changes:
        changes["quiet_hours"] = _quiet(changes["quiet_hours"])
    if "replay_from" in changes:
        changes["missed_after"] = changes.pop("replay_from")
    if kind is not None and (url is not None or options is not None):
        changes |= _revalued(kind, old, url, validated(kind, options or {}, old), options or ())
    moved = url is not None and url != old.address
    if (changes.get("enabled") and old.state == "disabled") or (moved and old.state == "failing"):
        changes |= {"state": "active", "failing_since": None, "told": 0}
    changed = replace(old, **changes)
    if kind is not None:
        kinds.check_named(kinds.of_destination(old, kind), kinds.of_destination(changed, kind), options or ())
    if kind is not None and kind.consent is not None and (moved or kind.consent.name in changed.lost):
        # Another person, or a lost link: ask for consent again.
        changed = _unasked(changed, kind.consent, token)
    if kind is not None and kind.new_secret is None and old.lost and not changed.lost and changed.confirmed:
        changed = replace(changed, was_enabled=None)
    if secret is not None:
        changed = _resigned(changed, secret, now)
    if changes.get("enabled") and changed.was_enabled is not None:
        raise Conflict(_wanting(changed))
    return changed


def _resigned(destination: Destination, secret: str, now: Millis) -> Destination:
    """Make a destination sign with the owner's own secret. The previous one signs during the overlap."""
    if destination.secrets and hmac.compare_digest(destination.secrets[0].value, secret):
        return destination
    known = destination.secrets if destination.was_enabled is None else ()
    known_again = None if destination.confirmed and not destination.lost else destination.was_enabled
    return replace(destination, secrets=rotated(known, secret, now), was_enabled=known_again)


def _check_secret(kind: DestinationKind, secret: str) -> None:
    if kind.new_secret is None:
        raise Unprocessable(f"{kind.label} gets no signature, so there is no secret", "body.secret", None)
    if not signatures.is_secret(secret):
        says = "a secret is whsec_ and base64 of 24 to 64 random bytes: `openssl rand -base64 32` makes these"
        raise Unprocessable(says, "body.secret", None)


def _revalued(
    kind: DestinationKind, old: Destination, url: str | None, values: Values, named: Collection[str]
) -> dict[str, Any]:
    """Return the fields that new values change. Lost private values stay lost until the patch names them."""
    known = url or (old.address if ADDRESS not in old.lost else None)
    own = {name: value for name, value in old.private.items() if kind.consent and name == kind.consent.name}
    changes = _addressed(kind, known or old.url, values, own)
    if known is None:
        del changes["private"][ADDRESS]
        changes["url"] = old.url
    wanting = tuple(name for name in old.lost if name not in changes["private"] and name not in named)
    return changes | {"private_names": (*(name for name in changes["private"] if name not in wanting), *wanting)}


def _unasked(destination: Destination, consent: Consent, token: str) -> Destination:
    """Return a destination that waits for consent: paused until someone agrees."""
    wished = destination.enabled if destination.was_enabled is None else destination.was_enabled
    names = tuple(dict.fromkeys((*destination.private_names, consent.name)))
    asked = replace(destination, private={**destination.private, consent.name: Private(token)}, private_names=names)
    return replace(asked, enabled=False, was_enabled=wished, confirmed=False)


def _token(call: OperationContext, kind: DestinationKind | None) -> str:
    return "" if kind is None or kind.consent is None else kind.consent.token(call.context.world)


def _wanting(destination: Destination) -> str:
    if not destination.confirmed:
        return "The recipient has not agreed yet, so nothing is sent. Send the invitation again if it was lost."
    if not destination.lost:
        return _UNSEEN
    names = ", ".join("the address" if name == ADDRESS else name for name in destination.lost)
    return f"Its credentials are missing ({names}), lost in an import: enter them again, then resume it."


# --- operations ------------------------------------------------------------------------------------------------------


async def named(call: OperationContext, id: str) -> Destination:
    """Return the destination with an id. Raises NotFound."""
    return existing(await call.context.storage.alerts.destination(known_id(id, "destination")), MISSING)


@whole
async def add(
    call: OperationContext, alert_id: str, new: wire.NewDestination, planned: str | None = None
) -> WithSecret:
    """Add a destination to an alert. Raises NotFound, Unprocessable, UrlRefused, Overloaded, Conflict."""
    id = planned or call.context.world.new_id()
    alert, kept = await alert_named(call, alert_id), call.context.storage.alerts
    destination, kind = await _made(call, alert, new, id)
    everyone = [each for each in await kept.destinations() if each.id != id]  # a resumed call has added it already
    if len(everyone) >= MOST_DESTINATIONS or sum(d.alert_id == alert.id for d in everyone) >= MOST_OF_AN_ALERT:
        detail = f"an alert has at most {MOST_OF_AN_ALERT} destinations, the service {MOST_DESTINATIONS}"
        raise Conflict(f"{detail}: delete one first")
    if kind.consent is not None:
        destination = _unasked(destination, kind.consent, _token(call, kind))
    await kept.put_destination(destination)
    existing(await kept.destination(destination.id), "There is no such alert.")  # deleted since
    await put_in_force(call)
    secret = destination.secrets[0].value if destination.secrets and new.secret is UNSET else ""
    return WithSecret(destination, secret, await _ask_consent(call, kind, destination, alert))


async def _made(
    call: OperationContext, alert: Alert, new: wire.NewDestination, id: str
) -> tuple[Destination, DestinationKind]:
    _check_zone(new.digest_timezone)
    quiet, kind = _quiet(new.quiet_hours), kind_of(call, new.kind)
    url = kind.address.default if isinstance(new.url, UnsetType) else new.url
    if not url:
        raise Unprocessable(f"{kind.address.label} is needed", "body.url", None)
    values = validated(kind, new.options)
    await _check_templates(call, kind, values.options)
    if new.secret is not UNSET:
        _check_secret(kind, new.secret)
    found = await admitted(call, kind, url)
    now = call.context.world.now()
    secret = "" if kind.new_secret is None else kind.new_secret(call.context.world)
    secret = secret if new.secret is UNSET else new.secret
    where = found.label if kind.id == stored.WEBHOOK else f"{kind.label} ({found.label})"
    label = new.label or f"{where}{_OF}{alert.name}"[:_LABEL].rstrip()
    made = Destination(
        id=id,
        alert_id=alert.id,
        secrets=(Secret(secret),) if secret else (),
        created_at=now,
        updated_at=now,
        updated_by=call.by,
        **given_fields(new, Destination)
        | _addressed(kind, found.url, values, {})
        | {"label": label, "quiet_hours": quiet}
        | ({"most_at_once": FOR_PEOPLE} if new.most_at_once is UNSET and kind.family != "program" else {}),
    )
    return made, kind


async def copy(call: OperationContext, other: Destination, alert: Alert) -> Destination:
    """Copy a destination to another alert; kinds with consent ask again. The caller must update the matcher."""
    kind, now = kind_of(call, other.kind), call.context.world.now()
    before = await call.context.storage.alerts.get(other.alert_id)
    where = other.label if before is None else other.label.removesuffix(f"{_OF}{before.name}")
    made = replace(
        other,
        label=other.label if where == other.label else f"{where}{_OF}{alert.name}"[:_LABEL].rstrip(),
        id=call.context.world.new_id(),
        alert_id=alert.id,
        created_at=now,
        updated_at=now,
        updated_by=call.by,
        state="active",
        told=0,
        # The files that describe the other one do not describe this one.
        **dict.fromkeys(("managed", "failing_since", "last_delivery_at", "owes", "missed_after")),
    )
    if kind.consent is not None:
        made = _unasked(made, kind.consent, _token(call, kind))
    await call.context.storage.alerts.put_destination(made)
    await _ask_consent(call, kind, made, alert)
    return made


async def _ask_consent(
    call: OperationContext, kind: DestinationKind, destination: Destination, alert: Alert
) -> Attempted | None:
    if kind.consent is None or destination.confirmed:
        return None
    answer = await call.context.invite(kind.consent, destination, f"what its alert “{alert.name}” matches")
    call.context.world.log("destination.invited", destination_id=destination.id, delivered=answer.delivered)
    return answer


async def invite(call: OperationContext, id: str) -> Attempted:
    """Ask for consent again. Raises NotFound, Conflict."""
    destination = await named(call, id)
    alert, kind = await alert_named(call, destination.alert_id), kind_of(call, destination.kind)
    if kind.consent is not None and kind.consent.name in destination.lost:
        consent, token = kind.consent, kind.consent.token(call.context.world)
        destination = await _edit(call, id, None, lambda old: _unasked(old, consent, token))
    answer = await _ask_consent(call, kind, destination, alert)
    if answer is None:
        raise Conflict("No invitation is needed: the recipient has agreed, or need not agree.")
    return answer


async def of_link(call: OperationContext, id: str, token: str) -> Destination:
    """Return the destination of a consent link. Raises NotFound."""
    return _check_link(await named(call, id), token)


def _check_link(destination: Destination, token: str) -> Destination:
    kept = destination.private.get(LINK)
    if kept is None or not hmac.compare_digest(kept.value.encode(), token.encode()):
        raise NotFound(MISSING)
    return destination


async def agree(call: OperationContext, id: str, token: str) -> Destination:
    """Record consent; matches count from now on. Raises NotFound."""
    now = call.context.world.now()

    def change(old: Destination) -> Destination:
        if _check_link(old, token).confirmed:  # in the transaction: the address may be someone else's by now
            return old
        wished = old.was_enabled is not False
        return replace(old, confirmed=True, enabled=wished, was_enabled=None, updated_at=now)

    return await _edit(call, id, None, change)


async def decline(call: OperationContext, id: str, token: str) -> Destination:
    """Record a withdrawal: disable the destination and notify the alert's people. Raises NotFound."""
    now = call.context.world.now()
    matched = await call.context.storage.outbox.cursor(MATCHED) or START

    def change(old: Destination) -> Destination:
        if _check_link(old, token).state == "disabled" or not old.confirmed:
            return old
        return replace(old.missing(matched), state="disabled", owes="destination_disabled", updated_at=now)

    return await _edit(call, id, None, change)


@whole
async def _edit(
    call: OperationContext, id: str, expected: Expected, change: Callable[[Destination], Destination]
) -> Destination:
    edited = await call.context.storage.alerts.edit_destination(known_id(id, "destination"), guarded(expected, change))
    changed = edited or await named(call, id)  # gone: raises NotFound
    await put_in_force(call)
    return changed


async def change(call: OperationContext, id: str, wanted: Mapping[str, Any], expected: Expected = None) -> Destination:
    """Change fields of one destination. Raises NotFound, Conflict, Stale, Unprocessable, UrlRefused, Overloaded."""
    old = await named(call, id)
    _check_zone(wanted.get("digest_timezone"))
    _quiet(wanted.get("quiet_hours"))
    kind = call.context.kinds.get(old.kind)
    if kind is None and not wanted.keys().isdisjoint(("url", "options", "secret")):
        kind = kind_of(call, old.kind)
    if kind is not None and "secret" in wanted:
        _check_secret(kind, wanted["secret"])
    if kind is not None and "options" in wanted:
        await _check_templates(call, kind, wanted["options"])
    url = (await admitted(call, kind, wanted["url"])).url if kind is not None and "url" in wanted else None
    token, now = _token(call, kind), call.context.world.now()
    matched = await call.context.storage.outbox.cursor(MATCHED) or START

    def edited(old: Destination) -> Destination:
        changed = _changed(old, dict(wanted), kind, url, token=token, now=now)
        if changed == old:
            return old
        changed = replace(changed, updated_at=now, updated_by=call.by)
        return changed.missing(matched) if old.enabled and not changed.enabled else changed

    return await _edit(call, id, expected, edited)


async def rotate(call: OperationContext, id: str, expected: Expected = None) -> WithSecret:
    """Make a new secret; the previous one, if known, signs for 24 more hours. Raises NotFound, Stale, Conflict."""
    kind, now = kind_of(call, (await named(call, id)).kind), call.context.world.now()
    if kind.new_secret is None:
        raise Conflict(f"{kind.label} has no signatures, so there is no secret to rotate.")
    secret = kind.new_secret(call.context.world)

    def change(old: Destination) -> Destination:
        if old.lost:
            raise Conflict(_wanting(old))
        known = old.secrets if old.was_enabled is None else ()
        return replace(old, secrets=rotated(known, secret, now), updated_at=now, updated_by=call.by, was_enabled=None)

    return WithSecret(await _edit(call, id, expected, change), secret)


@whole
async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Delete one destination and its outbox. Raises NotFound, Stale."""
    kept = call.context.storage.alerts
    if not await kept.delete_destination(known_id(id, "destination"), lambda it: context.refuse_stale(it, expected)):
        raise NotFound(MISSING)
    await put_in_force(call)


async def test(call: OperationContext, id: str) -> TestResult:
    """Send one signed sample through the destination's actor. Raises NotFound, Conflict, TooSlowError."""
    destination = await named(call, id)
    mailbox = mailbox_of(call, destination)
    with trio.fail_after(TEST_WITHIN):
        if mailbox is not None:
            return await mailbox.ask(lambda reply: TestDelivery(reply=reply))
        assert call.context.test_without_actor is not None
        return await call.context.test_without_actor(destination)


async def test_unsaved(call: OperationContext, alert_id: str, new: wire.NewDestination) -> TestResult:
    """Send a signed sample before it is added. alert_id: "" for one to be made. Raises as `add`, and TooSlowError."""
    now = call.context.world.now()
    alert = await alert_named(call, alert_id) if alert_id else Alert("", "", "", "en", (), now, now)
    made, kind = await _made(call, alert, new, call.context.world.new_id())
    if kind.consent is not None or call.context.test_without_actor is None:
        raise Conflict("Nothing is sent before the recipient agrees: add it first.")
    with trio.fail_after(TEST_WITHIN):
        return await call.context.test_without_actor(made)


def mailbox_of(call: OperationContext, destination: Destination) -> Mailbox[DestinationMessage] | None:
    """Return the mailbox of a destination's actor; None if at another node. Raises Conflict if not running."""
    mailbox = call.context.destination(destination.id)
    if mailbox is None and not (call.context.storage.ownership.shared and destination.works):
        raise Conflict("Nothing is sent to the destination: resume it first (`enabled: true`).")
    return mailbox


# --- records to answers ----------------------------------------------------------------------------------------------

_NONE = stored.Rates(0.0, 0.0)


def record_of(destination: Destination, rates: stored.Rates) -> wire.DestinationRecord:
    rate, missed = round(rates.failure, 4), destination.missed_after
    return made_of(
        wire.DestinationRecord,
        destination,
        options=dict(destination.options),
        private=sorted({*destination.private_names, *destination.private} - {ADDRESS, LINK}),
        state=destination.state if destination.enabled else "disabled",
        failure_rate=rate,
        error_rate=rate,
        duplicate_rate=round(rates.duplicate, 4),
        replay_from=None if missed is None else id_of(missed, 0),
        needs_secret=destination.was_enabled is not None and destination.confirmed,
        needs_agreement=not destination.confirmed,
        revision=revision_of(destination),
    )


def _with_secret(record: wire.DestinationRecord, made: WithSecret) -> wire.DestinationWithSecret:
    invited = UNSET if made.invited is None else _invited(made.invited)
    return wire.DestinationWithSecret(secret=made.secret or UNSET, invited=invited, **asdict(record))


def _invited(found: Attempted) -> wire.TestAnswer:
    ends: Literal["terminal", "retry"] = "terminal" if found.gone or found.refused else "retry"
    detail = found.error or "The question was sent."
    return wire.TestAnswer("sent" if found.delivered else ends, found.status, found.latency_ms, detail)


async def _records(call: Call, destinations: Sequence[Destination]) -> list[wire.DestinationRecord]:
    rates = await call.context.storage.outbox.rates([each.id for each in destinations])
    return [record_of(each, rates.get(each.id, _NONE)) for each in destinations]


ROUTES = Routes("/v1/", "alerts")
_OF_ALERT, _ALL, _EACH = "alerts/{id}/destinations", "destinations", "destinations/{id}"
_ONE, _MANY = {200: wire.DestinationRecord}, {200: list[wire.DestinationRecord]}
_SECRET, _UNLESS_STALE, _BAD_URL = wire.DestinationWithSecret, ("precondition-failed",), ("url-refused",)
_CHANGE_REFUSES, _READS = ("conflict", *_UNLESS_STALE, *_BAD_URL, "unprocessable"), ("alerts:read",)
_ADDS: dict[str, Any] = {"beside": LETS_OUT, "body": (wire.NewDestination,), "refuses": _BAD_URL}


@ROUTES("POST", _OF_ALERT, {201: _SECRET}, repeatable=True, **_ADDS)
async def _create(call: Call) -> Answer:
    """Add a destination; its signing secret is in this answer only."""
    made = await add(call, call.path["id"], call.body, call.planned)
    record = _with_secret(record_of(made.destination, _NONE), made)
    return created(call, f"destinations/{made.destination.id}", made.destination, record)


@ROUTES("GET", _OF_ALERT, _MANY, query=ListQuery)
async def _list_of_alert(call: Call) -> Answer:
    """List an alert's destinations, oldest first."""
    alert = await alert_named(call, call.path["id"])
    page, headers = oldest_first(call, await call.context.storage.alerts.destinations(alert.id))
    return Answer(await _records(call, page), headers=headers)


@ROUTES("GET", _ALL, _MANY, query=ListQuery)
async def _list_all(call: Call) -> Answer:
    """List all destinations, oldest first."""
    page, headers = oldest_first(call, await call.context.storage.alerts.destinations())
    return Answer(await _records(call, page), headers=headers)


@ROUTES("GET", "destination-kinds", {200: list[wire.DestinationKindRecord]})
async def _kinds(call: Call) -> Answer:
    """List the kinds of destinations and their fields."""
    found = []
    for kind in call.context.kinds.values():
        options = [made_of(wire.OptionWanted, field, matches=field.pattern) for field in kind.fields]
        signed = kind.new_secret is not None
        found.append(made_of(wire.DestinationKindRecord, kind, kind=kind.id, options=options, signed=signed))
    return Answer(found)


@ROUTES("GET", _EACH, _ONE | {304: None})
async def _describe(call: Call) -> Answer:
    """Read one destination."""
    destination = await named(call, call.path["id"])
    return shown(call, destination, (await _records(call, [destination]))[0])


@ROUTES("PATCH", _EACH, _ONE, beside=LETS_OUT, body=(wire.DestinationPatch,), refuses=_CHANGE_REFUSES)
async def _patch(call: Call) -> Answer:
    """Change one destination."""
    changed = await change(call, call.path["id"], given_fields(call.body, wire.DestinationPatch), expected(call))
    return Answer((await _records(call, [changed]))[0], headers=etag_of(changed))


_DELETES = "Delete one destination and its waiting deliveries."
ROUTES("DELETE", _EACH, {204: None}, says=_DELETES, refuses=_UNLESS_STALE)(deleting(delete))


@ROUTES("POST", f"{_EACH}/test", {200: wire.TestAnswer}, refuses=("conflict",), repeatable=True)
async def _test(call: Call) -> Answer:
    """Send one signed sample now."""
    found = await test(call, call.path["id"])
    return Answer(msgspec.convert(found, wire.TestAnswer, from_attributes=True))


@ROUTES("POST", f"{_EACH}/invite", {200: wire.TestAnswer}, refuses=("conflict",))
async def _invite(call: Call) -> Answer:
    """Send the invitation again."""
    return Answer(_invited(await invite(call, call.path["id"])))


@ROUTES("POST", f"{_EACH}/rotate-secret", {200: _SECRET}, beside=_READS, refuses=_UNLESS_STALE, repeatable=True)
async def _rotate(call: Call) -> Answer:
    """Create a new secret, shown only in this answer; the old one also signs for 24 hours."""
    made = await rotate(call, call.path["id"], expected(call))
    (record,) = await _records(call, [made.destination])
    return Answer(_with_secret(record, made), headers=etag_of(made.destination))
