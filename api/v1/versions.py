"""The stored versions of a page, and the comparison of two."""

from __future__ import annotations

from msgspec import UNSET

from actors.versions import Step
from api.operations import sources
from api.operations import versions as operations
from api.operations.versions import Version
from api.route import Answer, Call, Route
from api.schemas import versions as wire
from storage.records.event import Context
from storage.records.identity import rfc3339

MOST_STEPS = 2_000
"""Most steps per answer."""


def _version(one: Version) -> wire.KeptVersion:
    at = None if one.at is None else rfc3339(one.at)
    return wire.KeptVersion(version=one.id, at=at, event_id=one.event or None, says=one.says, kept=one.kept)


def _step(step: Step) -> wire.VersionStep:
    context = UNSET if step.context == Context() else step.context
    if step.before is None or step.after is None:
        return wire.VersionStep(
            op="insert" if step.before is None else "delete",
            before=UNSET if step.before is None else step.before,
            after=UNSET if step.after is None else step.after,
            context=context,
        )
    if step.same:
        return wire.VersionStep(op="keep", after=step.after)
    return wire.VersionStep(
        op="replace", before=step.before, after=step.after, context=context, spans=step.spans or UNSET
    )


async def versions(call: Call) -> Answer:
    found = await operations.versions(call, call.path["id"])
    return Answer(wire.Versions(id=sources.known(call.path["id"]), versions=tuple(map(_version, found))))


async def compare(call: Call) -> Answer:
    query: wire.CompareQuery = call.query
    found = await operations.compare(call, call.path["id"], query.from_, query.to)
    steps = [step for step in found.steps if query.show == "text" or not step.same]
    answer = wire.VersionComparison(
        id=found.source,
        from_=_version(found.earlier),
        to=_version(found.later),
        partial=found.partial,
        truncated=len(steps) > MOST_STEPS,
        steps=tuple(map(_step, steps[:MOST_STEPS])),
    )
    return Answer(answer)


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/versions",
        scope="sources:read",
        run=versions,
        says="List the stored versions of a page.",
        answers={200: wire.Versions},
        refuses=("not-found",),
    ),
    Route(
        method="GET",
        path="/v1/sources/{id}/compare",
        scope="sources:read",
        run=compare,
        says="Compare two versions of a page.",
        answers={200: wire.VersionComparison},
        query=wire.CompareQuery,
        refuses=("not-found", "conflict"),
    ),
)
