"""The records of the API: what is sent in requests, and what is answered.

Generated from the description of the API (`python -m clients.generate`); edits are lost.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field


class AddressWanted(Struct, frozen=True, kw_only=True):
    """The address that a kind asks for. `private`: it lets somebody in, so only its host is shown. `default`: what
    `url` is when it is left out.
    """

    label: str
    help: str
    example: str
    private: bool
    default: str


class AlertPatch(Struct, frozen=True, kw_only=True):
    """What to change; null takes the `channel` and `managed` away."""

    filter_query: str | UnsetType = UNSET
    """Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything"""
    language: str | UnsetType = UNSET
    """ISO 639-1, or simple for no stemming"""
    source_ids: list[str] | UnsetType = UNSET
    """Events of these sources; with neither these nor `tags`, of all"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags, also of sources that are added later; beside `source_ids`"""
    name: str | UnsetType = UNSET
    channel: str | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET
    notices: list[Literal["destination_disabled", "destination_failing", "heartbeat", "source_failing", "source_moved", "source_quiet", "source_recovered", "source_reset", "storage_damaged", "watching_stalled"]] | UnsetType = UNSET
    """The service's own notices that it asks for"""
    notice_after: int | UnsetType = UNSET
    """Seconds after which a trouble is told"""
    anomaly_enabled: bool | UnsetType = UNSET
    match: Literal["added", "change", "page", "removed"] | UnsetType = UNSET
    """What of a page's event the query is held against: title, what came and what went (`change`), what came
    (`added`), what went (`removed`), or title and content (`page`). Feeds and push: always the latter
    """
    once_per_story: bool | UnsetType | None = UNSET
    """Of events that tell the same (`story`), only the first it matches goes to its destinations; null: where it is
    over several sources
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
    ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and
    so does an alert that was made before the source was private
    """


class AlertPreview(Struct, frozen=True, kw_only=True):
    """What an alert would have told. `query`: as it was understood. `complete`: `last` events, or all there are,
    were looked at in the time there is. `looked_from`: when the oldest of them was emitted. `per_day`: the
    matches to expect; null when too little was looked at to say.
    """

    query: str
    language: str
    warnings: list[str]
    looked_at: int
    complete: bool
    looked_from: str | None
    matches_found: int
    per_day: float | None
    days: list[PreviewDay]
    terms: list[PreviewTerm]
    matches: list[PreviewMatch]


class AlertPreviewRequest(Struct, frozen=True, kw_only=True):
    """A query as an alert would have it, and how far to look. `last`: how many of the log's newest events are
    looked at. `limit`: how many matches are shown.
    """

    filter_query: str
    """Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything"""
    language: str | UnsetType = UNSET
    """ISO 639-1, or simple for no stemming. Default: "en" """
    source_ids: list[str] | UnsetType = UNSET
    """Events of these sources; with neither these nor `tags`, of all. Default: []"""
    last: int | UnsetType = UNSET
    """Default: 2000"""
    limit: int | UnsetType = UNSET
    """Default: 20"""
    match: Literal["added", "change", "page", "removed"] | UnsetType = UNSET
    """What of a page's event the query is held against: title, what came and what went (`change`), what came
    (`added`), what went (`removed`), or title and content (`page`). Feeds and push: always the latter. Default:
    "change"
    """
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags, also of sources that are added later; beside `source_ids`. Default: []"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
    ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and
    so does an alert that was made before the source was private. Default: []
    """


class AlertRecord(Struct, frozen=True, kw_only=True):
    """An alert. `delivery_mode` is a twin: that of its first destination, or instant. `template`: what it was made
    of, as `<template id>/<key>`. `match` is `page` for alerts from before there was a choice. `alert_id`: the
    id, by the name that other records give it.
    """

    id: str
    name: str
    filter_query: str
    language: str
    match: str
    source_ids: list[str]
    private_source_ids: list[str]
    tags: list[str]
    channel: str | None
    enabled: bool
    notices: list[str]
    notice_after: int
    once_per_story: bool | None
    created_at: str
    updated_at: str
    last_match_at: str | None
    match_count: int
    delivery_mode: str
    revision: str
    """What its ETag says, for If-Match"""
    updated_by: str
    """Who set something of it last: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None
    anomaly_enabled: bool | None = None
    template: str | None = None
    alert_id: str | None = None


class AlertsMatched(Struct, frozen=True, kw_only=True):
    """The active alerts that match an event as they are now; at most 20 are named, to a key with `alerts:read`."""

    count: int
    names: list[str]


class BatchAnswer(Struct, frozen=True, kw_only=True):
    """The results of a batch, in the order of the request."""

    results: list[BatchResult]


class BatchResult(Struct, frozen=True, kw_only=True):
    """What became of one URL of a batch."""

    url: str
    status: str
    detected_type: str | None = None
    source: SourceRecord | None = None
    error: Problem | None = None


class BelowSeen(Struct, frozen=True, kw_only=True):
    """What a part supervises that comes and goes: how many, and the worst state among them."""

    total: int
    worst: str


class BinRecord(Struct, frozen=True, kw_only=True):
    """A bin. Whoever has its `url` can send to it, with any method and anything behind it; nobody can read there."""

    id: str
    url: str
    created_at: str
    expires_at: str


class BlockCell(Struct, frozen=True, kw_only=True):
    """A cell of a row of a CSV document: its number from 1, its column's head, and what it says."""

    number: int
    column: str
    text: str


class BlockChoice(Struct, frozen=True, kw_only=True):
    """The block that was pressed as it is now, how far the choice may reach, how far it does, and what it keeps;
    null where nothing can choose it.
    """

    block: PageBlock
    reaches: list[BlockReach]
    reach: str
    kept: KeptBlocks | None


class BlockReach(Struct, frozen=True, kw_only=True):
    """How far a choice may reach, the selector for it, and how many blocks that chooses. `held`: how the selector
    did on the earlier versions of a source; null where none is kept that has the block.
    """

    name: str
    selector: str
    blocks: int
    held: HeldVersions | None


class BlockValue(Struct, frozen=True, kw_only=True):
    """A value of a block. `condition` is how an alert's query names it: its subject (`price`), and, where something
    names the place, `label:` or `path:`. `number` has `scale` decimal places; null where the value is no number.
    """

    text: str
    type: str
    number: int | None
    scale: int
    unit: str
    subject: str
    condition: str


class Breaker(Struct, frozen=True, kw_only=True):
    """The circuit breaker: open means that the source is left alone until `retry_at`."""

    state: str
    retry_at: str | None


class CaptureRecord(Struct, frozen=True, kw_only=True):
    """A request as it arrived, but for the case of its headers' names. `body` when it is UTF-8, else `body_base64`.
    `size`: bytes that arrived. `truncated`: more than is kept.
    """

    id: str
    received_at: str
    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    body: str | None = None
    body_base64: str | None = None
    size: int
    truncated: bool
    signature_check: SignatureCheck


class Change(Struct, frozen=True, kw_only=True):
    """One block whose text was altered. `spans` is absent where the two texts have too little in common."""

    before: str
    after: str
    context: Context | None = None
    """Where it stands; absent where nothing is known."""
    spans: Spans | None = None
    """The words that differ, as pairs of code points: from the first on and before the second. Absent where the two
    have too little in common, or are too long to compare.
    """


class CheckAnswer(Struct, frozen=True, kw_only=True):
    """When the look that was asked for is due."""

    id: str
    next_fetch_at: str


class Checked(Struct, frozen=True, kw_only=True):
    """A signature's verdict: `ok` is null when it was not checked, `why` is a sentence either way."""

    ok: bool | None
    cause: str
    why: str


class CheckedEvent(Struct, frozen=True, kw_only=True):
    """The verdict on one event of a digest."""

    ok: bool | None
    cause: str
    why: str
    id: str | None


class CheckedEvents(Struct, frozen=True, kw_only=True):
    """The verdict on all events together: `ok` if each is. `events`: one by one."""

    ok: bool | None
    cause: str
    why: str
    events: list[CheckedEvent]


class ContentExcerpt(Struct, frozen=True, kw_only=True):
    """A piece of the content, from the code point `start` on. Its marks are counted in the content, as `start` is."""

    start: int
    text: str
    marks: list[tuple[int, int]]


class Context(Struct, frozen=True, kw_only=True):
    """Where a block stands: below which heading, in which row and column of a table. What is not known is absent."""

    heading: str | None = None
    """The nearest heading above."""
    row: str | None = None
    """Of a cell the label of its row, of a definition its term."""
    column: str | None = None
    """Of a cell the head of its column."""


class Contexts(Struct, frozen=True, kw_only=True):
    """One context for each text of `added` and `removed`, in their order; `{}` where nothing is known."""

    added: list[Context]
    """One for each text of `added`, in its order."""
    removed: list[Context]
    """One for each text of `removed`, in its order."""


class CoverageReceipt(Struct, frozen=True, kw_only=True):
    """The known checks of one source in a period."""

    type: str | None = None
    source_id: str
    url: str | None = None
    url_sha256: str | None = None
    from_: str = field(name="from")
    to: str
    says: str
    looks: int
    answered: int
    outcomes: dict[str, int]
    versions: int
    first_answered_at: str | None
    last_answered_at: str | None
    longest_gap: LongestGap | None
    unknown_seconds: int
    unknown: list[UnknownTime]
    not_running_seconds: int
    first_event_id: str | None
    last_event_id: str | None
    events_since: str | None
    signed_at: str | None = None
    key_id: str | None = None
    signature: str | None = None


