"""The service that runs on a data folder: it is asked, on its admin socket, where it is.

What its settings say now is no answer: it may have been started with others, or on a free port.
"""

from __future__ import annotations

import json
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from sanderling import ADMIN_SOCKET
from sanderling.client.api import Client
from sanderling.client.health import ANSWER_CAP, SocketConnection
from sanderling.environment import environ
from sanderling.flags import loaded


class Running(NamedTuple):
    """Where a service is: its address as clients see it, and one that works on its own machine."""

    url: str
    local_url: str


def running_at(folder: str) -> Running | None:
    """Return where the service is that runs on a data folder; None when none answers there."""
    connection = SocketConnection(Path(folder) / ADMIN_SOCKET)
    try:
        connection.request("GET", "/v1/admin/overview")
        told = json.loads(connection.getresponse().read(ANSWER_CAP))
        return Running(str(told["url"]), str(told["local_url"]))
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None
    finally:
        connection.close()


def client_here(url: str | None, key_file: str | None) -> Client:
    """Return the client that flags and variables name, or of the service on the data folder of the settings.

    Raises CommandFailed.
    """
    variables = environ()
    if not url and not variables.get("SANDERLING_URL"):
        running = running_at(loaded(None, {}).settings.data)
        url = None if running is None else running.local_url
    return Client.named(url, key_file, variables)
