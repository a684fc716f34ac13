"""A messenger: the content of a file about one service, checked, each mistake with its place and a sentence. Pure.

docs/messengers.md explains the fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any, Final, Literal

from msgspec import Struct

from actors.catalogue import Reader, read_file
from actors.destination_kinds.contract import LANGUAGE, MESSAGE_FIELDS, AddressField, Family, KindField, Verdict
from actors.egress.failures import PostMethod
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.notification.dialects import TextLimits
from storage.records.destination import EMAIL, WEBHOOK, WEBPUSH

Encoding = Literal["json", "form"]
Scheme = Literal["", "dingtalk", "lark"]


class RequestTemplate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request of a notification. Placeholders such as `{name}` are filled in; see `kind.py`. path: added to the
    address. basic: the two fields that are name and password (RFC 7617). sign: makes `{timestamp}` and `{sign}` of the
    field `secret`.
    """

    method: PostMethod = "POST"
    path: str = ""
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    basic: tuple[str, str] | None = None
    encoding: Encoding = "json"
    body: dict[str, Any]
    sign: Scheme = ""


class AnswerRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The meaning of a response. The first matching rule counts; without one, the status alone, as for a webhook.
    status: matching statuses, all without any. path: a place in the response's JSON (`errors.0.code`) that must exist
    and, if `values` are given, equal one of them. contains: text in the body. wait: the place of the time to wait.
    says: of the reason.
    """

    status: tuple[int, ...] = ()
    path: str = ""
    values: tuple[str | int | bool, ...] = ()
    contains: str = ""
    verdict: Verdict
    wait: str = ""
    wait_unit: Literal["s", "ms"] = "s"
    says: str = ""


class Messenger(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One service. where: how to get the address, in two sentences. documentation, written: the service's page about
    it, and the date of this file. read: the page or repository that the answers are based on.
    """

    id: str
    label: str
    family: Family = "chat"
    where: str
    documentation: str
    written: str
    read: tuple[str, ...] = ()
    address: AddressField
    fields: tuple[KindField, ...] = ()
    limits: TextLimits
    request: RequestTemplate
    answers: tuple[AnswerRule, ...] = ()


PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)(:int)?\}")
KNOWN = frozenset("title heading text plain link host id event_id at count notice timestamp sign".split())  # noqa: SIM905
"""Names with a value for every notification; the others are a file's fields."""
Errors = Iterator[tuple[str, str]]
ID, _NAME = re.compile(r"[a-z][a-z0-9-]{0,31}"), re.compile(r"[a-z][a-z_]{0,31}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = {"host", "content-length", "transfer-encoding", "connection", "content-type", "accept-encoding"}
RESERVED = frozenset({WEBHOOK, EMAIL, WEBPUSH})
_RESERVED_NAMES = KNOWN | {"url", LANGUAGE, *(field.name for field in MESSAGE_FIELDS)}
LEAST_TEXT, MOST_TEXT = 80, 65_536
MOST_FIELDS = 12
_CHOICES = {
    "family": ": write chat, phone or on-call",
    "limits": ": see docs/messengers.md for the dialects and units",
    "answers": ": write delivered, again, slow, refused or revoked",
    "request": ": write POST or PUT, json or form",
}


def read_messenger(text: str, file: str) -> Messenger:
    """Return the messenger from a file's text; `file` is its name for errors. Raises BadFile."""
    return read_file(text, file, Messenger, check, _CHOICES)


def check(messenger: Messenger) -> Errors:
    if not ID.fullmatch(messenger.id):
        yield "id", "small letters, digits and hyphens, 32 at most"
    if messenger.id in RESERVED:
        yield "id", f"{messenger.id} is another kind: choose another id"
    if not messenger.label.strip():
        yield "label", "is empty: write what people call the service"
    yield from _check_texts(messenger)
    yield from _check_fields(messenger)
    yield from _check_names(messenger)
    for number, rule in enumerate(messenger.answers):
        if not (rule.status or rule.path or rule.contains):
            yield f"answers[{number}].verdict", "fits every answer: say which by status, path or contains"
        if rule.values and not rule.path:
            yield f"answers[{number}].values", "are compared with the value at a path: add the path"


def _check_texts(messenger: Messenger) -> Errors:
    if not LEAST_TEXT <= messenger.limits.text <= MOST_TEXT:
        yield "limits.text", f"from {LEAST_TEXT} to {MOST_TEXT}"
    if not 1 <= messenger.limits.title <= 1_000:
        yield "limits.title", "from 1 to 1000"
    try:
        date.fromisoformat(messenger.written)
    except ValueError:
        yield "written", "not a day: write it as 2026-11-23"
    for place, url in (("address.default", messenger.address.default), ("documentation", messenger.documentation)):
        try:
            if url:
                parse_url(url, schemes=("https",))
        except UrlRefused as error:
            yield place, error.detail


def _check_fields(messenger: Messenger) -> Errors:
    if len(messenger.fields) > MOST_FIELDS:
        yield "fields", f"at most {MOST_FIELDS}"
    names: set[str] = set()
    for number, field in enumerate(messenger.fields):
        place = f"fields[{number}]"
        if not _NAME.fullmatch(field.name):
            yield f"{place}.name", "small letters and underscores"
        if field.name in _RESERVED_NAMES or field.name in names:
            yield f"{place}.name", f"{field.name} is another value: choose another name"
        names.add(field.name)
        if field.private and field.default:
            yield f"{place}.default", "a private value can't have one: anybody could read it"
        try:
            pattern = re.compile(field.pattern)
        except re.error as error:
            yield f"{place}.pattern", f"not a regular expression: {error}"
        else:
            for name, value in (("default", field.default), ("example", field.example)):
                if field.pattern and value and not pattern.fullmatch(value):
                    yield f"{place}.{name}", "does not fit the pattern"


def _check_names(messenger: Messenger) -> Errors:
    request = messenger.request
    fields = {field.name for field in messenger.fields}
    used: set[str] = ({"secret"} if request.sign else set()) | set(request.basic or ())
    for name in sorted(set(request.basic or ()) - fields):
        yield "request.basic", f"{name} is no field"
    texts = [
        ("request.path", request.path),
        *((f"request.query.{name}", value) for name, value in request.query.items()),
        *((f"request.headers.{name}", value) for name, value in request.headers.items()),
        *((f"request.body.{place}", text) for place, text in _texts(request.body)),
    ]
    for place, text in texts:
        for match in PLACEHOLDER.finditer(text):
            used.add(match[1])
            if match[1] not in KNOWN | fields:
                yield place, f"{{{match[1]}}} is no field and no value of a notification"
            if match[2] and match[0] != text:
                yield place, f"{match[0]} must stand alone, as it is a number"
    for name in request.headers:
        if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
            yield f"request.headers.{name}", "this header is not to be set"
    if request.path and not request.path.startswith("/"):
        yield "request.path", "begins with a slash"
    if not used & {"title", "heading", "text", "plain"}:
        yield "request.body", "says nothing: use {title}, {text} or {plain}"
    if request.sign and "secret" not in fields:
        yield "request.sign", "is made with a field called secret: add it"
    for number, field in enumerate(messenger.fields):
        if field.name not in used:
            yield f"fields[{number}].name", f"{{{field.name}}} is used nowhere"


def _texts(tree: Any, place: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(tree, str):
        yield place, tree
    elif isinstance(tree, dict):
        for name, value in tree.items():
            yield from _texts(value, f"{place}.{name}" if place else name)
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from _texts(value, f"{place}[{number}]")


_READER: Final = Reader("kind", "actors.destination_kinds.messengers", "files", read_messenger)
built_in = _READER.built_in
with_folder = _READER.with_folder
