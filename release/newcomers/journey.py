"""The way of a newcomer: install, ask for the version, serve, watch something, see an event, look for trouble, go."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from release.newcomers.place import Place, Refused, end, stop, wait_for
from release.newcomers.ways import Way
from sanderling import __version__

TITLE = "The ferry leaves at noon"
_FEED = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>Ferries</title><link>http://localhost/</link>'
    f"<description>d</description><item><title>{TITLE}</title><guid>1</guid></item></channel></rss>"
).encode()
_WARNED = ("guard", "master", "browser")
"""What doctor rightly warns of here: that loopback may be watched, that no master key is named for backups, and that a
browser, if there is one, has no sandbox in a copy of the system.
"""
_UNMANAGED = " --no-start"
"""Said to `install` where no manager of services runs, as the page has it."""
_SETTINGS = "--env SANDERLING_ALLOW_NETWORKS=127.0.0.0/8 "
"""Said to what hands no setting of the place on."""


class Figures(NamedTuple):
    """Seconds: to install, from there until it serves, from `add` until the event is on the terminal, to stop."""

    install: float
    serving: float
    event: float
    stop: float


def travel(way: Way, place: Place, top: Path) -> Figures:
    """Go a way from its first command to its last. Raises Refused for whatever is not as its page says."""
    for line in way.before:
        place.run(line.format(top=top))
    began = _now()
    managed = Path("/run/systemd/system").is_dir()
    for line in way.install:
        place.run(line.format(unmanaged="" if managed else _UNMANAGED))
    installed = _now() - began
    port = _free_port()
    flags = f"--port {port}" + (f" --data {way.data}" if way.data else "")
    began = _now()
    serving, log = place.start((way.serve or f"{way.command} serve {{flags}}").format(flags=flags, settings=_SETTINGS))
    try:
        wait_for(log, "serve.ready", serving, 300)
        ready = _now() - began
        event = _used(way, place)
        began = _now()
        stop(serving)
        stopped = _now() - began
    finally:
        end(serving)
    if not re.search(r'"event": "serve.stopped", "code": 0', log.read_text("utf-8", "replace")):
        raise Refused(f"it did not stop in order:\n{log.read_text('utf-8', 'replace')[-2_000:]}")
    for line in way.remove:
        place.run(line)
    if left := place.left(way):
        raise Refused("it is gone, and left: " + ", ".join(left))
    return Figures(installed, ready, event, stopped)


def _used(way: Way, place: Place) -> float:
    """Use a service that runs, and return the seconds from `add` until its event is on the terminal. Raises Refused."""
    data = f" --data {way.data}" if way.data else ""
    if __version__ not in (said := place.run(f"{way.command} --version")):
        raise Refused(f"--version says {said!r}")
    with _a_feed() as feed:
        began = _now()
        place.run(f"{way.command} add {feed} --backfill 1{data}")
        told = place.run(f"{way.command} tail --since earliest --count 1{data}")
        took = _now() - began
    if TITLE not in told:
        raise Refused(f"tail says {told!r}")
    found = place.run(f"{way.command} doctor{data}")
    lines = [line.split() for line in found.splitlines() if line.startswith(("warn", "fail"))]
    if bad := [" ".join(line) for line in lines if line[0] == "fail" or line[1] not in (*_WARNED, *way.warned)]:
        raise Refused("doctor is not content: " + "; ".join(bad))
    return took


@contextmanager
def _a_feed() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            there = self.path == "/feed"
            self.send_response(200 if there else 404)
            self.send_header("Content-Type", "application/rss+xml")
            self.send_header("Content-Length", str(len(_FEED) if there else 0))
            self.end_headers()
            self.wfile.write(_FEED if there else b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/feed"
        server.shutdown()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _now() -> float:
    return time.monotonic()  # noqa: TID251
