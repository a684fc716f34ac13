// The records of the API: what is sent in requests, and what is answered.
// Generated from the description of the API (`python -m clients.generate`); edits are lost.

/** The kinds of problems, by the end of their `type`; a later version may have more. */
export type Slug =
  | "invalid-request"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "request-timeout"
  | "conflict"
  | "library-full"
  | "cursor-expired"
  | "precondition-failed"
  | "body-too-large"
  | "target-too-long"
  | "unsupported-media-type"
  | "unprocessable"
  | "url-refused"
  | "rate-limited"
  | "headers-too-large"
  | "internal"
  | "unavailable"
  | (string & {});

/**
 * The address that a kind asks for. `private`: it lets somebody in, so only its host is shown. `default`: what
 * `url` is when it is left out.
 */
export interface AddressWanted {
  label: string;
  help: string;
  example: string;
  private: boolean;
  default: string;
}

/** What to change; null takes the `channel` and `managed` away. */
export interface AlertPatch {
  /** Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything */
  filter_query?: string;
  /** ISO 639-1, or simple for no stemming */
  language?: string;
  /** Events of these sources; with neither these nor `tags`, of all */
  source_ids?: Array<string>;
  /** Events with any of these tags, also of sources that are added later; beside `source_ids` */
  tags?: Array<string>;
  name?: string;
  channel?: string | null;
  enabled?: boolean;
  /** The service's own notices that it asks for */
  notices?: Array<"destination_disabled" | "destination_failing" | "heartbeat" | "source_failing" | "source_moved" | "source_quiet" | "source_recovered" | "source_reset" | "storage_damaged" | "watching_stalled">;
  /** Seconds after which a trouble is told */
  notice_after?: number;
  anomaly_enabled?: boolean;
  /**
   * What of a page's event the query is held against: title, what came and what went (`change`), what came
   * (`added`), what went (`removed`), or title and content (`page`). Feeds and push: always the latter
   */
  match?: "added" | "change" | "page" | "removed";
  /**
   * Of events that tell the same (`story`), only the first it matches goes to its destinations; null: where it is
   * over several sources
   */
  once_per_story?: boolean | null;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  /**
   * Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
   * ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and so
   * does an alert that was made before the source was private
   */
  private_source_ids?: Array<string>;
}

/**
 * What an alert would have told. `query`: as it was understood. `complete`: `last` events, or all there are, were
 * looked at in the time there is. `looked_from`: when the oldest of them was emitted. `per_day`: the matches to
 * expect; null when too little was looked at to say.
 */
export interface AlertPreview {
  query: string;
  language: string;
  warnings: Array<string>;
  looked_at: number;
  complete: boolean;
  looked_from: string | null;
  matches_found: number;
  per_day: number | null;
  days: Array<PreviewDay>;
  terms: Array<PreviewTerm>;
  matches: Array<PreviewMatch>;
}

/**
 * A query as an alert would have it, and how far to look. `last`: how many of the log's newest events are looked
 * at. `limit`: how many matches are shown.
 */
export interface AlertPreviewRequest {
  /** Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything */
  filter_query: string;
  /** ISO 639-1, or simple for no stemming. Default: "en" */
  language?: string;
  /** Events of these sources; with neither these nor `tags`, of all. Default: [] */
  source_ids?: Array<string>;
  /** Default: 2000 */
  last?: number;
  /** Default: 20 */
  limit?: number;
  /**
   * What of a page's event the query is held against: title, what came and what went (`change`), what came
   * (`added`), what went (`removed`), or title and content (`page`). Feeds and push: always the latter. Default:
   * "change"
   */
  match?: "added" | "change" | "page" | "removed";
  /** Events with any of these tags, also of sources that are added later; beside `source_ids`. Default: [] */
  tags?: Array<string>;
  /**
   * Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
   * ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and so
   * does an alert that was made before the source was private. Default: []
   */
  private_source_ids?: Array<string>;
}

/**
 * An alert. `delivery_mode` is a twin: that of its first destination, or instant. `template`: what it was made of,
 * as `<template id>/<key>`. `match` is `page` for alerts from before there was a choice. `alert_id`: the id, by
 * the name that other records give it.
 */
