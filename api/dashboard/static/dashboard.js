// The dashboard's one module. Pages work without it; it adds live lists, the reader's time zone, copying,
// previews while typing, and keys. Data becomes text only: elements are created here, never parsed from data.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);

/** Make an element: make("a", {href: "/x"}, "text", other). */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// --- words -----------------------------------------------------------------------------------------------------------
const WORDS = JSON.parse(document.documentElement.dataset.words || "{}");
/** Translate a text with the words that the page supplies: say("%(count)s new", {count: 3}). */
export const say = (text, values = {}) => (WORDS[text] ?? text).replace(/%\((\w+)\)s/g, (_, name) => values[name]);

// --- time ------------------------------------------------------------------------------------------------------------
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.split("; ").includes(`tz=${zone}`)) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `tz=${zone}; path=/; max-age=31536000; samesite=strict${secure}`;
}
const SPANS = [[86400, (count) => say("%(count)s d", {count})], [3600, (count) => say("%(count)s h", {count})],
  [60, (count) => say("%(count)s min", {count})], [1, (count) => say("%(count)s s", {count})]];
/** How long ago a time was, in the server's wording. */
export function ago(iso) {
  const millis = Date.now() - Date.parse(iso), seconds = Math.round(Math.abs(millis) / 1000);
  if (!seconds) return say("now");
  const [size, words] = SPANS.find(([size]) => seconds >= size), span = words(Math.floor(seconds / size));
  return millis > 0 ? say("%(span)s ago", {span}) : say("in %(span)s", {span});
}
export function when(iso) {
  const exact = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return make("time", {datetime: iso, title: exact, "data-ago": ""}, ago(iso));
}
setInterval(() => {
  if (!document.hidden) for (const time of all("time[data-ago]")) {
    const said = ago(time.dateTime);
    if (time.textContent !== said) time.textContent = said;
  }
}, 5000);

// --- streams: one for all tabs with the same list, if the browser can share one (live.js) ------------------------------
const LIVE = one("link#live").href;
/** Yield {event, id, data} after the event `since` until `signal` aborts. */
async function* following(url, {signal, onstate, since}) {
  if (!window.SharedWorker) {
    const {stream} = await import(LIVE);
    yield* stream(url, {signal, onstate, since});
    return;
  }
  const {port} = new SharedWorker(ours.createScriptURL(LIVE), {type: "module", name: LIVE}), got = [];
  let wake = () => {};
  port.onmessage = ({data}) => {
    if ("state" in data) onstate(data.state); else got.push(data);
    wake();
  };
  signal.addEventListener("abort", () => { port.postMessage({stop: true}); port.close(); wake(); });
  port.postMessage({url, since});
  while (!signal.aborted) {
    if (got.length) yield got.shift();
    else await new Promise((go) => { wake = go; });
  }
}

/** Fetch the list rows of these events; null if the session has ended. */
async function rows(ids, read) {
  const answer = await fetch(`/rows?${new URLSearchParams({ids, read})}`, {credentials: "same-origin", cache: "no-store"});
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Error(String(answer.status));
  return all("#events > li", parsed(await answer.text()));
}

/** Translate a stream's state from `live.js`. */
const stated = (words) => ({Live: say("Live"), Reconnecting: say("Reconnecting"), "Signed out": say("Signed out")})[words]
  ?? words.replace("Ended", () => say("Ended"));

// --- notifications: of new events while a tab is open, if enabled in Settings ------------------------------------------
const NOTIFY = "Notification" in window && "serviceWorker" in navigator;
const notifies = () => NOTIFY && Notification.permission === "granted" && localStorage.getItem("notify") === "yes";
async function notify(event) {
  if (!document.hidden || !notifies()) return;
  const worker = await navigator.serviceWorker.ready, body = event.summary || event.url || "";
  worker.showNotification(event.title || say("A new event"), {body, tag: event.id, icon: "/icon.svg", data: `/events/${event.id}`});
}
// <button data-notify="ID of a status">: asks for permission, and stores the answer.
function notifying(button) {
  if (!NOTIFY) return;
  const state = document.getElementById(button.dataset.notify);
  const show = () => {
    button.textContent = notifies() ? say("Turn off notifications") : say("Notify me of new events");
    state.textContent = Notification.permission === "denied" ? say("The browser refuses notifications from this site.") : "";
  };
  button.hidden = false;
  button.addEventListener("click", async () => {
    const on = !notifies();
    if (on) await Notification.requestPermission();
    localStorage.setItem("notify", on ? "yes" : "no");
    show();
  });
  show();
}

