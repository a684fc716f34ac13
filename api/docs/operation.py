"""One operation of the reference."""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import Element

from api.docs.curl import command
from api.docs.html import el, inline, prose
from api.docs.schema import kind_of, limits_of, scrolled

Description = dict[str, Any]


def article(description: Description, method: str, path: str) -> Element:
    """Return the article of an operation. Its anchor is the operationId."""
    operation = description["paths"][path][method]
    name = operation["operationId"]
    server = description["servers"][0]["url"]
    return el(
        "article",
        el(
            "h3",
            el("a", el("span", method.upper(), class_=f"method {method}"), " ", el("code", path), href=f"#{name}"),
            id=f"{name}-title",
        ),
        el("p", operation["summary"], class_="summary"),
        *prose(operation["description"]),
        *_parameters(operation),
        *_request(operation),
        el("h4", "Try it"),
        _block(command(server, method, path, operation)),
        *_answers(description, operation),
        id=name,
        aria_labelledby=f"{name}-title",
    )


def _block(text: str) -> Element:
    return el("pre", el("code", text), tabindex="0")


def _example(value: Any) -> Element:
    return _block(value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False))


def _parameters(operation: Description) -> list[Element]:
    rows = [
        el(
            "tr",
            el("th", el("code", parameter["name"]), scope="row"),
            el("td", parameter["in"] + (", required" if parameter.get("required") else "")),
            el("td", *kind_of(parameter["schema"]), *_after("; ", limits_of(parameter["schema"]))),
            el("td", *inline(parameter["description"])),
        )
        for parameter in operation["parameters"]
    ]
    return [el("h4", "Parameters"), scrolled(("Name", "In", "Type", "Meaning"), rows)] if rows else []


def _after(sign: str, text: str) -> list[str]:
    return [sign, text] if text else []


def _request(operation: Description) -> list[Element]:
    if "requestBody" not in operation:
        return []
    ((media, content),) = operation["requestBody"]["content"].items()
    shown = [el("h4", "Body"), el("p", *kind_of(content["schema"]), ", as ", el("code", media))]
    for title, example in content["examples"].items():
        shown += [el("p", f"{title}:", class_="caption"), _example(example["value"])]
    return shown


def _answers(description: Description, operation: Description) -> list[Element]:
    shown = [el("h4", "Answers")]
    problems = []
    for status, answer in operation["responses"].items():
        if "$ref" in answer:
            shared = description["components"]["responses"][answer["$ref"].rpartition("/")[2]]
            (content,) = shared["content"].values()
            problems += [(status, slug, example["summary"]) for slug, example in content["examples"].items()]
        else:
            shown += _success(status, answer)
    items = [
        el("li", el("code", status), " ", el("a", slug, href=f"/problems/{slug}"), f": {title}.")
        for status, slug, title in problems
    ]
    return [*shown, el("p", "Problems:", class_="caption"), el("ul", *items, class_="problems")]


def _success(status: str, answer: Description) -> list[Element]:
    own = [name for name in answer["headers"] if not name.startswith(("RateLimit", "X-Request"))]
    headers = [", with ", *[part for name in own for part in (el("code", name), " ")]] if own else []
    shown = [el("p", el("code", status), f" {answer['description']}", *headers)]
    for media, content in answer.get("content", {}).items():
        shown.append(el("p", *kind_of(content["schema"]), ", as ", el("code", media), class_="caption"))
        shown += [_example(example["value"]) for example in content["examples"].values()]
    return shown
