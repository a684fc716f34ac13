"""The records of the API: what is sent in requests, and what is answered.

Generated from the description of the API (`python -m clients.generate`); edits are lost.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field


class ActivityRecord(Struct, frozen=True, kw_only=True):
    """A change by someone. `before` and `after` hold the fields that differ, as the API shows them, without
    secrets.
    """

    id: str
    at: str
    person: str | None
    """The person's id; null for a key or password of the service"""
    by: str
    """The name of the person or key at that time"""
    operation: str
    object: str | None
    """The path of the changed record; null if there is none"""
    before: Any | None = None
    after: Any | None = None


class AddressWanted(Struct, frozen=True, kw_only=True):
    """The address field of a kind. `private`: the address is a credential, so only its host is shown. `default`:
    the default of `url`.
    """

    label: str
    help: str
    example: str
    private: bool
    default: str


class AlertPatch(Struct, frozen=True, kw_only=True):
    """The fields to change; null removes the `channel` and `managed`."""

    filter_query: str | UnsetType = UNSET
    """Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything"""
    language: str | UnsetType = UNSET
    """ISO 639-1, or simple for no stemming"""
    source_ids: list[str] | UnsetType = UNSET
    """Events of these sources; with neither these nor `tags`, of all sources"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags, also of later sources; in addition to `source_ids`"""
    name: str | UnsetType = UNSET
    channel: str | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET
    notices: list[Literal["destination_disabled", "destination_failing", "heartbeat", "source_failing", "source_moved", "source_quiet", "source_recovered", "source_reset", "storage_damaged", "watching_stalled"]] | UnsetType = UNSET
    """The notices of the service that it also sends"""
    notice_after: int | UnsetType = UNSET
    """Seconds that a problem lasts before its notice"""
    anomaly_enabled: bool | UnsetType = UNSET
    match: Literal["added", "change", "page", "removed"] | UnsetType = UNSET
    """The texts of a page's event that the query searches: title, added and removed texts (`change`), added texts
    (`added`), removed texts (`removed`), or title and content (`page`). Feeds and push: always `page`
    """
    once_per_story: bool | UnsetType | None = UNSET
    """Of events with the same news (`story`), only the first match goes to the destinations; null: yes for alerts
    over several sources
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
    in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert
    from before it became private
    """


class AlertPreview(Struct, frozen=True, kw_only=True):
    """The past matches of a query. `query`: as interpreted. `complete`: the search covered `last` events, or the
    whole log, in time. `looked_from`: the time of the oldest event searched. `per_day`: expected matches; null
    if the search covered too little.
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
    true_now: list[TrueNow] | None = None


class AlertPreviewRequest(Struct, frozen=True, kw_only=True):
    """A query as in an alert, and the range of the search. `last`: the number of newest events to search. `limit`:
    the number of matches to show.
    """

    filter_query: str
    """Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything"""
    language: str | UnsetType = UNSET
    """ISO 639-1, or simple for no stemming. Default: "en" """
    source_ids: list[str] | UnsetType = UNSET
    """Events of these sources; with neither these nor `tags`, of all sources. Default: []"""
    last: int | UnsetType = UNSET
    """Default: 2000"""
    limit: int | UnsetType = UNSET
    """Default: 20"""
    match: Literal["added", "change", "page", "removed"] | UnsetType = UNSET
    """The texts of a page's event that the query searches: title, added and removed texts (`change`), added texts
    (`added`), removed texts (`removed`), or title and content (`page`). Feeds and push: always `page`. Default:
    "change"
    """
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags, also of later sources; in addition to `source_ids`. Default: []"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
    in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert
    from before it became private. Default: []
    """


class AlertRecord(Struct, frozen=True, kw_only=True):
    """An alert. `delivery_mode` is a twin: that of its first destination, or instant. `template`: its origin as
    `<template id>/<key>`. `match` is `page` for alerts older than the choice. `alert_id`: the `id`, under the
    name that other records use. `destination_count`: 0 if its matches go nowhere yet. `true_now`: only in the
    answer to a new alert.
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
    """The value of its ETag, for If-Match"""
    updated_by: str
    """The author of the last change: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None
    anomaly_enabled: bool | None = None
    template: str | None = None
    alert_id: str | None = None
    destination_count: int | None = None
    true_now: list[TrueNow] | None = None


class AlertsMatched(Struct, frozen=True, kw_only=True):
    """The active alerts whose present queries match an event; `names` has at most 20, for keys with `alerts:read`."""

    count: int
    names: list[str]


class AppRecord(Struct, frozen=True, kw_only=True):
    """A connected app. person: the id of the person that it acts for, "" for the owner of the service's password.
    host: of its redirect URI. resource: the URL that its tokens open, with everything below it.
    """

    id: str
    app: str
    host: str
    person: str
    scopes: list[str]
    resource: str
    created_at: str
    last_used_at: str | None


class BatchAnswer(Struct, frozen=True, kw_only=True):
    """The results of a batch, in the order of the request."""

    results: list[BatchResult]


class BatchResult(Struct, frozen=True, kw_only=True):
    """The result for one URL of a batch."""

    url: str
    status: str
    detected_type: str | None = None
    source: SourceRecord | None = None
    error: Problem | None = None


class BelowSeen(Struct, frozen=True, kw_only=True):
    """The dynamic children of a part: their number and their worst state."""

    total: int
    worst: str


class BinRecord(Struct, frozen=True, kw_only=True):
    """A bin. Anyone with its `url` can send to it, with any method and any path below it, but not read it."""

    id: str
    url: str
    created_at: str
    expires_at: str


class BlockCell(Struct, frozen=True, kw_only=True):
    """A cell of a row of a CSV document: its number from 1, its column header, and its text."""

    number: int
    column: str
    text: str


class BlockChoice(Struct, frozen=True, kw_only=True):
    """The pressed block as it is now, the possible reaches of the choice, its present reach, and the texts that it
    watches: null if no selector can choose the block.
    """

    block: PageBlock
    reaches: list[BlockReach]
    reach: str
    kept: KeptBlocks | None


class BlockReach(Struct, frozen=True, kw_only=True):
    """A possible reach of a choice, its selector, and the number of blocks that this chooses."""

    name: str
    selector: str
    blocks: int


class BlockValue(Struct, frozen=True, kw_only=True):
    """A value of a block. `condition`: its name in an alert's query: the subject (`price`) and, if known, `label:`
    or `path:`. `number` has `scale` decimal places; null if the value is no number.
    """

    text: str
    type: str
    number: int | None
    scale: int
    unit: str
    subject: str
    condition: str


class Breaker(Struct, frozen=True, kw_only=True):
    """The circuit breaker: `open` means no checks until `retry_at`."""

    state: str
    retry_at: str | None


