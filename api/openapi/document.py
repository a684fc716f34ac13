"""OpenAPI 3.1, made from the routes and the types that validate their requests, with the requests to destinations.

`/schemas/` has the JSON Schemas of everything on the wire. msgspec makes them from the types that validate requests
and write answers. This module adds the parts that types lack: formats, bounds (`schemas` in `words/*.json`), and from
`words/types.md` the fields of storage's types and details of the API's.

The prose and the examples are read from `words/` when the description is first made. `words/<noun>.md` has a noun's
tag, and below a heading for each operation its description: a paragraph is one line, as in the document.
`words/<noun>.json` has the data for generators: parameters of paths and of queries (`*`: of any type), examples of
bodies, links to other operations, formats and bounds of fields (`schemas`), and one example of each type. The examples
belong together: one source, its events, an alert over it, that alert's destination. `words/problems.json` has the
kinds of errors, for `api/problems.py`. Three short forms save copies. A section `## {name}` in Markdown is a text that
others include as `{name}`. In JSON, `"{Event}"` stands for the example of a type, also inside a text, and `{"{Event}":
{"title": "Prices"}}` for that example with other values.

The nouns of the API have one row each; nothing else lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final, NamedTuple, get_args, get_origin

from msgspec import Struct, convert, inspect, json, to_builtins

from actors.destination_kinds.webhook import MEDIA as WEBHOOK_MEDIA
from actors.destination_kinds.webhook import to_cloudevent
from actors.errors import NotFound
from actors.extras import always_on
from api.etags import HOUR, cached_document, describing
from api.nouns import admin, alerts, deliveries, destinations, events, service, sources, tags, templates, why
from api.nouns import keys as secrets
from api.nouns import streams as stream
from api.nouns import values as present_values
from api.nouns import versions as page_versions
from api.nouns.deliveries import Digest
from api.nouns.service import METRICS
from api.problems import KINDS, MEDIA, Problem, Refusal
from api.route import JSON, PUBLIC, SCOPES, Answer, Call, Route
from storage.records import event
from storage.records.event import Event

FOLDER = files("api.openapi").joinpath("words")
_NAME = re.compile(r"\{(\w+)\}")


class Operation(NamedTuple):
    """The description and the examples of one route, in addition to its `Route`.

    name: its operationId, which becomes a method of generated clients.
    description: Markdown: paragraphs, `code`, and lists whose lines begin with "- ".
    requests: examples of the body by title.
    answers: by status, examples by title; those that are no JSON by media type, as a text or its lines. A JSON answer
    without one shows the example of its type.
    links: a JSON Pointer into the answer, and the operations that take the value there as their `id`.
    """

    name: str
    tag: str
    description: str
    requests: Mapping[str, Any]
    answers: Mapping[str, Mapping[str, Any]]
    links: Mapping[str, list[str]]


class Page(NamedTuple):
    """A noun: its tag, and its operations by the label of their route."""

    tag: str
    description: str
    operations: Mapping[str, Operation]


def sections(name: str) -> tuple[str, str, dict[str, str]]:
    """Return the title of a Markdown file, the text below it, and by heading the text below each further one."""
    top, *parts = FOLDER.joinpath(f"{name}.md").read_text("utf-8").split("\n## ")
    title, _, introduction = top.removeprefix("# ").partition("\n\n")
    texts = {heading: text.strip() for heading, _, text in (part.partition("\n\n") for part in parts)}
    filled = {name: _NAME.sub(lambda match: texts.get(match[0], match[0]), text) for name, text in texts.items()}
    return title, introduction.strip(), filled


@cache
def page_of(noun: str) -> Page:
    tag, introduction, texts = sections(noun)
    operations = {}
    for heading, text in texts.items():
        name, colon, label = heading.partition(": ")
        if colon:
            more = examples("operations").get(name, {})
            shown = (more.get(part, {}) for part in ("requests", "answers", "links"))
            operations[label] = Operation(name, tag, text, *filled(list(shown)))
    return Page(tag, introduction, operations)


@cache
def examples(part: str) -> dict[str, Any]:
    """Return a part of all JSON files, such as `parameters`, `headers`, `operations` or `types`."""
    return {name: value for noun in by_noun() for name, value in noun.get(part, {}).items()}


@cache
def by_noun() -> list[dict[str, Any]]:
    found = sorted(FOLDER.iterdir(), key=lambda each: each.name)
    return [json.decode(each.read_bytes()) for each in found if each.name.endswith(".json")]


def filled(value: Any) -> Any:
    """Return an example with those of types in the places that name them."""
    match value:
        case list():
            return [filled(item) for item in value]
        case dict() if len(value) == 1 and (named := _named(next(iter(value)))):
            return named | filled(next(iter(value.values())))
        case dict():
            return {name: filled(item) for name, item in value.items()}
        case str() if named := _named(value):
            return named
        case str():
            return _NAME.sub(lambda it: json.encode(named).decode() if (named := _named(it[0])) else it[0], value)
    return value


def _named(text: str) -> dict[str, Any]:
    """Return the example of the type that a text such as `{Event}` names; empty for any other text."""
    name = _NAME.fullmatch(text)
    found: dict[str, Any] = filled(examples("types").get(name[1], {})) if name else {}
    return found


def example_of(kind: Any) -> Any:
    """Return an example of a type as plain JSON, or None. Of a list: one item; of a union: its first type.

    A field that the file leaves out has its default. Raises msgspec.ValidationError for an example of another shape.

    >>> from api.nouns.deliveries import ReplayAnswer
    >>> example_of(list[ReplayAnswer])
    [{'queued': 12, 'next_since': None}]
    """
    if isinstance(kind, tuple):
        return example_of(kind[0])
    if hasattr(kind, "__metadata__"):
        return example_of(kind.__origin__)
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        example = example_of(item)
        return None if example is None else [example]
    if not isinstance(kind, type) or not issubclass(kind, Struct) or kind.__name__ not in examples("types"):
        return None
    return to_builtins(convert(filled(examples("types")[kind.__name__]), kind))


DIALECT = "https://json-schema.org/draft/2020-12/schema"
COMPONENTS = "#/components/schemas/{name}"
VERSION = "1.json"
_NAMES: dict[type, str] = {event.Event: "stream-event"}
IDS: Final = frozenset({"id", "source_id", "alert_id", "destination_id", "event_id", "source_ids"})
"""Properties that hold the id of a record."""
NO_IDS: Final = frozenset({"CheckedEvent", "TemplateRecord", "TemplateSummary", "TemplateReport", "TemplatePreview"})
"""Types whose ids are words or come from strangers."""
_ONLY_NULL = {"type": ["string", "null"], "enum": [None]}
_LOOKAHEAD = r"$(?!\n)"


def structs_of(kind: Any) -> list[type[Struct]]:
    if isinstance(kind, type) and issubclass(kind, Struct):
        return [kind]
    parts = kind if isinstance(kind, tuple) else get_args(kind) if get_origin(kind) else ()
    if not parts and hasattr(kind, "__origin__"):
        parts = (kind.__origin__,)
    return [struct for part in parts for struct in structs_of(part)]


def bodies_of(route: Route) -> list[Any]:
    answers = route.answers.values() if route.media.endswith("json") else ()
    return [*route.body, *(kind for answer in answers for kind in alternatives(answer))]


def alternatives(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else () if answer is None else (answer,)


def name_of(kind: type) -> str:
    """Return the name of a type's schema in URLs.

    >>> class SourceRecord: pass
    >>> name_of(SourceRecord), name_of(type("EventsPage", (), {}))
    ('source', 'events-page')
    """
    words = re.findall("[A-Z][a-z0-9]*", kind.__name__.removesuffix("Record"))
    return _NAMES.get(kind) or "-".join(words).lower()


def published(routes: Sequence[Route], more: Iterable[type[Struct]] = ()) -> dict[str, type[Struct]]:
    """Return the types that have a schema URL, by name. Raises ValueError if two share a name."""
    kinds: list[type[Struct]] = [Problem, event.Event, *more]
    kinds += [struct for route in routes for kind in bodies_of(route) for struct in structs_of(kind)]
    named: dict[str, type[Struct]] = {}
    for kind in kinds:
        if named.setdefault(name_of(kind), kind) is not kind:
            says = f"two types would be at /schemas/{name_of(kind)}: rename {kind.__module__}.{kind.__name__}"
            raise ValueError(says)
    return named


def schema_document(kind: type[Struct], url: str) -> dict[str, Any]:
    _, parts = components([kind], "#/$defs/{name}")
    top = parts.pop(kind.__name__)  # no type refers to itself
    return {"$schema": DIALECT, "$id": url, **top, **({"$defs": parts} if parts else {})}


def components(kinds: Sequence[Any], template: str = COMPONENTS) -> tuple[Sequence[Any], dict[str, Any]]:
    tops, parts = json.schema_components(kinds, ref_template=template)
    shown = {struct.__name__: example_of(struct) for kind in kinds for struct in structs_of(kind)}
    for name, schema in parts.items():
        for field, property in schema.get("properties", {}).items():
            if field in IDS and name not in NO_IDS:
                _string_in(property)["format"] = "uuid"
        if name in (details := _details()):
            schema["description"] += f"\n\n{details[name]}"
        added = examples("schemas").get(name, {})
        bounds = added.get("properties", {})
        for field, says in _fields().get(name, {}).items():
            schema["properties"][field] |= bounds.get(field, {}) | {"description": says}
        schema.update({part: value for part, value in added.items() if part != "properties"})
        if (example := shown.get(name)) is not None:
            schema.setdefault("examples", [example])
    return [portable(top) for top in tops], {name: portable(part) for name, part in sorted(parts.items())}


def named_in(schemas: Sequence[Any], parts: Mapping[str, Any]) -> set[str]:
    found, waiting = set[str](), list(schemas)
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).removeprefix(COMPONENTS.format(name=""))
            if name in parts and name not in found:
                found.add(name)
                waiting.append(parts[name])
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return found


def portable(schema: Any) -> Any:
    """Return a schema that every reader understands.

    Everywhere but in Python, `$` in a pattern is the very end. Generators reject `false` for the items after a tuple's
    last; `maxItems` forbids those already, so any schema will do. They reject a bare `null` as well.
    """
    if isinstance(schema, dict):
        schema = dict(schema)
        if schema.get("items") is False and "prefixItems" in schema:
            items = schema["prefixItems"]
            different = [item for at, item in enumerate(items) if item not in items[:at]]
            schema["items"] = different[0] if len(different) == 1 else {"anyOf": different}
        if isinstance(properties := schema.get("properties"), dict):
            typed = {name: _ONLY_NULL if schema == {"type": "null"} else schema for name, schema in properties.items()}
            schema["properties"] = typed
        return {name: portable(value) for name, value in schema.items()}
    if isinstance(schema, list | tuple):
        return [portable(value) for value in schema]
    return schema.replace(_LOOKAHEAD, "$") if isinstance(schema, str) else schema


def _string_in(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") == "array":
        return _string_in(schema["items"])
    return next((kind for kind in schema.get("anyOf", ()) if kind.get("type") == "string"), schema)


@cache
def _details() -> dict[str, str]:
    return {name: text for name, text in sections("types")[2].items() if not text.startswith("- ")}


@cache
def _fields() -> dict[str, dict[str, str]]:
    rows = {name: re.findall("^- `(.+?)`: (.+)$", text, re.M) for name, text in sections("types")[2].items()}
    known = ", ".join(event.AVAILABILITIES)
    return {name: {field: says.replace("{availabilities}", known) for field, says in row} for name, row in rows.items()}


ALWAYS = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")
"""Headers of every route's answers."""
EVERYWHERE = (
    *("invalid-request", "unauthorized", "request-timeout", "target-too-long", "headers-too-large"),
    *("rate-limited", "internal", "unavailable"),
)
"""Problems of every route. Public routes too refuse an invalid key, since its sender expects to be identified."""
REPEATABLE = ("conflict", "unprocessable")
"""Problems of routes with an Idempotency-Key: while the first call runs, and for a different call."""
WITH_BODY = ("body-too-large", "unsupported-media-type")
_BY_PROBLEM = {"unauthorized": "WWW-Authenticate", "rate-limited": "Retry-After", "unavailable": "Retry-After"}


