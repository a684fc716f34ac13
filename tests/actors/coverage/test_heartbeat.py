"""The due time and the content of a heartbeat."""

from __future__ import annotations

import msgspec
import pytest

from actors.coverage import TAG, Last, draft_of, last_of, until_due
from actors.recorder.actor import build
from storage.records.event import Heartbeat, Stored, kind_of
from storage.records.identity import SERVICE, START, Millis, Seq, id_of, millis_of, rfc3339
from storage.records.tiers import Kind

EVERY = Millis(300_000)
AT = Millis(1_780_000_000_000)
SEQ = Seq(AT << 15)


def last(due: int, at: int) -> Last:
    return Last(SEQ, id_of(SEQ, 0), 7, Millis(AT + due), Millis(AT + at))


@pytest.mark.parametrize(
    ("due", "at", "now", "wait"),
    [
        (0, 5, 100_000, 200_000),  # it comes at the due time
        (0, 5, 300_000, 0),
        (0, 5, 900_000, 0),  # overdue: at once
        (0, 5, -1, 0),  # the clock went back: do not wait for it to catch up
        (0, -50, -20, 300_000),  # never later than one interval from now
    ],
)
def test_the_next_one_comes_when_it_was_due_or_at_once(due: int, at: int, now: int, wait: int) -> None:
    assert until_due(last(due, at), EVERY, Millis(AT + now)) == wait


def test_the_very_first_is_due_at_once() -> None:
    assert until_due(last_of(None), EVERY, AT) == 0
    assert last_of(None).seq == START


def test_a_heartbeat_describes_the_service_and_is_read_back_for_the_next() -> None:
    looks_since = rfc3339(AT - 300_000)
    beat = Heartbeat(8, 300, rfc3339(AT), id_of(SEQ, 0), "head", rfc3339(AT), 17, looks_since, 5, 1, 2)
    draft = draft_of(beat, 0, "https://s.example", Millis(AT + 3))
    assert (kind_of(draft), draft.alert_type, draft.tags) == (Kind.HEARTBEAT, "heartbeat", (TAG,))
    assert draft.title == "Heartbeat 8"
    says = f"5 sources are watched, 1 of them failing; 17 checks have finished since {looks_since}."
    assert draft.content == says
    event = build(id_of(SEQ, 3), SERVICE, draft, "https://s.example", Millis(AT + 4))
    again = last_of(Stored(SEQ, SERVICE, Kind.HEARTBEAT, msgspec.json.encode(event)))
    assert again == Last(SEQ, id_of(SEQ, 3), 8, AT, Millis(AT + 4))
    assert draft.heartbeat is not None
    assert (draft.heartbeat.before, draft.heartbeat.head) == (id_of(SEQ, 0), "head")
    assert millis_of(SEQ) == AT