export interface AlertRecord {
  id: string;
  name: string;
  filter_query: string;
  language: string;
  match: "added" | "change" | "page" | "removed" | (string & {});
  source_ids: Array<string>;
  private_source_ids: Array<string>;
  tags: Array<string>;
  channel: string | null;
  enabled: boolean;
  notices: Array<string>;
  notice_after: number;
  once_per_story: boolean | null;
  created_at: string;
  updated_at: string;
  last_match_at: string | null;
  match_count: number;
  delivery_mode: "15min" | "daily" | "hourly" | "instant" | (string & {});
  /** What its ETag says, for If-Match */
  revision: string;
  /** Who set something of it last: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
  anomaly_enabled?: boolean;
  template?: string | null;
  alert_id?: string | null;
}

/** The active alerts that match an event as they are now; at most 20 are named, to a key with `alerts:read`. */
export interface AlertsMatched {
  count: number;
  names: Array<string>;
}

/** The results of a batch, in the order of the request. */
export interface BatchAnswer {
  results: Array<BatchResult>;
}

/** What became of one URL of a batch. */
export interface BatchResult {
  url: string;
  status: "attached_existing" | "created" | "failed" | "timeout" | (string & {});
  detected_type?: "feed" | "html" | "push" | (string & {}) | null;
  source?: SourceRecord | null;
  error?: Problem | null;
}

/** What a part supervises that comes and goes: how many, and the worst state among them. */
export interface BelowSeen {
  total: number;
  worst: "backoff" | "ended" | "failing" | "held" | "new" | "ok" | "overdue" | "paused" | "quarantined" | "resting" | "starting" | "stopping" | "throttled" | "unrendered" | (string & {});
}

/** A bin. Whoever has its `url` can send to it, with any method and anything behind it; nobody can read there. */
export interface BinRecord {
  id: string;
  url: string;
  created_at: string;
  expires_at: string;
}

/** A cell of a row of a CSV document: its number from 1, its column's head, and what it says. */
export interface BlockCell {
  number: number;
  column: string;
  text: string;
}

/**
 * The block that was pressed as it is now, how far the choice may reach, how far it does, and what it keeps; null
 * where nothing can choose it.
 */
export interface BlockChoice {
  block: PageBlock;
  reaches: Array<BlockReach>;
  reach: "like" | "part" | "this" | (string & {});
  kept: KeptBlocks | null;
}

/**
 * How far a choice may reach, the selector for it, and how many blocks that chooses. `held`: how the selector did
 * on the earlier versions of a source; null where none is kept that has the block.
 */
export interface BlockReach {
  name: "like" | "part" | "this" | (string & {});
  selector: string;
  blocks: number;
  held: HeldVersions | null;
}

/**
 * A value of a block. `condition` is how an alert's query names it: its subject (`price`), and, where something
 * names the place, `label:` or `path:`. `number` has `scale` decimal places; null where the value is no number.
 */
export interface BlockValue {
  text: string;
  type: "availability" | "date" | "money" | "number" | "percent" | "time" | "version" | (string & {});
  number: number | null;
  scale: number;
  unit: string;
  subject: string;
  condition: string;
}

/** The circuit breaker: open means that the source is left alone until `retry_at`. */
export interface Breaker {
  state: "closed" | "half-open" | "open" | (string & {});
  retry_at: string | null;
}

/**
 * A request as it arrived, but for the case of its headers' names. `body` when it is UTF-8, else `body_base64`.
 * `size`: bytes that arrived. `truncated`: more than is kept.
 */
export interface CaptureRecord {
  id: string;
  received_at: string;
  method: string;
  path: string;
  query: string;
  headers: Array<[string, string]>;
  body?: string;
  body_base64?: string;
  size: number;
  truncated: boolean;
  signature_check: SignatureCheck;
}

/** One block whose text was altered. `spans` is absent where the two texts have too little in common. */
export interface Change {
  before: string;
  after: string;
  /** Where it stands; absent where nothing is known. */
  context?: Context;
  /**
   * The words that differ, as pairs of code points: from the first on and before the second. Absent where the two
   * have too little in common, or are too long to compare.
   */
  spans?: Spans;
}

/** When the look that was asked for is due. */
export interface CheckAnswer {
  id: string;
  next_fetch_at: string;
}

/** A signature's verdict: `ok` is null when it was not checked, `why` is a sentence either way. */
export interface Checked {
  ok: boolean | null;
  cause: string;
  why: string;
}

/** The verdict on one event of a digest. */
export interface CheckedEvent {
  ok: boolean | null;
  cause: string;
  why: string;
  id: string | null;
}

/** The verdict on all events together: `ok` if each is. `events`: one by one. */
export interface CheckedEvents {
  ok: boolean | null;
  cause: string;
  why: string;
  events: Array<CheckedEvent>;
}

/** A piece of the content, from the code point `start` on. Its marks are counted in the content, as `start` is. */
export interface ContentExcerpt {
  start: number;
  text: string;
  marks: Array<[number, number]>;
}

/** Where a block stands: below which heading, in which row and column of a table. What is not known is absent. */
export interface Context {
  /** The nearest heading above. */
  heading?: string;
  /** Of a cell the label of its row, of a definition its term. */
  row?: string;
  /** Of a cell the head of its column. */
  column?: string;
}

/** One context for each text of `added` and `removed`, in their order; `{}` where nothing is known. */
export interface Contexts {
  /** One for each text of `added`, in its order. */
  added: Array<Context>;
  /** One for each text of `removed`, in its order. */
  removed: Array<Context>;
}

/** The known checks of one source in a period. */
export interface CoverageReceipt {
  type?: "coverage" | (string & {});
  source_id: string;
  url?: string;
  url_sha256?: string;
  from: string;
  to: string;
  says: string;
  looks: number;
  answered: number;
  outcomes: Record<string, number>;
  versions: number;
  first_answered_at: string | null;
  last_answered_at: string | null;
  longest_gap: LongestGap | null;
  unknown_seconds: number;
  unknown: Array<UnknownTime>;
  not_running_seconds: number;
  first_event_id: string | null;
  last_event_id: string | null;
  events_since: string | null;
  signed_at?: string;
  key_id?: string;
  signature?: string;
}

/** A crash, by the first line of its error. */
export interface CrashSeen {
  at: string;
  error: string;
}

/**
 * A value that stands on the page, as it was last told. `text`: as it is written there. `value`: its digits, a
 * date (YYYY-MM-DD, YYYY-MM or MM-DD), a version's numbers, or a state such as `in_stock`; `number` is it without
 * the point, of what is a number. `label`, `path` and `unit` are those of an event that tells a change of it.
 * `since`: from when on it is known to stand there so.
 */
export interface CurrentValue {
  type: "availability" | "date" | "money" | "number" | "percent" | "time" | "version" | (string & {});
  text: string;
  value: string;
  label: string;
  path: string;
  unit: string;
  since: string;
  number?: number | null;
  scale?: number;
}

/** Rows from `start` on, of `total`: who fails first, then who has most waiting. */
export interface DeliveriesPage {
  total: number;
  start: number;
  rows: Array<DeliveryRow>;
}

/**
 * One attempt. `webhook_id` is the event's id, or a digest's own. `response_excerpt`: the first 1 KiB of what the
 * receiver said, control characters escaped.
 */
export interface DeliveryRecord {
  webhook_id: string;
  attempt: number;
  result: "given_up" | "retry" | "sent" | (string & {});
  at: string;
  status_code: number | null;
  latency_ms: number;
  error: string | null;
  next_attempt_at: string | null;
  response_excerpt: string;
}

/**
 * How one destination stands. waiting: deliveries that wait or are under way; oldest: since when the first does.
 * next: when the next one is due, null when nothing waits or all that does is under way.
 */
export interface DeliveryRow {
  id: string;
  alert_id: string;
  label: string;
  url: string;
  delivery_mode: "15min" | "daily" | "hourly" | "instant" | (string & {});
  state: "active" | "disabled" | "failing" | "paused" | (string & {});
  failing_since: string | null;
  waiting: number;
  oldest: string | null;
  next: string | null;
  /** Of its newest 100 attempts */
  failure_rate: number;
  last: LastAttempt | null;
}

/** A change in reading order, from which the new text can be rebuilt from the old. */
export interface Delta {
  ops: Array<Op>;
  stats: DeltaStats;
  truncated?: boolean;
  v?: number;
  granularity?: "paragraph" | (string & {});
}

/** Paragraph counts of a delta. */
export interface DeltaStats {
  added: number;
  removed: number;
  changed: number;
  unchanged: number;
}

/** A kind of destination, and what it asks for. `where`: how to get that. `signed`: its deliveries have a secret. */
export interface DestinationKindRecord {
  kind: string;
  label: string;
  family: "chat" | "mail" | "on-call" | "phone" | "program" | (string & {});
  where: string;
  documentation: string;
  address: AddressWanted;
  options: Array<OptionWanted>;
  signed: boolean;
}

/**
 * What to change; null takes the `quiet_hours` and `managed` away, and declines the replay that `replay_from`
 * offers. `options` that are not named stay; null takes one away. `enabled: true` also brings one back that was
 * disabled for its failures.
 */
export interface DestinationPatch {
  /** Public https */
  url?: string;
  /** What the kind asks for, by name; private values are sealed and never shown again */
  options?: Record<string, string | null>;
  delivery_mode?: "15min" | "daily" | "hourly" | "instant";
  label?: string;
  /** The hour at which a daily digest's window ends */
  digest_hour?: number;
  /** IANA time zone */
  digest_timezone?: string;
  enabled?: boolean;
  quiet_hours?: QuietHours | null;
  /** The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2) */
  format?: "cloudevents" | "event";
  /** More events than this that wait at once become one digest; 0: none do */
  most_at_once?: number;
  /**
   * A signing secret of your own, `whsec_` and base64 of 24 to 64 random bytes; the one before it signs for 24
   * hours more. Never shown again
   */
  secret?: string;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  replay_from?: null;
}

/**
 * A destination. `enabled`: what somebody wished; `state` is `disabled` also when it was given up (410, five days
 * of failures), and `PATCH {"enabled": true}` brings it back. `url`: what may be seen of its address, where that
 * lets somebody in. `options`: what its kind asked for; `private` names the values that are sealed.
 * `failure_rate`: of its newest 100 attempts; `error_rate` is its twin. `duplicate_rate`: the share of its
 * deliveries that had, or may have, arrived before. `replay_from`: after this there may be matches that it was
 * never given; replay takes it as `since`. `needs_secret`: nobody knows its secret, as it came here without it
 * (with an import, say), and it is paused until a new one is made.
 */
export interface DestinationRecord {
  id: string;
  alert_id: string;
  kind: string;
  url: string;
  options: Record<string, string>;
  private: Array<string>;
  delivery_mode: "15min" | "daily" | "hourly" | "instant" | (string & {});
  label: string;
  digest_hour: number;
  digest_timezone: string;
  quiet_hours: QuietHours | null;
  enabled: boolean;
  state: "active" | "disabled" | "failing" | (string & {});
  created_at: string;
  updated_at: string;
  last_delivery_at: string | null;
  failure_rate: number;
  error_rate: number;
  duplicate_rate: number;
  replay_from: string | null;
  /** The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2) */
  format: "cloudevents" | "event" | (string & {});
  most_at_once: number;
  /** What its ETag says, for If-Match */
  revision: string;
  /** Who set something of it last: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
  needs_secret?: boolean;
  needs_agreement?: boolean;
  in_use_by_alert_count?: number;
}

/**
 * A destination and its newest signing secret, which is shown this once; absent for a kind that signs nothing.
 * `invited`: how the question went, where who is told has to agree first.
 */
export interface DestinationWithSecret {
  id: string;
  alert_id: string;
  kind: string;
  url: string;
  options: Record<string, string>;
  private: Array<string>;
  delivery_mode: "15min" | "daily" | "hourly" | "instant" | (string & {});
  label: string;
  digest_hour: number;
  digest_timezone: string;
  quiet_hours: QuietHours | null;
  enabled: boolean;
  state: "active" | "disabled" | "failing" | (string & {});
  created_at: string;
  updated_at: string;
  last_delivery_at: string | null;
  failure_rate: number;
  error_rate: number;
  duplicate_rate: number;
  replay_from: string | null;
  /** The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2) */
  format: "cloudevents" | "event" | (string & {});
  most_at_once: number;
  /** What its ETag says, for If-Match */
  revision: string;
  /** Who set something of it last: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
  needs_secret?: boolean;
  needs_agreement?: boolean;
  in_use_by_alert_count?: number;
  secret?: string;
  invited?: TestAnswer;
}

/** The actors of destinations that are neither paused nor disabled. */
export interface Destinations {
  total: number;
  running: number;
  backoff: number;
  quarantined: number;
}

/**
 * The answer to a detection. `source_id`: the source that watches this URL already. `final_url`: where the look
 * was led, with what its query calls a token, a key or the like hidden. `supported` and `discovered_feed_url` are
 * twins.
 */
export interface DetectAnswer {
  url: string;
  type: "feed" | "html" | "push" | (string & {});
  confidence: "high" | "low" | "medium" | (string & {});
  evidence: string;
  final_url: string;
  content_type: string;
  feed_url: string | null;
  supported: boolean;
  discovered_feed_url: string | null;
  source_id: string | null;
  preview: Preview;
}

/**
 * A URL to classify, and how it would be watched: the fields mean what they do in POST /v1/sources. `tags`: it is
 * shown with what it would have of their defaults.
 */
export interface DetectRequest {
  /** http, https, ws or wss */
  url: string;
  type?: "feed" | "html" | "push" | null;
  selector?: string | null;
  /** Selectors of what not to watch. Default: [] */
  ignore?: Array<string>;
  filter?: string | null;
  headers?: string | null;
  /**
   * Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
   * rendered look costs 100 plain ones; feeds are never rendered. Default: "auto"
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: [] */
  tags?: Array<string>;
  /**
   * The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
   * own parts are left out. Default: []
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
}

/**
 * What a URL was found to be; `evidence` is a sentence that a person can check. `pending`: it has yet to answer,
 * and the rest is a guess. `forced`: its owner said what it is, and it looked like something else. `final_url`:
 * where the look was led; if it is not the source's own address, what its query calls a token, a key or the like
 * is hidden.
 */
export interface Detected {
  type: "feed" | "html" | "push" | (string & {});
  confidence: "high" | "low" | "medium" | (string & {});
  evidence: string;
  final_url: string;
  content_type: string;
  feed_url: string | null;
  pending?: boolean;
  forced?: boolean;
}

/** What a reader wants to see of a page's change. `context` is absent where nothing is known of any text. */
export interface Diff {
  /** Texts that came. */
  added: Array<string>;
  /** Texts that went. */
  removed: Array<string>;
  /** Texts that were altered. */
  changed: Array<Change>;
  /** True when the difference is longer than what is shown of it. */
  truncated?: boolean;
  /** Where the texts of `added` and `removed` stand; absent where nothing is known. */
  context?: Contexts;
}

/**
 * A piece of a text of the event's `diff`: of `added[index]`, `removed[index]`, or a side of `changed[index]`.
 * `start` and the marks are counted in that text.
 */
export interface DiffExcerpt {
  part: "added" | "after" | "before" | "removed" | (string & {});
  index: number;
  start: number;
  text: string;
  marks: Array<[number, number]>;
}

/** The events of a window of time, in the order of the log; at most 500, more come in another digest. */
export interface Digest {
  id: string;
  destination_id: string;
  alert_id: string;
  delivery_mode: "15min" | "daily" | "hourly" | "instant" | (string & {});
  window_start: string;
  window_end: string;
  count: number;
  events: Array<Event>;
}

/** What was done, or was begun and goes on. */
export interface Done {
  done: string;
  path: string;
}

/**
 * An event as it would be emitted, `content` cut to 500 characters. `identity`: what tells it from others (guid,
 * link, hash, or two of them). `told` is false for a push source's frame that neither an alert nor `filter` wants.
 */
export interface DraftEvent {
  title: string;
  url: string;
  author: string;
  content: string;
  published_at: string | null;
  tags: Array<string>;
  identity: string;
  told: boolean;
}

/** The settings that hold for a source: its own, and what it inherits of its tags. */
export interface EffectiveSettings {
  schedule: string | null;
  hours: string | null;
  bar: number | null;
  selector: string | null;
  ignore: Array<string>;
}

/** The wire form of an event: every field of the contract, in the order that people read them. */
export interface Event {
  /** Where this schema is served. */
  "$schema": string;
  /**
   * A UUIDv7, increasing in the order of the log: the key to know repetitions by, the cursor for `since` and
   * `Last-Event-ID`, and the `webhook-id` of its delivery.
   */
  id: string;
  /** The source that it is from. */
  source_id: string;
  /** That source's tier. */
  source_type: "feed" | "html" | "push" | (string & {});
  /** The URL that is watched. */
  source_url: string;
  /** The URL of what is new. */
  url: string;
  /** Plain text; "" when there is none. */
  title: string;
  /**
   * The event in one line of plain text, at most 140 characters, never empty: of a page the heaviest change with
   * its context, of others the title or the beginning of the content. Absent before version 1.1.
   */
  summary?: string;
  /** Plain text; "" when there is none. */
  author: string;
  /** The main text, at most 64 KiB of UTF-8; of a changed page with every text that the difference shows of it. */
  content: string;
  /** True when `content` was cut; else absent. */
  content_truncated?: boolean;
  /** SHA-256 of the whole content, NFC-normalised, before it was cut. */
  content_hash: string;
  /** A similarity hash of 53 bits: few bits differ between like texts. */
  simhash: number;
  /** Each `<namespace>:<value>`. */
  tags: Array<string>;
  /** The source's own word for when, or null. */
  published_at: string | null;
  /** When the look was made that found it. */
  fetched_at: string;
  /** When it was put into the log; the time in its `id`. */
  emitted_at: string;
  /**
   * 1. A field may be added without a new number; ignore what you do not know. What was added when says the
   * `x-version` of this schema.
   */
  schema_version: number;
  /** Of a page's change only: what was added, removed and changed, to be read. */
  diff?: Diff;
  /** Of a page's change only: the steps from the old text to the new one. */
  delta?: Delta;
  /**
   * What changed, by kind, with its values: of a page all that differs, of an entry or a frame the values that it
   * names. Absent where nothing is known, and before version 1.2.
   */
  changes?: Array<TypedChange>;
  /**
   * Of a source that follows: why the item's own page was not read, in a sentence. `content` is then what the
   * list, or the feed, says of the item. Absent where the page was read.
   */
  unread?: string;
  /** Of the service's own notices only, such as `source_quiet`. */
  alert_type?: string;
  /** Of a heartbeat (`alert_type` is `heartbeat`) only: what it says. */
  heartbeat?: Heartbeat;
  /**
   * The `id` of the first event that told the same: the same link, or nearly the same text, in another source
   * within a week; its own where it is the first. Absent in notices, and before version 1.5.
   */
  story?: string;
  /** When it was signed. */
  signed_at?: string;
  /** The RFC 7638 thumbprint of its key in `/.well-known/jwks.json`. */
  key_id?: string;
  /** Ed25519 over the RFC 8785 form of the event without this field, in base64url without padding. */
  signature?: string;
}

/**
 * Why an event was emitted: `says` is it in a sentence or two, the rest is what that was made of. `noted`: the
 * note of its look is still kept; without it `score`, `bar`, `identity`, `weighed` and `withheld` are empty.
 * `compared_with`: when the state was seen that the look was compared with; null when it is no longer known.
 * `alerts_once`: the alerts that match it, and had its story from another event.
 */
export interface EventWhy {
  id: string;
  source_id: string;
  source_type: "feed" | "html" | "push" | (string & {});
  kind: "edited_entry" | "frame" | "new_entry" | "new_item" | "notice" | "page" | (string & {});
  says: string;
  noted: boolean;
  compared_with: string | null;
  compared_with_event: string | null;
  score: number | null;
  bar: number | null;
  identity: string | null;
  weighed: Array<LookPart>;
  withheld: Array<LookPart>;
  alerts: AlertsMatched;
  alerts_once: AlertsMatched;
}

/** A page of history. `window_from`: where the window really began, later than asked when retention clamped it. */
export interface EventsPage {
  events: Array<Event>;
  next_cursor: string | null;
  window_from: string;
  retention_clamped: boolean;
}

/** Where the same events are, one address for each format. Who knows one may read. */
export interface FeedAddresses {
  atom: string;
  rss: string;
  json: string;
}

/**
 * A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them.
 * `undated`: entries without a readable date. `identities`: how many entries are told apart by what. `backfill`:
 * how many the largest backfill would emit. `damaged`: ill-formed, and recovered. `hubs` (WebSub) and `paging`
 * (RFC 5005) are read, not followed.
 */
export interface FeedPreview {
  title: string;
  format: string;
  url: string;
  entries: number;
  undated: number;
  identities: Record<string, number>;
  newest: Array<DraftEvent>;
  backfill: number;
  damaged: boolean;
  hubs: Array<string>;
  paging: Record<string, string>;
}

/** What a user says of an event. */
export interface Feedback {
  verdict: "noise" | "real";
}

/** One place that is wrong: place, reason and found value. */
export interface FieldError {
  /** Where: `body.tags[1]`, `query.limit`, `header.Last-Event-ID`, or a part's name. */
  location: string;
  /** Why. */
  message: string;
  /** What was there, cut to 200 characters. */
  value?: unknown;
}

/** JSON that filled the page while a browser showed it, and its `size` in bytes: to watch `url` is a plain look. */
export interface FilledBy {
  url: string;
  size: number;
}

/** One of the things that a score is made of: the part of it that is left (1: it costs nothing), and why. */
export interface HealthSeen {
  cause: "none" | "partial" | "reach" | "stuck" | "yield" | (string & {});
  left: number;
  says: string;
}

/**
 * What a heartbeat says: that the service did its work at that moment, and had the log up to there. number: of the
 * heartbeats in this log, from 1. due_at: when it was due by the service's clock. before: the id of the heartbeat
 * before it. head: of the newest event before it, of whatever kind. looks: that ended since `looks_since`, when
 * the process that writes this wrote the one before, or began. watched, failing, paused: sources.
 */
export interface Heartbeat {
  /** Counts the heartbeats of this log; one that is left out is missing. */
  number: number;
  /** How often one is due: when none has come for two of these, the service or the way to you has failed. */
  every_seconds: number;
  /** When it was due by the service's clock. */
  due_at: string;
  /** The id of the heartbeat before it; null for the first. */
  before: string | null;
  /** The id of the newest event before it: the log reaches up to there. */
  head: string | null;
  /** When the process that wrote it began. */
  running_since: string;
  /** Looks at feeds and pages that ended since `looks_since`, at the node that wrote it. */
  looks: number;
  /** When that process wrote the heartbeat before, or began if that is later. */
  looks_since: string;
  /** Sources that are watched. */
  watched: number;
  /** Of these, those that fail, or rest after failures. */
  failing: number;
  /** Sources that a person has paused. */
  paused: number;
}

/** What the log holds of a source: events, and about how many bytes they take. */
export interface HeldEvents {
  events: number;
  bytes: number;
}

/**
 * A selector tried on the earlier `versions` of a page that have the block, 10 at most: in how many it chooses the
 * `same` place, and in how many `nothing`; in the others another place. `since`: when the oldest of them began. Of
 * an earlier version its texts are kept. The page as it is now is given these, so another design is not noticed.
 */
export interface HeldVersions {
  versions: number;
  same: number;
  nothing: number;
  since: string;
}

/** Where the terms stand, in Unicode code points; no text here is HTML. `diff`: in what came and what went. */
export interface Highlights {
  title: Array<[number, number]>;
  content: Array<ContentExcerpt>;
  diff?: Array<DiffExcerpt>;
}

/** How many elements one of `ignore` takes out. */
export interface Ignored {
  selector: string;
  elements: number;
}

/** What to fill in, whether the suggested alerts are made too, and which of the sources are meant. */
export interface Instantiation {
  /** An array of strings for each parameter; left out for a template without parameters. Default: {} */
  params?: Record<string, Array<string>>;
  /** Default: false */
  alerts?: boolean;
  only?: Array<string> | null;
}

/**
 * What a choice keeps, read as a look would: the first 100 `texts` of `count`. `digest` changes when something
 * else is kept; figures that run do not change it. `items`: how many it has, read as a list (`follow`).
 */
export interface KeptBlocks {
  selector: string | null;
  ignore: Array<string>;
  texts: Array<string>;
  count: number;
  digest: string;
  items: number;
}

/**
 * A version of a page. `version`: the id of the event that told it; `start` is what stood there before the oldest
 * change, `now` what is watched now without an event. `kept`: all watched texts (`whole`), the `main_text` that
 * its event carries, or only a `part`.
 */
export interface KeptVersion {
  version: string;
  at: string | null;
  event_id: string | null;
  says: string;
  kept: "main_text" | "part" | "whole" | (string & {});
}

/** An API key without what lets in. `prefix`: its first characters. `streams`: those it has open at this node. */
export interface KeySeen {
  id: string;
  name: string;
  prefix: string;
  scopes: Array<string>;
  rate_per_minute: number;
  burst: number;
  created_at: string;
  last_used_at: string | null;
  streams: number;
}

/** All API keys, newest first. */
export interface KeysSeen {
  keys: Array<KeySeen>;
}

/**
 * One thing that is known, as a sentence. `kind`: told, withheld (seen and not told), due (there now, and the next
 * look weighs it), failed (it could not be read now), known (there now, and no news), furniture, outside (of what
 * is watched), there (at the first look), absent, unasked (a frame that nobody asked for), look (how one went).
 * `text`: the block or entry it is about.
 */
export interface KnownReason {
  kind: "absent" | "due" | "failed" | "furniture" | "known" | "look" | "outside" | "there" | "told" | "unasked" | "withheld" | (string & {});
  says: string;
  at: string | null;
  event_id: string | null;
  text: string;
}

/** The newest attempt at a destination. `error`: one line of plain text. */
export interface LastAttempt {
  at: string;
  result: "given_up" | "retry" | "sent" | (string & {});
  status: number | null;
  latency_ms: number;
  error: string | null;
}

/** What makes the next request conditional, as the last answer gave it, and the hash of its body. */
export interface LastValidators {
  etag: string | null;
  last_modified: string | null;
  body_hash: string | null;
}

/** What was learned; `noise_count` as in the source's record. */
export interface Lesson {
  event_id: string;
  source_id: string;
  verdict: "noise" | "real" | (string & {});
  noise_count: number;
  says: string;
}

/** An item of a list: what the list calls it, and where it leads. */
export interface ListedItem {
  title: string;
  url: string;
}

/** A line as it was written, with a number of its own. */
export interface LogLine {
  number: number;
  ts: string;
  level: string;
  event: string;
  actor: string;
  fields: Record<string, unknown>;
}

/** The newest lines, oldest first, and the number to go on after. */
export interface LogPage {
  last: number;
  lines: Array<LogLine>;
}

/** The longest known time without an answered check; an hour at the edge of a known period may lengthen it. */
export interface LongestGap {
  from: string;
  to: string;
  seconds: number;
}

/**
 * A look whose body changed, in words. `compared_with`: the look that it was compared with. `verdict`: told,
 * baseline (the first look), churn (nothing in it was news), held (a doubt that the next look settles, or most of
 * a feed new at once), failed (not the page itself), stretch (a time of listening to a push source, up to
 * `until`). A page is told when `score` reaches `bar`. `counts` are numbers of entries or frames.
 */
export interface LookNote {
  at: string;
  verdict: "baseline" | "churn" | "failed" | "held" | "stretch" | "told" | (string & {});
  reason: string;
  compared_with: string | null;
  score: number | null;
  bar: number | null;
  withheld: Array<LookPart>;
  told: Array<LookPart>;
  counts: Record<string, number>;
  until: string | null;
}

/**
 * A block of a page or an entry of a feed: whether it came or went, whether it was told, and by which rule. `text`
 * is its beginning; `key` the block's key or the entry's identity; `score` what a block weighed.
 */
export interface LookPart {
  text: string;
  rule: string;
  key: string;
  came: boolean;
  told: boolean;
  score: number;
}

/** Looks a second in the last half minute, beside the setting `looks_per_second`. `says`: empty while it is kept. */
export interface LookRate {
  per_second: number;
  budget: number;
  /** How long more looks than the budget are made; 0 while it is kept */
  passed_for_s: number;
  says?: string;
}

/** `looks` looks that went alike, the last of them at `at`. `bytes`: of the last one's body. */
export interface LookSeen {
  at: string;
  verdict: string;
  looks: number;
  status: number | null;
  bytes: number;
  ms: number;
}

/** The last 200 looks at a source, and notes of those whose body changed (the newest 40 at most); newest first. */
export interface LookTrail {
  id: string;
  looks: Array<Looks>;
  notes: Array<LookNote>;
  validators: LastValidators;
}

/**
 * Looks that went alike, from the first to the last of them; `bytes` (on the wire) and `ms` are of the last.
 * `verdict`: unchanged, changed (something was told), nothing_to_tell (the body changed, but not what matters), or
 * why it failed: remote_transient, throttled, remote_permanent, content, local.
 */
export interface Looks {
  first_at: string;
  last_at: string;
  looks: number;
  status: number | null;
  bytes: number;
  ms: number;
  verdict: string;
}

/** A mailbox: how many wait, how many may, how many were taken in all, and how often it was met full. */
export interface MailboxSeen {
  depth: number;
  bound: number;
  received: number;
  full: number;
}

/** A record is described by files, and changed by `sanderling apply`. */
export interface Managed {
  /** The name of the folder of files; no two folders have the same */
  workspace: string;
  /** What the files call it */
  name: string;
  /**
   * What the files set when they were applied last, as `field=digest` with spaces between; none of it is of a
   * secret. Default: ""
   */
  applied?: string;
}

/** How far the matcher is behind the log: events, and the age of the oldest. `says`: empty while that is short. */
export interface Matching {
  behind: number;
  seconds: number;
  says?: string;
}

/** The messages of an event and of a digest. */
export interface MessagePreview {
  dialect: "card" | "html" | "jinja" | "markdown" | "plain" | "slack" | "telegram" | (string & {});
  messages: Array<ShownMessage>;
}

/**
 * Templates as the `options` of a destination would have them; "" stands for the usual title or text. `alert_id`:
 * whose newest matches are told; null takes the newest events of all. `language`: of our own words, as a
 * destination's option; "" stands for the service's.
 */
export interface MessagePreviewRequest {
  /** A kind of GET /v1/destination-kinds; a webhook without this */
  kind: string;
  /** Default: "" */
  message?: string;
  /** Default: "" */
  message_title?: string;
  alert_id?: string | null;
  /** Default: "" */
  language?: string;
}

/** Between these two times, of the events' ids. Feeds and pages are found again, frames of WebSockets are not. */
export interface MissingEvents {
  after: string;
  until: string;
}

/**
 * A standing query. `anomaly_enabled` can't be true yet. `default_destinations`: it gets a copy of each
 * destination that its tags have as defaults.
 */
export interface NewAlert {
  /** Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything */
  filter_query: string;
  /** ISO 639-1, or simple for no stemming. Default: "en" */
  language?: string;
  /** Events of these sources; with neither these nor `tags`, of all. Default: [] */
  source_ids?: Array<string>;
  /** Events with any of these tags, also of sources that are added later; beside `source_ids`. Default: [] */
  tags?: Array<string>;
  name?: string | null;
  channel?: string | null;
  /** Default: true */
  enabled?: boolean;
  /**
   * The service's own notices that it asks for. Default:
   * ["source_quiet","source_recovered","source_failing","source_reset","source_moved"]
   */
  notices?: Array<"destination_disabled" | "destination_failing" | "heartbeat" | "source_failing" | "source_moved" | "source_quiet" | "source_recovered" | "source_reset" | "storage_damaged" | "watching_stalled">;
  /** Seconds after which a trouble is told. Default: 3600 */
  notice_after?: number;
  /** Default: false */
  anomaly_enabled?: boolean;
  /**
   * What of a page's event the query is held against: title, what came and what went (`change`), what came
   * (`added`), what went (`removed`), or title and content (`page`). Feeds and push: always the latter. Default:
   * "change"
   */
  match?: "added" | "change" | "page" | "removed";
  /**
   * Of events that tell the same (`story`), only the first it matches goes to its destinations; null: where it is
   * over several sources
   */
  once_per_story?: boolean | null;
  /** Default: true */
  default_destinations?: boolean;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  /**
   * Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
   * ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and so
   * does an alert that was made before the source was private. Default: []
   */
  private_source_ids?: Array<string>;
}

/**
 * Where an alert's matches are delivered. `label`: else the URL's host and the alert's name. `url` may be left out
 * for a kind that has one address for everybody.
 */
export interface NewDestination {
  /** Public https */
  url?: string;
  /** A kind of GET /v1/destination-kinds; a webhook without this. Default: "webhook" */
  kind?: string;
  /** What the kind asks for, by name; private values are sealed and never shown again. Default: {} */
  options?: Record<string, string | null>;
  /** Default: "instant" */
  delivery_mode?: "15min" | "daily" | "hourly" | "instant";
  label?: string | null;
  /** The hour at which a daily digest's window ends. Default: 8 */
  digest_hour?: number;
  /** IANA time zone. Default: "UTC" */
  digest_timezone?: string;
  /** Default: true */
  enabled?: boolean;
  quiet_hours?: QuietHours | null;
  /** The body: the `event` or digest itself, or in an envelope (`cloudevents`, 1.0.2). Default: "event" */
  format?: "cloudevents" | "event";
  /** More events than this that wait at once become one digest; 0: none do */
  most_at_once?: number;
  /**
   * A signing secret of your own, `whsec_` and base64 of 24 to 64 random bytes; the one before it signs for 24
   * hours more. Never shown again
   */
  secret?: string;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/** Events to be published: those that meet all that is named. Naming nothing publishes all that sources tell. */
export interface NewPublication {
  /** What readers call it */
  title: string;
  /** Events of any of these sources. Default: [] */
  source_ids?: Array<string>;
  /** Events with any of these tags. Default: [] */
  tags?: Array<string>;
  channel?: string | null;
  /** What any of these alerts matches. Default: [] */
  alert_ids?: Array<string>;
  /**
   * Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
   * ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and so
   * does an alert that was made before the source was private. Default: []
   */
  private_source_ids?: Array<string>;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/**
 * A URL to watch. `type` overrides detection. `backfill`: how many of a feed's newest entries to emit at once.
 * `verify`: with `later`, a URL that can't be reached now is added, too, and found out when it answers.
 */
export interface NewSource {
  /** http, https, ws or wss */
  url: string;
  type?: "feed" | "html" | "push" | null;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: [] */
  tags?: Array<string>;
  selector?: string | null;
  /** Selectors of what not to watch. Default: [] */
  ignore?: Array<string>;
  schedule?: string | null;
  hours?: string | null;
  /** Default: 0 */
  backfill?: number;
  filter?: string | null;
  bar?: number | null;
  /** What a push source's handshake offers, best first. Default: [] */
  subprotocols?: Array<string>;
  hello?: string | Array<string> | null;
  /**
   * Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern stands for any characters, and in
   * the text for the same ones. A frame that is answered is no event. Default: []
   */
  replies?: Array<string>;
  headers?: string | null;
  /**
   * Where the headers are sent for other sources that have none of their own: hosts, or `*.` and what lies below
   * it, over https and wss. Once one is named, the URL's own origin is, too. Default: []
   */
  headers_for?: Array<string>;
  /**
   * `new_links`: each new item of a list page, each new address of a sitemap and each new entry of a feed is told
   * once, with the text of its own page. A page is then read as a list: other changes of it are not told. Default:
   * "none"
   */
  follow?: "new_links" | "none";
  /**
   * Other hosts whose pages `follow` fetches, too, each with what lies below it; `*` is every host. Links to
   * others are told without the text of their page. `headers` never go there. Default: []
   */
  follow_hosts?: Array<string>;
  /**
   * The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
   * own parts are left out. Default: []
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
  /**
   * Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
   * rendered look costs 100 plain ones; feeds are never rendered. Default: "auto"
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /**
   * Whether a picture of the page is kept with each change, and of the first look, while a browser shows it; for
   * as long as `screenshot_days` says. Default: false
   */
  screenshots?: boolean;
  /** Your own name for it, of one line. Default: "" */
  title?: string;
  /** Default: true */
  enabled?: boolean;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  /** Default: "now" */
  verify?: "later" | "now";
}

/** `add_destination`: a path below /v1, of the first alert; null without one. `stream`: where the events are. */
export interface NextSteps {
  add_destination: string | null;
  stream: string;
}

/** One of the nodes on one database, as it was at its last beat. */
export interface Node {
  /** Its name, and chance that is new at each start */
  name: string;
  /** Whether it is the one that answers */
  this: boolean;
  /** Whether sources and destinations may be its own */
  inside: boolean;
  version: string;
  url: string;
  /** Sources that it watches */
  sources: number;
  overdue: number;
  streams: number;
  /** `web`: it answers requests and streams, and watches nothing */
  role?: "all" | "web" | (string & {});
  /** Events that its readers had seen, and that a failover of PostgreSQL took */
  missing?: MissingEvents | null;
}

/**
 * One step from the old text to the new; `para` counts old paragraphs for delete, new ones else, from 0. `context`
 * is where the text stands that it names, for "replace" the new one.
 */
export interface Op {
  op: "delete" | "insert" | "replace" | (string & {});
  para: number;
  text?: string;
  before?: string;
  after?: string;
  /** Where its text stands, for `replace` the new one. */
  context?: Context;
}

/**
 * One of the `options` of a kind. `many`: several values with commas between. `matches`: a regular expression of
 * the whole value.
 */
export interface OptionWanted {
  name: string;
  label: string;
  help: string;
  example: string;
  private: boolean;
  required: boolean;
  many: boolean;
  lines: boolean;
  matches: string;
  default: string;
}

/**
 * The figures of the whole. `failing`: part to sentence, empty when all is well. queues: messages that wait in the
 * mailboxes of the fixed parts. totals: counted since `started_at`; two answers give a rate.
 */
export interface Overview {
  at: string;
  started_at: string;
  version: string;
  /** The service's address, as clients see it */
  url: string;
  /** Where programs on its own machine reach it */
  local_url: string;
  ready: boolean;
  /** Looks are not made until `resume` */
  draining: boolean;
  failing: Record<string, string>;
  sources: Sources;
  destinations: Destinations;
  matching: Matching;
  /** The id of the newest event */
  newest_event: string | null;
  queues: Record<string, number>;
  streams: number;
  looks: LookRate;
  /** How late the loop came to its work at the last measurement */
  loop_lag_s: number;
  totals: Record<string, number>;
  /** The nodes that share the database; empty where there is one alone */
  nodes: Array<Node>;
  /** The copy that is kept for a standby; null where none is kept */
  replica?: Replica | null;
}

/** When the second look would be, and what the origin says of its pace; hours and days (0 is Monday) in UTC. */
export interface PacePreview {
  interval_s: number;
  next_look_at: string;
  max_age_s: number;
  ttl_s: number;
  skip_hours: Array<number>;
  skip_days: Array<number>;
}

/**
 * A block: `number` counts from 0, by `mark` it is known again. `text` is cut at 2,000 of `length` characters.
 * `heading` is the one above it, `row` and `column` are of its table. `why`: furniture or control when it is left
 * out of a page that is watched as a whole. `watched`: by the choice of the request. `selector` chooses this block
 * alone if anything does, "" where nothing can. `item`: it leads to an item of the list (`follow`). `cells`: of a
 * row of CSV, each of which can be pressed alone.
 */
export interface PageBlock {
  number: number;
  mark: string;
  text: string;
  length: number;
  kind: "cell" | "control" | "heading" | "item" | "text" | (string & {});
  heading: string;
  row: string;
  column: string;
  why: string;
  watched: boolean;
  selector: string;
  item: boolean;
  values: Array<BlockValue>;
  cells?: Array<BlockCell>;
}

/**
 * A page to choose from: `blocks` are 100 at most from `first` on, of the `found` that have the words, of `total`.
 * `no_parts`: why a part of this document can't be chosen, "" where it can. `now`: what the present choice keeps,
 * null where that is nothing. `choice`: null unless a block was pressed; `gone`: the one that was is not there any
 * more. `part`: the choice with what tags say of it. `listed`: items of the page, read as a list. `partial`: the
 * page is longer than what is read.
 */
export interface PageBlocks {
  fetched_at: string;
  title: string;
  format: string;
  total: number;
  found: number;
  first: number;
  blocks: Array<PageBlock>;
  no_parts: string;
  now: KeptBlocks | null;
  choice: BlockChoice | null;
  gone: boolean;
  listed: number;
  part: ShownPart;
  partial: boolean;
}

/**
 * A page: its first 40 blocks, and how many of all blocks are watched and left out. `listed`: how many items it
 * has when it is read as a list (`follow`); `items` are the first 20. `matched`: how many elements `selector`
 * keeps, null without one. `partial`: the page is longer than what is read.
 */
export interface PagePreview {
  title: string;
  author: string;
  published_at: string | null;
  content: string;
  blocks: Array<PreviewBlock>;
  watched: number;
  left_out: number;
  matched: number | null;
  ignored: Array<Ignored>;
  partial: boolean;
  listed?: number;
  items?: Array<ListedItem>;
}

/** What was changed, as a sentence; the event that tells of it comes on `stream` within seconds. */
export interface PracticeChange {
  what: "feed" | "page" | (string & {});
  says: string;
  source: SourceRecord;
  stream: string;
}

/** A practice document and the source that watches it. `changes`: how often it was changed. */
export interface PracticeRecord {
  what: "feed" | "page" | (string & {});
  changes: number;
  source: SourceRecord;
}

/**
 * A block of an earlier answer, by its `number` and `mark`, and what choosing it is to do. `cell`: one of its
 * `cells`, by its number; 0 for the block itself.
 */
export interface PressedBlock {
  number: number;
  mark: string;
  /** `only` this; this `also`, beside what `selector` chooses; all `without` this. Default: "only" */
  act?: "also" | "only" | "without";
  /** `this` block alone; all that are `like` it; the `part` of the page that it stands in. Default: "this" */
  reach?: "like" | "part" | "this";
  /** Default: 0 */
  cell?: number;
}

/** What a look at `fetched_at` would have told: one of `feed`, `page` and `push` is set. `part` is of a page. */
export interface Preview {
  fetched_at: string;
  feed: FeedPreview | null;
  page: PagePreview | null;
  push: PushPreview | null;
  pace: PacePreview | null;
  robots: RobotsVerdict | null;
  rendering: Rendering | null;
  part: ShownPart | null;
}

/** A paragraph, item, cell or heading. `why`: furniture or control when it is left out, else "". */
export interface PreviewBlock {
  text: string;
  watched: boolean;
  why: string;
}

/** A day (UTC): how many of its events were looked at, and how many of these match. */
export interface PreviewDay {
  day: string;
  looked_at: number;
  matches: number;
}

/** An event that matches. `matched`: which terms of the query are in it. */
export interface PreviewMatch {
  id: string;
  source_id: string;
  title: string;
  url: string;
  emitted_at: string;
  matched: Array<string>;
  highlights: Highlights;
}

/** Another part of the page to try out. What is left out is as it is in the source; null is the whole page. */
export interface PreviewRequest {
  selector?: string | null;
  /** Selectors of what not to watch */
  ignore?: Array<string>;
}

/** How many there would be of each. */
export interface PreviewSummary {
  new: number;
  existing: number;
  alerts_new: number;
  alerts_existing: number;
}

/** A word, prefix or phrase of the query, as it was understood, and in how many of the events it is. */
export interface PreviewTerm {
  text: string;
  events: number;
}

/** An alert that would be made, or the one that is there, as its owner may have changed it. */
export interface PreviewedAlert {
  name: string;
  status: "existing" | "new" | (string & {});
  alert_id: string | null;
  filter_query: string;
  language: string;
  channel: string | null;
  match: "added" | "change" | "page" | "removed" | (string & {});
}

/** A source that would be attached; `existing` ones are watched already. */
export interface PreviewedSource {
  url: string;
  status: "existing" | "new" | (string & {});
  source_id: string | null;
  type: "feed" | "html" | "push" | (string & {});
  tags: Array<string>;
}

/** An RFC 9457 problem document. */
export interface Problem {
  /** Where this schema is served. */
  "$schema": string;
  /** The kind of problem, and the page that explains it. */
  type: string;
  /** The kind in a few words, always the same. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What went wrong this time. */
  detail: string;
  /** The path of the request. */
  instance?: string;
  /** The places that are wrong. */
  errors?: Array<FieldError>;
}

/** What is to change of a publication; what is absent stays. */
export interface PublicationPatch {
  /** What readers call it */
  title?: string;
  /** Events of any of these sources */
  source_ids?: Array<string>;
  /** Events with any of these tags */
  tags?: Array<string>;
  channel?: string | null;
  /** What any of these alerts matches */
  alert_ids?: Array<string>;
  /**
   * Private sources that are in it, too. A source is `private` if it is checked with headers, its own or borrowed
   * ones, or in an opened network. Unless it is named here or in `source_ids`, a publication leaves it out, and so
   * does an alert that was made before the source was private
   */
  private_source_ids?: Array<string>;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/**
 * A publication. Who knows `url` may read it, as a page; `feeds` are the same for feed readers. Both are null
 * where this instance does not know the address, since its master key was lost: readers who have it go on, and a
 * new one can be made.
 */
export interface PublicationRecord {
  id: string;
  title: string;
  source_ids: Array<string>;
  tags: Array<string>;
  channel: string | null;
  alert_ids: Array<string>;
  private_source_ids: Array<string>;
  url: string | null;
  feeds: FeedAddresses | null;
  created_at: string;
  updated_at: string;
  /** What its ETag says, for If-Match */
  revision: string;
  /** Who set something of it last: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
}

/** The handshake, and the first frames of up to 3 seconds. `ended`: why the server closed meanwhile, if it did. */
export interface PushPreview {
  subprotocol: string | null;
  waited_s: number;
  received: number;
  frames: Array<DraftEvent>;
  ended: string | null;
}

/**
 * What a push source's connections have brought since the service started. `connected_since` null: none stands.
 * Each of the `frames` counts once more: as admitted, a duplicate, filtered (nobody wants it) or unreadable.
 */
export interface PushStatus {
  connected_since: string | null;
  subprotocol: string | null;
  connections: number;
  frames: number;
  admitted: number;
  duplicates: number;
  filtered: number;
  unreadable: number;
}

/** When instant deliveries wait: from a time of the named days to the next `to`, over midnight if it is earlier. */
export interface QuietHours {
  /** HH:MM */
  from: string;
  /** HH:MM */
  to: string;
  /** IANA time zone. Default: "UTC" */
  timezone?: string;
  /** The days on which it begins; without this, all of them. Default: ["mon","tue","wed","thu","fri","sat","sun"] */
  weekdays?: Array<"fri" | "mon" | "sat" | "sun" | "thu" | "tue" | "wed">;
}

/**
 * What browsers have to do with a page, in the words of `says`; null of one that is read as it is sent. `empty`:
 * by what the page shows that it is empty without JavaScript, "" when it was to be rendered anyway. `done`: what
 * is shown is the page as a browser showed it. `costs`: plain looks that a rendered one costs.
 */
export interface Rendering {
  says: string;
  empty: string;
  done: boolean;
  costs: number;
  filled_by: Array<FilledBy>;
}

/**
 * How many deliveries wait anew: those that wait already are not counted. `next_since`: where to go on when there
 * was more than one request may take.
 */
export interface ReplayAnswer {
  queued: number;
  next_since: string | null;
}

/**
 * What to deliver again: the matches after `since` and up to `until`, or events by their ids. Of an event's id,
 * `since` does not include the event itself, `until` does.
 */
export interface ReplayRequest {
  since?: string | null;
  until?: string | null;
  ids?: Array<string> | null;
}

/** How far the copy for a standby is. */
export interface Replica {
  place: string;
  /** All that was committed up to then is in it; null before any is */
  told_at: string | null;
  /** Bytes of the write-ahead log that are not in it yet */
  untold: number;
  /** What keeps it from going on; empty when all is well */
  says: string;
}

/** Sources: attached, already watched, failed; and how many of the failed because `max_sources` is reached. */
export interface ReportSummary {
  attached: number;
  already: number;
  failed: number;
  alerts_created: number;
  skipped_cap: number;
}

/** What became of a suggested alert. `source_count` 0: it is over the whole library, or was not made. */
export interface ReportedAlert {
  name: string;
  status: "created" | "exists" | "failed" | (string & {});
  alert_id: string | null;
  source_count: number;
  reason: string | null;
}

/** What became of a source. `reason`: why it failed, or what else to know. */
export interface ReportedSource {
  url: string;
  status: "attached_existing" | "attached_new" | "failed" | (string & {});
  source_id: string | null;
  detected_type: "feed" | "html" | "push" | (string & {}) | null;
  reason: string | null;
}

/** What robots.txt says about a page; it is not asked about feeds and WebSockets. */
export interface RobotsVerdict {
  allowed: boolean;
  crawl_delay_s: number | null;
  says: string;
}

/** Whether each value is the one that is sealed here, in the order of the request. What is not here has none. */
export interface SecretsAnswer {
  same: Array<boolean>;
}

/** Values to compare with those that are sealed here. */
export interface SecretsRequest {
  secrets: Array<SupposedSecret>;
}

/** The settings of a running service, by their names. A secret that is set is shown as asterisks. */
export interface SettingsSeen {
  settings: Record<string, unknown>;
}

/** What is sent, marked up as the service takes it. `failure`: why the template was not used for this event. */
export interface ShownMessage {
  /** The newest event, a digest of the newest, or a sample if there is none */
  of: "digest" | "event" | "sample" | (string & {});
  title: string;
  text: string;
  failure?: string;
}

/**
 * Which part of a page is shown: `selector` and `ignore` with what tags say of them. `inherited`: from which tags
 * each of them comes, where a tag has a say; what is not in it is the source's own.
 */
export interface ShownPart {
  selector: string | null;
  ignore: Array<string>;
  inherited: Record<string, Array<string>>;
}

/**
 * Both layers, as they were when the request came. `hmac` is checked with the secrets of this service's own
 * destinations that deliver to this bin, `ed25519` with this service's own keys.
 */
export interface SignatureCheck {
  hmac: Checked;
  ed25519: CheckedEvents;
}

/** What the storage takes: bytes in all, those of them that are free for new events, and its heaviest sources. */
export interface Sizes {
  bytes: number;
  free: number;
  sources: Array<SourceSize>;
}

/** Up to 20 URLs to watch. */
export interface SourceBatch {
  sources: Array<NewSource>;
}

/** What is to be shown of a watched page. What is left out of the choice is as it is in the source. */
export interface SourceBlocksRequest {
  selector?: string | null;
  /** Selectors of what not to watch */
  ignore?: Array<string>;
  /** How many of the blocks to skip; an answer has 100. Default: 0 */
  first?: number;
  /** Only blocks with all of these words. Default: "" */
  find?: string;
  press?: PressedBlock | null;
}

/** How a source is doing. Before the first success `last_success_at` is the time of creation. */
export interface SourceHealth {
  score: number;
  flag: "degraded" | "ok" | "rotten" | (string & {});
  reason: string;
  last_success_at: string;
  rank: number;
  last_checked_at: string | null;
}

/**
 * What to change; null empties `selector`, `schedule`, `hours`, `filter`, `bar`, `hello`, `headers`, `wait_for`
 * and `managed`. The URL is fixed.
 */
export interface SourcePatch {
  type?: "feed" | "html" | "push";
  enabled?: boolean;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>` */
  tags?: Array<string>;
  selector?: string | null;
  /** Selectors of what not to watch */
  ignore?: Array<string>;
  filter?: string | null;
  /** What a push source's handshake offers, best first */
  subprotocols?: Array<string>;
  hello?: string | Array<string> | null;
  /**
   * Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern stands for any characters, and in
   * the text for the same ones. A frame that is answered is no event
   */
  replies?: Array<string>;
  headers?: string | null;
  /**
   * Where the headers are sent for other sources that have none of their own: hosts, or `*.` and what lies below
   * it, over https and wss. Once one is named, the URL's own origin is, too
   */
  headers_for?: Array<string>;
  /**
   * Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
   * rendered look costs 100 plain ones; feeds are never rendered
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /**
   * Whether a picture of the page is kept with each change, and of the first look, while a browser shows it; for
   * as long as `screenshot_days` says
   */
  screenshots?: boolean;
  schedule?: string | null;
  hours?: string | null;
  bar?: number | null;
  /**
   * `new_links`: each new item of a list page, each new address of a sitemap and each new entry of a feed is told
   * once, with the text of its own page. A page is then read as a list: other changes of it are not told
   */
  follow?: "new_links" | "none";
  /**
   * Other hosts whose pages `follow` fetches, too, each with what lies below it; `*` is every host. Links to
   * others are told without the text of their page. `headers` never go there
   */
  follow_hosts?: Array<string>;
  /**
   * The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
   * own parts are left out
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
  /** Your own name for it, of one line */
  title?: string;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/**
 * A watched source. `title` is its owner's name for it, `found_title` what it calls itself. `noise_count`: how
 * many keys of blocks its owner's feedback has made noise. `state`: how it is now; `health` is its score over
 * days. `rendered`: what is known of it is a page as a browser showed it, so each of its looks costs 100 plain
 * ones. `headers_from`: the source with whose headers it is looked at, if not with its own. `private`: it is
 * checked with headers, or in an opened network, so publications leave it out until somebody includes it by name.
 * `schedule`, `hours`, `bar`, `selector` and `ignore` are its own; `effective` says what holds for it, and
 * `inherited` which of that comes from which of its tags (see PUT /v1/tags/{tag}); none of what `own_only` names.
 */
export interface SourceRecord {
  id: string;
  url: string;
  title: string;
  found_title: string;
  type: "feed" | "html" | "push" | (string & {});
  detected_type: "feed" | "html" | "push" | (string & {});
  detection: Detected;
  enabled: boolean;
  tags: Array<string>;
  selector: string | null;
  ignore: Array<string>;
  filter: string | null;
  subprotocols: Array<string>;
  has_hello: boolean;
  replies: Array<string>;
  has_headers: boolean;
  headers_for: Array<string>;
  headers_from: string | null;
  render: "always" | "auto" | "never" | (string & {});
  wait_for: string | null;
  screenshots: boolean;
  rendered: boolean;
  schedule: string | null;
  hours: string | null;
  bar: number | null;
  follow: "new_links" | "none" | (string & {});
  follow_hosts: Array<string>;
  own_only: Array<"bar" | "hours" | "ignore" | "schedule" | "selector" | (string & {})>;
  noise_count: number;
  /**
   * `failing`: The last look failed, or the WebSocket is down. `resting`: It failed several times in a row:
   * Sanderling leaves it alone for a while. `throttled`: The origin asked us to come later. `unrendered`: A
   * browser has to show it, and here none could at the last look. `overdue`: A look was due and has not happened
   * yet. `new`: Sanderling has not looked at it yet. `ok`: The last look worked. `paused`: A person paused it:
   * Sanderling does not watch it until it is resumed.
   */
  state: "failing" | "new" | "ok" | "overdue" | "paused" | "resting" | "throttled" | "unrendered" | (string & {});
  created_at: string;
  updated_at: string;
  last_fetch_at: string | null;
  last_success_at: string | null;
  next_fetch_at: string | null;
  last_event_at: string | null;
  health: SourceHealth;
  breaker: Breaker;
  health_score: number;
  health_flag: "degraded" | "ok" | "rotten" | (string & {});
  health_reason: string;
  health_rank: number;
  detection_confidence: "high" | "low" | "medium" | (string & {});
  detection_evidence: string;
  discovered_feed_url: string | null;
  mode: "poll" | "push" | (string & {});
  effective: EffectiveSettings;
  inherited: Record<string, Array<string>>;
  /** What its ETag says, for If-Match */
  revision: string;
  /** Who set something of it last: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
  supported?: boolean;
  follow_one_hop?: boolean;
  private?: boolean;
}

/** What a source has in the log. `url` is null for one that was deleted, and for the service's own notices. */
export interface SourceSize {
  events: number;
  bytes: number;
  source_id: string;
  url: string | null;
  /** What it is called, by its user or else by itself */
  title?: string;
}

/** What the watching does at this moment; `last_error` in words. `enabled`, `health_flag`: twins. */
export interface SourceStatus {
  id: string;
  state: "active" | "disabled" | (string & {});
  enabled: boolean;
  health_flag: "degraded" | "ok" | "rotten" | (string & {});
  last_fetch_at: string | null;
  last_success_at: string | null;
  last_event_at: string | null;
  next_fetch_at: string | null;
  overdue: boolean;
  interval_s: number;
  looks: number;
  unchanged: number;
  events: number;
  last_status: number | null;
  last_error: string | null;
  breaker: Breaker;
  consecutive_failures: number;
  held: HeldEvents;
  queue_position?: number;
  push?: PushStatus | null;
}

/** Why something was not told: the best reason and how the watching stands, in `says`; then all that is known. */
export interface SourceWhy {
  id: string;
  url: string;
  /** What it is called, by its user or else by itself */
  title: string;
  type: "feed" | "html" | "push" | (string & {});
  says: string;
  state: string;
  reasons: Array<KnownReason>;
}

/** Sources by health, by state, and what their actors do. `total` counts paused ones too. */
export interface Sources {
  total: number;
  ok: number;
  degraded: number;
  rotten: number;
  running: number;
  backoff: number;
  quarantined: number;
  overdue: number;
  /** How many sources are in each state now */
  states: Record<string, number>;
}

/** The words that differ, in each of the two texts: rising, apart from each other. */
export interface Spans {
  before: Array<[number, number]>;
  after: Array<[number, number]>;
}

/**
 * A stream that is open. `key`: the id of its API key, of a session of the dashboard, "" on the admin socket.
 * `cursor`: the position up to which it has looked, as an id; null of one that follows no log. `behind_s`: how
 * much older that is than the newest event, 0 when it has seen all. `bytes`: what it was sent of events.
 */
export interface StreamSeen {
  number: number;
  key: string;
  name: string;
  prefix: string;
  address: string;
  asked: string;
  since: string;
  cursor: string | null;
  behind_s: number;
  bytes: number;
}

/** The streams of this node alone, who is furthest behind first. `node`: its name; "" of a service of one node. */
export interface StreamsSeen {
  total: number;
  node: string;
  streams: Array<StreamSeen>;
}

/** A value that a source or a destination may have. */
export interface SupposedSecret {
  of: "destination" | "source";
  id: string;
  /** Of a source `headers` or `hello`; of a destination `url`, `secret` or the name of an option */
  name: string;
  /** What it may be */
  value: string;
}

/**
 * What the sources of a tag inherit; null and [] say nothing of a setting. `destinations`: of each of these a new
 * alert over the tag gets a copy.
 */
export interface TagDefaultsRecord {
  schedule: string | null;
  hours: string | null;
  bar: number | null;
  selector: string | null;
  ignore: Array<string>;
  destinations: Array<string>;
  updated_at: string;
  /** What its ETag says, for If-Match */
  revision: string;
  /** Who set something of it last: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
}

/**
 * A tag. `sources`: how many have it; `sources_below`: how many have it or one below it, as `news/se` is of
 * `news`. `defaults` null: it has none.
 */
export interface TagRecord {
  tag: string;
  sources: number;
  sources_below: number;
  defaults: TagDefaultsRecord | null;
}

/**
 * The defaults of a tag, all of them: what is absent says nothing of a setting. The fields mean what they do in
 * POST /v1/sources. `destinations`: of each of these a new alert over the tag gets a copy. `managed` absent leaves
 * it as it is; null takes it away.
 */
export interface TagSettings {
  schedule?: string | null;
  hours?: string | null;
  bar?: number | null;
  selector?: string | null;
  /** Selectors of what not to watch. Default: [] */
  ignore?: Array<string>;
  /** Ids of destinations of any alert. Default: [] */
  destinations?: Array<string>;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/** A suggested alert. */
export interface TemplateAlert {
  key: string;
  name: string;
  filter_query: string;
  language: string;
  channel: string | null;
  match: "added" | "change" | "page" | "removed" | (string & {});
}

/** What a template wants: `min` to `max` values. A domain is bare, without scheme or path. */
export interface TemplateParameter {
  key: string;
  type: "domain" | "string" | (string & {});
  description: string;
  example: string;
  required: boolean;
  repeatable: boolean;
  min: number;
  max: number;
}

/** What an instantiation would attach. Nothing was looked at on the network: a page may turn out not to exist. */
export interface TemplatePreview {
  template: string;
  version: number;
  sources: Array<PreviewedSource>;
  alerts: Array<PreviewedAlert>;
  summary: PreviewSummary;
}

/** A template, whole. `schema`: what `params` takes as JSON Schema (2020-12), itself a text of JSON. */
export interface TemplateRecord {
  slug: string;
  name: string;
  summary: string;
  category: string;
  version: number;
  source_count: number;
  parameters: Array<TemplateParameter>;
  sources: Array<TemplateSource>;
  alerts: Array<TemplateAlert>;
  schema: string;
}

/** What became of an instantiation; partial when something failed. The same call again does what is left. */
export interface TemplateReport {
  template: string;
  version: number;
  status: "complete" | "partial" | (string & {});
  sources: Array<ReportedSource>;
  alerts: Array<ReportedAlert>;
  next_steps: NextSteps;
  summary: ReportSummary;
}

/** A source, with `{key}` where a parameter's value goes. */
export interface TemplateSource {
  url: string;
  type: "feed" | "html" | "push" | (string & {});
  tags: Array<string>;
}

/**
 * A template in the list. `source_count`: its patterns; with a parameter, each value adds those that name it.
 * `parameters`: their names; the template itself says what each takes.
 */
export interface TemplateSummary {
  slug: string;
  name: string;
  summary: string;
  category: string;
  version: number;
  source_count: number;
  parameters: Array<string>;
}

/** What became of a test delivery. */
export interface TestAnswer {
  result: "retry" | "sent" | "terminal" | (string & {});
  status_code: number | null;
  latency_ms: number;
  detail: string;
}

/** Rows from `start` on, of `total` that the filter admits. Fewer than were asked for when some have just gone. */
export interface TreePage {
  total: number;
  start: number;
  rows: Array<TreeRow>;
}

/**
 * All that is known of one part. `crash`: of its last life that crashed, with the innermost places. task: what its
 * supervisor says of it; null when it has none. slowest_step_s: the longest that it has held the loop.
 */
export interface TreePart {
  row: TreeRow;
  /** The supervisor's word for its state */
  task: string | null;
  note: string;
  /** The innermost await, as `file:line in function` */
  awaiting: string;
  crash: string;
  places: Array<string>;
  /** The newest crashes, newest first */
  crashes: Array<CrashSeen>;
  mailbox: MailboxSeen | null;
  slowest_step_s: number | null;
  idle_s: number | null;
  source: Watching | null;
}

/** One part of the service, one source or one destination. `error` is one line of plain text, or empty. */
export interface TreeRow {
  path: string;
  /** The URL of a source or a destination, else empty */
  name: string;
  kind: "destination" | "part" | (string & {}) | "feed" | "html" | "push" | (string & {});
  /**
   * `quarantined`: It crashed too often. It starts again after a long wait. `backoff`: It crashed and waits before
   * its next start. `failing`: The other side fails; Sanderling tries again. `resting`: It failed several times in
   * a row: Sanderling leaves it alone for a while. `throttled`: The origin asked us to come later. `unrendered`: A
   * browser has to show it, and here none could at the last look. `overdue`: A look was due and has not happened
   * yet. `ended`: It does not run any more. `stopping`: It was asked to stop and finishes its work. `starting`: It
   * runs, and is not ready yet. `held`: The service is drained, or our own line is down. `new`: Sanderling has not
   * looked at it yet. `ok`: It runs and all is well. `paused`: A person paused it: Sanderling does not watch it
   * until it is resumed.
   */
  state: "backoff" | "ended" | "failing" | "held" | "new" | "ok" | "overdue" | "paused" | "quarantined" | "resting" | "starting" | "stopping" | "throttled" | "unrendered" | (string & {});
  /** A source's score from 0 to 1 */
  health: number | null;
  flag: "degraded" | "ok" | "rotten" | (string & {}) | null;
  restarts: number;
  /** When it came into its state */
  since: string;
  error: string;
  /** When it does something by itself: a look, or a life after a crash */
  next: string | null;
  /** What a source is called, by its user or else by itself */
  title?: string;
  /** Messages that wait for it; null without a mailbox */
  mailbox?: number | null;
  /** Messages that it has taken so far */
  handled?: number | null;
  /** Seconds between a source's looks at its present pace */
  pace_s?: number | null;
  /**
   * A source's last looks, newest last, a mark each. `+`: news. `.`: unchanged. `-`: nothing to tell. `x`: failed.
   * `t`: asked to wait. `X`: failed for good. `?`: not readable. `o`: our line.
   */
  marks?: string;
  /** What sources and destinations supervise */
  below?: BelowSeen | null;
}

/**
 * One thing that changed. `before` or `after` is absent where it came, or went. label: what the value is of ("Team
 * · Seats"), in the page's own words. path: where it stands in a document that has paths. lowest_since,
 * highest_since: of a price, from when on it was never lower, or higher, as far as is known (RFC 3339).
 */
export interface TypedChange {
  /**
   * A price, an availability, a date or time, a number or share, a version, a name, a negation (a word such as
   * *not* came or went), an item that came or went, or other text.
   */
  kind: "added" | "availability" | "date" | "name" | "negation" | "number" | "price" | "removed" | "text" | "version" | (string & {});
  /** What the value is of, in the page's own words. */
  label?: string;
  /** Where it stands in a document that has paths, such as `$.plans[1].price`. */
  path?: string;
  /** What it was; absent where it came. */
  before?: Value;
  /** What it is now; absent where it went. */
  after?: Value;
  /** Of a price that fell: since when it was never lower, as far as the log says. */
  lowest_since?: string;
  /** Of a price that rose: since when it was never higher. */
  highest_since?: string;
}

/** A period without records, and why. */
export interface UnknownTime {
  from: string;
  to: string;
  why: "clock" | "coarse" | "crash" | "no_record" | "not_added" | "not_stored" | "restore" | "retention" | (string & {});
}

/** A URL whose page is to be chosen from; the fields mean what they do in POST /v1/sources. */
export interface UrlBlocksRequest {
  /** http, https, ws or wss */
  url: string;
  selector?: string | null;
  /** Selectors of what not to watch. Default: [] */
  ignore?: Array<string>;
  headers?: string | null;
  /**
   * Whether a browser shows a page before it is read: `auto` only where it is empty without its scripts. A
   * rendered look costs 100 plain ones; feeds are never rendered. Default: "auto"
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: [] */
  tags?: Array<string>;
  /**
   * The settings that follow no tag: its own value holds, and where it has none, none does. Of `ignore` only its
   * own parts are left out. Default: []
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
  /** How many of the blocks to skip; an answer has 100. Default: 0 */
  first?: number;
  /** Only blocks with all of these words. Default: "" */
  find?: string;
  press?: PressedBlock | null;
}

/**
 * A value as it stands (`text`), and what it is; a piece of plain text has no type. money, number and percent have
 * `number` and `scale` (decimal places); `unit` is the currency (ISO 4217), "%", or a unit of measure ("GB"),
 * absent where none is known. date: `value` is YYYY-MM-DD, YYYY-MM or MM-DD; time: HH:MM; version: its numbers
 * with dots; availability: one of `AVAILABILITIES`.
 */
export interface Value {
  /** As it stands on the page. */
  text: string;
  /** What it was read as; absent for plain text. */
  type?: "availability" | "date" | "money" | "number" | "percent" | "time" | "version" | (string & {});
  /** The value times ten to the power of `scale`: 1,099.50 is 109950 with scale 2. */
  number?: number;
  /** How many of the number's digits are decimals. */
  scale?: number;
  /** A currency (ISO 4217), `%`, or a unit of measure; absent where none is known. */
  unit?: string;
  /**
   * Of a date `YYYY-MM-DD`, `YYYY-MM` or `MM-DD`, of a time `HH:MM`, of a version its numbers, of an availability
   * one of in_stock, limited, preorder, backorder, out_of_stock, discontinued.
   */
  value?: string;
}

/**
 * A value, from a moment on. `value` are its digits, and `number` is it without the point; of a state, a version
 * or a date `number` is null, `value` as in `current`, and `text` how the page wrote it. `until`: when it went
 * from the page, where it did; null while it stands there, or until the next one.
 */
export interface ValuePoint {
  at: string;
  number: number | null;
  scale: number;
  value: string;
  text?: string;
  until?: string | null;
}

/**
 * One thing's values, oldest first. `label` says of what, in the page's own words; `path` where in a document that
 * has paths. `unit`: a currency (ISO 4217), "%", a unit of measure, or "" where none is known. `lowest` and
 * `highest`: of dates the earliest and the latest; null of states.
 */
export interface ValueSeries {
  type: "availability" | "date" | "money" | "number" | "percent" | "time" | "version" | (string & {});
  label: string;
  path: string;
  unit: string;
  lowest: ValuePoint | null;
  highest: ValuePoint | null;
  points: Array<ValuePoint>;
}

/**
 * The values of a source. `current`: what its page says now, in the page's order, at most 500, of which prices are
 * kept first; `more`: how many there are besides. `series`: what they were over time, prices first. `since`: from
 * when on they are known.
 */
export interface Values {
  id: string;
  since: string;
  current: Array<CurrentValue>;
  more: number;
  series: Array<ValueSeries>;
}

/**
 * What differs between two versions, the earlier one first, in the order of the later one. `partial`: it is of the
 * main text only, as the events carry it. `truncated`: there are more steps than these.
 */
export interface VersionComparison {
  id: string;
  from: KeptVersion;
  to: KeptVersion;
  partial: boolean;
  truncated: boolean;
  steps: Array<VersionStep>;
}

/**
 * A text that came (`insert`), went (`delete`), was altered (`replace`) or stayed (`keep`), and where it stands.
 * `spans` are the words that differ; absent where the two texts have too little in common.
 */
export interface VersionStep {
  op: "delete" | "insert" | "keep" | "replace" | (string & {});
  before?: string;
  after?: string;
  context?: Context;
  spans?: Spans;
}

/** The kept versions of a source, newest first; none of what is no page. */
export interface Versions {
  id: string;
  versions: Array<KeptVersion>;
}

/**
 * How the watching of a source goes. `trail`: its last looks, newest first. `health`: what its score is made of.
 * next_look: why the next look is when it is.
 */
export interface Watching {
  id: string;
  url: string;
  tags: Array<string>;
  reason: string;
  health: Array<HealthSeen>;
  interval_s: number;
  next_look: string;
  looks: number;
  unchanged: number;
  events: number;
  last_look_at: string | null;
  last_success_at: string | null;
  last_event_at: string | null;
  last_status: number | null;
  last_error: string | null;
  breaker: "closed" | "half-open" | "open" | (string & {});
  failures: number;
  retry_at: string | null;
  trail: Array<LookSeen>;
  held: HeldEvents;
  /** How often it was looked at in the last 7 days, and what is unknown */
  covered: string;
}
