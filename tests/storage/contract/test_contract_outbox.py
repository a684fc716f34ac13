from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
import trio

from storage.append import events_of
from storage.errors import CursorMoved, DestinationMoved
from storage.records.destination import KEPT_ATTEMPTS, Match, Outcome, Portion, Rates, Waiting
from storage.records.event import Stored
from storage.records.identity import Millis, Seq, id_of
from storage.sql.storage import Storage
from tests.storage.contract.builders import (
    NOW,
    CountingMint,
    a_destination,
    a_harvest,
    a_source,
    a_state,
    an_alert,
    stamp,
)
from tests.storage.contract.engines import Engine


async def prepared(storage: Storage, count: int, *, due: int = NOW) -> Sequence[Stored]:
    """Commit `count` events and match each of them for the destination `hook`."""
    await storage.sources.add(a_source(), a_state(), storage.lease)
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    harvest = a_harvest(1, *[str(number) for number in range(count)])
    events = events_of(await storage.log.append([harvest], storage.lease, CountingMint(), stamp))
    matches = [Match("hook", event.seq, Millis(due)) for event in events]
    to = events[-1].seq if events else Seq(1)
    await storage.outbox.advance("matcher", None, to, matches, storage.lease)
    return events


def sent(seq: Seq, **changes: object) -> Outcome:
    return Outcome("hook", seq, "sent", NOW, status=200, latency_ms=12)


def retry(seq: Seq, at: int) -> Outcome:
    return Outcome("hook", seq, "retry", NOW, status=503, error="busy", retry_at=Millis(at))


async def test_a_cursor_is_none_until_it_is_set(storage: Storage) -> None:
    assert await storage.outbox.cursor("matcher") is None
    await storage.outbox.advance("matcher", None, Seq(5), [], storage.lease)
    assert await storage.outbox.cursor("matcher") == 5
    assert await storage.outbox.cursor("another") is None


@pytest.mark.parametrize("expect", [None, Seq(4), Seq(6)])
async def test_a_cursor_at_another_position_moves_nothing(storage: Storage, expect: Seq | None) -> None:
    await prepared(storage, 2)
    at = await storage.outbox.cursor("matcher")
    assert at is not None
    with pytest.raises(CursorMoved):
        await storage.outbox.advance("matcher", expect, Seq(at + 9), [Match("hook", Seq(9), NOW)], storage.lease)
    assert await storage.outbox.cursor("matcher") == at
    assert await storage.outbox.backlog("hook") == 2


async def test_a_cursor_that_was_never_set_is_not_at_a_position(storage: Storage) -> None:
    with pytest.raises(CursorMoved):
        await storage.outbox.advance("matcher", Seq(0), Seq(5), [], storage.lease)
    assert await storage.outbox.cursor("matcher") is None


async def test_one_of_many_concurrent_cursor_moves_succeeds(storage: Storage) -> None:
    won: list[int] = []

    async def move(to: int) -> None:
        try:
            await storage.outbox.advance("matcher", None, Seq(to), [], storage.lease)
        except CursorMoved:
            return
        won.append(to)

    async with trio.open_nursery() as nursery:
        for to in range(1, 30):
            nursery.start_soon(move, to)
    assert len(won) == 1
    assert await storage.outbox.cursor("matcher") == won[0]


async def test_a_match_is_in_the_outbox_once_and_only_for_a_destination_that_exists(storage: Storage) -> None:
    events = await prepared(storage, 2)
    again = [Match("hook", events[0].seq, Millis(NOW + 99)), Match("gone", events[0].seq, NOW)]
    await storage.outbox.advance("matcher", events[-1].seq, Seq(events[-1].seq + 1), again * 2, storage.lease)
    assert await storage.outbox.backlog("hook") == 2
    assert await storage.outbox.backlog("gone") == 0
    assert await storage.outbox.next_due("hook") == NOW


