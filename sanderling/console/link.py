"""The connection to the service: the feed, followed for ever, and single questions beside it. Runs on asyncio."""

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
"""Seconds without a byte after which the feed counts as cut; it ticks every second."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 5.0


class Listener(Protocol):
    """Who hears what the feed says. Nothing here waits."""

    def connected(self) -> None:
        """The feed stands."""

    def counts(self, figures: Mapping[str, Any]) -> None:
        """A second's figures."""

    def change(self, path: str) -> None:
        """A part has changed its state."""

    def event(self, told: Mapping[str, Any]) -> None:
        """A new event in short, or how many there were beside those told."""

    def lost(self, why: str) -> None:
        """The feed does not stand any more, or does not come up."""


class Link:
    """One client for the console's life; every question opens or reuses a connection of its own."""

    def __init__(self, client: Client, listener: Listener) -> None:
        self._client, self._listener = client, listener

    async def follow(self) -> None:
        """Follow the feed until cancelled; after a cut try again, at first soon."""
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
        """Return an answer's JSON. Raises CommandFailed."""
        return (await self._client.ask("GET", path, params=query)).json()

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Do something, and return the answer's JSON. Raises CommandFailed."""
        return (await self._client.ask("POST", path, json=body)).json()

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Change something, and return the answer's JSON. Raises CommandFailed."""
        return (await self._client.ask("PATCH", path, json=body)).json()

    async def aclose(self) -> None:
        """Close what is open."""
        await self._client.aclose()


def reason(error: CommandFailed) -> str:
    """Return why something failed, without whom it was asked of and what the command line would advise."""
    line = error.message.partition(" Start it:")[0].partition("\n")[0]
    head, told, rest = line.partition(" can't be reached: ")
    return rest if told and head.startswith("http") else line
