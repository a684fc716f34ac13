// Calls and streams on a running service. SERVICE, KEY: where it is; PROXY: the same, cut at random bytes; COUNT: events.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, ProblemError } from "sanderling-client";

const { SERVICE, KEY, PROXY, SINCE, COUNT } = process.env;
const client = new Client(SERVICE, { key: KEY });

test("it reads and writes, and null is not absent", async () => {
  const source = await client.addSource({ url: "https://new.example/feed", tags: ["topic:new"] });
  assert.deepEqual(await client.readSource(source.id), source);
  const alert = await client.addAlert({ filter_query: "price", channel: "prices" }, { idempotencyKey: "k-1" });
  assert.equal((await client.addAlert({ filter_query: "price", channel: "prices" }, { idempotencyKey: "k-1" })).id, alert.id);
  const changed = await client.changeAlert(alert.id, { channel: null });
  assert.deepEqual([changed.channel, changed.filter_query], [null, "price"]);
  assert.equal(await client.deleteAlert(alert.id), undefined);
});

test("lists come page by page or whole", async () => {
  for (const name of ["a", "b", "c"]) await client.addAlert({ filter_query: name });
  const page = await client.listAlerts({ limit: 2 });
  assert.equal(page.items.length, 2);
  const every = [];
  for await (const alert of client.each((cursor) => client.listAlerts({ limit: 2, cursor }))) every.push(alert.filter_query);
  assert.deepEqual(every.sort(), ["a", "b", "c"]);
});

test("a problem is typed", async () => {
  await assert.rejects(client.addAlert({ filter_query: "(price" }), (error) => {
    assert.ok(error instanceof ProblemError && error.requestId);
    assert.deepEqual([error.status, error.slug, error.errors[0].location], [400, "invalid-request", "body.filter_query"]);
    return true;
  });
  for (const id of ["nowhere", "../../healthz"]) {
    await assert.rejects(client.readSource(id), (error) => error.slug === "not-found");
  }
  await assert.rejects(new Client(SERVICE, { key: "svc_wrong" }).listSources(), (error) => error.slug === "unauthorized");
});

test("cut at random bytes by a proxy it ends with exactly the log", async () => {
  const stream = new Client(PROXY, { key: KEY }).stream({ since: SINCE });
  const taken = [];
  for await (const received of stream) if (taken.push(received.id) === Number(COUNT)) break;
  console.log(`TAKEN ${JSON.stringify(taken)}`);
  assert.ok(stream.cuts > 10);
});
