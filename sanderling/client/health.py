"""`sanderling health`: one request, one line, exit code 0 or 1, for health checks every few seconds.

It imports only the standard library, and asks the admin socket in the data folder, or a URL.
"""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import click

from sanderling import ADMIN_SOCKET
from sanderling.exits import CommandFailed, Exit

PATIENCE = 5.0
"""Timeout in seconds."""
ANSWER_CAP = 65_536


class SocketConnection(HTTPConnection):
    """HTTP over the admin socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        """Raises OSError."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(str(self._path))


def health(data: str, url: str | None, *, as_json: bool = False) -> int:
    """Print one line of status; return 0 if ready, else 1."""
    where = url or str(Path(data) / ADMIN_SOCKET)
    try:
        connection = _connection(url) if url else SocketConnection(Path(data) / ADMIN_SOCKET)
        well, line = _asked(connection, urlsplit(url or "").path.rstrip("/"))
    except (OSError, HTTPException, ValueError) as error:
        well, line = False, f"not reachable: {where}: {str(error) or type(error).__name__}"
    told = json.dumps({"ready": well, "says": line})  # ASCII: nothing in it moves a cursor
    click.echo(told if as_json else line)
    return Exit.WELL if well else Exit.FAILED


def at_socket(folder: Path) -> tuple[bool, str] | None:
    """Return whether the service on a data folder is ready, with its message; None if nothing answers."""
    try:
        return _asked(SocketConnection(folder / ADMIN_SOCKET), "")
    except (OSError, HTTPException, ValueError):
        return None


def _connection(url: str) -> HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandFailed(f"{url}: the service's address must begin with http:// or https://.", Exit.USAGE)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=PATIENCE)


def _asked(connection: HTTPConnection, prefix: str) -> tuple[bool, str]:
    """Return readiness and its message. Raises OSError, HTTPException, ValueError."""
    try:
        connection.request("GET", f"{prefix}/readyz")
        answer = connection.getresponse()
        told = json.loads(answer.read(ANSWER_CAP))
    finally:
        connection.close()
    if answer.status == 200:
        return True, "; ".join(["ready", *map(str, told.get("warnings") or ())])
    faults = [f"{fault['location']}: {fault['message']}" for fault in told.get("errors") or ()]
    words = "; ".join(faults) or str(told.get("detail") or answer.status)
    return False, "not ready: " + "".join(sign if sign.isprintable() else "?" for sign in words)
