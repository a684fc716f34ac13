"""The status, check trail and coverage of a source; why an event was emitted, why a text was not; feedback."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from actors.errors import Unprocessable
from actors.messages.views import PushView, SourceExplanation, SourceView
from actors.signatures.coverage import CoverageReceipt
from api.fields import sources as wire
from api.operations import coverage as operations
from api.operations import events, sources, why
from api.operations.why import note_of, notes_of
from api.pagination import next_page, place
from api.problems import Refusal, invalid
from api.route import Answer, Call, Route
from api.schemas import why as wire_why
from api.schemas.why import CoverageQuery
from api.v1.sources import breaker_of, time_or_null
from storage.records import trail
from storage.records.event import Event, SourceSize
from storage.records.identity import Millis, SourceId, parse_rfc3339, rfc3339
from storage.records.publication import Retraction
from storage.records.tiers import WITH_DIFF, WITH_ENTRIES
from storage.records.trail import Note, Row


def _push(view: SourceView) -> wire.PushStatus | None:
    if view.source.tier.polled:
        return None
    seen = view.push or PushView()
    return wire.PushStatus(
        connected_since=time_or_null(seen.connected_since),
        subprotocol=seen.subprotocol,
        connections=seen.connections,
        frames=seen.frames,
        admitted=seen.admitted,
        duplicates=seen.duplicates,
        filtered=seen.filtered,
        unreadable=seen.unreadable,
    )


def status_of(view: SourceView, held: SourceSize) -> wire.SourceStatus:
    hot = view.hot
    return wire.SourceStatus(
        id=view.source.id,
        state="active" if view.source.enabled else "disabled",
        enabled=view.source.enabled,
        health_flag=hot.health.flag,
        last_fetch_at=time_or_null(hot.last_look_at),
        last_success_at=time_or_null(hot.last_success_at),
        last_event_at=time_or_null(hot.last_event_at),
        next_fetch_at=time_or_null(hot.next_look_at),
        overdue=view.overdue,
        interval_s=hot.interval,
        looks=hot.looks,
        unchanged=hot.unchanged,
        events=hot.events,
        last_status=hot.last_status,
        last_error=hot.last_error,
        breaker=breaker_of(view),
        consecutive_failures=hot.breaker.failures,
        held=wire.HeldEvents(events=held.events, bytes=held.bytes),
        queue_position=view.queue_position,
        push=_push(view),
    )


async def status(call: Call) -> Answer:
    view = await sources.view(call, call.path["id"])
    return Answer(status_of(view, await call.context.storage.log.held(view.source.id)))


def _row(row: Row) -> wire_why.Looks:
    return wire_why.Looks(
        first_at=rfc3339(row.first_at),
        last_at=rfc3339(row.last_at),
        looks=row.looks,
        status=row.status,
        bytes=row.size,
        ms=row.ms,
        verdict=row.verdict.name.lower(),
    )


def _trail(view: SourceView, rows: Sequence[Row], notes: Sequence[Note]) -> wire_why.LookTrail:
    """Return the trail with its notes. rows: newest first."""
    known = view.hot.validators
    return wire_why.LookTrail(
        id=view.source.id,
        looks=tuple(_row(row) for row in rows),
        notes=tuple(note_of(one) for one in reversed(notes)),
        validators=wire_why.LastValidators(
            etag=known.etag, last_modified=known.last_modified, body_hash=known.body_hash
        ),
    )


async def looks(call: Call) -> Answer:
    """Return a page of a source's last checks, with the notes of the same period."""
    query: wire_why.LooksQuery = call.query
    before = place(call, tuple[int, int])
    view = await sources.view(call, call.path["id"])
    rows = [row for row in trail.read(view.hot.trail)[::-1] if before is None or (row.first_at, row.last_at) < before]
    page, end = rows[: query.limit], None if before is None else before[0]
    start = page[-1].first_at if len(rows) > len(page) else None
    notes = [
        one
        for one in await notes_of(call.context.storage.sources, view.source.id)
        if (start is None or one.at >= start) and (end is None or one.at < end)
    ]
    headers = next_page(call, None if start is None else (start, page[-1].last_at))
    return Answer(_trail(view, page, notes), headers=headers)


async def coverage(call: Call) -> Answer:
    query: CoverageQuery = call.query
    start, end = _moment(query.start, "query.from"), _moment(query.end, "query.to")
    made = await operations.coverage(call, call.path["id"], start, end)
    return Answer(await operations.signed(call, made))


