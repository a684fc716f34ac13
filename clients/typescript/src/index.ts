// The client of Sanderling: `Client`, streams that resume, typed problems, verification.
export type { Page } from "./calling.js";
export { Client, type ClientOptions, type StreamOptions } from "./client.js";
export { receive } from "./deliveries.js";
export { ProblemError, SanderlingError, StreamLost, UnknownKey, Unverified } from "./problems.js";
export type * from "./records.js";
export { Frames, Received, Stream } from "./stream.js";
export { canonical, type KeySet, verifyEvent, verifyWebhook } from "./verify.js";
