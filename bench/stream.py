"""The stream's figures, each beside raw sockets, a bare framework or a bare SELECT in the same run.

`python -m bench.stream` prints the rows, `python -m bench.stream minute` floods for a minute instead of six seconds.
Servers are processes of their own (`stream_house.py`), the clients sockets of this one (`stream_clients.py`). CPU is
the server's own, so other work disturbs it less; times are from a commit to a client's `recv`, so that they hold the
clients' work too: it is the same for both.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.log_loads import percentile
from bench.log_material import a_draft, seeded
from bench.stream_clients import REQUEST, Crowd, Server, mark_of
from bench.stream_house import FIRST, KEY, more_files
from storage.records.identity import Seq, id_of
from storage.sqlite.engine.folder import DATABASE

CLIENTS, EVENTS, REQUESTS, ROUNDS = 1_000, 20, 1_500, 2
MANY, MANY_EVENTS, IDLE = 10_000, 6, 16.0
STALLED = 1_000
FLOODED, RATE, SECONDS = 500, 200, 6
LOGGED, REPLAYED = 1_000_000, 200_000


class Delivered(NamedTuple):
    """What a crowd cost: CPU microseconds a delivery, bytes a client, and seconds from commit to each client."""

    cpu: float
    memory: float
    times: Sequence[float]


def deliver(server: Server, crowd: Crowd, events: int) -> tuple[float, list[float]]:
    """Push one event after the other; return CPU microseconds a delivery, and the seconds of every delivery."""
    began, times = server.stat()[0], list[float]()
    for _ in range(events):
        mark = server.push()
        seen = crowd.wait(mark)
        (committed,) = server.hear()
        times += [at - committed for at in seen]
    return 1e6 * (server.stat()[0] - began) / len(times), times


def gathered(server: Server, count: int) -> tuple[Crowd, float]:
    """Return a crowd, and how many bytes of the server's memory a client of it takes."""
    warm = Crowd(server, 20)  # what the first requests load is not a client's memory
    before = server.stat()[1]
    crowd = Crowd(server, count)
    memory = (server.stat()[1] - before) / count
    warm.close()
    return crowd, memory


def deliveries(kind: str) -> Delivered:
    server = Server(kind)
    crowd, memory = gathered(server, CLIENTS)
    cpu, times = deliver(server, crowd, EVENTS)
    crowd.close()
    server.close()
    return Delivered(cpu, memory, times)


def stalled() -> tuple[float, float]:
    """F5: return the p99 of readers alone, and of the same beside clients that have stopped reading."""
    server = Server("ours")
    crowd = Crowd(server, CLIENTS)
    _, alone = deliver(server, crowd, EVENTS)
    idlers = [server.connect(window=4_096) for _ in range(STALLED)]
    for client in idlers:
        client.sendall(REQUEST)
    deliver(server, crowd, 120)  # more than what the kernel takes for them
    _, beside = deliver(server, crowd, EVENTS)
    for client in idlers:
        client.close()
    crowd.close()
    server.close()
    return percentile(alone, 99), percentile(beside, 99)


class Held(NamedTuple):
    """Ten thousand streams: the deliveries to them, and then a quarter of a minute of silence."""

    delivered: Delivered
    idle: float
    lag: float


def held(kind: str) -> Held:
    server = Server(kind)
    crowd, memory = gathered(server, MANY)
    cpu, times = deliver(server, crowd, MANY_EVENTS)
    began = server.stat()[0]
    time.sleep(IDLE)  # all of them get a sign of life
    ended, _, lag = server.stat()
    crowd.close()
    server.close()
    return Held(Delivered(cpu, memory, times), (ended - began) / IDLE, lag)


