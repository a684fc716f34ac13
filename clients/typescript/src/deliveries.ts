// A receiver of deliveries in one call, in Node, Deno and Bun: each is verified, stored once, answered, and handed over.
import { Unverified } from "./problems.js";
import type { Event } from "./records.js";
import { verifyWebhook } from "./verify.js";

const LARGEST = 4 << 20; // bytes of a body; the service sends less
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;
const KEPT_FOR = 4 * 86_400_000; // milliseconds, as long as the service may repeat a delivery
type Request = AsyncIterable<Uint8Array> & { headers: Record<string, string | string[] | undefined> };
type Response = { writeHead(status: number): { end(text: string): void } };

/**
 * Serve deliveries over HTTP until the program ends. Resolves when it listens.
 *
 * secret: the destination's, or several while one is rotated. work: called with each event after the answer, one at a
 * time; if it throws, its delivery is handed over again at the next start. folder: one file for each `webhook-id`.
 * Prints its address and each refused request. Throws TypeError if a secret is not one that a destination has.
 */
export async function receive(
  secret: string | readonly string[],
  work: (event: Event) => unknown,
  { host = "127.0.0.1", port = 9000, folder = "deliveries" } = {},
): Promise<void> {
  const secrets = typeof secret === "string" ? [secret] : [...(secret ?? [])];
  if (!secrets.length || !secrets.every((one) => SECRET.test(one))) {
    throw new TypeError("This is no signing secret: use the whsec_... that was printed when the destination was made.");
  }
  // Loaded here, since browsers and their bundlers lack these modules, and this package needs no types of Node.
  const [{ createServer }, files] = await Promise.all(["node:http", "node:fs/promises"].map((name) => import(name)));
  const known = new Map<string, Promise<void>>(); // by webhook-id, done when it is stored
  let worked: Promise<void> = Promise.resolve();

  async function workOff(id: string): Promise<void> {
    try {
      for (const event of eventsOf(JSON.parse(await files.readFile(`${folder}/${id}.json`, "utf8")))) await work(event);
      await files.rename(`${folder}/${id}.json`, `${folder}/${id}.done`);
    } catch (error) {
      console.error(error);
    }
  }

  async function store(id: string, body: Uint8Array): Promise<void> {
    await files.writeFile(`${folder}/${id}.part`, body, { flush: true });
    await files.rename(`${folder}/${id}.part`, `${folder}/${id}.json`);
    worked = worked.then(() => workOff(id));
  }

  function keep(id: string, body: Uint8Array): Promise<void> {
    const stored = known.get(id) ?? store(id, body);
    known.set(id, stored);
    stored.catch(() => known.delete(id)); // the service sends it again
    return stored;
  }

  async function answer(request: Request, response: Response): Promise<void> {
    try {
      const body = await bodyOf(request);
      await keep(await verifyWebhook(secrets, request.headers, body), body);
      response.writeHead(200).end("kept");
    } catch (error) {
      console.error(`Refused a request: ${error instanceof Error ? error.message : error}`);
      response.writeHead(error instanceof Unverified ? 400 : 500).end(error instanceof Unverified ? error.message : "");
    }
  }

  await files.mkdir(folder, { recursive: true });
  for (const name of (await files.readdir(folder)).sort()) {
    const [id, state] = name.split(".");
    const old = state === "done" && (await files.stat(`${folder}/${name}`)).mtimeMs < Date.now() - KEPT_FOR;
    if (old) await files.unlink(`${folder}/${name}`);
    else if (state === "done" || state === "json") known.set(id, Promise.resolve());
    if (state === "json") worked = worked.then(() => workOff(id));
  }
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(port, host, listening));
  console.error(`Receiving on http://${host}:${server.address().port}`);
}

async function bodyOf(request: Request): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > LARGEST) throw new Unverified("The body is too large.");
    parts.push(part);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}

/** Return the events of a delivery: of a digest, or the one, without the envelope of CloudEvents. */
function eventsOf(delivered: { specversion?: string; data?: unknown; events?: Event[] }): readonly Event[] {
  const inside = (delivered.specversion ? delivered.data : delivered) as typeof delivered;
  return inside.events ?? [inside as unknown as Event];
}
