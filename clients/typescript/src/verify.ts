// Whether what came is what the service signed: the request, by its HMAC, and the event, by Ed25519.
// Both throw `Unverified` with the reason, and give what was verified.
import { UnknownKey, Unverified } from "./problems.js";
import type { Event } from "./records.js";

const TOLERANCE = 300; // seconds by which the sender's clock may differ from ours, in either direction
const NAMES = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
type Given = Headers | Record<string, string | string[] | undefined>;

/** A JWK Set, as `/.well-known/jwks.json` gives it (`Client.readKeys`). */
export interface KeySet {
  keys?: ReadonlyArray<{ kid?: string; kty?: string; crv?: string; x?: string }>;
}

/**
 * Verify a delivery by Standard Webhooks and return its `webhook-id`, by which repetitions are known.
 *
 * secret: what the destination was made with, or several while one is rotated. body: the bytes that came, before
 * anything parses them.
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  headers: Given,
  body: Uint8Array,
  { now = Date.now() / 1000, tolerance = TOLERANCE } = {},
): Promise<string> {
  const [id, timestamp, tokens] = NAMES.map((name) => named(headers, name)) as [string, string, string];
  const missing = NAMES.filter((name) => !named(headers, name));
  if (missing.length) throw new Unverified(`A header is missing: ${missing.join(", ")}.`);
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > tolerance) {
    throw new Unverified(`webhook-timestamp is more than ${tolerance} seconds from this clock: ${timestamp.slice(0, 20)}.`);
  }
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  let good = false;
  for (const one of typeof secret === "string" ? [secret] : secret) {
    const key = await crypto.subtle.importKey("raw", keyOf(one), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const token of tokens.split(" ")) {
      const came = token.startsWith("v1,") ? bytesOf(token.slice(3)) : null;
      if (came && (await crypto.subtle.verify("HMAC", key, came, signed))) good = true;
    }
  }
  if (!good) {
    throw new Unverified("No token in webhook-signature matches: another secret, or the body was changed.");
  }
  return id;
}

/** Verify an event's own signature and return the event. Throws UnknownKey when the set has no key of this name. */
export async function verifyEvent(event: Event | string | Uint8Array, keys: KeySet): Promise<Event> {
  const { signature, ...signed } = documentOf(event);
  const name = signed["key_id"];
  if (typeof signature !== "string" || typeof name !== "string") throw new Unverified("The event has no signature.");
  const key = (keys.keys ?? []).find((each) => each.kid === name);
  if (!key) throw new UnknownKey(`The set has no key ${name.slice(0, 80)}.`);
  if (key.kty !== "OKP" || key.crv !== "Ed25519") throw new Unverified(`The key ${name.slice(0, 80)} is not of Ed25519.`);
  const raw = bytesOf(key.x), came = bytesOf(signature);
  let good = false;
  if (raw?.length === 32 && came?.length === 64) {
    const imported = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
    good = await crypto.subtle.verify({ name: "Ed25519" }, imported, came, new TextEncoder().encode(canonical(signed)));
  }
  if (!good) throw new Unverified("The event was changed after signing, or signed by another key.");
  return { ...signed, signature } as unknown as Event;
}

/** Return the form of RFC 8785: JavaScript's own way to write numbers and texts is what that standard asks for. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const found = value as Record<string, unknown>;
  return `{${Object.keys(found).sort().map((name) => `${JSON.stringify(name)}:${canonical(found[name])}`).join(",")}}`;
}

function documentOf(event: unknown): Record<string, unknown> {
  let found = event;
  if (event instanceof Uint8Array || typeof event === "string") {
    try {
      found = JSON.parse(typeof event === "string" ? event : new TextDecoder("utf-8", { fatal: true }).decode(event));
    } catch {
      throw new Unverified("The event is no JSON.");
    }
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) {
    throw new Unverified("The event is no JSON object.");
  }
  return { ...found };
}

function named(headers: Given, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : "";
}

/** Return the key of a secret: base64 after `whsec_`, and if nothing is left of that, the secret's own bytes. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const found = bytesOf(secret.replace(/^whsec_/, ""));
  if (!found) throw new TypeError("The secret is not what the service gave: whsec_ and base64.");
  return found.length ? found : new TextEncoder().encode(secret);
}

/** Return the bytes of base64 or base64url; null of what is neither. */
function bytesOf(text: unknown): Uint8Array<ArrayBuffer> | null {
  if (typeof text !== "string" || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}
