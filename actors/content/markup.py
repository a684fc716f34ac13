"""HTML text to a tree and the tree to lines, with lxml, and what every reader of pages must know about tags.

libxml2 drops what lies deeper than `DEEPEST` elements without a word, and all that follows </html>. lxml refuses a
`str` that carries an encoding declaration, or NULs, so both go first. No network, no entities from files: the HTML
parser has neither, and is told so nevertheless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from lxml import etree

from actors.content.errors import ContentError

Element: TypeAlias = Any
"""An lxml element; lxml has no types."""

BREAKS = frozenset([
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2",
    "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "iframe", "label", "legend", "li", "main", "menu",
    "nav", "ol", "optgroup", "option", "p", "pre", "search", "section", "select", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul", "video"
])  # fmt: skip
"""Elements that begin and end a line."""

UNSEEN = frozenset([
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "head", "canvas", "select",
    "textarea", "datalist", "audio", "video", "map", "applet", "noembed", "noframes"
])  # fmt: skip
"""Elements whose text is not part of what a reader reads."""

HIDEABLE = frozenset({"hidden", "style", "class"})
"""Attributes by which an element may be `hidden`."""

DEEPEST = 2047
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(?:left|top|text-indent)\s*:\s*-\d{4,}px", re.I)
_FOR_SCREEN_READERS = re.compile(
    r"(?:^|[\s_-])(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?|a11y-hidden)(?:$|\s)"
)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>", re.I)
_CLOSING = re.compile(r"</(?:body|html)\s*>", re.I)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def parse(text: str) -> Element:
    """Return the root of an HTML document. Raises ContentError when there is no element in it."""
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    # Servers append to finished pages: without these two tags the rest belongs to the body, as in browsers.
    clean = _CONTROL.sub("", _CLOSING.sub("", _DECLARATION.sub("", text, count=1)))
    try:
        # As UTF-8 bytes: whatever the document declares about its encoding is settled by now.
        root = etree.fromstring(clean.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError, AssertionError):
        root = None
    if root is None:
        raise ContentError("There is no HTML element in the body.")
    return root


def parse_fragment(text: str) -> Element:
    """Return a root that holds a fragment of HTML."""
    return parse(f"<html><body><div>{text}</div></body></html>")


def hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether an element is declared invisible: by attribute, style, or a class for screen readers only."""
    return (
        "hidden" in attributes
        or ("style" in attributes and _INVISIBLE.search(attributes["style"]) is not None)
        or ("class" in attributes and _FOR_SCREEN_READERS.search(attributes["class"]) is not None)
    )


def lines(root: Element) -> Iterator[str]:
    """Yield the visible lines of a tree; elements of `BREAKS` begin and end one. Some are blank."""
    held: list[str] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        breaks = tag in BREAKS
        if breaks:
            yield "".join(held)
            held.clear()
        if event == "start":
            if tag in UNSEEN or hidden(dict(element.items())):
                walk.skip_subtree()
            elif element.text:
                held.append(element.text.replace("\n", " ") if tag != "pre" else element.text)
        elif element.tail and element is not root:
            held.append(element.tail.replace("\n", " "))
    yield "".join(held)
