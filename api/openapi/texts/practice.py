"""Practice."""

from __future__ import annotations

from actors import practice
from api.openapi.operation import Operation

_TAG = "Practice"
OPERATIONS: dict[str, Operation] = {
    "GET /v1/practice": Operation(
        name="listPractice",
        tag=_TAG,
        explains="None until somebody begins. They are in no other list, and count in no limit.",
    ),
    "POST /v1/practice": Operation(
        name="beginPractice",
        tag=_TAG,
        explains="""\
A page and a feed that this service serves itself, at `/practice/page` and `/practice/feed`, each watched like any \
other but never over the network. Nothing happens to them until you ask for it. An alert hears of them only when its \
`source_ids` name them.""",
    ),
    "POST /v1/practice/{what}/change": Operation(
        name="changePractice",
        tag=_TAG,
        explains="""\
Changes a fare, a notice or an opening hour of the page, or adds an entry to the feed, and has it looked at. The event \
is parsed, judged, signed and logged as every event is, and is tagged `practice:page` or `practice:feed`. A document \
is changed at most once in 3 seconds: a second request before then changes nothing (429), and `Retry-After` says when \
one would.""",
    ),
    "DELETE /v1/practice": Operation(
        name="endPractice",
        tag=_TAG,
        explains="""\
With its sources go the alerts that use only them, and a bin that the dashboard or `sanderling try` has wired to them. \
The events stay, as those of every deleted source.""",
    ),
    "GET /practice/{what}": Operation(
        name="readPractice",
        tag=_TAG,
        explains="What the practice sources watch.",
        shows={200: {"text/html": practice.page_at(1).decode(), "application/rss+xml": practice.feed_at(1).decode()}},
    ),
}
