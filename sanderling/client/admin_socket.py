"""Ask a service whether it is ready, where it listens and which settings it has: over its admin socket, or a URL.

Health checks run this every few seconds, so it imports only the standard library. Current settings cannot replace the
admin socket: the service may have started with others, or on a free port.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from actors.setting_table import declared, with_values
from actors.settings import Setting, Settings
from sanderling import ADMIN_SOCKET
from sanderling.exits import CommandFailed, Exit

PATIENCE = 5.0
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


class Running(NamedTuple):
    """The service's public address, and one that works on its machine."""

    url: str
    local_url: str


def health(data: str, url: str | None) -> tuple[bool, str]:
    path = Path(data) / ADMIN_SOCKET
    try:
        return _readiness(_connection(url) if url else SocketConnection(path), urlsplit(url or "").path.rstrip("/"))
    except (OSError, HTTPException, ValueError) as error:
        return False, f"not reachable: {url or path}: {str(error) or type(error).__name__}"


def at_socket(folder: Path) -> tuple[bool, str] | None:
    """Return whether the service on a data folder is ready, with its message; None if nothing answers."""
    try:
        return _readiness(SocketConnection(folder / ADMIN_SOCKET), "")
    except (OSError, HTTPException, ValueError):
        return None


def settings_at(here: Settings) -> Settings | None:
    """Return a running service's settings with our own secrets; None if nothing answers."""
    try:
        told = _answer(here.data, "/v1/admin/settings")["settings"]
        theirs: dict[str, Any] = {name: told[name] for name in _open() if name in told}
        theirs |= {name: tuple(value) for name, value in theirs.items() if isinstance(value, list)}
        return with_values(here, **theirs)
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None


def unlike(here: Settings, there: Settings) -> list[str]:
    return [name for name, one in _open().items() if one.value(here) != one.value(there)]


def _open() -> Mapping[str, Setting]:
    return {name: one for name, one in declared().items() if not one.secret and name != "data"}


def running_at(folder: str) -> Running | None:
    """Return the addresses of the service on a data folder; None if nothing answers."""
    try:
        told = _answer(folder, "/v1/admin/overview")
        return Running(str(told["url"]), str(told["local_url"]))
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None


def _answer(folder: str, path: str) -> Any:
    connection = SocketConnection(Path(folder) / ADMIN_SOCKET)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read(ANSWER_CAP))
    finally:
        connection.close()


def _connection(url: str) -> HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandFailed(f"{url}: the service's address must begin with http:// or https://.", Exit.USAGE)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=PATIENCE)


def _readiness(connection: HTTPConnection, prefix: str) -> tuple[bool, str]:
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
