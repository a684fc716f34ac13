"""The records that the examples use."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict

from actors.messages.views import SourceView
from api.problems import FieldError, Problem
from api.schemas import alerts as alert
from api.schemas import sources as wire
from api.v1.alerts import record_of as alert_record
from api.v1.destinations import record_of as destination_record
from api.v1.events import EventsPage
from api.v1.sources import record_of
from storage.records.alert import Alert
from storage.records.destination import Destination, QuietHours, Rates
from storage.records.event import Change, Context, Delta, DeltaStats, Diff, Event, Op, Spans
from storage.records.health import Health
from storage.records.identity import SourceId
from storage.records.source import Detection, Source, SourceRuntime
from storage.records.times import parse_rfc3339

HERE = "http://127.0.0.1:8080"
SOURCE_ID = "019db0a4-5c00-7000-8000-000000000001"
EVENT_ID = "019db0a4-6a10-7000-8000-0000000000a7"
ALERT_ID = "019db0a4-7d20-7000-8000-0000000000b1"
DESTINATION_ID = "019db0a4-8e30-7000-8000-0000000000c1"
PAGE = "https://shore.example/prices"
SHOWN_ONCE = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ=="
MADE, LOOKED, NEXT = "2026-04-21T10:00:00.000Z", "2026-04-21T10:24:07.120Z", "2026-04-21T10:31:52.000Z"
_BELOW = Context(heading="Opening hours and prices")
_BEFORE, _AFTER = "Day ticket: 12 euros.", "Day ticket: 14 euros."

_MADE, _LOOKED, _NEXT = (parse_rfc3339(at) for at in (MADE, LOOKED, NEXT))
_DETECTION = Detection(
    type="html",
    confidence="high",
    evidence="an HTML document (doctype, 4 paragraphs of text) that advertises no feed",
    final_url=PAGE,
    content_type="text/html",
)
_SOURCE = Source(
    id=SourceId(SOURCE_ID),
    url=PAGE,
    watch_url=PAGE,
    type="html",
    detection=_DETECTION,
    created_at=_MADE,
    updated_at=_MADE,
    tags=("topic:prices",),
    selector="main",
    ignore=(".visitors-online",),
    schedule=600,
    title="Day tickets",
    found_title="Tickets and prices",
)
_RUNTIME = SourceRuntime(
    health=Health(reason="Every look succeeds."),
    last_look_at=_LOOKED,
    last_success_at=_LOOKED,
    next_look_at=_NEXT,
    last_event_at=_LOOKED,
)
SOURCE = record_of(SourceView(_SOURCE, _RUNTIME))
DETECTED, HEALTH, BREAKER = SOURCE.detection, SOURCE.health, SOURCE.breaker
HELD = wire.HeldEvents(events=3, bytes=4_820)
STATUS = wire.SourceStatus(
    enabled=True,
    health_flag="ok",
    id=SOURCE_ID,
    state="active",
    last_fetch_at=LOOKED,
    last_success_at=LOOKED,
    last_event_at=LOOKED,
    next_fetch_at=NEXT,
    overdue=False,
    interval_s=464.9,
    looks=212,
    unchanged=205,
    events=3,
    last_status=200,
    last_error=None,
    breaker=BREAKER,
    consecutive_failures=0,
    held=HELD,
)
CHECK = wire.CheckAnswer(SOURCE_ID, LOOKED)
REFUSED = Problem(
    schema=f"{HERE}/schemas/problem/1.json",
    type=f"{HERE}/problems/url-refused",
    title="The URL is refused",
    status=422,
    detail="10.0.0.1 is not public; SANDERLING_ALLOW_NETWORKS=10.0.0.1/32 would open it (rule: address-private)",
)
INVALID = Problem(
    schema=f"{HERE}/schemas/problem/1.json",
    type=f"{HERE}/problems/invalid-request",
    title="The request is not valid",
    status=400,
    detail="body.backfill: Expected `int` <= 50",
    instance="/v1/sources",
    errors=(FieldError("body.backfill", "Expected `int` <= 50", 51),),
)
BATCH = wire.BatchAnswer(
    (
        wire.BatchResult(PAGE, "created", "html", source=SOURCE),
        wire.BatchResult("https://10.0.0.1/", "failed", error=REFUSED),
    )
)
EVENT = Event(
    schema=f"{HERE}/schemas/stream-event/1.json",
    id=EVENT_ID,
    source_id=SOURCE_ID,
    source_type="html",
    source_url=PAGE,
    url=PAGE,
    title="Prices",
    author="",
    content=f"Opening hours and prices. {_AFTER}",
    content_hash="sha256:0bc9b8de5a4df2c4ae7d9a6c51a9e2d9b7f7b4a1f0e4c2f94c9d7b2a6d3e1f05",
    simhash=6_214_099_311_427_713,
    tags=("change:updated", "topic:prices"),
    published_at=None,
    fetched_at=LOOKED,
    emitted_at="2026-04-21T10:24:07.184Z",
    schema_version=1,
    summary=f"Opening hours and prices: {_BEFORE} → {_AFTER}",
    diff=Diff((), (), (Change(_BEFORE, _AFTER, _BELOW, Spans(((12, 14),), ((12, 14),))),)),
    delta=Delta((Op("replace", 3, before=_BEFORE, after=_AFTER, context=_BELOW),), DeltaStats(0, 0, 1, 5)),
    story=EVENT_ID,
    signed_at="2026-04-21T10:24:07.184Z",
    key_id="kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    signature="d0VwmCEyjHyV8FJ9tIbkqYkWcG5WZsJ6dM1kNTFUwq1rAbnN1o5yxvXQdG9p2FvLwXJfOq8S0cB0Jm3iVwD_Cg",
)
EVENTS = EventsPage((EVENT,), "WyJhc2MiLDU4MzM4MDc1NTk3NDY5NjI0XQ", MADE, retention_clamped=False)
ALERT = alert_record(
    Alert(
        id=ALERT_ID,
        name="Prices move",
        filter_query='price OR ticket OR "opening hours" -careers',
        language="en",
        source_ids=(SOURCE_ID,),
        created_at=_MADE,
        updated_at=_MADE,
        channel="prices",
        notices=alert.SOURCES_OWN,
        last_match_at=_LOOKED,
        match_count=3,
        match="change",
    ),
    "instant",
)
DESTINATION = destination_record(
    Destination(
        id=DESTINATION_ID,
        alert_id=ALERT_ID,
        kind="webhook",
        url="https://hooks.example/in",
        delivery_mode="instant",
        label="hooks.example · Prices move",
        secrets=(),
        created_at=_MADE,
        updated_at=_MADE,
        digest_timezone="Europe/Stockholm",
        quiet_hours=QuietHours("22:00", "07:00", "Europe/Stockholm"),
        last_delivery_at=_LOOKED,
    ),
    Rates(0.0, 0.0),
)
WITH_SECRET = alert.DestinationWithSecret(secret=SHOWN_ONCE, **asdict(DESTINATION))
KIND = alert.DestinationKindRecord(
    kind="ntfy",
    label="ntfy",
    family="phone",
    where="In the ntfy app, subscribe to a topic with a name that nobody guesses.",
    documentation="https://docs.ntfy.sh/publish/#publish-as-json",
    address=alert.AddressWanted(
        label="Address of the server", help="", example="", private=False, default="https://ntfy.sh"
    ),
    options=[
        alert.OptionWanted(
            name="topic",
            label="Topic",
            help="",
            example="prices-k3f9x2",
            private=False,
            required=True,
            many=False,
            lines=False,
            matches="[-_A-Za-z0-9]{1,64}",
            default="",
        )
    ],
    signed=False,
)
TEST = alert.TestAnswer("sent", 204, 83, "The receiver answered 204.")
DELIVERY = alert.DeliveryRecord(
    webhook_id=EVENT_ID,
    attempt=1,
    result="retry",
    at=LOOKED,
    status_code=503,
    latency_ms=41,
    error="HTTP 503",
    next_attempt_at=NEXT,
    response_excerpt="starting",
)
DIGEST = alert.Digest(
    id="019db0a4-9f40-7000-8000-0000000000d1",
    destination_id=DESTINATION_ID,
    alert_id=ALERT_ID,
    delivery_mode="hourly",
    window_start=MADE,
    window_end="2026-04-21T11:00:00.000Z",
    count=1,
    events=(EVENT,),
)
REPLAY = alert.ReplayAnswer(12, None)

ALL: tuple[Struct, ...] = (
    HEALTH,
    BREAKER,
    SOURCE,
    STATUS,
    HELD,
    CHECK,
    BATCH,
    INVALID,
    EVENT,
    EVENTS,
    ALERT,
    DESTINATION,
    WITH_SECRET,
    TEST,
    DELIVERY,
    DIGEST,
    REPLAY,
    KIND,
)
