"""JSON Schemas of everything on the wire, for the description's components and for `/schemas/`.

msgspec makes them from the types that validate requests and write answers. This module adds the parts that types lack:
formats, bounds (`schemas` in `words/*.json`), and from `words/types.md` the fields of storage's types and details of
the API's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, get_args, get_origin

from msgspec import Struct, json

from api.openapi.texts import example_of, examples, sections
from api.problems import Problem
from api.route import Route
from storage.records import event

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
    if answer is None:
        return ()
    return answer if isinstance(answer, tuple) else (answer,)


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
            raise ValueError(
                f"two types would be at /schemas/{name_of(kind)}: rename {kind.__module__}.{kind.__name__}"
            )
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
    found: set[str] = set()
    waiting = list(schemas)
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            name = str(one.get("$ref", "")).removeprefix(COMPONENTS.format(name=""))
            if name in parts and name not in found:
                found.add(name)
                waiting.append(parts[name])
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def portable(schema: Any) -> Any:
    """Return a schema that every reader understands.

    Everywhere but in Python, `$` in a pattern is the very end. Generators reject `false` for the items after a tuple's
    last; `maxItems` forbids those already, so any schema will do. They reject a bare `null` as well.
    """
    if isinstance(schema, dict):
        schema = dict(schema)
        if schema.get("items") is False and "prefixItems" in schema:
            different = [
                item for at, item in enumerate(schema["prefixItems"]) if item not in schema["prefixItems"][:at]
            ]
            schema["items"] = different[0] if len(different) == 1 else {"anyOf": different}
        if isinstance(properties := schema.get("properties"), dict):
            typed = {name: _ONLY_NULL if one == {"type": "null"} else one for name, one in properties.items()}
            schema["properties"] = typed
        return {name: portable(value) for name, value in schema.items()}
    if isinstance(schema, list | tuple):
        return [portable(value) for value in schema]
    return schema.replace(_LOOKAHEAD, "$") if isinstance(schema, str) else schema


def _string_in(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") == "array":
        return _string_in(schema["items"])
    return next((one for one in schema.get("anyOf", ()) if one.get("type") == "string"), schema)


@cache
def _details() -> dict[str, str]:
    return {name: text for name, text in sections("types")[2].items() if not text.startswith("- ")}


@cache
def _fields() -> dict[str, dict[str, str]]:
    rows = {name: re.findall("^- `(.+?)`: (.+)$", text, re.M) for name, text in sections("types")[2].items()}
    known = ", ".join(event.AVAILABILITIES)
    return {name: {field: says.replace("{availabilities}", known) for field, says in row} for name, row in rows.items()}