// --- this device: Web Push for an alert's matches, also while no page is open (docs/web-push.md) ------------------------
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
/** Return why Web Push is unavailable, or "". */
function silent() {
  if (!window.isSecureContext) return say("This page was not loaded over HTTPS, so the browser allows no notifications.");
  if (!NOTIFY || !("PushManager" in window)) {
    return say("This browser can't get notifications while no page is open. On an iPhone or iPad, put this page on the home screen and open it from there.");
  }
  return Notification.permission === "denied" ? say("The browser refuses notifications from this site.") : "";
}
async function subscription() {
  const there = silent() ? null : await navigator.serviceWorker.getRegistration();
  return there?.pushManager.getSubscription() ?? null;
}
/** Return a subscription with our key; replace one with another key. */
async function subscribed(key) {
  if (await Notification.requestPermission() !== "granted") throw new Error(say("The browser refuses notifications from this site."));
  if (!await navigator.serviceWorker.getRegistration()) throw new Error(say("The browser did not store this site's service worker. Does it trust the certificate?"));
  const {pushManager} = await navigator.serviceWorker.ready, had = await pushManager.getSubscription();
  const same = String(new Uint8Array(had?.options.applicationServerKey ?? 0)) === String(key);
  if (had && same) return had;
  await had?.unsubscribe();
  return pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key});
}
// <form data-device="KEY">: subscribes, and sends the browser's subscription.
function device(form) {
  const state = one("[role=status]", form), button = one("button", form), {url, p256dh, auth} = form.elements;
  state.textContent = silent();
  button.disabled = state.textContent !== "";
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    state.textContent = say("Asking the browser…");
    try {
      const {endpoint, keys} = (await subscribed(bytes(form.dataset.device))).toJSON();
      [url.value, p256dh.value, auth.value] = [endpoint, keys.p256dh, keys.auth];
      form.submit();
    } catch (error) {
      state.textContent = say("The browser did not do it: %(reason)s", {reason: error.message});
      button.disabled = false;
    }
  });
}
// <form data-device-end>: shown while this browser is subscribed; unsubscribes here and at the service.
async function ending(form) {
  const told = await subscription();
  if (!told) return;
  form.hidden = false;
  form.elements.url.value = told.endpoint;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(told.endpoint)));
  const mark = [...hash.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  for (const badge of all(`[data-mark="${mark}"]`)) badge.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await told.unsubscribe().catch(() => {});  // the service ends it anyway
    form.submit();
  });
}

// <ol data-live="/live?..." data-since="ID" data-most="50" data-state="ID of a status">; with a button [data-pause].
function live(list) {
  const state = document.getElementById(list.dataset.state), pause = one(`[data-pause="${list.id}"]`);
  const most = Number(list.dataset.most || 50), waiting = [];
  let stop = null, held = false, asking = false, since = list.dataset.since || "";
  const tell = (words) => { if (state && state.textContent !== words) state.textContent = words; };
  const add = (row) => {
    if (one(`li[data-id="${CSS.escape(row.dataset.id)}"]`, list)) return;
    document.getElementById(list.dataset.empty)?.setAttribute("hidden", "");
    row.classList.add("fresh");
    list.prepend(document.adoptNode(row));
    // Keep the focused row, or the keyboard focus would jump to the top.
    for (const row of [...list.children].slice(most)) if (!row.contains(document.activeElement)) row.remove();
  };
  // One request at a time, for all waiting events: a burst of events takes one request.
  const show = async () => {
    if (asking) return;
    asking = true;
    while (waiting.length && !held) {
      const ids = waiting.splice(0);
      try {
        const found = await rows(ids, list.dataset.read ?? "");
        if (!found) break;
        found.forEach(add);
      } catch {
        waiting.unshift(...ids);
        waiting.splice(0, waiting.length - most);
      }
      if (waiting.length) await new Promise((go) => setTimeout(go, 500));
    }
    asking = false;
  };
  const run = async () => {
    stop = new AbortController();
    for await (const got of following(list.dataset.live, {signal: stop.signal, since, onstate: (words) => held || tell(stated(words))})) {
      since = got.id;
      const event = JSON.parse(got.data);
      document.dispatchEvent(new CustomEvent("sanderling:event", {detail: event}));
      notify(event);
      waiting.push(event.id);
      if (waiting.length > most) waiting.shift();
      if (!held) show();
      else tell(waiting.length === most ? say("Paused, %(count)s new or more", {count: most}) : say("Paused, %(count)s new", {count: waiting.length}));
    }
  };
  document.addEventListener("visibilitychange", () => {  // no connection while the tab is hidden, unless notifications are on
    if (notifies() && stop && !stop.signal.aborted) return;
    if (document.hidden) { stop?.abort(); tell(say("Paused")); } else run();
  });
  if (pause) {
    pause.hidden = false;
    pause.addEventListener("click", () => {
      held = !held;
      pause.textContent = held ? say("Continue") : say("Pause");
      pause.setAttribute("aria-pressed", String(held));
      tell(held ? say("Paused") : say("Live"));
      if (!held) show();
    });
  }
  if (!document.hidden) run();
}

