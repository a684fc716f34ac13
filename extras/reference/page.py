"""The reference and the problem pages, as HTML from `templates/`, which escape every value.

Text outside of attributes (`|text`) keeps its quotes: examples have many.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment
from msgspec import to_builtins

from api.problems import KINDS, MEDIA, Refusal

METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
Description = dict[str, Any]


class Text(str):
    """A text outside of attributes: no quote can end it."""

    __slots__ = ()

    def __html__(self) -> str:
        return escape(self, quote=False)


def reference(description: Description, style: str) -> bytes:
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
    folder = files("extras.reference").joinpath("templates")
    sources = {
        each.name: "".join(line.strip() for line in each.read_text("utf-8").splitlines()) for each in folder.iterdir()
    }
    made = Environment(loader=DictLoader(sources), autoescape=True, auto_reload=False)
    made.globals["command"] = command
    made.filters |= {
        "text": Text,
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
        "json": json.dumps,
        "marked": marked,
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


def marked(text: str) -> list[tuple[str, str]]:
    """Return a text in pieces, each with its mark: its `code` and **strong** words, and those between.

    >>> marked("An `id`, **always**.")
    [('', 'An '), ('code', 'id'), ('', ', '), ('strong', 'always'), ('', '.')]
    """
    pieces, at = [], 0
    for match in _INLINE.finditer(text):
        pieces += [("", text[at : match.start()]), ("code", match[1]) if match[1] else ("strong", match[2])]
        at = match.end()
    return [*pieces, ("", text[at:])]
