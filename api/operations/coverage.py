"""Coverage of a source: how often it was checked in a period, and which parts are unknown."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from actors.signatures.coverage import CoverageReceipt, Logged, receipt_of, said
from api.operations import sources
from api.operations.context import OperationContext
from api.problems import invalid
from storage.records.coverage import Coverage, Kept, Span, cover, days_of, window
from storage.records.event import Filter, id_in
from storage.records.identity import Millis, Seq, SourceId, millis_of, seq_at
from storage.records.message import Message
from storage.records.source import Source
from storage.records.tiers import WATCHED
from storage.sql.stores.log import EventLog

WEEK: Final = 7 * 86_400_000
DAY: Final = 86_400_000
LONGEST: Final = 3_660 * DAY
"""The longest period of one receipt, in milliseconds."""


class SourceCoverage(NamedTuple):
    """A source's coverage in a period, and its unsigned receipt."""

    found: Coverage
    receipt: CoverageReceipt

    @property
    def says(self) -> Message:
        return said(self.found)


async def coverage(
    call: OperationContext, id: str, start: Millis | None = None, end: Millis | None = None
) -> SourceCoverage:
    """Return the coverage, by default of the last 7 days. A period's future part is cut off.

    Raises NotFound, Refusal (400), StorageError.
    """
    # Read the tally first: a day stored between the two reads is then in at least one of them.
    view = await sources.view(call, id)
    return await coverage_of(call, view.source, view.hot.tally, start, end)


async def coverage_of(
    call: OperationContext, source: Source, tally: bytes, start: Millis | None = None, end: Millis | None = None
) -> SourceCoverage:
    """Return the coverage of a source that has been read. Raises Refusal (400), StorageError."""
    context = call.context
    record, known_until = await context.shifts.record()
    now = context.world.now()
    start, end = _checked(start, end, now)
    first, last = days_of(start, end)
    kept_from = _kept_from(now, context.settings.coverage_days)
    days = await context.storage.coverage.days(source.id, max(first, kept_from // DAY), last)
    unknown = [*record.unknown, Span(Millis(0), kept_from, "retention")]
    if known_until < end:
        unknown.append(Span(known_until, end, "no_record"))
    found = cover(start, end, Kept(source.created_at, tally, days), record._replace(unknown=unknown))
    logged = await logged_in(context.storage.log, source.id, found.start, found.end)
    return SourceCoverage(found, receipt_of(source.id, source.url, found, logged))


def _kept_from(now: Millis, days: int) -> Millis:
    """Return the start of the retention period. Older days count as unknown, even if not deleted yet."""
    return Millis(max(0, now // DAY - days) * DAY)


async def signed(call: OperationContext, made: SourceCoverage) -> bytes:
    """Return a signed receipt. Raises StorageError."""
    signer = await call.context.signer()
    return signer.sign_document(msgspec.to_builtins(made.receipt), call.context.world.now())


def _checked(start: Millis | None, end: Millis | None, now: Millis) -> tuple[Millis, Millis]:
    if start is not None and start >= now:
        raise invalid("query.from", "is in the future", start)
    till = now if end is None else min(end, now)
    since = Millis(max(0, till - WEEK)) if start is None else start
    if till < since:
        raise invalid("query.to", "is before query.from", end)
    if till - since > LONGEST:
        raise invalid("query.from", "is more than ten years before query.to", start)
    return window(since, till, now)


async def logged_in(log: EventLog, source: SourceId, start: Millis, end: Millis) -> Logged:
    """Return the first and last event of a period, with two reads of the source's index."""
    where = Filter(sources=(source,), kinds=WATCHED)
    after, before = Seq(max(0, seq_at(start) - 1)), seq_at(end)
    floor = (await log.bounds()).floor
    since = millis_of(floor) if floor > after else None
    first = (await log.read(after, 1, where)).events
    last = (await log.read_back(before, 1, where)).events
    if not first or not last or first[0].seq >= before or last[0].seq <= after:
        return Logged(None, None, since)
    return Logged(id_in(first[0].body), id_in(last[0].body), since)
