"""The preview of an alert before it is created; see `api.operations.trials`."""

from __future__ import annotations

from api.operations.trials import preview
from api.route import LETS_OUT, Answer, Call, Route
from api.schemas import alert_previews as wire


async def run(call: Call) -> Answer:
    return Answer(await preview(call, call.body))


ROUTES = (
    Route(
        method="POST",
        path="/v1/alerts/preview",
        scope="alerts:read",
        beside=LETS_OUT,
        run=run,
        says="Try a query on the newest events: what would match, and why.",
        answers={200: wire.AlertPreview},
        body=(wire.AlertPreviewRequest,),
        refuses=("unprocessable",),
    ),
)