class CaptureRecord(Struct, frozen=True, kw_only=True):
    """A request as received, except for the case of its header names. `body` if it is UTF-8, else `body_base64`.
    `size`: bytes received. `truncated`: the stored body is shorter.
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
    """Its place on the page; absent if unknown."""
    spans: Spans | None = None
    """The differing words, as pairs of code points: start and end, the end excluded. Absent if the texts have too
    little in common or are too long to compare.
    """


class CheckAnswer(Struct, frozen=True, kw_only=True):
    """The time of the requested check."""

    id: str
    next_fetch_at: str


class Checked(Struct, frozen=True, kw_only=True):
    """The verdict on a signature: `ok` is null if it was not checked; `why` is always a sentence."""

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
    """A piece of the content from the code point `start` on. Marks count in the whole content, like `start`."""

    start: int
    text: str
    marks: list[tuple[int, int]]


class Context(Struct, frozen=True, kw_only=True):
    """Where a block stands: its heading, and its row and column in a table. Unknown parts are absent."""

    heading: str | None = None
    """The nearest heading above."""
    row: str | None = None
    """A cell's row label, or a definition's term."""
    column: str | None = None
    """A cell's column header."""


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
    """A value on the page, as last reported. `text`: as written there. `value`: its digits, a date (YYYY-MM-DD,
    YYYY-MM or MM-DD), a version's numbers, or a state such as `in_stock`. `number`: the digits of a number
    without the point. `label`, `path` and `unit`: as in the event of a change. `since`: the first time that this
    value is known.
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
    """Rows from `start` on, of `total`: failing ones first, then those with the most waiting deliveries."""

    total: int
    start: int
    rows: list[DeliveryRow]


class DeliveryRecord(Struct, frozen=True, kw_only=True):
    """One attempt. `webhook_id` is the event's id, or a digest's own. `response_excerpt`: the first 1 KiB of the
    answer, control characters escaped.
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
    """The state of one destination. waiting: deliveries that wait or are running; oldest: the time of the first.
    next: the time of the next attempt, null if none waits.
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
    """The share of its newest 100 attempts"""
    last: LastAttempt | None


class Delta(Struct, frozen=True, kw_only=True):
    """A change in reading order; it rebuilds the new text from the old."""

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
    """A kind of destination and its fields. `where`: how to get their values. `signed`: its deliveries are signed."""

    kind: str
    label: str
    family: str
    where: str
    documentation: str
    address: AddressWanted
    options: list[OptionWanted]
    signed: bool


class DestinationPatch(Struct, frozen=True, kw_only=True):
    """The fields to change; null removes `quiet_hours` and `managed`, and declines the replay that `replay_from`
    offers. Omitted `options` stay; null removes one. `enabled: true` also restores a destination that was
    disabled for its failures.
    """

    url: str | UnsetType = UNSET
    """Public https"""
    options: dict[str, str | None] | UnsetType = UNSET
    """The fields of the kind, by name; private values are sealed and never shown again"""
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
    """If more events than this wait, they become one digest; 0: never"""
    secret: str | UnsetType = UNSET
    """Your own signing secret: `whsec_` and base64 of 24 to 64 random bytes. The previous secret also signs for 24
    hours. Never shown again
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    replay_from: UnsetType | None = UNSET


class DestinationRecord(Struct, frozen=True, kw_only=True):
    """A destination. `enabled`: the user's choice; `state` is `disabled` also if the service gave up (410, five
    days of failures), and `PATCH {"enabled": true}` restores it. `url`: only its host if the address is a
    credential. `options`: the fields of its kind; `private` names the sealed ones. `failure_rate`: the share of
    its newest 100 attempts; `error_rate` is its twin. `duplicate_rate`: the share of deliveries that arrived, or
    may have arrived, before. `replay_from`: it may have missed matches after this; send it as `since` of a
    replay. `needs_secret`: its secret is missing, for example after an import, and it is paused until you create
    a new one.
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
    """The value of its ETag, for If-Match"""
    updated_by: str
    """The author of the last change: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None
    needs_secret: bool | None = None
    needs_agreement: bool | None = None
    in_use_by_alert_count: int | None = None


class DestinationWithSecret(Struct, frozen=True, kw_only=True):
    """A destination and its newest signing secret, shown only here; absent for a kind without signatures.
    `invited`: the result of the invitation, if the recipient must agree first.
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
    """The value of its ETag, for If-Match"""
    updated_by: str
    """The author of the last change: a key's name, the dashboard, this machine; else the service"""
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
    """The answer to a detection. `source_id`: the existing source with this URL. `final_url`: the URL after
    redirects, with tokens and keys in its query hidden. `supported` and `discovered_feed_url` are twins.
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
    """A URL to classify and the settings for watching it, as in POST /v1/sources. `tags`: the preview applies their
    defaults.
    """

    url: str
    """http, https, ws or wss"""
    type: Literal["feed", "html", "push"] | UnsetType | None = UNSET
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of parts to leave out. Default: []"""
    filter: str | UnsetType | None = UNSET
    headers: str | UnsetType | None = UNSET
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
    much as 100 plain ones; feeds are never rendered. Default: "auto"
    """
    wait_for: str | UnsetType | None = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: []"""
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
    its own selectors. Default: []
    """


class Detected(Struct, frozen=True, kw_only=True):
    """The detected type of a URL; `evidence` is a sentence that a person can verify. `pending`: it has not answered
    yet, and the rest is a guess. `forced`: its owner set the type against the detected one. `final_url`: the URL
    after redirects; tokens and keys in its query are hidden unless it is the source's own address.
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
    """A page's change for readers. `context` is absent where nothing is known of any text."""

    added: list[str]
    """New texts."""
    removed: list[str]
    """Texts that are gone."""
    changed: list[Change]
    """Texts with another wording."""
    truncated: bool | None = None
    """True if the difference was cut for length."""
    context: Contexts | None = None
    """The places of the texts of `added` and `removed` on the page; absent if unknown."""


class DiffExcerpt(Struct, frozen=True, kw_only=True):
    """A piece of a text of the event's `diff`: of `added[index]`, `removed[index]`, or a side of `changed[index]`.
    `start` and the marks count in that text.
    """

    part: str
    index: int
    start: int
    text: str
    marks: list[tuple[int, int]]


class Digest(Struct, frozen=True, kw_only=True):
    """The events of a period, in the order of the log; at most 500, the rest in another digest."""

    id: str
    destination_id: str
    alert_id: str
    delivery_mode: str
    window_start: str
    window_end: str
    count: int
    events: list[Event]


class Done(Struct, frozen=True, kw_only=True):
    """The finished or started action."""

    done: str
    path: str


class DraftEvent(Struct, frozen=True, kw_only=True):
    """An event as a check would emit it, `content` cut to 500 characters. `identity`: the property that identifies
    it (guid, link, hash, or two of them). `told`: false for a push source's frame that no alert or `filter`
    wants.
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
    """A source's settings in force: its own, and those inherited from its tags."""

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
    """A UUIDv7 that increases in the order of the log: the key to detect duplicates, the cursor for `since` and
    `Last-Event-ID`, and the `webhook-id` of its delivery.
    """
    source_id: str
    """The source's id."""
    source_type: str
    """The source's tier."""
    source_url: str
    """The watched URL."""
    url: str
    """The URL of the new content."""
    title: str
    """Plain text; "" when there is none."""
    summary: str | None = None
    """The event in one line of plain text, at most 140 characters, never empty: for a page the largest change with
    its context, else the title or the beginning of the content. Absent before version 1.1.
    """
    author: str
    """Plain text; "" when there is none."""
    content: str
    """The main text, at most 64 KiB of UTF-8; for a changed page it includes every text of `diff`."""
    content_truncated: bool | None = None
    """True if `content` was cut; else absent."""
    content_hash: str
    """SHA-256 of the whole content, NFC-normalised, before it was cut."""
    simhash: int
    """A similarity hash of 53 bits: similar texts differ in few bits."""
    tags: list[str]
    """Each `<namespace>:<value>`."""
    published_at: str | None
    """The publication time that the source states, or null."""
    fetched_at: str
    """The time of the check that found it."""
    emitted_at: str
    """When it was written to the log; the time in its `id`."""
    schema_version: int
    """1. New fields don't change the number; ignore unknown ones. `x-version` of this schema counts them."""
    diff: Diff | None = None
    """Only for a page's change: the added, removed and changed texts, for people."""
    delta: Delta | None = None
    """Only for a page's change: the steps from the old text to the new one."""
    changes: list[TypedChange] | None = None
    """Typed changes with their values: all differences of a page, or the values in an entry or a frame. Absent if
    none are known, and before version 1.2.
    """
    unread: str | None = None
    """Only for a source that follows: a sentence with the reason why the item's page was not read. `content` then
    comes from the list or feed. Absent if the page was read.
    """
    alert_type: str | None = None
    """Only for the service's notices: the kind, such as `source_quiet`."""
    heartbeat: Heartbeat | None = None
    """Only for a heartbeat (`alert_type` is `heartbeat`): its fields."""
    story: str | None = None
    """The `id` of the first event with the same news: the same link, or nearly the same text, in another source
    within a week. The first event has its own `id`. Absent in notices, and before version 1.5.
    """
    signed_at: str | None = None
    """The time of the signature."""
    key_id: str | None = None
    """The RFC 7638 thumbprint of its key in `/.well-known/jwks.json`."""
    signature: str | None = None
    """Ed25519 over the RFC 8785 form of the event without this field, in base64url without padding."""


