// A stream: events as they come, over cuts at any byte, without a gap and without a repetition.
//
// Nothing is read before it is asked for. An id ends its frame, so a frame that was cut was not taken, and comes again.
import { ProblemError, SanderlingError, StreamLost, refusalOf } from "./problems.js";
import type { Event } from "./records.js";

const LARGEST = 8 << 20; // letters of one line; an event has less than a tenth of that
const MEDIA = "text/event-stream";
const LONGEST_WAIT = 30_000; // milliseconds, unless the service asks for more
const PASSING = [408, 429, 500, 502, 503, 504]; // after these the same request may succeed

/** One event of a stream, as it came. `data` is the JSON that was signed. */
export class Received {
  constructor(
    readonly id: string,
    readonly type: string,
    readonly data: string,
  ) {}

  /** The event; what a later version added is in it too. */
  get event(): Event {
    return JSON.parse(this.data) as Event;
  }
}

/** Server-Sent Events out of bytes, in any pieces. */
export class Frames {
  /** Milliseconds to wait after a cut, as the service wishes. */
  retry = 3000;
  /** Why the service ended the stream, when it said so. */
  ended = "";
  #text = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";
  #returned = false;
  #id = "";
  #type = "";
  #data: string[] = [];

  /** Take a piece and return the events that it completes. Throws for a line without an end. */
  feed(piece: Uint8Array): Received[] {
    let text = this.#text.decode(piece, { stream: true });
    if (this.#returned && text.startsWith("\n")) text = text.slice(1); // the pieces part one end of a line
    if (text) this.#returned = text.endsWith("\r");
    this.#rest += text;
    if (this.#rest.length > LARGEST) throw new SanderlingError("The stream has a line that is longer than any event.");
    if (!/[\r\n]/.test(text)) return [];
    const lines = this.#rest.split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? "";
    return lines.map((line) => this.#line(line)).filter((found) => found !== null);
  }

  #line(line: string): Received | null {
    if (!line) {
      const found = this.#data.length ? new Received(this.#id, this.#type || "message", this.#data.join("\n")) : null;
      this.#type = "";
      this.#data = [];
      return found;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id") this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retry = Number(value);
    else if (name === "" && value.startsWith("ended: ")) this.ended = value.slice("ended: ".length);
    return null;
  }
}

/** How a stream is followed. giveUp: openings that may fail in a row; silence: milliseconds without a byte. */
export interface Following {
  fetch: typeof fetch;
  url: string;
  headers: Record<string, string>;
  since?: string | undefined;
  giveUp: number;
  silence: number;
  signal?: AbortSignal | undefined;
}

/** Events, for `for await`. Leaving the loop closes the connection. */
export class Stream implements AsyncIterable<Received> {
  /** The id of the last event that you were given, to go on after it later. */
  cursor: string | null = null;
  /** How often it was cut or not opened, and why, the last time. */
  cuts = 0;
  ended = "";
  #failed = 0;
  #wait = 0;
  #frames = new Frames();

  constructor(private readonly how: Following) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Received, void, undefined> {
    for (;;) {
      await this.#sleep(this.#wait);
      const stop = new AbortController();
      const leave = () => stop.abort(this.how.signal?.reason);
      this.how.signal?.addEventListener("abort", leave);
      try {
        for await (const piece of this.#pieces(stop)) {
          this.#failed = 0;
          for (const received of this.#frames.feed(piece)) {
            this.cursor = received.id || this.cursor;
            yield received;
          }
        }
        this.#lost(null, "the service closed it");
      } catch (error) {
        this.how.signal?.throwIfAborted();
        if (error instanceof ProblemError && PASSING.includes(error.status)) {
          this.#lost(error, error.message, (error.retryAfter ?? 0) * 1000);
        } else if (error instanceof SanderlingError || error instanceof SyntaxError) throw error;
        else this.#lost(error, String(error));
      } finally {
        stop.abort(); // also when the loop was left
        this.how.signal?.removeEventListener("abort", leave);
      }
    }
  }

  /** Yield the bytes of one answer. Throws when it is refused, cut, or silent. */
  async *#pieces(stop: AbortController): AsyncGenerator<Uint8Array, void, undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const within = async <T>(work: Promise<T>): Promise<T> => {
      timer = setTimeout(() => stop.abort(new Error(`silent for ${this.how.silence} ms`)), this.how.silence);
      return work.finally(() => clearTimeout(timer));
    };
    const headers: Record<string, string> = { ...this.how.headers, Accept: MEDIA };
    if (this.cursor) headers["Last-Event-ID"] = this.cursor; // in a header it wins over `since`
    const answer = await within(this.how.fetch(this.how.url, { headers, signal: stop.signal, cache: "no-store" }));
    const streams = answer.headers.get("Content-Type")?.startsWith(MEDIA);
    if (!streams || !answer.body) throw await within(refusalOf(answer));
    this.#frames = new Frames();
    // With `since` that is asked for again: `earliest` is never too old.
    if (!this.how.since) this.cursor ??= answer.headers.get("Sanderling-Replay-From");
    const reader = answer.body.getReader();
    for (;;) {
      const { done, value } = await within(reader.read());
      if (done) return;
      yield value;
    }
  }

  /** Take a cut. The next wait is what the service asked for, doubled for each failure without a byte between. */
  #lost(error: unknown, why: string, atLeast = 0): void {
    this.cuts += 1;
    this.#failed += 1;
    this.ended = this.#frames.ended || why;
    if (this.#failed > this.how.giveUp) throw new StreamLost(this.#failed, this.cursor, error);
    const doubled = Math.min(LONGEST_WAIT, this.#frames.retry * 2 ** Math.min(10, this.#failed - 1));
    this.#wait = Math.max(atLeast, doubled, this.#frames.retry) * (1 + Math.random() / 4);
  }

  async #sleep(milliseconds: number): Promise<void> {
    const signal = this.how.signal;
    signal?.throwIfAborted();
    if (milliseconds <= 0) return;
    await new Promise<void>((resume) => {
      const timer = setTimeout(resume, milliseconds);
      signal?.addEventListener("abort", () => (clearTimeout(timer), resume()), { once: true });
    });
    signal?.throwIfAborted();
  }
}
