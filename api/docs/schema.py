"""JSON Schemas for people: a value's type as a phrase, an object's fields as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from api.docs.html import Child, el, inline

_LIMITS = {
    "minimum": "from {}",
    "maximum": "to {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "as {}",
    "default": "default {}",
}
_REF = "#/components/schemas/"


def kind_of(schema: dict[str, Any]) -> Iterator[Child]:
    """Yield the type of a value, with links to named types."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REF)
        yield el("a", name, href=f"#schema-{name}")
    elif "enum" in schema:
        yield from _between(" | ", [[el("code", json.dumps(value))] for value in schema["enum"]])
    elif parts := schema.get("anyOf") or schema.get("oneOf"):
        yield from _between(" | ", [list(kind_of(part)) for part in parts])
    elif parts := schema.get("prefixItems"):
        yield "("
        yield from _between(", ", [list(kind_of(part)) for part in parts])
        yield ")"
    elif schema.get("type") == "array":
        yield "list of "
        yield from kind_of(schema.get("items", {}))
    elif schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        yield "object of "
        yield from kind_of(schema["additionalProperties"])
    else:
        yield f"{schema.get('type', 'any')}{' (' + schema['format'] + ')' if 'format' in schema else ''}"


def limits_of(schema: dict[str, Any]) -> str:
    """Return the limits of a value as text. For nullable values, those of the other type."""
    for part in schema.get("anyOf", ()):
        if part != {"type": "null"}:
            schema = part | {name: value for name, value in schema.items() if name != "anyOf"}
    shown = [says.format(_plain(schema[word])) for word, says in _LIMITS.items() if word in schema]
    return ", ".join(shown)


def words_of(schema: dict[str, Any]) -> str:
    """Return the description of a value. For nullable values, that of the other type."""
    parts = [schema, *schema.get("anyOf", ())]
    return next((str(part["description"]) for part in parts if "description" in part), "")


def fields_of(name: str, schema: dict[str, Any]) -> Element:
    rows = [
        el(
            "tr",
            el("th", el("code", field), scope="row"),
            el("td", *kind_of(value), *(["; ", limits] if (limits := limits_of(value)) else [])),
            el("td", *inline(words_of(value)), *([] if field in schema.get("required", ()) else [" Optional."])),
        )
        for field, value in schema.get("properties", {}).items()
    ]
    heading = el("h3", el("a", name, href=f"#schema-{name}"))
    says = el("p", *inline(schema.get("description", "")))
    table = [scrolled(("Field", "Type", "Meaning"), rows)] if rows else []
    return el("section", heading, says, *table, id=f"schema-{name}", class_="schema")


def scrolled(heads: tuple[str, ...], rows: list[Element]) -> Element:
    """Return a table that scrolls by itself if it is too wide."""
    head = el("thead", el("tr", *(el("th", word, scope="col") for word in heads)))
    table = el("table", head, el("tbody", *rows))
    return el("div", table, class_="wide", tabindex="0", role="group", aria_label=", ".join(heads))


def _between(sign: str, groups: list[list[Child]]) -> Iterator[Child]:
    for number, group in enumerate(groups):
        if number:
            yield sign
        yield from group


def _plain(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)
