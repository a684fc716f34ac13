"""Operating the service."""

from __future__ import annotations

from msgspec import json

from api.openapi import example_admin as shown
from api.openapi.operation import Operation
from api.v1.metrics import MEDIA

_TAG = "Operating"
_FEED = (
    f"retry: 3000\n\nevent: counts\ndata: {json.encode(shown.OVERVIEW).decode()}\n\n"
    f'event: change\ndata: {{"at":"{shown.ROW.since}","path":"{shown.ROW.path}","was":"running","now":"quarantined",'
    f'"error":"{shown.ROW.error}"}}\n\n'
)
_ACT = "Answered at once with 202; the tree shows what becomes of it. The log says who asked, and whether it was done."
OPERATIONS: dict[str, Operation] = {
    "GET /v1/admin/overview": Operation(
        name="readOverview",
        tag=_TAG,
        explains="""\
Costs the same for any number of sources. `totals` are counted from `started_at` on: the difference of two answers is \
a rate.""",
    ),
    "GET /v1/admin/settings": Operation(
        name="readSettings",
        tag=_TAG,
        explains="""\
As flags, variables and the file made them when it was started. What a shell beside it would make of its own variables \
may be something else: `sanderling settings` and `sanderling doctor` ask here.""",
    ),
    "GET /v1/admin/tree": Operation(
        name="listTree",
        tag=_TAG,
        explains="""\
Fixed parts, destinations and sources, paused ones too. Sorted worst first, the fixed parts come before all others \
that are as well. An order is kept for a second or some, so a part may have changed since it got its place: the row \
says how it is now. With `tree`, each part is followed by what it supervises, as far as `open` and `troubled` say. \
`start` may be anywhere; there is no cursor. With `paths`, the rows of just these: what is on a \
screen is kept up without its order changing.""",
    ),
    "GET /v1/admin/tree/{path}": Operation(
        name="readPart",
        tag=_TAG,
        explains="""\
Read from the supervisor's records and the task itself, which is not asked: it answers for a part that is stuck too. \
`slowest_step_s` is how long it has held the loop at most, 0 when that was never long.""",
    ),
    "GET /v1/admin/feed": Operation(
        name="followOperation",
        tag=_TAG,
        explains="""\
Server-Sent Events, from now on; there is no replay. Once a second `counts` (what `GET /v1/admin/overview` answers), \
then every `change` of an actor's state since (`at`, `path`, `was`, `now`, `error`), and every new `event` in short \
(`id`, `source_type`, `source_id`, `source_url`, `title`, `emitted_at`, `alert_type`). At most the newest 50 of each \
in a second: `skipped` (`of`, `count`) says how many more there were.""",
        shows={200: {"text/event-stream": _FEED}},
    ),
    "GET /v1/admin/streams": Operation(
        name="listOpenStreams",
        tag=_TAG,
        explains="""\
Of this node alone: with several, ask each. Who is furthest behind comes first, then the oldest. A reader whose filter \
passes nothing moves on all the same: `cursor` is how far it has looked.""",
    ),
    "GET /v1/admin/keys": Operation(
        name="listKeys",
        tag=_TAG,
        explains="""\
Never the keys themselves, which nobody has: a hash of each is kept. A key is made on the dashboard or with \
`sanderling keys create`.""",
    ),
    "POST /v1/admin/streams/{number}/close": Operation(
        name="closeStream",
        tag=_TAG,
        explains=f"Its client may come back, and then goes on where it was: delete its key to end that. {_ACT}",
    ),
    "POST /v1/admin/keys/{id}/revoke": Operation(
        name="revokeKey",
        tag=_TAG,
        explains=f"For good: the next request with it gets 401, and its streams end within a second. {_ACT}",
    ),
    "GET /metrics": Operation(
        name="readMetrics",
        tag=_TAG,
        explains="""\
Counters, gauges and histograms in the text format of Prometheus; docs/metrics.md explains each. Labels have \
values of closed sets only, so there are as many series with 100,000 sources as with one.""",
        shows={200: {MEDIA: "# HELP sanderling_sources_overdue Sources whose due look has not happened.\n"}},
    ),
    "GET /v1/admin/deliveries": Operation(
        name="listDeliveryRows",
        tag=_TAG,
        explains="""\
A row a destination, paused ones too: who fails first, then who has most waiting. `GET \
/v1/destinations/{id}/deliveries` lists the attempts of one. `start` may be anywhere; there is no cursor.""",
    ),
    "GET /v1/admin/sizes": Operation(
        name="readSizes",
        tag=_TAG,
        explains="""\
Events are counted, bytes reckoned from the newest of each source: `sanderling sources sizes` on the machine itself \
adds up all of them. Ranked are the 200 sources with the most events.""",
    ),
    "GET /v1/admin/log": Operation(
        name="readLog",
        tag=_TAG,
        explains="""\
The newest 2,000 lines are kept in memory, from `log_level` on. Control characters in them are escaped, keys and \
secrets cut. Ask again with `after` as `last` was.""",
    ),
    "POST /v1/admin/tree/{path}/check": Operation(
        name="checkPart", tag=_TAG, explains=f"429 when it would be impolite. {_ACT}"
    ),
    "POST /v1/admin/tree/{path}/restart": Operation(
        name="restartPart",
        tag=_TAG,
        explains=f"Of a fixed part, also all that were started after it: they depend on it. {_ACT}",
    ),
    "POST /v1/admin/tree/{path}/release": Operation(
        name="releasePart", tag=_TAG, explains=f"If it crashes again soon, it is back in quarantine. {_ACT}"
    ),
    "POST /v1/admin/tree/{path}/disable": Operation(name="disablePart", tag=_TAG, explains=f"Pauses a source. {_ACT}"),
    "POST /v1/admin/tree/{path}/enable": Operation(name="enablePart", tag=_TAG, explains=f"Resumes a source. {_ACT}"),
    "POST /v1/admin/drain": Operation(
        name="drain",
        tag=_TAG,
        explains=f"""\
Before maintenance. Looks under way end, and what was found is recorded, streamed and delivered; WebSockets that are \
open stay open. `/readyz` answers 503 meanwhile. A restart of the process resumes. {_ACT}""",
    ),
    "POST /v1/admin/resume": Operation(
        name="resume", tag=_TAG, explains=f"Looks that waited are spread over a minute. {_ACT}"
    ),
}
