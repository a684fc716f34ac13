"""Practice: built-in sources that change on request, to show the effects of a change."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from actors.messages.views import SourceView
from actors.practice import What, named
from api.fields.sources import SourceRecord
from api.nouns import practice as acts
from api.route import PUBLIC, Answer, Call, Route
from api.v1.sources import record_of

HARMLESS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
}


class PracticeRecord(Struct, frozen=True):
    """A practice document and the source that watches it. `changes`: how often it was changed."""

    what: What
    changes: int
    source: SourceRecord


class PracticeChange(Struct, frozen=True):
    """The change, as a sentence; its event is on `stream` within seconds."""

    what: What
    says: str
    source: SourceRecord
    stream: str


def _records(views: Sequence[SourceView]) -> list[PracticeRecord]:
    return [PracticeRecord(named(view.source.url), view.source.practice or 0, record_of(view)) for view in views]


async def describe(call: Call) -> Answer:
    return Answer(_records(await acts.practice(call)))


async def start(call: Call) -> Answer:
    """Create the missing practice sources, and return all."""
    return Answer(_records(await acts.practice(call, start=True)))


async def change(call: Call) -> Answer:
    """Change a practice document, and check it now."""
    what = acts.what_of(call.path["what"])
    done = await acts.change(call, what)
    record = record_of(done.view)
    return Answer(PracticeChange(what, done.says, record, f"/v1/stream?source={record.id}"), 202)


async def end(call: Call) -> Answer:
    await acts.end(call)
    return Answer(status=204)


async def document(call: Call) -> Answer:
    body, media = await acts.document(call, acts.what_of(call.path["what"]))
    return Answer(body, media=media, headers=dict(HARMLESS))


_WRITE = "sources:write"
ROUTES = (
    Route(
        method="GET",
        path="/v1/practice",
        scope="sources:read",
        run=describe,
        says="List the practice sources.",
        answers={200: list[PracticeRecord]},
    ),
    Route(
        method="POST",
        path="/v1/practice",
        scope=_WRITE,
        run=start,
        says="Start practice: create the practice sources.",
        answers={200: list[PracticeRecord]},
        refuses=("conflict",),
    ),
    Route(
        method="POST",
        path="/v1/practice/{what}/change",
        scope=_WRITE,
        run=change,
        says="Change a practice document and check it.",
        answers={202: PracticeChange},
        refuses=("not-found", "conflict"),
    ),
    Route(
        method="DELETE",
        path="/v1/practice",
        scope=_WRITE,
        beside=("alerts:write", "bins:write"),
        run=end,
        says="End practice: delete its sources and their alerts.",
        answers={204: None},
    ),
    Route(
        method="GET",
        path="/practice/{what}",
        scope=PUBLIC,
        run=document,
        says="Read a practice document as it is now.",
        answers={200: str},
        media="text/html",
        also=("application/rss+xml",),
        refuses=("not-found",),
    ),
)