def _moment(text: str | None, where: str) -> Millis | None:
    try:
        # An unencoded plus sign arrives as a space.
        return None if text is None else parse_rfc3339(text.replace(" ", "+"))
    except ValueError:
        raise invalid(where, "not an RFC 3339 time with an offset", text) from None


_event = msgspec.json.Decoder(Event)


async def event_why(call: Call) -> Answer:
    named = call.key is not None and "alerts:read" in call.key.scopes
    return Answer((await why.event_why(call, call.path["id"], named=named)).answer)


# --- why not? --------------------------------------------------------------------------------------------------------


async def source_why(call: Call) -> Answer:
    """Explain why a text was not reported."""
    query: wire_why.WhyQuery = call.query
    if query.look and (call.key is None or "sources:write" not in call.key.scopes):
        raise Refusal("forbidden", "Checking now (`look`) needs the scope sources:write.")
    return Answer(explanation_of(query.text, await sources.explain(call, call.path["id"], query.text, look=query.look)))


def explanation_of(text: str, found: SourceExplanation) -> wire_why.SourceWhy:
    """Return in the wire format why a text was not reported."""
    reasons = tuple(
        wire_why.KnownReason(
            kind=one.kind, says=str(one.says), at=time_or_null(one.at), event_id=one.event, text=one.text
        )
        for one in found.reasons
    )
    best = [reasons[0].says] if text.strip() and reasons else []
    return wire_why.SourceWhy(
        id=found.view.source.id,
        url=found.view.source.url,
        title=found.view.source.name,
        type=found.view.source.type,
        says=" ".join([*best, str(found.state)]),
        state=str(found.state),
        reasons=reasons,
    )


# --- feedback --------------------------------------------------------------------------------------------------------


async def feedback(call: Call) -> Answer:
    """Learn that a page's event was noise, or real after all."""
    stored = await events.named(call, call.path["id"])
    event = _event.decode(stored.body)
    verdict: wire_why.FeedbackVerdict = call.body.verdict
    if event.source_type not in WITH_DIFF or event.alert_type is not UNSET:
        raise Unprocessable(_no_page(event), "path.id", event.id)
    texts = _texts(event)
    learned = await sources.teach(call, SourceId(stored.source), texts, noise=verdict == "noise")
    if verdict == "noise":
        retraction = Retraction(stored.seq, event.id, call.context.world.now())
        await call.context.storage.publications.retract(retraction)
    else:
        await call.context.storage.publications.restore(stored.seq)
    return Answer(
        wire_why.Lesson(
            event_id=event.id,
            source_id=event.source_id,
            verdict=verdict,
            noise_count=len(learned.view.source.noise),
            says=_learned(verdict, len(texts), learned.blocks),
        )
    )


def _texts(event: Event) -> tuple[str, ...]:
    """Return the added, removed or changed texts, each once."""
    if event.delta is UNSET:
        return ()
    texts = (text for op in event.delta.ops for text in (op.text, op.before, op.after))
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str)))


def _learned(verdict: wire_why.FeedbackVerdict, texts: int, keys: int) -> str:
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


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/status",
        scope="sources:read",
        run=status,
        says="Read the status of a source.",
        answers={200: wire.SourceStatus},
        refuses=("not-found",),
    ),
    Route(
        method="GET",
        path="/v1/sources/{id}/looks",
        scope="sources:read",
        run=looks,
        says="Read the results of the last 200 checks.",
        answers={200: wire_why.LookTrail},
        query=wire_why.LooksQuery,
        refuses=("not-found",),
        headers=("Link",),
    ),
    Route(
        method="GET",
        path="/v1/sources/{id}/coverage",
        scope="sources:read",
        run=coverage,
        says="Read the checks of a period, as a signed receipt.",
        answers={200: CoverageReceipt},
        query=CoverageQuery,
        refuses=("not-found",),
    ),
    Route(
        method="GET",
        path="/v1/sources/{id}/why",
        scope="sources:read",
        run=source_why,
        says="Explain why a text was not reported.",
        answers={200: wire_why.SourceWhy},
        query=wire_why.WhyQuery,
        refuses=("not-found",),
    ),
    Route(
        method="GET",
        path="/v1/events/{id}/why",
        scope="stream:read",
        run=event_why,
        says="Explain why an event was emitted.",
        answers={200: wire_why.EventWhy},
        refuses=("not-found",),
    ),
    Route(
        method="POST",
        path="/v1/events/{id}/feedback",
        scope="sources:write",
        run=feedback,
        says="Mark a page's event as noise, or as real.",
        answers={200: wire_why.Lesson},
        body=(wire_why.Feedback,),
        refuses=("not-found", "unprocessable"),
    ),
)