// --- copying ---------------------------------------------------------------------------------------------------------
function copying(button) {
  if (!navigator.clipboard) return;
  button.hidden = false;
  const words = [...button.childNodes];
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText((({value, textContent}) => value ?? textContent)(one("pre, input", button.parentElement)));
    button.replaceChildren(say("Copied"));
    setTimeout(() => button.replaceChildren(...words), 2000);
  });
}

// --- previews while typing -------------------------------------------------------------------------------------------
// The only place that parses HTML: answers of this service, whose templates escape all data.
// The parsed document runs nothing, and the policy blocks every script but ours.
// The policy checks every tag against those of our templates, and refuses the whole if one differs.
const TAG = /<(?:!doctype html|!--[^<>]*--|(\/?)([a-z][a-z0-9]*)((?:\s+[a-z][a-z0-9:_-]*(?:="[^"<>]*")?)*)\s*\/?)>/gi;
const NEVER = /^(?:iframe|frame|frameset|object|embed|applet|base|template|style|noscript|math|portal)$/i;
const ACTIVE = /\s(?:on[a-z]*|style|srcdoc)(?:=|\s|$)/i, SCHEME = /="\s*(?:javascript|vbscript):/i;
export function checked(html) {
  const rest = html.replace(TAG, (_, end = "", name = "", attributes = "") => {
    const bare = attributes.replace(/="[^"]*"/g, "=");
    const foreign = /^script$/i.test(name) && !end && !/\ssrc="\/assets\//.test(attributes);
    if (NEVER.test(name) || foreign || ACTIVE.test(bare) || SCHEME.test(attributes)) throw new TypeError("no page of ours");
    return "";
  });
  if (rest.includes("<")) throw new TypeError("no page of ours");
  return html;
}
const WORKER = `/service-worker.js?${document.documentElement.lang}`;
const script = (url) => {
  if (url !== LIVE && url !== WORKER) throw new TypeError("no script of ours");
  return url;
};
const policy = {createHTML: checked, createScriptURL: script}, ours = window.trustedTypes?.createPolicy("sanderling-pages", policy) ?? policy;
const parsed = (html) => new DOMParser().parseFromString(ours.createHTML(html), "text/html");

/** Replace the element with this id by the one in the answer. */
export async function swap(id, url, options = {}) {
  const answer = await fetch(url, {credentials: "same-origin", cache: "no-store", ...options});
  const found = parsed(await answer.text()).getElementById(id), there = document.getElementById(id);
  if (!found || !there) return false;
  all("details", there).forEach((part, at) => { if (part.open) all("details", found)[at]?.setAttribute("open", ""); });
  there.replaceWith(document.adoptNode(found));
  enliven(document.getElementById(id));
  return true;
}
// <form data-preview="/path" data-into="ID">: posted there half a second after the last key; its button does the same;
// with data-now also at the start.
function preview(form) {
  let timer = 0, stop = null;
  const send = async () => {
    stop?.abort();
    stop = new AbortController();
    const there = document.getElementById(form.dataset.into);
    there?.setAttribute("aria-busy", "true");
    try {
      const get = form.dataset.method === "get", body = new URLSearchParams(new FormData(form));
      const url = get ? `${form.dataset.preview}?${body}` : form.dataset.preview;
      await swap(form.dataset.into, url, get ? {signal: stop.signal} : {method: "POST", body, signal: stop.signal});
    } catch (error) {
      if (error.name !== "AbortError") there?.removeAttribute("aria-busy");
    }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(send, 500); });
  if ("now" in form.dataset) send();
}
// <div data-refresh="10" id="ID">: fetched again at this interval in seconds while the tab is visible.
function refresh(part) {
  const again = async () => {
    if (!document.getElementById(part.id)) return;
    if (document.hidden || part.contains(document.activeElement)) { setTimeout(again, 1000); return; }
    try { if (await swap(part.id, location.href)) return; } catch { /* retry next time */ }
    setTimeout(again, part.dataset.refresh * 1000);
  };
  setTimeout(again, part.dataset.refresh * 1000);
}

// <button formaction="/path" data-send="ID">: posts its form there, and shows the answer's part without leaving the page.
function sending(button) {
  button.addEventListener("click", async (event) => {
    if (!button.formNoValidate && !button.form.reportValidity()) return;
    event.preventDefault();
    button.disabled = true;
    try { await swap(button.dataset.send, button.formAction, {method: "POST", body: new URLSearchParams(new FormData(button.form))}); } finally { button.disabled = false; }
  });
}
// <input data-filter="SELECTOR">: hides the elements without the typed words.
function filtering(field) {
  field.hidden = false;
  field.addEventListener("input", () => {
    for (const part of all(field.dataset.filter)) part.hidden = !part.textContent.toLowerCase().includes(field.value.trim().toLowerCase());
  });
}

// <ol data-reader>: its links open in the pane beside it, where there is one.
function reading(list) {
  list.addEventListener("click", async (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !matchMedia("(width >= 60rem)").matches) return;
    event.preventDefault();
    for (const other of all("a[aria-current]", list)) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    if (!await swap("entry", link.href)) { location.assign(link.href); return; }
    link.closest("li").classList.remove("unread");
    one(".hush", link)?.remove();
    history.replaceState(null, "", link.href);
  });
}

// --- a set-up link's code --------------------------------------------------------------------------------------------
// Move the text after "#" into this field, and out of the address and the browser's history, and hide it.
function fragment(field) {
  if (location.hash.length < 2) return;
  field.value = location.hash.slice(1);
  field.closest(".field").hidden = true;
  history.replaceState(null, "", location.pathname);
}

// --- a new password --------------------------------------------------------------------------------------------------
function strength(field) {
  const says = document.getElementById(field.dataset.strength);
  field.addEventListener("input", () => {
    const text = field.value, kinds = new Set(text).size, words = text.trim().split(/\s+/).length;
    says.textContent = !text ? "" : text.length < 10 ? say("%(count)s more characters are needed.", {count: 10 - text.length})
      : kinds < 5 ? say("Too few different characters.") : words >= 4 || text.length >= 20 ? say("Strong.")
      : text.length >= 14 ? say("Good.") : say("Enough. A sentence of four words or more would be stronger.");
  });
}

// --- all boxes at once -----------------------------------------------------------------------------------------------
// <input type=checkbox data-all="NAME">: ticks all boxes of that name in its form.
function everything(box) {
  box.hidden = false;
  box.addEventListener("change", () => {
    for (const other of all(`input[type=checkbox][name="${CSS.escape(box.dataset.all)}"]`, box.closest("form, table"))) other.checked = box.checked;
  });
}

// --- keys ------------------------------------------------------------------------------------------------------------
const places = () => all("nav a[data-key]");
function help() {
  const open = one("dialog#keys");
  if (open) { open.close(); return; }
  const rows = [["Ctrl K", say("Go to a page or a source")], ["n", say("Watch a URL")], ["j k", say("Next and previous in a list")], ["o m", say("In the reader: open the original, keep unread")], ["/", say("Search or filter")], ["?", say("This help")], ["Esc", say("Close")], ...places().map((a) => [`g ${a.dataset.key}`, a.textContent])];
  const list = make("dl", {class: "facts"}, ...rows.map(([keys, says]) => make("div", {},
    make("dt", {}, ...keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])), make("dd", {}, says))));
  const close = make("button", {class: "quiet"}, say("Close"));
  const dialog = make("dialog", {id: "keys", "aria-labelledby": "keys-title"}, make("h2", {id: "keys-title"}, say("Keys")), list, close);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