async def test_claims_are_due_rows_oldest_first_with_the_exact_body(storage: Storage) -> None:
    events = await prepared(storage, 5)
    assert list(await storage.outbox.claim("hook", Millis(NOW - 1), 10, storage.lease)) == []
    first = await storage.outbox.claim("hook", NOW, 3, storage.lease)
    assert [(each.seq, each.body, each.event_id) for each in first] == [
        (event.seq, event.body, id_of(event.seq, 5)) for event in events[:3]
    ]
    assert {(each.attempt, each.first_due, each.destination) for each in first} == {(1, NOW, "hook")}
    rest = await storage.outbox.claim("hook", NOW, 10, storage.lease)
    assert [each.seq for each in rest] == [event.seq for event in events[3:]]
    assert list(await storage.outbox.claim("hook", NOW, 10, storage.lease)) == []
    assert await storage.outbox.next_due("hook") is None
    assert await storage.outbox.backlog("hook") == 5


async def test_a_claim_for_a_known_destination_is_refused_once_that_is_another(storage: Storage) -> None:
    first, second, _ = await prepared(storage, 3)
    known = await storage.alerts.destination("hook")
    assert known is not None
    (claimed,) = await storage.outbox.claim("hook", NOW, 1, storage.lease, known=known)
    await storage.outbox.settle([sent(claimed.seq)], storage.lease)  # it changes only `last_delivery_at`
    (again,) = await storage.outbox.claim("hook", NOW, 1, storage.lease, known=known)
    assert (claimed.seq, again.seq) == (first.seq, second.seq)
    assert list(await storage.outbox.claim("hook", Millis(NOW - 1), 9, storage.lease, known=known)) == []
    await storage.alerts.edit_destination("hook", lambda it: msgspec.structs.replace(it, enabled=False))
    for _ in ("edited", "deleted"):
        with pytest.raises(DestinationMoved):
            await storage.outbox.claim("hook", NOW, 9, storage.lease, known=known)
        await storage.alerts.delete_destination("hook")


async def test_nothing_is_claimed_for_a_destination_that_is_unknown(storage: Storage) -> None:
    await prepared(storage, 1)
    assert list(await storage.outbox.claim("other", NOW, 10, storage.lease)) == []
    assert await storage.outbox.next_due("other") is None
    assert list(await storage.outbox.attempts("other", 10)) == []


async def test_r12_a_row_waiting_beyond_any_schedule_is_due_now(storage: Storage) -> None:
    events = await prepared(storage, 3, due=NOW + 1_000_000)
    lease, later = storage.lease, Millis(NOW + 1_000_000)
    assert await storage.outbox.clamp("hook", later, lambda attempts: Millis(later + 10), lease) == 0
    assert await storage.outbox.claim("hook", NOW, 9, lease) == ()
    assert await storage.outbox.clamp("hook", NOW, lambda attempts: Millis(NOW + 10), lease) == 3
    assert await storage.outbox.clamp("hook", NOW, lambda attempts: Millis(NOW + 10), lease) == 0
    assert [each.first_due for each in await storage.outbox.claim("hook", NOW, 9, lease)] == [NOW] * len(events)
    assert await storage.outbox.clamp("unknown", NOW, lambda attempts: NOW, lease) == 0


async def test_settled_rows_leave_and_are_noted_and_retries_come_back(storage: Storage) -> None:
    events = await prepared(storage, 3)
    await storage.outbox.claim("hook", NOW, 10, storage.lease)
    a, b, c = (event.seq for event in events)
    gave_up = Outcome("hook", c, "given_up", NOW, error="410")
    await storage.outbox.settle([sent(a), retry(b, NOW + 50), gave_up], storage.lease)
    assert await storage.outbox.backlog("hook") == 1
    assert await storage.outbox.next_due("hook") == NOW + 50
    lines = await storage.outbox.attempts("hook", 10)
    assert [(line.event_id, line.result, line.attempt, line.next_at) for line in lines] == [
        (id_of(c, 5), "given_up", 1, None),
        (id_of(b, 5), "retry", 1, NOW + 50),
        (id_of(a, 5), "sent", 1, None),
    ]
    assert (lines[2].status, lines[2].latency_ms, lines[1].error) == (200, 12, "busy")
    (again,) = await storage.outbox.claim("hook", Millis(NOW + 50), 10, storage.lease)
    assert (again.seq, again.attempt, again.first_due) == (b, 2, NOW)


async def test_an_outcome_of_a_row_that_is_not_claimed_changes_nothing(storage: Storage) -> None:
    events = await prepared(storage, 1)
    await storage.outbox.settle([sent(events[0].seq), sent(Seq(77))], storage.lease)
    assert await storage.outbox.backlog("hook") == 1
    await storage.outbox.claim("hook", NOW, 1, storage.lease)
    await storage.outbox.settle([sent(events[0].seq), sent(events[0].seq)], storage.lease)
    assert await storage.outbox.backlog("hook") == 0
    assert len(await storage.outbox.attempts("hook", 10)) == 1


