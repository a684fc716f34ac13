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
from actors.destination_kinds.answer import Answer, escaped
from actors.destination_kinds.fields import LANGUAGE, for_people
from actors.destination_kinds.kind import DeliveryTransport, DestinationKind, Parcel
from actors.destination_kinds.messengers.messenger import PLACEHOLDER, AnswerRule, Messenger, Scheme
from actors.destination_kinds.writing import written
from actors.egress.failures import PostMethod, PostResult
from actors.egress.url import parse_url
from actors.notification.dialects import DIALECTS, one_line
from actors.notification.fitting import message_of, plain_of, title_of
from actors.notification.reading import Notification
from actors.notification.speech import NO_OTHER, Speech
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
    shape = messenger.request
    known = _values(messenger, values, notification) | _signed(shape.sign, values.get("secret", ""), now)
    many = {field.name for field in messenger.fields if field.many}
    body = _filled(shape.body, known, many)
    headers = {
        n: one_line(_text(value, known)).encode("ascii", "replace").decode()
        for n, value in shape.headers.items()
        if _says(value, known)
    }
    if shape.basic:
        pair = ":".join(known.get(name, "") for name in shape.basic)
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    media = "application/json; charset=utf-8" if shape.encoding == "json" else "application/x-www-form-urlencoded"
    return MessengerRequest(
        shape.method,
        _url(address, _text(shape.path, known, quoted), {n: _text(v, known) for n, v in shape.query.items()}),
        {"Content-Type": media} | headers,
        msgspec.json.encode(body) if shape.encoding == "json" else urlencode(body).encode(),
    )


def _values(messenger: Messenger, values: Mapping[str, str], notification: Notification) -> dict[str, str]:
    limits, item = messenger.limits, notification.items[0] if notification.items else None
    defaults = {field.name: values.get(field.name, field.default) for field in messenger.fields}
    return defaults | {
        "title": title_of(notification, limits.title),
        "heading": DIALECTS[limits.dialect].escape(title_of(notification, limits.title)),
        "text": message_of(notification, limits),
        "plain": plain_of(notification, limits),
        "link": (f"{notification.service}/stream" if notification.service else "")
        if notification.is_digest or item is None
        else item.link,
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
    token = base64.b64encode(hmac.digest(key, message, hashlib.sha256)).decode()
    return {"timestamp": timestamp, "sign": token}


def quoted(text: str) -> str:
    return quote(text, safe="")


def _url(address: str, path: str, query: Mapping[str, str]) -> str:
    base, _, given = address.partition("?")
    whole = base.rstrip("/") + path if path else base
    said = "&".join(filter(None, (given, urlencode({name: value for name, value in query.items() if value}))))
    return f"{whole}?{said}" if said else whole


def _text(template: str, known: Mapping[str, str], each: Callable[[str], str] = lambda text: text) -> str:
    return PLACEHOLDER.sub(lambda found: each(known.get(found[1], "")), template)


def _number(text: str) -> int | None:
    """Return a whole number, None for anything else: a file may ask for one without a pattern."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else None


def _says(template: str, known: Mapping[str, str]) -> bool:
    """Return whether a value has content: it has no names, or one of them is not empty."""
    names = [found[1] for found in PLACEHOLDER.finditer(template)]
    return not names or any(known.get(name) for name in names)


def _filled(template: Any, known: Mapping[str, str], many: set[str]) -> Any:
    """Return a tree with its names filled in, None for empty parts."""
    if not template:
        return template
    if isinstance(template, dict):
        pairs = ((name, _filled(value, known, many)) for name, value in template.items())
        found = {name: value for name, value in pairs if value is not None}
        named = [name for name, value in template.items() if isinstance(value, str) and PLACEHOLDER.search(value)]
        return None if named and not any(name in found for name in named) else found
    if isinstance(template, list):
        return [value for value in (_filled(one, known, many) for one in template) if value is not None]
    if not isinstance(template, str):
        return template
    alone = PLACEHOLDER.fullmatch(template)
    if alone and alone[2]:
        return _number(known.get(alone[1], ""))
    if alone and alone[1] in many:
        return [part.strip() for part in known.get(alone[1], "").split(",") if part.strip()] or None
    return _text(template, known) if _says(template, known) else None


_SHOWN = 200
"""Characters of a response in an error."""
_ABSENT: Any = object()


def answer_of(messenger: Messenger, posted: PostResult) -> Answer:
    """Return the answer, by the messenger's first matching rule, else by status."""
    said, tree = escaped(posted.body), _tree(posted.body)
    rule = next((rule for rule in messenger.answers if _fits(rule, posted, tree)), None)
    wait = posted.retry_after
    if rule is not None and rule.wait:
        wait = _seconds(rule, tree) or wait
    verdict = None if rule is None else rule.verdict
    if verdict == "delivered" and posted.status // 100 != 2:
        verdict = None  # a success claimed in a redirect or an error is not believed
    answer = Answer(posted.status, posted.latency_ms, retry_after=wait, said=said, verdict=verdict)
    return answer if answer.delivered else answer._replace(error=_error(messenger, rule, posted.status, tree, said))


def _error(messenger: Messenger, rule: AnswerRule | None, status: int, tree: Any, said: str) -> str:
    words = _at(tree, rule.says) if rule is not None and rule.says else _ABSENT
    told = escaped(words.encode()) if isinstance(words, str) else said
    what = {
        "revoked": f"{messenger.label} says that this address or its token is no longer valid",
        "refused": f"{messenger.label} does not take this message",
        "slow": f"{messenger.label} asks for fewer messages",
    }.get(rule.verdict if rule is not None else "", "")
    return ": ".join(filter(None, (what, f"HTTP {status} {told[:_SHOWN]}".rstrip())))


def _fits(rule: AnswerRule, posted: PostResult, tree: Any) -> bool:
    if rule.status and posted.status not in rule.status:
        return False
    if rule.contains and rule.contains.encode() not in posted.body:
        return False
    if not rule.path:
        return True
    found = _at(tree, rule.path)
    # 1 is not True here: a service that returns 1 means a number.
    return found is not _ABSENT and (not rule.values or any(type(found) is type(v) and found == v for v in rule.values))


def _seconds(rule: AnswerRule, tree: Any) -> float | None:
    found = _at(tree, rule.wait)
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        return None
    return found / 1000 if rule.wait_unit == "ms" else float(found)


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


def kind_of(messenger: Messenger, speech: Speech = NO_OTHER) -> DestinationKind:
    async def send(transport: DeliveryTransport, destination: Destination, parcel: Parcel, world: World) -> Answer:
        voice = speech.voice(destination.values.get(LANGUAGE, ""))
        told = await written(world, messenger.limits, destination.values, parcel, voice)
        request = request_of(messenger, destination.address, destination.values, told, world.now())
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
        fields=(*messenger.fields, *for_people(speech.codes)),
        admit=admit,
        new_secret=None,
        send=send,
        limits=messenger.limits,
        speech=speech,
        in_path=frozenset(found[1] for found in PLACEHOLDER.finditer(messenger.request.path))
        & {field.name for field in messenger.fields if not field.private},
    )
