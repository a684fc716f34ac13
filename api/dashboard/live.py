"""Live streams for pages: the API's streams, opened by a session instead of a key, and ended with it."""

from __future__ import annotations

from api.dashboard.screen import LiveStream, Screen, Visit
from api.operations import streams
from api.operations.streams import Listener, OpenStream
from api.schemas.queries import StreamQuery

HEADERS = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}


async def everything(visit: Visit) -> LiveStream:
    return _live(await streams.everything(visit, visit.query, _listener(visit)))


async def channel(visit: Visit) -> LiveStream:
    return _live(await streams.channel(visit, visit.path["channel"], visit.query, _listener(visit)))


def _listener(visit: Visit) -> Listener:
    assert visit.session is not None
    return Listener(visit.session, visit.headers.get("Last-Event-ID", "").strip())


def _live(opened: OpenStream) -> LiveStream:
    return LiveStream(opened.reader, HEADERS | {"Sanderling-Replay-From": opened.replay_from})


SCREENS = (
    Screen(path="/live", run=everything, query=StreamQuery, live=True),
    Screen(path="/live/{channel}", run=channel, query=StreamQuery, live=True),
)
