"""Replays; see `api.operations.replays`."""

from __future__ import annotations

from api.operations.replays import replay
from api.route import LETS_OUT, Answer, Call, Route
from api.schemas import alerts as wire


async def run(call: Call) -> Answer:
    """Put past matches into a destination's outbox."""
    return Answer(await replay(call, call.path["id"], call.body), 202)


ROUTES = (
    Route(
        method="POST",
        path="/v1/destinations/{id}/replay",
        scope="alerts:write",
        beside=LETS_OUT,
        run=run,
        says="Deliver past matches again, with the ids they had.",
        answers={202: wire.ReplayAnswer},
        body=(wire.ReplayRequest,),
        repeatable=True,
        refuses=("not-found", "conflict", "unprocessable"),
    ),
)