class CrashSeen(Struct, frozen=True, kw_only=True):
    """A crash, by the first line of its error."""

    at: str
    error: str


class CurrentValue(Struct, frozen=True, kw_only=True):
    """A value that stands on the page, as it was last told. `text`: as it is written there. `value`: its digits, a
    date (YYYY-MM-DD, YYYY-MM or MM-DD), a version's numbers, or a state such as `in_stock`; `number` is it
    without the point, of what is a number. `label`, `path` and `unit` are those of an event that tells a change
    of it. `since`: from when on it is known to stand there so.
    """

    type: str
    text: str
    value: str
    label: str
    path: str
    unit: str
    since: str
    number: int | None = None
    scale: int | None = None


class DeliveriesPage(Struct, frozen=True, kw_only=True):
    """Rows from `start` on, of `total`: who fails first, then who has most waiting."""

    total: int
    start: int
    rows: list[DeliveryRow]


class DeliveryRecord(Struct, frozen=True, kw_only=True):
    """One attempt. `webhook_id` is the event's id, or a digest's own. `response_excerpt`: the first 1 KiB of what
    the receiver said, control characters escaped.
    """

    webhook_id: str
    attempt: int
    result: str
    at: str
    status_code: int | None
    latency_ms: int
    error: str | None
    next_attempt_at: str | None
    response_excerpt: str


class DeliveryRow(Struct, frozen=True, kw_only=True):
    """How one destination stands. waiting: deliveries that wait or are under way; oldest: since when the first
    does. next: when the next one is due, null when nothing waits or all that does is under way.
    """

    id: str
    alert_id: str
    label: str
    url: str
    delivery_mode: str
    state: str
    failing_since: str | None
    waiting: int
    oldest: str | None
    next: str | None
    failure_rate: float
    """Of its newest 100 attempts"""
    last: LastAttempt | None


class Delta(Struct, frozen=True, kw_only=True):
    """A change in reading order, from which the new text can be rebuilt from the old."""

    ops: list[Op]
    stats: DeltaStats
    truncated: bool | None = None
    v: int | None = None
    granularity: str | None = None


class DeltaStats(Struct, frozen=True, kw_only=True):
    """Paragraph counts of a delta."""

    added: int
    removed: int
    changed: int
    unchanged: int


class DestinationKindRecord(Struct, frozen=True, kw_only=True):
    """A kind of destination, and what it asks for. `where`: how to get that. `signed`: its deliveries have a
    secret.
    """

    kind: str
    label: str
    family: str
    where: str
    documentation: str
    address: AddressWanted
    options: list[OptionWanted]
    signed: bool


class DestinationPatch(Struct, frozen=True, kw_only=True):
    """What to change; null takes the `quiet_hours` and `managed` away, and declines the replay that `replay_from`
    offers. `options` that are not named stay; null takes one away. `enabled: true` also brings one back that was
    disabled for its failures.
    """

    url: str | UnsetType = UNSET
    """Public https"""
    options: dict[str, str | None] | UnsetType = UNSET
    """What the kind asks for, by name; private values are sealed and never shown again"""
    delivery_mode: Literal["15min", "daily", "hourly", "instant"] | UnsetType = UNSET
    label: str | UnsetType = UNSET
    digest_hour: int | UnsetType = UNSET
    """The hour at which a daily digest's window ends"""
    digest_timezone: str | UnsetType = UNSET
    """IANA time zone"""
    enabled: bool | UnsetType = UNSET
    quiet_hours: QuietHours | UnsetType | None = UNSET
    format: Literal["cloudevents", "event"] | UnsetType = UNSET
    """The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2)"""
    most_at_once: int | UnsetType = UNSET
    """More events than this that wait at once become one digest; 0: none do"""
    secret: str | UnsetType = UNSET
    """A signing secret of your own, `whsec_` and base64 of 24 to 64 random bytes; the one before it signs for 24
    hours more. Never shown again
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    replay_from: UnsetType | None = UNSET


class DestinationRecord(Struct, frozen=True, kw_only=True):
    """A destination. `enabled`: what somebody wished; `state` is `disabled` also when it was given up (410, five
    days of failures), and `PATCH {"enabled": true}` brings it back. `url`: what may be seen of its address,
    where that lets somebody in. `options`: what its kind asked for; `private` names the values that are sealed.
    `failure_rate`: of its newest 100 attempts; `error_rate` is its twin. `duplicate_rate`: the share of its
    deliveries that had, or may have, arrived before. `replay_from`: after this there may be matches that it was
    never given; replay takes it as `since`. `needs_secret`: nobody knows its secret, as it came here without it
    (with an import, say), and it is paused until a new one is made.
    """

    id: str
    alert_id: str
    kind: str
    url: str
    options: dict[str, str]
    private: list[str]
    delivery_mode: str
    label: str
    digest_hour: int
    digest_timezone: str
    quiet_hours: QuietHours | None
    enabled: bool
    state: str
    created_at: str
    updated_at: str
    last_delivery_at: str | None
    failure_rate: float
    error_rate: float
    duplicate_rate: float
    replay_from: str | None
    format: str
    """The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2)"""
    most_at_once: int
    revision: str
    """What its ETag says, for If-Match"""
    updated_by: str
    """Who set something of it last: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None
    needs_secret: bool | None = None
    needs_agreement: bool | None = None
    in_use_by_alert_count: int | None = None


class DestinationWithSecret(Struct, frozen=True, kw_only=True):
    """A destination and its newest signing secret, which is shown this once; absent for a kind that signs nothing.
    `invited`: how the question went, where who is told has to agree first.
    """

    id: str
    alert_id: str
    kind: str
    url: str
    options: dict[str, str]
    private: list[str]
    delivery_mode: str
    label: str
    digest_hour: int
    digest_timezone: str
    quiet_hours: QuietHours | None
    enabled: bool
    state: str
    created_at: str
    updated_at: str
    last_delivery_at: str | None
    failure_rate: float
    error_rate: float
    duplicate_rate: float
    replay_from: str | None
    format: str
    """The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2)"""
    most_at_once: int
    revision: str
    """What its ETag says, for If-Match"""
    updated_by: str
    """Who set something of it last: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None
    needs_secret: bool | None = None
    needs_agreement: bool | None = None
    in_use_by_alert_count: int | None = None
    secret: str | None = None
    invited: TestAnswer | None = None


class Destinations(Struct, frozen=True, kw_only=True):
    """The actors of destinations that are neither paused nor disabled."""

    total: int
    running: int
    backoff: int
    quarantined: int


class DetectAnswer(Struct, frozen=True, kw_only=True):
    """The answer to a detection. `source_id`: the source that watches this URL already. `final_url`: where the look
    was led, with what its query calls a token, a key or the like hidden. `supported` and `discovered_feed_url`
    are twins.
    """

    url: str
    type: str
    confidence: str
    evidence: str
    final_url: str
    content_type: str
    feed_url: str | None
    supported: bool
    discovered_feed_url: str | None
    source_id: str | None
    preview: Preview


class DetectRequest(Struct, frozen=True, kw_only=True):
    """A URL to classify, and how it would be watched: the fields mean what they do in POST /v1/sources. `tags`: it
    is shown with what it would have of their defaults.
    """

    url: str
    """http, https, ws or wss"""
    type: Literal["feed", "html", "push"] | UnsetType | None = UNSET
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of what not to watch. Default: []"""
    filter: str | UnsetType | None = UNSET
    headers: str | UnsetType | None = UNSET
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
    rendered look costs 100 plain ones; feeds are never rendered. Default: "auto"
    """
    wait_for: str | UnsetType | None = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: []"""
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
    own parts are left out. Default: []
    """


class Detected(Struct, frozen=True, kw_only=True):
    """What a URL was found to be; `evidence` is a sentence that a person can check. `pending`: it has yet to
    answer, and the rest is a guess. `forced`: its owner said what it is, and it looked like something else.
    `final_url`: where the look was led; if it is not the source's own address, what its query calls a token, a
    key or the like is hidden.
    """

    type: str
    confidence: str
    evidence: str
    final_url: str
    content_type: str
    feed_url: str | None
    pending: bool | None = None
    forced: bool | None = None


class Diff(Struct, frozen=True, kw_only=True):
    """What a reader wants to see of a page's change. `context` is absent where nothing is known of any text."""

    added: list[str]
    """Texts that came."""
    removed: list[str]
    """Texts that went."""
    changed: list[Change]
    """Texts that were altered."""
    truncated: bool | None = None
    """True when the difference is longer than what is shown of it."""
    context: Contexts | None = None
    """Where the texts of `added` and `removed` stand; absent where nothing is known."""


class DiffExcerpt(Struct, frozen=True, kw_only=True):
    """A piece of a text of the event's `diff`: of `added[index]`, `removed[index]`, or a side of `changed[index]`.
    `start` and the marks are counted in that text.
    """

    part: str
    index: int
    start: int
    text: str
    marks: list[tuple[int, int]]


class Digest(Struct, frozen=True, kw_only=True):
    """The events of a window of time, in the order of the log; at most 500, more come in another digest."""

    id: str
    destination_id: str
    alert_id: str
    delivery_mode: str
    window_start: str
    window_end: str
    count: int
    events: list[Event]


