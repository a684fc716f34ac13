"""Practice, for any face: its sources shown, changed, waited for, wired to a bin, ended; its documents as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio

from actors.errors import NotFound, TooSoon
from actors.messages.sources import ChangePractice, EndPractice, ShowPractice
from actors.messages.views import PracticeChange, SourceView
from actors.practice.documents import DOCUMENTS, WHATS, What, address, named
from api.operations import alerts, bins, destinations
from api.operations.context import OperationContext
from api.operations.destinations import WithSecret
from api.schemas.alerts import NewAlert, NewDestination
from storage.records.alert import Alert
from storage.records.bin import Bin
from storage.records.cursor import Filter
from storage.records.event import Stored
from storage.records.identity import Seq, SourceId

ANSWER_WITHIN = 15.0
"""Seconds for the registry's answer; a worker that must be started first is among it."""
TOLD_WITHIN = 8.0
"""Seconds for the event of a change; it takes a fraction of one, and on a cold start one or two."""
_ASK_AGAIN = 0.1
"""Seconds between two looks into a bin that a delivery is on its way to."""
ALERT, LABEL = "Practice", "practice bin"
"""The name of the alert that is wired, and the label of its destination."""


def what_of(text: str) -> What:
    """Return which document a word names. Raises NotFound."""
    for what in WHATS:
        if text == what:
            return what
    raise NotFound(f"There is no such practice document; there are {', '.join(WHATS)}.")


async def practice(desk: OperationContext, *, start: bool = False) -> Sequence[SourceView]:
    """Return the practice sources that there are; with `start`, all of them. Raises Conflict, TooSlowError."""
    views: Sequence[SourceView] = await _ask(desk, lambda reply: ShowPractice(reply, start))
    return views


async def change(desk: OperationContext, what: What) -> PracticeChange:
    """Change a document, and have it looked at now. Raises TooSoon, Conflict, TooSlowError."""
    practised: PracticeChange = await _ask(desk, lambda reply: ChangePractice(what, reply))
    return practised


async def told(desk: OperationContext, source: SourceId, after: Seq) -> Stored | None:
    """Return the first event of a source after a position; None when there is none within TOLD_WITHIN."""
    with trio.move_on_after(TOLD_WITHIN):
        at = after
        while True:
            page = await desk.context.storage.log.read(at, 1, Filter(sources=(source,)))
            if page.events:
                return page.events[0]
            at = page.scanned
            await desk.context.storage.tail.wait_past(at)
    return None


async def changed(desk: OperationContext, what: What) -> tuple[PracticeChange, Stored | None]:
    """Change a document and wait for the event of it; see `change` and `told`."""
    before = desk.context.storage.tail.head
    done = await change(desk, what)
    return done, await told(desk, done.view.source.id, before)


async def settled(desk: OperationContext, what: What, within: int) -> None:
    """Wait until the last change of a document has been looked at; for so many seconds at most."""
    head = desk.context.storage.tail.head
    for view in await practice(desk):
        if named(view.source.url) == what and (view.hot.last_look_at or 0) < view.source.updated_at:
            with trio.move_on_after(within):
                await desk.context.storage.tail.wait_past(head)


async def latest(desk: OperationContext, views: Sequence[SourceView], limit: int) -> Sequence[Stored]:
    """Return the newest events of the practice sources, newest first."""
    if not views:
        return ()
    where = Filter(sources=tuple(view.source.id for view in views))
    page = await desk.context.storage.log.read_back(Seq(desk.context.storage.tail.head + 1), limit, where)
    return page.events


async def wire(desk: OperationContext) -> tuple[Bin, WithSecret]:
    """Make a bin, and an alert over the practice sources that delivers to it. Raises Conflict, TooSlowError."""
    views = await practice(desk, start=True)
    bin = await bins.bins_of(desk).mint()
    ids = tuple(str(view.source.id) for view in views)
    alert = await alerts.add(desk, NewAlert(filter_query="", source_ids=ids, name=ALERT))
    address = bins.bins_of(desk).address(bin)
    return bin, await destinations.add(desk, alert.id, NewDestination(url=address, label=LABEL))


async def wired(desk: OperationContext) -> Sequence[Bin]:
    """Return the bins that practice was wired to, the newest last."""
    views = await practice(desk)
    own = {alert.id for alert in await _alerts(desk, views)}
    every = await bins.every(desk)
    each = zip(every, await bins.feeding_each(desk, every), strict=True)
    return [bin for bin, feeding in each if any(one.alert_id in own and one.label == LABEL for one in feeding)]


async def delivered(desk: OperationContext, bin: Bin) -> bool:
    """Change the page once it may be changed, and wait for the delivery. False: it has not come within TOLD_WITHIN."""
    try:
        await change(desk, "page")
    except TooSoon as error:
        await trio.sleep(min(error.retry_after, ANSWER_WITHIN))
        await change(desk, "page")
    for _ in range(round(TOLD_WITHIN / _ASK_AGAIN)):
        if (await desk.context.storage.bins.captures(bin.id, None, 1, 1)).captures:
            return True
        await trio.sleep(_ASK_AGAIN)
    return False


async def end(desk: OperationContext) -> None:
    """Delete the practice sources, the alerts over nothing else, and the bins that were wired; the events stay.

    Raises TooSlowError.
    """
    for bin in await wired(desk):
        await desk.context.storage.bins.delete(bin.id)
    for alert in await _alerts(desk, await practice(desk)):
        await alerts.delete(desk, alert.id)
    await _ask(desk, EndPractice)


async def _alerts(desk: OperationContext, views: Sequence[SourceView]) -> Sequence[Alert]:
    """Return the alerts over practice sources and nothing else."""
    ids = {str(view.source.id) for view in views}
    every = await desk.context.storage.alerts.all()
    return [alert for alert in every if alert.source_ids and ids.issuperset(alert.source_ids)]


async def document(desk: OperationContext, what: What) -> tuple[bytes, str]:
    """Return a document as it is now, or as it would begin, and its media type."""
    source = await desk.context.storage.sources.by_url(address(desk.context.settings.public_url(), what))
    step = 0 if source is None else source.practice or 0
    return DOCUMENTS[what].at(step), DOCUMENTS[what].media


async def _ask(desk: OperationContext, make: Any) -> Any:
    with trio.fail_after(ANSWER_WITHIN):
        return await desk.context.registry.ask(make)