async def test_an_outcome_of_a_deleted_destination_changes_nothing(storage: Storage) -> None:
    events = await prepared(storage, 1)
    await storage.outbox.claim("hook", NOW, 1, storage.lease)
    await storage.alerts.delete_destination("hook")
    await storage.outbox.settle([sent(events[0].seq)], storage.lease)
    assert list(await storage.outbox.attempts("hook", 10)) == []


async def test_claims_of_an_ended_process_are_released_and_the_attempt_counts(engine: Engine) -> None:
    storage = await engine.start()
    events = await prepared(storage, 3)
    await storage.outbox.claim("hook", NOW, 2, storage.lease)
    await storage.aclose()
    again = await engine.start()
    assert [each.seq for each in await again.outbox.claim("hook", NOW, 10, again.lease)] == [events[2].seq]
    assert await again.outbox.release(again.lease) == 3
    assert await again.outbox.release(again.lease) == 0
    claimed = await again.outbox.claim("hook", NOW, 10, again.lease)
    assert [each.attempt for each in claimed] == [2, 2, 2]
    assert await again.outbox.cursor("matcher") == events[-1].seq
    await again.aclose()


async def test_a_delivery_of_a_pruned_event_is_visibly_given_up(storage: Storage) -> None:
    events = await prepared(storage, 3)
    await storage.log.retain(events[2].seq, 10, storage.lease)
    (left,) = await storage.outbox.claim("hook", NOW, 10, storage.lease)
    assert left.seq == events[2].seq
    assert await storage.outbox.backlog("hook") == 1
    lines = await storage.outbox.attempts("hook", 10)
    assert {(line.result, line.attempt) for line in lines} == {("given_up", 0)}
    assert [line.event_id for line in lines] == [id_of(event.seq, 0) for event in (events[1], events[0])]


async def test_an_event_that_leaves_while_it_is_delivered_is_settled_by_its_id(storage: Storage) -> None:
    events = await prepared(storage, 1)
    await storage.outbox.claim("hook", NOW, 10, storage.lease)
    await storage.log.retain(Seq(events[0].seq + 1), 10, storage.lease)
    await storage.outbox.settle([sent(events[0].seq)], storage.lease)
    (line,) = await storage.outbox.attempts("hook", 10)
    assert (line.event_id, line.result) == (id_of(events[0].seq, 5), "sent")


async def test_only_the_newest_attempts_are_stored(storage: Storage) -> None:
    """The limit bounds memory and disk while a destination fails for days."""
    events = await prepared(storage, 300)
    for turn in range(4):
        await storage.outbox.claim("hook", Millis(NOW + turn), 500, storage.lease)
        await storage.outbox.settle([retry(event.seq, NOW + turn + 1) for event in events], storage.lease)
    lines = await storage.outbox.attempts("hook", 5_000)
    assert len(lines) == KEPT_ATTEMPTS
    assert lines[0].attempt == 4
    assert lines[0].event_id == id_of(events[-1].seq, 5)
    assert lines[-1].attempt == 1
    assert len(await storage.outbox.attempts("hook", 10)) == 10


async def test_attempts_are_numbered_and_can_be_read_on_from_any(storage: Storage) -> None:
    events = await prepared(storage, 3)
    for turn in range(2):
        await storage.outbox.claim("hook", Millis(NOW + turn), 10, storage.lease)
        outcomes = [retry(event.seq, NOW + turn + 1) for event in events[turn:]]
        await storage.outbox.settle([*outcomes, *(sent(event.seq) for event in events[:turn])], storage.lease)
    lines = await storage.outbox.attempts("hook", 10)
    assert [line.number for line in lines] == [6, 5, 4, 3, 2, 1]
    assert await storage.outbox.attempts("hook", 2, before=5) == lines[2:4]
    assert [line.number for line in await storage.outbox.attempts("hook", 9, "sent", before=7)] == [6]
    assert list(await storage.outbox.attempts("hook", 9, "retry", before=1)) == []


