"""HTML text to a tree and the tree to lines, with lxml; shared knowledge about tags.

libxml2 silently drops elements nested deeper than `DEEPEST`, and everything after </html>. lxml rejects a `str` with an
encoding declaration or NULs, so both are removed first. No network and no entities from files: the HTML parser has
neither, and the options forbid them as well.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, Final, TypeAlias

from lxml import etree
from msgspec import Struct

from actors.content.errors import ContentError

Element: TypeAlias = Any  # an lxml element; lxml has no types
NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML document may have."""

MOST_COLUMNS: Final = 64  # columns of a table in a file


class Document(Struct, frozen=True):
    """The content of a file. partial: some was not read. labels: each block's place, () if the tree shows it."""

    format: str
    says: str
    root: Element
    partial: bool = False
    labels: tuple[str, ...] = ()


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
"""Elements whose text readers do not see."""

HIDEABLE = frozenset({"hidden", "style", "class", "aria-hidden"})  # attributes that can hide an element

DEEPEST = 2047
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(?:left|top|text-indent)\s*:\s*-\d{4,}px", re.I)
_BY_CLASS = (
    (
        "hidden",
        r"(?:^|[\s_-])(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?|a11y-hidden)(?:$|\s)"
        r"|(?:^|\s)(?:(?:is|u|uk|element)-hidden|element-invisible|assistive-text)(?:$|\s)",
    ),
    ("unless_wide", r"(?:^|\s)(?:d-none|hidden)(?:$|\s)"),
    ("skip", r"(?:^|[\s_-])skip(?:[\s_-]?(?:to|links?|nav\w*|main|content)|$|\s)"),
    ("icons", r"(?:^|\s)[\w-]*material-(?:icons|symbols)"),
    ("icon", r"(?:^|[\s_-])icons?(?:$|[\s_-])"),
)
"""Meanings of class names, first match wins: hidden; hidden except on a wide screen, if another class shows it there; a
skip link; an icon font; some icon.
"""
_SIGNS = tuple((sign, re.compile(pattern, re.I)) for sign, pattern in _BY_CLASS)
_SHOWN = re.compile(r"(?:^|\s)(?:(?!print)\S+:|d-(?!print)\w+-)(?:block|flex|grid|inline|table|contents)", re.I)
"""Classes that override "hidden" and "d-none" on a wide screen or after a click."""
_ICON = re.compile(r"\s*[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){0,6}\s*")
_MAIN = re.compile(r"#[\w-]*(?:main|content|skip|inhalt|conten|conteud|treść|sisalto|indhold|innehåll)", re.I)
_PAGES = frozenset({"html", "body", "main", "article"})
_LONGEST_SKIP, _MOST_KNOWN = 80, 8192
MOST_SKIPS = 5  # links at the start of a page that are tested; each costs a search for its target
_PROBES = frozenset({"mmmwwlli", "mmmmmmmm", "besbswy", "besbswyb", "besbswy ", "giitt1wq", "wwwwwwww"})
PROBE_STARTS = frozenset({letter for probe in _PROBES for letter in (probe[0], probe[0].upper())})
_PROBE_WORDS = 6
_OPENERS = etree.XPath("//*[@aria-controls or (self::a and starts-with(@href, '#'))]")
_BY_ID = etree.XPath("//*[@id=$id]")
_FOLDING = frozenset({"hidden", "style", "aria-hidden"})
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>", re.I)
_CLOSING = re.compile(r"</(?:body|html)\s*>", re.I)
_CLOSES = re.compile(rb"</(?:[bB][oO][dD][yY]|[hH][tT][mM][lL])")
"""Where it may match first, spelt out: faster than a search without case."""
_CONTROL = bytes(set(range(0x20)) - set(b"\t\n\r"))
_CODE = re.compile(
    rb"""<(?:(([sS](?i:cript|tyle))(?=[\s/>])[^<>"']*+(?:(?:"[^"<>]*+"|'[^'<>]*+')[^<>"']*+)*+>)"""
    rb"""([^<]*+(?:<(?!/(?i:\2))[^<]*+)*+)(</)?|!--[^-]*+(?:-(?!->)[^-]*+)*+)"""
)
"""A program or style with its content, to the end of the page if nothing closes it; or a comment."""
_USUAL = re.compile(rb"""\w+(?:\s+[\w-]+(?:=(?:"[^"]*+"|'[^']*+'|[^\s"'=`>/]++))?)*+\s*>""")
_VARYING = re.compile(rb"""\s(?:nonce|src|integrity)=(?:"[^"]*"|'[^']*'|[^\s>]+)""")
"""Attributes of a program, in a tag that no parser reads in another way."""
_NESTED = re.compile(rb"<!--.*<(?i:script)", re.S)  # code that may not end at the first tag that closes it
_COMMENT = re.compile(rb"""<!--(?:(?![->])[^<>"'`/?#]*+(?<=--)(>)|[^-]*+(?:-(?!->)[^-]*+)*+)""")
"""A comment, first one without other marks."""
_BEFORE = 80  # bytes before a comment that are searched for the end of a tag
_RAW = "unread<i>&lt;"  # only in raw text is this neither an element nor a character

