"""Examples of the previews of an alert and of a message."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import EVENT, LOOKED
from api.schemas import alert_previews
from api.schemas import alert_previews as wire
from storage.records.event import Diff

assert isinstance(EVENT.diff, Diff)
_CHANGE = EVENT.diff.changed[0]
_AT = _CHANGE.after.index("ticket")
_TICKET = ((_AT, _AT + len("ticket")),)
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
        wire.PreviewTerm("ticket", 1),
        wire.PreviewTerm('"opening hours"', 0),
    ),
    matches=(
        wire.PreviewMatch(
            id=EVENT.id,
            source_id=EVENT.source_id,
            title=EVENT.title,
            url=EVENT.url,
            emitted_at=EVENT.emitted_at,
            matched=("price", "ticket"),
            highlights=wire.Highlights(
                title=((0, 6),),
                content=(),
                diff=(
                    wire.DiffExcerpt("before", 0, 0, _CHANGE.before, _TICKET),
                    wire.DiffExcerpt("after", 0, 0, _CHANGE.after, _TICKET),
                ),
            ),
        ),
    ),
)

MESSAGE = alert_previews.ShownMessage("event", EVENT.title, f"*{_CHANGE.before}* to *{_CHANGE.after}*\n{EVENT.url}")
MESSAGES = alert_previews.MessagePreview("slack", [MESSAGE])

ALL: tuple[Struct, ...] = (PREVIEW, MESSAGE, MESSAGES)
