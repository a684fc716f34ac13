"""The promises about each request: its bytes, its signature, its time, and that it may be made at all."""

from __future__ import annotations

import hmac
import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from tests.simulation.delivery_plans import Quiet
from tests.simulation.delivery_records import KeptDestination, Receipt
from tests.simulation.facts import Facts
from tests.simulation.oracle.letters.clock import shown, stepped
from tests.simulation.oracle.letters.wanted import contents, events_in

ATTEMPT = 16.0
"""Seconds of the longest request, and a little."""
OVERLAP = 24 * 3600.0
MOST_LIVE = 5


def same(facts: Facts) -> Iterator[str]:
    """D2: one webhook-id has one body in every attempt; an event's body is that of the log."""
    if facts.letters is None:
        return
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    people: dict[tuple[str, str], bytes] = {}
    for place, receipts in facts.letters.receipts.items():
        for receipt in receipts:
            if receipt.told is not None:
                # Each messenger has its own wording, the same each time.
                if receipt.id and people.setdefault((place, receipt.id), receipt.body) != receipt.body and receipt.body:
                    yield f"{place} was told {receipt.id} with other words than before"
            elif not receipt.id:
                yield f"{place} was sent something without an id"
            elif bodies.setdefault(receipt.id, receipt.body) != receipt.body:
                yield f"{place} was sent {receipt.id} with other bytes than before"
            elif receipt.id not in contents(receipt.body) and json.loads(receipt.body).get("id") != receipt.id:
                yield f"{place} was sent {receipt.id}, and its body names another id"


def known(facts: Facts) -> Iterator[str]:
    """D5: a messenger that recognises duplicates by id gets one id per event, and another for each other event."""
    if facts.letters is None:
        return
    for place, receipts in facts.letters.receipts.items():
        ids: dict[tuple[str, ...], str] = {}
        for receipt in receipts:
            if receipt.told is None or not receipt.told.id or not receipt.single or not receipt.told.titles:
                continue
            first = ids.setdefault(receipt.told.titles, receipt.told.id)
            if first != receipt.told.id:
                yield f"{place} was told {receipt.told.titles[0]} by the ids {first} and {receipt.told.id}"
        if len(set(ids.values())) < len(ids):
            yield f"{place} was told several events by one id"


def fresh(facts: Facts) -> Iterator[str]:
    """D3: timestamp and signature are of the attempt."""
    for kept, receipt in _programs(facts):
        late = shown(facts, receipt.at) - int(receipt.headers.get("webhook-timestamp", "0"))
        if abs(late) > 60 and not stepped(facts, receipt.at - 60, receipt.at):
            yield f"{kept.label} was sent {receipt.id} with a timestamp {late:.0f} s old"


def signed(facts: Facts) -> Iterator[str]:
    """D11: the newest secret signs; a rotated one for 24 hours more."""
    for kept, receipt in _programs(facts):
        now, tokens = shown(facts, receipt.at), receipt.headers.get("webhook-signature", "").split()
        for secret in kept.secrets:
            if secret.asked > receipt.at:
                continue
            signs = _token(secret.value, receipt) in tokens
            ends = [span for span in kept.rotations if span.begins >= secret.answered]
            surely = min((shown(facts, span.begins) + OVERLAP for span in ends), default=math.inf)
            known = [other.answered for other in kept.secrets if other.asked >= secret.answered]
            at_most = min((shown(facts, at) + OVERLAP for at in known), default=math.inf)
            # A rotation that was cut off may have happened, and five secrets sign at most.
            crowded = len(ends) >= MOST_LIVE
            if secret.answered < receipt.at - ATTEMPT and now < surely - 60 and not signs and not crowded:
                yield f"{kept.label}: {receipt.id} at {receipt.at:.0f} is not signed with a secret that is in force"
            elif now > at_most + 60 and signs:
                yield f"{kept.label}: {receipt.id} at {receipt.at:.0f} is signed with a secret that is over"
        if not tokens:
            yield f"{kept.label}: {receipt.id} is not signed"


