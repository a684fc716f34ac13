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

/** A change by someone. `before` and `after` hold the fields that differ, as the API shows them, without secrets. */
export interface ActivityRecord {
  id: string;
  at: string;
  /** The person's id; null for a key or password of the service */
  person: string | null;
  /** The name of the person or key at that time */
  by: string;
  operation: string;
  /** The path of the changed record; null if there is none */
  object: string | null;
  before?: unknown;
  after?: unknown;
}

/**
 * The address field of a kind. `private`: the address is a credential, so only its host is shown. `default`: the
 * default of `url`.
 */
export interface AddressWanted {
  label: string;
  help: string;
  example: string;
  private: boolean;
  default: string;
}

/** The fields to change; null removes the `channel` and `managed`. */
export interface AlertPatch {
  /** Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything */
  filter_query?: string;
  /** ISO 639-1, or simple for no stemming */
  language?: string;
  /** Events of these sources; with neither these nor `tags`, of all sources */
  source_ids?: Array<string>;
  /** Events with any of these tags, also of later sources; in addition to `source_ids` */
  tags?: Array<string>;
  name?: string;
  channel?: string | null;
  enabled?: boolean;
  /** The notices of the service that it also sends */
  notices?: Array<"destination_disabled" | "destination_failing" | "heartbeat" | "source_failing" | "source_moved" | "source_quiet" | "source_recovered" | "source_reset" | "storage_damaged" | "watching_stalled">;
  /** Seconds that a problem lasts before its notice */
  notice_after?: number;
  anomaly_enabled?: boolean;
  /**
   * The texts of a page's event that the query searches: title, added and removed texts (`change`), added texts
   * (`added`), removed texts (`removed`), or title and content (`page`). Feeds and push: always `page`
   */
  match?: "added" | "change" | "page" | "removed";
  /**
   * Of events with the same news (`story`), only the first match goes to the destinations; null: yes for alerts
   * over several sources
   */
  once_per_story?: boolean | null;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  /**
   * Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
   * in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert from
   * before it became private
   */
  private_source_ids?: Array<string>;
}

/**
 * The past matches of a query. `query`: as interpreted. `complete`: the search covered `last` events, or the whole
 * log, in time. `looked_from`: the time of the oldest event searched. `per_day`: expected matches; null if the
 * search covered too little.
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
  true_now?: Array<TrueNow>;
}

/**
 * A query as in an alert, and the range of the search. `last`: the number of newest events to search. `limit`: the
 * number of matches to show.
 */
export interface AlertPreviewRequest {
  /** Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything */
  filter_query: string;
  /** ISO 639-1, or simple for no stemming. Default: "en" */
  language?: string;
  /** Events of these sources; with neither these nor `tags`, of all sources. Default: [] */
  source_ids?: Array<string>;
  /** Default: 2000 */
  last?: number;
  /** Default: 20 */
  limit?: number;
  /**
   * The texts of a page's event that the query searches: title, added and removed texts (`change`), added texts
   * (`added`), removed texts (`removed`), or title and content (`page`). Feeds and push: always `page`. Default:
   * "change"
   */
  match?: "added" | "change" | "page" | "removed";
  /** Events with any of these tags, also of later sources; in addition to `source_ids`. Default: [] */
  tags?: Array<string>;
  /**
   * Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
   * in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert from
   * before it became private. Default: []
   */
  private_source_ids?: Array<string>;
}

/**
 * An alert. `delivery_mode` is a twin: that of its first destination, or instant. `template`: its origin as
 * `<template id>/<key>`. `match` is `page` for alerts older than the choice. `alert_id`: the `id`, under the name
 * that other records use. `destination_count`: 0 if its matches go nowhere yet. `true_now`: only in the answer to
 * a new alert.
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
  /** The value of its ETag, for If-Match */
  revision: string;
  /** The author of the last change: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
  anomaly_enabled?: boolean;
  template?: string | null;
  alert_id?: string | null;
  destination_count?: number;
  true_now?: Array<TrueNow>;
}

/** The active alerts whose present queries match an event; `names` has at most 20, for keys with `alerts:read`. */
export interface AlertsMatched {
  count: number;
  names: Array<string>;
}

/**
 * A connected app. person: the id of the person that it acts for, "" for the owner of the service's password.
 * host: of its redirect URI. resource: the URL that its tokens open, with everything below it.
 */
export interface AppRecord {
  id: string;
  app: string;
  host: string;
  person: string;
  scopes: Array<string>;
  resource: string;
  created_at: string;
  last_used_at: string | null;
}

/** The results of a batch, in the order of the request. */
export interface BatchAnswer {
  results: Array<BatchResult>;
}

/** The result for one URL of a batch. */
export interface BatchResult {
  url: string;
  status: "attached_existing" | "created" | "failed" | "timeout" | (string & {});
  detected_type?: "feed" | "html" | "push" | (string & {}) | null;
  source?: SourceRecord | null;
  error?: Problem | null;
}

/** The dynamic children of a part: their number and their worst state. */
export interface BelowSeen {
  total: number;
  worst: "backoff" | "ended" | "failing" | "held" | "new" | "ok" | "overdue" | "paused" | "quarantined" | "resting" | "starting" | "stopping" | "throttled" | "unrendered" | (string & {});
}

/** A bin. Anyone with its `url` can send to it, with any method and any path below it, but not read it. */
export interface BinRecord {
  id: string;
  url: string;
  created_at: string;
  expires_at: string;
}

/** A cell of a row of a CSV document: its number from 1, its column header, and its text. */
export interface BlockCell {
  number: number;
  column: string;
  text: string;
}

/**
 * The pressed block as it is now, the possible reaches of the choice, its present reach, and the texts that it
 * watches: null if no selector can choose the block.
 */
export interface BlockChoice {
  block: PageBlock;
  reaches: Array<BlockReach>;
  reach: "like" | "part" | "this" | (string & {});
  kept: KeptBlocks | null;
}

/** A possible reach of a choice, its selector, and the number of blocks that this chooses. */
export interface BlockReach {
  name: "like" | "part" | "this" | (string & {});
  selector: string;
  blocks: number;
}

/**
 * A value of a block. `condition`: its name in an alert's query: the subject (`price`) and, if known, `label:` or
 * `path:`. `number` has `scale` decimal places; null if the value is no number.
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

/** The circuit breaker: `open` means no checks until `retry_at`. */
export interface Breaker {
  state: "closed" | "half-open" | "open" | (string & {});
  retry_at: string | null;
}

/**
 * A request as received, except for the case of its header names. `body` if it is UTF-8, else `body_base64`.
 * `size`: bytes received. `truncated`: the stored body is shorter.
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
  /** Its place on the page; absent if unknown. */
  context?: Context;
  /**
   * The differing words, as pairs of code points: start and end, the end excluded. Absent if the texts have too
   * little in common or are too long to compare.
   */
  spans?: Spans;
}

/** The time of the requested check. */
export interface CheckAnswer {
  id: string;
  next_fetch_at: string;
}

/** The verdict on a signature: `ok` is null if it was not checked; `why` is always a sentence. */
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

/** A piece of the content from the code point `start` on. Marks count in the whole content, like `start`. */
export interface ContentExcerpt {
  start: number;
  text: string;
  marks: Array<[number, number]>;
}

