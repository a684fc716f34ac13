"""Start a real service behind 1,000,000 unmatched events."""

from __future__ import annotations

import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import trio

from bench.log_material import NOW, a_draft, seeded
from bench.topic import Figure, Row, Topic, size
from sanderling.environment import environ
from sanderling.real_world import wall
from storage.records.alert import Alert
from storage.sqlite import open_sqlite
from storage.sqlite.engine import DATABASE

EVENTS = size(1_000_000, 1_000)
TOPIC = Topic(
    "Start with a backlog",
    "A real service starts behind 1,000,000 unmatched events, once; the limit is `serve --help`.",
    ("actors/matcher.py", "sanderling/serve.py", "storage/sqlite"),
    {
        "first": Figure("first answer", "s", "<= 2 s"),
        "ready": Figure("ready", "s", "<= 5 s"),
        "level": Figure("all matched", "s"),
    },
)
PATIENCE = 300.0
_STEP = 0.02


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = _folder(Path(name) / "data")
        began = time.perf_counter()
        subprocess.run(_command("serve", "--help"), check=True, capture_output=True)  # our own program
        limit = time.perf_counter() - began
        first, ready, level = _started(folder)
    yield Row("first", first, limit)
    yield Row("ready", ready, limit)
    yield Row("level", level)


def _folder(folder: Path) -> Path:
    """Make a data folder with the events, no sources, an alert that matches nothing, and no cursor."""
    chance = random.Random(1)
    seeded(folder, sources=1, events=EVENTS, drafts=[a_draft(chance, 900) for _ in range(500)])
    connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
    for table in ("source", "source_hot", "source_base"):
        connection.execute(f"DELETE FROM {table}")  # our own names; no source is checked
    connection.close()
    trio.run(_add_alert, folder)
    return folder


async def _add_alert(folder: Path) -> None:
    storage = await open_sqlite(folder, clock=wall, owner="bench", warn=print)
    try:
        await storage.alerts.put(Alert("a1", "nothing", "nobodysaysthis", "en", (), NOW, NOW))
    finally:
        await storage.aclose()


def _command(*words: str) -> Sequence[str]:
    return (sys.executable, "-m", "sanderling", *words)


def _started(folder: Path) -> tuple[float, float, float]:
    """Return the seconds from process start to the first response, to ready, and to a matcher that caught up."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    words = _command("serve", "--data", str(folder), "--port", str(port))
    with subprocess.Popen(words, env=environ(), stderr=subprocess.DEVNULL) as process:  # our own program
        try:
            first = _until(port, began, lambda status: status > 0)
            ready = _until(port, began, lambda status: status == 200)
            level = _level(folder, began)
        finally:
            process.send_signal(signal.SIGTERM)
    return first, ready, level


def _until(port: int, began: float, wanted: Any) -> float:
    while time.perf_counter() < began + PATIENCE:
        with suppress(OSError, HTTPException):
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", "/readyz")
            if wanted(connection.getresponse().status):
                return time.perf_counter() - began
        time.sleep(_STEP)
    raise TimeoutError("the service did not answer")


def _level(folder: Path, began: float) -> float:
    connection = sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True, isolation_level=None)
    (newest,) = connection.execute("SELECT max(seq) FROM log").fetchone()
    while time.perf_counter() < began + PATIENCE:
        if connection.execute("SELECT seq FROM cursor WHERE name='matcher'").fetchone() == (newest,):
            return time.perf_counter() - began
        time.sleep(1)
    raise TimeoutError("the matcher did not become level")
