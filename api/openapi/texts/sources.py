"""Sources: add, read, change, delete."""

from __future__ import annotations

from api.openapi import example_records as records
from api.openapi.examples import example_of
from api.openapi.operation import Operation, Several
from api.schemas.sources import BatchAnswer, SourceRecord

_OF_ONE = (
    *("readSource", "changeSource", "disableSource", "enableSource", "checkSource", "previewSource"),
    *("readHealth", "readStatus", "readLooks", "whyNot", "deleteSource"),
)
_BATCH = {"sources": [{"url": records.PAGE}, {"url": "https://10.0.0.1/"}]}
OPERATIONS: dict[str, Operation] = {
    "POST /v1/sources": Operation(
        name="addSource",
        tag="Sources",
        explains="""\
The URL is fetched once and classified by what is there, not by what it is called; `detection.evidence` says by \
what. A page that advertises a feed is followed to it. `type` overrides that. What is there now is the baseline: \
nothing of it becomes an event, except the newest entries of a feed that `backfill` asks for.

A URL that is watched already answers 200 with the existing source, however it is spelt (case of the host, default \
port, fragment unless a script routes by it (`#/` and `#!`), dot segments, percent-encoding).

`{"sources": [...]}` adds up to 20 at once: 201 when all are there, else 207; `results` are in the order of the \
request, and one that fails spoils no other.

A URL that can't be reached now is refused, unless `verify` is `later`: then it is kept, `detection.pending` is true, \
and its first answer says what it is and is the baseline. What the guard or robots.txt refuses is never kept.

A page that is empty without JavaScript is shown by a browser before it is read, if one is set up and `render` is \
`auto`, as it is unless you say otherwise; each look at it then costs 100 plain ones. `POST /v1/sources/detect` says \
whether it would be, and which JSON filled the page: to watch that costs a plain look.

Only public addresses are fetched, redirects included; a refusal is 422 and names the rule.""",
        asks={
            "A URL": {"url": records.PAGE},
            "Also when it can't be reached now": {"url": records.PAGE, "verify": "later"},
            "A part of a page, every 10 minutes": {
                "url": records.PAGE,
                "type": "html",
                "selector": "main",
                "ignore": [".visitors-online"],
                "schedule": "10m",
                "tags": ["topic:prices"],
            },
            "Two at once": _BATCH,
        },
        shows={
            201: Several(
                {"One source": example_of(SourceRecord), "A batch": {"results": example_of(BatchAnswer)["results"][:1]}}
            ),
            207: example_of(BatchAnswer),
        },
        leads=dict.fromkeys(_OF_ONE, "/id"),
    ),
    "GET /v1/sources": Operation(
        name="listSources",
        tag="Sources",
        explains="""\
Worst health first: rotten, degraded, ok, and by score among these. Each source is seen once, also while scores \
change between two pages.""",
    ),
    "GET /v1/sources/{id}": Operation(
        name="readSource", tag="Sources", explains="With its health and what the last look saw."
    ),
    "PATCH /v1/sources/{id}": Operation(
        name="changeSource",
        tag="Sources",
        explains="""\
Fields that are left out stay as they are; null empties `selector`, `schedule`, `hours`, `filter`, `bar`, \
`hello`, `headers` and `wait_for`. The URL is fixed: to watch another, add it. Another `selector` or `ignore` is \
tried out on the page before it is taken, and the next look is a new baseline; so is the first look with headers, or \
without them, and the first with another `render` or `wait_for`.""",
        asks={
            "Another part of the page": {"selector": "#prices", "ignore": []},
            "Adaptive cadence again": {"schedule": None},
            "As a browser shows it": {"render": "always", "wait_for": "#prices li"},
        },
    ),
    "DELETE /v1/sources/{id}": Operation(
        name="deleteSource",
        tag="Sources",
        explains="""\
It is no longer watched, nor listed. It rests for ten minutes, in which it can be had back, and is forgotten then: its \
settings and what was learned of it. Its URL is free at once: added again, it is another source with a first look of \
its own. Its events stay in the log until retention deletes them.""",
    ),
    "POST /v1/sources/{id}/restore": Operation(
        name="restoreSource",
        tag="Sources",
        explains="""\
With its settings and all that was learned of it, as it was when it was deleted; a paused one is paused. Alerts that \
name it know it again. 404 ten minutes after its deletion; 409 when its URL has been added again.""",
    ),
    "POST /v1/sources/{id}/disable": Operation(
        name="disableSource",
        tag="Sources",
        explains="Pauses it: it is kept with all that was learned about it, and not watched until it is resumed.",
    ),
    "POST /v1/sources/{id}/enable": Operation(
        name="enableSource",
        tag="Sources",
        explains="Resumes it: the next look is soon. One that is not paused does not change.",
    ),
    "POST /v1/sources/{id}/check": Operation(
        name="checkSource",
        tag="Sources",
        explains="""\
Brings the next look forward to now; the answer says when it is due. 429 with `Retry-After` when that would be \
impolite: it was looked at a moment ago, or its server asked us to wait. 409 when it is paused.""",
    ),
}
