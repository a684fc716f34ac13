"""The stream's figures, each next to raw sockets, a bare framework or a bare SELECT in the same run.

Servers are separate processes (`stream_house.py`), the clients are sockets of this one (`stream_clients.py`). Times are
from a commit to a client's `recv`, so they include the clients' work, equal for both.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.log_loads import percentile
from bench.log_material import a_draft, seeded
from bench.stream_clients import REQUEST, Crowd, Server, mark_of
from bench.stream_house import FIRST, KEY, more_files
from bench.topic import Figure, Row, Topic, size
from storage.records.identity import Seq, id_of
from storage.sqlite.engine import DATABASE

CLIENTS, EVENTS, REQUESTS, ROUNDS = size(1_000, 10), size(20, 2), size(1_500, 20), size(2, 1)
MANY, MANY_EVENTS, IDLE = size(10_000, 20), size(6, 2), size(16.0, 0.5)
STALLED, STALLING = size(1_000, 10), size(120, 2)
FLOODED, RATE, SECONDS = size(500, 10), size(200, 20), size(60, 1)
PROBES, PROBED_EVERY, BESIDE = size(1_000, 10), 0.02, 200
LOGGED, REPLAYED = size(1_000_000, 2_000), size(200_000, 500)
TOPIC = Topic(
    "The stream",
    "CPU is the server's own, times are from a commit to a client's `recv`; the limits are raw sockets, a bare SELECT "
    "and bare Quart-Trio on Hypercorn.",
    ("api/streams", "api/server", "storage/tail.py", "storage/append.py"),
    {
        "cpu": Figure("CPU a delivery, 1,000 clients, one 1 KB event at a time", "us", "<= 2 x raw sockets"),
        "memory": Figure("memory a client", "KB", "<= 12 KB"),
        "p99": Figure("p99 from commit to 1,000 clients", "ms", "<= 2 x raw sockets"),
        "p99many": Figure("p99 from commit to 10,000 clients", "ms", "<= 2 x raw sockets"),
        "held": Figure("10,000 streams held: memory", "MB", "<= 400 MB"),
        "idle": Figure("10,000 silent streams, signs of life included: CPU, of a core", "%", "<= 10 %"),
        "lag": Figure("10,000 silent streams: largest lag of the loop", "ms", "<= 50 ms"),
        "stalled": Figure("p99 beside 1,000 that stopped reading (F5)", "ms", "<= 1.1 x without them"),
        "flood": Figure("CPU a delivery, 200 events/s to 500 clients for 60 s", "us", "<= 1 x one at a time"),
        "replay": Figure("CPU an event, replay from the middle of 1,000,000", "us", "<= 2 x SELECT"),
        "replayed": Figure("events replayed", "/s", ">= 250,000/s"),
        "get": Figure("CPU of an authed JSON GET", "us", "<= 1.2 x Quart-Trio"),
        "probe": Figure("a probe beside 100 GETs/s, and 20 events/s to 200 clients, p99", "ms", "<= 5 ms"),
    },
)


class Delivered(NamedTuple):
    """A crowd's cost: CPU microseconds per delivery, bytes per client, and seconds from commit to each client."""

    cpu: float
    memory: float
    times: Sequence[float]


def deliver(server: Server, crowd: Crowd, events: int) -> tuple[float, list[float]]:
    """Push events one after the other; return CPU microseconds per delivery, and each delivery's seconds."""
    began, times = server.stat()[0], list[float]()
    for _ in range(events):
        mark = server.push()
        seen = crowd.wait(mark)
        (committed,) = server.hear()
        times += [at - committed for at in seen]
    return 1e6 * (server.stat()[0] - began) / len(times), times


def gathered(server: Server, count: int) -> tuple[Crowd, float]:
    """Return a crowd, and the server's memory per client in bytes."""
    warm = Crowd(server, 20)  # load what only first requests need
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
    """F5: return the p99 of readers alone, and with clients that stopped reading."""
    server = Server("ours")
    crowd = Crowd(server, CLIENTS)
    _, alone = deliver(server, crowd, EVENTS)
    idlers = [server.connect(window=4_096) for _ in range(STALLED)]
    for client in idlers:
        client.sendall(REQUEST)
    deliver(server, crowd, STALLING)  # more than the kernel buffers for them
    _, beside = deliver(server, crowd, EVENTS)
    for client in idlers:
        client.close()
    crowd.close()
    server.close()
    return percentile(alone, 99), percentile(beside, 99)


