// A subscriber of a hub, from npm: says on its output, a line of JSON each, what it is told.
import { createRequire } from "node:module";

const { createServer } = createRequire(import.meta.url)("pubsubhubbub");

const [topic, hub] = process.argv.slice(2);
const say = (said) => process.stdout.write(`${JSON.stringify(said)}\n`);
const subscriber = createServer({ callbackUrl: "", leaseSeconds: 3600 });
for (const name of ["subscribe", "unsubscribe", "denied"]) {
  subscriber.on(name, (told) => say({ name, topic: told.topic }));
}
subscriber.on("feed", (told) => say({ name: "feed", topic: told.topic, hub: told.hub, text: told.feed.toString() }));
subscriber.on("listen", () => {
  subscriber.callbackUrl = `http://127.0.0.1:${subscriber.server.address().port}/in`;
  subscriber.subscribe(topic, hub);
});
process.stdin.on("data", () => subscriber.unsubscribe(topic, hub));
subscriber.listen(0, "127.0.0.1");
