"""D10: an event is in one digest, windows follow the clock, and empty digests are not sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.simulation.delivery_records import KeptDestination
from tests.simulation.facts import Facts
from tests.simulation.oracle.letters.clock import shown
from tests.simulation.oracle.letters.wanted import contents

LENGTHS = {"15min": 900, "hourly": 3600}
MOST_EVENTS = 500


def once(facts: Facts) -> Iterator[str]:
    """An event is in one digest of a destination, unless its user had it replayed."""
    for kept, digests in _all(facts):
        first: dict[str, str] = {}
        for at, id, body, _ in digests:
            if any(span.begins <= at for span in kept.replays):
                break
            for event in contents(body):
                if first.setdefault(event, id) != id:
                    yield f"{kept.label}: {event} is in the digests {first[event]} and {id}"


def counted(facts: Facts) -> Iterator[str]:
    """A digest for people names an event once, and gives the number of events left out."""
    letters = facts.letters
    for kept in () if letters is None else letters.destinations:
        assert letters is not None
        first: dict[str, bytes] = {}
        for receipt in letters.received(kept):
            if receipt.told is None or receipt.told.count is None or any(s.begins <= receipt.at for s in kept.replays):
                continue
            titles = receipt.told.titles
            # A notice's title can't be distinguished from the words around it.
            if not kept.alert.plan.notices and len(titles) + receipt.told.more != receipt.told.count:
                yield f"{kept.label} was told of {receipt.told.count} events, {len(titles)} by name"
            for title in titles:
                if first.setdefault(title, receipt.body) != receipt.body:
                    yield f"{kept.label}: {title} is in two digests"


def whole(facts: Facts) -> Iterator[str]:
    """A digest is not empty, names its destination, and its events are byte for byte those of the log."""
    bodies = {logged.event["id"]: logged.body for logged in facts.log}
    for kept, digests in _all(facts):
        for _, id, body, digest in digests:
            count = len(digest["events"])
            if digest["count"] != count or not 0 < count <= MOST_EVENTS:
                yield f"{kept.label}: digest {id} has {count} events and says {digest['count']}"
            if (digest["destination_id"], digest["alert_id"]) != (kept.id, kept.alert.id):
                yield f"{kept.label}: digest {id} is of another destination"
            for event in contents(body):
                if bodies.get(event, b"nothing") not in body:
                    yield f"{kept.label}: digest {id} has other bytes than the log for {event}"
            late = [each["id"] for each in digest["events"] if each["emitted_at"] > digest["window_end"]]
            if late and not facts.program.steps:
                yield f"{kept.label}: digest {id} has {late[0]}, which came after its window"


def aligned(facts: Facts) -> Iterator[str]:
    """Windows begin and end by the clock, and are over before their digest is sent."""
    for kept, digests in _all(facts):
        for at, id, _, digest in digests:
            begins, ends = (datetime.fromisoformat(digest[name]) for name in ("window_start", "window_end"))
            mode, long = digest["delivery_mode"], (ends - begins).total_seconds()
            if mode in LENGTHS:
                if long != LENGTHS[mode] or begins.timestamp() % long:
                    yield f"{kept.label}: the window {begins} to {ends} is not one of {mode}"
            elif not any(_turns(moment, kept) for moment in (begins,)) or not _turns(ends, kept) or not _days(long):
                yield f"{kept.label}: the window {begins} to {ends} is not a day of {kept.label}"
            if latest_shown(facts, at) < ends.timestamp():
                yield f"{kept.label}: digest {id} was sent before its window was over, at {at:.0f}"


def latest_shown(facts: Facts, at: float) -> float:
    """Return the latest reading of the service's clock up to a moment."""
    return max(
        shown(facts, moment) for moment in (at, *(step.at - 1e-6 for step in facts.program.steps if step.at <= at))
    )


def _turns(moment: datetime, kept: KeptDestination) -> bool:
    """Return whether a day begins at this moment, under one of its settings."""
    for version in kept.history.versions:
        state = version.state
        if state is not None:
            local = moment.astimezone(ZoneInfo(state.zone))
            before = (moment - timedelta(milliseconds=1)).astimezone(ZoneInfo(state.zone))
            jumped = before.utcoffset() != local.utcoffset()
            if (local.hour, local.minute, local.second) == (state.hour, 0, 0):
                return True
            # An hour that is left out is where the clocks go forward.
            if jumped and (before.hour, before.minute) < (state.hour, 0) < (local.hour, local.minute):
                return True
    return False


def _days(long: float) -> bool:
    return 22.9 * 3600 <= long <= 25.1 * 3600


def _all(facts: Facts) -> Iterator[tuple[KeptDestination, list[tuple[float, str, bytes, Mapping[str, Any]]]]]:
    """Yield each destination's digests: time, id, body, and the decoded body."""
    for kept in () if facts.letters is None else facts.letters.destinations:
        assert facts.letters is not None
        yield (
            kept,
            [
                (receipt.at, receipt.id, receipt.body, json.loads(receipt.body))
                for receipt in facts.letters.received(kept)
                if receipt.told is None and b'"window_start"' in receipt.body
            ],
        )
