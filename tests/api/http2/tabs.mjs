// Node's own HTTP/2, as a browser has it: seven live streams and a request on one connection, until the server leaves.
import { connect } from "node:http2";
import { readFileSync } from "node:fs";

const [origin, key, certificate] = process.argv.slice(2);
const session = connect(origin, { ca: readFileSync(certificate) });
const say = (...words) => console.log(JSON.stringify(words));
session.on("goaway", (code, last) => say("goaway", code, last));
session.on("close", () => say("closed"));

let listening = 0;
for (let tab = 0; tab < 7; tab++) {
  const stream = session.request({ ":path": "/v1/stream", authorization: `Bearer ${key}` });
  let got = "";
  let heard = false;
  stream.setEncoding("utf8");
  stream.on("data", (text) => {
    if (!got && ++listening === 7) say("listening");
    got += text;
    if (!heard && (heard = got.includes('"title":"news"'))) say("heard", tab);
  });
  stream.on("end", () => say("ended", tab, got.trimEnd().split("\n").at(-1).slice(0, 1) === ":" || got.includes("retry: ")));
  stream.on("error", (error) => say("error", tab, error.message));
}

const request = session.request({ ":path": "/v1/sources", authorization: `Bearer ${key}` });
request.on("response", (head) => say("status", head[":status"]));
request.resume();
