"""Repeated `kill -9` on one folder: acknowledged data stays, and nothing is there twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from storage.records.event import Stored, id_in
from storage.records.identity import COUNTER_BITS, SourceId, seq_of
from storage.sql.stores.log import WEEK
from storage.sqlite.engine import DATABASE
from tests.storage.contract.builders import NOW, a_source_id
from tests.storage.contract.test_contract_stories import Titles
from tests.storage.killed_writer import SOURCES

LIVES = 50
DAY = 86_400_000


def live_and_die(process: subprocess.Popen[str], chance: random.Random) -> Iterator[list[int]]:
    """Let a life work, kill it, and yield each acknowledgement: source, first item, end, positions."""
    assert process.stdin is not None
    assert process.stdout is not None
    # The wall clock steps by up to a month in either direction between two lives.
    start = (NOW + chance.choice((0, DAY, -DAY, 30 * DAY, -30 * DAY))) << COUNTER_BITS
    process.stdin.write(f"{chance.getrandbits(32)} {start}\n")
    process.stdin.flush()
    word, pid = process.stdout.readline().split()
    assert word == "PID"
    early = chance.random() < 0.2  # some die while opening the database
    if not early:
        yield from acknowledged(process.stdout.readline())
    time.sleep(chance.random() * (0.02 if early else 0.1))
    os.kill(int(pid), signal.SIGKILL)
    while (line := process.stdout.readline()) != "DEAD\n":
        yield from acknowledged(line)


def acknowledged(line: str) -> Iterator[list[int]]:
    word, *numbers = line.split()
    assert word == "ACK", line
    yield [int(number) for number in numbers]


@pytest.mark.real
def test_fifty_kills_lose_nothing_acknowledged_and_repeat_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    command = [sys.executable, "-m", "tests.storage.killed_writer", str(tmp_path)]
    acks: list[list[int]] = []
    lives = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(LIVES):
            before = len(acks)
            acks += live_and_die(process, chance)
            lives += len(acks) > before
        assert process.stdin is not None
        process.stdin.close()
    assert lives > LIVES // 2, "most of the lives should have had time to work"
    check(tmp_path, acks)


def check(folder: Path, acks: list[list[int]]) -> None:
    database = sqlite3.connect(folder / DATABASE)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    rows = database.execute("SELECT seq, id, body FROM log JOIN source_key ON key=source ORDER BY seq").fetchall()
    log = [Stored(seq, SourceId(source), 1, body) for seq, source, body in rows]
    at = {event.seq: event for event in log}

    ids = [id_in(event.body) for event in log]
    assert ids == sorted(set(ids)), "ids rise strictly, although the clock stepped"
    assert [seq_of(event_id) for event_id in ids] == [event.seq for event in log]

    items: dict[str, list[int]] = defaultdict(list)
    for event in log:
        items[event.source].append(title(event))
    assert all(got == list(range(len(got))) for got in items.values()), "each item once, in its order, without a gap"

    for number, first, end, *seqs in acks:
        found = [(at[seq].source, title(at[seq])) for seq in seqs]
        assert found == [(a_source_id(number), item) for item in range(first, end)]

    states = database.execute(
        "SELECT id, h.body, b.body FROM source_key k JOIN source_hot h ON h.key=k.key JOIN source_base b ON b.key=k.key"
    ).fetchall()
    assert len(states) == SOURCES
    for source, hot, base in states:
        given = len(items[source])
        assert msgspec.msgpack.decode(hot)["events"] == given, "a source's state agrees with its events"
        assert base == (b"seen %d" % given if given else b"")

    (cursor,) = database.execute("SELECT seq FROM cursor").fetchone()
    outbox = [seq for (seq,) in database.execute("SELECT seq FROM outbox ORDER BY seq")]
    assert outbox == [event.seq for event in log if event.seq <= cursor], "the outbox is what the cursor has passed"
    check_stories(database, log)
    database.close()


def check_stories(database: sqlite3.Connection, log: list[Stored]) -> None:
    """The marks in the table agree with the log: no kill left a mark or an event alone."""
    newest, seqs = dict[int, int](), {event.seq for event in log}
    (written,) = database.execute("SELECT value FROM fact WHERE name='stories'").fetchone()
    for event in log:
        story = seq_of(msgspec.json.decode(event.body)["story"])
        assert story <= event.seq and story in seqs
        if event.seq <= written:
            newest |= dict.fromkeys(Titles().marks_of(event), event.seq)
    marks = dict(database.execute("SELECT mark, seq FROM story_mark").fetchall())
    assert log[0].seq < written <= log[-1].seq and len(marks) > 20
    assert marks.items() <= newest.items()
    assert all(seq < written - WEEK for mark, seq in newest.items() if mark not in marks), "only old ones are dropped"


def title(event: Stored) -> int:
    return int(msgspec.json.decode(event.body)["title"])
