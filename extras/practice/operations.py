"""Practice: show, change, await and end its sources, wire them to a bin, read its documents; their routes."""

from __future__ import annotations

from collections.abc import Sequence

import trio
from msgspec import Struct

from actors.errors import Conflict, TooSoon, Unprocessable
from actors.messages.sources import ChangePractice, EndPractice, ShowPractice
from actors.messages.views import PracticeChange as Changed
from actors.messages.views import SourceView
from actors.practice import DOCUMENTS, PRACTICE_KINDS, PracticeKind, address, kind_of_url
from api.fields.alerts import NewAlert
from api.fields.destinations import NewDestination
from api.fields.sources import SourceRecord
from api.nouns import alerts, bins, destinations
from api.nouns.context import OperationContext, existing
from api.nouns.destinations import WithSecret
from api.nouns.sources import ANSWER_WITHIN, ask_registry, record_of
from api.route import PUBLIC, Answer, Call, Routes
from storage.records.alert import Alert
from storage.records.bin import Bin
from storage.records.event import Filter, Stored
from storage.records.identity import Seq, SourceId

TOLD_WITHIN = 8.0  # seconds for the event of a change. It takes a fraction of a second; one or two on a cold start.
_ASK_AGAIN = 0.1  # seconds between two checks of a bin that awaits a delivery
ALERT, LABEL = "Practice", "practice bin"  # the name of the practice alert, and the label of its destination


def what_of(text: str) -> PracticeKind:
    """Return the document that a word names. Raises NotFound."""
    found = next((what for what in PRACTICE_KINDS if what == text), None)
    return existing(found, f"There is no such practice document; there are {', '.join(PRACTICE_KINDS)}.")


async def practice(call: OperationContext, *, start: bool = False) -> Sequence[SourceView]:
    """Return the existing practice sources; with `start`, create them all. Raises Conflict, TooSlowError."""
    return await ask_registry(call, lambda reply: ShowPractice(reply, start))


async def change(call: OperationContext, what: PracticeKind) -> Changed:
    """Change a document and check it now. Raises TooSoon, Conflict, TooSlowError."""
    return await ask_registry(call, lambda reply: ChangePractice(what, reply))


async def wait_event(call: OperationContext, source: SourceId, after: Seq) -> Stored | None:
    """Return the first event of a source after a position, or None within TOLD_WITHIN."""
    with trio.move_on_after(TOLD_WITHIN):
        at = after
        while True:
            page = await call.context.storage.log.read(at, 1, Filter(sources=(source,)))
            if page.events:
                return page.events[0]
            at = page.scanned
            await call.context.storage.tail.wait_past(at)
    return None


async def change_and_wait(call: OperationContext, what: PracticeKind) -> tuple[Changed, Stored | None]:
    before = call.context.storage.tail.head
    done = await change(call, what)
    return done, await wait_event(call, done.view.source.id, before)


async def wait_checked(call: OperationContext, what: PracticeKind, within: int) -> None:
    """Wait until the last change of a document has been checked, for at most `within` seconds."""
    head = call.context.storage.tail.head
    for view in await practice(call):
        if kind_of_url(view.source.url) == what and (view.hot.last_look_at or 0) < view.source.updated_at:
            with trio.move_on_after(within):
                await call.context.storage.tail.wait_past(head)


async def latest(call: OperationContext, views: Sequence[SourceView], limit: int) -> Sequence[Stored]:
    if not views:
        return ()
    where = Filter(sources=tuple(view.source.id for view in views))
    return (await call.context.storage.log.read_back(Seq(call.context.storage.tail.head + 1), limit, where)).events


async def attach_bin(call: OperationContext) -> tuple[Bin, WithSecret]:
    """Make a bin, and a practice alert that delivers to it. Raises Conflict if the practice ended, TooSlowError."""
    views = await practice(call, start=True)
    bin = await bins.bins_of(call).create()
    ids = tuple(str(view.source.id) for view in views)
    try:
        alert = await alerts.add(call, NewAlert(filter_query="", source_ids=ids, name=ALERT))
    except Unprocessable:
        await call.context.storage.bins.delete(bin.id)
        raise Conflict("the practice has ended: start it again, then attach a bin") from None
    return bin, await destinations.add(call, alert.id, NewDestination(url=bins.bins_of(call).address(bin), label=LABEL))