/** Where a block stands: its heading, and its row and column in a table. Unknown parts are absent. */
export interface Context {
  /** The nearest heading above. */
  heading?: string;
  /** A cell's row label, or a definition's term. */
  row?: string;
  /** A cell's column header. */
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
 * A value on the page, as last reported. `text`: as written there. `value`: its digits, a date (YYYY-MM-DD,
 * YYYY-MM or MM-DD), a version's numbers, or a state such as `in_stock`. `number`: the digits of a number without
 * the point. `label`, `path` and `unit`: as in the event of a change. `since`: the first time that this value is
 * known.
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

/** Rows from `start` on, of `total`: failing ones first, then those with the most waiting deliveries. */
export interface DeliveriesPage {
  total: number;
  start: number;
  rows: Array<DeliveryRow>;
}

/**
 * One attempt. `webhook_id` is the event's id, or a digest's own. `response_excerpt`: the first 1 KiB of the
 * answer, control characters escaped.
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
 * The state of one destination. waiting: deliveries that wait or are running; oldest: the time of the first. next:
 * the time of the next attempt, null if none waits.
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
  /** The share of its newest 100 attempts */
  failure_rate: number;
  last: LastAttempt | null;
}

/** A change in reading order; it rebuilds the new text from the old. */
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

/** A kind of destination and its fields. `where`: how to get their values. `signed`: its deliveries are signed. */
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
 * The fields to change; null removes `quiet_hours` and `managed`, and declines the replay that `replay_from`
 * offers. Omitted `options` stay; null removes one. `enabled: true` also restores a destination that was disabled
 * for its failures.
 */
export interface DestinationPatch {
  /** Public https */
  url?: string;
  /** The fields of the kind, by name; private values are sealed and never shown again */
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
  /** If more events than this wait, they become one digest; 0: never */
  most_at_once?: number;
  /**
   * Your own signing secret: `whsec_` and base64 of 24 to 64 random bytes. The previous secret also signs for 24
   * hours. Never shown again
   */
  secret?: string;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  replay_from?: null;
}

/**
 * A destination. `enabled`: the user's choice; `state` is `disabled` also if the service gave up (410, five days
 * of failures), and `PATCH {"enabled": true}` restores it. `url`: only its host if the address is a credential.
 * `options`: the fields of its kind; `private` names the sealed ones. `failure_rate`: the share of its newest 100
 * attempts; `error_rate` is its twin. `duplicate_rate`: the share of deliveries that arrived, or may have arrived,
 * before. `replay_from`: it may have missed matches after this; send it as `since` of a replay. `needs_secret`:
 * its secret is missing, for example after an import, and it is paused until you create a new one.
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
  /** The value of its ETag, for If-Match */
  revision: string;
  /** The author of the last change: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
  needs_secret?: boolean;
  needs_agreement?: boolean;
  in_use_by_alert_count?: number;
}

/**
 * A destination and its newest signing secret, shown only here; absent for a kind without signatures. `invited`:
 * the result of the invitation, if the recipient must agree first.
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
  /** The value of its ETag, for If-Match */
  revision: string;
  /** The author of the last change: a key's name, the dashboard, this machine; else the service */
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
 * The answer to a detection. `source_id`: the existing source with this URL. `final_url`: the URL after redirects,
 * with tokens and keys in its query hidden. `supported` and `discovered_feed_url` are twins.
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
 * A URL to classify and the settings for watching it, as in POST /v1/sources. `tags`: the preview applies their
 * defaults.
 */
export interface DetectRequest {
  /** http, https, ws or wss */
  url: string;
  type?: "feed" | "html" | "push" | null;
  selector?: string | null;
  /** Selectors of parts to leave out. Default: [] */
  ignore?: Array<string>;
  filter?: string | null;
  headers?: string | null;
  /**
   * Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
   * much as 100 plain ones; feeds are never rendered. Default: "auto"
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: [] */
  tags?: Array<string>;
  /**
   * Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
   * its own selectors. Default: []
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
}

/**
 * The detected type of a URL; `evidence` is a sentence that a person can verify. `pending`: it has not answered
 * yet, and the rest is a guess. `forced`: its owner set the type against the detected one. `final_url`: the URL
 * after redirects; tokens and keys in its query are hidden unless it is the source's own address.
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

/** A page's change for readers. `context` is absent where nothing is known of any text. */
export interface Diff {
  /** New texts. */
  added: Array<string>;
  /** Texts that are gone. */
  removed: Array<string>;
  /** Texts with another wording. */
  changed: Array<Change>;
  /** True if the difference was cut for length. */
  truncated?: boolean;
  /** The places of the texts of `added` and `removed` on the page; absent if unknown. */
  context?: Contexts;
}

/**
 * A piece of a text of the event's `diff`: of `added[index]`, `removed[index]`, or a side of `changed[index]`.
 * `start` and the marks count in that text.
 */
export interface DiffExcerpt {
  part: "added" | "after" | "before" | "removed" | (string & {});
  index: number;
  start: number;
  text: string;
  marks: Array<[number, number]>;
}

/** The events of a period, in the order of the log; at most 500, the rest in another digest. */
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

/** The finished or started action. */
export interface Done {
  done: string;
  path: string;
}

/**
 * An event as a check would emit it, `content` cut to 500 characters. `identity`: the property that identifies it
 * (guid, link, hash, or two of them). `told`: false for a push source's frame that no alert or `filter` wants.
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

/** A source's settings in force: its own, and those inherited from its tags. */
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
   * A UUIDv7 that increases in the order of the log: the key to detect duplicates, the cursor for `since` and
   * `Last-Event-ID`, and the `webhook-id` of its delivery.
   */
  id: string;
  /** The source's id. */
  source_id: string;
  /** The source's tier. */
  source_type: "feed" | "html" | "push" | (string & {});
  /** The watched URL. */
  source_url: string;
  /** The URL of the new content. */
  url: string;
  /** Plain text; "" when there is none. */
  title: string;
  /**
   * The event in one line of plain text, at most 140 characters, never empty: for a page the largest change with
   * its context, else the title or the beginning of the content. Absent before version 1.1.
   */
  summary?: string;
  /** Plain text; "" when there is none. */
  author: string;
  /** The main text, at most 64 KiB of UTF-8; for a changed page it includes every text of `diff`. */
  content: string;
  /** True if `content` was cut; else absent. */
  content_truncated?: boolean;
  /** SHA-256 of the whole content, NFC-normalised, before it was cut. */
  content_hash: string;
  /** A similarity hash of 53 bits: similar texts differ in few bits. */
  simhash: number;
  /** Each `<namespace>:<value>`. */
  tags: Array<string>;
  /** The publication time that the source states, or null. */
  published_at: string | null;
  /** The time of the check that found it. */
  fetched_at: string;
  /** When it was written to the log; the time in its `id`. */
  emitted_at: string;
  /** 1. New fields don't change the number; ignore unknown ones. `x-version` of this schema counts them. */
  schema_version: number;
  /** Only for a page's change: the added, removed and changed texts, for people. */
  diff?: Diff;
  /** Only for a page's change: the steps from the old text to the new one. */
  delta?: Delta;
  /**
   * Typed changes with their values: all differences of a page, or the values in an entry or a frame. Absent if
   * none are known, and before version 1.2.
   */
  changes?: Array<TypedChange>;
  /**
   * Only for a source that follows: a sentence with the reason why the item's page was not read. `content` then
   * comes from the list or feed. Absent if the page was read.
   */
  unread?: string;
  /** Only for the service's notices: the kind, such as `source_quiet`. */
  alert_type?: string;
  /** Only for a heartbeat (`alert_type` is `heartbeat`): its fields. */
  heartbeat?: Heartbeat;
  /**
   * The `id` of the first event with the same news: the same link, or nearly the same text, in another source
   * within a week. The first event has its own `id`. Absent in notices, and before version 1.5.
   */
  story?: string;
  /** The time of the signature. */
  signed_at?: string;
  /** The RFC 7638 thumbprint of its key in `/.well-known/jwks.json`. */
  key_id?: string;
  /** Ed25519 over the RFC 8785 form of the event without this field, in base64url without padding. */
  signature?: string;
}

