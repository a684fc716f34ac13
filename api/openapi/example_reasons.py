"""Examples of the explanations of events and sources, of coverage, values over time, and versions."""

from __future__ import annotations

from msgspec import Struct

from actors.signatures.coverage import CoverageReceipt, LongestGap, UnknownTime
from api.openapi.example_records import EVENT, EVENT_ID, LOOKED, MADE, PAGE, SOURCE, SOURCE_ID
from api.schemas import values, versions, why
from storage.records.event import Context, Spans

_TOLD = why.LookPart(
    text="Day ticket: 14 euros.", rule="price", key="p:6f2a90c1d5e8b743", came=True, told=True, score=0.91
)
_COUNTER = why.LookPart(
    text="31 visitors online", rule="counter", key="p:1b77e02c49aa0d56", came=True, told=False, score=0.0
)
_NOTE = why.LookNote(
    at=LOOKED,
    verdict="told",
    reason="a price was altered",
    compared_with=MADE,
    score=0.91,
    bar=0.5,
    withheld=(_COUNTER,),
    told=(_TOLD,),
    counts={},
    until=None,
)
TRAIL = why.LookTrail(
    id=SOURCE_ID,
    looks=(
        why.Looks(first_at=LOOKED, last_at=LOOKED, looks=1, status=200, bytes=18_211, ms=93, verdict="changed"),
        why.Looks(first_at=MADE, last_at=MADE, looks=4, status=304, bytes=212, ms=41, verdict="unchanged"),
    ),
    notes=(_NOTE,),
    validators=why.LastValidators(etag='"5e1c-9a"', last_modified=None, body_hash="0bc9b8de5a4df2c4"),
)
EVENT_WHY = why.EventWhy(
    id=EVENT_ID,
    source_id=SOURCE_ID,
    source_type="html",
    kind="page",
    says="The change scored 0.91; from 0.50 up it is told. Most of the score: “Day ticket: 14 euros.” came (0.91). "
    "1 other difference did not count. It is for 1 alert as they are now: “Prices move”.",
    noted=True,
    compared_with=MADE,
    compared_with_event=None,
    score=0.91,
    bar=0.5,
    identity=None,
    weighed=(_TOLD,),
    withheld=(_COUNTER,),
    alerts=why.AlertsMatched(count=1, names=("Prices move",)),
    alerts_once=why.AlertsMatched(count=0, names=()),
)
SOURCE_WHY = why.SourceWhy(
    id=SOURCE_ID,
    url=PAGE,
    title=SOURCE.found_title,
    type="html",
    says="“31 visitors online” was seen on 21 April 2026 10:24 UTC and not told: a counter. The last look was well.",
    state="The last look was well.",
    reasons=(
        why.KnownReason(
            kind="withheld",
            says="“31 visitors online” was seen on 21 April 2026 10:24 UTC and not told: a counter.",
            at=LOOKED,
            event_id=None,
            text="31 visitors online",
        ),
    ),
)
LESSON = why.Lesson(
    event_id=EVENT_ID,
    source_id=SOURCE_ID,
    verdict="noise",
    noise_count=2,
    says="The 1 blocks of this event are noise from now on, also with other figures in them (prices and versions "
    "excepted): when they come or go, that counts for nothing. Whatever else changes on the page is told as before.",
)
_WAS = values.ValuePoint(at=MADE, number=12, scale=0, value="12")
_IS = values.ValuePoint(at=LOOKED, number=1450, scale=2, value="14.50")
VALUES = values.Values(
    id=SOURCE_ID,
    since=MADE,
    current=(
        values.CurrentValue(
            type="money",
            text="14.50 euros",
            value="14.50",
            label="Day ticket",
            path="",
            unit="EUR",
            since=LOOKED,
            number=1450,
            scale=2,
        ),
    ),
    more=0,
    series=(
        values.ValueSeries(
            type="money", label="Day ticket", path="", unit="EUR", lowest=_WAS, highest=_IS, points=(_WAS, _IS)
        ),
    ),
)
_START = versions.KeptVersion(version="start", at=None, event_id=None, says="", kept="whole")
_LATEST = versions.KeptVersion(
    version=EVENT_ID, at=LOOKED, event_id=EVENT_ID, says="Day ticket: 12 → 14.50 euros", kept="whole"
)
VERSIONS = versions.Versions(id=SOURCE_ID, versions=(_LATEST, _START))
COMPARISON = versions.VersionComparison(
    id=SOURCE_ID,
    from_=_START,
    to=_LATEST,
    partial=False,
    truncated=False,
    steps=(
        versions.VersionStep(
            op="replace",
            before="Day ticket: 12 euros.",
            after="Day ticket: 14.50 euros.",
            context=Context(heading="Prices"),
            spans=Spans(((12, 14),), ((12, 17),)),
        ),
    ),
)
COVERAGE = CoverageReceipt(
    source_id=SOURCE_ID,
    url=PAGE,
    start="2026-04-14T11:00:00.000Z",
    end="2026-04-21T10:24:30.000Z",
    says="1,204 looks worked, 3 failed, the longest pause was 12 min; one time is unknown, 31 min in all "
    "(the service ended without a word).",
    looks=1_207,
    answered=1_204,
    outcomes={
        "unchanged": 1_190,
        "changed": 2,
        "nothing_to_tell": 12,
        "remote_transient": 3,
        "throttled": 0,
        "remote_permanent": 0,
        "content": 0,
        "local": 0,
    },
    versions=14,
    first_answered_at="2026-04-14T11:04:10.000Z",
    last_answered_at=LOOKED,
    longest_gap=LongestGap(start="2026-04-16T02:10:00.000Z", end="2026-04-16T02:21:40.000Z", seconds=700),
    unknown_seconds=1_860,
    unknown=[UnknownTime(start="2026-04-18T09:00:00.000Z", end="2026-04-18T09:31:00.000Z", why="crash")],
    not_running_seconds=0,
    first_event_id=EVENT_ID,
    last_event_id=EVENT_ID,
    events_since=None,
    signed_at="2026-04-21T10:24:30.000Z",
    key_id=EVENT.key_id,
    signature=EVENT.signature,
)
ALL: tuple[Struct, ...] = (TRAIL, EVENT_WHY, SOURCE_WHY, LESSON, VALUES, COVERAGE, VERSIONS, COMPARISON)
