"""Both a destination's actor and the front end write its record; neither overwrites the other's changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from actors.delivery.actor import MOST_IN_FLIGHT
from actors.delivery.status import DestinationStatus
from actors.egress.failures import PostResult
from storage.records.destination import Destination
from tests.actors.delivery.rig import Arrival, Rig, answers
from tests.actors.matcher.rig import a_destination
from tests.support.build import NOW
from tests.support.in_loop import LoopReaders


async def test_a_change_of_url_or_switch_is_seen_by_the_next_delivery(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    async with rig.running():
        record = a_destination("hook")
        await rig.storage.alerts.put_destination(msgspec.structs.replace(record, url="https://moved.example/in"))
        await rig.registry.refresh()
        await rig.match("hook", "a")
        await trio.sleep(1)
        await rig.storage.alerts.put_destination(msgspec.structs.replace(record, enabled=False))
        await rig.registry.refresh()
        assert rig.registry.mailbox("hook") is None
        await rig.match("hook", "b")
        await trio.sleep(1)
        await rig.storage.alerts.put_destination(record)
        await rig.registry.refresh()
        await trio.sleep(1)
    assert [each.host for each in rig.arrivals] == ["moved.example", "hook.example"]


async def test_a_change_that_another_node_has_stored_is_seen_by_the_next_delivery(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(1)
        record = await rig.storage.alerts.destination("hook")
        assert record is not None
        await rig.storage.alerts.put_destination(msgspec.structs.replace(record, url="https://moved.example/in"))
        await rig.match("hook", "b")
        await trio.sleep(1)
        await rig.storage.alerts.put_destination(msgspec.structs.replace(record, enabled=False))
        await rig.match("hook", "c")
        await trio.sleep(1)
    assert [each.host for each in rig.arrivals] == ["hook.example", "moved.example"]
    assert await rig.storage.outbox.next_due("hook") is not None, "it is not claimed"


async def test_a_delivery_reads_nothing_but_its_claim(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    asked: list[str] = []
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(1)
        one = LoopReaders.one

        async def counted(self: LoopReaders, query: str, given: Sequence[Any] = ()) -> Any:
            asked.append(query)
            return await one(self, query, given)

        for title in "bc":
            await rig.match("hook", title)
            with monkeypatch.context() as patched:
                patched.setattr(LoopReaders, "one", counted)
                await trio.sleep(1)
    assert (len(rig.arrivals), asked) == (3, [])


async def test_a_reading_that_took_long_undoes_no_failure_that_was_counted_meanwhile(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    plain = rig.storage.alerts.destination

    async def slowly(destination_id: str) -> Destination | None:
        found = await plain(destination_id)
        await trio.sleep(0.3)
        return found

    async def fail(arrival: Arrival) -> PostResult:
        title = json.loads(arrival.body)["title"]
        await trio.sleep({"first": 0.1, "last": 0.3}.get(title, 0.2))
        return PostResult(500, 1, b"", None)

    rig.storage.alerts.destination = slowly  # type: ignore[method-assign]
    rig.receivers["hook.example"] = fail
    async with rig.running():
        await rig.match("hook", "first", "b", "c", "d", "last")
        await trio.sleep(3)
        record = await plain("hook")
        assert record is not None
        assert record.state == "failing"


async def test_a_destination_that_was_switched_back_to_active_is_served_as_an_active_one(
    autojump_clock: MockClock,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(410, 200)
    async with rig.running():
        await rig.match("hook", "a")
        await trio.sleep(1)
        await rig.match("hook", *[str(number) for number in range(20)])
        await trio.sleep(1)
        assert len(rig.arrivals) == 1
        await rig.storage.alerts.put_destination(a_destination("hook"))
        await rig.registry.refresh()
        await trio.sleep(1)
    assert (len(rig.arrivals), await rig.storage.outbox.backlog("hook")) == (21, 0)


async def test_a_change_during_a_write_of_state_is_not_lost(autojump_clock: MockClock) -> None:
    """The front end also writes the record: a rotation during the write must not be undone."""
    rig = Rig()
    await rig.prepare("hook")
    rig.receivers["hook.example"] = answers(500, takes=0.1)
    plain = rig.storage.alerts.destination
    changes = 0

    async def meanwhile(destination_id: str) -> Destination | None:
        nonlocal changes
        changes += 1
        found = await plain(destination_id)
        await rig.storage.alerts.edit_destination(
            "hook", lambda old: msgspec.structs.replace(old, label=old.label + "!")
        )
        return found

    rig.storage.alerts.destination = meanwhile  # type: ignore[method-assign]
    async with rig.running():
        await rig.match("hook", *[str(number) for number in range(20)])
        await trio.sleep(2)
    record = await plain("hook")
    assert record is not None
    assert (record.state, record.label) == ("failing", "hook" + "!" * changes)


async def test_a_change_during_a_write_is_stored_by_the_next_write(
    autojump_clock: object,
) -> None:
    rig = Rig()
    await rig.prepare("hook")
    async with rig.running():
        await trio.sleep(1)
        actor, edit = rig.registry._actors["hook"], rig.storage.alerts.edit_destination

        async def slow(*given: Any) -> Any:
            rig.storage.alerts.edit_destination = edit  # type: ignore[method-assign]
            found = await edit(*given)
            actor._set_status(DestinationStatus("disabled", NOW, 21, 1), "destination_disabled")
            return found

        rig.storage.alerts.edit_destination = slow  # type: ignore[method-assign]
        actor._set_status(DestinationStatus("failing", NOW, 20, 1), "destination_failing")
        for _ in range(2):
            await actor._settle()
        stored = await rig.storage.alerts.destination("hook")
        assert stored is not None and (stored.state, stored.owes) == ("disabled", "destination_disabled")


async def test_an_edit_during_a_reading_of_the_record_is_read_soon(autojump_clock: MockClock) -> None:
    rig = Rig()
    await rig.prepare("hook")
    await rig.match("hook", *(f"event {number}" for number in range(30)), nudge=False)
    plain, edits = rig.storage.alerts.destination, 1

    async def edited_meanwhile(destination_id: str) -> Destination | None:
        nonlocal edits
        found = await plain(destination_id)
        if edits:
            edits = 0
            moved = msgspec.structs.replace(a_destination("hook"), url="https://moved.example/in")
            await rig.storage.alerts.put_destination(moved)
            await rig.registry.refresh()
        return found

    rig.storage.alerts.destination = edited_meanwhile  # type: ignore[method-assign]
    async with rig.running():
        await trio.sleep(5)
    assert len(rig.ids("hook.example")) <= MOST_IN_FLIGHT and len(rig.ids()) == 30
