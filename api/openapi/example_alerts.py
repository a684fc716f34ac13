"""What the preview of an alert looks like."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import EVENT, LOOKED
from api.v1 import alert_preview_schemas as wire

_FROM = EVENT.content.index("prices")
PREVIEW = wire.AlertPreview(
    query='price OR ticket OR "opening hours"',
    language="en",
    warnings=(),
    looked_at=61,
    complete=True,
    looked_from=LOOKED,
    matches_found=2,
    per_day=0.33,
    days=(wire.PreviewDay("2026-04-21", 61, 2),),
    terms=(
        wire.PreviewTerm("price", 2),
        wire.PreviewTerm("ticket", 0),
        wire.PreviewTerm('"opening hours"', 1),
    ),
    matches=(
        wire.PreviewMatch(
            id=EVENT.id,
            source_id=EVENT.source_id,
            title=EVENT.title,
            url=EVENT.url,
            emitted_at=EVENT.emitted_at,
            matched=("price", '"opening hours"'),
            highlights=wire.Highlights(
                ((0, 6),), (wire.ContentExcerpt(0, EVENT.content, ((0, 13), (_FROM, _FROM + 6))),)
            ),
        ),
    ),
)

ALL: tuple[Struct, ...] = (PREVIEW,)
