"""HTML as elements: any text in stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, tostring

Child = Element | str
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")


def el(tag: str, *children: Child, **attributes: str) -> Element:
    """Return an element. In names, a trailing underscore is dropped (`class_`, `for_`); others become hyphens.

    >>> render(el("p", "a < ", el("b", "b"), " & c", class_="x"))
    b'<p class="x">a &lt; <b>b</b> &amp; c</p>'
    """
    element = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    for child in children:
        if isinstance(child, Element):
            element.append(child)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + child
        else:
            element.text = (element.text or "") + child
    return element


def render(element: Element) -> bytes:
    return bytes(tostring(element, encoding="utf-8", method="html"))


def inline(text: str) -> Iterator[Child]:
    """Yield text with its `code` and **strong** words as elements."""
    at = 0
    for match in _INLINE.finditer(text):
        yield text[at : match.start()]
        yield el("code", match[1]) if match[1] else el("strong", *inline(match[2]))
        at = match.end()
    yield text[at:]


def prose(text: str) -> list[Element]:
    """Return the paragraphs and lists of a text.

    >>> [render(part) for part in prose("One.\\n\\n- `two`\\n- three")]
    [b'<p>One.</p>', b'<ul><li><code>two</code></li><li>three</li></ul>']
    """
    parts = []
    for block in text.strip().split("\n\n"):
        if block.startswith("- "):
            parts.append(el("ul", *(el("li", *inline(line)) for line in block[2:].split("\n- "))))
        else:
            parts.append(el("p", *inline(block)))
    return parts


def page(title: str, *body: Child, style: str) -> bytes:
    """Return a complete page with its doctype. style: the URL of the stylesheet."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("title", title),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("link", rel="stylesheet", href=style),
    )
    return b"<!doctype html>\n" + render(el("html", head, el("body", *body), lang="en")) + b"\n"
