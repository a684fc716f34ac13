// Live streams for the tabs of one browser. As a module it exports `stream`; as a shared worker it opens one stream for all
// tabs with the same list: over HTTP/1.1 a browser opens only six connections per host, and each stream occupies one.

// SSE by fetch, so that it sends the session's cookie.
/** Yield {event, id, data} while the page is open; reconnect after the last event seen. */
export async function* stream(url, {signal, onstate = () => {}, since = ""} = {}) {
  let last = since, wait = 1000;
  for (;;) {
    try {
      const headers = {Accept: "text/event-stream", ...(last && {"Last-Event-ID": last})};
      const answer = await fetch(url, {headers, signal, cache: "no-store", credentials: "same-origin"});
      if ([400, 401, 403, 404, 410].includes(answer.status)) {
        onstate(answer.status === 401 ? "Signed out" : `Ended (${answer.status})`);
        return;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      onstate("Live");
      let held = "", named = "message", data = [];
      for await (const piece of pieces(answer.body.pipeThrough(new TextDecoderStream()))) {
        held += piece;
        const lines = held.split("\n");
        held = lines.pop();
        for (const line of lines) {
          if (line === "") {
            if (data.length) yield {event: named, id: last, data: data.join("\n")};
            [named, data, wait] = ["message", [], 1000];
            continue;
          }
          const found = /^(id|event|data|retry): ?(.*)$/.exec(line);
          if (!found) continue;
          if (found[1] === "data") data.push(found[2]);
          else if (found[1] === "id") last = found[2];
          else if (found[1] === "event") named = found[2];
          else wait = Number(found[2]) || wait;
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
    }
    onstate("Reconnecting");
    await new Promise((go) => setTimeout(go, wait * (0.5 + Math.random())));
    wait = Math.min(wait * 2, 30000);
  }
}
async function* pieces(readable) {
  const reader = readable.getReader();
  try {
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}


// --- sharing -----------------------------------------------------------------------------------------------------------
const MOST = 500;
/** One stream and its tabs. tabs: the newest id that each has seen; recent: the newest events. */
class Shared {
  static all = new Map();
  constructor(url) {
    [this.url, this.tabs, this.recent, this.state, this.last] = [url, new Map(), [], "", ""];
    Shared.all.set(url, this);
  }
  join(port, since) {
    // Ids sort like the log. A tab that was hidden for long needs older events: restart the stream there for all.
    const known = this.start !== undefined && (!since || since >= this.start);
    this.tabs.set(port, since || this.last);
    if (this.state) port.postMessage({state: this.state});
    if (known) this.recent.forEach((event) => this.tell(port, event));
    else this.run(since);
  }
  leave(port) {
    this.tabs.delete(port);
    if (!this.tabs.size) this.end();
  }
  tell(port, event) {
    if (event.id <= this.tabs.get(port)) return;
    this.tabs.set(port, event.id);
    port.postMessage(event);
  }
  async run(since) {
    this.control?.abort();
    const {signal} = this.control = new AbortController();
    [this.start, this.last, this.recent] = [since, since, []];
    const onstate = (state) => {
      if (signal.aborted) return;
      this.state = state;
      for (const port of this.tabs.keys()) port.postMessage({state});
    };
    for await (const event of stream(this.url, {signal, onstate, since})) {
      if (signal.aborted) return;
      this.last = event.id;
      this.recent.push(event);
      if (this.recent.length > MOST) this.start = this.recent.shift().id;
      for (const port of this.tabs.keys()) this.tell(port, event);
    }
    if (!signal.aborted) this.end();
  }
  end() {
    this.control?.abort();
    if (Shared.all.get(this.url) === this) Shared.all.delete(this.url);
  }
}
self.onconnect = ({ports: [port]}) => {
  let shared = null;
  port.onmessage = ({data}) => {
    if (data.stop) { shared?.leave(port); port.close(); return; }
    shared = Shared.all.get(data.url) ?? new Shared(data.url);
    shared.join(port, data.since);
  };
};
