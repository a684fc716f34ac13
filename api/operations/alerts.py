"""Alerts, for any face: store them and update the matcher before answering; try one before it is created.

Events go to a worker in slices: a long one may take 50 milliseconds, which must not block the loop. The trial ends
after the requested number of events or after a time limit, and reports how far it came. An alert's past matches are
found the same way, page by page: a page is full at so many matches, and the next continues from its last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import trio
from msgspec import UNSET, Struct
from msgspec.structs import replace

from actors.errors import Conflict, NotFound, Overloaded, TooSoon, Unprocessable
from actors.messages.workers import AlertsChanged
from actors.query import QueryError, UnknownLanguage, parse
from actors.query.advice import advice
from actors.query.explain import Explanation
from actors.query.search import PreviewAnswer, counted_terms
from actors.query.search import PreviewRequest as Asked
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow
from api.fields import alerts as wire
from api.operations.context import OperationContext, guarded, known_id, refuse_stale, whole
from api.operations.streams import CHANNELS
from api.operations.tags import tags_in
from api.problems import invalid
from api.ratelimit import Limit
from api.schemas import alert_previews
from storage.records.alert import MOST_ALERTS, Alert, Scope
from storage.records.event import Filter, Stored
from storage.records.identity import START, Millis, Seq, SourceId, given, millis_of, rfc3339, seq_of
from storage.records.revision import Expected
from storage.records.tiers import ORDINARY, Kind

ANSWER_WITHIN = 15.0
"""Seconds for the matcher to apply a change; it is stored by then."""
_NAME = 60
SOURCE_FIELDS = ("source_ids", "private_source_ids")

# --- input -----------------------------------------------------------------------------------------------------------


def check_query(query: str, language: str, *, strict: bool = True) -> None:
    """Raise Refusal (400 with the position), Unprocessable. strict: refuse misspelled conditions; stored queries have
    been words since before there were conditions.
    """
    try:
        parse(query, language, strict=strict)
    except UnknownLanguage as error:
        raise Unprocessable(str(error), "body.language", language) from None
    except QueryError as error:
        raise invalid("body.filter_query", f"{error.reason} (at character {error.position})", query) from None


async def sources_of(call: OperationContext, ids: Sequence[str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """Return normalised source ids, each once. Raises Refusal (400), Unprocessable for unknown ones."""
    found: dict[str, None] = {}
    there = frozenset(known)
    for index, text in enumerate(ids):
        try:
            id = str(UUID(text))
        except ValueError:
            raise invalid(f"body.source_ids[{index}]", "not a source id", text) from None
        if id not in there and await call.context.storage.sources.get(SourceId(id)) is None:
            raise Unprocessable(f"there is no source {id}", f"body.source_ids[{index}]", text)
        found[id] = None
    return tuple(found)


async def named_in(call: OperationContext, asked: object, old: object = None) -> dict[str, tuple[str, ...]]:
    """Return the sources that are named, by field, in their one spelling; those of `old` may be gone by now."""
    fields = {name: getattr(asked, name) for name in SOURCE_FIELDS}
    wanted = {name: ids for name, ids in fields.items() if ids is not UNSET}
    return {name: await sources_of(call, ids, getattr(old, name, ())) for name, ids in wanted.items()}


def _check_channel(call: OperationContext, channel: object) -> None:
    if channel in CHANNELS or (isinstance(channel, str) and call.context.templates.catalogue.get(channel)):
        raise Unprocessable(f"{channel} is a channel of the service itself", "body.channel", channel)


def _check_anomaly(enabled: object) -> None:
    if enabled is True:
        raise Unprocessable("anomalies can't be watched for yet", "body.anomaly_enabled", value=True)


def _changed(old: Alert, changes: Mapping[str, Any], now: Millis, by: str, *, seen: bool) -> Alert:
    """Return a changed alert; changes that change nothing leave it of the age it had."""
    changed = replace(old, **changes)
    return old if changed == old and not seen else replace(changed, updated_at=now, updated_by=by)


# --- operations ------------------------------------------------------------------------------------------------------


async def put_in_force(call: OperationContext) -> None:
    """Make all readers of alerts reload them. Raises TooSlowError (503); the stored change stays."""
    await call.streams.channels.refresh()
    with trio.fail_after(ANSWER_WITHIN):
        await call.context.matcher.ask(lambda reply: AlertsChanged(reply=reply))


async def named(call: OperationContext, id: str) -> Alert:
    """Return the alert with an id. Raises NotFound."""
    found = await call.context.storage.alerts.get(known_id(id, "alert"))
    if found is None:
        raise _missing()
    return found


@whole
async def add(call: OperationContext, new: wire.NewAlert, planned: str | None = None) -> Alert:
    """Add an alert, or return the one that has the `planned` id. Raises Refusal, Unprocessable, Conflict."""
    alerts, now = call.context.storage.alerts, call.context.world.now()
    if planned is not None and (there := await alerts.get(planned)) is not None:
        await put_in_force(call)
        return there
    check_query(new.filter_query, new.language)
    _check_channel(call, new.channel)
    _check_anomaly(new.anomaly_enabled)
    sources = await named_in(call, new)
    if len(await alerts.all()) >= MOST_ALERTS:
        raise Conflict(f"there are {MOST_ALERTS} alerts, and there is no room for more: delete one first")
    name = new.name or new.filter_query.strip()[:_NAME] or "Everything"
    alert = Alert(
        id=planned or call.context.world.new_id(),
        created_at=now,
        updated_at=now,
        updated_by=call.by,
        **given(new, Alert)
        | sources
        | {"name": name, "tags": tags_in(new.tags), "notices": tuple(dict.fromkeys(new.notices))},
    )
    await alerts.put(alert)
    await put_in_force(call)
    return alert


@whole
async def change(
    call: OperationContext, id: str, wanted: Mapping[str, Any], expected: Expected = None, *, seen: bool = False
) -> Alert:
    """Change fields of an alert; `seen`: it is of now in any case. Raises NotFound, Stale, Refusal, Unprocessable."""
    old, now, changes = await named(call, id), call.context.world.now(), dict(wanted)
    query = changes.get("filter_query", old.filter_query)
    check_query(query, changes.get("language", old.language), strict=query != old.filter_query)
    _check_channel(call, changes.get("channel"))
    _check_anomaly(changes.pop("anomaly_enabled", None))
    if "tags" in changes:
        changes["tags"] = tags_in(changes["tags"])
    changes |= {n: await sources_of(call, changes[n], getattr(old, n)) for n in SOURCE_FIELDS if n in changes}
    changed = guarded(expected, lambda alert: _changed(alert, changes, now, call.by, seen=seen))
    alert = await call.context.storage.alerts.edit(old.id, changed)
    if alert is None:
        raise _missing()
    await put_in_force(call)
    return alert


@whole
async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Delete one alert and its destinations. Raises NotFound, Stale."""
    if not await call.context.storage.alerts.delete(known_id(id, "alert"), lambda it: refuse_stale(it, expected)):
        raise _missing()
    await put_in_force(call)


