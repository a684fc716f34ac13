"""Alerts: their operations and routes. The matcher has a change before the answer.

Previews of alerts: try a query on the newest events before it is stored. Events go to a worker in slices: a long one
may take 50 milliseconds, which must not block the loop. The trial ends after the requested number of events or after a
time limit, and reports how far it came. An alert's past matches are found the same way, page by page: a page is full
at so many matches, and the next continues from its last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
import trio
from msgspec import Meta, Struct, structs

from actors.errors import Conflict, DomainError, NotFound, Overloaded, Unprocessable
from actors.inheritance import defaults_of
from actors.messages.declaring import Declared, Time, made_of
from actors.messages.declaring import record_of as shown_of
from actors.messages.views import SourceSelection
from actors.notification.headline import ListedEvent
from actors.query import AnalysedText, QueryError, UnknownLanguage, matches, parse
from actors.query.conditions import Condition, Fact, Facts
from actors.query.explain import PreviewAnswer, advice, counted_terms
from actors.query.explain import PreviewRequest as Asked
from actors.query.syntax import has_conditions, terms
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow
from api.etags import created, deleting, etag_of, expected, shown
from api.fields import alerts as wire
from api.fields.alerts import FilterQuery, LanguageCode, Match, PrivateSources, SourceIds, Tags, TrueNow
from api.fields.queries import ListQuery
from api.nouns import context, destinations, sources
from api.nouns.context import OperationContext, alert_named, as_id, edit_of, known_id, put_in_force, refuse_stale, whole
from api.nouns.streams import CHANNELS
from api.pagination import oldest_first
from api.problems import invalid
from api.ratelimit import Limit
from api.route import LETS_OUT, Answer, Call, Routes
from storage.errors import StorageError
from storage.records.alert import MOST_ALERTS, Alert, Scope
from storage.records.destination import Destination
from storage.records.event import Filter, Stored
from storage.records.identity import START, Millis, Seq, SourceId, given_fields, millis_of, rfc3339, seq_of
from storage.records.revision import Expected, revision_of
from storage.records.source import Source, tag_of
from storage.records.tiers import ORDINARY, Kind

_NAME = 60

# --- input -----------------------------------------------------------------------------------------------------------


def check_query(query: str, language: str, *, strict: bool = True) -> None:
    """Raise Refusal (400), Unprocessable. strict: refuse misspelled conditions, which old queries have as words."""
    try:
        parse(query, language, strict=strict)
    except UnknownLanguage as error:
        raise Unprocessable(str(error), "body.language", language) from None
    except QueryError as error:
        raise invalid("body.filter_query", f"{error.reason} (at character {error.position})", query) from None


def tags_in(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags as events carry them, each once; a bare word is a label. Raises Unprocessable for an empty one.

    >>> tags_in(("mine", "topic:ai", " label:mine "))
    ('label:mine', 'topic:ai')
    """
    found: dict[str, None] = {}
    for index, text in enumerate(tags):
        space, _, word = tag_of(text.strip()).partition(":")
        if not space or not word:
            raise Unprocessable("write <namespace>:<value>, or a word", f"body.tags[{index}]", text)
        found[f"{space}:{word}"] = None
    return tuple(found)


