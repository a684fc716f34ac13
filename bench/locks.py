"""Three nodes' storages on one PostgreSQL under deliveries and edits: do they deadlock, or wait long for a lock?

`python -m bench.locks --seconds 1800` opens three engines. Each appends events; one matches them for all destinations;
each claims and settles the deliveries of its share, without sending them; and each edits, adds and deletes alerts and
destinations. The server counts the deadlocks and logs each wait for a lock beyond 50 ms. It ends with 1 after a
deadlock, or a wait beyond 500 ms.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from itertools import count

import psycopg
import trio
from msgspec.structs import replace

from bench.log_material import DRAFTS, NOW, Mint, a_harvest, signed
from bench.nodes import BATCH, on_server, watched
from storage.append import events_of
from storage.errors import AlertsMoved, CursorMoved
from storage.records.destination import Hit, Match, Outcome
from storage.records.event import MATCHED
from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.storage.contract.builders import a_destination, an_alert
from tests.support.postgres import Cluster, durable

NODES, ALERTS, DESTINATIONS = 3, 4, 20
LONGEST = 500.0
"""Milliseconds that a statement may wait for a lock."""
EDITS_EVERY = 0.2
_WAITS = re.compile(r"process \d+ (?:acquired|still waiting for) (\w+) on (.*) after ([\d.]+) ms")
_MEETS = re.compile(r"ERROR:  deadlock detected\n(.*?CONTEXT:[^\n]*)", re.S)
"""Which two statements met."""
_DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname=current_database()"


class Load:
    """What all nodes share. `done`: how often each thing was done."""

    def __init__(self, rate: float, seed: int) -> None:
        self.chance = random.Random(seed)
        self.pause = DESTINATIONS / rate
        self.alerts, self.destinations = [""] * ALERTS, [""] * DESTINATIONS
        self.ids = count()
        self.done: Counter[str] = Counter()
        self.mint = Mint()

    async def begin(self, storage: Storage) -> None:
        await watched(storage)
        for place in range(ALERTS):
            await self.add_alert(storage, place)

    async def add_alert(self, storage: Storage, place: int) -> None:
        """Put a new alert with its destinations, in random order, into a place."""
        alert = self.new_id()
        await storage.alerts.put(an_alert(alert))
        self.alerts[place] = alert
        theirs = list(range(place, DESTINATIONS, ALERTS))
        self.chance.shuffle(theirs)
        for each in theirs:
            await self.add(storage, each)

    async def add(self, storage: Storage, place: int) -> None:
        name = self.new_id()
        await storage.alerts.put_destination(a_destination(name, self.alerts[place % ALERTS]))
        self.destinations[place] = name  # only now: an id is known once it is stored

    def new_id(self) -> str:
        """Return an id that nothing else has or will have, in random order."""
        return f"{self.chance.getrandbits(32):08x}-{next(self.ids)}"

    async def match(self, storage: Storage) -> None:
        """Append an event and put it into the outbox for every destination, in random order."""
        while True:
            await trio.sleep(self.pause * self.chance.uniform(0.5, 1.5))
            harvest = a_harvest(self.chance.randrange(BATCH), DRAFTS[0])
            events = events_of(await storage.log.append([harvest], storage.lease, self.mint, signed))
            to = [Match(name, event.seq, Millis(NOW)) for event in events for name in self.destinations]
            self.chance.shuffle(to)
            hits = [Hit(alert, 1, Millis(NOW)) for alert in self.alerts]
            at = await storage.outbox.cursor(MATCHED)
            with suppress(CursorMoved, AlertsMoved):
                await storage.outbox.advance(MATCHED, at, events[-1].seq, to, storage.lease, hits=hits)
            self.done["events"] += 1

    async def deliver(self, storage: Storage, place: int) -> None:
        """Claim and settle, as a destination's actor does."""
        while True:
            await trio.sleep(self.chance.uniform(0.0, 0.4))
            name = self.destinations[place]
            claimed = await storage.outbox.claim(name, Millis(NOW + 1), 32, storage.lease)
            sent = [Outcome(name, each.seq, "sent", Millis(NOW), 200) for each in claimed]
            if sent:
                await storage.outbox.settle(sent, storage.lease)
            self.done["deliveries"] += len(sent)

    async def edit(self, storage: Storage) -> None:
        """Edit alerts and destinations; delete some, an alert with all its destinations, and add others."""
        while True:
            await trio.sleep(self.chance.expovariate(1 / EDITS_EVERY))
            place = self.chance.randrange(DESTINATIONS)
            alert, name = self.alerts[place % ALERTS], self.destinations[place]
            match self.chance.randrange(10):
                case 0:
                    await storage.alerts.delete(alert)
                    await self.add_alert(storage, place % ALERTS)
                case 1 | 2:
                    await storage.alerts.delete_destination(name)
                    await self.add(storage, place)
                case 3 | 4 | 5:
                    await storage.alerts.edit(alert, lambda it: replace(it, updated_at=Millis(it.updated_at + 1)))
                case _:
                    at = Millis(NOW + self.chance.randrange(1 << 20))
                    await storage.alerts.edit_destination(name, lambda it, at=at: replace(it, updated_at=at))  # type: ignore[misc]
            self.done["edits"] += 1


async def run(cluster: Cluster, seconds: float, rate: float, seed: int) -> tuple[int, Sequence[float], Counter[str]]:
    """Return the deadlocks, the waits beyond 50 ms in milliseconds, and what was done."""
    for setting in ("log_lock_waits=on", "deadlock_timeout='50ms'"):
        cluster.run(f"ALTER SYSTEM SET {setting}")
    cluster.run("SELECT pg_reload_conf()")
    url, load = cluster.url(cluster.empty()), Load(rate, seed)
    log = cluster.folder / "log"
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(on_server(url, f"node{number}")) for number in range(NODES)]
        await load.begin(nodes[0])
        start = log.stat().st_size
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(load.match, nodes[0])
                for place in range(DESTINATIONS):
                    nursery.start_soon(load.deliver, nodes[place % NODES], place)
                for node in nodes:
                    nursery.start_soon(load.edit, node)
    await trio.sleep(1)  # the server writes its statistics at the end of a session
    with psycopg.connect(url, autocommit=True) as connection:
        (deadlocks,) = connection.execute(_DEADLOCKS).fetchone() or (0,)
    logged = log.read_bytes()[start:].decode("utf-8", "replace")
    print(*_MEETS.findall(logged)[:9], sep="\n", file=sys.stderr)
    waits = [float(ms) for _, _, ms in _WAITS.findall(logged)]
    return deadlocks, sorted(waits), load.done


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.locks", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--rate", type=float, default=100.0, help="deliveries a second")
    given = parser.parse_args()
    deadlocks, waits, done = trio.run(run, durable(), given.seconds, given.rate, given.seed)
    rates = ", ".join(f"{count} {name} ({count / given.seconds:.1f}/s)" for name, count in done.items())
    longest = waits[-1] if waits else 0.0
    print(f"{rates}\n{deadlocks} deadlocks, {len(waits)} waits for a lock beyond 50 ms, the longest {longest:.0f} ms")
    return int(deadlocks > 0 or longest > LONGEST)


if __name__ == "__main__":
    sys.exit(main())
