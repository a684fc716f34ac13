// What is thrown when the service refuses, when a stream is lost, and when something does not verify.
import type { FieldError, Problem, Slug } from "./records.js";

/** Of this kind are all errors of this package; those of `fetch` come through as they are. */
export class SanderlingError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An answer that is a problem (RFC 9457); `slug` says which. */
export class ProblemError extends SanderlingError {
  readonly status: number;
  /** The end of the problem's `type`, which names its kind: `cursor-expired`, `rate-limited`. */
  readonly slug: Slug;
  /** The places of the request that are wrong, with the reason for each. */
  readonly errors: readonly FieldError[];
  /** The seconds to wait before the next attempt; null where the answer says nothing of that. */
  readonly retryAfter: number | null;
  /** What the operator finds this request by. */
  readonly requestId: string;

  constructor(
    readonly problem: Problem,
    headers: Headers,
  ) {
    super([problem.status, problem.title].join(" ") + (problem.detail ? `: ${problem.detail}` : ""));
    this.status = problem.status;
    this.slug = problem.type.split("/").pop() ?? "";
    this.errors = problem.errors ?? [];
    const after = headers.get("Retry-After") ?? "";
    this.retryAfter = /^[0-9]+$/.test(after) ? Number(after) : null;
    this.requestId = headers.get("X-Request-Id") ?? "";
  }
}

/** A stream could not be opened again, so many times in a row. `cursor` is where to go on; `cause` is the last. */
export class StreamLost extends SanderlingError {
  constructor(
    attempts: number,
    readonly cursor: string | null,
    cause: unknown,
  ) {
    super(`The stream could not be opened ${attempts} times in a row.`, { cause });
  }
}

/** What came is not what the service signed. The message says why. */
export class Unverified extends SanderlingError {}

/** The key that signed is not among those given: fetch the set anew, every few minutes at most, and try again. */
export class UnknownKey extends Unverified {}

/** Return the error of an answer; one of a proxy on the way is a problem without a kind. */
export async function refusalOf(answer: Response): Promise<ProblemError> {
  const text = await answer.text();
  let problem: Problem | null = null;
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === "object" && found && "type" in found && "title" in found && "status" in found) {
      problem = found as Problem;
    }
  } catch {
    // no JSON
  }
  const title = answer.statusText || `HTTP ${answer.status}`;
  const nameless: Problem = { $schema: "", type: "about:blank", title, status: answer.status, detail: text.slice(0, 200) };
  return new ProblemError(problem ?? nameless, answer.headers);
}
