"""The exporter of traces: takes spans that wait, and sends them to the collector that `otlp_endpoint` names.

A batch goes when there are enough spans for one, or a few seconds after the first. While a collector is away the same
batch is tried again, less and less often; meanwhile the tracer's queue drops its oldest. So a collector that is dead,
slow or wrong costs some lost spans and one request a minute. It leaves as a delivery does: by the guard.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

import trio

from actors.destination_kinds.kind import Poster
from actors.egress.failures import LookFailed
from actors.egress.url import Url
from actors.errors import UrlRefused
from actors.tracing.otlp import HEADERS, Verdict, encoded, verdict
from actors.tracing.span import Attributes, Span
from actors.tracing.tracer import Tracer
from actors.world import World
from supervision import Child

EVERY: Final = 5.0
"""Seconds that a span waits for others to travel with."""
FLUSH: Final = 3.0
"""Seconds for what waits when the service stops."""
TRIES: Final = 5
"""Tries of one batch, before it is given up for newer ones."""
FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries: they double, with up to half of it in addition."""
LONGEST_WISH: Final = 300.0
"""Seconds of a Retry-After that are heard."""


class SpanExporter:
    """See above. headers: the operator's own, which are secret. resource, scope: who sends."""

    def __init__(
        self,
        world: World,
        tracer: Tracer,
        poster: Poster,
        url: Url,
        headers: Mapping[str, str],
        *,
        resource: Attributes,
        scope: Attributes,
        chance: random.Random,
    ) -> None:
        self._world, self._tracer, self._poster, self._url = world, tracer, poster, url
        self._headers = {**headers, **HEADERS}
        self._resource, self._scope, self._chance = resource, scope, chance
        self._held: Sequence[Span] = ()
        self._said, self._pause = "", 0.0

    def __repr__(self) -> str:
        return f"<SpanExporter to {self._url.host}: {self._tracer!r}>"

    async def run(self, child: Child, shown: Child | None = None) -> None:
        """Send until the service stops, then once more what waits; what is left after that is lost.

        shown: the part of the tree that says how it stands, where that is another one.
        """
        stopping, child = child.stopping, shown or child
        with trio.CancelScope() as sending:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_at, stopping, sending)
                while True:
                    if not self._held:
                        await self._tracer.wait_batch(EVERY)
                        self._held = self._tracer.take()
                    await self._send(child)
        with trio.move_on_after(FLUSH):
            while self._held or len(self._tracer):
                self._held = self._held or self._tracer.take()
                if await self._try(child):
                    break
        self._count("lost", len(self._held) + len(self._tracer))

    async def _send(self, child: Child) -> None:
        """Send what is held, as often as may be; then it is given up. Cancelled, it is held still."""
        for _ in range(TRIES):
            wait = await self._try(child)
            if not wait:
                return
            await trio.sleep(wait)
        self._count("lost", len(self._held))
        self._held = ()

    async def _try(self, child: Child) -> float:
        """Send what is held once. Return 0 when that is settled, else the seconds to wait before another try."""
        found, wish = await self._post(encoded(self._held, self._resource, self._scope), len(self._held))
        if found.again:
            self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
            self._tell(child, found)
            return max(wish, self._pause * (1 + self._chance.random() / 2))
        self._count("refused", found.refused)
        self._count("sent", len(self._held) - found.refused)
        self._held, self._pause = (), 0.0
        self._tell(child, found)
        return 0.0

    async def _post(self, request: bytes, spans: int) -> tuple[Verdict, float]:
        """Post once; return what came of it, and the seconds that the collector wants to be left alone."""
        try:
            answer = await self._poster.post(self._url, self._headers, request)
        except (LookFailed, UrlRefused) as error:
            return Verdict(again=True, says=str(error)), 0.0
        return verdict(answer.status, answer.body, spans), min(answer.retry_after or 0.0, LONGEST_WISH)

    def _count(self, outcome: str, spans: int) -> None:
        if spans:
            self._tracer.counts.add(outcome, by=spans)

    def _tell(self, child: Child, found: Verdict) -> None:
        """Log what changes, and say how it stands to who looks at the tree."""
        counted = ", ".join(f"{number:g} {word}" for (word,), number in sorted(self._tracer.counts.values.items()))
        child.note(f"{found.says or 'the last batch was taken'}; spans: {counted or 'none yet'}"[:300])
        if found.says != self._said:
            level = "warning" if found.says else "info"
            outcome = "failed" if found.says else "sent"
            self._world.log(f"tracing.{outcome}", level=level, host=self._url.host, says=found.says)
        self._said = found.says


async def _cancel_at(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