_OF_HEAD = frozenset("base basefont bgsound link meta noframes noscript script style template title".split())  # noqa: SIM905


def parse(text: str) -> Element:
    """Parse HTML. Raises ContentError if it has no element."""
    return _parsed(prepared(text))


def prepared(text: str) -> bytes:
    """Return the bytes for the parser. Servers append to finished pages: without the tags that close body and html the
    rest belongs to the body, as in browsers.
    """
    html = _DECLARATION.sub("", text, count=1).encode("utf-8", "replace")
    if first := _CLOSES.search(html):
        html = html[: first.start()] + _CLOSING.sub("", html[first.start() :].decode()).encode()
    return html.translate(None, _CONTROL)


def emptied(html: bytes) -> tuple[bytes, bytes, int]:
    """Return a page with marks in place of programs and styles, except data that `offers` may read; a digest of the
    same without simple comments after a tag; and the number of marks, -1 if comments in code may have a meaning there.
    """
    codes, others = list[bytes](), list[bytes]()

    def fill(found: re.Match[bytes]) -> bytes:
        tag, content = found[1] or b"", found[3] or b""
        name = tag.lower()
        is_read = b"ld+json" in name or b"&" in name or (b"json" in name and b"price" in content)
        is_code = found[4] and not is_read and not _NESTED.search(content)
        (codes if is_code else others).append(content)
        tag = _VARYING.sub(b"", tag) if _USUAL.fullmatch(tag) else tag
        return b"<%b%b</" % (tag, _RAW.encode()) if is_code else found[0]

    def blank(found: re.Match[bytes]) -> bytes:
        before = found.string[max(0, found.start() - _BEFORE) : found.start()].rstrip() if found[1] else b""
        return b"<!---->" if before.endswith(b">") else found[0]

    filled, inside = _CODE.sub(fill, html), b"".join(codes)
    if any(b"<!--" in content for content in others):
        return html, b"", -1
    hashed = hashlib.sha256(b"%d " % inside.count(b"<img"))  # a page's head counts the pictures in programs too
    hashed.update(_COMMENT.sub(blank, filled))
    return filled, hashed.digest(), len(codes)


def parse_emptied(html: bytes, count: int) -> Element | None:
    """Parse an emptied page; None unless each mark is the text of a program or style. The parser was then in raw text
    at each, so other contents give the same tree.
    """
    root = _parsed(html)
    return root if sum(code.text == _RAW for code in root.iter("script", "style")) == count else None


def _parsed(html: bytes) -> Element:
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    try:
        # UTF-8 bytes: the encoding is settled, and the document's declaration no longer counts.
        root = etree.fromstring(html, parser)
    except (etree.LxmlError, ValueError, AssertionError):
        root = None
    if root is None:
        raise ContentError("The body has no HTML element.")
    _begin_body(root)
    return root


def _begin_body(root: Element) -> None:
    """Move body elements out of the head if both tags are missing (HTML, 13.2.6.4.4): libxml2 ignores `main`."""
    head = root.find("head")
    first = None if head is None else next((child for child in head if child.tag not in _OF_HEAD), None)
    if head is None or first is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    moved, text, body.text = [first, *first.itersiblings()], body.text, None
    for at, element in enumerate(moved):
        body.insert(at, element)
    moved[-1].tail = f"{moved[-1].tail or ''}{text or ''}" or None