class Done(Struct, frozen=True, kw_only=True):
    """What was done, or was begun and goes on."""

    done: str
    path: str


class DraftEvent(Struct, frozen=True, kw_only=True):
    """An event as it would be emitted, `content` cut to 500 characters. `identity`: what tells it from others
    (guid, link, hash, or two of them). `told` is false for a push source's frame that neither an alert nor
    `filter` wants.
    """

    title: str
    url: str
    author: str
    content: str
    published_at: str | None
    tags: list[str]
    identity: str
    told: bool


class EffectiveSettings(Struct, frozen=True, kw_only=True):
    """The settings that hold for a source: its own, and what it inherits of its tags."""

    schedule: str | None
    hours: str | None
    bar: float | None
    selector: str | None
    ignore: list[str]


class Event(Struct, frozen=True, kw_only=True):
    """The wire form of an event: every field of the contract, in the order that people read them."""

    schema: str = field(name="$schema")
    """Where this schema is served."""
    id: str
    """A UUIDv7, increasing in the order of the log: the key to know repetitions by, the cursor for `since` and
    `Last-Event-ID`, and the `webhook-id` of its delivery.
    """
    source_id: str
    """The source that it is from."""
    source_type: str
    """That source's tier."""
    source_url: str
    """The URL that is watched."""
    url: str
    """The URL of what is new."""
    title: str
    """Plain text; "" when there is none."""
    summary: str | None = None
    """The event in one line of plain text, at most 140 characters, never empty: of a page the heaviest change with
    its context, of others the title or the beginning of the content. Absent before version 1.1.
    """
    author: str
    """Plain text; "" when there is none."""
    content: str
    """The main text, at most 64 KiB of UTF-8; of a changed page with every text that the difference shows of it."""
    content_truncated: bool | None = None
    """True when `content` was cut; else absent."""
    content_hash: str
    """SHA-256 of the whole content, NFC-normalised, before it was cut."""
    simhash: int
    """A similarity hash of 53 bits: few bits differ between like texts."""
    tags: list[str]
    """Each `<namespace>:<value>`."""
    published_at: str | None
    """The source's own word for when, or null."""
    fetched_at: str
    """When the look was made that found it."""
    emitted_at: str
    """When it was put into the log; the time in its `id`."""
    schema_version: int
    """1. A field may be added without a new number; ignore what you do not know. What was added when says the
    `x-version` of this schema.
    """
    diff: Diff | None = None
    """Of a page's change only: what was added, removed and changed, to be read."""
    delta: Delta | None = None
    """Of a page's change only: the steps from the old text to the new one."""
    changes: list[TypedChange] | None = None
    """What changed, by kind, with its values: of a page all that differs, of an entry or a frame the values that it
    names. Absent where nothing is known, and before version 1.2.
    """
    unread: str | None = None
    """Of a source that follows: why the item's own page was not read, in a sentence. `content` is then what the
    list, or the feed, says of the item. Absent where the page was read.
    """
    alert_type: str | None = None
    """Of the service's own notices only, such as `source_quiet`."""
    heartbeat: Heartbeat | None = None
    """Of a heartbeat (`alert_type` is `heartbeat`) only: what it says."""
    story: str | None = None
    """The `id` of the first event that told the same: the same link, or nearly the same text, in another source
    within a week; its own where it is the first. Absent in notices, and before version 1.5.
    """
    signed_at: str | None = None
    """When it was signed."""
    key_id: str | None = None
    """The RFC 7638 thumbprint of its key in `/.well-known/jwks.json`."""
    signature: str | None = None
    """Ed25519 over the RFC 8785 form of the event without this field, in base64url without padding."""


class EventWhy(Struct, frozen=True, kw_only=True):
    """Why an event was emitted: `says` is it in a sentence or two, the rest is what that was made of. `noted`: the
    note of its look is still kept; without it `score`, `bar`, `identity`, `weighed` and `withheld` are empty.
    `compared_with`: when the state was seen that the look was compared with; null when it is no longer known.
    `alerts_once`: the alerts that match it, and had its story from another event.
    """

    id: str
    source_id: str
    source_type: str
    kind: str
    says: str
    noted: bool
    compared_with: str | None
    compared_with_event: str | None
    score: float | None
    bar: float | None
    identity: str | None
    weighed: list[LookPart]
    withheld: list[LookPart]
    alerts: AlertsMatched
    alerts_once: AlertsMatched


class EventsPage(Struct, frozen=True, kw_only=True):
    """A page of history. `window_from`: where the window really began, later than asked when retention clamped it."""

    events: list[Event]
    next_cursor: str | None
    window_from: str
    retention_clamped: bool


class FeedAddresses(Struct, frozen=True, kw_only=True):
    """Where the same events are, one address for each format. Who knows one may read."""

    atom: str
    rss: str
    json: str


class FeedPreview(Struct, frozen=True, kw_only=True):
    """A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them.
    `undated`: entries without a readable date. `identities`: how many entries are told apart by what.
    `backfill`: how many the largest backfill would emit. `damaged`: ill-formed, and recovered. `hubs` (WebSub)
    and `paging` (RFC 5005) are read, not followed.
    """

    title: str
    format: str
    url: str
    entries: int
    undated: int
    identities: dict[str, int]
    newest: list[DraftEvent]
    backfill: int
    damaged: bool
    hubs: list[str]
    paging: dict[str, str]


class Feedback(Struct, frozen=True, kw_only=True):
    """What a user says of an event."""

    verdict: Literal["noise", "real"]


class FieldError(Struct, frozen=True, kw_only=True):
    """One place that is wrong: place, reason and found value."""

    location: str
    """Where: `body.tags[1]`, `query.limit`, `header.Last-Event-ID`, or a part's name."""
    message: str
    """Why."""
    value: Any | None = None
    """What was there, cut to 200 characters."""


class FilledBy(Struct, frozen=True, kw_only=True):
    """JSON that filled the page while a browser showed it, and its `size` in bytes: to watch `url` is a plain look."""

    url: str
    size: int


class HealthSeen(Struct, frozen=True, kw_only=True):
    """One of the things that a score is made of: the part of it that is left (1: it costs nothing), and why."""

    cause: str
    left: float
    says: str


class Heartbeat(Struct, frozen=True, kw_only=True):
    """What a heartbeat says: that the service did its work at that moment, and had the log up to there. number: of
    the heartbeats in this log, from 1. due_at: when it was due by the service's clock. before: the id of the
    heartbeat before it. head: of the newest event before it, of whatever kind. looks: that ended since
    `looks_since`, when the process that writes this wrote the one before, or began. watched, failing, paused:
    sources.
    """

    number: int
    """Counts the heartbeats of this log; one that is left out is missing."""
    every_seconds: int
    """How often one is due: when none has come for two of these, the service or the way to you has failed."""
    due_at: str
    """When it was due by the service's clock."""
    before: str | None
    """The id of the heartbeat before it; null for the first."""
    head: str | None
    """The id of the newest event before it: the log reaches up to there."""
    running_since: str
    """When the process that wrote it began."""
    looks: int
    """Looks at feeds and pages that ended since `looks_since`, at the node that wrote it."""
    looks_since: str
    """When that process wrote the heartbeat before, or began if that is later."""
    watched: int
    """Sources that are watched."""
    failing: int
    """Of these, those that fail, or rest after failures."""
    paused: int
    """Sources that a person has paused."""


class HeldEvents(Struct, frozen=True, kw_only=True):
    """What the log holds of a source: events, and about how many bytes they take."""

    events: int
    bytes: int


class HeldVersions(Struct, frozen=True, kw_only=True):
    """A selector tried on the earlier `versions` of a page that have the block, 10 at most: in how many it chooses
    the `same` place, and in how many `nothing`; in the others another place. `since`: when the oldest of them
    began. Of an earlier version its texts are kept. The page as it is now is given these, so another design is
    not noticed.
    """

    versions: int
    same: int
    nothing: int
    since: str


class Highlights(Struct, frozen=True, kw_only=True):
    """Where the terms stand, in Unicode code points; no text here is HTML. `diff`: in what came and what went."""

    title: list[tuple[int, int]]
    content: list[ContentExcerpt]
    diff: list[DiffExcerpt] | None = None


class Ignored(Struct, frozen=True, kw_only=True):
    """How many elements one of `ignore` takes out."""

    selector: str
    elements: int


class Instantiation(Struct, frozen=True, kw_only=True):
    """What to fill in, whether the suggested alerts are made too, and which of the sources are meant."""

    params: dict[str, list[str]] | UnsetType = UNSET
    """An array of strings for each parameter; left out for a template without parameters. Default: {}"""
    alerts: bool | UnsetType = UNSET
    """Default: false"""
    only: list[str] | UnsetType | None = UNSET


class KeptBlocks(Struct, frozen=True, kw_only=True):
    """What a choice keeps, read as a look would: the first 100 `texts` of `count`. `digest` changes when something
    else is kept; figures that run do not change it. `items`: how many it has, read as a list (`follow`).
    """

    selector: str | None
    ignore: list[str]
    texts: list[str]
    count: int
    digest: str
    items: int


class KeptVersion(Struct, frozen=True, kw_only=True):
    """A version of a page. `version`: the id of the event that told it; `start` is what stood there before the
    oldest change, `now` what is watched now without an event. `kept`: all watched texts (`whole`), the
    `main_text` that its event carries, or only a `part`.
    """

    version: str
    at: str | None
    event_id: str | None
    says: str
    kept: str


