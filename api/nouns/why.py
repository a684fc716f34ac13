"""The status, check trail and coverage of a source; why an event was emitted, why a text was not; feedback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
import trio
from msgspec import UNSET, Meta, Struct

from actors.errors import Unprocessable
from actors.messages.declaring import Declared, Time, made_of, record_of
from actors.messages.views import PushView, Reason, SourceExplanation, SourceView
from actors.query import QueryError, Texts, UnknownLanguage, decode_event, matches, parse
from actors.signatures import CoverageReceipt, LoggedEvents, receipt_of, summarise
from api.fields.queries import Cursor
from api.fields.sources import HeldEvents, PushStatus, SourceStatus
from api.nouns import events, sources
from api.nouns.context import OperationContext
from api.nouns.sources import time_or_null
from api.pagination import next_page, place
from api.problems import Refusal, invalid
from api.route import Answer, Call, Routes
from storage.records.alert import Alert
from storage.records.checks import Note, Part, Row, read_notes, read_rows, unpack_memory
from storage.records.coverage import Coverage, StoredChecks, UnknownPeriod, cover, days_of, window
from storage.records.event import RESET, Event, Filter, SourceSize, Stored, id_in
from storage.records.identity import Millis, Seq, SourceId, millis_of, parse_rfc3339, seq_at, seq_of
from storage.records.message import Message, joined, message
from storage.records.publication import Retraction
from storage.records.source import Source, Validators
from storage.records.tiers import WATCHED, WITH_DIFF, WITH_ENTRIES, Kind
from storage.sql.stores.log import EventLog
from storage.sql.stores.sources import Sources


@record_of(Row, "first_at last_at looks status bytes ms verdict")
class Looks(Declared, frozen=True, kw_only=True):
    """Consecutive checks with the same result. `bytes` (received) and `ms` are those of the last one."""

    bytes: int
    verdict: str


@record_of(Part, "text rule key came told score")
class LookPart(Declared, frozen=True, kw_only=True):
    """A block of a page or an entry of a feed, with the `rule` that reported or withheld it."""


@record_of(Note, "at verdict reason compared_with score bar withheld told counts until")
class LookNote(Declared, frozen=True, kw_only=True):
    """A check whose body changed."""

    verdict: Literal["told", "baseline", "churn", "held", "failed", "stretch"]
    compared_with: Time | None
    withheld: tuple[LookPart, ...]
    told: tuple[LookPart, ...]
    counts: dict[str, int]


@record_of(Validators, "etag last_modified body_hash")
class LastValidators(Declared, frozen=True, kw_only=True):
    """Validators of the last answer, for the next conditional request, and the hash of its body."""


class LooksQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of the trail to return."""

    limit: Annotated[int, Meta(ge=1, le=200)] = 200
    cursor: Cursor | None = None


class LookTrail(Struct, frozen=True, kw_only=True):
    """The last 200 checks of a source, and notes on those with a changed body (at most 40); newest first."""

    id: str
    looks: tuple[Looks, ...]
    notes: tuple[LookNote, ...]
    validators: LastValidators


MOST_NAMES = 20


class AlertsMatched(Struct, frozen=True, kw_only=True):
    """The active alerts whose present queries match an event; `names` has at most 20, for keys with `alerts:read`."""

    count: int
    names: tuple[str, ...]


ReasonKind = Literal["page", "new_item", "new_entry", "edited_entry", "frame", "notice"]


@record_of(Event, "id source_id source_type")
class EventWhy(Declared, frozen=True, kw_only=True):
    """Why an event was emitted: `says` has the reason in a sentence or two, the other fields have the evidence."""

    kind: ReasonKind
    says: str
    noted: bool
    compared_with: Time | None
    compared_with_event: str | None
    score: float | None
    bar: float | None
    identity: str | None
    weighed: tuple[LookPart, ...]
    withheld: tuple[LookPart, ...]
    alerts: AlertsMatched
    alerts_once: AlertsMatched


FeedbackVerdict = Literal["real", "noise"]


class WhyQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The expected text; without it, the last checks are explained. `look`: check now too, if politeness allows."""

    text: Annotated[str, Meta(max_length=1000)] = ""
    look: bool = False


@record_of(Reason, "kind says at event_id text")
class KnownReason(Declared, frozen=True, kw_only=True):
    """One known fact, as a sentence."""

    says: str
    event_id: str | None


@record_of(Source, "id url title type")
class SourceWhy(Declared, frozen=True, kw_only=True):
    """Why a text was not reported. `says`: the best reason and the state of the source. `reasons`: all known facts."""

    title: Annotated[str, Meta(description="The user's name for it, else its own title")]
    says: str
    state: str
    reasons: tuple[KnownReason, ...]


class Feedback(Struct, frozen=True, forbid_unknown_fields=True):
    """A user's verdict on an event."""

    verdict: FeedbackVerdict


class Lesson(Struct, frozen=True, kw_only=True):
    """The effect of the feedback; `noise_count` as in the source's record."""

    event_id: str
    source_id: str
    verdict: FeedbackVerdict
    noise_count: int
    says: str


Moment = Annotated[str, Meta(max_length=100, extra_json_schema={"format": "date-time"})]


class CoverageQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from", "end": "to"}):
    """The period, by default the last 7 days. It is widened to whole hours and ends now at the latest."""

    start: Moment | None = None
    end: Moment | None = None


WEEK: Final = 7 * 86_400_000
DAY: Final = 86_400_000
LONGEST: Final = 3_660 * DAY  # the longest period of one receipt, in milliseconds


class SourceCoverage(NamedTuple):
    """A source's coverage in a period, and its unsigned receipt."""

    found: Coverage
    receipt: CoverageReceipt

    @property
    def says(self) -> Message:
        return summarise(self.found)


async def coverage(
    call: OperationContext, id: str, start: Millis | None = None, end: Millis | None = None
) -> SourceCoverage:
    """Return the coverage of a period that ends now at the latest. Raises NotFound, Refusal (400), StorageError."""
    # Read the tally first: a day stored between the two reads is then in at least one of them.
    view = await sources.view(call, id)
    return await coverage_of(call, view.source, view.hot.tally, start, end)


