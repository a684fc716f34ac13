"""The search behind previews: part of the log, newest first, in pages of matches without a gap."""

from __future__ import annotations

from api.fields.queries import ListQuery
from api.nouns.alerts import AlertPreviewRequest, Stretch, trial
from storage.records.alert import Scope
from storage.records.identity import Seq
from tests.api.calls import a_call
from tests.api.house import House, ids


async def test_only_the_requested_range_is_checked(house: House) -> None:
    events = await house.publish(*(f"price {number}" for number in range(10)))
    call = a_call(house, "/", ListQuery)
    found = await trial(call, AlertPreviewRequest("price"), Scope((), ()), Stretch(events[2].seq, events[8].seq))
    assert [match.id for match in found.preview.matches] == ids(reversed(events[3:8]))
    assert (found.preview.looked_at, found.preview.complete, found.further) == (5, True, None)


async def test_pages_of_matches_join_without_a_gap(house: House) -> None:
    events = await house.publish(*(f"{'price' if number % 3 == 0 else 'plan'} {number}" for number in range(200)))
    call, seen, before = a_call(house, "/", ListQuery), list[str](), Seq((1 << 63) - 1)
    for _ in range(20):
        found = await trial(
            call, AlertPreviewRequest("price", limit=7), Scope((), ()), Stretch(before=before, full=True)
        )
        seen += [match.id for match in found.preview.matches]
        if found.further is None:
            break
        before = found.further
    assert seen == ids(event for number, event in reversed(list(enumerate(events))) if number % 3 == 0)
