"""The prose and the examples of the description, read from `words/` when it is first made.

`words/<noun>.md` has a noun's tag, and below a heading for each operation its description: a paragraph is one line, as
in the document. `words/<noun>.json` has the data for generators: parameters of paths and of queries (`*`: of any type),
examples of bodies, links to other operations, formats and bounds of fields (`schemas`), and one example of each type.
The examples belong together: one source, its events, an alert over it, that alert's destination. `words/problems.json`
has the kinds of errors, for `api/problems.py`.

Three short forms save copies. A section `## {name}` in Markdown is a text that others include as `{name}`. In JSON,
`"{Event}"` stands for the example of a type, also inside a text, and `{"{Event}": {"title": "Prices"}}` for that
example with other values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, get_args, get_origin

from msgspec import Struct, convert, json, to_builtins

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
    filled_in = {
        heading: _NAME.sub(lambda match: texts.get(match[0], match[0]), text) for heading, text in texts.items()
    }
    return title, introduction.strip(), filled_in


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
    found = sorted((each for each in FOLDER.iterdir() if each.name.endswith(".json")), key=lambda each: each.name)
    return [json.decode(each.read_bytes()) for each in found]


def filled(value: Any) -> Any:
    """Return an example with those of types in the places that name them."""
    match value:
        case list():
            return [filled(one) for one in value]
        case dict() if len(value) == 1 and (named := _named(next(iter(value)))):
            return named | filled(next(iter(value.values())))
        case dict():
            return {name: filled(one) for name, one in value.items()}
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
