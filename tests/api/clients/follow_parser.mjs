// fetch() with a streaming body, as a browser has to read the stream; `eventsource-parser` makes events of it.
import { createParser } from "eventsource-parser";

const [url, key] = process.argv.slice(2);
let last = "";
let over = false;
let wait = 10;

async function once() {
  const headers = { Authorization: `Bearer ${key}`, ...(last && { "Last-Event-ID": last }) };
  const answer = await fetch(url, { headers });
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      console.log(JSON.stringify([id, event, data]));
      last = id;
      over ||= JSON.parse(data).title === "end";
    },
    onRetry: (milliseconds) => (wait = milliseconds),
  });
  for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
    parser.feed(text);
    if (over) return;
  }
}

while (!over) {
  await once().catch(() => {}); // cut off: the events so far have been taken
  await new Promise((resume) => setTimeout(resume, wait));
}
