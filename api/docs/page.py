"""The reference and the problem pages, as HTML from `templates/`, which escape every value.

Text outside of attributes (`|text`) keeps its quotes: examples have many.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment
from msgspec import to_builtins

from api.problems import KINDS, MEDIA, Refusal

METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
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
Description = dict[str, Any]
Piece = tuple[str, str]
"""A text with its mark: "code", "strong", "type" or ""."""


class Text(str):
    """A text outside of attributes: no quote can end it."""

    __slots__ = ()

    def __html__(self) -> str:
        return escape(self, quote=False)


def reference(description: Description, style: str) -> bytes:
    """Return the page of a description. style: the URL of the stylesheet."""
    components = description["components"]
    return _rendered(
        "reference",
        style=style,
        info=description["info"],
        server=description["servers"][0]["url"],
        tags=[(tag, list(_operations(description, tag["name"]))) for tag in description["tags"]],
        webhooks=description["webhooks"],
        responses=components["responses"],
        schemas=components["schemas"],
    )


def problem_page(slug: str, base_url: str, style: str) -> bytes:
    """Return the page of a problem type. Raises KeyError for an unknown one."""
    kind = KINDS[slug]
    document = Refusal(slug, kind.example or kind.says).document(base_url, "/v1/sources")
    example = json.dumps(to_builtins(document), indent=2)
    return _rendered("problem", style=style, slug=slug, kind=kind, kinds=KINDS, media=MEDIA, document=example)


def _rendered(name: str, **values: Any) -> bytes:
    return _environment().get_template(f"{name}.html").render(values).encode()


@cache
def _environment() -> Environment:
    folder = files("api.docs").joinpath("templates")
    sources = {
        each.name: "".join(line.strip() for line in each.read_text("utf-8").splitlines()) for each in folder.iterdir()
    }
    made = Environment(loader=DictLoader(sources), autoescape=True, auto_reload=False)
    made.globals["command"] = command
    made.filters |= {
        "text": Text,
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
        "marked": marked,
        "type": type_of,
        "limits": limits_of,
        "words": words_of,
    }
    return made


def _operations(description: Description, tag: str) -> Iterator[tuple[str, str, Description]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if method in METHODS and tag in operation["tags"]:
                yield method, path, operation


def command(server: str, method: str, path: str, operation: Description) -> str:
    """Return the curl command of an operation with its first examples. It takes the key from the variable `key`.

    >>> print(command("http://x", "delete", "/v1/a/{id}", {"parameters": [{"name": "id", "in": "path", "example": 7}],
    ...     "security": [{"bearer": []}]}))
    curl -X DELETE http://x/v1/a/7 \\
         -H "Authorization: Bearer $key"
    """
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(parameter["example"]))
    words = ["curl"]
    if "text/event-stream" in operation.get("responses", {}).get("200", {}).get("content", {}):
        words.append("-N")
    if method not in ("get", "post") or (method == "post" and "requestBody" not in operation):
        words += ["-X", method.upper()]
    lines = [" ".join([*words, shlex.quote(server + path)])]
    if operation["security"]:
        lines.append('-H "Authorization: Bearer $key"')
    if "requestBody" in operation:
        ((media, content),) = operation["requestBody"]["content"].items()
        body = next(iter(content["examples"].values()))["value"]
        lines += [f"-H 'Content-Type: {media}'", f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]
    return " \\\n     ".join(lines)


def marked(text: str) -> list[Piece]:
    """Return a text in pieces: its `code` and **strong** words, and those between.

    >>> marked("An `id`, **always**.")
    [('', 'An '), ('code', 'id'), ('', ', '), ('strong', 'always'), ('', '.')]
    """
    pieces, at = [], 0
    for match in _INLINE.finditer(text):
        pieces += [("", text[at : match.start()]), ("code", match[1]) if match[1] else ("strong", match[2])]
        at = match.end()
    return [*pieces, ("", text[at:])]


def type_of(schema: Description) -> list[Piece]:
    """Return the type of a value as a phrase, with the named types marked.

    >>> type_of({"type": "array", "items": {"$ref": "#/components/schemas/Event"}})
    [('', 'list of '), ('type', 'Event')]
    """
    if "$ref" in schema:
        return [("type", schema["$ref"].rpartition("/")[2])]
    if "enum" in schema:
        return _between(" | ", ([("code", json.dumps(value))] for value in schema["enum"]))
    if parts := schema.get("anyOf") or schema.get("oneOf"):
        return _between(" | ", map(type_of, parts))
    if parts := schema.get("prefixItems"):
        return [("", "("), *_between(", ", map(type_of, parts)), ("", ")")]
    if schema.get("type") == "array":
        return [("", "list of "), *type_of(schema.get("items", {}))]
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return [("", "object of "), *type_of(schema["additionalProperties"])]
    return [("", f"{schema.get('type', 'any')}{' (' + schema['format'] + ')' if 'format' in schema else ''}")]


def _between(sign: str, groups: Iterable[list[Piece]]) -> list[Piece]:
    first, *others = groups
    return [*first, *(piece for group in others for piece in (("", sign), *group))]


def limits_of(schema: Description) -> str:
    """Return the limits of a value as text. For nullable values, those of the other type."""
    for part in schema.get("anyOf", ()):
        if part != {"type": "null"}:
            schema = part | {name: value for name, value in schema.items() if name != "anyOf"}
    shown = ((says, schema[word]) for word, says in _LIMITS.items() if word in schema)
    return ", ".join(
        says.format(value if isinstance(value, str) and value else json.dumps(value)) for says, value in shown
    )


def words_of(schema: Description) -> str:
    """Return the description of a value. For nullable values, that of the other type."""
    parts = [schema, *schema.get("anyOf", ())]
    return next((str(part["description"]) for part in parts if "description" in part), "")
