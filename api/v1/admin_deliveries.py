"""The state of destinations, for the operator: waiting deliveries, failures, next attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.overseer.rows import first_line
from api.route import Answer, Call
from api.schemas import admin as wire
from api.v1.sources import time_or_null
from storage.records.delivery import Attempt, Rates, Waiting
from storage.records.destination import Destination
from storage.records.times import rfc3339

_UNTRIED = Rates(0.0, 0.0)
_RANK: dict[wire.DeliveryState, int] = {"failing": 0, "disabled": 1, "active": 2, "paused": 3}


async def deliveries(call: Call) -> Answer:
    """Return a page of destinations, worst first. Read attempts only for those on the page."""
    query: wire.DeliveriesPageQuery = call.query
    storage = call.context.storage
    every = await storage.alerts.destinations()
    waiting = await storage.outbox.waiting([each.id for each in every])
    page = _worst_first(every, waiting)[query.start : query.start + query.limit]
    rates = await storage.outbox.rates([each.id for each in page])
    rows = []
    for each in page:
        lines = await storage.outbox.attempts(each.id, 1)
        rows.append(_row(each, waiting.get(each.id), rates.get(each.id, _UNTRIED), lines))
    return Answer(wire.DeliveriesPage(len(every), query.start, tuple(rows)))


def _worst_first(every: Sequence[Destination], waiting: Mapping[str, Waiting]) -> list[Destination]:
    def place(each: Destination) -> tuple[int, int, str]:
        backlog = waiting.get(each.id)
        return _RANK[_state(each)], -backlog.count if backlog else 0, each.id

    return sorted(every, key=place)


def _state(each: Destination) -> wire.DeliveryState:
    return each.state if each.enabled else "paused"


def _row(each: Destination, waiting: Waiting | None, rates: Rates, lines: Sequence[Attempt]) -> wire.DeliveryRow:
    last = lines[0] if lines else None
    return wire.DeliveryRow(
        id=each.id,
        alert_id=each.alert_id,
        label=each.label,
        url=each.url,
        delivery_mode=each.delivery_mode,
        state=_state(each),
        failing_since=time_or_null(each.failing_since),
        waiting=0 if waiting is None else waiting.count,
        oldest=None if waiting is None else rfc3339(waiting.oldest),
        next=None if waiting is None else time_or_null(waiting.next_due),
        failure_rate=round(rates.failure, 4),
        last=None
        if last is None
        else wire.LastAttempt(
            rfc3339(last.at), last.result, last.status, last.latency_ms, first_line(last.error) or None
        ),
    )
