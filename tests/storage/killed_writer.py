"""The process that the tests kill: `python -m tests.storage.killed_writer FOLDER`.

It imports everything once. For each line `SEED START` on its input it forks a life on the folder that works until it is
killed; a fork is a third of a second faster than a start. Each life opens the storage, harvests 20 sources with the
same stories at once, and matches the committed events. It prints `ACK SOURCE FIRST LAST SEQ...` after each
acknowledgement. `PID n` comes before the lines of a life, `DEAD` after them.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from contextlib import suppress
from pathlib import Path

import trio

from storage.append import events_of
from storage.errors import Duplicate
from storage.records.destination import Match
from storage.records.event import EVERYTHING
from storage.records.identity import START
from storage.sql.storage import Storage
from storage.sql.stores import log
from storage.sqlite import open_sqlite
from tests.storage.contract.builders import (
    NOW,
    CountingMint,
    a_destination,
    a_harvest,
    a_source,
    a_source_id,
    a_state,
    an_alert,
)
from tests.storage.contract.test_contract_stories import Teller

SOURCES = 20
LOT = 16
"""A small batch of story marks, so that a few appends fill one."""


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


async def add(storage: Storage, number: int) -> None:
    with suppress(Duplicate):
        await storage.sources.add(a_source(number), a_state(number), storage.lease)


async def harvest(storage: Storage, number: int, teller: Teller, chance: random.Random) -> None:
    """Harvest new items without end; the state records how many."""
    watched = await storage.sources.get(a_source_id(number))
    assert watched is not None
    given = watched.hot.events
    while True:
        upto = given + chance.choice((1, 1, 3, 10))
        titles = [str(item) for item in range(given, upto)]
        look = a_harvest(number, *titles, base=b"seen %d" % upto, events=upto)
        events = events_of(await teller.append([look]))
        say("ACK", number, given, upto, *[event.seq for event in events])
        given = upto
        await trio.sleep(chance.random() * 0.005)


async def match(storage: Storage) -> None:
    """Match every event for one destination, advancing the durable cursor."""
    while True:
        cursor = await storage.outbox.cursor("matcher")
        page = await storage.log.read(cursor or START, 50, EVERYTHING)
        if page.scanned > (cursor or START):
            matches = [Match("hook", event.seq, NOW) for event in page.events]
            await storage.outbox.advance("matcher", cursor, page.scanned, matches, storage.lease)
        await trio.sleep(0.002)


async def live(folder: Path, seed: int, start: int) -> None:
    chance = random.Random(seed)
    storage = await open_sqlite(folder, clock=lambda: 1.8e9, owner="killed", warn=lambda text: say("WARN", text))
    await storage.alerts.put(an_alert())
    await storage.alerts.put_destination(a_destination())
    async with trio.open_nursery() as nursery:
        for number in range(SOURCES):
            nursery.start_soon(add, storage, number)
    log.LOT = LOT
    teller = Teller(storage, CountingMint(start))
    async with trio.open_nursery() as nursery:
        for number in range(SOURCES):
            nursery.start_soon(harvest, storage, number, teller, chance)
        nursery.start_soon(match, storage)


def main() -> None:
    for line in sys.stdin:
        seed, start = map(int, line.split())
        pid = os.fork()
        if pid == 0:
            try:
                trio.run(live, Path(sys.argv[1]), seed, start)
            except BaseException:
                traceback.print_exc()  # a life must end only by the kill: show any other reason
            finally:
                os._exit(1)
        say("PID", pid)
        os.waitpid(pid, 0)
        say("DEAD")


if __name__ == "__main__":
    main()