class EventWhy(Struct, frozen=True, kw_only=True):
    """Why an event was emitted: `says` has the reason in a sentence or two, the other fields have the evidence.
    `noted`: the note of its check is still stored; without it `score`, `bar`, `identity`, `weighed` and
    `withheld` are empty. `compared_with`: the time of the earlier state; null if no longer known. `alerts_once`:
    matching alerts that already had the story from another event.
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
    """The feed addresses, one for each format. Anyone with an address can read it."""

    atom: str
    rss: str
    json: str


class FeedPreview(Struct, frozen=True, kw_only=True):
    """A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them.
    `undated`: entries without a readable date. `identities`: the number of entries by identifying property.
    `backfill`: the most entries that a backfill would emit. `damaged`: malformed, but recovered. `hubs` (WebSub)
    and `paging` (RFC 5005) are shown, not followed.
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
    """A user's verdict on an event."""

    verdict: Literal["noise", "real"]


class FieldError(Struct, frozen=True, kw_only=True):
    """One place that is wrong: place, reason and found value."""

    location: str
    """The place: `body.tags[1]`, `query.limit`, `header.Last-Event-ID`, or a part's name."""
    message: str
    """The reason."""
    value: Any | None = None
    """The rejected value, cut to 200 characters."""


class FilledBy(Struct, frozen=True, kw_only=True):
    """JSON that filled the rendered page, with its `size` in bytes. A check of its `url` is a plain one."""

    url: str
    size: int


class FoundValue(Struct, frozen=True, kw_only=True):
    """A price, number, state, version or date on a page. `text`: as written there. `value`: its digits, its date,
    the numbers of a version, or a state. `label`: its name in the page's own words. `path`: its place in a
    structured document. `unit`: a currency, "%", a unit of measure, or "".
    """

    type: str
    text: str
    value: str
    label: str
    path: str
    unit: str


class HealthSeen(Struct, frozen=True, kw_only=True):
    """One factor of a score: the share `left` (1: no loss), and the reason."""

    cause: str
    left: float
    says: str


class Heartbeat(Struct, frozen=True, kw_only=True):
    """The fields of a heartbeat: that the service did its work at that moment, and had the log up to there. number:
    of the heartbeats in this log, from 1. due_at: when it was due by the service's clock. before: the id of the
    heartbeat before it. head: of the newest event before it, of whatever kind. looks: that ended since
    `looks_since`, when the process that writes this wrote the one before, or began. watched, failing, paused:
    sources.
    """

    number: int
    """Counts the heartbeats of this log; a gap means that one was lost."""
    every_seconds: int
    """The interval. If none arrives within two intervals, the service or the connection to it has failed."""
    due_at: str
    """Its scheduled time by the service's clock."""
    before: str | None
    """The id of the heartbeat before it; null for the first."""
    head: str | None
    """The id of the newest event before it."""
    running_since: str
    """When the process that wrote it started."""
    looks: int
    """Finished checks of feeds and pages since `looks_since`, at the node that wrote it."""
    looks_since: str
    """When that process wrote its previous heartbeat, or started if later."""
    watched: int
    """Watched sources."""
    failing: int
    """Watched sources that fail or wait after failures."""
    paused: int
    """Sources paused by a person."""


class HeldEvents(Struct, frozen=True, kw_only=True):
    """The number of a source's events in the log, and their approximate size in bytes."""

    events: int
    bytes: int


class Highlights(Struct, frozen=True, kw_only=True):
    """The places of the terms in Unicode code points; no text is HTML. `diff`: those in added and removed texts."""

    title: list[tuple[int, int]]
    content: list[ContentExcerpt]
    diff: list[DiffExcerpt] | None = None


class Ignored(Struct, frozen=True, kw_only=True):
    """The number of elements that one selector of `ignore` removes."""

    selector: str
    elements: int


class Instantiation(Struct, frozen=True, kw_only=True):
    """The parameters, whether to create the suggested alerts, and the sources to add."""

    params: dict[str, list[str]] | UnsetType = UNSET
    """An array of strings for each parameter; omit it for a template without parameters. Default: {}"""
    alerts: bool | UnsetType = UNSET
    """Default: false"""
    only: list[str] | UnsetType | None = UNSET


class InvitationRecord(Struct, frozen=True, kw_only=True):
    """An invitation that waits. `url` is shown only once, by the call that makes it; null everywhere else."""

    id: str
    role: str
    email: str
    by: str
    created_at: str
    expires_at: str
    url: str | None = None


class KeptBlocks(Struct, frozen=True, kw_only=True):
    """The texts that a choice watches, as a check would read them: the first 100 `texts` of `count`. `digest`
    identifies the watched texts; running counters do not change it. `items`: its number of items as a list
    (`follow`).
    """

    selector: str | None
    ignore: list[str]
    texts: list[str]
    count: int
    digest: str
    items: int


class KeptVersion(Struct, frozen=True, kw_only=True):
    """A version of a page. `version`: the id of its event; `start` is the state before the oldest change, `now` the
    present state if it has no event. `kept`: all watched texts (`whole`), the `main_text` of its event, or only
    a `part`.
    """

    version: str
    at: str | None
    event_id: str | None
    says: str
    kept: str


class KeySeen(Struct, frozen=True, kw_only=True):
    """An API key without its secret. `prefix`: its first characters. `streams`: its open streams at this node."""

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
    """One known fact, as a sentence. `kind`: told (reported), withheld (seen, not reported), due (present; the next
    check decides), failed (not readable now), known (present before), furniture, outside (of the watched part),
    there (at the first check), absent, unasked (a frame that no alert or filter wants), look (the result of a
    check). `text`: its block or entry.
    """

    kind: str
    says: str
    at: str | None
    event_id: str | None
    text: str


class LastAttempt(Struct, frozen=True, kw_only=True):
    """The newest attempt of a destination. `error`: one line of plain text."""

    at: str
    result: str
    status: int | None
    latency_ms: int
    error: str | None


class LastValidators(Struct, frozen=True, kw_only=True):
    """Validators of the last answer, for the next conditional request, and the hash of its body."""

    etag: str | None
    last_modified: str | None
    body_hash: str | None


class Lesson(Struct, frozen=True, kw_only=True):
    """The effect of the feedback; `noise_count` as in the source's record."""

    event_id: str
    source_id: str
    verdict: str
    noise_count: int
    says: str


class ListedItem(Struct, frozen=True, kw_only=True):
    """An item of a list: its title there, and its link."""

    title: str
    url: str


class LogLine(Struct, frozen=True, kw_only=True):
    """A line of the log with its number."""

    number: int
    ts: str
    level: str
    event: str
    actor: str
    fields: dict[str, Any]


class LogPage(Struct, frozen=True, kw_only=True):
    """The newest lines, oldest first; `last` is the next request's `after`."""

    last: int
    lines: list[LogLine]


class LongestGap(Struct, frozen=True, kw_only=True):
    """The longest known time without an answered check; an hour at the edge of a known period may lengthen it."""

    from_: str = field(name="from")
    to: str
    seconds: int