def _missing() -> NotFound:
    return NotFound("There is no such alert.")


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


class _Shown(Struct):
    id: str
    source_id: str
    emitted_at: str = ""
    title: str = ""
    url: str = ""


_shown = msgspec.json.Decoder(_Shown)


@dataclass
class _Tally:
    """The result so far. oldest: the time of the oldest event examined."""

    terms: list[int]
    looked: Counter[str] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    shown: list[alert_previews.PreviewMatch] = field(default_factory=list)
    oldest: Millis | None = None

    def take(self, events: Sequence[Stored], answer: PreviewAnswer) -> None:
        self.terms = [a + b for a, b in zip(self.terms, answer.found_in, strict=True)]
        self.looked.update(map(_day, events))
        self.hits.update(_day(events[place]) for place in answer.matched)
        self.oldest = millis_of(events[-1].seq)
        for place, why in zip(answer.matched, answer.why, strict=False):
            event = _shown.decode(events[place].body)
            self.shown.append(
                alert_previews.PreviewMatch(
                    id=event.id,
                    source_id=event.source_id,
                    title=event.title,
                    url=event.url,
                    emitted_at=event.emitted_at or rfc3339(millis_of(events[place].seq)),
                    matched=why.matched,
                    highlights=_highlights(why),
                )
            )

    def days(self) -> tuple[alert_previews.PreviewDay, ...]:
        """Return the days examined, newest first."""
        return tuple(
            alert_previews.PreviewDay(day, self.looked[day], self.hits[day])
            for day in sorted(self.looked, reverse=True)
        )

    def per_day(self, now: Millis) -> float | None:
        """Return the matches per day, or None for less than a day."""
        if self.oldest is None or now - self.oldest < _DAY:
            return None
        return round(self.hits.total() * _DAY / (now - self.oldest), 2)


