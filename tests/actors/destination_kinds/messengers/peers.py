"""Fake messenger services: each answers as the page named in its kind's file documents.

A peer parses a request as the service would, and returns the text that a person reads there.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

from tests.support.memory_network import Answer, ReceivedRequest

Read = Callable[[ReceivedRequest], str]


class Peer(NamedTuple):
    """One service. url, options: the user's settings. slow_for: seconds that its 429 asks to wait."""

    url: str
    options: Mapping[str, str]
    read: Read
    good: Answer
    slow: Answer
    slow_for: float
    revoked: Answer
    refused: Answer | None = None


def said(status: int, tree: object, **headers: str) -> Answer:
    return Answer(status, json.dumps(tree).encode(), {"Content-Type": "application/json"} | headers)


def tree_of(asked: ReceivedRequest, path: str, method: str = "POST") -> Any:
    """Return the JSON of a request; check its method, path and type."""
    assert (asked.method, asked.target) == (method, path), asked.target
    assert asked.headers["content-type"] == "application/json; charset=utf-8"
    return json.loads(asked.body)


def slack(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/services/T0/B0/k3y0fSlack")
    header, section = tree["blocks"]
    assert header["text"] == {"type": "plain_text", "text": header["text"]["text"], "emoji": False}
    assert len(header["text"]["text"]) <= 150 and len(section["text"]["text"]) <= 3000
    return f"{header['text']['text']}\n{section['text']['text']}"


def discord(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/api/webhooks/1/k3y0fDiscord?wait=true")
    (embed,) = tree["embeds"]
    assert tree["allowed_mentions"] == {"parse": []}
    assert len(embed["title"]) <= 256 and len(embed["description"]) <= 4096
    return f"{embed['title']}\n{embed['description']}"


def teams(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/workflows/1/triggers/manual/paths/invoke?sig=k3y0fTeams")
    assert len(asked.body) < 28_000
    (attachment,) = tree["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert attachment["content"]["actions"][0]["url"].startswith("http")
    return "\n".join(block["inlines"][0]["text"] for block in attachment["content"]["body"])


def google_chat(asked: ReceivedRequest) -> str:
    path, _, query = asked.target.partition("?")
    assert path == "/v1/spaces/1/messages"
    fields = parse_qs(query)
    assert (fields["key"], fields["token"], len(fields["requestId"][0])) == (["k"], ["k3y0fGoogle"], 36)
    card = json.loads(asked.body)["cardsV2"][0]["card"]
    return f"{card['header']['title']}\n{card['sections'][0]['widgets'][0]['textParagraph']['text']}"


def hooked(path: str) -> Read:
    def read(asked: ReceivedRequest) -> str:
        text = tree_of(asked, path)["text"]
        assert isinstance(text, str)
        return text

    return read


def zulip(asked: ReceivedRequest) -> str:
    assert (asked.method, asked.target) == ("POST", "/api/v1/messages")
    assert base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")) == b"bot@z.test:k3y0fZulip"
    fields = parse_qs(asked.body.decode(), strict_parsing=True)
    assert (fields["type"], fields["to"], fields["topic"]) == (["stream"], ["news"], ["Sanderling"])
    assert len(fields["content"][0]) <= 10_000
    return fields["content"][0]


def matrix(asked: ReceivedRequest) -> str:
    assert asked.headers["authorization"] == "Bearer k3y0fMatrix"
    path, _, transaction = asked.target.rpartition("/")
    assert (asked.method, unquote(path)) == ("PUT", "/_matrix/client/v3/rooms/!room:m.test/send/m.room.message")
    assert len(transaction) == 36
    tree = json.loads(asked.body)
    assert tree["m.mentions"] == {"room": False} and tree["msgtype"] == "m.text"
    return str(tree["body"])


def telegram(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/bot123%3Ak3y0fTelegram/sendMessage")
    assert (tree["chat_id"], tree["parse_mode"], "message_thread_id" in tree) == ("-100", "HTML", False)
    return str(tree["text"])


def ntfy(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/")
    assert (tree["topic"], tree["priority"], len(tree["message"].encode()) <= 4096) == ("prices", 4, True)
    assert asked.headers["authorization"] == "Bearer k3y0fNtfy"
    return f"{tree['title']}\n{tree['message']}"


def gotify(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/message")
    assert (asked.headers["x-gotify-key"], tree["priority"]) == ("k3y0fGotify", 5)
    assert tree["extras"]["client::notification"]["click"]["url"].startswith("http")
    return f"{tree['title']}\n{tree['message']}"


def pushover(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/1/messages.json")
    assert len(tree["token"]) == len(tree["user"]) == 30
    assert len(tree["message"]) <= 1024 and len(tree["title"]) <= 250
    return f"{tree['title']}\n{tree['message']}"


def home_assistant(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/api/services/notify/mobile_app_phone")
    assert asked.headers["authorization"] == "Bearer k3y0fHome"
    return f"{tree['title']}\n{tree['message']}"


def pagerduty(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/v2/enqueue")
    assert (tree["event_action"], len(tree["routing_key"]), len(tree["dedup_key"])) == ("trigger", 32, 36)
    payload = tree["payload"]
    assert payload["severity"] == "warning" and payload["source"] and len(payload["summary"]) <= 1024
    return f"{payload['summary']}\n{payload['custom_details']['text']}"


def opsgenie(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/v2/alerts")
    assert (asked.headers["authorization"], len(tree["alias"])) == ("GenieKey k3y0fOpsgenie", 36)
    assert len(tree["message"]) <= 130 and len(tree["description"]) <= 15_000
    return f"{tree['message']}\n{tree['description']}"


def signal(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/v2/send")
    assert (tree["number"], tree["recipients"]) == ("+46700000000", ["+46700000001", "group.x="])
    return str(tree["message"])


def lark(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/open-apis/bot/v2/hook/k3y0fLark")
    key = f"{tree['timestamp']}\nk3y0fSign".encode()
    assert tree["sign"] == base64.b64encode(hmac.digest(key, b"", hashlib.sha256)).decode()
    post = tree["content"]["post"]["en_us"]
    assert post["content"][1][0]["tag"] == "a" and len(asked.body) < 20_000
    return f"{post['title']}\n{post['content'][0][0]['text']}"


def dingtalk(asked: ReceivedRequest) -> str:
    path, _, query = asked.target.partition("?")
    fields = {name: values[0] for name, values in parse_qs(query).items()}
    assert (path, fields["access_token"]) == ("/robot/send", "k3y0fDingtalk")
    text = f"{fields['timestamp']}\nk3y0fSign".encode()
    assert fields["sign"] == base64.b64encode(hmac.digest(b"k3y0fSign", text, hashlib.sha256)).decode()
    tree = json.loads(asked.body)
    assert tree["at"] == {"isAtAll": False}
    return str(tree["text"]["content"])


def wecom(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/cgi-bin/webhook/send?key=k3y0fWecom")
    assert len(tree["text"]["content"].encode()) <= 2048
    return str(tree["text"]["content"])


def apprise(asked: ReceivedRequest) -> str:
    tree = tree_of(asked, "/notify/k3y0fApprise")
    assert (tree["format"], "tag" in tree) == ("text", False)
    return f"{tree['title']}\n{tree['body']}"


def code(number: int, words: str = "no", name: str = "errcode", message: str = "errmsg") -> Answer:
    """Return a 200 with an error inside."""
    return said(200, {name: number, message: words})


_OK = Answer(200, b"ok")
_BUSY = Answer(429, b"rate_limited", {"Retry-After": "30"})
PEERS: Mapping[str, Peer] = {
    "slack": Peer(
        "https://hook.test/services/T0/B0/k3y0fSlack",
        {},
        slack,
        _OK,
        Answer(429, b"rate_limited", {"Retry-After": "100"}),
        100,
        Answer(404, b"no_service"),
        Answer(400, b"invalid_payload"),
    ),
    "discord": Peer(
        "https://hook.test/api/webhooks/1/k3y0fDiscord",
        {},
        discord,
        said(200, {"id": "1"}),
        said(429, {"message": "You are being rate limited.", "retry_after": 90.5, "global": False}),
        90.5,
        said(404, {"message": "Unknown Webhook", "code": 10015}),
        said(400, {"embeds": ["0"]}),
    ),
    "teams": Peer(
        "https://hook.test/workflows/1/triggers/manual/paths/invoke?sig=k3y0fTeams",
        {},
        teams,
        Answer(202, b""),
        _BUSY,
        60,
        said(401, {"error": {"code": "DirectApiAuthorizationRequired", "message": "The signature is no longer valid"}}),
        said(400, {"error": {"code": "TriggerInputSchemaMismatch", "message": "The input is invalid"}}),
    ),
    "google-chat": Peer(
        "https://hook.test/v1/spaces/1/messages?key=k&token=k3y0fGoogle",
        {},
        google_chat,
        said(200, {"name": "spaces/1/messages/2"}),
        said(429, {"error": {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED"}}),
        60,
        said(403, {"error": {"code": 403, "message": "The caller does not have permission"}}),
        said(400, {"error": {"code": 400, "message": "Message cannot be empty"}}),
    ),
    "mattermost": Peer(
        "https://hook.test/hooks/k3y0fMattermost",
        {},
        hooked("/hooks/k3y0fMattermost"),
        _OK,
        _BUSY,
        60,
        said(404, {"id": "web.incoming_webhook.channel.app_error", "message": "Could not find the channel."}),
        said(400, {"id": "web.incoming_webhook.parse.app_error", "message": "Unable to parse incoming data."}),
    ),
    "rocketchat": Peer(
        "https://hook.test/hooks/1/k3y0fRocket",
        {},
        hooked("/hooks/1/k3y0fRocket"),
        said(200, {"success": True}),
        said(400, {"success": False, "error": "Too many requests. [error-too-many-requests]"}),
        60,
        said(404, {"success": False, "error": "Invalid integration id or token provided."}),
    ),
    "zulip": Peer(
        "https://hook.test",
        {"bot": "bot@z.test", "key": "k3y0fZulip", "channel": "news"},
        zulip,
        said(200, {"result": "success", "msg": "", "id": 42}),
        said(429, {"result": "error", "code": "RATE_LIMIT_HIT", "msg": "API usage exceeded", "retry-after": 80.5}),
        80.5,
        said(401, {"result": "error", "code": "INVALID_API_KEY", "msg": "Invalid API key"}),
        said(400, {"result": "error", "code": "BAD_REQUEST", "msg": "Message must not be empty"}),
    ),
    "matrix": Peer(
        "https://hook.test",
        {"room": "!room:m.test", "token": "k3y0fMatrix"},
        matrix,
        said(200, {"event_id": "$1"}),
        said(429, {"errcode": "M_LIMIT_EXCEEDED", "error": "Too many requests", "retry_after_ms": 70_000}),
        70,
        said(401, {"errcode": "M_UNKNOWN_TOKEN", "error": "Invalid access token passed."}),
        said(413, {"errcode": "M_TOO_LARGE", "error": "event too large"}),
    ),
    "telegram": Peer(
        "https://hook.test",
        {"token": "123:k3y0fTelegram", "chat": "-100"},
        telegram,
        said(200, {"ok": True, "result": {"message_id": 1}}),
        said(
            429, {"ok": False, "error_code": 429, "description": "Too Many Requests", "parameters": {"retry_after": 75}}
        ),
        75,
        said(403, {"ok": False, "error_code": 403, "description": "Forbidden: bot was kicked from the group chat"}),
        said(400, {"ok": False, "error_code": 400, "description": "Bad Request: message is too long"}),
    ),
    "ntfy": Peer(
        "https://hook.test",
        {"topic": "prices", "token": "k3y0fNtfy", "priority": "4"},
        ntfy,
        said(200, {"id": "x", "event": "message"}),
        said(429, {"code": 42901, "http": 429, "error": "limit reached: too many requests"}),
        60,
        said(403, {"code": 40301, "http": 403, "error": "forbidden"}),
        said(413, {"code": 41301, "http": 413, "error": "attachment too large"}),
    ),
    "gotify": Peer(
        "https://hook.test",
        {"token": "k3y0fGotify"},
        gotify,
        said(200, {"id": 25}),
        _BUSY,
        60,
        said(401, {"error": "Unauthorized", "errorDescription": "you need to provide a valid access token"}),
        said(400, {"error": "Bad Request", "errorDescription": "Field 'message' is required"}),
    ),
    "pushover": Peer(
        "https://hook.test",
        {"token": "k3y0fPushover00000000000000000", "user": "u0fPushover0000000000000000000"},
        pushover,
        said(200, {"status": 1, "request": "x"}),
        said(429, {"status": 0, "errors": ["application is over its quota"]}),
        60,
        said(400, {"status": 0, "token": "invalid", "errors": ["application token is invalid"]}),
        said(400, {"status": 0, "message": "cannot be blank", "errors": ["message cannot be blank"]}),
    ),
    "home-assistant": Peer(
        "https://hook.test",
        {"token": "k3y0fHome", "service": "mobile_app_phone"},
        home_assistant,
        said(200, []),
        _BUSY,
        60,
        Answer(401, b"401: Unauthorized"),
        said(400, {"message": "Data should be valid JSON."}),
    ),
    "pagerduty": Peer(
        "https://hook.test",
        {"key": "k3y0fPagerduty000000000000000000"},
        pagerduty,
        said(202, {"status": "success", "message": "Event processed", "dedup_key": "x"}),
        said(429, {"status": "throttle exceeded", "message": "Requests have arrived too quickly"}),
        60,
        said(400, {"status": "invalid event", "errors": ["Length of 'routing_key' is incorrect"]}),
        said(400, {"status": "invalid event", "errors": ["'payload.severity' is invalid"]}),
    ),
    "opsgenie": Peer(
        "https://hook.test",
        {"key": "k3y0fOpsgenie"},
        opsgenie,
        said(202, {"result": "Request will be processed", "requestId": "x"}),
        said(429, {"message": "You are making too many requests!"}),
        60,
        said(403, {"message": "You are not authorized to access this api!"}),
        said(422, {"message": "Request body is not processable."}),
    ),
    "signal": Peer(
        "https://hook.test",
        {"number": "+46700000000", "recipients": "+46700000001, group.x="},
        signal,
        said(201, {"timestamp": "1"}),
        said(429, {"error": "Rate limit", "challenge_tokens": ["x"]}),
        60,
        said(400, {"error": "User +46700000000 is not registered.\n"}),
    ),
    "lark": Peer(
        "https://hook.test/open-apis/bot/v2/hook/k3y0fLark",
        {"secret": "k3y0fSign"},
        lark,
        said(200, {"code": 0, "msg": "success", "data": {}}),
        code(9499, "too many request", "code", "msg"),
        60,
        code(19001, "param invalid: incoming webhook access token invalid", "code", "msg"),
        code(19002, "params error, msg_type need", "code", "msg"),
    ),
    "dingtalk": Peer(
        "https://hook.test/robot/send?access_token=k3y0fDingtalk",
        {"secret": "k3y0fSign"},
        dingtalk,
        code(0, "ok"),
        code(130101, "send too fast, exceed 20 times per minute"),
        60,
        code(310000, "sign not match"),
        code(40035, "miss param : text-->content"),
    ),
    "wecom": Peer(
        "https://hook.test/cgi-bin/webhook/send?key=k3y0fWecom",
        {},
        wecom,
        code(0, "ok"),
        code(45009, "api freq out of limit"),
        60,
        code(93000, "invalid webhook url"),
        code(40058, "text.content exceed max length 2048"),
    ),
    "apprise": Peer(
        "https://hook.test",
        {"key": "k3y0fApprise"},
        apprise,
        _OK,
        _BUSY,
        60,
        Answer(204, b""),
        said(400, {"error": "Payload lacks minimum requirements"}),
    ),
}
