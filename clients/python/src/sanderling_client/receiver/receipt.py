"""A delivery from the receiver's side: its content, whether each of its two signatures is valid, and if not, why.

The two signatures help to explain each other. If the MAC fails, the event's own signature distinguishes an altered body
from a re-serialised one. Since the service's own form of an event is known, that form can be rebuilt and its MAC
tested, which decides even without a key set. Nothing here raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import msgspec

from sanderling_client.verify import (
    HEADERS,
    Cause,
    Keys,
    Verdict,
    canonical,
    check_event,
    check_webhook,
    decode,
    matching,
)

Shape = Literal["event", "digest", "other"]
WHYS: Mapping[str, str] = {
    "not_added": "it had not been added yet",
    "no_record": "the record begins later",
    "retention": "the record is kept no longer",
    "not_stored": "the disk took nothing for days",
    "crash": "the service ended without a word",
    "restore": "a backup was put back",
    "clock": "the clock was set",
    "coarse": "several of these, close together",
}
_REWRITTEN = (
    "the body was parsed and re-serialised on the way: its JCS form matches, the raw bytes don't. "
    "Verify the bytes as they arrive, before anything parses them"
)


class ReceivedEvent(NamedTuple):
    """One event of a delivery, and the verdict on its own signature."""

    event: Mapping[str, Any]
    verdict: Verdict


class Contents(NamedTuple):
    """The content of a body. value: the decoded JSON, None if unreadable. events: none for `other`. enveloped: it came
    in a CloudEvents envelope, which `value` omits.
    """

    shape: Shape
    value: Any
    events: Sequence[Mapping[str, Any]]
    enveloped: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """A delivery. body: the decoded JSON, None if unreadable. events: none for `other`."""

    shape: Shape
    webhook_id: str
    body: Any
    webhook: Verdict
    events: Sequence[ReceivedEvent]

    @property
    def failed(self) -> bool:
        """Whether a checked signature is invalid, or there is nothing to sign."""
        return self.webhook.failed or self.shape == "other" or any(each.verdict.failed for each in self.events)


def judge(headers: Mapping[str, str], body: bytes, *, secrets: Sequence[str], keys: Keys | None, now: float) -> Receipt:
    """Check a delivery at `now` (Unix seconds). headers: lower-case names. No secrets or keys: that part is skipped."""
    contents = read(body)
    events = [checked(event, keys) for event in contents.events]
    return conclude(contents, events, headers, body, secrets=secrets, now=now)


def read(body: bytes) -> Contents:
    """Parse a body. Callers that must not block for a whole digest then check its events one by one."""
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
    events = value.get("events")
    if isinstance(events, list) and "destination_id" in value and all(isinstance(event, dict) for event in events):
        return Contents("digest", value, events)
    if "source_id" in value or "signature" in value:
        return Contents("event", value, (value,))
    return Contents("other", value, ())


def checked(event: Mapping[str, Any], keys: Keys | None) -> ReceivedEvent:
    if keys is None:
        return ReceivedEvent(event, Verdict(Cause.NOT_CHECKED, "no key set was given to check it with"))
    return ReceivedEvent(event, check_event(event, keys))


def conclude(
    contents: Contents,
    events: Sequence[ReceivedEvent],
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Sequence[str],
    now: float,
) -> Receipt:
    """Check the request around checked events; see `judge`."""
    verdict = Verdict(Cause.NOT_CHECKED, "no secret was given to check it with")
    if secrets:
        verdict = check_webhook(secrets, headers, body, now=now)
        if verdict.cause is Cause.NO_MATCH and not contents.enveloped:
            verdict = _explained(headers, body, contents.value, secrets, events)
    return Receipt(contents.shape, headers.get("webhook-id", ""), contents.value, verdict, events)


def _explained(
    headers: Mapping[str, str], body: bytes, value: Any, secrets: Sequence[str], events: Sequence[ReceivedEvent]
) -> Verdict:
    """Explain why no token matches, as far as possible."""
    id, timestamp, tokens = (headers[name] for name in HEADERS)
    sent = as_sent(body, value)
    rebuilt = sent is not None and sent != body
    if rebuilt and sent is not None and matching(secrets, id, timestamp, tokens, sent)[0] is not None:
        return Verdict(Cause.RESERIALISED, _REWRITTEN)
    named = value.get("id") if isinstance(value, dict) else None
    if isinstance(named, str) and named != id and matching(secrets, named, timestamp, tokens, body)[0] is not None:
        return Verdict(Cause.ID_CHANGED, f"webhook-id was changed: the signed one is {named[:64]}")
    witnesses = {each.verdict.cause for each in events}
    if witnesses == {Cause.VERIFIED}:
        if rebuilt:
            return Verdict(Cause.RESERIALISED, _REWRITTEN)
        reason = "no token matches, though the body is untouched: another secret, or id or timestamp were changed"
        return Verdict(Cause.WRONG_SECRET, reason)
    if Cause.CHANGED in witnesses:
        return Verdict(Cause.CHANGED, "the body was changed on the way: the event's own signature is invalid too")
    reason = "no token matches: another secret, or the id, the timestamp or the body were changed on the way"
    return Verdict(Cause.NO_MATCH, reason)


def as_sent(body: bytes, value: Any) -> bytes | None:
    """Return the service's own bytes of the event or digest in `body`, decoded as `value`.

    None if it is neither, or if the two differ in more than spelling.
    """
    from sanderling_client.records import Digest, Event  # thousands of lines, which few deliveries need

    kind = Digest if isinstance(value, dict) and "events" in value else Event
    try:
        ordered = _in_order(msgspec.to_builtins(msgspec.json.decode(body, type=kind)), value)
        return msgspec.json.encode(ordered) if canonical(ordered) == canonical(value) else None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _in_order(record: Any, value: Any) -> Any:
    """Return a value with its members in the order of a record, which has null for each that is missing."""
    if isinstance(record, dict) and isinstance(value, dict):
        return {name: _in_order(record[name], value[name]) for name in record if name in value}
    if isinstance(record, list) and isinstance(value, list):
        return [_in_order(*pair) for pair in zip(record, value, strict=True)]
    return value


def is_coverage(value: Mapping[str, Any]) -> bool:
    """Whether a decoded document claims to be a coverage receipt."""
    return value.get("type") == "coverage" and "unknown" in value and "outcomes" in value


def coverage_explained(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on what a validly signed receipt does and does not prove; missing fields are skipped."""
    yield f"{value.get('url') or value.get('url_sha256')}, from {value.get('from')} to {value.get('to')}"
    yield str(value.get("says"))
    for span in value.get("unknown") or ():
        if isinstance(span, Mapping):
            why = WHYS.get(span.get("why", ""), span.get("why"))
            yield f"unknown from {span.get('from')} to {span.get('to')}: {why}"
    outcomes = value.get("outcomes")
    changed = outcomes.get("changed") if isinstance(outcomes, Mapping) else None
    if changed == 0 and value.get("answered"):
        yield "No recorded check found a change to report."
    yield "It proves that the holder of this key states this. It does not prove that the checks happened."
    yield "A text that comes and goes between two checks is not seen. Anything may have happened in unknown times."
