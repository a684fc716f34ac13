"""Examples of the tree, its parts and the overall figures."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import EVENT_ID, HELD, LOOKED, MADE, PAGE, SOURCE, SOURCE_ID
from api.schemas import admin as wire

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
    title=SOURCE.found_title,
    mailbox=0,
    handled=3,
    pace_s=600.0,
    marks="....+....x....+.....",
)
PAGE_OF_TREE = wire.TreePage(total=98412, start=0, rows=(ROW,))
CRASH = wire.CrashSeen(at=LOOKED, error=_ERROR)
MAILBOX = wire.MailboxSeen(depth=0, bound=2, received=3, full=0)
LOOK = wire.LookSeen(at=LOOKED, verdict="unchanged", looks=41, status=304, bytes=0, ms=88)
PART_OF_SCORE = wire.HealthSeen(cause="partial", left=0.41, says="3 of the last 20 answers could not be read.")
WATCHING = wire.Watching(
    id=SOURCE_ID,
    url=PAGE,
    tags=("label:prices",),
    reason="1 of its last 20 looks failed.",
    health=(PART_OF_SCORE,),
    interval_s=600.0,
    next_look="Little is known of it yet. After 10 min another look tells more.",
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
    held=HELD,
    covered="412 looks worked, the longest pause was 44 min; nothing is unknown.",
)
SETTINGS = wire.SettingsSeen({"host": "127.0.0.1", "port": 8080, "looks_per_second": 10.0})
SIZES = wire.Sizes(
    48_300_032,
    1_212_416,
    (wire.SourceSize(source_id=SOURCE_ID, url=PAGE, title=SOURCE.found_title, events=HELD.events, bytes=HELD.bytes),),
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
    url="https://shore.example",
    local_url="http://127.0.0.1:8080",
    ready=True,
    draining=False,
    failing={},
    sources=wire.Sources(
        total=98412,
        ok=98377,
        degraded=26,
        rotten=9,
        running=98402,
        backoff=5,
        quarantined=5,
        overdue=0,
        states={"failing": 9, "resting": 21, "throttled": 3, "overdue": 0, "new": 0, "ok": 98379, "paused": 0},
    ),
    destinations=wire.Destinations(total=17, running=17, backoff=0, quarantined=0),
    matching=wire.Matching(behind=0, seconds=0.0),
    newest_event=EVENT_ID,
    queues={"log": 0, "matcher": 0, "registry": 0},
    streams=61,
    looks=wire.LookRate(per_second=9.71, budget=10.0, passed_for_s=0.0),
    loop_lag_s=0.004,
    totals={"looks": 1204112, "events": 38112, "attempts": 41200},
    nodes=[wire.Node("shore1-5f2c9a01", True, True, "0.1.0", "https://shore.example", 98402, 0, 61)],
    replica=wire.Replica(place="/mnt/standby/sanderling", told_at=LOOKED, untold=0, says=""),
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
ATTEMPT = wire.LastAttempt(at=LOOKED, result="retry", status=503, latency_ms=140, error="503 Service Unavailable")
DELIVERIES = wire.DeliveriesPage(
    total=17,
    start=0,
    rows=(
        wire.DeliveryRow(
            id="019db0a4-8e30-7000-8000-0000000000c1",
            alert_id="019db0a4-7d20-7000-8000-0000000000b1",
            label="hooks.example.org",
            url="https://hooks.example.org/in",
            delivery_mode="instant",
            state="failing",
            failing_since=MADE,
            waiting=12,
            oldest=MADE,
            next=_NEXT,
            failure_rate=0.25,
            last=ATTEMPT,
        ),
    ),
)
STREAM = wire.StreamSeen(
    number=7,
    key=SOURCE_ID,
    name="newsroom",
    prefix="svc_Qm9vXzEy",
    address="203.0.113.7",
    asked="/v1/stream?tag=prices",
    since=MADE,
    cursor=EVENT_ID,
    behind_s=0.0,
    bytes=48_210,
)
STREAMS = wire.StreamsSeen(total=1, node="", streams=(STREAM,))
KEY = wire.KeySeen(
    id=SOURCE_ID,
    name="newsroom",
    prefix="svc_Qm9vXzEy",
    scopes=("stream:read", "history:read"),
    rate_per_minute=600,
    burst=100,
    created_at=MADE,
    last_used_at=LOOKED,
    streams=1,
)
KEYS = wire.KeysSeen((KEY,))
DONE = wire.Done(done="release", path=_PATH)

ALL: tuple[Struct, ...] = (
    ROW,
    PAGE_OF_TREE,
    CRASH,
    MAILBOX,
    LOOK,
    PART_OF_SCORE,
    WATCHING,
    PART,
    OVERVIEW,
    OVERVIEW.sources,
    OVERVIEW.destinations,
    LOG,
    *LOG.lines,
    ATTEMPT,
    DELIVERIES,
    *DELIVERIES.rows,
    SIZES,
    SETTINGS,
    STREAM,
    STREAMS,
    KEY,
    KEYS,
    *SIZES.sources,
    DONE,
)
