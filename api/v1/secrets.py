"""Comparison of secrets in the API: it reveals only whether supplied values are right."""

from __future__ import annotations

from api.nouns import keys as operations
from api.route import Answer, Call, Route
from api.schemas import secrets as wire


async def compare(call: Call) -> Answer:
    return Answer(wire.SecretsAnswer(await operations.compare(call, call.body)))


ROUTES = (
    Route(
        method="POST",
        path="/v1/secrets/compare",
        scope="sources:write",
        beside=("alerts:write",),
        run=compare,
        says="Compare stored secrets with given values.",
        answers={200: wire.SecretsAnswer},
        body=(wire.SecretsRequest,),
    ),
)