async def test_a_delivery_is_dated_and_failures_are_rated(storage: Storage) -> None:
    events = await prepared(storage, 4)
    a, b, c, d = (event.seq for event in events)
    assert dict(await storage.outbox.rates(["hook", "gone"])) == {}
    await storage.outbox.claim("hook", NOW, 10, storage.lease)
    await storage.outbox.settle([retry(a, NOW + 1), retry(b, NOW + 1), retry(c, NOW + 1)], storage.lease)
    found = await storage.alerts.destination("hook")
    assert found is not None and found.last_delivery_at is None
    await storage.outbox.settle([sent(d)], storage.lease)
    await storage.alerts.edit_destination("hook", lambda old: msgspec.structs.replace(old, last_delivery_at=None))
    found = await storage.alerts.destination("hook")
    assert found is not None and found.last_delivery_at == NOW
    assert dict(await storage.outbox.rates(["hook", "gone"])) == {"hook": Rates(0.75, 0.0)}


async def test_the_queue_is_read_for_many_destinations_at_once(storage: Storage) -> None:
    events = await prepared(storage, 3, due=NOW - 50)
    since = Millis(NOW - 50)
    assert dict(await storage.outbox.waiting(["hook", "gone"])) == {"hook": Waiting(3, since, since)}
    await storage.outbox.claim("hook", NOW, 3, storage.lease)
    assert dict(await storage.outbox.waiting(["hook"])) == {"hook": Waiting(3, since, None)}
    await storage.outbox.settle([sent(events[0].seq), retry(events[1].seq, NOW + 9)], storage.lease)
    assert dict(await storage.outbox.waiting(["hook"])) == {"hook": Waiting(2, since, Millis(NOW + 9))}


async def test_rows_requested_twice_are_inserted_once(storage: Storage) -> None:
    events = await prepared(storage, 3)
    await storage.outbox.claim("hook", NOW, 2, storage.lease)
    await storage.outbox.settle([sent(events[0].seq)], storage.lease)
    again = [Match(hook, event.seq, Millis(NOW + 5)) for hook in ("hook", "gone") for event in events]
    assert await storage.outbox.enqueue(again, storage.lease) == 1
    assert await storage.outbox.enqueue([], storage.lease) == 0
    assert await storage.outbox.backlog("hook") == 3
    assert [each.seq for each in await storage.outbox.claim("hook", Millis(NOW + 5), 9, storage.lease)] == [
        events[0].seq,
        events[2].seq,
    ]


def joined(bodies: Sequence[bytes]) -> tuple[str, bytes]:
    return f"digest of {len(bodies)}", b"\n".join(bodies)


async def frozen(storage: Storage, start: int, end: int, limit: int = 500, size: int = 1 << 20) -> int:
    return await storage.outbox.freeze("hook", Portion(Millis(start), Millis(end), limit, size), joined, storage.lease)


async def test_d10_a_digest_takes_the_rows_of_a_window_and_is_delivered_in_the_place_of_the_last(
    storage: Storage,
) -> None:
    events = await prepared(storage, 3)
    later = Match("hook", Seq(events[-1].seq + 1), Millis(NOW + 60))
    await storage.outbox.enqueue([later], storage.lease)
    assert await storage.outbox.gathered_since("hook") == NOW
    assert await frozen(storage, NOW, NOW + 60) == 3
    assert await frozen(storage, NOW, NOW + 60) == 0
    assert await storage.outbox.gathered_since("hook") == NOW + 60
    assert (await storage.outbox.next_due("hook", digests=True), await storage.outbox.backlog("hook")) == (NOW + 60, 2)
    (claimed,) = await storage.outbox.claim("hook", Millis(NOW + 99), 10, storage.lease, digests=True)
    assert (claimed.seq, claimed.event_id, claimed.attempt) == (events[2].seq, "digest of 3", 1)
    assert claimed.body == b"\n".join(event.body for event in events)
    assert await storage.outbox.next_due("hook", digests=True) is None


