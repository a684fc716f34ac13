"""The preview of a destination's message; see `api.operations.messages`."""

from __future__ import annotations

from api.operations.messages import preview
from api.route import LETS_OUT, Answer, Call, Route
from api.schemas import messages as wire


async def run(call: Call) -> Answer:
    return Answer(await preview(call, call.body))


ROUTES = (
    Route(
        method="POST",
        path="/v1/destinations/preview",
        scope="alerts:read",
        beside=LETS_OUT,
        run=run,
        says="Show what a message template makes of the newest events. Nothing is sent.",
        answers={200: wire.MessagePreview},
        body=(wire.MessagePreviewRequest,),
        refuses=("not-found", "unprocessable"),
    ),
)