def flood(seconds: int) -> tuple[float, int]:
    """Return CPU microseconds a delivery of a flood, and how many deliveries it lost or made twice."""
    server, events = Server("ours"), RATE * seconds
    crowd = Crowd(server, FLOODED)
    began = server.stat()[0]
    server.say(f"flood {events} {RATE}")
    crowd.count(mark_of(events))
    cpu = server.stat()[0] - began
    wrong = sum(abs(listener.events - events) for listener in crowd.listeners)
    crowd.close()
    server.close()
    return 1e6 * cpu / (events * FLOODED), wrong


class Replayed(NamedTuple):
    """Microseconds of CPU an event, of a bare SELECT made into frames and of ours; ours in events a second."""

    limit: float
    ours: float
    rate: float


def replay() -> Replayed:
    """Replay over HTTP from the middle of a long log, beside reading the same rows."""
    chance = random.Random(6)
    folder = Path(tempfile.mkdtemp(prefix="bench-stream-", dir=os.environ.get("BENCH_DIR")))  # noqa: TID251
    try:
        path = seeded(folder / "log", events=LOGGED, drafts=[a_draft(chance, 1_024) for _ in range(500)])
        c = sqlite3.connect(path / DATABASE)
        (first,) = c.execute("SELECT min(seq) FROM log").fetchone()
        at, began = first + LOGGED // 2, time.process_time()
        for _ in range(REPLAYED // 500):
            page = c.execute("SELECT seq, body FROM log WHERE seq>? ORDER BY seq LIMIT 500", (at,)).fetchall()
            b"".join([b"event: feed\ndata: %b\nid: %x\n\n" % (body, seq) for seq, body in page])
            at = page[-1][0]
        limit = (time.process_time() - began) / REPLAYED
        c.close()
        ours, rate = _replayed(Server("log", str(path)), id_of(Seq(first + LOGGED // 2), 0))
        return Replayed(1e6 * limit, 1e6 * ours, rate)
    finally:
        shutil.rmtree(folder)


def _replayed(server: Server, since: str) -> tuple[float, float]:
    client, mark, got, rest = server.connect(), b"event: feed\n", 0, b""
    client.settimeout(30)
    began, cpu = time.perf_counter(), server.stat()[0]
    client.sendall(REQUEST.replace(b"/v1/stream ", f"/v1/stream?since={since} ".encode()))
    while got < REPLAYED:
        data = rest + client.recv(1 << 20)
        assert len(data) > len(rest), "the server has gone"
        got += data.count(mark)
        rest = data[1 - len(mark) :]
    took, cpu = time.perf_counter() - began, server.stat()[0] - cpu
    client.close()
    server.close()
    return cpu / got, got / took


def gets(kind: str) -> float:
    """Return CPU microseconds of an authorised GET of one event."""
    server = Server(kind)
    path = f"/v1/events/{id_of(FIRST, 7)}".encode()
    request = b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nX-API-Key: " + KEY.encode() + b"\r\n\r\n"
    client = server.connect()
    for number in range(REQUESTS):
        if number == REQUESTS // 5:
            began = server.stat()[0]
        if number % 500 == 0:  # a connection serves so many requests at most
            client.close()
            client = server.connect()
        client.sendall(request)
        got = b""
        while b'"title"' not in got:
            data = client.recv(65536)
            assert data, "the server has gone"
            got += data
    cpu = (server.stat()[0] - began) / (REQUESTS * 4 / 5)
    client.close()
    server.close()
    return cpu * 1e6


def row(figure: str, goal: str, ours: str, met: bool, limit: str = "", ratio: float | None = None) -> dict[str, Any]:
    return {"figure": f"stream: {figure}", "goal": goal, "limit": limit, "ours": ours, "ratio": ratio, "met": met}


def beside(figure: str, goal: str, limit: float, ours: float, unit: str, most: float) -> dict[str, Any]:
    """Return a row whose ratio to its limit is bounded."""
    texts = (f"{ours:,.1f} {unit}", ours / limit <= most, f"{limit:,.1f} {unit}", ours / limit)
    return row(figure, goal, *texts)


def lateness(clients: int, raw: Sequence[float], ours: Sequence[float]) -> dict[str, Any]:
    limit, mine = percentile(raw, 99), percentile(ours, 99)
    texts = [f"{1e3 * p99:.0f} ms (last {1e3 * max(all_):.0f})" for p99, all_ in ((mine, ours), (limit, raw))]
    figure = f"p99 from commit to {clients:,} clients"
    return row(figure, "<= 2 x raw sockets", texts[0], mine <= 2 * limit, texts[1], mine / limit)


def of_a_thousand() -> tuple[list[dict[str, Any]], float]:
    rounds = [(deliveries("raw"), deliveries("ours")) for _ in range(ROUNDS)]
    (raw_cpu, our_cpu), (raw_memory, our_memory) = (
        [statistics.median(each[side][field] for each in rounds) for side in (0, 1)] for field in (0, 1)
    )
    raw_times, our_times = ([at for each in rounds for at in each[side].times] for side in (0, 1))
    name = f"{CLIENTS:,} clients, one 1 KB event at a time"
    memory = [raw_memory / 1024, our_memory / 1024]
    return [
        beside(f"CPU a delivery, {name}", "<= 2 x raw sockets", raw_cpu, our_cpu, "us", 2.0),
        beside("memory a client", "<= 24 KB", memory[0], memory[1], "KB", 24 / max(memory[0], 0.1)),
        lateness(CLIENTS, raw_times, our_times),
    ], our_cpu


def of_many() -> list[dict[str, Any]]:
    raw, ours = held("raw"), held("ours")
    memory, idle, lag = ours.delivered.memory * MANY / 1e6, ours.idle, ours.lag * 1e3
    texts = (f"{memory:.0f} MB", f"{100 * idle:.1f} % of a core", f"{lag:.0f} ms")
    return [
        lateness(MANY, raw.delivered.times, ours.delivered.times),
        row(f"{MANY:,} streams held: memory", "<= 400 MB", texts[0], memory <= 400),
        row(f"{MANY:,} silent streams, signs of life included: CPU", "<= 10 %", texts[1], idle <= 0.1),
        row(f"{MANY:,} silent streams: largest lag of the loop", "<= 50 ms", texts[2], lag <= 50),
    ]


def rows(seconds: int = SECONDS) -> list[dict[str, Any]]:
    """Measure, the limits and ours in turn; about two minutes."""
    more_files()
    found, one_at_a_time = of_a_thousand()
    found += of_many()
    alone, among = stalled()
    goal = f"<= 1.1 x without the {STALLED}"
    found.append(beside(f"p99 beside {STALLED} that stopped reading (F5)", goal, alone * 1e3, among * 1e3, "ms", 1.1))
    cpu, wrong = flood(seconds)
    said = f"{cpu:.1f} us" + (f", {wrong} LOST OR TWICE" if wrong else ", none lost")
    figure = f"CPU a delivery, {RATE} events/s to {FLOODED} clients for {seconds} s"
    met = cpu < one_at_a_time and not wrong
    found.append(row(figure, "below one at a time", said, met, f"{one_at_a_time:.1f} us", cpu / one_at_a_time))
    read = replay()
    texts = (f"{read.ours:.1f} us ({read.rate:,.0f}/s)", read.ours <= 2 * read.limit and read.rate >= 50_000)
    figure, goal = f"CPU an event, replay from the middle of {LOGGED:,}", "<= 2 x bare SELECT, >= 50,000/s"
    found.append(row(figure, goal, *texts, f"{read.limit:.1f} us", read.ours / read.limit))
    answers = [(gets("bare"), gets("ours")) for _ in range(ROUNDS)]
    bare, mine = (statistics.median(each[side] for each in answers) for side in (0, 1))
    found.append(beside("CPU of an authed JSON GET", ">= 75 % of bare Quart-Trio", bare, mine, "us", 1 / 0.75))
    return found


if __name__ == "__main__":
    print(json.dumps(rows(60 if "minute" in sys.argv else SECONDS), indent=1))
