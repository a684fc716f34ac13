"""A flood of frames on one push source: frames taken, and the effect on other tasks.

A server in a separate process sends frames of 200 bytes as fast as they are read. Lags are in real time, from a task
that wakes every 5 ms, and mean little on a busy machine.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio
from trio_websocket import connect_websocket

from actors.egress.traffic import build_egress
from actors.egress.transport import SystemResolver, TcpConnector
from actors.messages.workers import RecorderMessage
from actors.recorder.actor import Recorder, SigningKeys
from actors.settings import Settings
from actors.signatures import new_signing_key
from actors.sources.admission import Admission
from actors.sources.ports import LiveSource, Ports
from actors.sources.push.actor import PushSource
from actors.world import World
from bench.log_loads import loop_lag, opened, percentile
from bench.topic import ROOT, Figure, Row, Topic, size
from storage.records.identity import Millis, SourceId, id_of, seq_at
from storage.records.source import Detection, Source, SourceRuntime, SourceState
from storage.sql.storage import Storage
from supervision import ChildSpec, Mailbox, Strategy, Supervisor
from tests.support.inline_jail import InlineJail
from tests.support.passwords import NoPasswords

SECONDS, WARM = size(3.0, 0.3), 0.5
FRAMES = size(20_000, 500)
"""Distinct frames, sent in turn: twice the window, so that none is a duplicate."""
TOPIC = Topic(
    "A flood of frames",
    "Frames of 200 bytes for a second of CPU, and the CPU of a step of the loop meanwhile; the limit is bare "
    "trio-websocket, which drops them.",
    ("actors/sources/push", "actors/recorder", "actors/signatures.py", "storage/sqlite"),
    {
        "nothing": Figure("frames, nothing is wanted", "/s", ">= 10,000/s"),
        "filtered": Figure("frames, all read, none admitted", "/s", ">= 10,000/s"),
        "admitted": Figure("frames, all admitted, signed and committed", "/s", higher=True),
        "filtered_step": Figure("a step of the loop p99, all read, none admitted", "ms", "<= 5 ms"),
        "filtered_lag": Figure("others' lag p99, all read, none admitted", "ms"),
        "admitted_step": Figure("a step of the loop p99, all admitted", "ms", "<= 5 ms"),
        "admitted_lag": Figure("others' lag p99, all admitted", "ms"),
    },
)


def rows() -> Iterator[Row]:
    found = {kind: _measured(kind) for kind in ("bare", "nothing", "filtered", "admitted")}
    bare = found["bare"]
    for kind in ("nothing", "filtered", "admitted"):
        yield Row(kind, found[kind]["rate"], bare["rate"])
    for kind in ("filtered", "admitted"):
        yield Row(f"{kind}_step", found[kind]["step"], bare["step"])
        yield Row(f"{kind}_lag", found[kind]["lag"], bare["lag"])


class Steps(trio.abc.Instrument):
    """Collects the processor seconds of each task step in the loop."""

    def __init__(self) -> None:
        self.found: list[float] = [0.0]
        self._began = 0.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began = time.thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.found.append(time.thread_time() - self._began)


def _measured(kind: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.push", kind], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


# --- the server ------------------------------------------------------------------------------------------------------


def _frame(number: int) -> bytes:
    text = json.dumps(
        {
            "id": number,
            "title": f"Reading {number} of the tide gauge at the harbour mouth",
            "text": f"The water stands at {number % 700} cm and is rising slowly under a light wind",
            "url": f"https://shore.example/{number}",
        }
    ).encode()
    return b"\x81\x7e" + len(text).to_bytes(2) + text


def _serve() -> None:
    blob = b"".join(_frame(number) for number in range(FRAMES))
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            client, _ = server.accept()
            threading.Thread(target=_flood, args=(client, blob), daemon=True).start()


def _flood(client: socket.socket, blob: bytes) -> None:
    head = client.recv(65536).decode()
    key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
    token = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
    upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
    client.sendall(f"HTTP/1.1 101 Switching Protocols\r\n{upgrade}Sec-WebSocket-Accept: {token}\r\n\r\n".encode())
    try:
        while True:
            client.sendall(blob)
    except OSError:
        client.close()


@contextmanager
def _server() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-m", "bench.push", "serve"], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# --- the clients -----------------------------------------------------------------------------------------------------


async def _bare(port: int, steps: Steps) -> dict[str, float]:
    count = 0
    async with trio.open_nursery() as nursery, loop_lag() as lags:
        connection = await connect_websocket(nursery, "127.0.0.1", port, "/", use_ssl=False)
        began = time.process_time()
        with trio.move_on_after(SECONDS):
            while True:
                await connection.get_message()
                count += 1
        used = time.process_time() - began
        nursery.cancel_scope.cancel()
    return {"rate": count / used, "lag": 1e3 * percentile(lags, 99), "step": 1e3 * percentile(steps.found, 99)}


async def _ours(port: int, steps: Steps, kind: str) -> dict[str, float]:
    wanted = {"nothing": None, "filtered": '"no such words" OR earthquake', "admitted": ""}[kind]
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as storage:
            live = await _a_source(storage, f"ws://127.0.0.1:{port}/", wanted)
            supervisor = _tree(storage, live)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(supervisor.run)
                await trio.sleep(WARM)
                assert live.push is not None
                async with loop_lag() as lags:
                    before, began = live.push.frames, time.process_time()
                    await trio.sleep(SECONDS)
                    used, count = time.process_time() - began, live.push.frames - before
                supervisor.stop()
    return {"rate": count / used, "lag": 1e3 * percentile(lags, 99), "step": 1e3 * percentile(steps.found, 99)}


async def _a_source(storage: Storage, url: str, wanted: str | None) -> LiveSource:
    now = Millis(round(time.time() * 1000))  # noqa: TID251  (a real clock)
    found = Detection("push", "high", "", url, "")
    source = Source(SourceId(id_of(seq_at(now), 1)), url, url, "push", found, now, now, filter=wanted)
    await storage.sources.add(source, SourceState(source.id, SourceRuntime(), b""), storage.lease)
    return LiveSource(source, SourceRuntime())


def _tree(storage: Storage, live: LiveSource) -> Supervisor:
    dice = random.Random(1)
    missing: Any = None
    world = World(
        wall=time.time,  # noqa: TID251  (a real clock)
        chance=lambda name: dice,
        entropy=bytes,
        resolver=SystemResolver(),
        connector=TcpConnector(),
        listen=missing,
        jail=InlineJail(),
        open_storage=missing,
        reach=lambda name: None,
        log=lambda *a, **k: None,
        passwords=NoPasswords(),
    )
    settings = Settings(allow_networks=("127.0.0.0/8",))
    recorder_box: Mailbox[RecorderMessage] = Mailbox("recorder", 64)
    recorder = Recorder(
        world=world,
        storage=storage,
        signing=SigningKeys(storage, [new_signing_key(bytes(32), world.now())]),
        base_url="https://bench.example",
        mailbox=recorder_box,
        chance=dice,
    )
    admission, looks = Admission(storage.alerts), trio.CapacityLimiter(8)
    ports = Ports(world, settings, storage, build_egress(world, settings), recorder_box, admission, looks)
    specs = [
        ChildSpec("log", recorder.run, ready_within=10, mailbox=recorder_box),
        ChildSpec("source", PushSource(ports, live).run, mailbox=live.mailbox, ready_within=None),
    ]
    return Supervisor("bench", specs, strategy=Strategy.REST_FOR_ONE, chance=dice)


def _main(kind: str) -> None:
    if kind == "serve":
        _serve()
        return
    with _server() as port:
        steps = Steps()
        run = partial(_bare, port, steps) if kind == "bare" else partial(_ours, port, steps, kind)
        found = trio.run(run, instruments=[steps])
    print(json.dumps(found))


if __name__ == "__main__":
    _main(sys.argv[1])
