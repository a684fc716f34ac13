"""What the tree, its parts and the figures of the whole look like."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import EVENT_ID, LOOKED, MADE, PAGE, SOURCE_ID
from api.v1 import admin_schemas as wire

_PATH = f"sources/{SOURCE_ID}"
_NEXT = "2026-04-21T10:54:00.000Z"
_ERROR = "WorkerTooSlow: the page was still being read after 2 s"
ROW = wire.TreeRow(
    path=_PATH,
    name=PAGE,
    kind="html",
    state="quarantined",
    health=0.41,
    flag="degraded",
    restarts=6,
    since=LOOKED,
    error=_ERROR,
    next=_NEXT,
)
PAGE_OF_TREE = wire.TreePage(total=98412, start=0, rows=(ROW,))
CRASH = wire.CrashSeen(at=LOOKED, error=_ERROR)
MAILBOX = wire.MailboxSeen(depth=0, bound=2, received=3, full=0)
LOOK = wire.LookSeen(at=LOOKED, verdict="unchanged", looks=41, status=304, ms=88)
WATCHING = wire.Watching(
    id=SOURCE_ID,
    url=PAGE,
    tags=("label:prices",),
    reason="1 of its last 20 looks failed.",
    interval_s=600.0,
    looks=412,
    unchanged=377,
    events=19,
    last_look_at=LOOKED,
    last_success_at=LOOKED,
    last_event_at=MADE,
    last_status=304,
    last_error=None,
    breaker="closed",
    failures=0,
    retry_at=None,
    trail=(LOOK,),
)
PART = wire.TreePart(
    row=ROW,
    task="quarantined",
    note="looking",
    awaiting="",
    crash=_ERROR,
    places=("actor.py:112 in _look", "html.py:64 in read", "pool.py:131 in call"),
    crashes=(CRASH,),
    mailbox=MAILBOX,
    slowest_step_s=0.0,
    idle_s=312.0,
    source=WATCHING,
)
OVERVIEW = wire.Overview(
    at=LOOKED,
    started_at=MADE,
    version="0.1.0",
    ready=True,
    draining=False,
    failing={},
    sources=wire.Sources(
        total=98412, ok=98377, degraded=26, rotten=9, running=98402, backoff=5, quarantined=5, overdue=0
    ),
    destinations=wire.Destinations(total=17, running=17, backoff=0, quarantined=0),
    newest_event=EVENT_ID,
    queues={"log": 0, "matcher": 0, "registry": 0},
    streams=61,
    loop_lag_s=0.004,
    totals={"looks": 1204112, "events": 38112, "attempts": 41200},
)
LOG = wire.LogPage(
    last=1812,
    lines=(
        wire.LogLine(
            number=1812,
            ts=LOOKED,
            level="warning",
            event="actor.crashed",
            actor=_PATH,
            fields={"now": "quarantined", "why": _ERROR},
        ),
    ),
)
DONE = wire.Done(done="release", path=_PATH)

ALL: tuple[Struct, ...] = (
    ROW,
    PAGE_OF_TREE,
    CRASH,
    MAILBOX,
    LOOK,
    WATCHING,
    PART,
    OVERVIEW,
    OVERVIEW.sources,
    OVERVIEW.destinations,
    LOG,
    *LOG.lines,
    DONE,
)
