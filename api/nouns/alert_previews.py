"""Previews of alerts: try a query on the newest events before it is stored.

Events go to a worker in slices: a long one may take 50 milliseconds, which must not block the loop. The trial ends
after the requested number of events or after a time limit, and reports how far it came. An alert's past matches are
found the same way, page by page: a page is full at so many matches, and the next continues from its last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

import msgspec
import trio
from msgspec import Meta, Struct, structs

from actors.errors import Overloaded
from actors.messages.declaring import Time, made_of
from actors.notification.headline import ListedEvent
from actors.query import parse
from actors.query.explain import Explanation, PreviewAnswer, advice, counted_terms
from actors.query.explain import PreviewRequest as Asked
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow
from api.fields.alerts import FilterQuery, LanguageCode, Match, PrivateSources, SourceIds, Tags, TrueNow
from api.nouns.alerts import check_query, named_in, tags_in, true_now
from api.nouns.context import OperationContext, check_pace
from api.ratelimit import Limit
from api.route import LETS_OUT, Answer, Call, Routes
from storage.records.alert import Scope
from storage.records.event import Filter, Stored
from storage.records.identity import START, Millis, Seq, millis_of, rfc3339, seq_of
from storage.records.tiers import ORDINARY, Kind

MOST_EVENTS = 2_000
Mark = Annotated[tuple[int, int], Meta(description="Start and end in code points of the whole text, the end excluded")]


class AlertPreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A query as in an alert, and the range of the search."""

    filter_query: FilterQuery
    language: LanguageCode = "en"
    source_ids: SourceIds = ()
    last: Annotated[int, Meta(ge=1, le=MOST_EVENTS)] = MOST_EVENTS
    limit: Annotated[int, Meta(ge=0, le=100)] = 20
    match: Match = "change"
    tags: Tags = ()
    private_source_ids: PrivateSources = ()


class PreviewTerm(Struct, frozen=True):
    """A word, prefix or phrase of the query as interpreted, and the number of events that contain it."""

    text: str
    events: int


class PreviewDay(Struct, frozen=True):
    """A day (UTC): how many of its events were searched, and how many match."""

    day: Annotated[str, Meta(extra_json_schema={"format": "date"})]
    looked_at: int
    matches: int


class ContentExcerpt(Struct, frozen=True):
    """A piece of the content from the code point `start` on. Marks count in the whole content, like `start`."""

    start: int
    text: str
    marks: tuple[Mark, ...]


class DiffExcerpt(Struct, frozen=True):
    """A piece of a text of the event's `diff`: of `added[index]`, `removed[index]`, or a side of `changed[index]`."""

    part: Literal["added", "removed", "before", "after"]
    index: int
    start: int
    text: str
    marks: tuple[Mark, ...]


class Highlights(Struct, frozen=True):
    """The places of the terms in Unicode code points; no text is HTML. `diff`: those in added and removed texts."""

    title: tuple[Mark, ...]
    content: tuple[ContentExcerpt, ...]
    diff: tuple[DiffExcerpt, ...] = ()


class PreviewMatch(Struct, frozen=True, kw_only=True):
    """A matching event. `matched`: the terms of the query that it contains."""

    id: str
    source_id: str
    title: str
    url: str
    emitted_at: Time
    matched: tuple[str, ...]
    highlights: Highlights


class AlertPreview(Struct, frozen=True, kw_only=True):
    """The past matches of a query."""

    query: str
    language: str
    warnings: tuple[str, ...]
    looked_at: int
    complete: bool
    looked_from: Time | None
    matches_found: int
    per_day: float | None
    days: tuple[PreviewDay, ...]
    terms: tuple[PreviewTerm, ...]
    matches: tuple[PreviewMatch, ...]
    true_now: tuple[TrueNow, ...] = ()


WITHIN = 2.0
"""Seconds after which a trial stops."""
PACE = Limit(rate=0.5, burst=10)
"""Previews of all keys together, so that they do not occupy a worker for long."""
AT_ONCE = 50
"""Events per read of the log."""
SLICE = 512 << 10
"""Bytes of events per worker call; a single event may exceed it."""
_DAY = 86_400_000
_END = Seq((1 << 63) - 1)
_shown = msgspec.json.Decoder(ListedEvent)


@dataclass
class _Tally:
    terms: list[int]
    looked: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    shown: list[PreviewMatch] = field(default_factory=list)
    oldest: Millis | None = None

    def take(self, events: Sequence[Stored], answer: PreviewAnswer) -> None:
        self.terms = [a + b for a, b in zip(self.terms, answer.found_in, strict=True)]
        self.looked.update(map(_day, events))
        self.hits.update(_day(events[place]) for place in answer.matched)
        self.oldest = millis_of(events[-1].seq)
        for place, why in zip(answer.matched, answer.why, strict=False):
            event = _shown.decode(events[place].body)
            at = event.emitted_at or rfc3339(millis_of(events[place].seq))
            found = made_of(PreviewMatch, event, emitted_at=at, matched=why.matched, highlights=_highlights(why))
            self.shown.append(found)

    def days(self) -> tuple[PreviewDay, ...]:
        return tuple(PreviewDay(day, self.looked[day], self.hits[day]) for day in sorted(self.looked, reverse=True))

    def per_day(self, now: Millis) -> float | None:
        if self.oldest is None or now - self.oldest < _DAY:
            return None
        return round(self.hits.total() * _DAY / (now - self.oldest), 2)