def operation_of(route: Route, words: Operation, known: Mapping[int, Any]) -> dict[str, Any]:
    """Return a route's operation. known: schemas by their types' ids. Raises KeyError for an undescribed parameter."""
    operation: dict[str, Any] = {
        "operationId": words.name,
        "tags": [words.tag],
        "summary": route.says,
        "description": f"{words.description}\n\n{_needs(route)}",
        "parameters": [
            *(
                {"name": match[1], "in": "path", "required": True, **examples("parameters")[route.path[: match.end()]]}
                for match in re.finditer(r"{(\w+)}", route.path)
            ),
            *_in_query(route),
            *_in_headers(route),
        ],
        "responses": {str(status): _answer(route, words, status, known) for status in route.answers}
        | {str(status): {"$ref": f"#/components/responses/{name}"} for status, name, _ in _problems(route)},
        "security": [],
    }
    if route.scope != PUBLIC:
        wanted = [list(route.scopes), *([[route.narrower, *route.beside]] if route.narrower else [])]
        operation["security"] = [{scheme: scopes} for scopes in wanted for scheme in ("bearer", "header")]
    if route.body:
        bodies = {title: {"summary": title, "value": body} for title, body in words.requests.items()}
        media = {"schema": one_of(route.body, known), "examples": bodies}
        operation["requestBody"] = {"required": True, "content": {JSON: media}}
    return operation