class KeySeen(Struct, frozen=True, kw_only=True):
    """An API key without what lets in. `prefix`: its first characters. `streams`: those it has open at this node."""

    id: str
    name: str
    prefix: str
    scopes: list[str]
    rate_per_minute: int
    burst: int
    created_at: str
    last_used_at: str | None
    streams: int


class KeysSeen(Struct, frozen=True, kw_only=True):
    """All API keys, newest first."""

    keys: list[KeySeen]


class KnownReason(Struct, frozen=True, kw_only=True):
    """One thing that is known, as a sentence. `kind`: told, withheld (seen and not told), due (there now, and the
    next look weighs it), failed (it could not be read now), known (there now, and no news), furniture, outside
    (of what is watched), there (at the first look), absent, unasked (a frame that nobody asked for), look (how
    one went). `text`: the block or entry it is about.
    """

    kind: str
    says: str
    at: str | None
    event_id: str | None
    text: str


class LastAttempt(Struct, frozen=True, kw_only=True):
    """The newest attempt at a destination. `error`: one line of plain text."""

    at: str
    result: str
    status: int | None
    latency_ms: int
    error: str | None


class LastValidators(Struct, frozen=True, kw_only=True):
    """What makes the next request conditional, as the last answer gave it, and the hash of its body."""

    etag: str | None
    last_modified: str | None
    body_hash: str | None


class Lesson(Struct, frozen=True, kw_only=True):
    """What was learned; `noise_count` as in the source's record."""

    event_id: str
    source_id: str
    verdict: str
    noise_count: int
    says: str


class ListedItem(Struct, frozen=True, kw_only=True):
    """An item of a list: what the list calls it, and where it leads."""

    title: str
    url: str


class LogLine(Struct, frozen=True, kw_only=True):
    """A line as it was written, with a number of its own."""

    number: int
    ts: str
    level: str
    event: str
    actor: str
    fields: dict[str, Any]


class LogPage(Struct, frozen=True, kw_only=True):
    """The newest lines, oldest first, and the number to go on after."""

    last: int
    lines: list[LogLine]


class LongestGap(Struct, frozen=True, kw_only=True):
    """The longest known time without an answered check; an hour at the edge of a known period may lengthen it."""

    from_: str = field(name="from")
    to: str
    seconds: int


class LookNote(Struct, frozen=True, kw_only=True):
    """A look whose body changed, in words. `compared_with`: the look that it was compared with. `verdict`: told,
    baseline (the first look), churn (nothing in it was news), held (a doubt that the next look settles, or most
    of a feed new at once), failed (not the page itself), stretch (a time of listening to a push source, up to
    `until`). A page is told when `score` reaches `bar`. `counts` are numbers of entries or frames.
    """

    at: str
    verdict: str
    reason: str
    compared_with: str | None
    score: float | None
    bar: float | None
    withheld: list[LookPart]
    told: list[LookPart]
    counts: dict[str, int]
    until: str | None


class LookPart(Struct, frozen=True, kw_only=True):
    """A block of a page or an entry of a feed: whether it came or went, whether it was told, and by which rule.
    `text` is its beginning; `key` the block's key or the entry's identity; `score` what a block weighed.
    """

    text: str
    rule: str
    key: str
    came: bool
    told: bool
    score: float


class LookRate(Struct, frozen=True, kw_only=True):
    """Looks a second in the last half minute, beside the setting `looks_per_second`. `says`: empty while it is
    kept.
    """

    per_second: float
    budget: float
    passed_for_s: float
    """How long more looks than the budget are made; 0 while it is kept"""
    says: str | None = None


class LookSeen(Struct, frozen=True, kw_only=True):
    """`looks` looks that went alike, the last of them at `at`. `bytes`: of the last one's body."""

    at: str
    verdict: str
    looks: int
    status: int | None
    bytes: int
    ms: int


class LookTrail(Struct, frozen=True, kw_only=True):
    """The last 200 looks at a source, and notes of those whose body changed (the newest 40 at most); newest first."""

    id: str
    looks: list[Looks]
    notes: list[LookNote]
    validators: LastValidators


class Looks(Struct, frozen=True, kw_only=True):
    """Looks that went alike, from the first to the last of them; `bytes` (on the wire) and `ms` are of the last.
    `verdict`: unchanged, changed (something was told), nothing_to_tell (the body changed, but not what matters),
    or why it failed: remote_transient, throttled, remote_permanent, content, local.
    """

    first_at: str
    last_at: str
    looks: int
    status: int | None
    bytes: int
    ms: int
    verdict: str


class MailboxSeen(Struct, frozen=True, kw_only=True):
    """A mailbox: how many wait, how many may, how many were taken in all, and how often it was met full."""

    depth: int
    bound: int
    received: int
    full: int


class Managed(Struct, frozen=True, kw_only=True):
    """A record is described by files, and changed by `sanderling apply`."""

    workspace: str
    """The name of the folder of files; no two folders have the same"""
    name: str
    """What the files call it"""
    applied: str | UnsetType = UNSET
    """What the files set when they were applied last, as `field=digest` with spaces between; none of it is of a
    secret. Default: ""
    """


class Matching(Struct, frozen=True, kw_only=True):
    """How far the matcher is behind the log: events, and the age of the oldest. `says`: empty while that is short."""

    behind: int
    seconds: float
    says: str | None = None


class MessagePreview(Struct, frozen=True, kw_only=True):
    """The messages of an event and of a digest."""

    dialect: str
    messages: list[ShownMessage]


class MessagePreviewRequest(Struct, frozen=True, kw_only=True):
    """Templates as the `options` of a destination would have them; "" stands for the usual title or text.
    `alert_id`: whose newest matches are told; null takes the newest events of all. `language`: of our own words,
    as a destination's option; "" stands for the service's.
    """

    kind: str
    """A kind of GET /v1/destination-kinds; a webhook without this"""
    message: str | UnsetType = UNSET
    """Default: "" """
    message_title: str | UnsetType = UNSET
    """Default: "" """
    alert_id: str | UnsetType | None = UNSET
    language: str | UnsetType = UNSET
    """Default: "" """


class MissingEvents(Struct, frozen=True, kw_only=True):
    """Between these two times, of the events' ids. Feeds and pages are found again, frames of WebSockets are not."""

    after: str
    until: str


class NewAlert(Struct, frozen=True, kw_only=True):
    """A standing query. `anomaly_enabled` can't be true yet. `default_destinations`: it gets a copy of each
    destination that its tags have as defaults.
    """

    filter_query: str
    """Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything"""
    language: str | UnsetType = UNSET
    """ISO 639-1, or simple for no stemming. Default: "en" """
    source_ids: list[str] | UnsetType = UNSET
    """Events of these sources; with neither these nor `tags`, of all. Default: []"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags, also of sources that are added later; beside `source_ids`. Default: []"""
    name: str | UnsetType | None = UNSET
    channel: str | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET
    """Default: true"""
    notices: list[Literal["destination_disabled", "destination_failing", "heartbeat", "source_failing", "source_moved", "source_quiet", "source_recovered", "source_reset", "storage_damaged", "watching_stalled"]] | UnsetType = UNSET
    """The service's own notices that it asks for. Default:
    ["source_quiet","source_recovered","source_failing","source_reset","source_moved"]
    """
    notice_after: int | UnsetType = UNSET
    """Seconds after which a trouble is told. Default: 3600"""
    anomaly_enabled: bool | UnsetType = UNSET
    """Default: false"""
    match: Literal["added", "change", "page", "removed"] | UnsetType = UNSET
    """What of a page's event the query is held against: title, what came and what went (`change`), what came
    (`added`), what went (`removed`), or title and content (`page`). Feeds and push: always the latter. Default:
    "change"
    """
    once_per_story: bool | UnsetType | None = UNSET
    """Of events that tell the same (`story`), only the first it matches goes to its destinations; null: where it is
    over several sources
    """
    default_destinations: bool | UnsetType = UNSET
    """Default: true"""
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
    ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and
    so does an alert that was made before the source was private. Default: []
    """


class NewDestination(Struct, frozen=True, kw_only=True):
    """Where an alert's matches are delivered. `label`: else the URL's host and the alert's name. `url` may be left
    out for a kind that has one address for everybody.
    """

    url: str | UnsetType = UNSET
    """Public https"""
    kind: str | UnsetType = UNSET
    """A kind of GET /v1/destination-kinds; a webhook without this. Default: "webhook" """
    options: dict[str, str | None] | UnsetType = UNSET
    """What the kind asks for, by name; private values are sealed and never shown again. Default: {}"""
    delivery_mode: Literal["15min", "daily", "hourly", "instant"] | UnsetType = UNSET
    """Default: "instant" """
    label: str | UnsetType | None = UNSET
    digest_hour: int | UnsetType = UNSET
    """The hour at which a daily digest's window ends. Default: 8"""
    digest_timezone: str | UnsetType = UNSET
    """IANA time zone. Default: "UTC" """
    enabled: bool | UnsetType = UNSET
    """Default: true"""
    quiet_hours: QuietHours | UnsetType | None = UNSET
    format: Literal["cloudevents", "event"] | UnsetType = UNSET
    """The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2). Default: "event" """
    most_at_once: int | UnsetType = UNSET
    """More events than this that wait at once become one digest; 0: none do"""
    secret: str | UnsetType = UNSET
    """A signing secret of your own, `whsec_` and base64 of 24 to 64 random bytes; the one before it signs for 24
    hours more. Never shown again
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class NewPublication(Struct, frozen=True, kw_only=True):
    """Events to be published: those that meet all that is named. Naming nothing publishes all that sources tell."""

    title: str
    """What readers call it"""
    source_ids: list[str] | UnsetType = UNSET
    """Events of any of these sources. Default: []"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags. Default: []"""
    channel: str | UnsetType | None = UNSET
    alert_ids: list[str] | UnsetType = UNSET
    """What any of these alerts matches. Default: []"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
    ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and
    so does an alert that was made before the source was private. Default: []
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class NewSource(Struct, frozen=True, kw_only=True):
    """A URL to watch. `type` overrides detection. `backfill`: how many of a feed's newest entries to emit at once.
    `verify`: with `later`, a URL that can't be reached now is added, too, and found out when it answers.
    """

    url: str
    """http, https, ws or wss"""
    type: Literal["feed", "html", "push"] | UnsetType | None = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: []"""
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of what not to watch. Default: []"""
    schedule: str | UnsetType | None = UNSET
    hours: str | UnsetType | None = UNSET
    backfill: int | UnsetType = UNSET
    """Default: 0"""
    filter: str | UnsetType | None = UNSET
    bar: float | UnsetType | None = UNSET
    subprotocols: list[str] | UnsetType = UNSET
    """What a push source's handshake offers, best first. Default: []"""
    hello: str | list[str] | UnsetType | None = UNSET
    replies: list[str] | UnsetType = UNSET
    """Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern stands for any characters, and
    in the text for the same ones. A frame that is answered is no event. Default: []
    """
    headers: str | UnsetType | None = UNSET
    headers_for: list[str] | UnsetType = UNSET
    """Where the headers are sent for other sources that have none of their own: hosts, or `*.` and what lies below
    it, over https and wss. Once one is named, the URL's own origin is, too. Default: []
    """
    follow: Literal["new_links", "none"] | UnsetType = UNSET
    """`new_links`: each new item of a list page, each new address of a sitemap and each new entry of a feed is told
    once, with the text of its own page. A page is then read as a list: other changes of it are not told.
    Default: "none"
    """
    follow_hosts: list[str] | UnsetType = UNSET
    """Other hosts whose pages `follow` fetches, too, each with what lies below it; `*` is every host. Links to
    others are told without the text of their page. `headers` never go there. Default: []
    """
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
    own parts are left out. Default: []
    """
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
    rendered look costs 100 plain ones; feeds are never rendered. Default: "auto"
    """
    wait_for: str | UnsetType | None = UNSET
    screenshots: bool | UnsetType = UNSET
    """Whether a picture of the page is kept with each change, and of the first look, while a browser shows it; for
    as long as `screenshot_days` says. Default: false
    """
    title: str | UnsetType = UNSET
    """Your own name for it, of one line. Default: "" """
    enabled: bool | UnsetType = UNSET
    """Default: true"""
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    verify: Literal["later", "now"] | UnsetType = UNSET
    """Default: "now" """


