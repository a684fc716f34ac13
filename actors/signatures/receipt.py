"""A delivery from the receiver's side: its content, whether each of its two signatures is valid, and if not, why.

The two signatures help to explain each other. If the MAC fails, the event's own signature distinguishes an altered body
from a re-serialised one. Since the service's own form of an event is known, that form can be rebuilt and its MAC
tested, which decides even without a key set. Nothing here raises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from actors.signatures import webhook
from actors.signatures.event import Cause, KeySet, SignatureVerdict, canonical_json, check, decode
from storage.records.event import Event

HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
Shape = Literal["event", "digest", "other"]
_NO_SECRET = SignatureVerdict(Cause.NOT_CHECKED, "no secret was given to check it with")
_NO_KEYS = SignatureVerdict(Cause.NOT_CHECKED, "no key set was given to check it with")


class ReceivedEvent(Struct, frozen=True):
    """One event of a delivery, and the verdict on its own signature."""

    event: Mapping[str, Any]
    verdict: SignatureVerdict


class Contents(NamedTuple):
    """The content of a body. value: the decoded JSON, None if unreadable. events: none for `other`. enveloped: it came
    in a CloudEvents envelope, which `value` omits.
    """

    shape: Shape
    value: Any
    events: Sequence[Mapping[str, Any]]
    enveloped: bool = False


class Receipt(Struct, frozen=True):
    """A delivery. body: the decoded JSON, None if unreadable. events: none for `other`."""

    shape: Shape
    webhook_id: str
    body: Any
    webhook: SignatureVerdict
    events: tuple[ReceivedEvent, ...]

    @property
    def failed(self) -> bool:
        """Whether a checked signature is invalid, or there is nothing to sign."""
        return self.webhook.failed or self.shape == "other" or any(told.verdict.failed for told in self.events)


class _Digest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a digest in wire order (`actors/delivery/digest.py`; a test compares)."""

    id: str
    destination_id: str
    alert_id: str
    delivery_mode: str
    window_start: str
    window_end: str
    count: int
    events: tuple[Event, ...]


def judge(headers: Mapping[str, str], body: bytes, *, secrets: Sequence[str], keys: KeySet | None, now: int) -> Receipt:
    """Check a delivery at `now` (Unix seconds). headers: lower-case names. No secrets or keys: that part is skipped."""
    contents = read(body)
    events = tuple(ReceivedEvent(event, _NO_KEYS if keys is None else check(event, keys)) for event in contents.events)
    return conclude(contents, events, headers, body, secrets=secrets, now=now)


def read(body: bytes) -> Contents:
    """Parse a body. Callers that must not block the loop then check the events one by one."""
    try:
        value = decode(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return Contents("other", value, ())
    if isinstance(value.get("specversion"), str) and isinstance(data := value.get("data"), dict):
        return _contents(data)._replace(enveloped=True)
    return _contents(value)


def _contents(value: Mapping[str, Any]) -> Contents:
    inner = value.get("events")
    if isinstance(inner, list) and "destination_id" in value and all(isinstance(event, dict) for event in inner):
        return Contents("digest", value, inner)
    if "source_id" in value or "signature" in value:
        return Contents("event", value, (value,))
    return Contents("other", value, ())


def conclude(
    contents: Contents,
    events: tuple[ReceivedEvent, ...],
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Sequence[str],
    now: int,
) -> Receipt:
    """Check the request around checked events; see `judge`."""
    verdict = _NO_SECRET
    if secrets:
        verdict = _check_request(headers, body, secrets, now)
        if verdict.cause is Cause.NO_MATCH and not contents.enveloped:
            verdict = _explained(headers, body, contents.value, secrets, events)
    return Receipt(contents.shape, headers.get("webhook-id", ""), contents.value, verdict, events)


def _check_request(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: int) -> SignatureVerdict:
    missing = [name for name in HEADERS if not headers.get(name)]
    if missing:
        return SignatureVerdict(Cause.MISSING_HEADER, f"no header {' and no '.join(missing)}")
    webhook_id, timestamp, signature = (headers[name] for name in HEADERS)
    return webhook.verify(secrets, webhook_id, timestamp, signature, body, now=now)


def _explained(
    headers: Mapping[str, str], body: bytes, value: Any, secrets: Sequence[str], events: Sequence[ReceivedEvent]
) -> SignatureVerdict:
    """Explain why no token matches, as far as possible."""
    webhook_id, timestamp, signature = (headers[name] for name in HEADERS)
    sent = as_sent(body, value)
    rebuilt = sent is not None and sent != body
    if rebuilt and sent is not None and _matches(secrets, webhook_id, timestamp, signature, sent):
        return SignatureVerdict(Cause.RESERIALISED, _REWRITTEN)
    named = value.get("id") if isinstance(value, dict) else None
    if isinstance(named, str) and named != webhook_id and _matches(secrets, named, timestamp, signature, body):
        return SignatureVerdict(Cause.ID_CHANGED, f"webhook-id was changed: the signed one is {named[:64]}")
    witnesses = {told.verdict.cause for told in events}
    if witnesses == {Cause.VERIFIED}:
        if rebuilt:
            return SignatureVerdict(Cause.RESERIALISED, _REWRITTEN)
        reason = "no token matches, though the body is untouched: another secret, or id or timestamp were changed"
        return SignatureVerdict(Cause.WRONG_SECRET, reason)
    if Cause.CHANGED in witnesses:
        return SignatureVerdict(
            Cause.CHANGED, "the body was changed on the way: the event's own signature is invalid too"
        )
    reason = "no token matches: another secret, or the id, the timestamp or the body were changed on the way"
    return SignatureVerdict(Cause.NO_MATCH, reason)


_REWRITTEN = (
    "the body was parsed and re-serialised on the way: its JCS form matches, the raw bytes don't. "
    "Verify the bytes as they arrive, before anything parses them"
)


def _matches(secrets: Sequence[str], webhook_id: str, timestamp: str, signature: str, body: bytes) -> bool:
    return webhook.matching(secrets, webhook_id, timestamp, signature, body)[0] is not None


def as_sent(body: bytes, value: Any) -> bytes | None:
    """Return the service's own bytes of the event or digest in `body`, decoded as `value`.

    None if it is neither, or if the two differ in more than spelling.
    """
    try:
        kind = _Digest if isinstance(value, dict) and "events" in value else Event
        sent = msgspec.json.encode(msgspec.json.decode(body, type=kind))
        return sent if canonical_json(decode(sent)) == canonical_json(value) else None
    except (ValueError, RecursionError):
        return None
