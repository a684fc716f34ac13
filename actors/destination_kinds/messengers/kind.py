"""Makes a kind of destination from a messenger: its request, and the meaning of its response.

A value of a request is text with names in braces. A text that is a single name takes the type of its value:
`{recipients}` of a field with several values is a list, `{priority:int}` a number. Empty results are left out, so
optional fields disappear, and a table whose names are all empty, too. Values never become structure: JSON is encoded
after they are filled in, parts of a path are percent-encoded, and a header can't hold a line break.

Each messenger has its own way to say "slow down" or "token revoked": the first matching rule of its file counts.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from actors.destination_kinds.addresses import admit
from actors.destination_kinds.contract import LANGUAGE, Answer, escaped, people_fields
from actors.destination_kinds.kind import DeliveryPayload, DeliveryTransport, DestinationKind, render_delivery
from actors.destination_kinds.messengers.messenger import PLACEHOLDER, AnswerRule, Messenger, Scheme
from actors.egress.failures import PostMethod, PostResult
from actors.egress.url import parse_url
from actors.notification.dialects import DIALECTS, one_line
from actors.notification.fitting import message_of, plain_of, title_of
from actors.notification.headline import Notification
from actors.notification.message_language import ENGLISH_ONLY, MessageLanguages
from actors.world import World
from storage.records.destination import Destination
from storage.records.identity import Millis


class MessengerRequest(NamedTuple):
    """One request, ready to send. url, headers and body may hold credentials."""

    method: PostMethod
    url: str
    headers: Mapping[str, str]
    body: bytes


def request_of(
    messenger: Messenger, address: str, values: Mapping[str, str], notification: Notification, now: Millis
) -> MessengerRequest:
    template = messenger.request
    known = _values(messenger, values, notification) | _signed(template.sign, values.get("secret", ""), now)
    body = _fill(template.body, known, {field.name for field in messenger.fields if field.many})
    texts = ((name, one_line(_text(value, known))) for name, value in template.headers.items() if _has(value, known))
    headers = {name: text.encode("ascii", "replace").decode() for name, text in texts}
    if template.basic:
        pair = ":".join(known.get(name, "") for name in template.basic)
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    media = "application/json; charset=utf-8" if template.encoding == "json" else "application/x-www-form-urlencoded"
    return MessengerRequest(
        template.method,
        _url(address, _text(template.path, known, quoted), {n: _text(v, known) for n, v in template.query.items()}),
        {"Content-Type": media} | headers,
        msgspec.json.encode(body) if template.encoding == "json" else urlencode(body).encode(),
    )


def _values(messenger: Messenger, values: Mapping[str, str], notification: Notification) -> dict[str, str]:
    limits, item = messenger.limits, notification.items[0] if notification.items else None
    text, stream = message_of(notification, limits), f"{notification.service}/stream" if notification.service else ""
    defaults = {field.name: values.get(field.name, field.default) for field in messenger.fields}
    return defaults | {
        "title": title_of(notification, limits.title),
        "heading": DIALECTS[limits.dialect].escape(title_of(notification, limits.title)),
        "text": text,
        "plain": text if limits.dialect == "plain" else plain_of(notification, limits),
        "link": stream if notification.is_digest or item is None else item.link,
        "host": "" if item is None else item.host,
        "id": notification.id,
        "event_id": "" if item is None else item.id,
        "at": "" if item is None else item.at,
        "count": str(notification.total),
        "notice": "" if item is None else item.notice,
    }


def _signed(scheme: Scheme, secret: str, now: Millis) -> dict[str, str]:
    """Return timestamp and signature, as two services require of signed robots."""
    if not scheme or not secret:
        return {}
    timestamp = str(now if scheme == "dingtalk" else now // 1000)
    text = f"{timestamp}\n{secret}".encode()
    key, message = (secret.encode(), text) if scheme == "dingtalk" else (text, b"")
    return {"timestamp": timestamp, "sign": base64.b64encode(hmac.digest(key, message, hashlib.sha256)).decode()}


def quoted(text: str) -> str:
    return quote(text, safe="")


def _url(address: str, path: str, query: Mapping[str, str]) -> str:
    base, _, own_query = address.partition("?")
    full_url = base.rstrip("/") + path if path else base
    full_query = "&".join(filter(None, (own_query, urlencode({name: value for name, value in query.items() if value}))))
    return f"{full_url}?{full_query}" if full_query else full_url


def _text(template: str, known: Mapping[str, str], each: Callable[[str], str] = lambda text: text) -> str:
    return PLACEHOLDER.sub(lambda match: each(known.get(match[1], "")), template)


def _has(template: str, known: Mapping[str, str]) -> bool:
    """Return whether a value has content: it has no names, or one of them is not empty."""
    names = [match[1] for match in PLACEHOLDER.finditer(template)]
    return not names or any(known.get(name) for name in names)


def _fill(template: Any, known: Mapping[str, str], many: set[str]) -> Any:
    """Return a tree with its names filled in, None for empty parts."""
    if not template:
        return template
    if isinstance(template, dict):
        pairs = ((name, _fill(value, known, many)) for name, value in template.items())
        table = {name: value for name, value in pairs if value is not None}
        names = {name for name, value in template.items() if isinstance(value, str) and PLACEHOLDER.search(value)}
        return None if names and not names & table.keys() else table
    if isinstance(template, list):
        return [value for value in (_fill(one, known, many) for one in template) if value is not None]
    if not isinstance(template, str):
        return template
    placeholder = PLACEHOLDER.fullmatch(template)
    if placeholder and placeholder[2]:
        text = known.get(placeholder[1], "")
        return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else None  # a file may require no pattern
    if placeholder and placeholder[1] in many:
        return [part.strip() for part in known.get(placeholder[1], "").split(",") if part.strip()] or None
    return _text(template, known) if _has(template, known) else None


_LONGEST_EXCERPT = 200  # characters of a response in an error
_ABSENT: Any = object()


def answer_of(messenger: Messenger, result: PostResult) -> Answer:
    excerpt, tree = escaped(result.body), _tree(result.body)
    rule = next((rule for rule in messenger.answers if _matches(rule, result, tree)), None)
    wait = result.retry_after
    if rule is not None and rule.wait:
        wait = _seconds(rule, tree) or wait
    verdict = None if rule is None else rule.verdict
    if verdict == "delivered" and result.status // 100 != 2:
        verdict = None  # a success claimed in a redirect or an error is not believed
    answer = Answer(result.status, result.latency_ms, retry_after=wait, excerpt=excerpt, verdict=verdict)
    return answer if answer.delivered else answer._replace(error=_error(messenger, rule, result.status, tree, excerpt))


def _error(messenger: Messenger, rule: AnswerRule | None, status: int, tree: Any, excerpt: str) -> str:
    texts = _at(tree, rule.says) if rule is not None and rule.says else _ABSENT
    reason = escaped(texts.encode()) if isinstance(texts, str) else excerpt
    explanation = {
        "revoked": f"{messenger.label} says that this address or its token is no longer valid",
        "refused": f"{messenger.label} does not take this message",
        "slow": f"{messenger.label} asks for fewer messages",
    }.get(rule.verdict if rule is not None else "", "")
    return ": ".join(filter(None, (explanation, f"HTTP {status} {reason[:_LONGEST_EXCERPT]}".rstrip())))


def _matches(rule: AnswerRule, result: PostResult, tree: Any) -> bool:
    if rule.status and result.status not in rule.status:
        return False
    if rule.contains and rule.contains.encode() not in result.body:
        return False
    if not rule.path:
        return True
    value = _at(tree, rule.path)
    # 1 is not True here: a service that returns 1 means a number.
    return value is not _ABSENT and (not rule.values or any(type(value) is type(v) and value == v for v in rule.values))


def _seconds(rule: AnswerRule, tree: Any) -> float | None:
    value = _at(tree, rule.wait)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return value / 1000 if rule.wait_unit == "ms" else float(value)


def _tree(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _ABSENT


def _at(tree: Any, path: str) -> Any:
    """Return the value at a path of names and numbers, `_ABSENT` without one."""
    for step in path.split("."):
        if isinstance(tree, dict):
            tree = tree.get(step, _ABSENT)
        elif isinstance(tree, list) and step.isdigit() and len(step) < 4:
            tree = tree[int(step)] if int(step) < len(tree) else _ABSENT
        else:
            return _ABSENT
    return tree


def kind_of(messenger: Messenger, languages: MessageLanguages = ENGLISH_ONLY) -> DestinationKind:
    async def send(transport: DeliveryTransport, target: Destination, payload: DeliveryPayload, world: World) -> Answer:
        language = languages.language(target.values.get(LANGUAGE, ""))
        notification = await render_delivery(world, messenger.limits, target.values, payload, language)
        request = request_of(messenger, target.address, target.values, notification, world.now())
        url = parse_url(request.url, schemes=("http", "https"))
        poster = transport.deliver if url.secure else transport.deliver_plain
        return answer_of(messenger, await poster.post(url, request.headers, request.body, request.method))

    return DestinationKind(
        id=messenger.id,
        label=messenger.label,
        family=messenger.family,
        where=messenger.where,
        documentation=messenger.documentation,
        address=messenger.address,
        fields=(*messenger.fields, *people_fields(languages.codes)),
        admit=admit,
        new_secret=None,
        send=send,
        limits=messenger.limits,
        languages=languages,
        in_path=frozenset(match[1] for match in PLACEHOLDER.finditer(messenger.request.path))
        & {field.name for field in messenger.fields if not field.private},
    )
