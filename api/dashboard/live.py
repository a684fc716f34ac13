"""The live streams of pages: the API's own, opened by the session instead of a key, and ended with it."""

from __future__ import annotations

from api.dashboard.screen import LiveStream, Screen, Visit
from api.reader import Reader
from api.route import Answer
from api.schemas.queries import StreamQuery
from api.v1 import stream


async def everything(visit: Visit) -> LiveStream:
    """Stream the events that pass the filters."""
    _check_room(visit)
    return _live(await visit.answer(stream.everything, query=visit.query))


async def channel(visit: Visit) -> LiveStream:
    """Stream one channel."""
    _check_room(visit)
    return _live(await visit.answer(stream.channel, query=visit.query))


def _check_room(visit: Visit) -> None:
    assert visit.session is not None
    visit.streams.check_room(visit.session)


def _live(answer: Answer) -> LiveStream:
    assert isinstance(answer.stream, Reader)
    return LiveStream(answer.stream, answer.headers)


SCREENS = (
    Screen(path="/live", run=everything, query=StreamQuery, live=True),
    Screen(path="/live/{channel}", run=channel, query=StreamQuery, live=True),
)
