"""History."""

from __future__ import annotations

from api.openapi.operation import Operation

OPERATIONS: dict[str, Operation] = {
    "GET /v1/events": Operation(
        name="listEvents",
        tag="Events",
        explains="""\
Events of a window of time, oldest first unless `order=desc`. Pages follow each other without a gap or a repetition \
while new events come in. A page may hold fewer than `limit` events, or none, and still have a `next_cursor`: a \
rare filter is looked for piece by piece. `retention_clamped` says that the window began later than was asked. In \
the lists a comma also separates values.""",
    ),
    "GET /v1/events/{id}": Operation(
        name="readEvent",
        tag="Events",
        explains="Byte for byte as it was signed, streamed and delivered.",
    ),
}