async def test_d10_few_rows_make_no_digest_and_those_that_were_tried_go_by_themselves(storage: Storage) -> None:
    events = await prepared(storage, 4)

    async def collapsed(least: int) -> int:
        portion = Portion(Millis(0), Millis(NOW + 60), 500, 1 << 20, least, fresh=True)
        return await storage.outbox.freeze("hook", portion, joined, storage.lease)

    (first,) = await storage.outbox.claim("hook", NOW, 1, storage.lease)
    await storage.outbox.settle([retry(events[0].seq, NOW + 5)], storage.lease)
    assert await collapsed(4) == 0 and await storage.outbox.backlog("hook") == 4
    assert await collapsed(3) == 3 and await storage.outbox.backlog("hook") == 2
    tried, digest = await storage.outbox.claim("hook", Millis(NOW + 60), 9, storage.lease)
    assert (tried.event_id, tried.body, tried.attempt) == (first.event_id, first.body, 2)
    assert (digest.event_id, digest.attempt) == ("digest of 3", 1)


async def test_d10_a_digest_that_is_tried_again_has_the_same_id_and_bytes_also_without_the_log(engine: Engine) -> None:
    storage = await engine.start()
    events = await prepared(storage, 2)
    await frozen(storage, NOW, NOW + 60)
    (first,) = await storage.outbox.claim("hook", Millis(NOW + 60), 10, storage.lease)
    await storage.outbox.settle([retry(events[1].seq, NOW + 70)], storage.lease)
    await storage.log.retain(Seq(events[1].seq + 1), 10, storage.lease)
    await storage.aclose()
    again = await engine.start()
    assert await frozen(again, 0, NOW + 1000) == 0
    (second,) = await again.outbox.claim("hook", Millis(NOW + 70), 10, again.lease)
    assert (second.event_id, second.body, second.attempt) == (first.event_id, first.body, 2)
    await again.outbox.settle([sent(events[1].seq)], again.lease)
    assert await again.outbox.backlog("hook") == 0
    assert [line.event_id for line in await again.outbox.attempts("hook", 5)] == ["digest of 2"] * 2
    await again.aclose()


async def test_d10_a_digest_is_cut_by_number_and_by_size_and_takes_one_event_at_least(storage: Storage) -> None:
    await prepared(storage, 6)
    assert [await frozen(storage, NOW, NOW + 1, limit=4) for _ in range(3)] == [4, 2, 0]
    claimed = await storage.outbox.claim("hook", Millis(NOW + 9), 10, storage.lease)
    assert [each.event_id for each in claimed] == ["digest of 4", "digest of 2"]


async def test_d10_a_digest_is_never_larger_than_its_size_unless_one_event_is(storage: Storage) -> None:
    (event, *_) = await prepared(storage, 5)
    assert [await frozen(storage, NOW, NOW + 1, size=2 * len(event.body)) for _ in range(4)] == [2, 2, 1, 0]
    (more,) = events_of(
        await storage.log.append([a_harvest(1, "more")], storage.lease, CountingMint(event.seq + 50), stamp)
    )
    await storage.outbox.enqueue([Match("hook", more.seq, NOW)], storage.lease)
    assert await frozen(storage, NOW, NOW + 1, size=1) == 1


async def test_d10_an_event_that_left_the_log_before_its_window_closed_is_given_up(storage: Storage) -> None:
    events = await prepared(storage, 3)
    await storage.log.retain(events[2].seq, 10, storage.lease)
    assert await frozen(storage, NOW, NOW + 1) == 3
    (claimed,) = await storage.outbox.claim("hook", Millis(NOW + 1), 10, storage.lease)
    assert claimed.event_id == "digest of 1"
    assert [line.result for line in await storage.outbox.attempts("hook", 9)] == ["given_up"] * 2
    assert await frozen(storage, NOW, NOW + 1) == 0


async def test_d10_a_digest_goes_with_its_destination_and_claimed_rows_are_in_none(storage: Storage) -> None:
    await prepared(storage, 3)
    await storage.outbox.claim("hook", NOW, 1, storage.lease)
    assert await frozen(storage, NOW, NOW + 1) == 2
    assert await frozen(storage, NOW, NOW + 1) == 0
    await storage.alerts.delete_destination("hook")
    assert await storage.outbox.backlog("hook") == 0
    assert await frozen(storage, NOW, NOW + 1) == 0


