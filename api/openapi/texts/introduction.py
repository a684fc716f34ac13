"""The rules that apply to every route."""

from __future__ import annotations

SUMMARY = "Turns any URL into a live, resumable, signed stream of new-content events."
INTRODUCTION = """\
Give it the URL of a feed, a page or a WebSocket; it finds out which, watches it politely, and tells what is new: \
on a stream, as history, and by signed webhooks.

**Keys.** Send one with every request, as `Authorization: Bearer <key>` or `X-API-Key: <key>`; never in a query \
parameter. It may do what its scopes say; what lets texts out by another way than the streams \
(alerts, destinations, replays, previews) wants the scope that reads them too. A deleted key is refused from the next \
request on.

**JSON.** Bodies are `application/json` in UTF-8. Unknown fields and parameters are refused by name, as are \
repeated names, NaN, and integers beyond 2^53. Answers may gain fields: ignore what you do not know. Times are RFC \
3339 in UTC with milliseconds, ids are UUIDs.

**Errors** are problem documents (RFC 9457) of `application/problem+json`. `type` names the kind and leads to a \
page about it, `errors` says which place is wrong, `detail` is for people. What no operation lists: 404 for a path \
that does not exist, and 405 with `Allow` for a method that it does not have.

**Limits.** Each key has a token bucket; `RateLimit-*` headers of every answer say how full it is. An empty one \
answers 429 with `Retry-After` in whole seconds. 503 has `Retry-After` too.

**Lists** take `limit` and `cursor`. The `Link` header has the URL of the next page, with `rel="next"`; the last \
page has none. Cursors are opaque.

`X-Request-Id` comes back on every answer; the service's log has it with a fault (500), and with every request at \
`log_level` `debug`. `HEAD` is what `GET` is, without its body.
"""
