// The operations of the API as methods.
// Generated from the description of the API (`python -m clients.generate`); edits are lost.

import { type Asks, type Page, type Sends, part } from "./calling.js";
import type * as r from "./records.js";

/** Every operation, one call each. */
export abstract class Operations implements Asks {
  abstract ask<T>(method: string, path: string, sends?: Sends): Promise<T>;
  abstract page<T>(method: string, path: string, sends?: Sends): Promise<Page<T>>;

  /** Classify a URL and watch it; or up to 20 at once. */
  addSource(body: r.NewSource | r.SourceBatch, options: { idempotencyKey?: string } = {}): Promise<r.SourceRecord | r.BatchAnswer> {
    return this.ask<r.SourceRecord | r.BatchAnswer>("POST", "/v1/sources", { body, headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** List sources, worst health first. */
  listSources(options: { limit?: number; cursor?: string; state?: "failing" | "new" | "ok" | "overdue" | "paused" | "resting" | "throttled" | "unrendered"; sort?: "-added" | "-changed" | "-name" | "-next" | "added" | "changed" | "name" | "next" | "worst"; q?: string } = {}): Promise<Page<r.SourceRecord>> {
    return this.page<r.SourceRecord>("GET", "/v1/sources", { query: { limit: options.limit, cursor: options.cursor, state: options.state, sort: options.sort, q: options.q } });
  }

  /** Read one source. */
  readSource(id: string): Promise<r.SourceRecord> {
    return this.ask<r.SourceRecord>("GET", `/v1/sources/${part(id)}`);
  }

  /** Change one source; its URL is fixed. */
  changeSource(id: string, body: r.SourcePatch, options: { ifMatch?: string } = {}): Promise<r.SourceRecord> {
    return this.ask<r.SourceRecord>("PATCH", `/v1/sources/${part(id)}`, { body, headers: { "If-Match": options.ifMatch } });
  }

  /** Delete one source; its events stay. */
  deleteSource(id: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.ask<void>("DELETE", `/v1/sources/${part(id)}`, { headers: { "If-Match": options.ifMatch } });
  }

  /** Pause one source. */
  disableSource(id: string, options: { ifMatch?: string } = {}): Promise<r.SourceRecord> {
    return this.ask<r.SourceRecord>("POST", `/v1/sources/${part(id)}/disable`, { headers: { "If-Match": options.ifMatch } });
  }

  /** Resume one source. */
  enableSource(id: string, options: { ifMatch?: string } = {}): Promise<r.SourceRecord> {
    return this.ask<r.SourceRecord>("POST", `/v1/sources/${part(id)}/enable`, { headers: { "If-Match": options.ifMatch } });
  }

  /** Restore a source deleted less than ten minutes ago. */
  restoreSource(id: string): Promise<r.SourceRecord> {
    return this.ask<r.SourceRecord>("POST", `/v1/sources/${part(id)}/restore`);
  }

  /** Read the health of a source. */
  readHealth(id: string): Promise<r.SourceHealth> {
    return this.ask<r.SourceHealth>("GET", `/v1/sources/${part(id)}/health`);
  }

  /** Check a source now, if politeness allows. */
  checkSource(id: string): Promise<r.CheckAnswer> {
    return this.ask<r.CheckAnswer>("POST", `/v1/sources/${part(id)}/check`);
  }

  /** Classify a URL without watching it, and preview its events. */
  detect(body: r.DetectRequest): Promise<r.DetectAnswer> {
    return this.ask<r.DetectAnswer>("POST", "/v1/sources/detect", { body });
  }

  /** Preview another selector on a watched page. */
  previewSource(id: string, body: r.PreviewRequest): Promise<r.Preview> {
    return this.ask<r.Preview>("POST", `/v1/sources/${part(id)}/preview`, { body });
  }

  /** List the blocks of a URL's page, each with its selector. */
  pickFromUrl(body: r.UrlBlocksRequest): Promise<r.PageBlocks> {
    return this.ask<r.PageBlocks>("POST", "/v1/sources/blocks", { body });
  }

  /** List the blocks of a watched page, each with its selector. */
  pickFromSource(id: string, body: r.SourceBlocksRequest): Promise<r.PageBlocks> {
    return this.ask<r.PageBlocks>("POST", `/v1/sources/${part(id)}/blocks`, { body });
  }

  /** Read the status of a source. */
  readStatus(id: string): Promise<r.SourceStatus> {
    return this.ask<r.SourceStatus>("GET", `/v1/sources/${part(id)}/status`);
  }

  /** Read the results of the last 200 checks. */
  readLooks(id: string, options: { limit?: number; cursor?: string } = {}): Promise<r.LookTrail> {
    return this.ask<r.LookTrail>("GET", `/v1/sources/${part(id)}/looks`, { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read the checks of a period, as a signed receipt. */
  readCoverage(id: string, options: { from?: string; to?: string } = {}): Promise<r.CoverageReceipt> {
    return this.ask<r.CoverageReceipt>("GET", `/v1/sources/${part(id)}/coverage`, { query: { from: options.from, to: options.to } });
  }

  /** Explain why a text was not reported. */
  whyNot(id: string, options: { text?: string; look?: boolean } = {}): Promise<r.SourceWhy> {
    return this.ask<r.SourceWhy>("GET", `/v1/sources/${part(id)}/why`, { query: { text: options.text, look: options.look } });
  }

  /** Explain why an event was emitted. */
  whyEvent(id: string): Promise<r.EventWhy> {
    return this.ask<r.EventWhy>("GET", `/v1/events/${part(id)}/why`);
  }

  /** Mark a page's event as noise, or as real. */
  teach(id: string, body: r.Feedback): Promise<r.Lesson> {
    return this.ask<r.Lesson>("POST", `/v1/events/${part(id)}/feedback`, { body });
  }

  /** Read a source's prices, numbers, states, versions and dates, and their history. */
  readValues(id: string, options: { format?: "csv" | "json" } = {}): Promise<r.Values> {
    return this.ask<r.Values>("GET", `/v1/sources/${part(id)}/values`, { query: { format: options.format } });
  }

  /** List the stored versions of a page. */
  listVersions(id: string): Promise<r.Versions> {
    return this.ask<r.Versions>("GET", `/v1/sources/${part(id)}/versions`);
  }

  /** Compare two versions of a page. */
  compareVersions(id: string, options: { from?: string; to?: string; show?: "changes" | "text" } = {}): Promise<r.VersionComparison> {
    return this.ask<r.VersionComparison>("GET", `/v1/sources/${part(id)}/compare`, { query: { from: options.from, to: options.to, show: options.show } });
  }

  /** List tags by name, with their defaults. */
  listTags(options: { limit?: number; cursor?: string } = {}): Promise<Page<r.TagRecord>> {
    return this.page<r.TagRecord>("GET", "/v1/tags", { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read one tag with its defaults. */
  readTag(tag: string): Promise<r.TagRecord> {
    return this.ask<r.TagRecord>("GET", `/v1/tags/${part(tag)}`);
  }

  /** Replace all defaults of a tag. */
  setTagDefaults(tag: string, body: r.TagSettings, options: { ifMatch?: string } = {}): Promise<r.TagRecord> {
    return this.ask<r.TagRecord>("PUT", `/v1/tags/${part(tag)}`, { body, headers: { "If-Match": options.ifMatch } });
  }

  /** Delete the defaults of a tag; its sources keep the tag. */
  deleteTagDefaults(tag: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.ask<void>("DELETE", `/v1/tags/${part(tag)}`, { headers: { "If-Match": options.ifMatch } });
  }

  /** Read the events of a period, page by page. */
  listEvents(options: { from?: string; to?: string; source?: Array<string>; sourceType?: Array<string>; tag?: Array<string>; keyword?: Array<string>; heartbeats?: boolean; private?: boolean; cursor?: string; order?: "asc" | "desc"; limit?: number } = {}): Promise<r.EventsPage> {
    return this.ask<r.EventsPage>("GET", "/v1/events", { query: { from: options.from, to: options.to, source: options.source, source_type: options.sourceType, tag: options.tag, keyword: options.keyword, heartbeats: options.heartbeats, private: options.private, cursor: options.cursor, order: options.order, limit: options.limit } });
  }

  /** Read one event. */
  readEvent(id: string): Promise<r.Event> {
    return this.ask<r.Event>("GET", `/v1/events/${part(id)}`);
  }

  /** Read a screenshot of the rendered page, before the event or after it. */
  readScreenshot(id: string, options: { side?: "after" | "before" } = {}): Promise<string> {
    return this.ask<string>("GET", `/v1/events/${part(id)}/screenshot`, { query: { side: options.side }, text: true });
  }

  /** Export the events of a period into one file: JSON, NDJSON or CSV. */
  exportEvents(options: { from?: string; to?: string; source?: Array<string>; sourceType?: Array<string>; tag?: Array<string>; keyword?: Array<string>; heartbeats?: boolean; private?: boolean; format?: "csv" | "json" | "ndjson" } = {}): Promise<Array<r.Event>> {
    return this.ask<Array<r.Event>>("GET", "/v1/events/export", { query: { from: options.from, to: options.to, source: options.source, source_type: options.sourceType, tag: options.tag, keyword: options.keyword, heartbeats: options.heartbeats, private: options.private, format: options.format } });
  }

  /** Add an alert. */
  addAlert(body: r.NewAlert, options: { idempotencyKey?: string } = {}): Promise<r.AlertRecord> {
    return this.ask<r.AlertRecord>("POST", "/v1/alerts", { body, headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** List alerts, oldest first. */
  listAlerts(options: { limit?: number; cursor?: string } = {}): Promise<Page<r.AlertRecord>> {
    return this.page<r.AlertRecord>("GET", "/v1/alerts", { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read one alert. */
  readAlert(id: string): Promise<r.AlertRecord> {
    return this.ask<r.AlertRecord>("GET", `/v1/alerts/${part(id)}`);
  }

  /** Change one alert. */
  changeAlert(id: string, body: r.AlertPatch, options: { ifMatch?: string } = {}): Promise<r.AlertRecord> {
    return this.ask<r.AlertRecord>("PATCH", `/v1/alerts/${part(id)}`, { body, headers: { "If-Match": options.ifMatch } });
  }

  /** Delete one alert with its destinations. */
  deleteAlert(id: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.ask<void>("DELETE", `/v1/alerts/${part(id)}`, { headers: { "If-Match": options.ifMatch } });
  }

  /** Try a query on the newest events. */
  previewAlert(body: r.AlertPreviewRequest): Promise<r.AlertPreview> {
    return this.ask<r.AlertPreview>("POST", "/v1/alerts/preview", { body });
  }

  /** Add a destination; its signing secret is in this answer only. */
  addDestination(id: string, body: r.NewDestination, options: { idempotencyKey?: string } = {}): Promise<r.DestinationWithSecret> {
    return this.ask<r.DestinationWithSecret>("POST", `/v1/alerts/${part(id)}/destinations`, { body, headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** List an alert's destinations, oldest first. */
  listDestinationsOfAlert(id: string, options: { limit?: number; cursor?: string } = {}): Promise<Page<r.DestinationRecord>> {
    return this.page<r.DestinationRecord>("GET", `/v1/alerts/${part(id)}/destinations`, { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** List all destinations, oldest first. */
  listDestinations(options: { limit?: number; cursor?: string } = {}): Promise<Page<r.DestinationRecord>> {
    return this.page<r.DestinationRecord>("GET", "/v1/destinations", { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** List the kinds of destinations and their fields. */
  listDestinationKinds(): Promise<Array<r.DestinationKindRecord>> {
    return this.ask<Array<r.DestinationKindRecord>>("GET", "/v1/destination-kinds");
  }

  /** Read one destination. */
  readDestination(id: string): Promise<r.DestinationRecord> {
    return this.ask<r.DestinationRecord>("GET", `/v1/destinations/${part(id)}`);
  }

  /** Change one destination. */
  changeDestination(id: string, body: r.DestinationPatch, options: { ifMatch?: string } = {}): Promise<r.DestinationRecord> {
    return this.ask<r.DestinationRecord>("PATCH", `/v1/destinations/${part(id)}`, { body, headers: { "If-Match": options.ifMatch } });
  }

  /** Delete one destination and its waiting deliveries. */
  deleteDestination(id: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.ask<void>("DELETE", `/v1/destinations/${part(id)}`, { headers: { "If-Match": options.ifMatch } });
  }

  /** Send one signed sample now. */
  testDestination(id: string, options: { idempotencyKey?: string } = {}): Promise<r.TestAnswer> {
    return this.ask<r.TestAnswer>("POST", `/v1/destinations/${part(id)}/test`, { headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** Send the invitation again. */
  inviteAgain(id: string): Promise<r.TestAnswer> {
    return this.ask<r.TestAnswer>("POST", `/v1/destinations/${part(id)}/invite`);
  }

  /** Create a new secret, shown only in this answer; the old one also signs for 24 hours. */
  rotateSecret(id: string, options: { ifMatch?: string; idempotencyKey?: string } = {}): Promise<r.DestinationWithSecret> {
    return this.ask<r.DestinationWithSecret>("POST", `/v1/destinations/${part(id)}/rotate-secret`, { headers: { "If-Match": options.ifMatch, "Idempotency-Key": options.idempotencyKey } });
  }

  /** List attempts, newest first. */
  listDeliveries(id: string, options: { limit?: number; cursor?: string; result?: "given_up" | "retry" | "sent" } = {}): Promise<Page<r.DeliveryRecord>> {
    return this.page<r.DeliveryRecord>("GET", `/v1/destinations/${part(id)}/deliveries`, { query: { limit: options.limit, cursor: options.cursor, result: options.result } });
  }

  /** Preview a message template on the newest events. Nothing is sent. */
  previewMessage(body: r.MessagePreviewRequest): Promise<r.MessagePreview> {
    return this.ask<r.MessagePreview>("POST", "/v1/destinations/preview", { body });
  }

  /** Deliver past matches again under their old ids. */
  replay(id: string, body: r.ReplayRequest, options: { idempotencyKey?: string } = {}): Promise<r.ReplayAnswer> {
    return this.ask<r.ReplayAnswer>("POST", `/v1/destinations/${part(id)}/replay`, { body, headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** List the templates. */
  listTemplates(): Promise<Array<r.TemplateSummary>> {
    return this.ask<Array<r.TemplateSummary>>("GET", "/v1/templates");
  }

  /** Read one template: its parameters, sources and suggested alerts. */
  readTemplate(templateId: string): Promise<r.TemplateRecord> {
    return this.ask<r.TemplateRecord>("GET", `/v1/templates/${part(templateId)}`);
  }

  /** Preview an instantiation without doing it. */
  previewTemplate(templateId: string, body: r.Instantiation): Promise<r.TemplatePreview> {
    return this.ask<r.TemplatePreview>("POST", `/v1/templates/${part(templateId)}/preview`, { body });
  }

  /** Add a template's sources, and optionally its alerts. A repetition does the rest. */
  instantiateTemplate(templateId: string, body: r.Instantiation, options: { idempotencyKey?: string } = {}): Promise<r.TemplateReport> {
    return this.ask<r.TemplateReport>("POST", `/v1/templates/${part(templateId)}/instantiate`, { body, headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** Create a bin: an address that stores requests. */
  addBin(options: { idempotencyKey?: string } = {}): Promise<r.BinRecord> {
    return this.ask<r.BinRecord>("POST", "/v1/webhook-bins", { headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** List bins, oldest first. */
  listBins(options: { limit?: number; cursor?: string } = {}): Promise<Page<r.BinRecord>> {
    return this.page<r.BinRecord>("GET", "/v1/webhook-bins", { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read one bin. */
  readBin(id: string): Promise<r.BinRecord> {
    return this.ask<r.BinRecord>("GET", `/v1/webhook-bins/${part(id)}`);
  }

  /** Delete one bin and its captures. */
  deleteBin(id: string): Promise<void> {
    return this.ask<void>("DELETE", `/v1/webhook-bins/${part(id)}`);
  }

  /** List the requests to a bin, newest first. */
  listCaptures(id: string, options: { limit?: number; cursor?: string } = {}): Promise<Page<r.CaptureRecord>> {
    return this.page<r.CaptureRecord>("GET", `/v1/webhook-bins/${part(id)}/captures`, { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Publish events as feeds and a page. */
  addPublication(body: r.NewPublication, options: { idempotencyKey?: string } = {}): Promise<r.PublicationRecord> {
    return this.ask<r.PublicationRecord>("POST", "/v1/publications", { body, headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** List publications, oldest first. */
  listPublications(options: { limit?: number; cursor?: string } = {}): Promise<Page<r.PublicationRecord>> {
    return this.page<r.PublicationRecord>("GET", "/v1/publications", { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read one publication. */
  readPublication(id: string): Promise<r.PublicationRecord> {
    return this.ask<r.PublicationRecord>("GET", `/v1/publications/${part(id)}`);
  }

  /** Change one publication. */
  changePublication(id: string, body: r.PublicationPatch, options: { ifMatch?: string } = {}): Promise<r.PublicationRecord> {
    return this.ask<r.PublicationRecord>("PATCH", `/v1/publications/${part(id)}`, { body, headers: { "If-Match": options.ifMatch } });
  }

  /** Delete one publication. */
  deletePublication(id: string, options: { ifMatch?: string } = {}): Promise<void> {
    return this.ask<void>("DELETE", `/v1/publications/${part(id)}`, { headers: { "If-Match": options.ifMatch } });
  }

  /** Give a publication another address. */
  readdressPublication(id: string): Promise<r.PublicationRecord> {
    return this.ask<r.PublicationRecord>("POST", `/v1/publications/${part(id)}/address`);
  }

  /** Invite a person. */
  addInvitation(body: r.NewInvitation, options: { idempotencyKey?: string } = {}): Promise<r.InvitationRecord> {
    return this.ask<r.InvitationRecord>("POST", "/v1/invitations", { body, headers: { "Idempotency-Key": options.idempotencyKey } });
  }

  /** List the invitations that wait, oldest first. */
  listInvitations(options: { limit?: number; cursor?: string } = {}): Promise<Page<r.InvitationRecord>> {
    return this.page<r.InvitationRecord>("GET", "/v1/invitations", { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read one invitation. */
  readInvitation(id: string): Promise<r.InvitationRecord> {
    return this.ask<r.InvitationRecord>("GET", `/v1/invitations/${part(id)}`);
  }

  /** Withdraw an invitation. */
  deleteInvitation(id: string): Promise<void> {
    return this.ask<void>("DELETE", `/v1/invitations/${part(id)}`);
  }

  /** List the people with access, oldest first. */
  listPeople(options: { limit?: number; cursor?: string } = {}): Promise<Page<r.PersonRecord>> {
    return this.page<r.PersonRecord>("GET", "/v1/people", { query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read one person. */
  readPerson(id: string): Promise<r.PersonRecord> {
    return this.ask<r.PersonRecord>("GET", `/v1/people/${part(id)}`);
  }

  /** Change one person. */
  changePerson(id: string, body: r.PersonPatch): Promise<r.PersonRecord> {
    return this.ask<r.PersonRecord>("PATCH", `/v1/people/${part(id)}`, { body });
  }

  /** Remove one person. */
  deletePerson(id: string): Promise<void> {
    return this.ask<void>("DELETE", `/v1/people/${part(id)}`);
  }

  /** List who changed what, newest first. */
  listActivity(options: { person?: string; object?: string; since?: string; limit?: number; cursor?: string } = {}): Promise<Page<r.ActivityRecord>> {
    return this.page<r.ActivityRecord>("GET", "/v1/activity", { query: { person: options.person, object: options.object, since: options.since, limit: options.limit, cursor: options.cursor } });
  }

  /** Compare stored secrets with given values. */
  compareSecrets(body: r.SecretsRequest): Promise<r.SecretsAnswer> {
    return this.ask<r.SecretsAnswer>("POST", "/v1/secrets/compare", { body });
  }

  /** List connected apps. */
  listApps(): Promise<Array<r.AppRecord>> {
    return this.ask<Array<r.AppRecord>>("GET", "/v1/apps");
  }

  /** Disconnect an app. */
  disconnectApp(id: string): Promise<void> {
    return this.ask<void>("DELETE", `/v1/apps/${part(id)}`);
  }

  /** List the practice sources. */
  listPractice(): Promise<Array<r.PracticeRecord>> {
    return this.ask<Array<r.PracticeRecord>>("GET", "/v1/practice");
  }

  /** Start practice: create the practice sources. */
  beginPractice(): Promise<Array<r.PracticeRecord>> {
    return this.ask<Array<r.PracticeRecord>>("POST", "/v1/practice");
  }

  /** End practice: delete its sources and their alerts. */
  endPractice(): Promise<void> {
    return this.ask<void>("DELETE", "/v1/practice");
  }

  /** Change a practice document and check it. */
  changePractice(what: string): Promise<r.PracticeChange> {
    return this.ask<r.PracticeChange>("POST", `/v1/practice/${part(what)}/change`);
  }

  /** Read the figures of the service. */
  readOverview(): Promise<r.Overview> {
    return this.ask<r.Overview>("GET", "/v1/admin/overview");
  }

  /** Read the settings in force. */
  readSettings(): Promise<r.SettingsSeen> {
    return this.ask<r.SettingsSeen>("GET", "/v1/admin/settings");
  }

  /** Read a page of the tree, worst first. */
  listTree(options: { sort?: "error" | "health" | "mailbox" | "name" | "next" | "path" | "rate" | "restarts" | "since" | "worst"; reverse?: boolean; tree?: boolean; open?: Array<string>; troubled?: Array<string>; filter?: string; start?: number; limit?: number; paths?: Array<string> } = {}): Promise<r.TreePage> {
    return this.ask<r.TreePage>("GET", "/v1/admin/tree", { query: { sort: options.sort, reverse: options.reverse, tree: options.tree, open: options.open, troubled: options.troubled, filter: options.filter, start: options.start, limit: options.limit, paths: options.paths } });
  }

  /** Read the details of one part. */
  readPart(path: string): Promise<r.TreePart> {
    return this.ask<r.TreePart>("GET", `/v1/admin/tree/${part(path, true)}`);
  }

  /** Read the state of destinations, failing ones first. */
  listDeliveryRows(options: { start?: number; limit?: number } = {}): Promise<r.DeliveriesPage> {
    return this.ask<r.DeliveriesPage>("GET", "/v1/admin/deliveries", { query: { start: options.start, limit: options.limit } });
  }

  /** Read the sizes, largest sources first. */
  readSizes(options: { limit?: number } = {}): Promise<r.Sizes> {
    return this.ask<r.Sizes>("GET", "/v1/admin/sizes", { query: { limit: options.limit } });
  }

  /** Read the newest log lines. */
  readLog(options: { actor?: string; after?: number; limit?: number } = {}): Promise<r.LogPage> {
    return this.ask<r.LogPage>("GET", "/v1/admin/log", { query: { actor: options.actor, after: options.after, limit: options.limit } });
  }

  /** List the open streams of this node. */
  listOpenStreams(options: { limit?: number } = {}): Promise<r.StreamsSeen> {
    return this.ask<r.StreamsSeen>("GET", "/v1/admin/streams", { query: { limit: options.limit } });
  }

  /** List the API keys. */
  listKeys(): Promise<r.KeysSeen> {
    return this.ask<r.KeysSeen>("GET", "/v1/admin/keys");
  }

  /** Close a stream. */
  closeStream(number: string): Promise<r.Done> {
    return this.ask<r.Done>("POST", `/v1/admin/streams/${part(number)}/close`);
  }

  /** Delete an API key. */
  revokeKey(id: string): Promise<r.Done> {
    return this.ask<r.Done>("POST", `/v1/admin/keys/${part(id)}/revoke`);
  }

  /** Check a source now, if politeness allows. */
  checkPart(path: string): Promise<r.Done> {
    return this.ask<r.Done>("POST", `/v1/admin/tree/${part(path, true)}/check`);
  }

  /** Restart a part. */
  restartPart(path: string): Promise<r.Done> {
    return this.ask<r.Done>("POST", `/v1/admin/tree/${part(path, true)}/restart`);
  }

  /** End a quarantine, or the wait after a crash. */
  releasePart(path: string): Promise<r.Done> {
    return this.ask<r.Done>("POST", `/v1/admin/tree/${part(path, true)}/release`);
  }

  /** Pause a source. */
  disablePart(path: string): Promise<r.Done> {
    return this.ask<r.Done>("POST", `/v1/admin/tree/${part(path, true)}/disable`);
  }

  /** Resume a source. */
  enablePart(path: string): Promise<r.Done> {
    return this.ask<r.Done>("POST", `/v1/admin/tree/${part(path, true)}/enable`);
  }

  /** Stop all checks; pending events are still delivered. */
  drain(): Promise<r.Done> {
    return this.ask<r.Done>("POST", "/v1/admin/drain");
  }

  /** Resume all checks. */
  resume(): Promise<r.Done> {
    return this.ask<r.Done>("POST", "/v1/admin/resume");
  }

  /** Read the public keys of event signatures. */
  readKeys(): Promise<Record<string, unknown>> {
    return this.ask<Record<string, unknown>>("GET", "/.well-known/jwks.json");
  }

  /** Check that the process is alive. */
  readLiveness(): Promise<Record<string, unknown>> {
    return this.ask<Record<string, unknown>>("GET", "/healthz");
  }

  /** Check that the service is ready. */
  readReadiness(): Promise<Record<string, unknown>> {
    return this.ask<Record<string, unknown>>("GET", "/readyz");
  }
}