class NextSteps(Struct, frozen=True, kw_only=True):
    """`add_destination`: a path below /v1, of the first alert; null without one. `stream`: where the events are."""

    add_destination: str | None
    stream: str


class Node(Struct, frozen=True, kw_only=True):
    """One of the nodes on one database, as it was at its last beat."""

    name: str
    """Its name, and chance that is new at each start"""
    this: bool
    """Whether it is the one that answers"""
    inside: bool
    """Whether sources and destinations may be its own"""
    version: str
    url: str
    sources: int
    """Sources that it watches"""
    overdue: int
    streams: int
    role: str | None = None
    """`web`: it answers requests and streams, and watches nothing"""
    missing: MissingEvents | None = None
    """Events that its readers had seen, and that a failover of PostgreSQL took"""


class Op(Struct, frozen=True, kw_only=True):
    """One step from the old text to the new; `para` counts old paragraphs for delete, new ones else, from 0.
    `context` is where the text stands that it names, for "replace" the new one.
    """

    op: str
    para: int
    text: str | None = None
    before: str | None = None
    after: str | None = None
    context: Context | None = None
    """Where its text stands, for `replace` the new one."""


class OptionWanted(Struct, frozen=True, kw_only=True):
    """One of the `options` of a kind. `many`: several values with commas between. `matches`: a regular expression
    of the whole value.
    """

    name: str
    label: str
    help: str
    example: str
    private: bool
    required: bool
    many: bool
    lines: bool
    matches: str
    default: str


class Overview(Struct, frozen=True, kw_only=True):
    """The figures of the whole. `failing`: part to sentence, empty when all is well. queues: messages that wait in
    the mailboxes of the fixed parts. totals: counted since `started_at`; two answers give a rate.
    """

    at: str
    started_at: str
    version: str
    url: str
    """The service's address, as clients see it"""
    local_url: str
    """Where programs on its own machine reach it"""
    ready: bool
    draining: bool
    """Looks are not made until `resume`"""
    failing: dict[str, str]
    sources: Sources
    destinations: Destinations
    matching: Matching
    newest_event: str | None
    """The id of the newest event"""
    queues: dict[str, int]
    streams: int
    looks: LookRate
    loop_lag_s: float
    """How late the loop came to its work at the last measurement"""
    totals: dict[str, int]
    nodes: list[Node]
    """The nodes that share the database; empty where there is one alone"""
    replica: Replica | None = None
    """The copy that is kept for a standby; null where none is kept"""


class PacePreview(Struct, frozen=True, kw_only=True):
    """When the second look would be, and what the origin says of its pace; hours and days (0 is Monday) in UTC."""

    interval_s: float
    next_look_at: str
    max_age_s: float
    ttl_s: float
    skip_hours: list[int]
    skip_days: list[int]


class PageBlock(Struct, frozen=True, kw_only=True):
    """A block: `number` counts from 0, by `mark` it is known again. `text` is cut at 2,000 of `length` characters.
    `heading` is the one above it, `row` and `column` are of its table. `why`: furniture or control when it is
    left out of a page that is watched as a whole. `watched`: by the choice of the request. `selector` chooses
    this block alone if anything does, "" where nothing can. `item`: it leads to an item of the list (`follow`).
    `cells`: of a row of CSV, each of which can be pressed alone.
    """

    number: int
    mark: str
    text: str
    length: int
    kind: str
    heading: str
    row: str
    column: str
    why: str
    watched: bool
    selector: str
    item: bool
    values: list[BlockValue]
    cells: list[BlockCell] | None = None


class PageBlocks(Struct, frozen=True, kw_only=True):
    """A page to choose from: `blocks` are 100 at most from `first` on, of the `found` that have the words, of
    `total`. `no_parts`: why a part of this document can't be chosen, "" where it can. `now`: what the present
    choice keeps, null where that is nothing. `choice`: null unless a block was pressed; `gone`: the one that was
    is not there any more. `part`: the choice with what tags say of it. `listed`: items of the page, read as a
    list. `partial`: the page is longer than what is read.
    """

    fetched_at: str
    title: str
    format: str
    total: int
    found: int
    first: int
    blocks: list[PageBlock]
    no_parts: str
    now: KeptBlocks | None
    choice: BlockChoice | None
    gone: bool
    listed: int
    part: ShownPart
    partial: bool


class PagePreview(Struct, frozen=True, kw_only=True):
    """A page: its first 40 blocks, and how many of all blocks are watched and left out. `listed`: how many items it
    has when it is read as a list (`follow`); `items` are the first 20. `matched`: how many elements `selector`
    keeps, null without one. `partial`: the page is longer than what is read.
    """

    title: str
    author: str
    published_at: str | None
    content: str
    blocks: list[PreviewBlock]
    watched: int
    left_out: int
    matched: int | None
    ignored: list[Ignored]
    partial: bool
    listed: int | None = None
    items: list[ListedItem] | None = None


class PracticeChange(Struct, frozen=True, kw_only=True):
    """What was changed, as a sentence; the event that tells of it comes on `stream` within seconds."""

    what: str
    says: str
    source: SourceRecord
    stream: str


class PracticeRecord(Struct, frozen=True, kw_only=True):
    """A practice document and the source that watches it. `changes`: how often it was changed."""

    what: str
    changes: int
    source: SourceRecord


class PressedBlock(Struct, frozen=True, kw_only=True):
    """A block of an earlier answer, by its `number` and `mark`, and what choosing it is to do. `cell`: one of its
    `cells`, by its number; 0 for the block itself.
    """

    number: int
    mark: str
    act: Literal["also", "only", "without"] | UnsetType = UNSET
    """`only` this; this `also`, beside what `selector` chooses; all `without` this. Default: "only" """
    reach: Literal["like", "part", "this"] | UnsetType = UNSET
    """`this` block alone; all that are `like` it; the `part` of the page that it stands in. Default: "this" """
    cell: int | UnsetType = UNSET
    """Default: 0"""


class Preview(Struct, frozen=True, kw_only=True):
    """What a look at `fetched_at` would have told: one of `feed`, `page` and `push` is set. `part` is of a page."""

    fetched_at: str
    feed: FeedPreview | None
    page: PagePreview | None
    push: PushPreview | None
    pace: PacePreview | None
    robots: RobotsVerdict | None
    rendering: Rendering | None
    part: ShownPart | None


