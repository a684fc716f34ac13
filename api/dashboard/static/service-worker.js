// The page shown while the service is unreachable, and clicks on notifications. Caches nothing else.
const SHELL = "sanderling-shell", PAGE = "/offline";

/** Cache the page with the style and pictures that it names. */
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
/** Parse a push message. Browsers require a notification for each, even if it is unreadable. */
function told(data) {
  try {
    const {title, ...more} = data.json();
    return {title: String(title), ...more};
  } catch {
    return {title: "Sanderling"};
  }
}
self.addEventListener("push", (event) => {
  const {title, body, url, tag, lang} = told(event.data);
  event.waitUntil(self.registration.showNotification(title, {body, tag, lang, icon: "/touch-icon.png", data: url}));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const {origin, href} = new URL(event.notification.data ?? "/", self.location.origin);
  event.waitUntil(self.clients.openWindow(origin === self.location.origin ? href : "/"));
});