async def test_only_unheld_rows_of_the_destination_are_released(storage: Storage) -> None:
    events = await prepared(storage, 3)
    await storage.alerts.put_destination(a_destination("other"))
    await storage.outbox.enqueue([Match("other", events[0].seq, NOW)], storage.lease)
    for hook in ("hook", "other"):
        await storage.outbox.claim(hook, NOW, 10, storage.lease)
    held = [events[1].seq]
    assert await storage.outbox.release(storage.lease, destination="hook", held=held) == 2
    again = await storage.outbox.claim("hook", NOW, 10, storage.lease)
    assert [(each.seq, each.attempt) for each in again] == [(events[0].seq, 2), (events[2].seq, 2)]
    assert await storage.outbox.release(storage.lease, destination="gone") == 0
    assert await storage.outbox.next_due("other") is None


async def test_a_claim_of_another_process_is_not_settled_until_due_again(engine: Engine) -> None:
    first = await engine.start()
    (event,) = await prepared(first, 1)
    await first.outbox.claim("hook", NOW, 10, first.lease)
    await first.aclose()
    second = await engine.start()
    await second.outbox.settle([sent(event.seq)], second.lease)
    assert await second.outbox.backlog("hook") == 1
    assert await second.outbox.release(second.lease) == 1
    assert len(await second.outbox.claim("hook", NOW, 10, second.lease)) == 1
    await second.outbox.settle([sent(event.seq)], second.lease)
    assert await second.outbox.backlog("hook") == 0
    await second.aclose()


async def test_the_first_that_waits_is_known_whether_claimed_or_in_a_digest(storage: Storage) -> None:
    assert await storage.outbox.first_waiting("hook") is None
    events = await prepared(storage, 4)
    assert await storage.outbox.first_waiting("hook") == events[0].seq
    await storage.outbox.claim("hook", NOW, 1, storage.lease)
    assert await storage.outbox.first_waiting("hook") == events[0].seq
    await storage.outbox.settle([sent(events[0].seq)], storage.lease)
    assert await storage.outbox.first_waiting("hook") == events[1].seq

    def both(bodies: Sequence[bytes]) -> tuple[str, bytes]:
        return "digest", b'{"events":[{"id":"%s"}]}' % id_of(events[1].seq, 0).encode()

    portion = Portion(Millis(NOW), Millis(NOW + 60), 2, 1 << 20)
    assert await storage.outbox.freeze("hook", portion, both, storage.lease) == 2
    assert await storage.outbox.first_waiting("hook") == events[1].seq
    (digest,) = await storage.outbox.claim("hook", Millis(NOW + 99), 1, storage.lease, digests=True)
    await storage.outbox.settle([sent(digest.seq)], storage.lease)
    assert await storage.outbox.first_waiting("hook") == events[3].seq


async def test_work_is_found_for_all_destinations_at_once(storage: Storage) -> None:
    events = await prepared(storage, 2)
    await storage.alerts.put_destination(a_destination("other"))
    await storage.outbox.enqueue([Match("other", events[0].seq, Millis(NOW + 50))], storage.lease)
    assert await storage.outbox.due(Millis(NOW - 1)) == []
    assert await storage.outbox.due(NOW) == ["hook"]
    assert await storage.outbox.due(Millis(NOW + 50)) == ["hook", "other"]
    await storage.outbox.claim("hook", NOW, 9, storage.lease)
    assert await storage.outbox.due(Millis(NOW + 50)) == ["other"]


async def test_claims_of_other_starts_can_be_released_and_our_own_stay(engine: Engine) -> None:
    storage = await engine.start()
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    mint = CountingMint()
    told = events_of(await storage.log.append([a_harvest(1, "a", "b", "c")], storage.lease, mint, stamp))
    rows = [Match("hook", event.seq, NOW) for event in told]
    await storage.outbox.enqueue(rows, storage.lease)
    await storage.outbox.claim("hook", NOW, 2, storage.lease)
    assert await storage.outbox.claims_of_others(["hook", "another"], storage.lease) == []
    before = storage.lease.epoch
    await storage.aclose()
    later = await engine.start()
    strays = await later.outbox.claims_of_others(["hook"], later.lease)
    assert sorted(strays) == [("hook", event.seq, before) for event in told[:2]]
    assert await later.outbox.claims_of_others(["another"], later.lease) == []
    assert await later.outbox.put_back(strays[:1], later.lease) == 1
    assert await later.outbox.put_back(strays[:1], later.lease) == 0
    claimed = await later.outbox.claim("hook", NOW, 9, later.lease)
    assert len(claimed) == 2 and len(await later.outbox.claims_of_others(["hook"], later.lease)) == 1
    await later.aclose()