def _highlights(why: Explanation) -> alert_previews.Highlights:
    diff = [{"part": one.part, "index": one.index} | msgspec.structs.asdict(one.excerpt) for one in why.diff]
    found = {"title": why.title, "content": why.content, "diff": diff}
    return msgspec.convert(found, alert_previews.Highlights, from_attributes=True)


def _day(event: Stored) -> str:
    return rfc3339(millis_of(event.seq))[:10]


class Stretch(NamedTuple):
    """A stretch of the log, examined newest first: positions after `after` and before `before`.

    full: stop once the shown matches are complete.
    """

    after: Seq = START
    before: Seq = _END
    full: bool = False


EVERYWHERE = Stretch()


class Trial(NamedTuple):
    """The result, and the position to continue from; None at the end."""

    preview: alert_previews.AlertPreview
    further: Seq | None


async def preview(
    call: OperationContext, asked: alert_previews.AlertPreviewRequest, within: Stretch = EVERYWHERE
) -> alert_previews.AlertPreview:
    """Try a query on the newest events. Raises Refusal, Unprocessable, TooSoon, Overloaded."""
    check_query(asked.filter_query, asked.language)
    named = await named_in(call, asked)
    scope = Scope(named["source_ids"], tags_in(asked.tags), named["private_source_ids"], call.context.world.now())
    check_pace(call)
    return (await trial(call, asked, scope, within)).preview


def check_pace(call: OperationContext) -> None:
    """Raise TooSoon after too many recent trials."""
    verdict = call.limiter.take("previews of alerts", PACE, trio.current_time())
    if not verdict.admitted:
        raise TooSoon(f"{PACE.burst} previews at once, then one every {1 / PACE.rate:g} s", verdict.retry_after)


async def trial(
    call: OperationContext, asked: alert_previews.AlertPreviewRequest, scope: Scope, within: Stretch = EVERYWHERE
) -> Trial:
    """Try a valid query on a stretch of the log. scope: normalised ids and tags.

    Raises Overloaded.
    """
    names = counted_terms(asked.filter_query, asked.language)
    tally, before, stopped = _Tally([0] * len(names)), within.before, None
    where, deadline = _filter(scope), trio.current_time() + WITHIN
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


def _filter(scope: Scope) -> Filter:
    """Return the log's part of a scope's filter. The log cannot filter by "these sources or these tags"."""
    kinds = (*ORDINARY, Kind.PRACTICE) if scope.sources else ORDINARY
    both = scope.sources and scope.tags
    return Filter(kinds=kinds) if both else Filter(tuple(scope.sources), kinds=kinds, tags=tuple(scope.tags))


async def _take(
    call: OperationContext,
    asked: alert_previews.AlertPreviewRequest,
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
    """Yield events in order, in slices for one worker call."""
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
    call: OperationContext, asked: alert_previews.AlertPreviewRequest, events: Sequence[Stored], show: int
) -> PreviewAnswer:
    """Let a worker try the query. Raises Overloaded."""
    bodies = tuple(event.body for event in events)
    request = msgspec.msgpack.encode(Asked(asked.filter_query, asked.language, bodies, show, asked.match))
    try:
        answer = await call.context.world.jail.call("preview_query", request)
    except (WorkerDied, WorkerTooSlow, TaskRefused) as error:
        raise Overloaded(f"the query could not be tried: {error}", 5) from None
    return msgspec.msgpack.decode(answer, type=PreviewAnswer)


def _answer(
    asked: alert_previews.AlertPreviewRequest, names: Sequence[str], tally: _Tally, now: Millis, *, complete: bool
) -> alert_previews.AlertPreview:
    query = parse(asked.filter_query, asked.language)
    terms = tuple(alert_previews.PreviewTerm(text, events) for text, events in zip(names, tally.terms, strict=True))
    return alert_previews.AlertPreview(
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