async def coverage_of(
    call: OperationContext, source: Source, tally: bytes, start: Millis | None = None, end: Millis | None = None
) -> SourceCoverage:
    """Return the coverage of a source that has been read. Raises Refusal (400), StorageError."""
    context, now = call.context, call.context.world.now()
    record, known_until = await context.shifts.record()
    start, end = _checked(start, end, now)
    first, last = days_of(start, end)
    # Older days count as unknown, even if not deleted yet.
    kept_from = Millis(max(0, now // DAY - context.settings.coverage_days) * DAY)
    days = await context.storage.coverage.days(source.id, max(first, kept_from // DAY), last)
    unknown = [*record.unknown, UnknownPeriod(Millis(0), kept_from, "retention")]
    if known_until < end:
        unknown.append(UnknownPeriod(known_until, end, "no_record"))
    found = cover(start, end, StoredChecks(source.created_at, tally, days), record._replace(unknown=unknown))
    logged = await logged_in(context.storage.log, source.id, found.start, found.end)
    return SourceCoverage(found, receipt_of(source.id, source.url, found, logged))


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


async def logged_in(log: EventLog, source: SourceId, start: Millis, end: Millis) -> LoggedEvents:
    """Return the first and last event of a period, with two reads of the source's index."""
    where = Filter(sources=(source,), kinds=WATCHED)
    after, before = Seq(max(0, seq_at(start) - 1)), seq_at(end)
    floor = (await log.bounds()).floor
    since = millis_of(floor) if floor > after else None
    first = (await log.read(after, 1, where)).events
    last = (await log.read_back(before, 1, where)).events
    if not first or not last or first[0].seq >= before or last[0].seq <= after:
        return LoggedEvents(None, None, since)
    return LoggedEvents(id_in(first[0].body), id_in(last[0].body), since)


_SHOWN = 60
_HELD = message("All the others were new too, as after a move, and its date is old, so no alert gets it.")
_NO_NOTE = message("The note of that check is deleted, so this comes from the event itself.")


class Before(NamedTuple):
    """The baseline of a page's event: the event before it, or the first check. `at` None: unknown."""

    at: Millis | None = None
    event_id: str | None = None


def _part(part: Part) -> LookPart:
    return made_of(LookPart, part, score=round(part.score, 3))


def note_of(note: Note) -> LookNote:
    return made_of(
        LookNote,
        note,
        verdict=note.came,
        compared_with=time_or_null(note.since),
        score=None if note.score is None else round(note.score, 3),
        withheld=tuple(_part(part) for part in note.parts if not part.told),
        told=tuple(_part(part) for part in note.parts if part.told),
        counts=dict(note.counts),
    )


def kind_of(event: Event) -> ReasonKind:
    if isinstance(event.alert_type, str):
        return "notice"
    if event.source_type in WITH_DIFF:
        return "new_item" if "change:new" in event.tags and event.delta is UNSET else "page"
    if event.source_type not in WITH_ENTRIES:
        return "frame"
    return "edited_entry" if "change:updated" in event.tags else "new_entry"


class Matching(NamedTuple):
    """The names of the alerts that match an event today. once: those that had its story from an earlier event."""

    names: list[str]
    once: list[str]


class EventExplanation(NamedTuple):
    """Why an event was emitted, for a person and for programs."""

    says: Message
    answer: EventWhy


def why(event: Event, note: Note | None, before: Before, alerts: Matching, *, named: bool) -> EventExplanation:
    kind = kind_of(event)
    known = note_of(note) if note is not None else None
    of_page = known if kind == "page" else None
    told = known.told if known is not None else ()
    key = next((part.key for part in told if part.text and event.title.startswith(part.text)), None)
    says = joined([_says(event, kind, note, key), _compared(kind, note, before), _matched_alerts(alerts, named)])
    of_alerts = ((len(names), tuple(names[:MOST_NAMES]) if named else ()) for names in alerts)
    matched = [AlertsMatched(count=count, names=shown) for count, shown in of_alerts]
    answer = made_of(
        EventWhy,
        event,
        kind=kind,
        says=str(says),
        noted=note is not None,
        compared_with=time_or_null(note.since if kind != "page" and note is not None else before.at),
        compared_with_event=before.event_id,
        score=None if of_page is None else of_page.score,
        bar=None if of_page is None else of_page.bar,
        identity=key if kind in ("new_entry", "edited_entry") else None,
        weighed=told if kind == "page" else (),
        withheld=of_page.withheld if of_page is not None else (),
        alerts=matched[0],
        alerts_once=matched[1],
    )
    return EventExplanation(says, answer)


def _says(event: Event, kind: ReasonKind, note: Note | None, key: str | None) -> Message:
    shown = None if key is None else f"“{_cut(key)}”"
    match kind:
        case "notice":
            says = "This is a notice of the service itself (%(kind)s), not a change of the source: %(rest)s"
            return message(says, kind=str(event.alert_type), rest=event.content)
        case "page":
            return _page(event, note)
        case "new_entry":
            held = _HELD if RESET in event.tags else None
            if shown is None:
                return joined([message("The feed held an entry that had not been seen before."), held])
            return joined([message("The feed held an entry that had not been seen before (%(key)s).", key=shown), held])
        case "new_item":
            unread = event.unread if isinstance(event.unread, str) else None
            read = unread or message("Its own page was read for its text.")
            return joined([message("The list had an item whose address had not been on it before."), read])
        case "edited_entry":
            if shown is None:
                return message("An entry that was known by its identity had another text.")
            return message("An entry that was known by its identity (%(key)s) had another text.", key=shown)
        case "frame":
            return message("A frame arrived that matches an alert or the source's own filter, and it was no duplicate.")


def _page(event: Event, note: Note | None) -> Message:
    if note is None or note.score is None or note.bar is None:
        if not hasattr(event.diff, "added"):
            return joined([message("The page changed."), _NO_NOTE])
        came, went, altered = (len(getattr(event.diff, name)) for name in ("added", "removed", "changed"))
        says = "The page changed: blocks added (%(came)s), removed (%(went)s), altered (%(altered)s)."
        return joined([message(says, came=came, went=went, altered=altered), _NO_NOTE])
    scored = "The change scored %(score)s; the threshold is %(least)s."
    found = [message(scored, score=f"{note.score:.2f}", least=f"{note.bar:.2f}")]
    if heaviest := [_weighed(part) for part in note.parts if part.told]:
        found.append(message("Most of the score: %(rest)s.", rest=joined(heaviest[:3], ", ")))
    withheld = sum(not part.told for part in note.parts)
    others = message("%(count)s other differences did not count.", count=withheld)
    if withheld == 1:
        others = message("%(count)s other difference did not count.", count=withheld)
    return joined([*found, others if withheld else None])


def _weighed(part: Part) -> Message:
    text, score = _cut(part.text), f"{part.score:.2f}"
    gone = message("“%(text)s” removed (%(score)s)", text=text, score=score)
    return message("“%(text)s” added (%(score)s)", text=text, score=score) if part.came else gone


def _compared(kind: ReasonKind, note: Note | None, before: Before) -> Message | None:
    if kind == "page":
        if before.event_id is not None and before.at is not None:
            return message("It was compared with the page reported on %(at)s.", at=before.at)
        if before.at is not None:
            return message("It was compared with the page of the first check, on %(at)s.", at=before.at)
        return message("It was compared with the last reported page; that event has been deleted.")
    if kind in ("new_entry", "edited_entry"):
        if note is None:
            return _NO_NOTE
        return None if note.since is None else message("The previous check was on %(at)s.", at=note.since)
    return None


def _matched_alerts(matching: Matching, named: bool) -> Message | None:
    names, once = len(matching.names), len(matching.once)
    passed = message("%(count)s alerts had this story from an earlier event.", count=once) if once else None
    if once == 1:
        passed = message("%(count)s alert had this story from an earlier event.", count=once)
    if not names:
        return passed
    if not named:
        says = message("%(count)s alerts match it now.", count=names)
        return joined([message("%(count)s alert matches it now.", count=1) if names == 1 else says, passed])
    shown = ", ".join(f"“{_cut(name)}”" for name in matching.names[:3]) + (", .." if names > 3 else "")
    says = message("%(count)s alerts match it now: %(names)s.", count=names, names=shown)
    if names == 1:
        says = message("%(count)s alert matches it now: %(names)s.", count=names, names=shown)
    return joined([says, passed])


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + "…"


MOST_ALERTS = 2_000  # alerts to try on one event
_SLICE = 50
_event = msgspec.json.Decoder(Event)


async def notes_of(sources: Sources, source: SourceId) -> Sequence[Note]:
    """Return the notes of a source, oldest first; none if it is deleted."""
    stored = await sources.get(source)
    return read_notes(unpack_memory(stored.base).notes) if stored is not None else ()


async def event_why(call: OperationContext, id: str, *, named: bool) -> EventExplanation:
    """Return why an event was emitted. Include the names of matching alerts if `named`. Raises NotFound."""
    stored = await events.named(call, id)
    event = _event.decode(stored.body)
    notes = await notes_of(call.context.storage.sources, stored.source)
    before = await _before(call, stored, notes) if kind_of(event) == "page" else Before()
    at = parse_rfc3339(event.fetched_at)
    note = next((note for note in notes if note.at == at and note.came in ("told", "baseline", "held")), None)
    return why(event, note, before, await _alerts(call, stored, event), named=named)


async def _before(call: OperationContext, stored: Stored, notes: Sequence[Note]) -> Before:
    """Return the source's previous event, or the first check if that is later or the log has no gap before it."""
    log = call.context.storage.log
    first = max((note.at for note in notes if note.came == "baseline" and seq_at(note.at) < stored.seq), default=None)
    page = await log.read_back(stored.seq, 1, Filter(sources=(stored.source,), kinds=(Kind.HTML, Kind.PRACTICE)))
    for earlier in page.events:
        if first is None or earlier.seq > seq_at(first):
            return Before(millis_of(earlier.seq), _event.decode(earlier.body).id)
    if first is not None:
        return Before(first)
    source = await call.context.storage.sources.get(stored.source)
    floor = (await log.bounds()).floor
    if source is None or page.scanned or seq_at(source.source.created_at) <= floor:
        return Before()
    return Before(source.source.created_at)


async def _alerts(call: OperationContext, stored: Stored, event: Event) -> Matching:
    texts = Texts(decode_event(stored.body))
    met = await call.context.storage.outbox.met(seq_of(event.story)) if isinstance(event.story, str) else {}
    found = Matching([], [])
    enabled = [alert for alert in await call.context.storage.alerts.all() if alert.enabled]
    for number, alert in enumerate(enabled[:MOST_ALERTS]):
        if number % _SLICE == 0:
            await trio.lowlevel.checkpoint()
        if event.alert_type is not UNSET:
            is_met = alert.scope.covers(stored) and event.alert_type in alert.notices
        else:
            is_met = alert.scope.takes(stored, call.context.private_since) and meets(alert, texts)
        if is_met:
            once = alert.meets_once and met.get(alert.id, stored.seq) != stored.seq
            (found.once if once else found.names).append(alert.name)
    return found


def meets(alert: Alert, texts: Texts) -> bool:
    try:
        return matches(parse(alert.filter_query, alert.language), texts.of(alert.match))
    except (QueryError, UnknownLanguage):
        return False  # written by another version; the matcher logs it


def status_of(view: SourceView, held: SourceSize) -> SourceStatus:
    hot = view.hot
    return made_of(
        SourceStatus,
        view,
        view.source,
        hot,
        state="active" if view.source.enabled else "disabled",
        health_flag=hot.health.flag,
        last_fetch_at=time_or_null(hot.last_look_at),
        next_fetch_at=time_or_null(hot.next_look_at),
        interval_s=hot.interval,
        consecutive_failures=hot.breaker.failures,
        held=made_of(HeldEvents, held),
        push=None if view.source.tier.polled else made_of(PushStatus, view.push or PushView()),
    )


ROUTES = Routes("/v1", "sources")


@ROUTES("GET", "/sources/{id}/status", {200: SourceStatus})
async def status(call: Call) -> Answer:
    """Read the status of a source."""
    view = await sources.view(call, call.path["id"])
    return Answer(status_of(view, await call.context.storage.log.held(view.source.id)))


@ROUTES("GET", "/sources/{id}/looks", {200: LookTrail}, query=LooksQuery)
async def looks(call: Call) -> Answer:
    """Read the results of the last 200 checks."""
    before = place(call, tuple[int, int])
    view = await sources.view(call, call.path["id"])
    rows = [row for row in read_rows(view.hot.trail)[::-1] if before is None or (row.first_at, row.last_at) < before]
    page, end = rows[: call.query.limit], None if before is None else before[0]
    start = page[-1].first_at if len(rows) > len(page) else None
    notes = reversed(await notes_of(call.context.storage.sources, view.source.id))
    found = LookTrail(
        id=view.source.id,
        looks=tuple(made_of(Looks, row, bytes=row.size, verdict=row.verdict.name.lower()) for row in page),
        notes=tuple(note_of(note) for note in notes if (start or 0) <= note.at and (end is None or note.at < end)),
        validators=made_of(LastValidators, view.hot.validators),
    )
    return Answer(found, headers=next_page(call, None if start is None else (start, page[-1].last_at)))


@ROUTES("GET", "/sources/{id}/coverage", {200: CoverageReceipt}, query=CoverageQuery)
async def _coverage(call: Call) -> Answer:
    """Read the checks of a period, as a signed receipt."""
    start, end = _time_in(call.query.start, "query.from"), _time_in(call.query.end, "query.to")
    return Answer(await signed(call, await coverage(call, call.path["id"], start, end)))


def _time_in(text: str | None, where: str) -> Millis | None:
    try:
        # An unencoded plus sign arrives as a space.
        return None if text is None else parse_rfc3339(text.replace(" ", "+"))
    except ValueError:
        raise invalid(where, "not an RFC 3339 time with an offset", text) from None


# --- why not? --------------------------------------------------------------------------------------------------------


@ROUTES("GET", "/sources/{id}/why", {200: SourceWhy}, query=WhyQuery)
async def source_why(call: Call) -> Answer:
    """Explain why a text was not reported."""
    query: WhyQuery = call.query
    if query.look and (call.key is None or "sources:write" not in call.key.scopes):
        raise Refusal("forbidden", "Checking now (`look`) needs the scope sources:write.")
    return Answer(explanation_of(query.text, await sources.explain(call, call.path["id"], query.text, look=query.look)))


def explanation_of(text: str, found: SourceExplanation) -> SourceWhy:
    reasons = tuple(made_of(KnownReason, why, says=str(why.says), event_id=why.event) for why in found.reasons)
    source, state = found.view.source, str(found.state)
    best = [reasons[0].says] if text.strip() and reasons else []
    return made_of(SourceWhy, source, title=source.name, says=" ".join([*best, state]), state=state, reasons=reasons)


@ROUTES("GET", "/events/{id}/why", {200: EventWhy}, scope="stream:read")
async def _event_why(call: Call) -> Answer:
    """Explain why an event was emitted."""
    named = call.key is not None and "alerts:read" in call.key.scopes
    return Answer((await event_why(call, call.path["id"], named=named)).answer)


# --- feedback --------------------------------------------------------------------------------------------------------


@ROUTES("POST", "/events/{id}/feedback", {200: Lesson}, body=(Feedback,), refuses=("unprocessable",))
async def _feedback(call: Call) -> Answer:
    """Mark a page's event as noise, or as real."""
    return Answer(await feedback(call, call.path["id"], call.body.verdict))


async def feedback(call: OperationContext, id: str, verdict: FeedbackVerdict) -> Lesson:
    """Learn that a page's event was noise, or real after all. Raises NotFound, Unprocessable."""
    stored = await events.named(call, id)
    event = _event.decode(stored.body)
    if event.source_type not in WITH_DIFF or event.alert_type is not UNSET:
        raise Unprocessable(_no_page(event), "path.id", event.id)
    ops = () if event.delta is UNSET else event.delta.ops
    read = (text for op in ops for text in (op.text, op.before, op.after) if isinstance(text, str))
    texts = tuple(dict.fromkeys(read))
    learned = await sources.teach(call, SourceId(stored.source), texts, noise=verdict == "noise")
    if verdict == "noise":
        retraction = Retraction(stored.seq, event.id, call.context.world.now())
        await call.context.storage.publications.retract(retraction)
    else:
        await call.context.storage.publications.restore(stored.seq)
    says, count = _learned(verdict, len(texts), learned.blocks), len(learned.view.source.noise)
    return Lesson(event_id=event.id, source_id=event.source_id, verdict=verdict, noise_count=count, says=says)


def _learned(verdict: FeedbackVerdict, texts: int, keys: int) -> str:
    if verdict == "real":
        if not keys:
            return "No block of this event was marked as noise, so nothing changes."
        return f"The {texts} blocks of this event are no longer noise: when they come or go, that counts again."
    if not keys:
        return f"The {texts} blocks of this event were noise already."
    return (
        f"The {texts} blocks of this event are noise from now on, also with other figures in them (prices and versions "
        "excepted): they no longer count when added or removed. Other changes of the page are reported as before."
    )


def _no_page(event: Event) -> str:
    if event.alert_type is not UNSET:
        return "This is a notice of the service itself; an alert chooses which of them it wants (`notices`)."
    what = "Feed entries are reported because they are new"
    if event.source_type not in WITH_ENTRIES:
        what = "Frames are reported by query"
    return f"{what}, so there is nothing to learn. Exclude them in an alert's query (`-word`)."