def _needs(route: Route) -> str:
    if route.scope == PUBLIC:
        return "No key."
    needs = " and ".join(f"`{scope}`" for scope in route.scopes)
    is_cut = route.unread and route.shows_record
    cut = f" Without `{route.unread}`, records are cut down to `id` and `revision`." if is_cut else ""
    return f"Scope: {needs}{f', or `{route.narrower}`' if route.narrower else ''}.{cut}"


# --- parameters -------------------------------------------------------------------------------------------------------


def _in_query(route: Route) -> list[dict[str, Any]]:
    info = inspect.type_info(route.query)
    assert isinstance(info, inspect.StructType)
    properties = components([route.query])[1][route.query.__name__]["properties"]
    texts = examples("queries")["*"] | examples("queries").get(route.query.__name__, {})
    found = []
    for name in (field.encode_name for field in info.fields):  # a parameter may be absent but never null
        schema = next((one for one in properties[name].get("anyOf", ()) if one != {"type": "null"}), properties[name])
        found.append({"name": name, "in": "query", **texts[name], "schema": schema})
    return found


def _in_headers(route: Route) -> list[dict[str, Any]]:
    changes = "precondition-failed" in route.refuses
    taken = {
        "Last-Event-ID": "Sanderling-Replay-From" in route.headers,  # resumable answers name their start
        "If-None-Match": 304 in route.answers,
        "If-None-Match: *": changes and route.method == "PUT",
        "If-Match": changes,
        "Idempotency-Key": route.repeatable,
        "Mcp-Session-Id": route.path == "/mcp",
    }
    texts = examples("request-headers")
    found = [{"name": name.partition(":")[0], "in": "header", **texts[name]} for name in taken if taken[name]]
    if route.path == "/mcp" and route.method != "POST":
        found[-1]["required"] = True
    return found