class LookNote(Struct, frozen=True, kw_only=True):
    """A check whose body changed. `compared_with`: the time of the earlier check that it was compared with.
    `verdict`: told (reported), baseline (the first check), churn (nothing to report), held (uncertain until the
    next check, or most of a feed new at once), failed (not the page itself), stretch (a period of listening to a
    push source, up to `until`). A page is reported if `score` reaches the threshold `bar`. `counts`: entries or
    frames.
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
    """A block of a page or an entry of a feed, with the `rule` that reported or withheld it. `came`: added, else
    removed. `told`: reported, else withheld. `text`: its beginning. `key`: the block's key or the entry's
    identity. `score`: the weight of a block.
    """

    text: str
    rule: str
    key: str
    came: bool
    told: bool
    score: float


class LookRate(Struct, frozen=True, kw_only=True):
    """Checks per second in the last half minute, and the setting `looks_per_second`. `says`: a warning, else empty."""

    per_second: float
    budget: float
    passed_for_s: float
    """How long the rate has exceeded the budget; 0 within it"""
    says: str | None = None


class LookSeen(Struct, frozen=True, kw_only=True):
    """`looks` checks with the same result, the last at `at`. `bytes`: size of the last body."""

    at: str
    verdict: str
    looks: int
    status: int | None
    bytes: int
    ms: int


class LookTrail(Struct, frozen=True, kw_only=True):
    """The last 200 checks of a source, and notes on those with a changed body (at most 40); newest first."""

    id: str
    looks: list[Looks]
    notes: list[LookNote]
    validators: LastValidators


class Looks(Struct, frozen=True, kw_only=True):
    """Consecutive checks with the same result. `bytes` (received) and `ms` are those of the last one. `verdict`:
    unchanged, changed (an event), nothing_to_tell (the body changed, but no watched content), or the kind of
    failure: remote_transient, throttled, remote_permanent, content, local.
    """

    first_at: str
    last_at: str
    looks: int
    status: int | None
    bytes: int
    ms: int
    verdict: str


class MailboxSeen(Struct, frozen=True, kw_only=True):
    """A mailbox: `depth` messages of `bound` wait, `received` so far; a sender met it `full` so often."""

    depth: int
    bound: int
    received: int
    full: int


class Managed(Struct, frozen=True, kw_only=True):
    """A record is described by files, and changed by `sanderling apply`."""

    workspace: str
    """The name of the folder of files; no two folders have the same"""
    name: str
    """Its name in the files"""
    applied: str | UnsetType = UNSET
    """What the files set when they were applied last, as `field=digest` with spaces between; none of it is of a
    secret. Default: ""
    """


class Matching(Struct, frozen=True, kw_only=True):
    """The matcher's lag: events, and the age of the oldest. `says`: a warning, empty while the lag is short."""

    behind: int
    seconds: float
    says: str | None = None


class MessagePreview(Struct, frozen=True, kw_only=True):
    """The messages of an event and of a digest."""

    dialect: str
    messages: list[ShownMessage]


class MessagePreviewRequest(Struct, frozen=True, kw_only=True):
    """Templates as in the `options` of a destination; "" is the default title or text. `alert_id`: the alert with
    the matches to show; null takes the newest events of the log. `language`: of the service's own words, as in a
    destination's options; "" is the service's language.
    """

    kind: str
    """A kind of GET /v1/destination-kinds; webhook by default"""
    message: str | UnsetType = UNSET
    """Default: "" """
    message_title: str | UnsetType = UNSET
    """Default: "" """
    alert_id: str | UnsetType | None = UNSET
    language: str | UnsetType = UNSET
    """Default: "" """


class MissingEvents(Struct, frozen=True, kw_only=True):
    """The period of the lost events. Checks of feeds and pages report theirs again; frames of WebSockets are lost."""

    after: str
    until: str


class NewAlert(Struct, frozen=True, kw_only=True):
    """A standing query. `anomaly_enabled` can't be true yet. `default_destinations`: copy the destinations of its
    tags' defaults. `destination_ids`: copy these destinations of other alerts.
    """

    filter_query: str
    """Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything"""
    language: str | UnsetType = UNSET
    """ISO 639-1, or simple for no stemming. Default: "en" """
    source_ids: list[str] | UnsetType = UNSET
    """Events of these sources; with neither these nor `tags`, of all sources. Default: []"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags, also of later sources; in addition to `source_ids`. Default: []"""
    name: str | UnsetType | None = UNSET
    channel: str | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET
    """Default: true"""
    notices: list[Literal["destination_disabled", "destination_failing", "heartbeat", "source_failing", "source_moved", "source_quiet", "source_recovered", "source_reset", "storage_damaged", "watching_stalled"]] | UnsetType = UNSET
    """The notices of the service that it also sends. Default:
    ["source_quiet","source_recovered","source_failing","source_reset","source_moved"]
    """
    notice_after: int | UnsetType = UNSET
    """Seconds that a problem lasts before its notice. Default: 3600"""
    anomaly_enabled: bool | UnsetType = UNSET
    """Default: false"""
    match: Literal["added", "change", "page", "removed"] | UnsetType = UNSET
    """The texts of a page's event that the query searches: title, added and removed texts (`change`), added texts
    (`added`), removed texts (`removed`), or title and content (`page`). Feeds and push: always `page`. Default:
    "change"
    """
    once_per_story: bool | UnsetType | None = UNSET
    """Of events with the same news (`story`), only the first match goes to the destinations; null: yes for alerts
    over several sources
    """
    default_destinations: bool | UnsetType = UNSET
    """Default: true"""
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
    in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert
    from before it became private. Default: []
    """
    destination_ids: list[str] | UnsetType = UNSET
    """Destinations to copy. Default: []"""


class NewDestination(Struct, frozen=True, kw_only=True):
    """The address for an alert's matches. `label`: by default the URL's host and the alert's name. `url` is
    optional for a kind with a fixed address.
    """

    url: str | UnsetType = UNSET
    """Public https"""
    kind: str | UnsetType = UNSET
    """A kind of GET /v1/destination-kinds; webhook by default. Default: "webhook" """
    options: dict[str, str | None] | UnsetType = UNSET
    """The fields of the kind, by name; private values are sealed and never shown again. Default: {}"""
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
    """If more events than this wait, they become one digest; 0: never"""
    secret: str | UnsetType = UNSET
    """Your own signing secret: `whsec_` and base64 of 24 to 64 random bytes. The previous secret also signs for 24
    hours. Never shown again
    """
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class NewInvitation(Struct, frozen=True, kw_only=True):
    """An invitation to make."""

    role: Literal["editor", "owner", "reader"] | UnsetType = UNSET
    """What the person may do. Default: "reader" """
    email: str | UnsetType = UNSET
    """Who may use the invitation; "" if the link alone decides. Default: "" """


class NewPublication(Struct, frozen=True, kw_only=True):
    """Events to publish: those that meet all given conditions. Without conditions, all events of sources."""

    title: str
    """Its title for readers"""
    source_ids: list[str] | UnsetType = UNSET
    """Events of any of these sources. Default: []"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags. Default: []"""
    channel: str | UnsetType | None = UNSET
    alert_ids: list[str] | UnsetType = UNSET
    """Matches of any of these alerts. Default: []"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
    in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert
    from before it became private. Default: []
    """
    ends_on: str | UnsetType | None = UNSET
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class NewSource(Struct, frozen=True, kw_only=True):
    """A URL to watch. `type` overrides detection. `backfill`: the number of a feed's newest entries to emit at
    once. `verify`: `later` also adds an unreachable URL, and classifies it when it answers.
    """

    url: str
    """http, https, ws or wss"""
    type: Literal["feed", "html", "push"] | UnsetType | None = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: []"""
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of parts to leave out. Default: []"""
    schedule: str | UnsetType | None = UNSET
    hours: str | UnsetType | None = UNSET
    backfill: int | UnsetType = UNSET
    """Default: 0"""
    filter: str | UnsetType | None = UNSET
    bar: float | UnsetType | None = UNSET
    subprotocols: list[str] | UnsetType = UNSET
    """The subprotocols that a push source's handshake offers, best first. Default: []"""
    hello: str | list[str] | UnsetType | None = UNSET
    replies: list[str] | UnsetType = UNSET
    """Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern matches any characters, and
    inserts them in the text. An answered frame is no event. Default: []
    """
    headers: str | UnsetType | None = UNSET
    headers_for: list[str] | UnsetType = UNSET
    """Hosts of other sources that borrow these headers if they have none: names, or `*.` for all subdomains, over
    https and wss. With any entry, the URL's own origin is included. Default: []
    """
    follow: Literal["new_links", "none"] | UnsetType = UNSET
    """`new_links`: report each new item of a list page, each new address of a sitemap and each new entry of a feed
    once, with the text of its own page. A page is then read as a list; its other changes are not reported.
    Default: "none"
    """
    follow_hosts: list[str] | UnsetType = UNSET
    """Other hosts whose pages `follow` also fetches, with their subdomains; `*` is every host. Links to others are
    reported without the text of their page. `headers` never go there. Default: []
    """
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
    its own selectors. Default: []
    """
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
    much as 100 plain ones; feeds are never rendered. Default: "auto"
    """
    wait_for: str | UnsetType | None = UNSET
    screenshots: bool | UnsetType = UNSET
    """Whether to store a screenshot with each change and at the first check of a rendered page, for
    `screenshot_days`. Default: false
    """
    title: str | UnsetType = UNSET
    """Your own name for it, on one line. Default: "" """
    enabled: bool | UnsetType = UNSET
    """Default: true"""
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""
    verify: Literal["later", "now"] | UnsetType = UNSET
    """Default: "now" """


