"""The promises about pictures of pages: each shows its event, and is gone when that is."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.facts import Facts
from tests.simulation.oracle.pages import brought
from tests.simulation.origins.texts import numbers_in


def fitting(facts: Facts) -> Iterator[str]:
    """Each stored change has a picture of the page at the time of the check."""
    kept = {(shown.source, shown.seq): shown.page for shown in facts.pictures}
    for plan in facts.program.origins:
        for logged in facts.of(plan) if plan.pictures else ():
            page = kept.get((logged.event["source_id"], logged.seq))
            if page is None:
                if logged.seq > facts.floor:
                    yield f"{plan.name}: {logged.event['id']} has no picture"
            elif lacks := set(brought(plan, logged)) - set(numbers_in(plan, page)):
                yield f"{plan.name}: the picture of {logged.event['id']} does not show change {min(lacks)}"


def gone(facts: Facts) -> Iterator[str]:
    """No picture outlives its event, and none lacks one."""
    there = {logged.seq for logged in facts.log if logged.seq > facts.floor}
    for shown in facts.pictures:
        if shown.seq and shown.seq not in there:
            yield f"a picture of {shown.source} is kept, and its event at {shown.seq} is not"