def around_heading(root: Element) -> frozenset[Element]:
    heading = next(root.iter("h1"), None)
    return frozenset(heading.iterancestors()) if heading is not None else frozenset()


def opened(root: Element) -> frozenset[str]:
    """Return the ids of the panels that a click opens (tabs, accordions), outside menus."""
    return frozenset(
        control.get("aria-controls") or control.get("href", "")[1:]
        for control in _OPENERS(root)
        if next(control.iterancestors("header", "nav", "footer"), None) is None
    ) - {""}


def is_panel(attributes: Mapping[str, str], ids: Callable[[], Set[str]]) -> bool:
    """Whether an element is hidden only until a click, or a search, opens it. ids: see `opened`."""
    if attributes.get("hidden") == "until-found":
        return True
    return "id" in attributes and not _FOLDING.isdisjoint(attributes) and attributes["id"] in ids()


def hidden(attributes: Mapping[str, str], element: Element, shown: Set[Element] = frozenset()) -> bool:
    """Whether an element is invisible (by attribute, style or class), an icon's name or a skip link."""
    if "hidden" in attributes or ("style" in attributes and _INVISIBLE.search(attributes["style"]) is not None):
        return True
    sign = SIGNS[attributes["class"]] if "class" in attributes else ""
    if sign == "hidden":
        return True
    if sign == "unless_wide":
        # An element around the page's heading (`shown`) is hidden only until a script has run.
        return element.tag not in _PAGES and element not in shown
    if sign == "skip":
        return attributes.get("href", "").startswith("#")
    unread = attributes.get("aria-hidden") == "true"
    if (not unread and sign != "icons") or len(element) or not (text := element.text):
        return False
    # An icon font draws a name as a picture. Without its class, a text hidden from screen readers is such a name.
    return _ICON.fullmatch(text) is not None and (bool(sign) or "_" in text)


class _Signs(dict[str, str]):
    """The `_BY_CLASS` sign of each class attribute, "" for none. A dict lookup costs less than a call."""

    def __missing__(self, classes: str) -> str:
        sign = next((sign for sign, pattern in _SIGNS if pattern.search(classes[:400])), "")
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[classes] = sign = "" if sign == "unless_wide" and _SHOWN.search(classes) else sign
        return sign


SIGNS = _Signs()


def skips_ahead(link: Element, attributes: Mapping[str, str]) -> bool:
    target = attributes.get("href", "")
    if len(target) < 2 or not target.startswith("#") or len("".join(link.itertext())) > _LONGEST_SKIP:
        return False
    if _MAIN.match(target):
        return True
    goal = next(iter(_BY_ID(link, id=target[1:])), None)
    return goal is not None and (goal.tag == "main" or goal.get("role") == "main" or goal.find(".//h1") is not None)


def is_probe(text: str) -> bool:
    """Whether a text measures fonts: a word six times or more, or letters chosen for their width.

    >>> is_probe("mmMwWLliI0fiflO&1"), is_probe("giItT1WQy@!-/# " * 3), is_probe("well well well")
    (True, True, False)
    """
    if text[:1] in PROBE_STARTS and text[:8].casefold() in _PROBES:
        return True
    first, space, rest = text.partition(" ")
    if not space or not rest.startswith(first) or not first.isalpha():
        return False
    words = text.split()
    return len(words) >= _PROBE_WORDS and set(words) == {first}


def lines(root: Element) -> Iterator[str]:
    """Yield the visible lines of a tree; elements of `BREAKS` begin and end one. Some are blank."""
    held: list[str] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if tag in BREAKS:
            yield "".join(held)
            held.clear()
        if event == "start":
            if tag in UNSEEN or hidden(dict(element.items()), element):
                walk.skip_subtree()
            elif element.text:
                held.append(element.text.replace("\n", " ") if tag != "pre" else element.text)
        elif element.tail and element is not root:
            held.append(element.tail.replace("\n", " "))
    yield "".join(held)
