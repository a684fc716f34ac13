// The page that stands in while the service can't be reached, and what a click on a notification opens. Nothing else is kept.
const SHELL = "sanderling-shell", PAGE = "/offline";

/** Keep the page with its style and its pictures, as they are named in it. */
async function fill() {
  const shell = await caches.open(SHELL), answer = await fetch(PAGE, {cache: "no-store"});
  if (!answer.ok) throw new Error(String(answer.status));
  const text = await answer.clone().text(), parts = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:css|svg))"/g)];
  await Promise.all((await shell.keys()).map((old) => shell.delete(old)));
  await shell.addAll(new Set(parts.map(([, path]) => path)));
  await shell.put(PAGE, answer);
}
self.addEventListener("install", (event) => event.waitUntil(fill().then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const {request} = event, path = new URL(request.url).pathname;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => caches.match(PAGE)));
  else if (path.startsWith("/assets/")) event.respondWith(fetch(request).catch(async () => (await caches.match(request)) ?? Response.error()));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data));
});