async def attached_bins(call: OperationContext) -> Sequence[Bin]:
    """Return the bins that practice was wired to, the newest last."""
    own = {alert.id for alert in await _alerts(call, await practice(call))}
    every = await bins.every(call)
    each = zip(every, await bins.feeding_each(call, every), strict=True)
    return [bin for bin, feeding in each if any(one.alert_id in own and one.label == LABEL for one in feeding)]


async def wait_delivery(call: OperationContext, bin: Bin) -> bool:
    """Change the page as soon as allowed and wait for the delivery. Return False if none came within TOLD_WITHIN."""
    try:
        await change(call, "page")
    except TooSoon as error:
        await trio.sleep(min(error.retry_after, ANSWER_WITHIN))
        await change(call, "page")
    for _ in range(round(TOLD_WITHIN / _ASK_AGAIN)):
        if (await call.context.storage.bins.captures(bin.id, None, 1, 1)).captures:
            return True
        await trio.sleep(_ASK_AGAIN)
    return False


async def end(call: OperationContext) -> None:
    """Delete the practice sources, their own alerts and the wired bins; the events stay. Raises TooSlowError."""
    for bin in await attached_bins(call):
        await call.context.storage.bins.delete(bin.id)
    for alert in await _alerts(call, await practice(call)):
        await alerts.delete(call, alert.id)
    await ask_registry(call, EndPractice)


async def _alerts(call: OperationContext, views: Sequence[SourceView]) -> Sequence[Alert]:
    ids = {str(view.source.id) for view in views}
    every = await call.context.storage.alerts.all()
    return [alert for alert in every if alert.source_ids and not alert.tags and ids.issuperset(alert.source_ids)]


async def document(call: OperationContext, what: PracticeKind) -> tuple[bytes, str]:
    source = await call.context.storage.sources.by_url(address(call.context.settings.public_url(), what))
    return DOCUMENTS[what].at(0 if source is None else source.practice or 0), DOCUMENTS[what].media


HARMLESS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
}


class PracticeRecord(Struct, frozen=True):
    """A practice document and the source that watches it. `changes`: how often it was changed."""

    what: PracticeKind
    changes: int
    source: SourceRecord


class PracticeChange(Struct, frozen=True):
    """The change, as a sentence; its event is on `stream` within seconds."""

    what: PracticeKind
    says: str
    source: SourceRecord
    stream: str


def _records(views: Sequence[SourceView]) -> list[PracticeRecord]:
    return [PracticeRecord(kind_of_url(view.source.url), view.source.practice or 0, record_of(view)) for view in views]


ROUTES = Routes("", "sources")
_PATH, _MANY = "/v1/practice", {200: list[PracticeRecord]}


@ROUTES("GET", _PATH, _MANY)
async def describe(call: Call) -> Answer:
    """List the practice sources."""
    return Answer(_records(await practice(call)))


@ROUTES("POST", _PATH, _MANY, refuses=("conflict",))
async def start(call: Call) -> Answer:
    """Start practice: create the practice sources."""
    return Answer(_records(await practice(call, start=True)))


@ROUTES("POST", f"{_PATH}/{{what}}/change", {202: PracticeChange}, refuses=("conflict",))
async def _change(call: Call) -> Answer:
    """Change a practice document and check it."""
    what = what_of(call.path["what"])
    done = await change(call, what)
    record = record_of(done.view)
    return Answer(PracticeChange(what, done.says, record, f"/v1/stream?source={record.id}"), 202)


@ROUTES("DELETE", _PATH, {204: None}, beside=("alerts:write", "bins:write"))
async def _end(call: Call) -> Answer:
    """End practice: delete its sources and their alerts."""
    await end(call)
    return Answer(status=204)


@ROUTES("GET", "/practice/{what}", {200: str}, scope=PUBLIC, media="text/html", also=("application/rss+xml",))
async def _document(call: Call) -> Answer:
    """Read a practice document as it is now."""
    body, media = await document(call, what_of(call.path["what"]))
    return Answer(body, media=media, headers=dict(HARMLESS))