/**
 * Why an event was emitted: `says` has the reason in a sentence or two, the other fields have the evidence.
 * `noted`: the note of its check is still stored; without it `score`, `bar`, `identity`, `weighed` and `withheld`
 * are empty. `compared_with`: the time of the earlier state; null if no longer known. `alerts_once`: matching
 * alerts that already had the story from another event.
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

/** The feed addresses, one for each format. Anyone with an address can read it. */
export interface FeedAddresses {
  atom: string;
  rss: string;
  json: string;
}

/**
 * A feed: `newest` has its newest 10 entries, newest first; `backfill: n` would emit the first n of them.
 * `undated`: entries without a readable date. `identities`: the number of entries by identifying property.
 * `backfill`: the most entries that a backfill would emit. `damaged`: malformed, but recovered. `hubs` (WebSub)
 * and `paging` (RFC 5005) are shown, not followed.
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

/** A user's verdict on an event. */
export interface Feedback {
  verdict: "noise" | "real";
}

/** One place that is wrong: place, reason and found value. */
export interface FieldError {
  /** The place: `body.tags[1]`, `query.limit`, `header.Last-Event-ID`, or a part's name. */
  location: string;
  /** The reason. */
  message: string;
  /** The rejected value, cut to 200 characters. */
  value?: unknown;
}

/** JSON that filled the rendered page, with its `size` in bytes. A check of its `url` is a plain one. */
export interface FilledBy {
  url: string;
  size: number;
}

/**
 * A price, number, state, version or date on a page. `text`: as written there. `value`: its digits, its date, the
 * numbers of a version, or a state. `label`: its name in the page's own words. `path`: its place in a structured
 * document. `unit`: a currency, "%", a unit of measure, or "".
 */
export interface FoundValue {
  type: "availability" | "date" | "money" | "number" | "percent" | "time" | "version" | (string & {});
  text: string;
  value: string;
  label: string;
  path: string;
  unit: string;
}

/** One factor of a score: the share `left` (1: no loss), and the reason. */
export interface HealthSeen {
  cause: "none" | "partial" | "reach" | "stuck" | "yield" | (string & {});
  left: number;
  says: string;
}

/**
 * The fields of a heartbeat: that the service did its work at that moment, and had the log up to there. number: of
 * the heartbeats in this log, from 1. due_at: when it was due by the service's clock. before: the id of the
 * heartbeat before it. head: of the newest event before it, of whatever kind. looks: that ended since
 * `looks_since`, when the process that writes this wrote the one before, or began. watched, failing, paused:
 * sources.
 */
export interface Heartbeat {
  /** Counts the heartbeats of this log; a gap means that one was lost. */
  number: number;
  /** The interval. If none arrives within two intervals, the service or the connection to it has failed. */
  every_seconds: number;
  /** Its scheduled time by the service's clock. */
  due_at: string;
  /** The id of the heartbeat before it; null for the first. */
  before: string | null;
  /** The id of the newest event before it. */
  head: string | null;
  /** When the process that wrote it started. */
  running_since: string;
  /** Finished checks of feeds and pages since `looks_since`, at the node that wrote it. */
  looks: number;
  /** When that process wrote its previous heartbeat, or started if later. */
  looks_since: string;
  /** Watched sources. */
  watched: number;
  /** Watched sources that fail or wait after failures. */
  failing: number;
  /** Sources paused by a person. */
  paused: number;
}

/** The number of a source's events in the log, and their approximate size in bytes. */
export interface HeldEvents {
  events: number;
  bytes: number;
}

/** The places of the terms in Unicode code points; no text is HTML. `diff`: those in added and removed texts. */
export interface Highlights {
  title: Array<[number, number]>;
  content: Array<ContentExcerpt>;
  diff?: Array<DiffExcerpt>;
}

/** The number of elements that one selector of `ignore` removes. */
export interface Ignored {
  selector: string;
  elements: number;
}

/** The parameters, whether to create the suggested alerts, and the sources to add. */
export interface Instantiation {
  /** An array of strings for each parameter; omit it for a template without parameters. Default: {} */
  params?: Record<string, Array<string>>;
  /** Default: false */
  alerts?: boolean;
  only?: Array<string> | null;
}

/** An invitation that waits. `url` is shown only once, by the call that makes it; null everywhere else. */
export interface InvitationRecord {
  id: string;
  role: "editor" | "owner" | "reader" | (string & {});
  email: string;
  by: string;
  created_at: string;
  expires_at: string;
  url?: string | null;
}

/**
 * The texts that a choice watches, as a check would read them: the first 100 `texts` of `count`. `digest`
 * identifies the watched texts; running counters do not change it. `items`: its number of items as a list
 * (`follow`).
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
 * A version of a page. `version`: the id of its event; `start` is the state before the oldest change, `now` the
 * present state if it has no event. `kept`: all watched texts (`whole`), the `main_text` of its event, or only a
 * `part`.
 */
export interface KeptVersion {
  version: string;
  at: string | null;
  event_id: string | null;
  says: string;
  kept: "main_text" | "part" | "whole" | (string & {});
}

/** An API key without its secret. `prefix`: its first characters. `streams`: its open streams at this node. */
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
 * One known fact, as a sentence. `kind`: told (reported), withheld (seen, not reported), due (present; the next
 * check decides), failed (not readable now), known (present before), furniture, outside (of the watched part),
 * there (at the first check), absent, unasked (a frame that no alert or filter wants), look (the result of a
 * check). `text`: its block or entry.
 */
export interface KnownReason {
  kind: "absent" | "due" | "failed" | "furniture" | "known" | "look" | "outside" | "there" | "told" | "unasked" | "withheld" | (string & {});
  says: string;
  at: string | null;
  event_id: string | null;
  text: string;
}

/** The newest attempt of a destination. `error`: one line of plain text. */
export interface LastAttempt {
  at: string;
  result: "given_up" | "retry" | "sent" | (string & {});
  status: number | null;
  latency_ms: number;
  error: string | null;
}

/** Validators of the last answer, for the next conditional request, and the hash of its body. */
export interface LastValidators {
  etag: string | null;
  last_modified: string | null;
  body_hash: string | null;
}

/** The effect of the feedback; `noise_count` as in the source's record. */
export interface Lesson {
  event_id: string;
  source_id: string;
  verdict: "noise" | "real" | (string & {});
  noise_count: number;
  says: string;
}

/** An item of a list: its title there, and its link. */
export interface ListedItem {
  title: string;
  url: string;
}

