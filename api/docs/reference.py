"""The reference: the whole description as one page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from api.docs.html import el, page, prose
from api.docs.operation import article
from api.docs.schema import fields_of

Description = dict[str, Any]
METHODS = ("get", "post", "put", "patch", "delete", "head", "options", "trace")


def reference(description: Description, style: str) -> bytes:
    """Return the page of a description. style: the URL of the stylesheet."""
    info, schemas = description["info"], description["components"]["schemas"]
    return page(
        f"{info['title']}: the API",
        el("a", "Skip to the content", href="#content", class_="skip"),
        el(
            "header",
            el("h1", f"{info['title']}: the API"),
            el("p", info["summary"]),
            el("p", "The same for machines: ", _link("/openapi.json"), "."),
        ),
        el("nav", *_contents(description), aria_label="Contents"),
        el(
            "main",
            el("section", el("h2", "For every request"), *prose(info["description"]), id="introduction"),
            *_tags(description),
            el("section", el("h2", "Deliveries"), *_sent(description), id="Deliveries"),
            el(
                "section", el("h2", "Types"), *(fields_of(name, schema) for name, schema in schemas.items()), id="types"
            ),
            id="content",
        ),
        style=style,
    )


def _link(path: str) -> Element:
    return el("a", path, href=path)


def operations_of(description: Description, tag: str) -> Iterator[tuple[str, str]]:
    """Yield the method and path of each operation of a tag."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if method in METHODS and tag in operation["tags"]:
                yield method, path


def _contents(description: Description) -> Iterator[Element]:
    yield el("ul", el("li", el("a", "For every request", href="#introduction")))
    for tag in description["tags"]:
        links = [
            el(
                "li",
                el(
                    "a",
                    description["paths"][path][method]["summary"].rstrip("."),
                    href=f"#{description['paths'][path][method]['operationId']}",
                ),
            )
            for method, path in operations_of(description, tag["name"])
        ]
        yield el("h2", el("a", tag["name"], href=f"#{tag['name']}"))
        if links:
            yield el("ul", *links)
    yield el("h2", el("a", "Types", href="#types"))


def _tags(description: Description) -> Iterator[Element]:
    for tag in description["tags"]:
        articles = [article(description, method, path) for method, path in operations_of(description, tag["name"])]
        if articles:
            yield el("section", el("h2", tag["name"]), el("p", tag["description"]), *articles, id=tag["name"])


def _sent(description: Description) -> Iterator[Element]:
    for hook in description["webhooks"].values():
        operation = hook["post"]
        yield el("h3", operation["summary"].rstrip("."))
        yield from prose(operation["description"])
        items = [
            el("li", el("code", parameter["name"]), ": ", *prose(parameter["description"])[0].itertext())
            for parameter in operation["parameters"]
        ]
        yield el("ul", *items)
        bodies = operation["requestBody"]["content"]
        name = bodies["application/json"]["schema"]["$ref"].rpartition("/")[2]
        others = [
            part
            for media in bodies
            if media != "application/json"
            for part in (", in an envelope as ", el("code", media))
        ]
        yield el("p", "Body: ", el("a", name, href=f"#schema-{name}"), *others)
