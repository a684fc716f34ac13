"""The connection to the service: the feed, followed forever, and single requests. Runs on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from httpx_sse import ServerSentEvent

from sanderling.client.api import Client
from sanderling.exits import CommandFailed

FEED = "/v1/admin/feed"
SILENCE = 6.0
"""The feed counts as cut after so many seconds without a byte; it ticks every second."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 5.0


class Listener(Protocol):
    """Receives the feed. Its methods never wait."""

    def connected(self) -> None:
        """The feed is connected."""

    def counts(self, figures: Mapping[str, Any]) -> None:
        """Take the figures of one second."""

    def change(self, path: str) -> None:
        """A part changed its state."""

    def event(self, told: Mapping[str, Any]) -> None:
        """Take a new event in short, or the count of omitted ones."""

    def lost(self, why: str) -> None:
        """The feed was cut, or could not connect."""


class Link:
    """One client for the console's lifetime, with a connection per request."""

    def __init__(self, client: Client, listener: Listener) -> None:
        self._client, self._listener = client, listener

    async def follow(self) -> None:
        """Follow the feed until cancelled; reconnect with growing waits."""
        wait = FIRST_WAIT
        while True:
            heard = False

            def take(event: ServerSentEvent) -> None:
                nonlocal heard
                if not heard:
                    self._listener.connected()
                heard = True
                self._take(event)

            try:
                await self._client.listen(FEED, take, SILENCE)
                why = "the service closed the connection"
            except CommandFailed as error:
                why = reason(error)
            self._listener.lost(why)
            wait = FIRST_WAIT if heard else min(LONGEST_WAIT, 2 * wait)
            await asyncio.sleep(wait)

    def _take(self, event: ServerSentEvent) -> None:
        told = msgspec.json.decode(event.data)
        match event.event:
            case "counts":
                self._listener.counts(told)
            case "change":
                self._listener.change(str(told["path"]))
            case "event":
                self._listener.event(told)
            case "skipped" if told["of"] == "event":
                self._listener.event(told)
            case _:
                pass

    async def get(self, path: str, **query: Any) -> Any:
        """Raises CommandFailed."""
        return (await self._client.ask("GET", path, params=query)).json()

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Raises CommandFailed."""
        return (await self._client.ask("POST", path, json=body)).json()

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Raises CommandFailed."""
        return (await self._client.ask("PATCH", path, json=body)).json()

    async def aclose(self) -> None:
        await self._client.aclose()


def reason(error: CommandFailed) -> str:
    """Return why a request failed, without the address and the command line's advice."""
    line = error.message.partition(" Start it:")[0].partition("\n")[0]
    head, told, rest = line.partition(" can't be reached: ")
    return rest if told and head.startswith("http") else line