/** A line of the log with its number. */
export interface LogLine {
  number: number;
  ts: string;
  level: string;
  event: string;
  actor: string;
  fields: Record<string, unknown>;
}

/** The newest lines, oldest first; `last` is the next request's `after`. */
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
 * A check whose body changed. `compared_with`: the time of the earlier check that it was compared with. `verdict`:
 * told (reported), baseline (the first check), churn (nothing to report), held (uncertain until the next check, or
 * most of a feed new at once), failed (not the page itself), stretch (a period of listening to a push source, up
 * to `until`). A page is reported if `score` reaches the threshold `bar`. `counts`: entries or frames.
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
 * A block of a page or an entry of a feed, with the `rule` that reported or withheld it. `came`: added, else
 * removed. `told`: reported, else withheld. `text`: its beginning. `key`: the block's key or the entry's identity.
 * `score`: the weight of a block.
 */
export interface LookPart {
  text: string;
  rule: string;
  key: string;
  came: boolean;
  told: boolean;
  score: number;
}

/** Checks per second in the last half minute, and the setting `looks_per_second`. `says`: a warning, else empty. */
export interface LookRate {
  per_second: number;
  budget: number;
  /** How long the rate has exceeded the budget; 0 within it */
  passed_for_s: number;
  says?: string;
}

/** `looks` checks with the same result, the last at `at`. `bytes`: size of the last body. */
export interface LookSeen {
  at: string;
  verdict: string;
  looks: number;
  status: number | null;
  bytes: number;
  ms: number;
}

/** The last 200 checks of a source, and notes on those with a changed body (at most 40); newest first. */
export interface LookTrail {
  id: string;
  looks: Array<Looks>;
  notes: Array<LookNote>;
  validators: LastValidators;
}

/**
 * Consecutive checks with the same result. `bytes` (received) and `ms` are those of the last one. `verdict`:
 * unchanged, changed (an event), nothing_to_tell (the body changed, but no watched content), or the kind of
 * failure: remote_transient, throttled, remote_permanent, content, local.
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

/** A mailbox: `depth` messages of `bound` wait, `received` so far; a sender met it `full` so often. */
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
  /** Its name in the files */
  name: string;
  /**
   * What the files set when they were applied last, as `field=digest` with spaces between; none of it is of a
   * secret. Default: ""
   */
  applied?: string;
}

/** The matcher's lag: events, and the age of the oldest. `says`: a warning, empty while the lag is short. */
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
 * Templates as in the `options` of a destination; "" is the default title or text. `alert_id`: the alert with the
 * matches to show; null takes the newest events of the log. `language`: of the service's own words, as in a
 * destination's options; "" is the service's language.
 */
export interface MessagePreviewRequest {
  /** A kind of GET /v1/destination-kinds; webhook by default */
  kind: string;
  /** Default: "" */
  message?: string;
  /** Default: "" */
  message_title?: string;
  alert_id?: string | null;
  /** Default: "" */
  language?: string;
}

/** The period of the lost events. Checks of feeds and pages report theirs again; frames of WebSockets are lost. */
export interface MissingEvents {
  after: string;
  until: string;
}

/**
 * A standing query. `anomaly_enabled` can't be true yet. `default_destinations`: copy the destinations of its
 * tags' defaults. `destination_ids`: copy these destinations of other alerts.
 */
export interface NewAlert {
  /** Words (all must occur), OR, "phrases", -exclusions, (groups), prefix*; an empty one matches everything */
  filter_query: string;
  /** ISO 639-1, or simple for no stemming. Default: "en" */
  language?: string;
  /** Events of these sources; with neither these nor `tags`, of all sources. Default: [] */
  source_ids?: Array<string>;
  /** Events with any of these tags, also of later sources; in addition to `source_ids`. Default: [] */
  tags?: Array<string>;
  name?: string | null;
  channel?: string | null;
  /** Default: true */
  enabled?: boolean;
  /**
   * The notices of the service that it also sends. Default:
   * ["source_quiet","source_recovered","source_failing","source_reset","source_moved"]
   */
  notices?: Array<"destination_disabled" | "destination_failing" | "heartbeat" | "source_failing" | "source_moved" | "source_quiet" | "source_recovered" | "source_reset" | "storage_damaged" | "watching_stalled">;
  /** Seconds that a problem lasts before its notice. Default: 3600 */
  notice_after?: number;
  /** Default: false */
  anomaly_enabled?: boolean;
  /**
   * The texts of a page's event that the query searches: title, added and removed texts (`change`), added texts
   * (`added`), removed texts (`removed`), or title and content (`page`). Feeds and push: always `page`. Default:
   * "change"
   */
  match?: "added" | "change" | "page" | "removed";
  /**
   * Of events with the same news (`story`), only the first match goes to the destinations; null: yes for alerts
   * over several sources
   */
  once_per_story?: boolean | null;
  /** Default: true */
  default_destinations?: boolean;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  /**
   * Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
   * in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert from
   * before it became private. Default: []
   */
  private_source_ids?: Array<string>;
  /** Destinations to copy. Default: [] */
  destination_ids?: Array<string>;
}

/**
 * The address for an alert's matches. `label`: by default the URL's host and the alert's name. `url` is optional
 * for a kind with a fixed address.
 */