class PreviewBlock(Struct, frozen=True, kw_only=True):
    """A paragraph, item, cell or heading. `why`: furniture or control when it is left out, else ""."""

    text: str
    watched: bool
    why: str


class PreviewDay(Struct, frozen=True, kw_only=True):
    """A day (UTC): how many of its events were looked at, and how many of these match."""

    day: str
    looked_at: int
    matches: int


class PreviewMatch(Struct, frozen=True, kw_only=True):
    """An event that matches. `matched`: which terms of the query are in it."""

    id: str
    source_id: str
    title: str
    url: str
    emitted_at: str
    matched: list[str]
    highlights: Highlights


class PreviewRequest(Struct, frozen=True, kw_only=True):
    """Another part of the page to try out. What is left out is as it is in the source; null is the whole page."""

    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of what not to watch"""


class PreviewSummary(Struct, frozen=True, kw_only=True):
    """How many there would be of each."""

    new: int
    existing: int
    alerts_new: int
    alerts_existing: int


class PreviewTerm(Struct, frozen=True, kw_only=True):
    """A word, prefix or phrase of the query, as it was understood, and in how many of the events it is."""

    text: str
    events: int


class PreviewedAlert(Struct, frozen=True, kw_only=True):
    """An alert that would be made, or the one that is there, as its owner may have changed it."""

    name: str
    status: str
    alert_id: str | None
    filter_query: str
    language: str
    channel: str | None
    match: str


class PreviewedSource(Struct, frozen=True, kw_only=True):
    """A source that would be attached; `existing` ones are watched already."""

    url: str
    status: str
    source_id: str | None
    type: str
    tags: list[str]


class Problem(Struct, frozen=True, kw_only=True):
    """An RFC 9457 problem document."""

    schema: str = field(name="$schema")
    """Where this schema is served."""
    type: str
    """The kind of problem, and the page that explains it."""
    title: str
    """The kind in a few words, always the same."""
    status: int
    """The HTTP status."""
    detail: str
    """What went wrong this time."""
    instance: str | None = None
    """The path of the request."""
    errors: list[FieldError] | None = None
    """The places that are wrong."""


class PublicationPatch(Struct, frozen=True, kw_only=True):
    """What is to change of a publication; what is absent stays."""

    title: str | UnsetType = UNSET
    """What readers call it"""
    source_ids: list[str] | UnsetType = UNSET
    """Events of any of these sources"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags"""
    channel: str | UnsetType | None = UNSET
    alert_ids: list[str] | UnsetType = UNSET
    """What any of these alerts matches"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
    ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and
    so does an alert that was made before the source was private
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class PublicationRecord(Struct, frozen=True, kw_only=True):
    """A publication. Who knows `url` may read it, as a page; `feeds` are the same for feed readers. Both are null
    where this instance does not know the address, since its master key was lost: readers who have it go on, and
    a new one can be made.
    """

    id: str
    title: str
    source_ids: list[str]
    tags: list[str]
    channel: str | None
    alert_ids: list[str]
    private_source_ids: list[str]
    url: str | None
    feeds: FeedAddresses | None
    created_at: str
    updated_at: str
    revision: str
    """What its ETag says, for If-Match"""
    updated_by: str
    """Who set something of it last: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None


class PushPreview(Struct, frozen=True, kw_only=True):
    """The handshake, and the first frames of up to 3 seconds. `ended`: why the server closed meanwhile, if it did."""

    subprotocol: str | None
    waited_s: float
    received: int
    frames: list[DraftEvent]
    ended: str | None


class PushStatus(Struct, frozen=True, kw_only=True):
    """What a push source's connections have brought since the service started. `connected_since` null: none stands.
    Each of the `frames` counts once more: as admitted, a duplicate, filtered (nobody wants it) or unreadable.
    """

    connected_since: str | None
    subprotocol: str | None
    connections: int
    frames: int
    admitted: int
    duplicates: int
    filtered: int
    unreadable: int


class QuietHours(Struct, frozen=True, kw_only=True):
    """When instant deliveries wait: from a time of the named days to the next `to`, over midnight if it is earlier."""

    from_: str = field(name="from")
    """HH:MM"""
    to: str
    """HH:MM"""
    timezone: str | UnsetType = UNSET
    """IANA time zone. Default: "UTC" """
    weekdays: list[Literal["fri", "mon", "sat", "sun", "thu", "tue", "wed"]] | UnsetType = UNSET
    """The days on which it begins; without this, all of them. Default: ["mon","tue","wed","thu","fri","sat","sun"]"""


class Rendering(Struct, frozen=True, kw_only=True):
    """What browsers have to do with a page, in the words of `says`; null of one that is read as it is sent.
    `empty`: by what the page shows that it is empty without JavaScript, "" when it was to be rendered anyway.
    `done`: what is shown is the page as a browser showed it. `costs`: plain looks that a rendered one costs.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: list[FilledBy]


class ReplayAnswer(Struct, frozen=True, kw_only=True):
    """How many deliveries wait anew: those that wait already are not counted. `next_since`: where to go on when
    there was more than one request may take.
    """

    queued: int
    next_since: str | None


class ReplayRequest(Struct, frozen=True, kw_only=True):
    """What to deliver again: the matches after `since` and up to `until`, or events by their ids. Of an event's id,
    `since` does not include the event itself, `until` does.
    """

    since: str | UnsetType | None = UNSET
    until: str | UnsetType | None = UNSET
    ids: list[str] | UnsetType | None = UNSET


class Replica(Struct, frozen=True, kw_only=True):
    """How far the copy for a standby is."""

    place: str
    told_at: str | None
    """All that was committed up to then is in it; null before any is"""
    untold: int
    """Bytes of the write-ahead log that are not in it yet"""
    says: str
    """What keeps it from going on; empty when all is well"""


class ReportSummary(Struct, frozen=True, kw_only=True):
    """Sources: attached, already watched, failed; and how many of the failed because `max_sources` is reached."""

    attached: int
    already: int
    failed: int
    alerts_created: int
    skipped_cap: int


class ReportedAlert(Struct, frozen=True, kw_only=True):
    """What became of a suggested alert. `source_count` 0: it is over the whole library, or was not made."""

    name: str
    status: str
    alert_id: str | None
    source_count: int
    reason: str | None


class ReportedSource(Struct, frozen=True, kw_only=True):
    """What became of a source. `reason`: why it failed, or what else to know."""

    url: str
    status: str
    source_id: str | None
    detected_type: str | None
    reason: str | None


class RobotsVerdict(Struct, frozen=True, kw_only=True):
    """What robots.txt says about a page; it is not asked about feeds and WebSockets."""

    allowed: bool
    crawl_delay_s: float | None
    says: str


class SecretsAnswer(Struct, frozen=True, kw_only=True):
    """Whether each value is the one that is sealed here, in the order of the request. What is not here has none."""

    same: list[bool]


class SecretsRequest(Struct, frozen=True, kw_only=True):
    """Values to compare with those that are sealed here."""

    secrets: list[SupposedSecret]


class SettingsSeen(Struct, frozen=True, kw_only=True):
    """The settings of a running service, by their names. A secret that is set is shown as asterisks."""

    settings: dict[str, Any]


class ShownMessage(Struct, frozen=True, kw_only=True):
    """What is sent, marked up as the service takes it. `failure`: why the template was not used for this event."""

    of: str
    """The newest event, a digest of the newest, or a sample if there is none"""
    title: str
    text: str
    failure: str | None = None


class ShownPart(Struct, frozen=True, kw_only=True):
    """Which part of a page is shown: `selector` and `ignore` with what tags say of them. `inherited`: from which
    tags each of them comes, where a tag has a say; what is not in it is the source's own.
    """

    selector: str | None
    ignore: list[str]
    inherited: dict[str, list[str]]


class SignatureCheck(Struct, frozen=True, kw_only=True):
    """Both layers, as they were when the request came. `hmac` is checked with the secrets of this service's own
    destinations that deliver to this bin, `ed25519` with this service's own keys.
    """

    hmac: Checked
    ed25519: CheckedEvents


class Sizes(Struct, frozen=True, kw_only=True):
    """What the storage takes: bytes in all, those of them that are free for new events, and its heaviest sources."""

    bytes: int
    free: int
    sources: list[SourceSize]


class SourceBatch(Struct, frozen=True, kw_only=True):
    """Up to 20 URLs to watch."""

    sources: list[NewSource]


class SourceBlocksRequest(Struct, frozen=True, kw_only=True):
    """What is to be shown of a watched page. What is left out of the choice is as it is in the source."""

    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of what not to watch"""
    first: int | UnsetType = UNSET
    """How many of the blocks to skip; an answer has 100. Default: 0"""
    find: str | UnsetType = UNSET
    """Only blocks with all of these words. Default: "" """
    press: PressedBlock | UnsetType | None = UNSET


class SourceHealth(Struct, frozen=True, kw_only=True):
    """How a source is doing. Before the first success `last_success_at` is the time of creation."""

    score: float
    flag: str
    reason: str
    last_success_at: str
    rank: int
    last_checked_at: str | None