async def sources_of(call: OperationContext, ids: Sequence[str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """Return normalised source ids, each once. Raises Refusal (400), Unprocessable for unknown ones."""
    found: dict[str, None] = {}
    there = frozenset(known)
    for index, text in enumerate(ids):
        id = as_id(text, f"body.source_ids[{index}]", "not a source id")
        if id not in there and await call.context.storage.sources.get(SourceId(id)) is None:
            raise Unprocessable(f"there is no source {id}", f"body.source_ids[{index}]", text)
        found[id] = None
    return tuple(found)


async def named_in(call: OperationContext, given: Mapping[str, Any], old: object = None) -> dict[str, tuple[str, ...]]:
    """Return the sources that are named, by field, in their one spelling; those of `old` may be gone by now."""
    wanted = {name: given[name] for name in ("source_ids", "private_source_ids") if name in given}
    return {name: await sources_of(call, ids, getattr(old, name, ())) for name, ids in wanted.items()}


def _check_channel(call: OperationContext, channel: object) -> None:
    if channel in CHANNELS or (isinstance(channel, str) and call.context.templates.catalogue.get(channel)):
        raise Unprocessable(f"{channel} is a channel of the service itself", "body.channel", channel)


def _check_anomaly(enabled: object) -> None:
    if enabled is True:
        raise Unprocessable("anomalies can't be watched yet", "body.anomaly_enabled", value=True)


# --- operations ------------------------------------------------------------------------------------------------------


named = alert_named


async def add(call: OperationContext, new: wire.NewAlert, planned: str | None = None) -> Alert:
    """Add an alert, with copies of the chosen and default destinations. Raises Refusal, Unprocessable, Conflict."""
    known = {each.id for each in await call.context.storage.alerts.destinations()} if new.destination_ids else ()
    for index, id in enumerate(new.destination_ids):
        if id not in known:
            raise Unprocessable(f"there is no destination {id}", f"body.destination_ids[{index}]", id)
    alert = await _add(call, new, planned)
    if new.destination_ids or (alert.tags and new.default_destinations):
        await _give_copies(call, alert, new)
    return alert


@whole
async def _add(call: OperationContext, new: wire.NewAlert, planned: str | None) -> Alert:
    alerts, now = call.context.storage.alerts, call.context.world.now()
    if planned is not None and (there := await alerts.get(planned)) is not None:
        await put_in_force(call)
        return there
    check_query(new.filter_query, new.language)
    _check_channel(call, new.channel)
    _check_anomaly(new.anomaly_enabled)
    wanted = given_fields(new, Alert)
    named = await named_in(call, wanted)
    if len(await alerts.all()) >= MOST_ALERTS:
        raise Conflict(f"there are {MOST_ALERTS} alerts, the most possible: delete one first")
    name = new.name or new.filter_query.strip()[:_NAME] or "Everything"
    alert = Alert(
        id=planned or call.context.world.new_id(),
        created_at=now,
        updated_at=now,
        updated_by=call.by,
        **wanted | named | {"name": name, "tags": tags_in(new.tags), "notices": tuple(dict.fromkeys(new.notices))},
    )
    await alerts.put(alert)
    await put_in_force(call)
    return alert


@whole
async def _give_copies(call: OperationContext, alert: Alert, new: wire.NewAlert) -> None:
    """Give a new alert the chosen destinations and those of its tags, each once, within the limits."""
    by_tag = {each.tag: each for each in await call.context.storage.tag_defaults.all()}
    of_tags = (id for each in defaults_of(alert.tags, by_tag) for id in each.destinations if new.default_destinations)
    wanted = dict.fromkeys((*new.destination_ids, *of_tags))
    if not wanted:
        return
    there = {each.id: each for each in await call.context.storage.alerts.destinations()}
    if any(each.alert_id == alert.id for each in there.values()):
        return  # a repeated call finds them there
    for id in [id for id in wanted if id in there][: destinations.MOST_OF_AN_ALERT]:
        if len(there) < destinations.MOST_DESTINATIONS:
            copied = await destinations.copy(call, there[id], alert)
            there[copied.id] = copied
    await put_in_force(call)


@whole
async def change(
    call: OperationContext, id: str, wanted: Mapping[str, Any], expected: Expected = None, *, seen: bool = False
) -> Alert:
    """Change fields of an alert; `seen`: it is of now in any case. Raises NotFound, Stale, Refusal, Unprocessable."""
    old, changes = await named(call, id), dict(wanted)
    query = changes.get("filter_query", old.filter_query)
    check_query(query, changes.get("language", old.language), strict=query != old.filter_query)
    _check_channel(call, changes.get("channel"))
    _check_anomaly(changes.pop("anomaly_enabled", None))
    if "tags" in changes:
        changes["tags"] = tags_in(changes["tags"])
    changes |= await named_in(call, changes, old)
    edited = await call.context.storage.alerts.edit(old.id, edit_of(call, changes, expected, seen=seen))
    alert = edited or await named(call, id)  # gone: raises NotFound
    await put_in_force(call)
    return alert


@whole
async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Delete one alert and its destinations. Raises NotFound, Stale."""
    if not await call.context.storage.alerts.delete(known_id(id, "alert"), lambda it: refuse_stale(it, expected)):
        raise NotFound("There is no such alert.")
    await put_in_force(call)


MOST_TRIED: Final = 20  # sources whose current values are read for a new alert
TRIED_WITHIN: Final = 2.0  # seconds for all of them


async def true_now(call: OperationContext, query_text: str, language: str, scope: Scope) -> list[wire.TrueNow]:
    """Return the current values that meet a valid query with conditions already, one of each source.

    Such an alert stays silent until the value changes again. No conditions, or too many sources: none. The alert is
    stored by now, so a slow or failing service finds fewer values and still answers.
    """
    query, found = parse(query_text, language), list[wire.TrueNow]()
    if not has_conditions(query.root):
        return found
    asked = [term for term in terms(query.root) if isinstance(term, Condition)]
    with suppress(DomainError, StorageError, trio.TooSlowError), trio.move_on_after(TRIED_WITHIN):
        for source in await _few_of(call, scope):
            told = await sources.reported_page(call, source.id, values=True)
            values = msgspec.to_builtins(told.standing.values) if told else ()
            facts = [msgspec.convert({"after": row[0], "label": row[2], "path": row[3]}, Fact) for row in values]
            texts = (source.called, *(block.text for block in told.blocks[:200])) if told else ()
            if matches(query, AnalysedText(*texts, facts=Facts(facts))):
                matching = (fact for term in asked for fact in Facts(facts).matching(term))
                pairs = ((fact.label, fact.after.text) for fact in matching if fact.after is not None)
                found += [wire.TrueNow(source.id, source.called, label, text) for label, text in islice(pairs, 1)]
    return found


async def _few_of(call: OperationContext, scope: Scope) -> list[Source]:
    if scope.sources:
        stored = [await call.context.storage.sources.get(SourceId(id)) for id in [*scope.sources][:MOST_TRIED]]
        return [event.source for event in stored if event is not None]
    views = (await sources.page(call, MOST_TRIED + 1, where=SourceSelection(tags=tuple(scope.tags)))).views
    return [view.source for view in views] if len(views) <= MOST_TRIED else []


def record_of(alert: Alert, hooks: Sequence[Destination]) -> wire.AlertRecord:
    twins = {"alert_id": alert.id, "delivery_mode": hooks[0].delivery_mode if hooks else "instant"}
    return made_of(wire.AlertRecord, alert, **twins, destination_count=len(hooks), revision=revision_of(alert))


ROUTES = Routes("/v1/alerts", "alerts")
_ONE, _UNLESS_STALE = {200: wire.AlertRecord}, ("precondition-failed",)


@ROUTES("POST", "", {201: wire.AlertRecord}, beside=LETS_OUT, body=(wire.NewAlert,), repeatable=True)
async def _create(call: Call) -> Answer:
    """Add an alert."""
    alert = await add(call, call.body, call.planned)
    holds = await true_now(call, alert.filter_query, alert.language, alert.scope)
    record = structs.replace(await _record(call, alert), true_now=tuple(holds))
    return created(call, f"alerts/{alert.id}", alert, record)


@ROUTES("GET", "", {200: list[wire.AlertRecord]}, query=ListQuery)
async def _list(call: Call) -> Answer:
    """List alerts, oldest first."""
    page, headers = oldest_first(call, await call.context.storage.alerts.all())
    hooks: dict[str, list[Destination]] = {}
    for destination in await call.context.storage.alerts.destinations():
        hooks.setdefault(destination.alert_id, []).append(destination)
    return Answer([record_of(alert, hooks.get(alert.id, ())) for alert in page], headers=headers)


async def _record(call: Call, alert: Alert) -> wire.AlertRecord:
    return record_of(alert, await call.context.storage.alerts.destinations(alert.id))


@ROUTES("GET", "/{id}", _ONE | {304: None})
async def _describe(call: Call) -> Answer:
    """Read one alert."""
    alert = await named(call, call.path["id"])
    return shown(call, alert, await _record(call, alert))


@ROUTES("PATCH", "/{id}", _ONE, beside=LETS_OUT, body=(wire.AlertPatch,), refuses=(*_UNLESS_STALE, "unprocessable"))
async def _patch(call: Call) -> Answer:
    """Change one alert."""
    alert = await change(call, call.path["id"], given_fields(call.body, wire.AlertPatch), expected(call))
    return Answer(await _record(call, alert), headers=etag_of(alert))


_DELETES = "Delete one alert with its destinations."
ROUTES("DELETE", "/{id}", {204: None}, says=_DELETES, refuses=_UNLESS_STALE)(deleting(delete))


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


@shown_of(ListedEvent, "id source_id title url")
class PreviewMatch(Declared, frozen=True, kw_only=True):
    """A matching event. `matched`: the terms of the query that it contains."""

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


WITHIN = 2.0  # seconds after which a trial stops
PACE = Limit(rate=0.5, burst=10)  # previews of all keys together, so that they do not occupy a worker for long
AT_ONCE = 50  # events per read of the log
SLICE = 512 << 10  # bytes of events per worker call; a single event may exceed it
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
            diff = [{"part": part.part, "index": part.index} | structs.asdict(part.excerpt) for part in why.diff]
            places = {"title": why.title, "content": why.content, "diff": diff}
            marks = msgspec.convert(places, Highlights, from_attributes=True)
            self.shown.append(made_of(PreviewMatch, event, emitted_at=at, matched=why.matched, highlights=marks))

    def days(self) -> tuple[PreviewDay, ...]:
        return tuple(PreviewDay(day, self.looked[day], self.hits[day]) for day in sorted(self.looked, reverse=True))

    def per_day(self, now: Millis) -> float | None:
        if self.oldest is None or now - self.oldest < _DAY:
            return None
        return round(self.hits.total() * _DAY / (now - self.oldest), 2)


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
    context.check_pace(
        call, "previews of alerts", PACE, f"{PACE.burst} previews at once, then one every {1 / PACE.rate:g} s"
    )
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
        for some in _slices([event for event in taken if event.seq > within.after]):
            if trio.current_time() >= deadline:
                stopped = Seq(some[0].seq + 1)
                break
            tally.take(some, await _try(call, asked, some, asked.limit - len(tally.shown)))
            if within.full and len(tally.shown) == asked.limit:
                stopped = seq_of(tally.shown[-1].id)
                break
        before = page.scanned if stopped is None else stopped
    ended, query = before <= within.after + 1, parse(asked.filter_query, asked.language)
    answer = AlertPreview(
        query=str(query),
        language=query.language,
        warnings=tuple(advice(query)),
        looked_at=tally.looked.total(),
        complete=ended or tally.looked.total() >= asked.last,
        looked_from=None if tally.oldest is None else rfc3339(tally.oldest),
        matches_found=tally.hits.total(),
        per_day=tally.per_day(call.context.world.now()),
        days=tally.days(),
        terms=tuple(map(PreviewTerm, names, tally.terms)),
        matches=tuple(tally.shown),
    )
    return Trial(answer, None if ended else before)


def _slices(events: Sequence[Stored]) -> Iterator[Sequence[Stored]]:
    part: list[Stored] = []
    for event in events:
        if part and sum(len(each.body) for each in (*part, event)) > SLICE:
            yield part
            part = []
        part.append(event)
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


_TRIES: dict[str, Any] = {"scope": "alerts:read", "beside": LETS_OUT, "refuses": ("unprocessable",)}


@ROUTES("POST", "/preview", {200: AlertPreview}, body=(AlertPreviewRequest,), **_TRIES)
async def _preview(call: Call) -> Answer:
    """Try a query on the newest events."""
    return Answer(await preview(call, call.body))