// A list of the places, some actions and the sources with the words that are typed.
function palette() {
  if (one("dialog.find")) return;
  const acts = [[say("New alert"), "/alerts/new"], [say("Add a destination"), "/destinations/new"], [say("Add several URLs"), "/sources/add"], [say("Import"), "/sources/import"]];
  const fixed = [...places().map((a) => [a.textContent, a.href]), ...acts], list = make("ul", {id: "found", role: "listbox", "aria-label": say("Results")});
  const field = make("input", {type: "search", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-label": say("Go to a page or a source"), placeholder: say("Go to a page or a source")});
  const dialog = make("dialog", {class: "find", "aria-label": say("Go to a page or a source")}, field, list);
  let at = 0, timer = 0, asked = "", entered = false;
  const mark = (to) => {
    at = Math.max(0, Math.min(to, list.children.length - 1));
    all("a", list).forEach((a, number) => { a.classList.toggle("at", number === at); a.setAttribute("aria-selected", String(number === at)); });
    const now = all("a", list)[at];
    now?.scrollIntoView({block: "nearest"});
    if (now) field.setAttribute("aria-activedescendant", now.id); else field.removeAttribute("aria-activedescendant");
  };
  const show = (rows) => {
    list.replaceChildren(...rows.map(([words, href], number) => make("li", {role: "none"}, make("a", {href, id: `found-${number}`, role: "option", tabindex: "-1"}, words))));
    mark(0);
  };
  const fits = () => fixed.filter(([name]) => name.toLowerCase().includes(asked));
  const look = async () => {
    const words = asked, answer = await fetch(`/sources?q=${encodeURIComponent(words)}`, {credentials: "same-origin"});
    const found = all(".sources tbody th > a", parsed(await answer.text())).slice(0, 8).map((a) => [a.textContent, a.getAttribute("href")]);
    if (asked !== words) return;
    show([...fits(), ...found]);
    if (entered) one("a", list)?.click();
  };
  // Pages are found at once, so Enter right after the last letter goes to the right one; before sources are found it waits for them.
  field.addEventListener("input", () => {
    clearTimeout(timer);
    [asked, entered] = [field.value.trim().toLowerCase(), false];
    show(fits());
    if (asked.length > 1) timer = setTimeout(look, 150);
  });
  field.addEventListener("keydown", (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) { event.preventDefault(); mark(at + step); }
    else if (event.key === "Enter") { event.preventDefault(); const now = all("a", list)[at]; if (now) now.click(); else entered = true; }
  });
  dialog.addEventListener("close", () => dialog.remove());
  show(fixed);
  document.body.append(dialog);
  dialog.showModal();
}
const LISTED = ".events a, .sources tbody th > a";
function step(by) {
  const links = all(LISTED, one("main")), focused = links.indexOf(document.activeElement);
  const at = focused < 0 ? links.findIndex((link) => link.ariaCurrent) : focused;
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(at + by, links.length - 1))];
  next?.focus();
  if (next?.closest("[data-reader]")) next.click();
}
let before = 0;
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && places().length) { event.preventDefault(); palette(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, [contenteditable]")) return;
  const going = Date.now() - before < 1500;
  before = 0;
  if (going) {
    const place = places().find((a) => a.dataset.key === event.key);
    if (place) { event.preventDefault(); location.assign(place.href); }
  } else if (event.key === "g") before = Date.now();
  else if (event.key === "?") help();
  else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  else if (event.key === "o") one("#entry a[target]")?.click();
  else if (event.key === "m") one("#entry [data-send]")?.click();
  else if (event.key === "n") { const field = one("#paste, main [name=urls]"); if (field) { event.preventDefault(); field.focus(); } }
  else if (event.key === "/") {
    const field = one("[data-search], main input[type=search]") ?? one("main form:not(.paste) input:not([type=hidden], [type=checkbox])");
    if (field) { event.preventDefault(); field.closest("details")?.setAttribute("open", ""); field.focus(); field.select?.(); }
  }
});

const WAYS = {"[data-send]": sending, "[data-filter]": filtering, "[data-reader]": reading, "[data-live]": live, "[data-copy]": copying, "form[data-preview]": preview, "[data-refresh]": refresh,
  "[data-fragment]": fragment, "[data-strength]": strength, "[data-all]": everything, "[data-notify]": notifying,
  "form[data-device]": device, "form[data-device-end]": ending};
/** Apply the data- attributes of a page, or of a part that was loaded later. */
export function enliven(root = document) {
  for (const [selector, way] of Object.entries(WAYS)) {
    if (root !== document && root.matches(selector)) way(root);
    all(selector, root).forEach(way);
  }
}
// Scroll the current place into view on a phone. Not by scrollIntoView: Tab would then start there, past the skip link.
const here = one(".side [aria-current]"), nav = here?.closest("nav"), middle = (part) => (({left, width}) => left + width / 2)(part.getBoundingClientRect());
if (nav) nav.scrollLeft += middle(here) - middle(nav);
enliven();
// The offline page and notifications; they need HTTPS or localhost.
if (window.isSecureContext) navigator.serviceWorker?.register(ours.createScriptURL(WORKER)).catch(() => {});