# --- answers ----------------------------------------------------------------------------------------------------------


def _problems(route: Route) -> list[tuple[int, str, list[str]]]:
    slugs = {*EVERYWHERE, *route.problems, *(("forbidden",) if route.scope != PUBLIC else ())}
    slugs |= {*(WITH_BODY if route.body else ()), *(REPEATABLE if route.repeatable else ())}
    by_status: dict[int, list[str]] = {}
    for slug in (slug for slug in KINDS if slug in slugs):
        by_status.setdefault(KINDS[slug].status, []).append(slug)
    return [(status, "-or-".join(of), of) for status, of in sorted(by_status.items())]


def _problem(slugs: Sequence[str], base_url: str) -> dict[str, Any]:
    shown = {slug: Refusal(slug, KINDS[slug].example or KINDS[slug].says) for slug in slugs}
    values = {slug: problem.document(base_url, "/v1/sources") for slug, problem in shown.items()}
    examples = {slug: {"summary": KINDS[slug].title, "value": value} for slug, value in values.items()}
    content = {"schema": {"$ref": COMPONENTS.format(name="Problem")}, "examples": examples}
    more = tuple(dict.fromkeys(_BY_PROBLEM[slug] for slug in slugs if slug in _BY_PROBLEM))
    return {
        "description": " Or: ".join(f"{KINDS[slug].title}. {KINDS[slug].says}" for slug in slugs),
        "headers": _headers((*ALWAYS[:1], *more)),
        "content": {MEDIA: content},
    }


