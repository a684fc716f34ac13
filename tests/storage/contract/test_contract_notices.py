"""One commit writes a destination's notice and clears its debt."""

from __future__ import annotations

from storage.append import events_of
from storage.records.destination import Notice
from storage.records.event import EVERYTHING, Filter
from storage.records.identity import SERVICE, START
from storage.records.source import Harvest
from storage.records.tiers import Kind
from storage.sql.storage import Storage
from tests.storage.contract.builders import (
    CountingMint,
    a_destination,
    a_draft,
    a_harvest,
    a_source,
    a_state,
    an_alert,
    stamp,
)
from tests.storage.contract.engines import Engine

FAILING: Notice = "destination_failing"


def a_notice(debtor: str | None = "hook", kind: str = FAILING, title: str = "failing") -> Harvest:
    return Harvest(SERVICE, (a_draft(title, alert_type=kind),), None, debtor)


async def indebted(storage: Storage) -> None:
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination(owes=FAILING))
    await storage.alerts.put_destination(a_destination("other"))


async def test_a_notice_is_committed_once_and_ends_the_debt(storage: Storage) -> None:
    await indebted(storage)
    mint = CountingMint()
    (event,) = events_of(await storage.log.append([a_notice(), a_notice()], storage.lease, mint, stamp))
    assert (event.source, event.kind) == (SERVICE, Kind.NOTICE)
    hook = await storage.alerts.destination("hook")
    assert hook is not None and hook.owes is None
    assert list(events_of(await storage.log.append([a_notice()], storage.lease, mint, stamp))) == []


async def test_a_notice_that_is_not_owed_is_skipped_and_its_neighbours_are_not(storage: Storage) -> None:
    await indebted(storage)
    await storage.sources.add(a_source(1), a_state(1), storage.lease)
    harvests = [a_notice("other"), a_notice(kind="destination_disabled"), a_notice("gone"), a_harvest(1, "news")]
    events = events_of(await storage.log.append(harvests, storage.lease, CountingMint(), stamp))
    assert [event.source for event in events] == [a_source(1).id]
    hook = await storage.alerts.destination("hook")
    assert hook is not None and hook.owes == FAILING


async def test_notices_of_the_service_are_found_by_its_source(engine: Engine) -> None:
    storage, mint = await engine.start(), CountingMint()
    for title in ("one", "two"):
        await storage.log.append([a_notice(None, "watching_stalled", title)], storage.lease, mint, stamp)
    await storage.aclose()
    storage = await engine.start()
    everything = (await storage.log.read(START, 10, EVERYTHING)).events
    assert [event.source for event in everything] == [SERVICE, SERVICE]
    assert (await storage.log.read(START, 10, Filter(sources=(SERVICE,)))).events == everything
    await storage.aclose()