class Held(NamedTuple):
    """Ten thousand streams: deliveries to them, then a quarter of a minute of silence."""

    delivered: Delivered
    idle: float
    lag: float


def held(kind: str) -> Held:
    server = Server(kind)
    crowd, memory = gathered(server, MANY)
    cpu, times = deliver(server, crowd, MANY_EVENTS)
    began = server.stat()[0]
    time.sleep(IDLE)  # all of them get a keepalive comment
    ended, _, lag = server.stat()
    crowd.close()
    server.close()
    return Held(Delivered(cpu, memory, times), (ended - began) / IDLE, lag)


def flood() -> float:
    """Return CPU microseconds per delivery in a flood."""
    server, events = Server("ours"), RATE * SECONDS
    crowd = Crowd(server, FLOODED)
    began = server.stat()[0]
    server.say(f"flood {events} {RATE}")
    crowd.count(mark_of(events))
    cpu = server.stat()[0] - began
    assert all(listener.events == events for listener in crowd.listeners), "deliveries were lost, or made twice"
    crowd.close()
    server.close()
    return 1e6 * cpu / (events * FLOODED)


class Replayed(NamedTuple):
    """CPU microseconds per event, of a bare SELECT made into frames and of ours; ours in events per second."""

    limit: float
    ours: float
    rate: float


def replay() -> Replayed:
    """Replay over HTTP from the middle of a long log, next to reading the same rows."""
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
        if number % 500 == 0:  # maximum requests per connection
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


def probes(kind: str) -> list[float]:
    """Return the seconds of probes, each on a new connection like a balancer's, beside GETs; with us, streams, too."""
    server, ends = Server(kind), threading.Event()
    crowd = Crowd(server, BESIDE if kind == "ours" else 0)
    if kind == "ours":
        server.say(f"flood {20 * 60} 20")
    busy = [threading.Thread(target=_beside, args=(server, ends)), threading.Thread(target=crowd.read, args=(ends,))]
    for thread in busy:
        thread.start()
    times = list[float]()
    for number in range(PROBES):
        path = (b"/healthz", b"/readyz")[number % 2]
        began = time.perf_counter()
        with server.connect() as client:
            client.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
        times.append(time.perf_counter() - began)
        time.sleep(PROBED_EVERY)
    ends.set()
    for thread in busy:
        thread.join()
    crowd.close()
    server.close()
    return times


def _beside(server: Server, ends: threading.Event) -> None:
    """Get an event 100 times a second, each on a new connection, as 500 on one would end it."""
    path = f"/v1/events/{id_of(FIRST, 7)}".encode()
    while not ends.wait(0.01):
        with server.connect() as client:
            client.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nX-API-Key: " + KEY.encode() + b"\r\n\r\n")
            client.recv(65536)


def lateness(key: str, raw: Sequence[float], ours: Sequence[float]) -> Row:
    return Row(key, 1e3 * percentile(ours, 99), 1e3 * percentile(raw, 99), f"last {1e3 * max(ours):.0f}")


def rows() -> Iterator[Row]:
    """Measure limits and ours in turns; takes about three minutes."""
    more_files()
    rounds = [(deliveries("raw"), deliveries("ours")) for _ in range(ROUNDS)]
    (raw_cpu, our_cpu), (raw_memory, our_memory) = (
        [statistics.median(each[side][field] for each in rounds) for side in (0, 1)] for field in (0, 1)
    )
    yield Row("cpu", our_cpu, raw_cpu)
    yield Row("memory", our_memory / 1024, raw_memory / 1024)
    yield lateness("p99", *([at for each in rounds for at in each[side].times] for side in (0, 1)))
    raw, ours = held("raw"), held("ours")
    yield lateness("p99many", raw.delivered.times, ours.delivered.times)
    yield Row("held", ours.delivered.memory * MANY / 1e6)
    yield Row("idle", 100 * ours.idle)
    yield Row("lag", 1e3 * ours.lag)
    alone, beside = stalled()
    yield Row("stalled", 1e3 * beside, 1e3 * alone)
    yield Row("flood", flood(), our_cpu)
    read = replay()
    yield Row("replay", read.ours, read.limit)
    yield Row("replayed", read.rate)
    answers = [(gets("bare"), gets("ours")) for _ in range(ROUNDS)]
    bare, mine = (statistics.median(each[side] for each in answers) for side in (0, 1))
    yield Row("get", mine, bare)
    yield lateness("probe", probes("bare"), probes("ours"))
