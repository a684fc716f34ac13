from __future__ import annotations

from typing import NoReturn, get_args

import msgspec
import pytest
import trio

from storage.records.alert import KEPT_DAYS, Matching
from storage.records.destination import Hit, Match
from storage.records.identity import Millis, Seq, day_of
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW, a_destination, an_alert


async def test_an_alert_comes_back_as_it_was_put_and_can_be_replaced(storage: Storage) -> None:
    alert = an_alert("one", source_ids=("a", "b"), channel="pricing", notices=(), match_count=3)
    await storage.alerts.put(alert)
    assert await storage.alerts.get("one") == alert
    changed = msgspec.structs.replace(alert, name="renamed", enabled=False)
    await storage.alerts.put(changed)
    assert list(await storage.alerts.all()) == [changed]
    assert await storage.alerts.get("two") is None


@pytest.mark.parametrize("match", get_args(Matching))
async def test_an_alerts_part_is_stored_and_can_be_changed(storage: Storage, match: Matching) -> None:
    await storage.alerts.put(an_alert("one"))
    await storage.alerts.edit("one", lambda alert: msgspec.structs.replace(alert, match=match))
    assert await storage.alerts.get("one") == an_alert("one", match=match)


async def test_alerts_are_listed_oldest_first(storage: Storage) -> None:
    for name, age in (("b", 2), ("a", 2), ("c", 1)):
        await storage.alerts.put(an_alert(name, NOW + age))
    assert [alert.id for alert in await storage.alerts.all()] == ["c", "a", "b"]


async def test_destinations_belong_to_an_alert(storage: Storage) -> None:
    await storage.alerts.put(an_alert("one"))
    await storage.alerts.put(an_alert("two"))
    for name, alert in (("x", "one"), ("y", "two"), ("z", "one")):
        await storage.alerts.put_destination(a_destination(name, alert))
    assert [each.id for each in await storage.alerts.destinations("one")] == ["x", "z"]
    assert [each.id for each in await storage.alerts.destinations()] == ["x", "y", "z"]
    assert await storage.alerts.destination("y") == a_destination("y", "two")
    assert await storage.alerts.destination("unknown") is None


async def test_a_destination_of_an_alert_that_is_gone_is_not_added(storage: Storage) -> None:
    await storage.alerts.put_destination(a_destination("x", "gone"))
    assert await storage.alerts.destination("x") is None


async def test_replacing_an_alert_keeps_its_destinations(storage: Storage) -> None:
    """A replaced row must not delete destinations or waiting deliveries with it."""
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    await storage.outbox.advance("matcher", None, Seq(1), [Match("hook", Seq(1), NOW)], storage.lease)
    await storage.alerts.put(an_alert(name="renamed"))
    await storage.alerts.put_destination(a_destination(label="renamed"))
    assert [each.label for each in await storage.alerts.destinations("alert")] == ["renamed"]
    assert await storage.outbox.backlog("hook") == 1


async def test_deleting_an_alert_takes_its_destinations_and_their_deliveries(storage: Storage) -> None:
    await storage.alerts.put(an_alert("one"))
    await storage.alerts.put(an_alert("two"))
    await storage.alerts.put_destination(a_destination("x", "one"))
    await storage.alerts.put_destination(a_destination("y", "two"))
    matches = [Match(name, Seq(seq), NOW) for name in ("x", "y") for seq in (1, 2)]
    await storage.outbox.advance("matcher", None, Seq(2), matches, storage.lease)
    assert await storage.alerts.delete("one")
    assert await storage.alerts.get("one") is None
    assert await storage.alerts.destination("x") is None
    assert (await storage.outbox.backlog("x"), await storage.outbox.backlog("y")) == (0, 2)
    assert not await storage.alerts.delete("one")


async def test_deleting_a_destination_takes_its_deliveries_only(storage: Storage) -> None:
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination("x"))
    await storage.alerts.put_destination(a_destination("y"))
    matches = [Match(name, Seq(1), NOW) for name in ("x", "y")]
    await storage.outbox.advance("matcher", None, Seq(1), matches, storage.lease)
    assert await storage.alerts.delete_destination("x")
    assert (await storage.outbox.backlog("x"), await storage.outbox.backlog("y")) == (0, 1)
    assert not await storage.alerts.delete_destination("x")
    assert await storage.alerts.get("alert") is not None


