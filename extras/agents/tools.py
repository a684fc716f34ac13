"""The tools of an agent: a table of their arguments and descriptions, over the service's own API.

The key decides which tools work: with a key for reading, an agent cannot add a URL. Only `detect` and `watch` fetch
pages; each costs a check and needs the scope `sources:write`. `acting.py` has the tools that change something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from extras.agents import acting
from extras.agents.protocol import Refused, Result, Unknown
from extras.agents.quoting import PER_TOKEN, RULE, as_data, event_as_text, events_as_text, marked, quoted
from extras.agents.subscriptions import CHANGES, MOST_RESOURCES, OF_SOURCE, Subscriber
from extras.agents.within import Service, Text, tool
from storage.records.identity import Millis, rfc3339

INSTRUCTIONS: Final = (
    "Sanderling watches URLs and reports changes. `changes_since` with the `next` of the previous answer continues "
    f"without a gap. `watch`, then `create_alert` with its source, notifies the user. Ask the user before you "
    f"change or delete what you did not make. {RULE}"
)
_SPAN: Final = re.compile(r"(\d{1,4})\s?([mhd])")
_SECONDS: Final = {"m": 60, "h": 3_600, "d": 86_400}
_AT_ONCE, _MOST_PAGES, _NAMED = 50, 20, 5
_Tokens = Annotated[int, Meta(ge=100, le=20_000, description="About how long the answer may be, in tokens")]


class Since(Struct, forbid_unknown_fields=True):
    """Where to begin, and which events."""

    since: Annotated[
        str, Meta(max_length=100, description="`next` of an earlier answer, a time (RFC 3339), or a span such as 24h")
    ] = "24h"
    source: Annotated[str, Meta(max_length=200, description="A source's id, or a part of its URL or name")] = ""
    tag: Text = ""
    query: Annotated[str, Meta(max_length=500, description="Words, or conditions such as price<300, kind:version")] = ""
    max_tokens: _Tokens = 2_000


class Search(Struct, forbid_unknown_fields=True):
    """A search among past events, the newest first."""

    query: Annotated[str, Meta(min_length=1, max_length=500)]
    source: Text = ""
    max_tokens: _Tokens = 2_000


class OneEvent(Struct, forbid_unknown_fields=True):
    """Which event."""

    id: Annotated[str, Meta(max_length=100)]
    source: Annotated[str, Meta(max_length=200, description="Its source, if that is private")] = ""
    max_tokens: _Tokens = 4_000


class Listed(Struct, forbid_unknown_fields=True):
    """Which sources."""

    words: Annotated[str, Meta(max_length=200, description="In the URL, the title or a tag")] = ""


class WhyNot(Struct, forbid_unknown_fields=True):
    """A source, and the expected text."""

    source: Annotated[str, Meta(max_length=200)]
    text: Annotated[str, Meta(max_length=500, description="A text that was expected in an event")] = ""


class OneSource(Struct, forbid_unknown_fields=True):
    """Which source."""

    source: Annotated[str, Meta(max_length=200)]


class OneUrl(Struct, forbid_unknown_fields=True):
    """Which URL."""

    url: Annotated[str, Meta(max_length=2_000)]


class Tried(Struct, forbid_unknown_fields=True):
    """A query, as an alert would have it."""

    query: Annotated[str, Meta(max_length=4_096)]
    language: Annotated[str, Meta(max_length=10)] = "en"


async def _changes(api: Service, asked: Since) -> Result:
    source = await api.source(asked.source) if asked.source else ""
    start = _start(asked.since, api.now())
    wanted = {
        "from": start,
        "order": "asc",
        "limit": _AT_ONCE,
        "source": source,
        "tag": asked.tag,
        "keyword": asked.query,
        "private": "false",
    }
    page = await api.get("/v1/events", **wanted)
    for _ in range(_MOST_PAGES):  # a rare query searches one stretch of the log at a time
        if page["events"] or page["next_cursor"] is None:
            break
        page = await api.get("/v1/events", **wanted, cursor=page["next_cursor"])
    events = page["events"]
    told = events_as_text(events, asked.max_tokens)
    last = events[told.shown - 1]["id"] if told.shown else start
    more = told.shown < len(events) or page["next_cursor"] is not None
    said = told.text or "Nothing new."
    if page["retention_clamped"]:
        said = f"What is older than {page['window_from']} has been deleted.\n{said}"
    text = f"{said}\nnext: {last}" + (" (there is more: call again with since=next)" if more else "")
    return Result(text, {"next": last, "more": more, "events": [_brief(event) for event in events[: told.shown]]})


async def _search(api: Service, asked: Search) -> Result:
    source = await api.source(asked.source) if asked.source else ""
    wanted = {"order": "desc", "limit": _AT_ONCE, "keyword": asked.query, "source": source, "private": "false"}
    page = await api.get("/v1/events", **wanted)
    told = events_as_text(page["events"], asked.max_tokens)
    return Result(told.text or "No event has that.", {"events": [_brief(one) for one in page["events"][: told.shown]]})


def _brief(event: Mapping[str, Any]) -> dict[str, Any]:
    ours = {name: event[name] for name in ("id", "source_id", "emitted_at")}
    theirs = {name: event[name] for name in ("title", "summary", "changes") if name in event}
    return ours | {"quoted": as_data(event["url"], theirs)}


async def _event(api: Service, asked: OneEvent) -> Result:
    event = await api.get(f"/v1/events/{quote(asked.id, safe='')}")
    if api.is_private(event["source_id"]) and (
        not asked.source or await api.source(asked.source) != event["source_id"]
    ):
        raise Refused("This event is of a private source: name its `source`, too.")
    return Result(event_as_text(event, asked.max_tokens * PER_TOKEN))


async def _sources(api: Service, asked: Listed) -> Result:
    found = await api.get("/v1/sources", q=asked.words, limit=_AT_ONCE + 1)
    lines = []
    for one in found[:_AT_ONCE]:
        name = one["title"] or one["found_title"] or one["url"]
        lines.append(f"{one['id']} {one['type']} {one['state']} {quoted(name, one['url'], 400)}")
    more = ["and more: give words, or other words"] if len(found) > _AT_ONCE else []
    return Result("\n".join([*lines, *more]) or "No source matches.")


async def _why(api: Service, asked: WhyNot) -> Result:
    answer = await api.get(f"/v1/sources/{await api.source(asked.source)}/why", text=asked.text)
    return Result(quoted(answer["says"], answer["url"], 4_000))


async def _values(api: Service, asked: OneSource) -> Result:
    answer = await api.get(f"/v1/sources/{await api.source(asked.source)}/values")
    lines = [_standing(one) for one in answer["current"]]
    if answer["more"]:
        lines.append(f"and {answer['more']:,} more")
    for series in answer["series"]:
        course = ", ".join(map(_stood, series["points"][-20:]))
        if len(series["points"]) > 1:
            lines.append(f"{series['path'] or series['label']} ({series['unit'] or series['type']}): {course}")
    text = "\n".join(lines) or "It says no price, number, state, version or date, and none of it has changed."
    by = f"source {answer['id']}"
    found = as_data(by, {"current": answer["current"], "series": answer["series"]})
    return Result(quoted(text, by, 8_000), {"id": answer["id"], "quoted": found})


def _stood(point: Mapping[str, Any]) -> str:
    gone = f" until {point['until'][:10]}, then gone" if point["until"] else ""
    return f"{point['at'][:10]} {point['value']}{gone}"


def _standing(one: Mapping[str, Any]) -> str:
    of = one["path"] or one["label"] or one["type"]
    return f"{of}: {one['value']} {one['unit']}".rstrip() + f" now, since {one['since'][:10]}"


async def _detect(api: Service, asked: OneUrl) -> Result:
    answer = await api.post("/v1/sources/detect", {"url": asked.url})
    page = answer["preview"]["page"] or {}
    values = [f"{one['path'] or one['label'] or one['type']}: {one['text']}" for one in page.get("values", ())]
    return Result(f"{answer['type']}: {quoted(chr(10).join([answer['evidence'], *values]), asked.url, 2_000)}")


async def _try(api: Service, asked: Tried) -> Result:
    answer = await api.post("/v1/alerts/preview", {"filter_query": asked.query, "language": asked.language, "limit": 5})
    shown = [one for one in answer["matches"] if not api.is_private(one["source_id"])]
    found = [f"{one['id']}: {quoted(one['title'], one['url'], 300)}" for one in shown]
    volume = "" if answer["per_day"] is None else f", about {answer['per_day']:g} a day"
    says = f"{answer['matches_found']} of the newest {answer['looked_at']} events would match{volume}."
    return Result("\n".join([says, *answer["warnings"], *found]))


TOOLS: Final = (
    tool("changes_since", Since, _changes),
    tool("search", Search, _search),
    tool("read_event", OneEvent, _event),
    tool("sources", Listed, _sources),
    tool("why", WhyNot, _why),
    tool("values", OneSource, _values),
    tool("try_alert", Tried, _try),
    tool("detect", OneUrl, _detect, looks=True),
    *acting.TOOLS,
)
_BY_NAME: Final = {tool.name: tool for tool in TOOLS}
_RESOURCES: Final = {
    "event": ("sanderling://event/{id}", "An event with its text"),
    "source": ("sanderling://source/{id}", "A watched URL: what it is, how it does"),
}


class Toolbox:
    """The table of tools, over one service. subscriber: the client, or None without a session."""

    def __init__(self, api: Service, subscriber: Subscriber | None = None) -> None:
        self._api, self._subscriber = api, subscriber

    def tools(self) -> Sequence[Mapping[str, Any]]:
        return [tool.described() for tool in TOOLS]

    def templates(self) -> Sequence[Mapping[str, Any]]:
        return [
            {"uriTemplate": uri, "name": name, "description": says, "mimeType": "text/plain"}
            for name, (uri, says) in _RESOURCES.items()
        ]

    def resources(self) -> Sequence[Mapping[str, Any]]:
        return [{"uri": CHANGES, "name": "changes", "description": "What is new", "mimeType": "text/plain"}]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        tool = _BY_NAME.get(name)
        if tool is None:
            raise Unknown(f"There is no tool {name[:80]}.")
        try:
            asked = msgspec.convert(arguments, tool.takes)
        except msgspec.ValidationError as error:
            raise Refused(f"{name}: {error}.") from None
        mark = self._api.mark()
        try:
            result = await tool.run(self._api, asked)
        except Refused as refusal:
            # Refusals of checks may repeat text from a page or server.
            said = quoted(str(refusal), asked.url, 2_000) if hasattr(asked, "url") else str(refusal)
            raise Refused(marked(said, mark)) from None
        return result._replace(text=marked(result.text, mark))

    async def read(self, uri: str) -> str:
        return marked(await self._read(uri), self._api.mark())

    async def _read(self, uri: str) -> str:
        if uri == CHANGES:
            return (await _changes(self._api, Since())).text
        kind, _, id = uri.removeprefix("sanderling://").partition("/")
        if not uri.startswith("sanderling://") or kind not in _RESOURCES or not id:
            raise Unknown(f"There is no resource {uri[:200]}.")
        if kind == "event":
            return (await _event(self._api, OneEvent(id))).text
        record = await self._api.get(f"/v1/sources/{quote(id, safe='')}")
        return quoted(msgspec.json.format(msgspec.json.encode(record), indent=1).decode(), record["url"], 8_000)

    async def subscribe(self, uri: str) -> None:
        resources = self._session().resources
        if uri == CHANGES or uri in resources:
            resources[uri] = None
            return
        if not uri.startswith(OF_SOURCE):
            raise Unknown(f"Nothing is told of {uri[:200]}: subscribe to {CHANGES}, or to a source.")
        if len(resources) >= MOST_RESOURCES:
            raise Refused(f"{MOST_RESOURCES} resources are subscribed to; unsubscribe one first, or take {CHANGES}.")
        record = await self._api.get(f"/v1/sources/{quote(uri.removeprefix(OF_SOURCE), safe='')}")
        if uri != f"{OF_SOURCE}{record['id']}":
            raise Unknown(f"Its name is {OF_SOURCE}{record['id']}.")
        resources[uri] = None

    def unsubscribe(self, uri: str) -> None:
        self._session().resources.pop(uri, None)

    def _session(self) -> Subscriber:
        if self._subscriber is None:
            raise Refused("Subscriptions are of a session, and this one has ended or was never begun: `initialize`.")
        return self._subscriber


def _start(since: str, now: Millis) -> str:
    """Return the start of the events: a span counts back from now; the service parses anything else."""
    span = _SPAN.fullmatch(since.strip())
    if span is None:
        return since.strip()
    return rfc3339(Millis(now - 1000 * int(span[1]) * _SECONDS[span[2]]))
