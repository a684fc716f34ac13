"""Heartbeats for an external monitor: regular requests to a URL while this service works.

A machine that is off can't notify anyone. The monitor (Healthchecks, Uptime Kuma, Better Stack and similar) reports a
missing heartbeat. None is sent while the service is not ready, is drained, or stops; the delay is at most one
interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import trio

from actors.destination_kinds.kind import Poster
from actors.egress.failures import LookFailed, LookRefused
from actors.egress.traffic import Egress
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.settings import Settings
from actors.world import World
from supervision import Child, ChildSpec

AGAIN = 5.0
"""Seconds until a failed heartbeat is repeated, once, and until readiness is tested again."""


class Heartbeat:
    """Sends heartbeats. every: seconds. readiness: checks by name; "" means healthy."""

    def __init__(
        self, world: World, poster: Poster, url: Url, every: float, readiness: Callable[[], Mapping[str, str]]
    ) -> None:
        self._world, self._poster, self._url, self._every = world, poster, url, every
        self._readiness = readiness
        self._said = ""

    def __repr__(self) -> str:
        return f"<Heartbeat to {self._url.host} every {self._every:g} s>"

    async def run(self, child: Child) -> None:
        """Send heartbeats until cancelled, at regular times."""
        due = trio.current_time() + min(AGAIN, self._every / 2)  # later parts need time to start
        while True:
            await trio.sleep_until(due)
            withheld = next((says for says in self._readiness().values() if says), "")
            if withheld:
                self._tell(child, "withheld", withheld)
            elif failed := (await self._sent() and await self._sent_again()):
                self._tell(child, "failed", failed)
            else:
                self._tell(child, "sent", "")
            due = max(due + (min(AGAIN, self._every) if withheld else self._every), trio.current_time())

    async def _sent_again(self) -> str:
        await trio.sleep(min(AGAIN, self._every / 2))
        return await self._sent()

    async def _sent(self) -> str:
        """Send a heartbeat; return why it failed, or ""."""
        try:
            answer = await self._poster.post(self._url, {}, b"", "GET")
        except (LookFailed, LookRefused, UrlRefused) as error:
            return str(error)
        return "" if answer.status // 100 == 2 else f"it answered {answer.status}"

    def _tell(self, child: Child, outcome: str, says: str) -> None:
        """Count it; log changes. The URL may be a secret, so only its host is shown."""
        self._world.metrics.heartbeats.add(outcome)
        child.note(f"{outcome}: {says}"[:200] if says else "the last sign arrived")
        if says != self._said:
            level = "warning" if says else "info"
            self._world.log(f"heartbeat.{outcome}", level=level, host=self._url.host, says=says)
        self._said = says


def monitored(
    world: World, settings: Settings, egress: Egress, readiness: Callable[[], Mapping[str, str]]
) -> Sequence[ChildSpec]:
    """Return the child that sends heartbeats to `heartbeat_url`, if it is set."""
    if not settings.heartbeat_url:
        return ()
    url = parse_url(settings.heartbeat_url, schemes=("http", "https"))
    poster = egress.deliver if url.scheme == "https" else egress.deliver_plain
    heartbeat = Heartbeat(world, poster, url, settings.heartbeat_every, readiness)
    return (ChildSpec("heartbeat", heartbeat.run),)