class SourcePatch(Struct, frozen=True, kw_only=True):
    """What to change; null empties `selector`, `schedule`, `hours`, `filter`, `bar`, `hello`, `headers`, `wait_for`
    and `managed`. The URL is fixed.
    """

    type: Literal["feed", "html", "push"] | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`"""
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of what not to watch"""
    filter: str | UnsetType | None = UNSET
    subprotocols: list[str] | UnsetType = UNSET
    """What a push source's handshake offers, best first"""
    hello: str | list[str] | UnsetType | None = UNSET
    replies: list[str] | UnsetType = UNSET
    """Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern stands for any characters, and
    in the text for the same ones. A frame that is answered is no event
    """
    headers: str | UnsetType | None = UNSET
    headers_for: list[str] | UnsetType = UNSET
    """Where the headers are sent for other sources that have none of their own: hosts, or `*.` and what lies below
    it, over https and wss. Once one is named, the URL's own origin is, too
    """
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
    rendered look costs 100 plain ones; feeds are never rendered
    """
    wait_for: str | UnsetType | None = UNSET
    screenshots: bool | UnsetType = UNSET
    """Whether a picture of the page is kept with each change, and of the first look, while a browser shows it; for
    as long as `screenshot_days` says
    """
    schedule: str | UnsetType | None = UNSET
    hours: str | UnsetType | None = UNSET
    bar: float | UnsetType | None = UNSET
    follow: Literal["new_links", "none"] | UnsetType = UNSET
    """`new_links`: each new item of a list page, each new address of a sitemap and each new entry of a feed is told
    once, with the text of its own page. A page is then read as a list: other changes of it are not told
    """
    follow_hosts: list[str] | UnsetType = UNSET
    """Other hosts whose pages `follow` fetches, too, each with what lies below it; `*` is every host. Links to
    others are told without the text of their page. `headers` never go there
    """
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
    own parts are left out
    """
    title: str | UnsetType = UNSET
    """Your own name for it, of one line"""
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class SourceRecord(Struct, frozen=True, kw_only=True):
    """A watched source. `title` is its owner's name for it, `found_title` what it calls itself. `noise_count`: how
    many keys of blocks its owner's feedback has made noise. `state`: how it is now; `health` is its score over
    days. `rendered`: what is known of it is a page as a browser showed it, so each of its looks costs 100 plain
    ones. `headers_from`: the source with whose headers it is looked at, if not with its own. `private`: it is
    checked with headers, or in an opened network, so publications leave it out until somebody includes it by
    name. `schedule`, `hours`, `bar`, `selector` and `ignore` are its own; `effective` says what holds for it,
    and `inherited` which of that comes from which of its tags (see PUT /v1/tags/{tag}); none of what `own_only`
    names.
    """

    id: str
    url: str
    title: str
    found_title: str
    type: str
    detected_type: str
    detection: Detected
    enabled: bool
    tags: list[str]
    selector: str | None
    ignore: list[str]
    filter: str | None
    subprotocols: list[str]
    has_hello: bool
    replies: list[str]
    has_headers: bool
    headers_for: list[str]
    headers_from: str | None
    render: str
    wait_for: str | None
    screenshots: bool
    rendered: bool
    schedule: str | None
    hours: str | None
    bar: float | None
    follow: str
    follow_hosts: list[str]
    own_only: list[str]
    noise_count: int
    state: str
    """`failing`: The last look failed, or the WebSocket is down. `resting`: It failed several times in a row:
    Sanderling leaves it alone for a while. `throttled`: The origin asked us to come later. `unrendered`: A
    browser has to show it, and here none could at the last look. `overdue`: A look was due and has not happened
    yet. `new`: Sanderling has not looked at it yet. `ok`: The last look worked. `paused`: A person paused it:
    Sanderling does not watch it until it is resumed.
    """
    created_at: str
    updated_at: str
    last_fetch_at: str | None
    last_success_at: str | None
    next_fetch_at: str | None
    last_event_at: str | None
    health: SourceHealth
    breaker: Breaker
    health_score: float
    health_flag: str
    health_reason: str
    health_rank: int
    detection_confidence: str
    detection_evidence: str
    discovered_feed_url: str | None
    mode: str
    effective: EffectiveSettings
    inherited: dict[str, list[str]]
    revision: str
    """What its ETag says, for If-Match"""
    updated_by: str
    """Who set something of it last: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None
    supported: bool | None = None
    follow_one_hop: bool | None = None
    private: bool | None = None


class SourceSize(Struct, frozen=True, kw_only=True):
    """What a source has in the log. `url` is null for one that was deleted, and for the service's own notices."""

    events: int
    bytes: int
    source_id: str
    url: str | None
    title: str | None = None
    """What it is called, by its user or else by itself"""


class SourceStatus(Struct, frozen=True, kw_only=True):
    """What the watching does at this moment; `last_error` in words. `enabled`, `health_flag`: twins."""

    id: str
    state: str
    enabled: bool
    health_flag: str
    last_fetch_at: str | None
    last_success_at: str | None
    last_event_at: str | None
    next_fetch_at: str | None
    overdue: bool
    interval_s: float
    looks: int
    unchanged: int
    events: int
    last_status: int | None
    last_error: str | None
    breaker: Breaker
    consecutive_failures: int
    held: HeldEvents
    queue_position: int | None = None
    push: PushStatus | None = None


class SourceWhy(Struct, frozen=True, kw_only=True):
    """Why something was not told: the best reason and how the watching stands, in `says`; then all that is known."""

    id: str
    url: str
    title: str
    """What it is called, by its user or else by itself"""
    type: str
    says: str
    state: str
    reasons: list[KnownReason]


class Sources(Struct, frozen=True, kw_only=True):
    """Sources by health, by state, and what their actors do. `total` counts paused ones too."""

    total: int
    ok: int
    degraded: int
    rotten: int
    running: int
    backoff: int
    quarantined: int
    overdue: int
    states: dict[str, int]
    """How many sources are in each state now"""


class Spans(Struct, frozen=True, kw_only=True):
    """The words that differ, in each of the two texts: rising, apart from each other."""

    before: list[tuple[int, int]]
    after: list[tuple[int, int]]


class StreamSeen(Struct, frozen=True, kw_only=True):
    """A stream that is open. `key`: the id of its API key, of a session of the dashboard, "" on the admin socket.
    `cursor`: the position up to which it has looked, as an id; null of one that follows no log. `behind_s`: how
    much older that is than the newest event, 0 when it has seen all. `bytes`: what it was sent of events.
    """

    number: int
    key: str
    name: str
    prefix: str
    address: str
    asked: str
    since: str
    cursor: str | None
    behind_s: float
    bytes: int


class StreamsSeen(Struct, frozen=True, kw_only=True):
    """The streams of this node alone, who is furthest behind first. `node`: its name; "" of a service of one node."""

    total: int
    node: str
    streams: list[StreamSeen]


class SupposedSecret(Struct, frozen=True, kw_only=True):
    """A value that a source or a destination may have."""

    of: Literal["destination", "source"]
    id: str
    name: str
    """Of a source `headers` or `hello`; of a destination `url`, `secret` or the name of an option"""
    value: str
    """What it may be"""


class TagDefaultsRecord(Struct, frozen=True, kw_only=True):
    """What the sources of a tag inherit; null and [] say nothing of a setting. `destinations`: of each of these a
    new alert over the tag gets a copy.
    """

    schedule: str | None
    hours: str | None
    bar: float | None
    selector: str | None
    ignore: list[str]
    destinations: list[str]
    updated_at: str
    revision: str
    """What its ETag says, for If-Match"""
    updated_by: str
    """Who set something of it last: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None


class TagRecord(Struct, frozen=True, kw_only=True):
    """A tag. `sources`: how many have it; `sources_below`: how many have it or one below it, as `news/se` is of
    `news`. `defaults` null: it has none.
    """

    tag: str
    sources: int
    sources_below: int
    defaults: TagDefaultsRecord | None


class TagSettings(Struct, frozen=True, kw_only=True):
    """The defaults of a tag, all of them: what is absent says nothing of a setting. The fields mean what they do in
    POST /v1/sources. `destinations`: of each of these a new alert over the tag gets a copy. `managed` absent
    leaves it as it is; null takes it away.
    """

    schedule: str | UnsetType | None = UNSET
    hours: str | UnsetType | None = UNSET
    bar: float | UnsetType | None = UNSET
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of what not to watch. Default: []"""
    destinations: list[str] | UnsetType = UNSET
    """Ids of destinations of any alert. Default: []"""
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class TemplateAlert(Struct, frozen=True, kw_only=True):
    """A suggested alert."""

    key: str
    name: str
    filter_query: str
    language: str
    channel: str | None
    match: str


class TemplateParameter(Struct, frozen=True, kw_only=True):
    """What a template wants: `min` to `max` values. A domain is bare, without scheme or path."""

    key: str
    type: str
    description: str
    example: str
    required: bool
    repeatable: bool
    min: int
    max: int


class TemplatePreview(Struct, frozen=True, kw_only=True):
    """What an instantiation would attach. Nothing was looked at on the network: a page may turn out not to exist."""

    template: str
    version: int
    sources: list[PreviewedSource]
    alerts: list[PreviewedAlert]
    summary: PreviewSummary


class TemplateRecord(Struct, frozen=True, kw_only=True):
    """A template, whole. `schema`: what `params` takes as JSON Schema (2020-12), itself a text of JSON."""

    slug: str
    name: str
    summary: str
    category: str
    version: int
    source_count: int
    parameters: list[TemplateParameter]
    sources: list[TemplateSource]
    alerts: list[TemplateAlert]
    schema: str


class TemplateReport(Struct, frozen=True, kw_only=True):
    """What became of an instantiation; partial when something failed. The same call again does what is left."""

    template: str
    version: int
    status: str
    sources: list[ReportedSource]
    alerts: list[ReportedAlert]
    next_steps: NextSteps
    summary: ReportSummary


class TemplateSource(Struct, frozen=True, kw_only=True):
    """A source, with `{key}` where a parameter's value goes."""

    url: str
    type: str
    tags: list[str]


class TemplateSummary(Struct, frozen=True, kw_only=True):
    """A template in the list. `source_count`: its patterns; with a parameter, each value adds those that name it.
    `parameters`: their names; the template itself says what each takes.
    """

    slug: str
    name: str
    summary: str
    category: str
    version: int
    source_count: int
    parameters: list[str]


class TestAnswer(Struct, frozen=True, kw_only=True):
    """What became of a test delivery."""

    result: str
    status_code: int | None
    latency_ms: int
    detail: str


class TreePage(Struct, frozen=True, kw_only=True):
    """Rows from `start` on, of `total` that the filter admits. Fewer than were asked for when some have just gone."""

    total: int
    start: int
    rows: list[TreeRow]


class TreePart(Struct, frozen=True, kw_only=True):
    """All that is known of one part. `crash`: of its last life that crashed, with the innermost places. task: what
    its supervisor says of it; null when it has none. slowest_step_s: the longest that it has held the loop.
    """

    row: TreeRow
    task: str | None
    """The supervisor's word for its state"""
    note: str
    awaiting: str
    """The innermost await, as `file:line in function`"""
    crash: str
    places: list[str]
    crashes: list[CrashSeen]
    """The newest crashes, newest first"""
    mailbox: MailboxSeen | None
    slowest_step_s: float | None
    idle_s: float | None
    source: Watching | None


class TreeRow(Struct, frozen=True, kw_only=True):
    """One part of the service, one source or one destination. `error` is one line of plain text, or empty."""

    path: str
    name: str
    """The URL of a source or a destination, else empty"""
    kind: str
    state: str
    """`quarantined`: It crashed too often. It starts again after a long wait. `backoff`: It crashed and waits
    before its next start. `failing`: The other side fails; Sanderling tries again. `resting`: It failed several
    times in a row: Sanderling leaves it alone for a while. `throttled`: The origin asked us to come later.
    `unrendered`: A browser has to show it, and here none could at the last look. `overdue`: A look was due and
    has not happened yet. `ended`: It does not run any more. `stopping`: It was asked to stop and finishes its
    work. `starting`: It runs, and is not ready yet. `held`: The service is drained, or our own line is down.
    `new`: Sanderling has not looked at it yet. `ok`: It runs and all is well. `paused`: A person paused it:
    Sanderling does not watch it until it is resumed.
    """
    health: float | None
    """A source's score from 0 to 1"""
    flag: str | None
    restarts: int
    since: str
    """When it came into its state"""
    error: str
    next: str | None
    """When it does something by itself: a look, or a life after a crash"""
    title: str | None = None
    """What a source is called, by its user or else by itself"""
    mailbox: int | None = None
    """Messages that wait for it; null without a mailbox"""
    handled: int | None = None
    """Messages that it has taken so far"""
    pace_s: float | None = None
    """Seconds between a source's looks at its present pace"""
    marks: str | None = None
    """A source's last looks, newest last, a mark each. `+`: news. `.`: unchanged. `-`: nothing to tell. `x`:
    failed. `t`: asked to wait. `X`: failed for good. `?`: not readable. `o`: our line.
    """
    below: BelowSeen | None = None
    """What sources and destinations supervise"""


class TypedChange(Struct, frozen=True, kw_only=True):
    """One thing that changed. `before` or `after` is absent where it came, or went. label: what the value is of
    ("Team · Seats"), in the page's own words. path: where it stands in a document that has paths. lowest_since,
    highest_since: of a price, from when on it was never lower, or higher, as far as is known (RFC 3339).
    """

    kind: str
    """A price, an availability, a date or time, a number or share, a version, a name, a negation (a word such as
    *not* came or went), an item that came or went, or other text.
    """
    label: str | None = None
    """What the value is of, in the page's own words."""
    path: str | None = None
    """Where it stands in a document that has paths, such as `$.plans[1].price`."""
    before: Value | None = None
    """What it was; absent where it came."""
    after: Value | None = None
    """What it is now; absent where it went."""
    lowest_since: str | None = None
    """Of a price that fell: since when it was never lower, as far as the log says."""
    highest_since: str | None = None
    """Of a price that rose: since when it was never higher."""


class UnknownTime(Struct, frozen=True, kw_only=True):
    """A period without records, and why."""

    from_: str = field(name="from")
    to: str
    why: str


class UrlBlocksRequest(Struct, frozen=True, kw_only=True):
    """A URL whose page is to be chosen from; the fields mean what they do in POST /v1/sources."""

    url: str
    """http, https, ws or wss"""
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of what not to watch. Default: []"""
    headers: str | UnsetType | None = UNSET
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
    rendered look costs 100 plain ones; feeds are never rendered. Default: "auto"
    """
    wait_for: str | UnsetType | None = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: []"""
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
    own parts are left out. Default: []
    """
    first: int | UnsetType = UNSET
    """How many of the blocks to skip; an answer has 100. Default: 0"""
    find: str | UnsetType = UNSET
    """Only blocks with all of these words. Default: "" """
    press: PressedBlock | UnsetType | None = UNSET


class Value(Struct, frozen=True, kw_only=True):
    """A value as it stands (`text`), and what it is; a piece of plain text has no type. money, number and percent
    have `number` and `scale` (decimal places); `unit` is the currency (ISO 4217), "%", or a unit of measure
    ("GB"), absent where none is known. date: `value` is YYYY-MM-DD, YYYY-MM or MM-DD; time: HH:MM; version: its
    numbers with dots; availability: one of `AVAILABILITIES`.
    """

    text: str
    """As it stands on the page."""
    type: str | None = None
    """What it was read as; absent for plain text."""
    number: int | None = None
    """The value times ten to the power of `scale`: 1,099.50 is 109950 with scale 2."""
    scale: int | None = None
    """How many of the number's digits are decimals."""
    unit: str | None = None
    """A currency (ISO 4217), `%`, or a unit of measure; absent where none is known."""
    value: str | None = None
    """Of a date `YYYY-MM-DD`, `YYYY-MM` or `MM-DD`, of a time `HH:MM`, of a version its numbers, of an availability
    one of in_stock, limited, preorder, backorder, out_of_stock, discontinued.
    """


class ValuePoint(Struct, frozen=True, kw_only=True):
    """A value, from a moment on. `value` are its digits, and `number` is it without the point; of a state, a
    version or a date `number` is null, `value` as in `current`, and `text` how the page wrote it. `until`: when
    it went from the page, where it did; null while it stands there, or until the next one.
    """

    at: str
    number: int | None
    scale: int
    value: str
    text: str | None = None
    until: str | None = None


class ValueSeries(Struct, frozen=True, kw_only=True):
    """One thing's values, oldest first. `label` says of what, in the page's own words; `path` where in a document
    that has paths. `unit`: a currency (ISO 4217), "%", a unit of measure, or "" where none is known. `lowest`
    and `highest`: of dates the earliest and the latest; null of states.
    """

    type: str
    label: str
    path: str
    unit: str
    lowest: ValuePoint | None
    highest: ValuePoint | None
    points: list[ValuePoint]


class Values(Struct, frozen=True, kw_only=True):
    """The values of a source. `current`: what its page says now, in the page's order, at most 500, of which prices
    are kept first; `more`: how many there are besides. `series`: what they were over time, prices first.
    `since`: from when on they are known.
    """

    id: str
    since: str
    current: list[CurrentValue]
    more: int
    series: list[ValueSeries]


class VersionComparison(Struct, frozen=True, kw_only=True):
    """What differs between two versions, the earlier one first, in the order of the later one. `partial`: it is of
    the main text only, as the events carry it. `truncated`: there are more steps than these.
    """

    id: str
    from_: KeptVersion = field(name="from")
    to: KeptVersion
    partial: bool
    truncated: bool
    steps: list[VersionStep]


class VersionStep(Struct, frozen=True, kw_only=True):
    """A text that came (`insert`), went (`delete`), was altered (`replace`) or stayed (`keep`), and where it
    stands. `spans` are the words that differ; absent where the two texts have too little in common.
    """

    op: str
    before: str | None = None
    after: str | None = None
    context: Context | None = None
    spans: Spans | None = None


class Versions(Struct, frozen=True, kw_only=True):
    """The kept versions of a source, newest first; none of what is no page."""

    id: str
    versions: list[KeptVersion]


class Watching(Struct, frozen=True, kw_only=True):
    """How the watching of a source goes. `trail`: its last looks, newest first. `health`: what its score is made
    of. next_look: why the next look is when it is.
    """

    id: str
    url: str
    tags: list[str]
    reason: str
    health: list[HealthSeen]
    interval_s: float
    next_look: str
    looks: int
    unchanged: int
    events: int
    last_look_at: str | None
    last_success_at: str | None
    last_event_at: str | None
    last_status: int | None
    last_error: str | None
    breaker: str
    failures: int
    retry_at: str | None
    trail: list[LookSeen]
    held: HeldEvents
    covered: str
    """How often it was looked at in the last 7 days, and what is unknown"""
