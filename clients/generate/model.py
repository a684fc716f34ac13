"""The description, read: records, operations and kinds of problems, and the types that they are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Kind = Literal["text", "int", "float", "bool", "null", "any", "record", "words", "list", "row", "map", "union"]
PUBLIC = ("/.well-known/jwks.json", "/healthz", "/readyz")
"""Operations outside of `/v1` that a program wants; the rest are pages."""
STREAM = "text/event-stream"
_PLAIN: Mapping[str, Kind] = {"string": "text", "integer": "int", "number": "float", "boolean": "bool", "null": "null"}


class Type(NamedTuple):
    """A type. of: its parts. words: the name of a record, or the values of a closed set."""

    kind: Kind
    of: tuple[Type, ...] = ()
    words: tuple[str, ...] = ()


class Field(NamedTuple):
    """A field of a record, or a parameter of an operation, by its name on the wire."""

    name: str
    type: Type
    required: bool
    says: str = ""


class Record(NamedTuple):
    """asked: it is sent in a request, so what is absent differs from null and its closed sets are closed."""

    name: str
    says: str
    fields: tuple[Field, ...]
    asked: bool


class Operation(NamedTuple):
    """answers: what comes back, the first that fits; none: nothing. media: of it. paged: its `Link` leads on."""

    name: str
    tag: str
    method: str
    path: str
    says: str
    place: tuple[Field, ...]
    query: tuple[Field, ...]
    headers: tuple[Field, ...]
    body: tuple[Type, ...]
    answers: tuple[Type, ...]
    media: str
    paged: bool


class Refusal(NamedTuple):
    """A kind of problem."""

    slug: str
    title: str
    status: int


class Api(NamedTuple):
    """All of it."""

    records: tuple[Record, ...]
    operations: tuple[Operation, ...]
    refusals: tuple[Refusal, ...]


def read(description: Mapping[str, Any]) -> Api:
    """Return what the clients are made of."""
    schemas = description["components"]["schemas"]
    found = [
        _operation(method.upper(), path, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if _wanted(path, operation)
    ]
    asked = _reached((kind for one in found for kind in one.body), schemas)
    kept = _reached((kind for one in found for kind in (*one.body, *one.answers)), schemas)
    kept |= _reached([Type("record", words=(name,)) for name in ("Event", "Digest", "Problem")], schemas)
    records = tuple(_record(name, schemas[name], name in asked) for name in sorted(kept))
    return Api(records, tuple(found), tuple(_refusals(description)))


def type_of(schema: Mapping[str, Any]) -> Type:
    """Return the type that a schema describes.

    >>> type_of({"anyOf": [{"type": "string"}, {"type": "null"}]}).of
    (Type(kind='text', of=(), words=()), Type(kind='null', of=(), words=()))
    """
    if "$ref" in schema:
        return Type("record", words=(schema["$ref"].rpartition("/")[2],))
    if "enum" in schema:
        return _closed(schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema and "properties" not in schema:
            return _union([type_of(one) for one in schema[several]])
    kind = schema.get("type", "")
    if isinstance(kind, list):
        return _union([type_of({**schema, "type": one}) for one in kind])
    if kind == "array":
        if "prefixItems" in schema:
            return Type("row", tuple(map(type_of, schema["prefixItems"])))
        return Type("list", (type_of(schema["items"]),))
    if kind == "object":
        more = schema.get("additionalProperties")
        return Type("map", (type_of(more) if isinstance(more, dict) and more else Type("any"),))
    return Type(_PLAIN[kind]) if kind in _PLAIN else Type("any")


def plural(types: Sequence[Type]) -> Type | None:
    """Return the items of an answer that is one list."""
    return types[0].of[0] if len(types) == 1 and types[0].kind == "list" else None


def _closed(values: Sequence[Any]) -> Type:
    """Return the type of a closed set: words are told apart, numbers are not."""
    if all(isinstance(value, str) for value in values):
        return Type("words", words=tuple(values))
    return Type("null") if set(values) == {None} else Type("int")


def _wanted(path: str, operation: Mapping[str, Any]) -> bool:
    answers = [answer.get("content", {}) for answer in operation["responses"].values()]
    return (path.startswith("/v1/") or path in PUBLIC) and not any(STREAM in content for content in answers)


def _operation(method: str, path: str, said: Mapping[str, Any]) -> Operation:
    answers: dict[Type, None] = {}
    media, paged = "", False
    for status, answer in said["responses"].items():
        if not status.startswith("2"):
            continue
        paged = paged or "Link" in answer.get("headers", {})
        for name, content in answer.get("content", {}).items():
            media = media or name
            if name == media:
                answers.update(dict.fromkeys(_alternatives(content["schema"])))
    by_place = {
        where: [one for one in said["parameters"] if one["in"] == where] for where in ("path", "query", "header")
    }
    headers = [one for one in by_place["header"] if one["name"] != "If-None-Match"]  # 304 is no answer to a call
    body = said.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return Operation(
        name=said["operationId"],
        tag=said["tags"][0],
        method=method,
        path=path,
        says=said["summary"],
        place=tuple(map(_parameter, by_place["path"])),
        query=tuple(map(_parameter, by_place["query"])),
        headers=tuple(map(_parameter, headers)),
        body=tuple(_alternatives(body)) if body else (),
        answers=tuple(answers),
        media=media,
        paged=paged,
    )


def _alternatives(schema: Mapping[str, Any]) -> list[Type]:
    found = type_of(schema)
    return list(found.of) if found.kind == "union" else [found]


def _parameter(said: Mapping[str, Any]) -> Field:
    return Field(said["name"], type_of(said["schema"]), said.get("required", False), said["description"])


def _record(name: str, schema: Mapping[str, Any], asked: bool) -> Record:
    required = schema.get("required", ())
    fields = tuple(
        Field(field, type_of(one), field in required, " ".join(one.get("description", "").split()))
        for field, one in schema["properties"].items()
    )
    return Record(name, " ".join(schema.get("description", "").split()), fields, asked)


def _union(types: Sequence[Type]) -> Type:
    """Return what any of several types is; one type is itself."""
    different = tuple(dict.fromkeys(types))
    return different[0] if len(different) == 1 else Type("union", different)


def _names(one: Type) -> Iterator[str]:
    if one.kind == "record":
        yield one.words[0]
    for part in one.of:
        yield from _names(part)


def _reached(types: Any, schemas: Mapping[str, Any]) -> set[str]:
    """Return the names of all records that types are made of."""
    found: set[str] = set()
    waiting = [name for one in types for name in _names(one)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [n for one in schemas[name]["properties"].values() for n in _names(type_of(one))]
    return found


def _refusals(description: Mapping[str, Any]) -> Iterator[Refusal]:
    found = {}
    for answer in description["components"]["responses"].values():
        for slug, example in answer["content"]["application/problem+json"]["examples"].items():
            found[slug] = Refusal(slug, example["value"]["title"], example["value"]["status"])
    yield from sorted(found.values(), key=lambda one: (one.status, one.slug))


def snake(name: str) -> str:
    """Return a name in Python's spelling.

    >>> snake("listDestinationsOfAlert"), snake("If-Match")
    ('list_destinations_of_alert', 'if_match')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def camel(name: str) -> str:
    """Return a name in JavaScript's spelling.

    >>> camel("source_type"), camel("If-Match"), camel("template_id")
    ('sourceType', 'ifMatch', 'templateId')
    """
    first, *rest = re.split(r"[-_]", name)
    return first[:1].lower() + first[1:] + "".join(one[:1].upper() + one[1:] for one in rest)


def pascal(slug: str) -> str:
    """Return a slug as the name of a class.

    >>> pascal("cursor-expired")
    'CursorExpired'
    """
    return "".join(word.capitalize() for word in slug.split("-"))
