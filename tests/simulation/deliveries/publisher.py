"""Sends events to the recorder as sources do, in harvests, and records when.

Its sources are disabled, so the service never checks them. It does not repeat events lost in a crash: only events in
the log count as said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import trio

from actors.messages.workers import Record
from storage.records.event import Draft, Stored
from storage.records.identity import Millis, SourceId
from storage.records.source import Detection, Harvest, Source, SourceRuntime, SourceState
from storage.sql.storage import Storage
from supervision import MailboxFull, Reply
from tests.simulation.delivery_plans import Saying
from tests.simulation.delivery_records import Said
from tests.simulation.origins.texts import EPOCH, sentence
from tests.simulation.world import Life

_NOW = Millis(int(EPOCH * 1000))


def source_id(number: int) -> SourceId:
    return SourceId(f"00000000-0000-7000-8000-{number + 1:012d}")


def _url(source: int) -> str:
    return f"https://source{source}.shore.org/"


async def provision(storage: Storage, sources: int) -> None:
    for number in range(sources):
        url = _url(number)
        found = Detection("feed", "high", "It is simulated.", url, "application/atom+xml")
        source = Source(source_id(number), url, url, "feed", found, _NOW, _NOW, enabled=False)
        await storage.sources.add(source, SourceState(source.id, SourceRuntime()), storage.lease)


@dataclass(slots=True)
class Scribe:
    """life: the present one. said: by the event's title."""

    life: Callable[[], Life | None]
    said: dict[str, Said]

    async def write(self, sayings: Sequence[Saying]) -> None:
        """Send everything at its time; events of one moment are one harvest for each source."""
        async with trio.open_nursery() as nursery:
            for number, saying in enumerate(sayings):
                await trio.sleep_until(saying.at)
                nursery.start_soon(self._say, number, saying)

    async def _say(self, number: int, saying: Saying) -> None:
        life = self.life()
        if life is None or not life.alive or life.recorder is None:
            return
        title, offered = f"saying {number}", trio.current_time()
        reply = Reply[Sequence[Stored]]()
        harvest = Harvest(source_id(saying.source), (_draft(title, saying),), None)
        try:
            life.recorder.send_nowait(Record(harvest, reply))
        except MailboxFull:
            return
        self.said[title] = Said(saying, offered, float("inf"))
        with trio.CancelScope() as waiting:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_until, life.over, waiting)
                while not reply.settled:  # noqa: ASYNC110  # another's slot: only its caller gets an event
                    await trio.sleep(5)
                waiting.cancel()
        self.said[title] = Said(saying, offered, trio.current_time())


async def _until(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _draft(title: str, saying: Saying) -> Draft:
    text = sentence(saying.words)
    return Draft(
        source_type="feed",
        source_url=_url(saying.source),
        url=f"{_url(saying.source)}{title.replace(' ', '-')}",
        title=title,
        author="",
        content=text,
        content_truncated=False,
        content_hash="sha256:" + sha256(text.encode()).hexdigest(),
        simhash=0,
        tags=saying.tags,
        published_at=None,
        fetched_at=Millis(_NOW + round(1000 * trio.current_time())),
    )
