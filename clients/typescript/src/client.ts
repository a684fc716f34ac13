// The client: one service, one key.
import { type Page, type Sends, part, queryOf } from "./calling.js";
import { Operations } from "./operations.js";
import { refusalOf } from "./problems.js";
import { Stream } from "./stream.js";

/** Which events a stream has: all values of one filter are alternatives, and all filters must hold. */
export interface StreamOptions {
  channel?: string;
  /** After what came after an id, or `earliest`. */
  since?: string;
  source?: readonly string[];
  sourceType?: readonly string[];
  tag?: readonly string[];
  keyword?: readonly string[];
  /** Openings that may fail in a row: 10, which is some four minutes; Infinity for any number. */
  giveUp?: number;
  /** Milliseconds without a byte that are a cut; the service sends a sign of life every 15 seconds. */
  silence?: number;
  signal?: AbortSignal;
}

/** What a client is made with. `fetch`: another than the runtime's own. `timeout`: milliseconds for a call. */
export interface ClientOptions {
  key?: string;
  fetch?: typeof fetch;
  timeout?: number;
}

export class Client extends Operations {
  readonly #url: string;
  readonly #fetch: typeof fetch;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;

  constructor(url: string, options: ClientOptions = {}) {
    super();
    if (!/^https?:$/.test(new URL(url).protocol)) {
      throw new TypeError(`${url}: the service's address begins with http:// or https://.`);
    }
    this.#url = url.replace(/\/+$/, "");
    this.#fetch = options.fetch ?? ((...asked) => globalThis.fetch(...asked));
    this.#headers = options.key === undefined ? {} : { Authorization: `Bearer ${options.key}` };
    this.#timeout = options.timeout ?? 30_000;
  }

  /** Make one call. The operations are this; it serves one that a later version has. */
  async ask<T>(method: string, path: string, sends: Sends = {}): Promise<T> {
    const answer = await this.#send(method, path, sends);
    const text = await answer.text();
    return (sends.text ? text : text ? JSON.parse(text) : undefined) as T;
  }

  /** Make one call whose answer is a page of a list. */
  async page<T>(method: string, path: string, sends: Sends = {}): Promise<Page<T>> {
    const answer = await this.#send(method, path, sends);
    const next = /<([^>]*)>;\s*rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1];
    const nextCursor = next ? new URL(next, this.#url).searchParams.get("cursor") : null;
    return { items: (await answer.json()) as T[], nextCursor };
  }

  /** Go through a whole list: `client.each((cursor) => client.listSources({ cursor }))`. */
  async *each<T>(page: (cursor?: string) => Promise<Page<T>>): AsyncGenerator<T, void, undefined> {
    let found = await page();
    for (;;) {
      yield* found.items;
      if (found.nextCursor === null) return;
      found = await page(found.nextCursor);
    }
  }

  /** Follow all events, or those of a channel, live. */
  stream(options: StreamOptions = {}): Stream {
    const { channel, since, source, sourceType, tag, keyword, giveUp = 10, silence = 45_000, signal } = options;
    const path = channel === undefined ? "/v1/stream" : `/v1/streams/${part(channel)}`;
    const query = queryOf({ source, source_type: sourceType, tag, keyword, since });
    const how = { fetch: this.#fetch, headers: this.#headers, since, giveUp, silence, signal };
    return new Stream({ ...how, url: `${this.#url}${path}${query}` });
  }

  async #send(method: string, path: string, sends: Sends): Promise<Response> {
    const headers: Record<string, string> = { ...this.#headers };
    for (const [name, value] of Object.entries(sends.headers ?? {})) if (value !== undefined) headers[name] = value;
    if (sends.body !== undefined) headers["Content-Type"] = "application/json";
    const answer = await this.#fetch(`${this.#url}${path}${queryOf(sends.query)}`, {
      method,
      headers,
      body: sends.body === undefined ? null : JSON.stringify(sends.body),
      signal: AbortSignal.timeout(this.#timeout),
    });
    if (!answer.ok) throw await refusalOf(answer);
    return answer;
  }
}