class NextSteps(Struct, frozen=True, kw_only=True):
    """`add_destination`: a path below /v1 for the first alert; null without one. `stream`: the path of the events."""

    add_destination: str | None
    stream: str


class Node(Struct, frozen=True, kw_only=True):
    """One node of a shared database, at its last beat."""

    name: str
    """Its name and a random part that changes at each start"""
    this: bool
    """Whether it is the answering node"""
    inside: bool
    """Whether it may own sources and destinations"""
    version: str
    url: str
    sources: int
    """Sources that it watches"""
    overdue: int
    streams: int
    role: str | None = None
    """`web`: it serves requests and streams, and watches nothing"""
    missing: MissingEvents | None = None
    """Events that its readers received and a failover of PostgreSQL lost"""


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
    """The place of its text on the page, for `replace` of the new one."""


class OptionWanted(Struct, frozen=True, kw_only=True):
    """One of the `options` of a kind. `many`: several values, separated by commas. `matches`: a regular expression
    for the whole value.
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
    """The figures of the whole service. `failing`: a sentence by part, empty if all is well. queues: messages in
    the mailboxes of the fixed parts. totals: counted since `started_at`; subtract two answers to get a rate.
    """

    at: str
    started_at: str
    version: str
    url: str
    """The service's address, as clients see it"""
    local_url: str
    """Its address for programs on its own machine"""
    ready: bool
    draining: bool
    """No checks until `resume`"""
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
    """The delay of the event loop at the last measurement"""
    totals: dict[str, int]
    nodes: list[Node]
    """The nodes that share the database; empty with one node"""
    replica: Replica | None = None
    """The copy for a standby; null without one"""


class PacePreview(Struct, frozen=True, kw_only=True):
    """The time of the second check, and the origin's own hints; hours and days (0 is Monday) in UTC."""

    interval_s: float
    next_look_at: str
    max_age_s: float
    ttl_s: float
    skip_hours: list[int]
    skip_days: list[int]


class PageBlock(Struct, frozen=True, kw_only=True):
    """A block: `number` counts from 0, `mark` identifies it later. `text` is cut at 2,000 of `length` characters.
    `heading` is the one above it; `row` and `column` are labels of its table. `why`: furniture or control if a
    page watched as a whole ignores it. `watched`: by the choice of the request. `selector` chooses only this
    block, "" if none can. `item`: it links to an item of the list (`follow`). `cells`: for a row of CSV; press
    one by its number.
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
    """A page to choose from. `blocks`: at most 100 from `first` on. `found`: blocks with the words. `total`: all
    blocks. `no_parts`: the reason why no part of this document can be chosen, else "". `now`: the texts of the
    present choice, null if it is empty. `choice`: null unless you pressed a block. `gone`: the pressed block no
    longer exists. `part`: the choice, including inherited values. `listed`: items of the page as a list.
    `partial`: the page is too long and was read in part.
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
    """A page: its first 40 blocks, and the numbers of watched and left-out blocks. `listed`: its number of items as
    a list (`follow`); `items` are the first 20. `values`: its first 20 prices, numbers, states, versions and
    dates. `matched`: the number of elements that `selector` keeps, null without one. `partial`: the page is too
    long and was read in part.
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
    values: list[FoundValue] | None = None


class PersonPatch(Struct, frozen=True, kw_only=True):
    """The fields to change; omitted ones stay."""

    name: str | UnsetType = UNSET
    """The name that others see"""
    role: Literal["editor", "owner", "reader"] | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET
    """Whether the person is kept out"""


class PersonRecord(Struct, frozen=True, kw_only=True):
    """A person with access. `issuer` is empty for a person who signs in by password."""

    id: str
    name: str
    email: str
    role: str
    issuer: str
    totp: bool
    disabled: bool
    created_at: str


class PracticeChange(Struct, frozen=True, kw_only=True):
    """The change, as a sentence; its event is on `stream` within seconds."""

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
    """A block of an earlier answer, by its `number` and `mark`, and the effect of choosing it. `cell`: the number
    of one of its `cells`; 0 for the block itself.
    """

    number: int
    mark: str
    act: Literal["also", "only", "without"] | UnsetType = UNSET
    """`only` this; this `also`, in addition to `selector`; all `without` this. Default: "only" """
    reach: Literal["like", "part", "this"] | UnsetType = UNSET
    """`this` block alone; all blocks `like` it; the `part` of the page around it. Default: "this" """
    cell: int | UnsetType = UNSET
    """Default: 0"""


class Preview(Struct, frozen=True, kw_only=True):
    """The result of a check at `fetched_at`: one of `feed`, `page` and `push` is set. Only pages have a `part`."""

    fetched_at: str
    feed: FeedPreview | None
    page: PagePreview | None
    push: PushPreview | None
    pace: PacePreview | None
    robots: RobotsVerdict | None
    rendering: Rendering | None
    part: ShownPart | None


class PreviewBlock(Struct, frozen=True, kw_only=True):
    """A paragraph, item, cell or heading. `why`: furniture or control if it is ignored, else ""."""

    text: str
    watched: bool
    why: str


class PreviewDay(Struct, frozen=True, kw_only=True):
    """A day (UTC): how many of its events were searched, and how many match."""

    day: str
    looked_at: int
    matches: int


class PreviewMatch(Struct, frozen=True, kw_only=True):
    """A matching event. `matched`: the terms of the query that it contains."""

    id: str
    source_id: str
    title: str
    url: str
    emitted_at: str
    matched: list[str]
    highlights: Highlights


class PreviewRequest(Struct, frozen=True, kw_only=True):
    """Another part of the page to preview. Omitted fields have the source's values; null is the whole page."""

    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of parts to leave out"""


class PreviewSummary(Struct, frozen=True, kw_only=True):
    """The number of each."""

    new: int
    existing: int
    alerts_new: int
    alerts_existing: int


class PreviewTerm(Struct, frozen=True, kw_only=True):
    """A word, prefix or phrase of the query as interpreted, and the number of events that contain it."""

    text: str
    events: int


class PreviewedAlert(Struct, frozen=True, kw_only=True):
    """An alert to create, or the existing one with its owner's changes."""

    name: str
    status: str
    alert_id: str | None
    filter_query: str
    language: str
    channel: str | None
    match: str


