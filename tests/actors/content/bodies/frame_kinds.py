"""Frames as servers send them, generated from a seed, with the expected news of each."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

WORDS = (
    "tide",
    "harbour",
    "lamp",
    "gull",
    "rope",
    "storm",
    "chart",
    "pier",
    "signal",
    "ferry",
    "anchor",
    "buoy",
    "fog",
)


class News(NamedTuple):
    """The expected event."""

    id: str
    title: str
    url: str
    content: str


class Drawn(NamedTuple):
    """A message of a stream and its news."""

    message: str | bytes
    news: Sequence[News]


Kind = Callable[[random.Random], Drawn]


def a_news(chance: random.Random) -> News:
    number = chance.randrange(1, 10**9)
    said = " ".join(chance.choices(WORDS, k=chance.randrange(3, 12)))
    return News(
        f"n{number}", f"{said.capitalize()} {number}", f"https://shore.example/{number}", f"{said} again, {said}."
    )


def flat(news: News, *, camel: bool = False) -> dict[str, Any]:
    if camel:
        return {
            "eventId": news.id,
            "headline": news.title,
            "webUrl": news.url,
            "body": news.content,
            "publishedAt": "2026-11-28",
        }
    return {"id": news.id, "title": news.title, "url": news.url, "content": news.content, "ts": 1_790_000_000}


def one(wrap: Callable[[Any, News], Any], *, camel: bool = False, spaced: bool = False) -> Kind:
    """Return a kind with one event in its envelope."""

    def kind(chance: random.Random) -> Drawn:
        news = a_news(chance)
        value = wrap(flat(news, camel=camel), news)
        return Drawn(
            value if isinstance(value, str | bytes) else json.dumps(value, indent=2 if spaced else None), (news,)
        )

    return kind


def several(wrap: Callable[[list[Any]], Any]) -> Kind:
    def kind(chance: random.Random) -> Drawn:
        news = [a_news(chance) for _ in range(chance.randrange(2, 6))]
        value = wrap([flat(each, camel=chance.random() < 0.3) for each in news])
        return Drawn(value if isinstance(value, str) else json.dumps(value), news)

    return kind


def signal(*values: Any) -> Kind:
    def kind(chance: random.Random) -> Drawn:
        value = chance.choice(values)
        return Drawn(value if isinstance(value, str) else json.dumps(value), ())

    return kind


def plain(chance: random.Random) -> Drawn:
    said = a_news(chance).content
    return Drawn(said, (News("", "", "", said),))


def packed(pack: Callable[[bytes], bytes]) -> Kind:
    return one(lambda value, _: pack(json.dumps(value).encode()))


def raw_deflate(data: bytes) -> bytes:
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(data) + deflate.flush()


KINDS: dict[str, Kind] = {
    "flat": one(lambda value, _: value),
    "flat, indented": one(lambda value, _: value, spaced=True),
    "camel case": one(lambda value, _: value, camel=True),
    "array": several(lambda values: values),
    "lines": several(lambda values: "\n".join(map(json.dumps, values))),
    "list in data": several(lambda values: {"channel": "news", "data": values}),
    "data": one(lambda value, _: {"type": "news", "data": value}),
    "payload": one(lambda value, _: {"op": "message", "payload": value}, camel=True),
    "mastodon": one(lambda value, _: {"stream": ["public"], "event": "update", "payload": json.dumps(value)}),
    "string of json": one(lambda value, _: json.dumps(json.dumps(value))),
    "jetstream": one(
        lambda value, news: {
            "did": "did:plc:x",
            "time_us": 1_790_000_000_000_000,
            "kind": "commit",
            "commit": {"rev": "3k", "operation": "create", "collection": "app.news", "record": value, "cid": news.id},
        }
    ),
    "centrifugo": one(lambda value, _: {"push": {"channel": "news", "pub": {"data": value, "offset": 7}}}),
    "json-rpc": one(
        lambda value, _: {
            "jsonrpc": "2.0",
            "method": "subscription",
            "params": {"subscription": "0x1", "result": value},
        }
    ),
    "graphql": one(lambda value, _: {"id": "1", "type": "next", "payload": {"data": {"newPost": value}}}),
    "socket.io": one(lambda value, _: "42" + json.dumps(["news", value])),
    "socket.io in a room": one(lambda value, _: "42/feed,17" + json.dumps(["news", value])),
    "nostr": one(
        lambda _, news: [
            "EVENT",
            "sub",
            {
                "id": news.id,
                "kind": 1,
                "title": news.title,
                "url": news.url,
                "content": news.content,
                "tags": [["t", "x"]],
            },
        ]
    ),
    "pings": signal(
        {"ping": 1_790_000_000},
        {"type": "ping"},
        {"event": "heartbeat", "time": 17},
        {"op": "pong"},
        "ping",
        "pong",
        {"type": "ka"},
    ),
    "nothing": signal({}, "", "\n", "[]", {"type": "ping", "message": 1_790_000_000}),
    "acknowledgements": signal(
        {"type": "connection_ack"},
        {"result": None, "id": 1},
        {"event": "subscribed", "channel": "news"},
        ["EOSE", "sub"],
        '0{"sid":"x"}',
    ),
    "gzip": packed(gzip.compress),
    "zlib": packed(zlib.compress),
    "raw deflate": packed(raw_deflate),
    "plain text": plain,
}
HELD_OUT: dict[str, Kind] = {
    "sockjs": one(lambda value, _: "a" + json.dumps([json.dumps(value)])),
    "signalr": one(lambda value, _: json.dumps({"type": 1, "target": "news", "arguments": [value]}) + "\x1e"),
    "signalr pings": signal('{"type":6}\x1e', "{}\x1e"),
    "phoenix": one(lambda value, _: [None, None, "room:news", "new_post", value]),
    "phoenix replies": signal(["1", "1", "room:news", "phx_reply", {"response": {}, "status": "ok"}]),
    "pusher": one(lambda value, _: {"event": "new-post", "channel": "news", "data": json.dumps(value)}),
    "pusher signals": signal(
        {"event": "pusher:pong", "data": "{}"},
        {"event": "pusher_internal:subscription_succeeded", "data": "{}", "channel": "news"},
    ),
    "cloudevents": one(
        lambda value, news: {"specversion": "1.0", "type": "example.news", "source": "/x", "id": news.id, "data": value}
    ),
    "debezium": one(lambda value, _: {"schema": {}, "payload": {"before": None, "after": value, "op": "c"}}),
    "twitch": one(
        lambda value, _: {
            "metadata": {"message_type": "notification"},
            "payload": {"subscription": {"id": "s"}, "event": value},
        }
    ),
    "slack": one(lambda value, _: {"envelope_id": "e", "type": "events_api", "payload": {"event": value}}, camel=True),
    "discord": one(lambda value, _: {"t": "MESSAGE_CREATE", "s": 42, "op": 0, "d": value}),
    "stomp": one(lambda value, _: "MESSAGE\nsubscription:0\ndestination:/news\n\n" + json.dumps(value) + "\0"),
    "stomp beats": signal("\n", "CONNECTED\nversion:1.2\n\n\0"),
    "json-seq": several(lambda values: "".join(f"\x1e{json.dumps(value)}\n" for value in values)),
    "action cable": one(lambda value, _: {"identifier": '{"channel":"News"}', "message": value}),
    "action cable signals": signal(
        {"type": "welcome"}, {"type": "confirm_subscription", "identifier": '{"channel":"News"}'}
    ),
    "supabase": one(
        lambda value, _: {"topic": "realtime:news", "event": "INSERT", "payload": {"type": "INSERT", "record": value}}
    ),
    "array of strings": several(lambda values: [json.dumps(value) for value in values]),
    "list of envelopes": several(lambda values: [{"type": "news", "data": value} for value in values]),
}
