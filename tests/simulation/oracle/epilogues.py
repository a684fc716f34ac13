"""The promises after damage to the database, after a restore, and after a take-over."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.simulation.afterwards import Afterwards
from tests.simulation.facts import Facts


def damage(facts: Facts) -> Iterator[str]:
    """R10: every reader that meets damage reports it; the readable rest is right; and the service keeps running."""
    seen = facts.afterwards
    if seen is None or _is_replaced(seen):
        return
    if "start" in seen.told:
        return  # the service does not serve rows it cannot read, and has reported why
    status, text = seen.ready
    known = {id: json.loads(body) for id, body in seen.known.items()}
    for id, event in seen.read:
        if known.get(id, event) != event:  # a newer event has its signature
            yield f"{id} is given as it never was"
    if seen.whole and (lost := known.keys() - {id for id, _ in seen.read}):
        yield f"the history is given as whole, and lacks {len(lost)} events, {min(lost)} among them"
    if seen.told and (status != 503 or "damaged" not in text):
        yield f"damage is told in {', '.join(seen.told)}, and /readyz says {status}: {text[:200]}"
    if seen.told and "log" not in seen.told:
        yield "damage is met, and nothing of it is in the log"
    if not seen.told:
        yield f"nobody says that the database is damaged; /readyz says {status}: {text[:200]}"
    if not seen.stood:
        yield "the service does not stand any more"


def restored(facts: Facts) -> Iterator[str]:
    """Events in place of lost ones have new ids, and a client with a cursor of a lost one gets all of them."""
    seen = facts.afterwards
    if seen is None or not _is_replaced(seen):
        return
    lost = seen.known.keys() - seen.kept.keys()
    again = [id for id in seen.new if id in lost and seen.known[id] != seen.new[id]]
    if again:
        yield f"{again[0]} is given twice, to different events"
    if not seen.new or not (lost or seen.kind.endswith("alive")):
        yield f"{len(lost)} events were lost and {len(seen.new)} are new: nothing was tried"
    # New positions after a take-over are above all lost ones, so a cursor of a lost event stays good.
    good = {*seen.kept, max(seen.known)} if seen.kind.startswith("take over") else seen.kept
    if seen.replay_from not in good:
        yield f"a cursor from the future is taken as {seen.replay_from or 'it is'}, which is not of this log"
    given = {id for id, _ in seen.streamed}
    missed = [id for id in seen.new if id > seen.replay_from and id not in given]
    if missed:
        yield f"{len(missed)} of {len(seen.new)} new events are not given to who has a cursor from the future"
    if not seen.stood:
        yield "the service does not stand any more"


def taken_over(facts: Facts) -> Iterator[str]:
    """A take-over keeps every event up to the time that the standby named, and ends the other service's writes."""
    seen = facts.afterwards
    if seen is None or not seen.kind.startswith("take over"):
        return
    if missing := seen.owed - seen.kept.keys():
        yield f"the take-over lost {len(missing)} of {len(seen.owed)} events that the standby named as copied"
    if changed := [id for id in seen.owed & seen.kept.keys() if seen.known[id] != seen.kept[id]]:
        yield f"the take-over changed {len(changed)} events, {min(changed)} among them"
    if seen.unfenced:
        yield f"the service that was taken over wrote {seen.unfenced} events more"


def _is_replaced(seen: Afterwards) -> bool:
    return seen.kind == "restore" or seen.kind.startswith("take over")
