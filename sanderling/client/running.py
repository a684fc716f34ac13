"""Find the service that runs on a data folder, through its admin socket.

Current settings cannot answer this: the service may have started with others, or on a free port.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from http.client import HTTPException
from pathlib import Path
from stat import S_ISSOCK
from typing import Any, NamedTuple

import httpx

from actors.settings import Settings, meaning
from sanderling import ADMIN_SOCKET
from sanderling.client.api import Client
from sanderling.client.health import ANSWER_CAP, SocketConnection
from sanderling.environment import environ, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import loaded, told_folder

_OPEN = tuple(item.name for item in fields(Settings) if not meaning(item).secret and item.name != "data")
"""Settings that are not secret."""


class Running(NamedTuple):
    """The service's public address, and one that works on its machine."""

    url: str
    local_url: str


def settings_at(here: Settings) -> Settings | None:
    """Return a running service's settings with our own secrets; None if nothing answers."""
    try:
        told = _told(here.data, "/v1/admin/settings")["settings"]
        theirs: dict[str, Any] = {name: told[name] for name in _OPEN if name in told}
        theirs |= {name: tuple(value) for name, value in theirs.items() if isinstance(value, list)}
        return replace(here, **theirs)
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None


def unlike(here: Settings, there: Settings) -> list[str]:
    """Return the names of settings that differ, except secrets."""
    return [name for name in _OPEN if getattr(here, name) != getattr(there, name)]


def running_at(folder: str) -> Running | None:
    """Return the addresses of the service on a data folder; None if nothing answers."""
    try:
        told = _told(folder, "/v1/admin/overview")
        return Running(str(told["url"]), str(told["local_url"]))
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None


def _told(folder: str, path: str) -> Any:
    connection = SocketConnection(Path(folder) / ADMIN_SOCKET)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read(ANSWER_CAP))
    finally:
        connection.close()


def client_here(url: str | None, key_file: str | None) -> Client:
    """Return a client for the service in flags and variables, else for this machine's service, without a key.

    With a key but no address, use this machine's service by its address. Raises CommandFailed.
    """
    variables = environ()
    keyed = key_file or (variables.get("SANDERLING_KEY") and told_folder() is None)
    if keyed and not (url or variables.get("SANDERLING_URL")):
        running = running_at(folder_here())
        url = None if running is None else running.local_url
        return Client.named(url, key_file, variables)
    return client_of(folder_here(), url, key_file, variables)


def folder_here(config: str | None = None) -> str:
    """Return the data folder of the flag, else of the settings. Raises CommandFailed."""
    told = told_folder()
    return loaded(config, {"data": told}).settings.data


def client_of(data: str, url: str | None, key_file: str | None, variables: Mapping[str, str]) -> Client:
    """Return a client for a URL with a key, or for a data folder's admin socket without one.

    A folder given by flag overrides SANDERLING_URL. Raises CommandFailed.
    """
    if url or (variables.get("SANDERLING_URL") and told_folder() is None):
        return Client.named(url, key_file, variables)
    return client_at(Path(data))


def client_at(folder: Path) -> Client:
    """Return a client for the service on a data folder. Raises CommandFailed if the socket is not ours."""
    path = folder / ADMIN_SOCKET
    _refuse_strangers(path)
    absent = f"No service runs on the data folder {folder}. Start it: {typed('serve', str(folder))}"
    socket = httpx.AsyncHTTPTransport(uds=str(path), verify=False)  # no TLS here: reading certificates takes 100 ms
    return Client("http://localhost", None, socket, called=str(path), absent=absent)


def _refuse_strangers(path: Path) -> None:
    """Raise CommandFailed if the socket is not ours: requests may contain secrets."""
    try:
        found, folder = path.lstat(), path.parent.stat()
    except OSError:
        return  # missing or not accessible: connecting reports it
    if not S_ISSOCK(found.st_mode) or found.st_uid not in (0, os.geteuid(), folder.st_uid):
        raise CommandFailed(
            f"{path}: this is not the socket of your service. Delete it, and start the service again.", Exit.BAD_DATA
        )
