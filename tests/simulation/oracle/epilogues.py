"""The promises after damage to the database, and after a restore."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.simulation.facts import Facts


def damage(facts: Facts) -> Iterator[str]:
    """R10: who meets damage says so everywhere; what is told all the same is right; and the service stands."""
    seen = facts.afterwards
    if seen is None or seen.kind == "restore":
        return
    if "start" in seen.told:
        return  # it does not serve what it cannot read, and has said why
    status, text = seen.ready
    known = {id: json.loads(body) for id, body in seen.known.items()}
    for id, event in seen.read:
        if known.get(id, event) != event:  # what is new since has its signature
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
    """After a restore no id is given twice, and who has a cursor of what is no more hears all that is new."""
    seen = facts.afterwards
    if seen is None or seen.kind != "restore":
        return
    lost = seen.known.keys() - seen.kept.keys()
    again = [id for id in seen.new if id in lost and seen.known[id] != seen.new[id]]
    if again:
        yield f"{again[0]} is given twice, to different events"
    if not seen.new or not lost:
        yield f"{len(lost)} events were lost and {len(seen.new)} are new: nothing was tried"
    if seen.replay_from not in seen.kept:
        yield f"a cursor from the future is taken as {seen.replay_from or 'it is'}, which is not of this log"
    given = {id for id, _ in seen.streamed}
    missed = [id for id in seen.new if id > seen.replay_from and id not in given]
    if missed:
        yield f"{len(missed)} of {len(seen.new)} new events are not given to who has a cursor from the future"
    if not seen.stood:
        yield "the service does not stand any more"
