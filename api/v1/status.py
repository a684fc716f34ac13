"""The current status of a source."""

from __future__ import annotations

from actors.messages.views import PushView, SourceView
from api.operations import sources
from api.route import Answer, Call, Route
from api.schemas import sources as wire
from api.v1.sources import breaker_of, time_or_null
from storage.records.cursor import SourceSize


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


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/status",
        scope="sources:read",
        run=status,
        says="Read what the watching does now.",
        answers={200: wire.SourceStatus},
        refuses=("not-found",),
    ),
)
