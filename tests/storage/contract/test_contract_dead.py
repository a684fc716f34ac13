"""Failed deliveries: kept longer than other attempts, and missed until a replay; and rates."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from storage.records.destination import KEPT_ATTEMPTS, KEPT_DEAD, Destination, Match, Outcome, Portion, Rates, Replayed
from storage.records.identity import Millis, Seq, id_of
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW
from tests.storage.contract.test_contract_outbox import prepared, retry, sent


def given_up(seq: Seq) -> Outcome:
    return Outcome("hook", seq, "given_up", NOW, status=500, error="HTTP 500", response_excerpt="sorry")


async def hook_of(storage: Storage) -> Destination:
    found = await storage.alerts.destination("hook")
    assert found is not None
    return found


async def test_d1_a_given_up_delivery_outlives_a_thousand_attempts(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = await prepared(storage, 300)
    for turn in range(6):
        claimed = await storage.outbox.claim("hook", Millis(NOW + turn), 500, storage.lease)
        outcomes = [retry(each.seq, NOW + turn + 1) for each in claimed]
        outcomes[0] = given_up(claimed[0].seq)
        await storage.outbox.settle(outcomes, storage.lease)
    assert len(await storage.outbox.attempts("hook", 5_000)) == KEPT_ATTEMPTS + 3
    dead = await storage.outbox.attempts("hook", 100, "given_up")
    assert [line.event_id for line in dead] == [id_of(event.seq, 5) for event in events[5::-1]]
    assert dead[0].response_excerpt == "sorry"
    assert [line.attempt for line in await storage.outbox.attempts("hook", 2, "retry")] == [6, 6]
    assert await storage.outbox.attempts("hook", 100, "sent") == []


async def test_d1_abandoned_deliveries_are_pruned_too(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kept in (("KEPT_ATTEMPTS", 5), ("KEPT_DEAD", 8)):
        monkeypatch.setattr(f"storage.sql.stores.outbox.{name}", kept)
    events = await prepared(storage, 20)
    await storage.outbox.claim("hook", NOW, 20, storage.lease)
    for event in events:
        await storage.outbox.settle([given_up(event.seq)], storage.lease)
    lines = await storage.outbox.attempts("hook", 100)
    assert [line.event_id for line in lines] == [id_of(event.seq, 5) for event in events[:-9:-1]]
    assert KEPT_DEAD == 10_000


async def test_d6_a_given_up_delivery_is_missed_from_its_first_event_on(storage: Storage) -> None:
    events = await prepared(storage, 4)
    await storage.outbox.claim("hook", NOW, 4, storage.lease)
    await storage.outbox.settle([sent(events[0].seq), given_up(events[2].seq)], storage.lease)
    assert (await hook_of(storage)).missed_after == events[2].seq - 1
    await storage.outbox.settle([given_up(events[1].seq), given_up(events[3].seq)], storage.lease)
    assert (await hook_of(storage)).missed_after == events[1].seq - 1


async def test_d6_all_events_of_a_given_up_digest_are_missed(storage: Storage) -> None:
    events = await prepared(storage, 3)

    def digest(bodies: Sequence[bytes]) -> tuple[str, bytes]:
        return "digest", msgspec.json.encode({"id": "digest", "events": [msgspec.Raw(body) for body in bodies]})

    portion = Portion(NOW, Millis(NOW + 60), 500, 1 << 20)
    await storage.outbox.freeze("hook", portion, digest, storage.lease)
    (claimed,) = await storage.outbox.claim("hook", Millis(NOW + 60), 9, storage.lease)
    await storage.outbox.settle([given_up(claimed.seq)], storage.lease)
    assert (claimed.seq, (await hook_of(storage)).missed_after) == (events[2].seq, events[0].seq - 1)


@pytest.mark.parametrize(
    ("enabled", "after", "to", "whole", "left"),
    [
        (True, 10, 99, True, None),
        (True, 5, 99, True, None),
        (True, 10, 50, False, 50),
        (False, 10, 99, True, 99),
        (True, 11, 99, True, 10),
        (True, 0, 9, False, 10),
    ],
)
async def test_d6_a_replay_clears_the_missed_events_it_covers(
    storage: Storage, enabled: bool, after: int, to: int, whole: bool, left: int | None
) -> None:
    await prepared(storage, 1)
    await storage.alerts.edit_destination("hook", lambda it: replace(it, missed_after=Seq(10), enabled=enabled))
    rows = [Match("hook", Seq(20), NOW)]
    done = Replayed("hook", Seq(after), Seq(to), whole)
    assert await storage.outbox.enqueue(rows, storage.lease, replayed=done) == 1
    assert (await hook_of(storage)).missed_after == left
    assert await storage.outbox.enqueue((), storage.lease, replayed=done) == 0


@pytest.mark.parametrize(
    ("named", "whole", "left"),
    [
        ([1, 3], True, None),  # 2 was sent, 4 waits
        ([1, 3], False, 4),
        ([1], True, 2),
        ([3], True, 0),
    ],
)
async def test_d6_a_replay_by_ids_makes_good_up_to_the_first_match_that_is_still_missed(
    storage: Storage, named: Sequence[int], whole: bool, left: int | None
) -> None:
    first, *rest = [event.seq for event in await prepared(storage, 5)]
    work, lease = storage.outbox, storage.lease
    await work.claim("hook", NOW, 5, lease)
    outcomes = [sent(first), given_up(rest[0]), sent(rest[1]), given_up(rest[2]), retry(rest[3], NOW + 9)]
    await work.settle(outcomes, lease)
    missed = (await hook_of(storage)).missed_after
    assert missed == rest[0] - 1
    matches = [(seq, id_of(seq, 5)) for seq in rest]
    done = Replayed("hook", missed, rest[3], whole, matches)
    rows = [Match("hook", rest[number - 1], NOW) for number in named]
    assert await work.enqueue(rows, lease, replayed=done) == len(rows)
    ends = [missed, rest[0], Seq(rest[2] - 1), rest[2], rest[3]]
    assert (await hook_of(storage)).missed_after == (None if left is None else ends[left])


async def test_a_repeated_or_interrupted_delivery_counts_as_a_duplicate(
    storage: Storage,
) -> None:
    events = await prepared(storage, 4)
    a, b, c, d = (event.seq for event in events)
    await storage.outbox.claim("hook", NOW, 4, storage.lease)
    await storage.outbox.settle([sent(a), sent(b), retry(c, NOW)], storage.lease)
    await storage.outbox.release(storage.lease)  # the last attempt was interrupted
    await storage.outbox.claim("hook", NOW, 4, storage.lease)
    await storage.outbox.settle([sent(c), sent(d)], storage.lease)
    assert (await storage.outbox.rates(["hook"]))["hook"] == Rates(0.2, 0.25)
    await storage.outbox.enqueue([Match("hook", a, NOW)], storage.lease)
    await storage.outbox.claim("hook", NOW, 4, storage.lease)
    await storage.outbox.settle([sent(a)], storage.lease)
    assert (await storage.outbox.rates(["hook"]))["hook"] == Rates(pytest.approx(1 / 6), 0.4)
