// Whatever is cut and wherever, each event once and in order. FIXTURES: what the service sends after each id.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Client, Frames, ProblemError, SanderlingError, StreamLost } from "sanderling-client";

const { log, before, answers } = JSON.parse(readFileSync(process.env.FIXTURES, "utf8"));
const bytesAfter = (cursor) => new Uint8Array(Buffer.from(answers[cursor], "base64"));
const BODY = bytesAfter(before);
const SSE = { "Content-Type": "text/event-stream; charset=utf-8" };
const waits = [];
const later = globalThis.setTimeout;
// No wait takes time here; the timer for silence stays as it is.
globalThis.setTimeout = (act, milliseconds) => {
  if (milliseconds === 45_000) return later(act, milliseconds);
  waits.push(milliseconds);
  return later(act, 0);
};

/** Serve the log. cut: number of the request to how many bytes of its answer come, null for all. */
function service(cut, { size = 1 << 16, broken = true, refuse = () => null } = {}) {
  const asked = [];
  let read = 0;
  const fetch = async (url, { headers }) => {
    const cursor = headers["Last-Event-ID"] ?? new URL(url).searchParams.get("since") ?? before;
    const number = asked.push(cursor) - 1;
    const refusal = refuse(number);
    if (refusal) return refusal;
    const whole = bytesAfter(cursor);
    const left = Math.min(cut(number) ?? whole.length, whole.length);
    let at = 0;
    const pull = (controller) => {
      if (at < left) {
        controller.enqueue(whole.slice(at, Math.min(left, at + size)));
        at += size;
        read += size;
      } else if (broken && left < whole.length) controller.error(new TypeError("terminated"));
      else controller.close();
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    return new Response(body, { headers: { "Sanderling-Replay-From": cursor, ...SSE } });
  };
  return { asked, fetch, read: () => read };
}

const following = (served, options = {}) =>
  new Client("http://sanderling.test", { key: "svc_x", fetch: served.fetch }).stream({ since: before, ...options });

async function take(stream, count) {
  const taken = [];
  for await (const received of stream) if (taken.push(received) === count) break;
  return taken;
}

function same(taken, expected = log) {
  assert.deepEqual(taken.map((one) => [one.id, one.event.id]), expected.map((id) => [id, id]));
}

const problem = (status, slug, headers = {}) =>
  new Response(JSON.stringify({ type: `http://x/problems/${slug}`, title: slug, status }), { status, headers });

for (const broken of [true, false]) {
  test(`cut at every byte it goes on where it was (${broken ? "reset" : "ended"})`, async () => {
    for (let left = 0; left < BODY.length; left += broken ? 1 : 5) {
      const served = service((number) => (number ? null : left), { broken });
      same(await take(following(served), log.length));
      assert.ok(served.asked.length <= 2);
    }
  });
}

test("byte by byte and cut at every answer it ends with exactly the log", async () => {
  const served = service((number) => 700 + ((number * 97) % 900), { size: 1 });
  same(await take(following(served), log.length));
  assert.ok(served.asked.length > 1);
});

test("pieces and ends of lines do not matter", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const body = new TextEncoder().encode(new TextDecoder().decode(BODY).replaceAll("\n", end));
    for (let size = 1; size < 40; size += 1) {
      const frames = new Frames(), taken = [];
      for (let at = 0; at < body.length; at += size) taken.push(...frames.feed(body.slice(at, at + size)));
      same(taken);
      assert.deepEqual([frames.retry, frames.ended], [4000, "the service stops"]);
    }
  }
});

test("a line without an end is refused before it fills the memory", () => {
  const frames = new Frames(), piece = new Uint8Array(1 << 20).fill(120);
  assert.throws(() => { for (let at = 0; at < 9; at += 1) frames.feed(piece); }, SanderlingError);
});

test("nothing is read before it is asked for", async () => {
  const served = service(() => null, { size: 50 });
  for await (const received of following(served)) {
    assert.equal(received.id, log[0]);
    assert.ok(served.read() < BODY.length * 0.6);
    break;
  }
});

test("a stop of the service is waited for as it asks, and its words are kept", async () => {
  const stream = following(service(() => null, { refuse: (number) => (number ? problem(404, "not-found") : null) }));
  await assert.rejects(take(stream, log.length + 1), (error) => error instanceof ProblemError && error.slug === "not-found");
  assert.deepEqual([stream.ended, stream.cuts, stream.cursor], ["the service stops", 1, log.at(-1)]);
  assert.ok(waits.at(-1) >= 4000 && waits.at(-1) <= 5000);
});

test("what passes is waited for as long as it says, and it gives up when it was told to", async () => {
  const refuse = (number) => [problem(429, "rate-limited", { "Retry-After": "17" }), new Response("<html>", { status: 502 })][number];
  waits.length = 0;
  same(await take(following(service(() => null, { refuse })), log.length));
  assert.ok(waits[0] >= 17_000 && waits[0] <= 21_250 && waits[1] >= 6000 && waits[1] <= 7500);
  const served = service(() => null, { refuse: () => problem(503, "unavailable") });
  await assert.rejects(take(following(served, { giveUp: 3 }), 1), (error) => error instanceof StreamLost && error.cause.status === 503);
  assert.equal(served.asked.length, 4);
});

test("without a place it goes on from where it began, and earliest stays earliest", async () => {
  const served = service((number) => (number ? null : 5));
  const client = new Client("http://sanderling.test", { fetch: served.fetch });
  same(await take(client.stream(), log.length));
  assert.deepEqual(served.asked, [before, before]);
  const asked = [];
  const fetch = async (url, { headers }) => {
    asked.push([new URL(url).searchParams.get("since"), headers["Last-Event-ID"]]);
    return new Response(asked.length > 1 ? BODY : new Uint8Array(), { headers: { "Sanderling-Replay-From": before, ...SSE } });
  };
  await take(new Client("http://sanderling.test", { fetch }).stream({ since: "earliest" }), 1);
  assert.deepEqual(asked, [["earliest", undefined], ["earliest", undefined]]);
});

test("silence is a cut, and a signal ends it", async () => {
  let opened = 0;
  const fetch = async (url, { signal }) => {
    opened += 1;
    if (opened > 1) return new Response(BODY, { headers: SSE });
    return new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const client = new Client("http://sanderling.test", { fetch });
  const stream = client.stream({ silence: 20 });
  same(await take(stream, log.length));
  assert.equal(stream.ended, "Error: silent for 20 ms");
  const stop = new AbortController();
  const stopped = take(client.stream({ signal: stop.signal }), log.length + 1);
  stop.abort(new Error("enough"));
  await assert.rejects(stopped, /enough/);
});

test("a page in place of a stream is an error and no cut", async () => {
  const fetch = async () => new Response("<h1>Welcome</h1>", { headers: { "Content-Type": "text/html" } });
  await assert.rejects(take(new Client("http://sanderling.test", { fetch }).stream(), 1), /Welcome/);
});
