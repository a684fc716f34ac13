// One call: what is sent, and what comes back.

/** Some of a list, and the cursor of what comes after it; null at its end. `Client.each` goes through all. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

type Value = string | number | boolean | null | undefined | ReadonlyArray<string>;

/** What a call sends beside its path. text: the answer is no JSON. */
export interface Sends {
  body?: unknown;
  query?: Record<string, Value>;
  headers?: Record<string, string | undefined>;
  text?: boolean;
}

/** What operations are made of. */
export interface Asks {
  ask<T>(method: string, path: string, sends?: Sends): Promise<T>;
  page<T>(method: string, path: string, sends?: Sends): Promise<Page<T>>;
}

/** Return a value as a part of a path; slashes may stand as they are. */
export function part(value: string, slashes = false): string {
  if (/^\.{1,2}$/.test(value)) throw new TypeError(`${value} is no part of a path`); // `fetch` would walk up by it
  const quoted = encodeURIComponent(value);
  return slashes ? quoted.replaceAll("%2F", "/") : quoted;
}

/** Return a query with what was given of it, a list as a pair for each item. */
export function queryOf(values: Record<string, Value> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const text = query.toString();
  return text && `?${text}`;
}
