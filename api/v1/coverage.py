"""Coverage: a signed receipt of a source's checks in a period, and of the unknown parts of that period."""

from __future__ import annotations

from actors.signatures.coverage import CoverageReceipt
from api.operations import coverage as operations
from api.problems import invalid
from api.route import Answer, Call, Route
from api.schemas.coverage import CoverageQuery
from storage.records.identity import Millis
from storage.records.times import parse_rfc3339


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


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/coverage",
        scope="sources:read",
        run=coverage,
        says="Read how often it was looked at in a time, as a signed receipt.",
        answers={200: CoverageReceipt},
        query=CoverageQuery,
        refuses=("not-found",),
    ),
)
