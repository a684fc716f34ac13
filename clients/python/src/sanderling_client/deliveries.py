"""A receiver of deliveries in one call: each is verified, stored once, answered, and then handed over event by event.

Deliveries stay in SQLite under their `webhook-id` for four days, as long as the service may repeat them.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Thread
from typing import Any

from sanderling_client.problems import Unverified
from sanderling_client.verify import verify_webhook

_LARGEST = 4 << 20
"""Bytes of a body; the service sends less."""
_KEPT_FOR = 4 * 86_400
_SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{32,88}={0,2}", re.ASCII)
_TABLE = """CREATE TABLE IF NOT EXISTS delivery
    (id TEXT PRIMARY KEY, body BLOB NOT NULL, at INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0)"""


def receive(
    secret: str | Sequence[str],
    work: Callable[[dict[str, Any]], object],
    *,
    host: str = "127.0.0.1",
    port: int = 9000,
    kept: str = "deliveries.db",
) -> None:
    """Serve deliveries over HTTP until the program is interrupted.

    secret: the destination's, or several while one is rotated. work: called with each event after the answer, one at a
    time; if it raises, its delivery is handed over again at the next start. kept: the SQLite file. Prints its address
    and each refused request to standard error. Raises ValueError if a secret is not one that a destination has.
    """
    if not all(map(_SECRET.fullmatch, secrets := (secret,) if isinstance(secret, str) else secret)) or not secrets:
        raise ValueError("this is no signing secret: use the whsec_... that was printed when the destination was made")
    inbox = _Inbox(kept)

    class Receiver(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30
        wbufsize = -1  # head and body in one packet

        def do_POST(self) -> None:
            size = self.headers.get("content-length", "0")
            if not size.isdecimal() or int(size) > _LARGEST:
                self.close_connection = True
                return self.answer(413, "no length, or too large")
            body = self.rfile.read(int(size))
            try:
                inbox.keep(verify_webhook(secrets, dict(self.headers.items()), body), body)
            except Unverified as error:
                sys.stderr.write(f"Refused a request: {error}.\n")
                return self.answer(400, str(error))
            return self.answer(200, "kept")

        def answer(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer((host, port), Receiver) as server:
        sys.stderr.write(f"Receiving on http://{host}:{server.server_port}\n")
        Thread(target=inbox.work_off, args=(work,), daemon=True).start()
        server.serve_forever()


class _Inbox:
    """The stored deliveries. Each step opens the file, since requests and work run in threads of their own."""

    def __init__(self, path: str) -> None:
        self._path, self._waiting = path, SimpleQueue[str]()
        with self._open() as store:
            store.execute(_TABLE)
            store.execute("DELETE FROM delivery WHERE done AND at < ?", (time.time() - _KEPT_FOR,))
            for (id,) in store.execute("SELECT id FROM delivery WHERE NOT done ORDER BY rowid"):
                self._waiting.put(id)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        store = sqlite3.connect(self._path, timeout=10)
        try:
            with store:
                yield store
        finally:
            store.close()

    def keep(self, id: str, body: bytes) -> None:
        with self._open() as store:
            row = (id, body, int(time.time()))
            new = store.execute("INSERT OR IGNORE INTO delivery (id, body, at) VALUES (?, ?, ?)", row).rowcount
        if new:
            self._waiting.put(id)

    def work_off(self, work: Callable[[dict[str, Any]], object]) -> None:
        while True:
            id = self._waiting.get()
            with self._open() as store:
                (body,) = store.execute("SELECT body FROM delivery WHERE id = ?", (id,)).fetchone()
            try:
                for event in _events_of(json.loads(body)):
                    work(event)
            except Exception:
                traceback.print_exc()
                continue
            with self._open() as store:
                store.execute("UPDATE delivery SET done = 1 WHERE id = ?", (id,))


def _events_of(delivered: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a digest, or the one, without the envelope of CloudEvents."""
    inside: dict[str, Any] = delivered["data"] if "specversion" in delivered else delivered
    events: list[dict[str, Any]] = inside.get("events", [inside])
    return events