def _answer(route: Route, words: Operation, status: int, known: Mapping[int, Any]) -> dict[str, Any]:
    kind = route.answers[status]
    answer: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "headers": _headers((*ALWAYS, *route.sends, *("Idempotency-Replayed",) * route.repeatable)),
    }
    if kind is None:
        return answer
    shown = words.answers.get(str(status), {})
    if route.media.endswith("json"):
        own = {title: value for title, value in shown.items() if title not in route.also}
        own = own or {"example": example_of(kind)}
        media = {"examples": {title: {"value": value} for title, value in own.items() if value is not None}}
        answer["content"] = {route.media: media | {"schema": one_of(alternatives(kind), known)}}
    else:
        answer["content"] = {route.media: _text(shown[route.media])}
    answer["content"] |= {also: _text(shown[also]) for also in route.also}
    if words.links:
        answer["links"] = {
            name: {"operationId": name, "parameters": {"id": f"$response.body#{pointer}"}}
            for pointer, names in words.links.items()
            for name in names
        }
    return answer


def _text(example: str | list[str]) -> dict[str, Any]:
    return _media({"type": "string"}, example if isinstance(example, str) else "\n".join(example))


def one_of(kinds: Sequence[Any], known: Mapping[int, Any]) -> Any:
    schemas = [known[id(kind)] for kind in kinds]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _headers(names: Sequence[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


class Noun(NamedTuple):
    """The name of a noun's files in `words/`, and its routes. Webhooks have none."""

    name: str
    routes: Sequence[Route] = ()


def of_extras(noun: str) -> tuple[Route, ...]:
    return tuple(route for extra in always_on() for route in extra.routes().get(noun, ()))


_WATCHING = (*sources.PREVIEWS, *of_extras("watching"), *why.ROUTES, *present_values.ROUTES, *page_versions.ROUTES)
NOUNS: Final = (
    Noun("sources", sources.ROUTES),
    Noun("watching", _WATCHING),
    Noun("tags", tags.ROUTES),
    Noun("streams", stream.ROUTES),
    Noun("events", events.ROUTES),
    Noun("alerts", alerts.ROUTES),
    Noun("destinations", (*destinations.ROUTES, *deliveries.ROUTES)),
    Noun("deliveries"),
    Noun("templates", templates.ROUTES),
    Noun("bins", of_extras("bins")),
    Noun("publications", of_extras("publications")),
    Noun("people", of_extras("people")),
    Noun("secrets", secrets.ROUTES),
    Noun("apps", of_extras("apps")),
    Noun("agents", of_extras("agents")),
    Noun("practice", of_extras("practice")),
    Noun("admin", (*admin.ROUTES, *service.METRICS)),
    Noun("service", service.ROUTES),
)
"""In the order of their tags in the description."""
ROUTES: Final = tuple(route for noun in NOUNS for route in noun.routes)


@cache
def operations() -> dict[str, Operation]:
    return {label: words for noun in NOUNS for label, words in page_of(noun.name).operations.items()}


def document(routes: Sequence[Route], base_url: str) -> dict[str, Any]:
    """Return the description of all routes. Raises KeyError for a route without a text."""
    kinds: list[Any] = [Problem, *KINDS_SENT, *(kind for route in routes for kind in bodies_of(route))]
    schemas, parts = components(kinds)
    known = {id(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    for name in named_in([known[id(kind)] for route in routes for kind in route.body], parts):
        # Generators treat fields with a default as required, so a request's defaults move into its descriptions.
        parts[name] |= {"properties": {n: _worded(field) for n, field in parts[name].get("properties", {}).items()}}
    pages = [page_of(noun.name) for noun in NOUNS]
    problems = {name: slugs for route in routes for _, name, slugs in _problems(route)}
    title, text = sections("introduction")[:2]
    summary, _, introduction = text.partition("\n\n")
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = operation_of(route, operations()[route.label], known)
    description = {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": "1",
            "summary": summary,
            "description": f"{introduction}\n",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url, "description": "This service."}],
        "tags": [{"name": page.tag, "description": page.description} for page in pages],
        "paths": paths,
        "webhooks": {
            "event": {"post": _post("receiveEvent", "Receive an event.", Event, known)},
            "digest": {"post": _post("receiveDigest", "Receive a digest.", Digest, known)},
        },
        "components": {
            "schemas": parts,
            "responses": {name: _problem(slugs, base_url) for name, slugs in sorted(problems.items())},
            "headers": examples("headers"),
            "securitySchemes": _schemes(),
        },
    }
    plain: dict[str, Any] = json.decode(json.encode(description))  # tuples become lists, as in JSON
    return plain


def _worded(property: dict[str, Any]) -> dict[str, Any]:
    if property.get("default") is None:
        return {name: value for name, value in property.items() if name != "default"}
    said = f"{property['description']}. " if "description" in property else ""
    kept = {name: value for name, value in property.items() if name not in ("default", "description")}
    return {"description": f"{said}Default: {json.encode(property['default']).decode()}", **kept}


def _schemes() -> dict[str, Any]:
    bearer, scopes = examples("security")["bearer"], ", ".join(f"`{scope}`" for scope in sorted(SCOPES - {PUBLIC}))
    says = bearer["description"].replace("{scopes}", scopes)
    return examples("security") | {"bearer": bearer | {"description": says}}


KINDS_SENT: tuple[type[Struct], ...] = (Event, Digest)
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def _post(name: str, says: str, kind: type[Struct], known: Mapping[int, Any]) -> dict[str, Any]:
    body, schema = example_of(kind), examples("envelope")
    enveloped = json.decode(to_cloudevent(body["id"], json.encode(body)))
    schema = schema | {"properties": schema["properties"] | {"data": known[id(kind)]}}
    return {
        "operationId": name,
        "tags": ["Deliveries"],
        "summary": says,
        "description": sections("deliveries")[2][name],
        "parameters": [
            {"name": header, "in": "header", "required": True, **examples("parameters")[header]} for header in _HEADERS
        ],
        "requestBody": {
            "required": True,
            "content": {JSON: _media(known[id(kind)], body), WEBHOOK_MEDIA: _media(schema, enveloped)},
        },
        "security": [],
        "responses": examples("webhooks"),
    }


def _media(schema: Any, example: Any) -> dict[str, Any]:
    return {"schema": schema, "examples": {"example": {"value": example}}}


def of_service(base_url: str, *, metrics: bool) -> tuple[Route, ...]:
    """Return the routes of a service, with or without its metrics."""
    return described([route for route in ROUTES if metrics or route not in METRICS], base_url)


def described(routes: Sequence[Route], base_url: str) -> tuple[Route, ...]:
    """Return the routes plus those that describe them all."""

    @cache
    def made() -> bytes:
        return json.encode(document(every, base_url))

    openapi = cached_document("/openapi.json", lambda call: made(), "Read this description.")
    every = (*routes, _schemas(routes), openapi, *of_extras("reference"))
    return every


def _schemas(routes: Sequence[Route]) -> Route:
    kinds, media = published(routes, KINDS_SENT), "application/schema+json"

    async def serve(call: Call) -> Answer:
        kind = kinds.get(call.path["name"])
        if kind is None or call.path["version"] != VERSION:
            raise NotFound(f"There is no such schema; there are {', '.join(kinds)}.")
        url = f"{call.context.settings.public_url()}/schemas/{call.path['name']}/{VERSION}"
        return Answer(schema_document(kind, url), media=media, headers=HOUR)

    return describing("/schemas/{name}/{version}", serve, "Read a JSON Schema.", media)