export interface NewDestination {
  /** Public https */
  url?: string;
  /** A kind of GET /v1/destination-kinds; webhook by default. Default: "webhook" */
  kind?: string;
  /** The fields of the kind, by name; private values are sealed and never shown again. Default: {} */
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
  /** If more events than this wait, they become one digest; 0: never */
  most_at_once?: number;
  /**
   * Your own signing secret: `whsec_` and base64 of 24 to 64 random bytes. The previous secret also signs for 24
   * hours. Never shown again
   */
  secret?: string;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/** An invitation to make. */
export interface NewInvitation {
  /** What the person may do. Default: "reader" */
  role?: "editor" | "owner" | "reader";
  /** Who may use the invitation; "" if the link alone decides. Default: "" */
  email?: string;
}

/** Events to publish: those that meet all given conditions. Without conditions, all events of sources. */
export interface NewPublication {
  /** Its title for readers */
  title: string;
  /** Events of any of these sources. Default: [] */
  source_ids?: Array<string>;
  /** Events with any of these tags. Default: [] */
  tags?: Array<string>;
  channel?: string | null;
  /** Matches of any of these alerts. Default: [] */
  alert_ids?: Array<string>;
  /**
   * Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
   * in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert from
   * before it became private. Default: []
   */
  private_source_ids?: Array<string>;
  ends_on?: string | null;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/**
 * A URL to watch. `type` overrides detection. `backfill`: the number of a feed's newest entries to emit at once.
 * `verify`: `later` also adds an unreachable URL, and classifies it when it answers.
 */
export interface NewSource {
  /** http, https, ws or wss */
  url: string;
  type?: "feed" | "html" | "push" | null;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: [] */
  tags?: Array<string>;
  selector?: string | null;
  /** Selectors of parts to leave out. Default: [] */
  ignore?: Array<string>;
  schedule?: string | null;
  hours?: string | null;
  /** Default: 0 */
  backfill?: number;
  filter?: string | null;
  bar?: number | null;
  /** The subprotocols that a push source's handshake offers, best first. Default: [] */
  subprotocols?: Array<string>;
  hello?: string | Array<string> | null;
  /**
   * Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern matches any characters, and
   * inserts them in the text. An answered frame is no event. Default: []
   */
  replies?: Array<string>;
  headers?: string | null;
  /**
   * Hosts of other sources that borrow these headers if they have none: names, or `*.` for all subdomains, over
   * https and wss. With any entry, the URL's own origin is included. Default: []
   */
  headers_for?: Array<string>;
  /**
   * `new_links`: report each new item of a list page, each new address of a sitemap and each new entry of a feed
   * once, with the text of its own page. A page is then read as a list; its other changes are not reported.
   * Default: "none"
   */
  follow?: "new_links" | "none";
  /**
   * Other hosts whose pages `follow` also fetches, with their subdomains; `*` is every host. Links to others are
   * reported without the text of their page. `headers` never go there. Default: []
   */
  follow_hosts?: Array<string>;
  /**
   * Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
   * its own selectors. Default: []
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
  /**
   * Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
   * much as 100 plain ones; feeds are never rendered. Default: "auto"
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /**
   * Whether to store a screenshot with each change and at the first check of a rendered page, for
   * `screenshot_days`. Default: false
   */
  screenshots?: boolean;
  /** Your own name for it, on one line. Default: "" */
  title?: string;
  /** Default: true */
  enabled?: boolean;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
  /** Default: "now" */
  verify?: "later" | "now";
}

/** `add_destination`: a path below /v1 for the first alert; null without one. `stream`: the path of the events. */
export interface NextSteps {
  add_destination: string | null;
  stream: string;
}

/** One node of a shared database, at its last beat. */
export interface Node {
  /** Its name and a random part that changes at each start */
  name: string;
  /** Whether it is the answering node */
  this: boolean;
  /** Whether it may own sources and destinations */
  inside: boolean;
  version: string;
  url: string;
  /** Sources that it watches */
  sources: number;
  overdue: number;
  streams: number;
  /** `web`: it serves requests and streams, and watches nothing */
  role?: "all" | "web" | (string & {});
  /** Events that its readers received and a failover of PostgreSQL lost */
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
  /** The place of its text on the page, for `replace` of the new one. */
  context?: Context;
}

/**
 * One of the `options` of a kind. `many`: several values, separated by commas. `matches`: a regular expression for
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
 * The figures of the whole service. `failing`: a sentence by part, empty if all is well. queues: messages in the
 * mailboxes of the fixed parts. totals: counted since `started_at`; subtract two answers to get a rate.
 */
export interface Overview {
  at: string;
  started_at: string;
  version: string;
  /** The service's address, as clients see it */
  url: string;
  /** Its address for programs on its own machine */
  local_url: string;
  ready: boolean;
  /** No checks until `resume` */
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
  /** The delay of the event loop at the last measurement */
  loop_lag_s: number;
  totals: Record<string, number>;
  /** The nodes that share the database; empty with one node */
  nodes: Array<Node>;
  /** The copy for a standby; null without one */
  replica?: Replica | null;
}

/** The time of the second check, and the origin's own hints; hours and days (0 is Monday) in UTC. */
export interface PacePreview {
  interval_s: number;
  next_look_at: string;
  max_age_s: number;
  ttl_s: number;
  skip_hours: Array<number>;
  skip_days: Array<number>;
}

/**
 * A block: `number` counts from 0, `mark` identifies it later. `text` is cut at 2,000 of `length` characters.
 * `heading` is the one above it; `row` and `column` are labels of its table. `why`: furniture or control if a page
 * watched as a whole ignores it. `watched`: by the choice of the request. `selector` chooses only this block, ""
 * if none can. `item`: it links to an item of the list (`follow`). `cells`: for a row of CSV; press one by its
 * number.
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
 * A page to choose from. `blocks`: at most 100 from `first` on. `found`: blocks with the words. `total`: all
 * blocks. `no_parts`: the reason why no part of this document can be chosen, else "". `now`: the texts of the
 * present choice, null if it is empty. `choice`: null unless you pressed a block. `gone`: the pressed block no
 * longer exists. `part`: the choice, including inherited values. `listed`: items of the page as a list. `partial`:
 * the page is too long and was read in part.
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
 * A page: its first 40 blocks, and the numbers of watched and left-out blocks. `listed`: its number of items as a
 * list (`follow`); `items` are the first 20. `values`: its first 20 prices, numbers, states, versions and dates.
 * `matched`: the number of elements that `selector` keeps, null without one. `partial`: the page is too long and
 * was read in part.
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
  values?: Array<FoundValue>;
}

/** The fields to change; omitted ones stay. */
export interface PersonPatch {
  /** The name that others see */
  name?: string;
  role?: "editor" | "owner" | "reader";
  /** Whether the person is kept out */
  disabled?: boolean;
}

/** A person with access. `issuer` is empty for a person who signs in by password. */
export interface PersonRecord {
  id: string;
  name: string;
  email: string;
  role: "editor" | "owner" | "reader" | (string & {});
  issuer: string;
  totp: boolean;
  disabled: boolean;
  created_at: string;
}

/** The change, as a sentence; its event is on `stream` within seconds. */
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
 * A block of an earlier answer, by its `number` and `mark`, and the effect of choosing it. `cell`: the number of
 * one of its `cells`; 0 for the block itself.
 */
export interface PressedBlock {
  number: number;
  mark: string;
  /** `only` this; this `also`, in addition to `selector`; all `without` this. Default: "only" */
  act?: "also" | "only" | "without";
  /** `this` block alone; all blocks `like` it; the `part` of the page around it. Default: "this" */
  reach?: "like" | "part" | "this";
  /** Default: 0 */
  cell?: number;
}

/** The result of a check at `fetched_at`: one of `feed`, `page` and `push` is set. Only pages have a `part`. */
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

/** A paragraph, item, cell or heading. `why`: furniture or control if it is ignored, else "". */
export interface PreviewBlock {
  text: string;
  watched: boolean;
  why: string;
}

/** A day (UTC): how many of its events were searched, and how many match. */
export interface PreviewDay {
  day: string;
  looked_at: number;
  matches: number;
}

/** A matching event. `matched`: the terms of the query that it contains. */
export interface PreviewMatch {
  id: string;
  source_id: string;
  title: string;
  url: string;
  emitted_at: string;
  matched: Array<string>;
  highlights: Highlights;
}

/** Another part of the page to preview. Omitted fields have the source's values; null is the whole page. */
export interface PreviewRequest {
  selector?: string | null;
  /** Selectors of parts to leave out */
  ignore?: Array<string>;
}

/** The number of each. */
export interface PreviewSummary {
  new: number;
  existing: number;
  alerts_new: number;
  alerts_existing: number;
}

/** A word, prefix or phrase of the query as interpreted, and the number of events that contain it. */
export interface PreviewTerm {
  text: string;
  events: number;
}

/** An alert to create, or the existing one with its owner's changes. */
export interface PreviewedAlert {
  name: string;
  status: "existing" | "new" | (string & {});
  alert_id: string | null;
  filter_query: string;
  language: string;
  channel: string | null;
  match: "added" | "change" | "page" | "removed" | (string & {});
}

/** A source to add; `existing` ones are already watched. */
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
  /** The kind of problem: the URL of a page that explains it. */
  type: string;
  /** A fixed short name of the kind. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** The cause of this problem, and the remedy. */
  detail: string;
  /** The path of the request. */
  instance?: string;
  /** The invalid places. */
  errors?: Array<FieldError>;
}

/** The fields to change; omitted ones stay. */
export interface PublicationPatch {
  /** Its title for readers */
  title?: string;
  /** Events of any of these sources */
  source_ids?: Array<string>;
  /** Events with any of these tags */
  tags?: Array<string>;
  channel?: string | null;
  /** Matches of any of these alerts */
  alert_ids?: Array<string>;
  /**
   * Private sources to include. A source is `private` if it is checked with headers, its own or borrowed ones, or
   * in an opened network. A publication omits it unless it is named here or in `source_ids`; so does an alert from
   * before it became private
   */
  private_source_ids?: Array<string>;
  ends_on?: string | null;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/**
 * A publication. Anyone with `url` can read it as a page; `feeds` are for feed readers. Both are null if this
 * instance cannot decrypt the address because its master key was lost. The address still works for existing
 * readers, and you can create a new one.
 */
export interface PublicationRecord {
  id: string;
  title: string;
  source_ids: Array<string>;
  tags: Array<string>;
  channel: string | null;
  alert_ids: Array<string>;
  private_source_ids: Array<string>;
  ends_on: string | null;
  url: string | null;
  feeds: FeedAddresses | null;
  created_at: string;
  updated_at: string;
  /** The value of its ETag, for If-Match */
  revision: string;
  /** The author of the last change: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
}

/** The handshake and the first frames of up to 3 seconds. `ended`: the reason if the server closed by then. */
export interface PushPreview {
  subprotocol: string | null;
  waited_s: number;
  received: number;
  frames: Array<DraftEvent>;
  ended: string | null;
}

/**
 * Counters of a push source since the service started. `connected_since`: null without an open connection.
 * `frames` is the sum of `admitted`, `duplicates`, `filtered` (no alert or filter wants them) and `unreadable`.
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

/** The hours when instant deliveries wait: from a time of the named days to the next `to`, maybe over midnight. */
export interface QuietHours {
  /** HH:MM */
  from: string;
  /** HH:MM */
  to: string;
  /** IANA time zone. Default: "UTC" */
  timezone?: string;
  /** The days on which it begins; all by default. Default: ["mon","tue","wed","thu","fri","sat","sun"] */
  weekdays?: Array<"fri" | "mon" | "sat" | "sun" | "thu" | "tue" | "wed">;
}

/**
 * How a browser is involved; null for a page that is read as sent. `says` is the sentence for people. `empty`: the
 * sign that the page is empty without JavaScript, "" if rendering was requested. `done`: the preview shows the
 * rendered page. `costs`: plain checks that a rendered one costs.
 */
export interface Rendering {
  says: string;
  empty: string;
  done: boolean;
  costs: number;
  filled_by: Array<FilledBy>;
}

/**
 * The number of newly queued deliveries, without those already waiting. `next_since`: the `since` of the next
 * request if more events remain.
 */
export interface ReplayAnswer {
  queued: number;
  next_since: string | null;
}

/**
 * The events to deliver again: the matches after `since` and up to `until`, or events by their ids. An event's id
 * as `since` excludes the event itself, as `until` includes it.
 */
export interface ReplayRequest {
  since?: string | null;
  until?: string | null;
  ids?: Array<string> | null;
}

/** The progress of the copy for a standby. */
export interface Replica {
  place: string;
  /** It contains all commits up to this time; null before the first */
  told_at: string | null;
  /** Bytes of the write-ahead log that it lacks */
  untold: number;
  /** The obstacle to its progress, else empty */
  says: string;
}

/** Counts: sources added, already watched, failed, and failed because `max_sources` is reached (`skipped_cap`). */
export interface ReportSummary {
  attached: number;
  already: number;
  failed: number;
  alerts_created: number;
  skipped_cap: number;
}

/** The result for a suggested alert. `source_count` 0: it covers all sources, or was not created. */
export interface ReportedAlert {
  name: string;
  status: "created" | "exists" | "failed" | (string & {});
  alert_id: string | null;
  source_count: number;
  reason: string | null;
}

/** The result for a source. `reason`: the failure, or a remark. */
export interface ReportedSource {
  url: string;
  status: "attached_existing" | "attached_new" | "failed" | (string & {});
  source_id: string | null;
  detected_type: "feed" | "html" | "push" | (string & {}) | null;
  reason: string | null;
}

/** The verdict of robots.txt on a page; it does not apply to feeds and WebSockets. */
export interface RobotsVerdict {
  allowed: boolean;
  crawl_delay_s: number | null;
  says: string;
}

/** Whether each value equals the stored one, in the order of the request; false if none is stored. */
export interface SecretsAnswer {
  same: Array<boolean>;
}

/** Values to compare with the stored secrets. */
export interface SecretsRequest {
  secrets: Array<SupposedSecret>;
}

/** The settings of a running service, by their names. A secret that is set is shown as asterisks. */
export interface SettingsSeen {
  settings: Record<string, unknown>;
}

/** The message with the service's markup. `failure`: the reason why the template was not used for this event. */
export interface ShownMessage {
  /** The newest event, a digest of the newest, or a sample if there is none */
  of: "digest" | "event" | "sample" | (string & {});
  title: string;
  text: string;
  failure?: string;
}

/**
 * The shown part of a page: `selector` and `ignore`, including inherited values. `inherited`: the tags that each
 * comes from; a missing one is the source's own.
 */
export interface ShownPart {
  selector: string | null;
  ignore: Array<string>;
  inherited: Record<string, Array<string>>;
}

/**
 * Both signatures, checked on arrival. `hmac` is checked with the secrets of this service's destinations that
 * deliver to this bin, `ed25519` with its signing keys.
 */
export interface SignatureCheck {
  hmac: Checked;
  ed25519: CheckedEvents;
}

/** The size of the storage in bytes, the part that is free for new events, and the largest sources. */
export interface Sizes {
  bytes: number;
  free: number;
  sources: Array<SourceSize>;
}

/** Up to 20 URLs to watch. */
export interface SourceBatch {
  sources: Array<NewSource>;
}

/** The blocks of a watched page to show. Omitted `selector` and `ignore` have the source's values. */
export interface SourceBlocksRequest {
  selector?: string | null;
  /** Selectors of parts to leave out */
  ignore?: Array<string>;
  /** The number of blocks to skip; an answer has 100. Default: 0 */
  first?: number;
  /** Only blocks with all of these words. Default: "" */
  find?: string;
  press?: PressedBlock | null;
}

/** A source's health. Before the first success `last_success_at` is the time of creation. */
export interface SourceHealth {
  score: number;
  flag: "degraded" | "ok" | "rotten" | (string & {});
  reason: string;
  last_success_at: string;
  rank: number;
  last_checked_at: string | null;
}

/**
 * The fields to change; null empties `selector`, `schedule`, `hours`, `filter`, `bar`, `hello`, `headers`,
 * `wait_for` and `managed`. The URL is fixed.
 */
export interface SourcePatch {
  type?: "feed" | "html" | "push";
  enabled?: boolean;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>` */
  tags?: Array<string>;
  selector?: string | null;
  /** Selectors of parts to leave out */
  ignore?: Array<string>;
  filter?: string | null;
  /** The subprotocols that a push source's handshake offers, best first */
  subprotocols?: Array<string>;
  hello?: string | Array<string> | null;
  /**
   * Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern matches any characters, and
   * inserts them in the text. An answered frame is no event
   */
  replies?: Array<string>;
  headers?: string | null;
  /**
   * Hosts of other sources that borrow these headers if they have none: names, or `*.` for all subdomains, over
   * https and wss. With any entry, the URL's own origin is included
   */
  headers_for?: Array<string>;
  /**
   * Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
   * much as 100 plain ones; feeds are never rendered
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /**
   * Whether to store a screenshot with each change and at the first check of a rendered page, for
   * `screenshot_days`
   */
  screenshots?: boolean;
  schedule?: string | null;
  hours?: string | null;
  bar?: number | null;
  /**
   * `new_links`: report each new item of a list page, each new address of a sitemap and each new entry of a feed
   * once, with the text of its own page. A page is then read as a list; its other changes are not reported
   */
  follow?: "new_links" | "none";
  /**
   * Other hosts whose pages `follow` also fetches, with their subdomains; `*` is every host. Links to others are
   * reported without the text of their page. `headers` never go there
   */
  follow_hosts?: Array<string>;
  /**
   * Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
   * its own selectors
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
  /** Your own name for it, on one line */
  title?: string;
  /** The files that describe it; see `sanderling apply` */
  managed?: Managed | null;
}

/**
 * A watched source. `title`: its owner's name for it. `found_title`: the page's own title. `noise_count`: block
 * keys that feedback has marked as noise. `state`: its state now. `health`: its score over days. `rendered`: a
 * browser renders it, so each check costs as much as 100 plain ones. `headers_from`: the source whose headers its
 * checks borrow; null with its own or none. `private`: it is checked with headers or in an opened network, so
 * publications omit it unless they name it. `schedule`, `hours`, `bar`, `selector` and `ignore` are its own
 * settings; `effective` has those in force, `inherited` the tags that they come from (see PUT /v1/tags/{tag}).
 * `own_only` names settings that are never inherited.
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
   * `failing`: The last check failed, or the WebSocket is down. `resting`: Several checks failed in a row:
   * Sanderling pauses its checks for a while. `throttled`: The server asked for fewer requests. `unrendered`: It
   * needs a browser, and none was available at the last check. `overdue`: Its check is late. `new`: Not checked
   * yet. `ok`: The last check succeeded. `paused`: A person paused it. Sanderling does not check it until you
   * resume it.
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
  /** The value of its ETag, for If-Match */
  revision: string;
  /** The author of the last change: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
  supported?: boolean;
  follow_one_hop?: boolean;
  private?: boolean;
}

/** A source's events in the log. `url` is null for a deleted source and for the service's notices. */
export interface SourceSize {
  events: number;
  bytes: number;
  source_id: string;
  url: string | null;
  /** The user's name for it, else its own title */
  title?: string;
}

/** The state of the watching now; `last_error` is a sentence. `enabled`, `health_flag`: twins. */
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

/** Why a text was not reported. `says`: the best reason and the state of the source. `reasons`: all known facts. */
export interface SourceWhy {
  id: string;
  url: string;
  /** The user's name for it, else its own title */
  title: string;
  type: "feed" | "html" | "push" | (string & {});
  says: string;
  state: string;
  reasons: Array<KnownReason>;
}

/** Sources by health, by state and by state of their actors. `total` includes paused ones. */
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
 * An open stream. `key`: the id of its API key or of its dashboard session, "" on the admin socket. `cursor`: its
 * position in the log as an id; null if it does not follow the log. `behind_s`: the age of that position against
 * the newest event, 0 if it has read all. `bytes`: size of the events sent to it.
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

/** The streams of this node only, furthest behind first. `node`: its name; "" in a service of one node. */
export interface StreamsSeen {
  total: number;
  node: string;
  streams: Array<StreamSeen>;
}

/** A value to compare with a stored secret. */
export interface SupposedSecret {
  of: "destination" | "source";
  id: string;
  /** For a source `headers` or `hello`; for a destination `url`, `secret` or the name of an option */
  name: string;
  /** The value to compare */
  value: string;
}

/**
 * The settings that the sources of a tag inherit; null and [] set nothing. `destinations`: a new alert over the
 * tag gets a copy of each.
 */
export interface TagDefaultsRecord {
  schedule: string | null;
  hours: string | null;
  bar: number | null;
  selector: string | null;
  ignore: Array<string>;
  destinations: Array<string>;
  updated_at: string;
  /** The value of its ETag, for If-Match */
  revision: string;
  /** The author of the last change: a key's name, the dashboard, this machine; else the service */
  updated_by: string;
  managed: Managed | null;
}

/**
 * A tag. `sources`: number with the tag. `sources_below`: number with the tag or a tag below it (`news/se` is
 * below `news`). `defaults`: null without defaults.
 */
export interface TagRecord {
  tag: string;
  sources: number;
  sources_below: number;
  defaults: TagDefaultsRecord | null;
}

/**
 * All defaults of a tag; an absent field sets nothing. The fields are those of POST /v1/sources. `destinations`: a
 * new alert over the tag gets a copy of each. An absent `managed` stays; null removes it.
 */
export interface TagSettings {
  schedule?: string | null;
  hours?: string | null;
  bar?: number | null;
  selector?: string | null;
  /** Selectors of parts to leave out. Default: [] */
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

/** A parameter of a template: `min` to `max` values. A domain has no scheme and no path. */
export interface TemplateParameter {
  key: string;
  type: "domain" | "number" | "string" | "url" | (string & {});
  description: string;
  example: string;
  required: boolean;
  repeatable: boolean;
  min: number;
  max: number;
}

/** The sources and alerts that an instantiation would add. Nothing was fetched, so a page may not exist. */
export interface TemplatePreview {
  template: string;
  version: number;
  sources: Array<PreviewedSource>;
  alerts: Array<PreviewedAlert>;
  summary: PreviewSummary;
}

/** A whole template. `schema`: the JSON Schema (2020-12) of `params`, as JSON text. */
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

/** The result of an instantiation; partial if something failed. The same call again does the rest. */
export interface TemplateReport {
  template: string;
  version: number;
  status: "complete" | "partial" | (string & {});
  sources: Array<ReportedSource>;
  alerts: Array<ReportedAlert>;
  next_steps: NextSteps;
  summary: ReportSummary;
}

/** A source, with `{key}` as the place of a parameter's value. */
export interface TemplateSource {
  url: string;
  type: "feed" | "html" | "push" | (string & {});
  tags: Array<string>;
}

/**
 * A template in the list. `source_count`: its URL patterns; each value of a parameter adds those that name it.
 * `parameters`: only their names; the template has the details.
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

/** The result of a test delivery. */
export interface TestAnswer {
  result: "retry" | "sent" | "terminal" | (string & {});
  status_code: number | null;
  latency_ms: number;
  detail: string;
}

/** Rows from `start` on, of `total` that match the filter; fewer than requested if some have just vanished. */
export interface TreePage {
  total: number;
  start: number;
  rows: Array<TreeRow>;
}

/**
 * The details of one part. `crash`: the last crash; `places`: its innermost stack frames. task: its state in the
 * supervisor; null without one. slowest_step_s: the longest time that it held the event loop.
 */
export interface TreePart {
  row: TreeRow;
  /** Its state in the supervisor */
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
   * its next start. `failing`: The other side fails; Sanderling tries again. `resting`: Several checks failed in a
   * row: Sanderling pauses its checks for a while. `throttled`: The server asked for fewer requests. `unrendered`:
   * It needs a browser, and none was available at the last check. `overdue`: Its check is late. `ended`: It has
   * ended. `stopping`: It was asked to stop and finishes its work. `starting`: It runs but is not ready yet.
   * `held`: The service is drained, or its own connection is down. `new`: Not checked yet. `ok`: It runs and all
   * is well. `paused`: A person paused it. Sanderling does not check it until you resume it.
   */
  state: "backoff" | "ended" | "failing" | "held" | "new" | "ok" | "overdue" | "paused" | "quarantined" | "resting" | "starting" | "stopping" | "throttled" | "unrendered" | (string & {});
  /** A source's score from 0 to 1 */
  health: number | null;
  flag: "degraded" | "ok" | "rotten" | (string & {}) | null;
  restarts: number;
  /** When it entered its state */
  since: string;
  error: string;
  /** Its next action: a check, or a restart after a crash */
  next: string | null;
  /** The user's name for a source, else its own title */
  title?: string;
  /** Messages in its mailbox; null without one */
  mailbox?: number | null;
  /** Messages that it has received so far */
  handled?: number | null;
  /** Seconds between a source's checks at its present pace */
  pace_s?: number | null;
  /**
   * A source's last checks, newest last, one mark each. `+`: changed. `.`: unchanged. `-`: nothing to report. `x`:
   * failed. `t`: throttled. `X`: failed for good. `?`: not readable. `o`: own connection.
   */
  marks?: string;
  /** The children of `sources` and `destinations` */
  below?: BelowSeen | null;
}

/** A current value that meets a new alert's query already: the alert matches once the value changes again. */
export interface TrueNow {
  source_id: string;
  source: string;
  label: string;
  text: string;
}

/**
 * One thing that changed. `before` or `after` is absent where it came, or went. label: the value's name ("Team ·
 * Seats") in the page's own words. path: its place in a document that has paths. lowest_since, highest_since: of a
 * price, from when on it was never lower, or higher, as far as is known (RFC 3339).
 */
export interface TypedChange {
  /**
   * A price, an availability, a date or time, a number or share, a version, a name, a negation (a word such as
   * *not* was added or removed), an added or removed item, or other text.
   */
  kind: "added" | "availability" | "date" | "name" | "negation" | "number" | "price" | "removed" | "text" | "version" | (string & {});
  /** The value's name in the page's own words. */
  label?: string;
  /** Its path in a structured document, such as `$.plans[1].price`. */
  path?: string;
  /** The old value; absent if it is new. */
  before?: Value;
  /** The new value; absent if it is gone. */
  after?: Value;
  /** For a price that fell: the time since it was never lower, as far as the log reaches. */
  lowest_since?: string;
  /** For a price that rose: the time since it was never higher. */
  highest_since?: string;
}

/** A period without records, and why. */
export interface UnknownTime {
  from: string;
  to: string;
  why: "clock" | "coarse" | "crash" | "no_record" | "not_added" | "not_stored" | "restore" | "retention" | (string & {});
}

/** The URL of a page to split into blocks; the fields are those of POST /v1/sources. */
export interface UrlBlocksRequest {
  /** http, https, ws or wss */
  url: string;
  selector?: string | null;
  /** Selectors of parts to leave out. Default: [] */
  ignore?: Array<string>;
  headers?: string | null;
  /**
   * Whether a browser renders the page: `auto` only if it is empty without its scripts. A rendered check costs as
   * much as 100 plain ones; feeds are never rendered. Default: "auto"
   */
  render?: "always" | "auto" | "never";
  wait_for?: string | null;
  /** Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`. Default: [] */
  tags?: Array<string>;
  /**
   * Settings that are not inherited from tags: only the source's own value applies, or none. For `ignore`, only
   * its own selectors. Default: []
   */
  own_only?: Array<"bar" | "hours" | "ignore" | "schedule" | "selector">;
  /** The number of blocks to skip; an answer has 100. Default: 0 */
  first?: number;
  /** Only blocks with all of these words. Default: "" */
  find?: string;
  press?: PressedBlock | null;
}

/**
 * A value as written (`text`), and its type; plain text has none. money, number and percent have `number` and
 * `scale` (decimal places); `unit` is the currency (ISO 4217), "%", or a unit of measure ("GB"), absent where none
 * is known. date: `value` is YYYY-MM-DD, YYYY-MM or MM-DD; time: HH:MM; version: its numbers with dots;
 * availability: one of `AVAILABILITIES`.
 */
export interface Value {
  /** As written on the page. */
  text: string;
  /** Its recognised type; absent for plain text. */
  type?: "availability" | "date" | "money" | "number" | "percent" | "time" | "version" | (string & {});
  /** The value times ten to the power of `scale`: 1,099.50 is 109950 with scale 2. */
  number?: number;
  /** The number of decimal places. */
  scale?: number;
  /** A currency (ISO 4217), `%`, or a unit of measure; absent if unknown. */
  unit?: string;
  /**
   * A date as `YYYY-MM-DD`, `YYYY-MM` or `MM-DD`, a time as `HH:MM`, a version's numbers, or an availability: one
   * of in_stock, limited, preorder, backorder, out_of_stock, discontinued.
   */
  value?: string;
}

/**
 * A value from `at` on. `value`: its digits. `number`: the digits without the point. For a state, a version or a
 * date `number` is null, `value` is as in `current`, and `text` as written on the page. `until`: when it was
 * removed from the page; null if it is still there or the next point replaces it.
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
 * The values of one item, oldest first. `label`: its name in the page's own words. `path`: its place in a
 * structured document. `unit`: a currency (ISO 4217), "%", a unit of measure, or "" if unknown. `lowest` and
 * `highest`: for dates the earliest and the latest; null for states.
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
 * The values of a source. `current`: the values on its page now, in the page's order, at most 500 with prices
 * preferred. `more`: the number of the others. `series`: values over time, prices first. `since`: the start of the
 * record.
 */
export interface Values {
  id: string;
  since: string;
  current: Array<CurrentValue>;
  more: number;
  series: Array<ValueSeries>;
}

/**
 * The differences between two versions, from the earlier to the later, in the later one's order. `partial`: it
 * compares only the main texts of the events. `truncated`: there are more steps than these.
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
 * A text that was added (`insert`), removed (`delete`), changed (`replace`) or stayed (`keep`), and its place.
 * `spans`: the differing words; absent if the two texts have too little in common.
 */
export interface VersionStep {
  op: "delete" | "insert" | "keep" | "replace" | (string & {});
  before?: string;
  after?: string;
  context?: Context;
  spans?: Spans;
}

/** The stored versions of a page, newest first; empty for other sources. */
export interface Versions {
  id: string;
  versions: Array<KeptVersion>;
}

/**
 * The state of a source's checks. `trail`: its last checks, newest first. `health`: the factors of its score.
 * next_look: the reason for the time of the next check.
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
  /** The checks of the last 7 days, and the gaps in their record */
  covered: string;
}