def _highlights(why: Explanation) -> Highlights:
    diff = [{"part": one.part, "index": one.index} | msgspec.structs.asdict(one.excerpt) for one in why.diff]
    found = {"title": why.title, "content": why.content, "diff": diff}
    return msgspec.convert(found, Highlights, from_attributes=True)


def _day(event: Stored) -> str:
    return rfc3339(millis_of(event.seq))[:10]


class Stretch(NamedTuple):
    """A part of the log, newest first, between two positions. full: stop once the shown matches are complete."""

    after: Seq = START
    before: Seq = _END
    full: bool = False


EVERYWHERE = Stretch()


class Trial(NamedTuple):
    """The result, and the position to continue from; None at the end."""

    preview: AlertPreview
    further: Seq | None


async def preview(call: OperationContext, asked: AlertPreviewRequest, within: Stretch = EVERYWHERE) -> AlertPreview:
    """Try a query on the newest events. Raises Refusal, Unprocessable, TooSoon, Overloaded."""
    check_query(asked.filter_query, asked.language)
    named = await named_in(call, structs.asdict(asked))
    scope = Scope(named["source_ids"], tags_in(asked.tags), named["private_source_ids"], call.context.world.now())
    check_pace(call, "previews of alerts", PACE, f"{PACE.burst} previews at once, then one every {1 / PACE.rate:g} s")
    found = (await trial(call, asked, scope, within)).preview
    holds = await true_now(call, asked.filter_query, asked.language, scope)
    return structs.replace(found, true_now=tuple(holds))


async def trial(
    call: OperationContext, asked: AlertPreviewRequest, scope: Scope, within: Stretch = EVERYWHERE
) -> Trial:
    """Try a valid query on a stretch of the log. scope: normalised ids and tags. Raises Overloaded."""
    names = counted_terms(asked.filter_query, asked.language)
    tally, before, stopped = _Tally([0] * len(names)), within.before, None
    # The log cannot filter by "these sources or these tags".
    kinds = (*ORDINARY, Kind.PRACTICE) if scope.sources else ORDINARY
    named = ((), ()) if scope.sources and scope.tags else (tuple(scope.sources), tuple(scope.tags))
    where, deadline = Filter(sources=named[0], kinds=kinds, tags=named[1]), trio.current_time() + WITHIN
    while before > within.after + 1 and (left := asked.last - tally.looked.total()) and stopped is None:
        if trio.current_time() >= deadline:
            break
        page = await call.context.storage.log.read_back(before, min(AT_ONCE, left), where)
        taken = (event for event in page.events if scope.takes(event, call.context.private_since))
        events = [event for event in taken if event.seq > within.after]
        stopped = await _take(call, asked, tally, events, deadline, full=within.full)
        before = page.scanned if stopped is None else stopped
    ended = before <= within.after + 1
    complete = ended or tally.looked.total() >= asked.last
    answer = _answer(asked, names, tally, call.context.world.now(), complete=complete)
    return Trial(answer, None if ended else before)


async def _take(
    call: OperationContext,
    asked: AlertPreviewRequest,
    tally: _Tally,
    events: Sequence[Stored],
    deadline: float,
    *,
    full: bool,
) -> Seq | None:
    """Count events; return the position to continue from if stopped early."""
    for some in _slices(events):
        if trio.current_time() >= deadline:
            return Seq(some[0].seq + 1)
        tally.take(some, await _try(call, asked, some, asked.limit - len(tally.shown)))
        if full and len(tally.shown) == asked.limit:
            return seq_of(tally.shown[-1].id)
    return None


def _slices(events: Sequence[Stored]) -> Iterator[Sequence[Stored]]:
    part: list[Stored] = []
    size = 0
    for event in events:
        if part and size + len(event.body) > SLICE:
            yield part
            part, size = [], 0
        part.append(event)
        size += len(event.body)
    if part:
        yield part


async def _try(
    call: OperationContext, asked: AlertPreviewRequest, events: Sequence[Stored], show: int
) -> PreviewAnswer:
    bodies = tuple(event.body for event in events)
    request = msgspec.msgpack.encode(Asked(asked.filter_query, asked.language, bodies, show, asked.match))
    try:
        answer = await call.context.world.jail.call("preview_query", request)
    except (WorkerDied, WorkerTooSlow, TaskRefused) as error:
        raise Overloaded(f"the query could not be tried: {error}", 5) from None
    return msgspec.msgpack.decode(answer, type=PreviewAnswer)


def _answer(
    asked: AlertPreviewRequest, names: Sequence[str], tally: _Tally, now: Millis, *, complete: bool
) -> AlertPreview:
    query = parse(asked.filter_query, asked.language)
    terms = tuple(PreviewTerm(text, events) for text, events in zip(names, tally.terms, strict=True))
    return AlertPreview(
        query=str(query),
        language=query.language,
        warnings=tuple(advice(query)),
        looked_at=tally.looked.total(),
        complete=complete,
        looked_from=None if tally.oldest is None else rfc3339(tally.oldest),
        matches_found=tally.hits.total(),
        per_day=tally.per_day(now),
        days=tally.days(),
        terms=terms,
        matches=tuple(tally.shown),
    )


ROUTES = Routes("/v1/alerts", "alerts")


@ROUTES(
    "POST",
    "/preview",
    {200: AlertPreview},
    scope="alerts:read",
    beside=LETS_OUT,
    body=(AlertPreviewRequest,),
    refuses=("unprocessable",),
)
async def _preview(call: Call) -> Answer:
    """Try a query on the newest events."""
    return Answer(await preview(call, call.body))
