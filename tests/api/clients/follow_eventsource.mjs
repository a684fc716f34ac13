// The browsers' interface, as the package `eventsource` implements it: it connects again by itself.
import { EventSource } from "eventsource";

const [url, key] = process.argv.slice(2);
const source = new EventSource(url, {
  fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${key}` } }),
});
const take = (event) => {
  console.log(JSON.stringify([event.lastEventId, event.type, event.data]));
  if (JSON.parse(event.data).title === "end") source.close();
};
for (const tier of ["feed", "html", "push"]) source.addEventListener(tier, take);