class PreviewedSource(Struct, frozen=True, kw_only=True):
    """A source to add; `existing` ones are already watched."""

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
    """The kind of problem: the URL of a page that explains it."""
    title: str
    """A fixed short name of the kind."""
    status: int
    """The HTTP status."""
    detail: str
    """The cause of this problem, and the remedy."""
    instance: str | None = None
    """The path of the request."""
    errors: list[FieldError] | None = None
    """The invalid places."""


class PublicationPatch(Struct, frozen=True, kw_only=True):
    """The fields to change; omitted ones stay."""

    title: str | UnsetType = UNSET
    """Its title for readers"""
    source_ids: list[str] | UnsetType = UNSET
    """Events of any of these sources"""
    tags: list[str] | UnsetType = UNSET
    """Events with any of these tags"""
    channel: str | UnsetType | None = UNSET
    alert_ids: list[str] | UnsetType = UNSET
    """Matches of any of these alerts"""
    private_source_ids: list[str] | UnsetType = UNSET
    """Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
    in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert
    from before it became private
    """
    ends_on: str | UnsetType | None = UNSET
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class PublicationRecord(Struct, frozen=True, kw_only=True):
    """A publication. Anyone with `url` can read it as a page; `feeds` are for feed readers. Both are null if this
    instance cannot decrypt the address because its master key was lost. The address still works for existing
    readers, and you can create a new one.
    """

    id: str
    title: str
    source_ids: list[str]
    tags: list[str]
    channel: str | None
    alert_ids: list[str]
    private_source_ids: list[str]
    ends_on: str | None
    url: str | None
    feeds: FeedAddresses | None
    created_at: str
    updated_at: str
    revision: str
    """The value of its ETag, for If-Match"""
    updated_by: str
    """The author of the last change: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None


class PushPreview(Struct, frozen=True, kw_only=True):
    """The handshake and the first frames of up to 3 seconds. `ended`: the reason if the server closed by then."""

    subprotocol: str | None
    waited_s: float
    received: int
    frames: list[DraftEvent]
    ended: str | None


class PushStatus(Struct, frozen=True, kw_only=True):
    """Counters of a push source since the service started. `connected_since`: null without an open connection.
    `frames` is the sum of `admitted`, `duplicates`, `filtered` (no alert or filter wants them) and `unreadable`.
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
    """The hours when instant deliveries wait: from a time of the named days to the next `to`, maybe over midnight."""

    from_: str = field(name="from")
    """HH:MM"""
    to: str
    """HH:MM"""
    timezone: str | UnsetType = UNSET
    """IANA time zone. Default: "UTC" """
    weekdays: list[Literal["fri", "mon", "sat", "sun", "thu", "tue", "wed"]] | UnsetType = UNSET
    """The days on which it begins; all by default. Default: ["mon","tue","wed","thu","fri","sat","sun"]"""


class Rendering(Struct, frozen=True, kw_only=True):
    """How a browser is involved; null for a page that is read as sent. `says` is the sentence for people. `empty`:
    the sign that the page is empty without JavaScript, "" if rendering was requested. `done`: the preview shows
    the rendered page. `costs`: plain checks that a rendered one costs.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: list[FilledBy]


class ReplayAnswer(Struct, frozen=True, kw_only=True):
    """The number of newly queued deliveries, without those already waiting. `next_since`: the `since` of the next
    request if more events remain.
    """

    queued: int
    next_since: str | None


class ReplayRequest(Struct, frozen=True, kw_only=True):
    """The events to deliver again: the matches after `since` and up to `until`, or events by their ids. An event's
    id as `since` excludes the event itself, as `until` includes it.
    """

    since: str | UnsetType | None = UNSET
    until: str | UnsetType | None = UNSET
    ids: list[str] | UnsetType | None = UNSET


class Replica(Struct, frozen=True, kw_only=True):
    """The progress of the copy for a standby."""

    place: str
    told_at: str | None
    """It contains all commits up to this time; null before the first"""
    untold: int
    """Bytes of the write-ahead log that it lacks"""
    says: str
    """The obstacle to its progress, else empty"""


class ReportSummary(Struct, frozen=True, kw_only=True):
    """Counts: sources added, already watched, failed, and failed because `max_sources` is reached (`skipped_cap`)."""

    attached: int
    already: int
    failed: int
    alerts_created: int
    skipped_cap: int


class ReportedAlert(Struct, frozen=True, kw_only=True):
    """The result for a suggested alert. `source_count` 0: it covers all sources, or was not created."""

    name: str
    status: str
    alert_id: str | None
    source_count: int
    reason: str | None


class ReportedSource(Struct, frozen=True, kw_only=True):
    """The result for a source. `reason`: the failure, or a remark."""

    url: str
    status: str
    source_id: str | None
    detected_type: str | None
    reason: str | None


class RobotsVerdict(Struct, frozen=True, kw_only=True):
    """The verdict of robots.txt on a page; it does not apply to feeds and WebSockets."""

    allowed: bool
    crawl_delay_s: float | None
    says: str


class SecretsAnswer(Struct, frozen=True, kw_only=True):
    """Whether each value equals the stored one, in the order of the request; false if none is stored."""

    same: list[bool]


class SecretsRequest(Struct, frozen=True, kw_only=True):
    """Values to compare with the stored secrets."""

    secrets: list[SupposedSecret]


class SettingsSeen(Struct, frozen=True, kw_only=True):
    """The settings of a running service, by their names. A secret that is set is shown as asterisks."""

    settings: dict[str, Any]


class ShownMessage(Struct, frozen=True, kw_only=True):
    """The message with the service's markup. `failure`: the reason why the template was not used for this event."""

    of: str
    """The newest event, a digest of the newest, or a sample if there is none"""
    title: str
    text: str
    failure: str | None = None


class ShownPart(Struct, frozen=True, kw_only=True):
    """The shown part of a page: `selector` and `ignore`, including inherited values. `inherited`: the tags that
    each comes from; a missing one is the source's own.
    """

    selector: str | None
    ignore: list[str]
    inherited: dict[str, list[str]]


class SignatureCheck(Struct, frozen=True, kw_only=True):
    """Both signatures, checked on arrival. `hmac` is checked with the secrets of this service's destinations that
    deliver to this bin, `ed25519` with its signing keys.
    """

    hmac: Checked
    ed25519: CheckedEvents


class Sizes(Struct, frozen=True, kw_only=True):
    """The size of the storage in bytes, the part that is free for new events, and the largest sources."""

    bytes: int
    free: int
    sources: list[SourceSize]


class SourceBatch(Struct, frozen=True, kw_only=True):
    """Up to 20 URLs to watch."""

    sources: list[NewSource]


class SourceBlocksRequest(Struct, frozen=True, kw_only=True):
    """The blocks of a watched page to show. Omitted `selector` and `ignore` have the source's values."""

    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of parts to leave out"""
    first: int | UnsetType = UNSET
    """The number of blocks to skip; an answer has 100. Default: 0"""
    find: str | UnsetType = UNSET
    """Only blocks with all of these words. Default: "" """
    press: PressedBlock | UnsetType | None = UNSET


class SourceHealth(Struct, frozen=True, kw_only=True):
    """A source's health. Before the first success `last_success_at` is the time of creation."""

    score: float
    flag: str
    reason: str
    last_success_at: str
    rank: int
    last_checked_at: str | None


