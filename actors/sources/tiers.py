"""The behaviour of each tier. A tier is a folder here, a row here, and a row in `storage/records/tiers.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from actors.egress.http import FetchedResponse
from actors.messages.requests import DetectRequest, Preview
from actors.messages.sources import ExplainSource
from actors.messages.views import Reason, SourceView
from actors.settings import Settings
from actors.sources import page
from actors.sources.checks.fetch import BodyReader
from actors.sources.detection import Classification
from actors.sources.feed import reader as feed
from actors.sources.feed.reader import FeedReader
from actors.sources.page import PageReader
from actors.sources.polling import PolledSource
from actors.sources.ports import LiveSource, Ports
from actors.sources.push import frames as push
from actors.sources.push.actor import PushSource
from storage.records.checks import StoredMemory
from storage.records.tiers import TIERS, SourceType
from supervision import Child, Run

Readers = Mapping[SourceType, BodyReader]


Search = Callable[[Ports, SourceView, StoredMemory, ExplainSource, FetchedResponse | None], Awaitable[list[Reason]]]


class Behaviour(NamedTuple):
    """A tier's functions. run: the life of one source; it gets all readers, since a source's tier may change. preview:
    the events of watching a URL. reader: reads bodies, for a polled tier. search: explains why a text was not reported.
    """

    run: Callable[[Ports, LiveSource, Readers], Run]
    preview: Callable[[Ports, Classification, DetectRequest], Awaitable[Preview]]
    search: Search
    reader: Callable[[Settings], BodyReader] | None = None


def _polled(ports: Ports, live: LiveSource, readers: Readers) -> Run:
    async def run(child: Child) -> None:
        await PolledSource(ports, live, readers).run(child)
        await PushSource(ports, live).run(child)

    return run if live.source.detection.pending else PolledSource(ports, live, readers).run


BEHAVIOURS: Final[Mapping[SourceType, Behaviour]] = {
    "push": Behaviour(lambda ports, live, readers: PushSource(ports, live).run, push.preview, push.search),
    "feed": Behaviour(_polled, feed.preview, feed.search, lambda settings: FeedReader(settings.parse_deadline)),
    "html": Behaviour(_polled, page.preview, page.search, lambda settings: PageReader(settings.parse_deadline)),
}
assert BEHAVIOURS.keys() == TIERS.keys()
assert all((row.reader is not None) == TIERS[name].polled for name, row in BEHAVIOURS.items())


def readers(settings: Settings) -> Readers:
    return {name: row.reader(settings) for name, row in BEHAVIOURS.items() if row.reader is not None}
