"""Alerts in the API; the operations are in `api.operations.alerts`."""

from __future__ import annotations

from collections.abc import Sequence

from api.etags import expected, shown, tag_of
from api.fields import alerts as wire
from api.fields.declaring import mirrored
from api.operations import alerts as acts
from api.operations import tag_defaults
from api.operations.alerts import preview
from api.pagination import oldest_first
from api.route import LETS_OUT, Answer, Call, Route, routes_below
from api.schemas import alert_previews
from api.schemas.sources import ListQuery
from storage.records.alert import Alert
from storage.records.destination import DeliveryMode, Destination
from storage.records.identity import given
from storage.records.revision import revision_of


async def alert_of(call: Call) -> Alert:
    """Return the alert in the path. Raises NotFound."""
    return await acts.named(call, call.path["id"])


def record_of(alert: Alert, mode: DeliveryMode) -> wire.AlertRecord:
    """Return an alert's record. mode: its first destination's."""
    fields = mirrored(alert, wire.AlertRecord)
    return wire.AlertRecord(**fields, alert_id=alert.id, delivery_mode=mode, revision=revision_of(alert))


def _mode(destinations: Sequence[Destination]) -> DeliveryMode:
    return destinations[0].delivery_mode if destinations else "instant"


async def create(call: Call) -> Answer:
    alert = await tag_defaults.add_alert(call, call.body, call.planned)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/alerts/{alert.id}"}
    return Answer(await _record(call, alert), 201, headers=headers | tag_of(alert))


async def list_alerts(call: Call) -> Answer:
    """Return a page of alerts, oldest first."""
    page, headers = oldest_first(call, await call.context.storage.alerts.all())
    modes: dict[str, DeliveryMode] = {}
    for destination in await call.context.storage.alerts.destinations():
        modes.setdefault(destination.alert_id, destination.delivery_mode)
    return Answer([record_of(alert, modes.get(alert.id, "instant")) for alert in page], headers=headers)


async def _record(call: Call, alert: Alert) -> wire.AlertRecord:
    return record_of(alert, _mode(await call.context.storage.alerts.destinations(alert.id)))


async def describe(call: Call) -> Answer:
    alert = await alert_of(call)
    return shown(call, alert, await _record(call, alert))


async def patch(call: Call) -> Answer:
    alert = await acts.change(call, call.path["id"], given(call.body, wire.AlertPatch), expected(call))
    return Answer(await _record(call, alert), headers=tag_of(alert))


async def delete(call: Call) -> Answer:
    await acts.delete(call, call.path["id"], expected(call))
    return Answer(status=204)


_route = routes_below("/v1/alerts", "alerts")
_ONE = {200: wire.AlertRecord}
_MAYBE = ("not-found",)
_UNLESS_STALE = (*_MAYBE, "precondition-failed")
_TAGGED = ("ETag",)


async def run(call: Call) -> Answer:
    return Answer(await preview(call, call.body))


ROUTES = (
    _route(
        "POST",
        "",
        create,
        "Add an alert.",
        {201: wire.AlertRecord},
        beside=LETS_OUT,
        body=(wire.NewAlert,),
        refuses=("conflict", "unprocessable"),
        headers=("Location", *_TAGGED),
        repeatable=True,
    ),
    _route(
        "GET",
        "",
        list_alerts,
        "List alerts, oldest first.",
        {200: list[wire.AlertRecord]},
        query=ListQuery,
        headers=("Link",),
    ),
    _route("GET", "/{id}", describe, "Read one alert.", _ONE | {304: None}, refuses=_MAYBE, headers=_TAGGED),
    _route(
        "PATCH",
        "/{id}",
        patch,
        "Change one alert.",
        _ONE,
        beside=LETS_OUT,
        body=(wire.AlertPatch,),
        refuses=("not-found", "precondition-failed", "unprocessable"),
        headers=_TAGGED,
    ),
    _route("DELETE", "/{id}", delete, "Delete one alert with its destinations.", {204: None}, refuses=_UNLESS_STALE),
    Route(
        method="POST",
        path="/v1/alerts/preview",
        scope="alerts:read",
        beside=LETS_OUT,
        run=run,
        says="Try a query on the newest events.",
        answers={200: alert_previews.AlertPreview},
        body=(alert_previews.AlertPreviewRequest,),
        refuses=("unprocessable",),
    ),
)
