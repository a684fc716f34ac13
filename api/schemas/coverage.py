"""Wire shapes of coverage. The signed receipt itself is in `actors/signatures/coverage.py`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Moment = Annotated[
    str,
    Meta(
        max_length=100,
        description="RFC 3339 time with an offset",
        examples=["2026-04-15T00:00:00Z"],
        extra_json_schema={"format": "date-time"},
    ),
]


class CoverageQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from", "end": "to"}):
    """The period, by default the last 7 days. It is widened to whole hours, and ends now at the latest."""

    start: Moment | None = None
    end: Moment | None = None