async def test_an_edit_is_made_of_the_record_as_it_is(storage: Storage) -> None:
    """Two simultaneous edits of different fields must both survive."""
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())

    async def append(letter: str) -> None:
        await storage.alerts.edit("alert", lambda old: msgspec.structs.replace(old, name=old.name + letter))
        await storage.alerts.edit_destination(
            "hook", lambda old: msgspec.structs.replace(old, label=old.label + letter)
        )

    async with trio.open_nursery() as nursery:
        for letter in "abcdef":
            nursery.start_soon(append, letter)
    (alert,), (hook,) = await storage.alerts.all(), await storage.alerts.destinations()
    assert sorted(alert.name) == sorted("alert" + "abcdef")
    assert sorted(hook.label) == sorted("hook" + "abcdef")


async def test_an_edit_returns_the_stored_record_or_none(storage: Storage) -> None:
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    assert await storage.alerts.edit("gone", lambda old: old) is None
    assert await storage.alerts.edit_destination("gone", lambda old: old) is None
    edited = await storage.alerts.edit("alert", lambda old: msgspec.structs.replace(old, enabled=False))
    assert (edited, edited and edited.enabled) == (await storage.alerts.get("alert"), False)
    changed = await storage.alerts.edit_destination("hook", lambda old: msgspec.structs.replace(old, state="failing"))
    assert (changed, changed and changed.state) == (await storage.alerts.destination("hook"), "failing")


async def test_figures_are_moved_by_the_work_and_taken_back_by_no_edit(storage: Storage) -> None:
    await storage.alerts.put(an_alert())
    before = an_alert(language="sv")
    for turn, count in ((1, 3), (2, 1)):
        hits = [Hit("alert", count, Millis(NOW + turn)), Hit("gone", 1, NOW)]
        expect = Seq(turn - 1) or None
        await storage.outbox.advance("matcher", expect, Seq(turn), [], storage.lease, hits=hits)
    await storage.alerts.put(before)
    await storage.alerts.edit("alert", lambda old: msgspec.structs.replace(old, match_count=0, last_match_at=None))
    found = await storage.alerts.get("alert")
    assert found is not None
    assert (found.match_count, found.last_match_at) == (4, NOW + 2)
    assert list(await storage.alerts.all()) == [found]


async def test_a_refused_change_raises_and_changes_nothing(storage: Storage) -> None:
    """The writer compares the If-Match, so no other change comes between the comparison and the write."""
    await storage.alerts.put(an_alert("one"))
    await storage.alerts.put_destination(a_destination("x", "one"))

    def refuse(_: object) -> NoReturn:
        raise ValueError("not this one")

    for refused in (
        lambda: storage.alerts.edit("one", refuse),
        lambda: storage.alerts.delete("one", refuse),
        lambda: storage.alerts.edit_destination("x", refuse),
        lambda: storage.alerts.delete_destination("x", refuse),
    ):
        with pytest.raises(ValueError, match="not this one"):
            await refused()
    assert await storage.alerts.get("one") == an_alert("one")
    assert await storage.alerts.destination("x") == a_destination("x", "one")
    assert not await storage.alerts.delete("unknown", refuse)
    assert await storage.alerts.delete_destination("x", lambda _: None)
    assert await storage.alerts.delete("one", lambda _: None)


async def test_matches_are_counted_by_day_for_a_month(storage: Storage) -> None:
    today, day = day_of(NOW), 86_400_000
    await storage.alerts.put(an_alert("one"))
    await storage.alerts.put(an_alert("two"))
    lease, cursor = storage.lease, None
    moments = (NOW - KEPT_DAYS * day, NOW - day, NOW, NOW)
    for turn, at in enumerate(moments, 1):
        hits = [Hit("one", turn, Millis(at)), Hit("gone", 1, Millis(at))]
        await storage.outbox.advance("matcher", cursor, Seq(turn), [], lease, hits=hits)
        cursor = Seq(turn)
    days = range(today - KEPT_DAYS, today + 1)
    assert dict(await storage.alerts.matched(["one", "two", "gone"], days)) == {"one": {today - 1: 2, today: 7}}
    assert dict(await storage.alerts.matched(["one"], [today - 2])) == {}
    await storage.alerts.delete("one")
    await storage.alerts.put(an_alert("one"))
    assert dict(await storage.alerts.matched(["one"], days)) == {}