def alike(facts: Facts) -> Iterator[str]:
    """D12: a test looks like any other delivery; only its content differs."""
    by_kind: dict[str, frozenset[str]] = {}
    for kept, receipt in _all(facts):
        found = frozenset(receipt.headers)
        names = by_kind.setdefault(kept.plan.kind, found)
        if names != found:
            yield f"{kept.label} was sent {receipt.id} with other headers: {sorted(names ^ found)}"


def listed(facts: Facts) -> Iterator[str]:
    """D13: an attempt is listed with the receiver's real answer."""
    events = events_in(facts)
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        received = facts.letters.received(kept)
        answers = {(receipt.id, receipt.status) for receipt in received}
        told = [receipt for receipt in received if receipt.told is not None]
        answers |= {(id, receipt.status) for receipt in told for id in events(receipt)}
        # Of a notice, or a digest without an id, the messenger does not know which one it was.
        unnamed = {receipt.status for receipt in told if not receipt.id}
        for line in kept.lines:
            status = line["status_code"]
            if status is not None and (line["webhook_id"], status) not in answers and status not in unnamed:
                yield f"{kept.label} lists {line['status_code']} for {line['webhook_id']}, which it never answered"


def ended(facts: Facts) -> Iterator[str]:
    """A deleted destination, or one that its user disabled, gets nothing but the requests under way."""
    for kept, receipt in _all(facts):
        states = list(kept.history.during(receipt.at - ATTEMPT, receipt.at))
        if receipt.at < kept.agreed:
            yield f"{kept.label} was sent {receipt.id}, and had not agreed to be told"
        if receipt.at > kept.gone + ATTEMPT:
            yield f"{kept.label} was sent {receipt.id} {receipt.at - kept.gone:.0f} s after it was deleted"
        elif all(state is not None and not state.enabled for state in states):
            yield f"{kept.label} was sent {receipt.id} while it was disabled"


def fitting(facts: Facts) -> Iterator[str]:
    """A destination with digests gets no single events."""
    for kept, receipt in _all(facts):
        states = list(kept.history.during(receipt.at - ATTEMPT, receipt.at))
        if (
            receipt.single
            and all(state is not None and state.mode != "instant" for state in states)
            and not receipt.test
        ):
            yield f"{kept.label} was sent {receipt.id} alone at {receipt.at:.0f}, and wants digests"


def silent(facts: Facts) -> Iterator[str]:
    """No single event is sent in quiet hours."""
    for kept, receipt in _all(facts):
        if receipt.test or not receipt.single or stepped(facts, receipt.at - 60, receipt.at):
            continue
        states = list(kept.history.during(receipt.at - 60, receipt.at))
        moments = (shown(facts, receipt.at), shown(facts, receipt.at) - 60)
        if all(
            state is not None and state.quiet and all(_rests(state.quiet, at) for at in moments) for state in states
        ):
            yield f"{kept.label} was sent {receipt.id} at {receipt.at:.0f}, in its quiet hours"


def _rests(quiet: Quiet, at: float) -> bool:
    """Return whether quiet hours surely apply: not on the day of a clock change, where readings are odd."""
    zone = ZoneInfo(quiet.zone)
    local = datetime.fromtimestamp(at, zone)
    around = {datetime.fromtimestamp(at + hours * 3600, zone).utcoffset() for hours in (-24, 0, 24)}
    now = f"{local:%H:%M}"
    over_midnight = quiet.begins > quiet.ends
    inside = (now >= quiet.begins or now < quiet.ends) if over_midnight else quiet.begins <= now < quiet.ends
    return inside and len(around) == 1


def _all(facts: Facts) -> Iterator[tuple[KeptDestination, Receipt]]:
    if facts.letters is not None:
        for kept in facts.letters.destinations:
            for receipt in facts.letters.received(kept):
                yield kept, receipt


def _programs(facts: Facts) -> Iterator[tuple[KeptDestination, Receipt]]:
    """Yield the receipts of programs, which are signed."""
    return ((kept, receipt) for kept, receipt in _all(facts) if receipt.told is None)


def _token(secret: str, receipt: Receipt) -> str:
    message = f"{receipt.id}.{receipt.headers.get('webhook-timestamp')}.".encode() + receipt.body
    return "v1," + b64encode(hmac.digest(b64decode(secret.removeprefix("whsec_")), message, "sha256")).decode()