class SourcePatch(Struct, frozen=True, kw_only=True):
    """The fields to change; null empties `selector`, `schedule`, `hours`, `filter`, `bar`, `hello`, `headers`,
    `wait_for` and `managed`. The URL is fixed.
    """

    type: Literal["feed", "html", "push"] | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`"""
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of parts to leave out"""
    filter: str | UnsetType | None = UNSET
    subprotocols: list[str] | UnsetType = UNSET
    """The subprotocols that a push source's handshake offers, best first"""
    hello: str | list[str] | UnsetType | None = UNSET
    replies: list[str] | UnsetType = UNSET
    """Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern matches any characters, and
    inserts them in the text. An answered frame is no event
    """
    headers: str | UnsetType | None = UNSET
    headers_for: list[str] | UnsetType = UNSET
    """Hosts of other sources that borrow these headers if they have none: names, or `*.` for all subdomains, over
    https and wss. With any entry, the URL's own origin is included
    """
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
    much as 100 plain ones; feeds are never rendered
    """
    wait_for: str | UnsetType | None = UNSET
    screenshots: bool | UnsetType = UNSET
    """Whether to store a screenshot with each change and at the first check of a rendered page, for
    `screenshot_days`
    """
    schedule: str | UnsetType | None = UNSET
    hours: str | UnsetType | None = UNSET
    bar: float | UnsetType | None = UNSET
    follow: Literal["new_links", "none"] | UnsetType = UNSET
    """`new_links`: report each new item of a list page, each new address of a sitemap and each new entry of a feed
    once, with the text of its own page. A page is then read as a list; its other changes are not reported
    """
    follow_hosts: list[str] | UnsetType = UNSET
    """Other hosts whose pages `follow` also fetches, with their subdomains; `*` is every host. Links to others are
    reported without the text of their page. `headers` never go there
    """
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
    its own selectors
    """
    title: str | UnsetType = UNSET
    """Your own name for it, on one line"""
    managed: Managed | UnsetType | None = UNSET
    """The files that describe it; see `sanderling apply`"""


class SourceRecord(Struct, frozen=True, kw_only=True):
    """A watched source. `title`: its owner's name for it. `found_title`: the page's own title. `noise_count`: block
    keys that feedback has marked as noise. `state`: its state now. `health`: its score over days. `rendered`: a
    browser renders it, so each check costs as much as 100 plain ones. `headers_from`: the source whose headers
    its checks borrow; null with its own or none. `private`: it is checked with headers or in an opened network,
    so publications omit it unless they name it. `schedule`, `hours`, `bar`, `selector` and `ignore` are its own
    settings; `effective` has those in force, `inherited` the tags that they come from (see PUT /v1/tags/{tag}).
    `own_only` names settings that are never inherited.
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
    """`failing`: The last check failed, or the WebSocket is down. `resting`: Several checks failed in a row:
    Sanderling pauses its checks for a while. `throttled`: The server asked for fewer requests. `unrendered`: It
    needs a browser, and none was available at the last check. `overdue`: Its check is late. `new`: Not checked
    yet. `ok`: The last check succeeded. `paused`: A person paused it. Sanderling does not check it until you
    resume it.
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
    """The value of its ETag, for If-Match"""
    updated_by: str
    """The author of the last change: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None
    supported: bool | None = None
    follow_one_hop: bool | None = None
    private: bool | None = None


class SourceSize(Struct, frozen=True, kw_only=True):
    """A source's events in the log. `url` is null for a deleted source and for the service's notices."""

    events: int
    bytes: int
    source_id: str
    url: str | None
    title: str | None = None
    """The user's name for it, else its own title"""


class SourceStatus(Struct, frozen=True, kw_only=True):
    """The state of the watching now; `last_error` is a sentence. `enabled`, `health_flag`: twins."""

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
    """Why a text was not reported. `says`: the best reason and the state of the source. `reasons`: all known facts."""

    id: str
    url: str
    title: str
    """The user's name for it, else its own title"""
    type: str
    says: str
    state: str
    reasons: list[KnownReason]


class Sources(Struct, frozen=True, kw_only=True):
    """Sources by health, by state and by state of their actors. `total` includes paused ones."""

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
    """An open stream. `key`: the id of its API key or of its dashboard session, "" on the admin socket. `cursor`:
    its position in the log as an id; null if it does not follow the log. `behind_s`: the age of that position
    against the newest event, 0 if it has read all. `bytes`: size of the events sent to it.
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
    """The streams of this node only, furthest behind first. `node`: its name; "" in a service of one node."""

    total: int
    node: str
    streams: list[StreamSeen]


class SupposedSecret(Struct, frozen=True, kw_only=True):
    """A value to compare with a stored secret."""

    of: Literal["destination", "source"]
    id: str
    name: str
    """For a source `headers` or `hello`; for a destination `url`, `secret` or the name of an option"""
    value: str
    """The value to compare"""


class TagDefaultsRecord(Struct, frozen=True, kw_only=True):
    """The settings that the sources of a tag inherit; null and [] set nothing. `destinations`: a new alert over the
    tag gets a copy of each.
    """

    schedule: str | None
    hours: str | None
    bar: float | None
    selector: str | None
    ignore: list[str]
    destinations: list[str]
    updated_at: str
    revision: str
    """The value of its ETag, for If-Match"""
    updated_by: str
    """The author of the last change: a key's name, the dashboard, this machine; else the service"""
    managed: Managed | None


class TagRecord(Struct, frozen=True, kw_only=True):
    """A tag. `sources`: number with the tag. `sources_below`: number with the tag or a tag below it (`news/se` is
    below `news`). `defaults`: null without defaults.
    """

    tag: str
    sources: int
    sources_below: int
    defaults: TagDefaultsRecord | None


class TagSettings(Struct, frozen=True, kw_only=True):
    """All defaults of a tag; an absent field sets nothing. The fields are those of POST /v1/sources.
    `destinations`: a new alert over the tag gets a copy of each. An absent `managed` stays; null removes it.
    """

    schedule: str | UnsetType | None = UNSET
    hours: str | UnsetType | None = UNSET
    bar: float | UnsetType | None = UNSET
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of parts to leave out. Default: []"""
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
    """A parameter of a template: `min` to `max` values. A domain has no scheme and no path."""

    key: str
    type: str
    description: str
    example: str
    required: bool
    repeatable: bool
    min: int
    max: int


class TemplatePreview(Struct, frozen=True, kw_only=True):
    """The sources and alerts that an instantiation would add. Nothing was fetched, so a page may not exist."""

    template: str
    version: int
    sources: list[PreviewedSource]
    alerts: list[PreviewedAlert]
    summary: PreviewSummary


class TemplateRecord(Struct, frozen=True, kw_only=True):
    """A whole template. `schema`: the JSON Schema (2020-12) of `params`, as JSON text."""

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
    """The result of an instantiation; partial if something failed. The same call again does the rest."""

    template: str
    version: int
    status: str
    sources: list[ReportedSource]
    alerts: list[ReportedAlert]
    next_steps: NextSteps
    summary: ReportSummary


class TemplateSource(Struct, frozen=True, kw_only=True):
    """A source, with `{key}` as the place of a parameter's value."""

    url: str
    type: str
    tags: list[str]


class TemplateSummary(Struct, frozen=True, kw_only=True):
    """A template in the list. `source_count`: its URL patterns; each value of a parameter adds those that name it.
    `parameters`: only their names; the template has the details.
    """

    slug: str
    name: str
    summary: str
    category: str
    version: int
    source_count: int
    parameters: list[str]


class TestAnswer(Struct, frozen=True, kw_only=True):
    """The result of a test delivery."""

    result: str
    status_code: int | None
    latency_ms: int
    detail: str


class TreePage(Struct, frozen=True, kw_only=True):
    """Rows from `start` on, of `total` that match the filter; fewer than requested if some have just vanished."""

    total: int
    start: int
    rows: list[TreeRow]


class TreePart(Struct, frozen=True, kw_only=True):
    """The details of one part. `crash`: the last crash; `places`: its innermost stack frames. task: its state in
    the supervisor; null without one. slowest_step_s: the longest time that it held the event loop.
    """

    row: TreeRow
    task: str | None
    """Its state in the supervisor"""
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
    before its next start. `failing`: The other side fails; Sanderling tries again. `resting`: Several checks
    failed in a row: Sanderling pauses its checks for a while. `throttled`: The server asked for fewer requests.
    `unrendered`: It needs a browser, and none was available at the last check. `overdue`: Its check is late.
    `ended`: It has ended. `stopping`: It was asked to stop and finishes its work. `starting`: It runs but is not
    ready yet. `held`: The service is drained, or its own connection is down. `new`: Not checked yet. `ok`: It
    runs and all is well. `paused`: A person paused it. Sanderling does not check it until you resume it.
    """
    health: float | None
    """A source's score from 0 to 1"""
    flag: str | None
    restarts: int
    since: str
    """When it entered its state"""
    error: str
    next: str | None
    """Its next action: a check, or a restart after a crash"""
    title: str | None = None
    """The user's name for a source, else its own title"""
    mailbox: int | None = None
    """Messages in its mailbox; null without one"""
    handled: int | None = None
    """Messages that it has received so far"""
    pace_s: float | None = None
    """Seconds between a source's checks at its present pace"""
    marks: str | None = None
    """A source's last checks, newest last, one mark each. `+`: changed. `.`: unchanged. `-`: nothing to report.
    `x`: failed. `t`: throttled. `X`: failed for good. `?`: not readable. `o`: own connection.
    """
    below: BelowSeen | None = None
    """The children of `sources` and `destinations`"""


class TrueNow(Struct, frozen=True, kw_only=True):
    """A current value that meets a new alert's query already: the alert matches once the value changes again."""

    source_id: str
    source: str
    label: str
    text: str


class TypedChange(Struct, frozen=True, kw_only=True):
    """One thing that changed. `before` or `after` is absent where it came, or went. label: the value's name ("Team
    · Seats") in the page's own words. path: its place in a document that has paths. lowest_since, highest_since:
    of a price, from when on it was never lower, or higher, as far as is known (RFC 3339).
    """

    kind: str
    """A price, an availability, a date or time, a number or share, a version, a name, a negation (a word such as
    *not* was added or removed), an added or removed item, or other text.
    """
    label: str | None = None
    """The value's name in the page's own words."""
    path: str | None = None
    """Its path in a structured document, such as `$.plans[1].price`."""
    before: Value | None = None
    """The old value; absent if it is new."""
    after: Value | None = None
    """The new value; absent if it is gone."""
    lowest_since: str | None = None
    """For a price that fell: the time since it was never lower, as far as the log reaches."""
    highest_since: str | None = None
    """For a price that rose: the time since it was never higher."""


class UnknownTime(Struct, frozen=True, kw_only=True):
    """A period without records, and why."""

    from_: str = field(name="from")
    to: str
    why: str


class UrlBlocksRequest(Struct, frozen=True, kw_only=True):
    """The URL of a page to split into blocks; the fields are those of POST /v1/sources."""

    url: str
    """http, https, ws or wss"""
    selector: str | UnsetType | None = UNSET
    ignore: list[str] | UnsetType = UNSET
    """Selectors of parts to leave out. Default: []"""
    headers: str | UnsetType | None = UNSET
    render: Literal["always", "auto", "never"] | UnsetType = UNSET
    """Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
    much as 100 plain ones; feeds are never rendered. Default: "auto"
    """
    wait_for: str | UnsetType | None = UNSET
    tags: list[str] | UnsetType = UNSET
    """Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: []"""
    own_only: list[Literal["bar", "hours", "ignore", "schedule", "selector"]] | UnsetType = UNSET
    """Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
    its own selectors. Default: []
    """
    first: int | UnsetType = UNSET
    """The number of blocks to skip; an answer has 100. Default: 0"""
    find: str | UnsetType = UNSET
    """Only blocks with all of these words. Default: "" """
    press: PressedBlock | UnsetType | None = UNSET


class Value(Struct, frozen=True, kw_only=True):
    """A value as written (`text`), and its type; plain text has none. money, number and percent have `number` and
    `scale` (decimal places); `unit` is the currency (ISO 4217), "%", or a unit of measure ("GB"), absent where
    none is known. date: `value` is YYYY-MM-DD, YYYY-MM or MM-DD; time: HH:MM; version: its numbers with dots;
    availability: one of `AVAILABILITIES`.
    """

    text: str
    """As written on the page."""
    type: str | None = None
    """Its recognised type; absent for plain text."""
    number: int | None = None
    """The value times ten to the power of `scale`: 1,099.50 is 109950 with scale 2."""
    scale: int | None = None
    """The number of decimal places."""
    unit: str | None = None
    """A currency (ISO 4217), `%`, or a unit of measure; absent if unknown."""
    value: str | None = None
    """A date as `YYYY-MM-DD`, `YYYY-MM` or `MM-DD`, a time as `HH:MM`, a version's numbers, or an availability: one
    of in_stock, limited, preorder, backorder, out_of_stock, discontinued.
    """


class ValuePoint(Struct, frozen=True, kw_only=True):
    """A value from `at` on. `value`: its digits. `number`: the digits without the point. For a state, a version or
    a date `number` is null, `value` is as in `current`, and `text` as written on the page. `until`: when it was
    removed from the page; null if it is still there or the next point replaces it.
    """

    at: str
    number: int | None
    scale: int
    value: str
    text: str | None = None
    until: str | None = None


class ValueSeries(Struct, frozen=True, kw_only=True):
    """The values of one item, oldest first. `label`: its name in the page's own words. `path`: its place in a
    structured document. `unit`: a currency (ISO 4217), "%", a unit of measure, or "" if unknown. `lowest` and
    `highest`: for dates the earliest and the latest; null for states.
    """

    type: str
    label: str
    path: str
    unit: str
    lowest: ValuePoint | None
    highest: ValuePoint | None
    points: list[ValuePoint]


class Values(Struct, frozen=True, kw_only=True):
    """The values of a source. `current`: the values on its page now, in the page's order, at most 500 with prices
    preferred. `more`: the number of the others. `series`: values over time, prices first. `since`: the start of
    the record.
    """

    id: str
    since: str
    current: list[CurrentValue]
    more: int
    series: list[ValueSeries]


class VersionComparison(Struct, frozen=True, kw_only=True):
    """The differences between two versions, from the earlier to the later, in the later one's order. `partial`: it
    compares only the main texts of the events. `truncated`: there are more steps than these.
    """

    id: str
    from_: KeptVersion = field(name="from")
    to: KeptVersion
    partial: bool
    truncated: bool
    steps: list[VersionStep]


class VersionStep(Struct, frozen=True, kw_only=True):
    """A text that was added (`insert`), removed (`delete`), changed (`replace`) or stayed (`keep`), and its place.
    `spans`: the differing words; absent if the two texts have too little in common.
    """

    op: str
    before: str | None = None
    after: str | None = None
    context: Context | None = None
    spans: Spans | None = None


class Versions(Struct, frozen=True, kw_only=True):
    """The stored versions of a page, newest first; empty for other sources."""

    id: str
    versions: list[KeptVersion]


class Watching(Struct, frozen=True, kw_only=True):
    """The state of a source's checks. `trail`: its last checks, newest first. `health`: the factors of its score.
    next_look: the reason for the time of the next check.
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
    """The checks of the last 7 days, and the gaps in their record"""
