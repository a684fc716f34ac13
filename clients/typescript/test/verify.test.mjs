// What the service signs gets in, and nothing else does. FIXTURES: its deliveries, good, forged and stale, by name.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { UnknownKey, Unverified, verifyEvent, verifyWebhook } from "sanderling-client";

const { secret, another, now, keys, stranger, deliveries } = JSON.parse(readFileSync(process.env.FIXTURES, "utf8"));
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const good = deliveries.find((one) => one.accept);
const body = bytes(good.body);

for (const { name, accept, headers, body } of deliveries) {
  test(`${accept ? "takes" : "refuses"}: ${name}`, async () => {
    const verified = verifyWebhook(secret, headers, bytes(body), { now }).then(async (id) => {
      const found = JSON.parse(Buffer.from(bytes(body)).toString());
      for (const event of found.events ?? [found]) await verifyEvent(event, keys);
      return id;
    });
    if (accept) assert.equal(await verified, headers["webhook-id"]);
    else await assert.rejects(verified, Unverified);
  });
}

test("either of two secrets, any spelling of headers, and five minutes in either direction", async () => {
  const id = good.headers["webhook-id"];
  assert.equal(await verifyWebhook([another, secret], good.headers, body, { now }), id);
  assert.equal(await verifyWebhook(secret, new Headers(good.headers), body, { now }), id);
  for (const off of [-300, 300]) assert.equal(await verifyWebhook(secret, good.headers, body, { now: now + off }), id);
  for (const off of [-301, 301]) await assert.rejects(verifyWebhook(secret, good.headers, body, { now: now + off }), Unverified);
  await assert.rejects(verifyWebhook(another, good.headers, body, { now }), Unverified);
});

test("not one bit of a body may be changed", async () => {
  for (let at = 0; at < body.length; at += 7) {
    const other = body.slice();
    other[at] ^= 1 << at % 8;
    await assert.rejects(verifyWebhook(secret, good.headers, other, { now }), Unverified);
  }
});

test("an event verifies in every form, and no field may be changed, added or taken away", async () => {
  const event = JSON.parse(Buffer.from(body).toString());
  for (const form of [event, body, JSON.stringify(event, null, 2)]) assert.deepEqual(await verifyEvent(form, keys), event);
  for (const name of Object.keys(event)) {
    const { [name]: gone, ...without } = event;
    await assert.rejects(verifyEvent(without, keys), Unverified);
    await assert.rejects(verifyEvent({ ...event, [name]: "another" }, keys), Unverified);
  }
  await assert.rejects(verifyEvent({ ...event, more: 1 }, keys), Unverified);
});

test("a key that is not in the set is its own error, and one that is none verifies nothing", async () => {
  await assert.rejects(verifyEvent(bytes(stranger), keys), UnknownKey);
  for (const change of [{ x: "AAAA" }, { x: 7 }, { kty: "RSA" }, { crv: "P-256" }]) {
    await assert.rejects(verifyEvent(body, { keys: [{ ...keys.keys[0], ...change }] }), Unverified);
  }
  for (const event of ["", "[]", "7", new Uint8Array([255]), {}]) await assert.rejects(verifyEvent(event, keys), Unverified);
});
