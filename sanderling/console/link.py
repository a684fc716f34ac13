"""The connection to the service: the feed, followed forever, and single requests. Runs on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from httpx_sse import ServerSentEvent

from sanderling.client.api import Client
from sanderling.exits import CommandFailed

FEED = "/v1/admin/feed"
SILENCE = 6.0
"""The feed counts as cut after so many seconds without a byte; it ticks every second."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 5.0


class Link:
    """One client for the console's lifetime, with a connection per request.

    take: receives the feed, and never waits. Its names are those of the service (`counts`, `change`, `event`,
    `skipped`), plus `connected`, and `lost` with the reason.
    """

    def __init__(self, client: Client, take: Callable[[str, Any], None]) -> None:
        self._client, self._take = client, take

    async def follow(self) -> None:
        """Follow the feed until cancelled; reconnect with growing waits."""
        wait = FIRST_WAIT
        while True:
            heard = False

            def take(event: ServerSentEvent) -> None:
                nonlocal heard
                if not heard:
                    self._take("connected", None)
                heard = True
                self._take(event.event, msgspec.json.decode(event.data))

            try:
                await self._client.listen(FEED, take, SILENCE)
                why = "the service closed the connection"
            except CommandFailed as error:
                why = reason(error)
            self._take("lost", why)
            wait = FIRST_WAIT if heard else min(LONGEST_WAIT, 2 * wait)
            await asyncio.sleep(wait)

    async def get(self, path: str, **query: Any) -> Any:
        """Raises CommandFailed."""
        return (await self._client.ask("GET", path, params=query)).json()

    async def send(self, path: str, body: Mapping[str, Any] | None = None, method: str = "POST") -> Any:
        """Raises CommandFailed."""
        return (await self._client.ask(method, path, json=body)).json()

    async def aclose(self) -> None:
        await self._client.aclose()


def reason(error: CommandFailed) -> str:
    """Return why a request failed, without the address and the command line's advice."""
    line = error.message.partition(" Start it:")[0].partition("\n")[0]
    head, told, rest = line.partition(" can't be reached: ")
    return rest if told and head.startswith("http") else line
