"""The visible blocks of a page in reading order, each with what its place in the page says about it.

A block is the text between two breaks (`markup.BREAKS`): a paragraph, a list item, a cell, a heading. *Furniture* is
what stands around content: by tag, by ARIA role, and by words in class and id. Where that would cover nearly all of a
page (a body with class "nav-open"), the page says nothing about furniture and the marks are dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lxml import etree
from msgspec import Struct

from actors.content import markup

MOST_BLOCKS = 10_000
MOST_CHARACTERS = 1 << 20

FURNITURE, HEADING, CELL, ITEM, LINK, TOP, FORM = 1, 2, 4, 8, 16, 32, 64
"""Bits of a block's traits. LINK: most of its text is a link. TOP: the page's own heading (h1)."""

_TAGS = {
    "h1": HEADING | TOP,
    "h2": HEADING,
    "h3": HEADING,
    "h4": HEADING,
    "td": CELL,
    "th": CELL,
    "dd": CELL,
    "dt": CELL,
    "li": ITEM,
}
_FURNITURE_TAGS = frozenset(["nav", "footer", "aside", "dialog", "menu"])
_FORM_TAGS = frozenset(["button", "label", "option", "legend"])
_CONTENT_TAGS = frozenset(["main", "article", "body", "html"])
_FURNITURE_ROLES = frozenset(
    [
        "navigation",
        "contentinfo",
        "complementary",
        "dialog",
        "alertdialog",
        "search",
        "banner",
        "menu",
        "menubar",
        "tooltip",
        "toolbar",
        "tablist",
        "status",
    ]
)
_FURNITURE_WORDS = re.compile(
    r"(?:^|[\s_-])(?:cookies?(?:bar|banner|notice|consent)?|consent|gdpr|cmp|onetrust|nav|navbar|navigation|menu|submenu"
    r"|dropdown|megamenu|footer|sidebar|related|recommend\w*|promo\w*|advert\w*|ads?|adslot|sponsor\w*|newsletter|subscribe"
    r"|social|share|sharing|breadcrumbs?|ticker|weather|wetter|popup|modal|login|signup|announcement\w*|topbar|toolbar|skip"
    r"|most-?read|popular|trending|anzeige|werbung|drawer|lang(?:uage)?s?|locale|paywall|comments?-count)(?:$|[\s_-])",
    re.I,
)
_LINKED = 0.6
_MOSTLY_FURNITURE = 0.9
_CFEMAIL = re.compile(r"[0-9a-fA-F]{4,400}")


class Blocks(Struct, frozen=True):
    """Texts, their traits and how many characters stand in links. `partial`: depth or a cap cut some off."""

    texts: tuple[str, ...]
    traits: tuple[int, ...]
    linked: tuple[int, ...]
    partial: bool


class _Walk:
    """One pass over a tree. Only elements that open a block or a link cost more than their text."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.traits: list[int] = []
        self.linked: list[int] = []
        self.held: list[str] = []
        self.characters = 0
        self.in_link = 0
        self.link_characters = 0
        self.trait = 0

    def flush(self) -> None:
        """End the block that is being gathered."""
        if not self.held:
            return
        text = " ".join("".join(self.held).split())
        self.held.clear()
        linked, self.link_characters = self.link_characters, 0
        if text:
            self.texts.append(text)
            self.linked.append(linked)
            self.traits.append(self.trait | (LINK if linked > _LINKED * len(text) else 0))
            self.characters += len(text)

    def add(self, text: str) -> None:
        """Gather text of the present block."""
        self.held.append(text)
        if self.in_link:
            self.link_characters += len(text)

    def full(self) -> bool:
        """Return whether a cap is reached."""
        return len(self.texts) >= MOST_BLOCKS or self.characters >= MOST_CHARACTERS


def read_blocks(root: markup.Element, *, judge_furniture: bool = True) -> Blocks:
    """Return the blocks under an element. Without `judge_furniture` none is marked (the user chose the element)."""
    walk = _Walk()
    depth = deepest = 0
    above: list[int] = []
    steps = etree.iterwalk(root, events=("start", "end"))
    for event, element in steps:
        tag = element.tag
        breaks = tag in markup.BREAKS
        if event == "start":
            depth += 1
            deepest = max(deepest, depth)
            above.append(walk.trait)
            if breaks:
                walk.flush()
                if walk.full():
                    break
                walk.trait = (
                    _traits(walk.trait, element, tag) if judge_furniture else _TAGS.get(tag, 0) | walk.trait & CELL
                )
            if tag in markup.UNSEEN or markup.hidden(element):
                steps.skip_subtree()
            else:
                _enter(walk, element, tag)
        else:
            depth -= 1
            if breaks:
                walk.flush()
            elif tag == "a" and walk.in_link:
                walk.in_link -= 1
            walk.trait = above.pop()
            if element.tail and element is not root:
                walk.add(element.tail)
    walk.flush()
    return _settled(walk, deepest >= markup.DEEPEST - 1 or walk.full())


def _enter(walk: _Walk, element: markup.Element, tag: str) -> None:
    if tag == "a":
        walk.in_link += 1
    hidden_address = element.get("data-cfemail")
    if hidden_address is not None:
        element.text = _address(hidden_address) or element.text
    if element.text:
        walk.add(element.text)


def _traits(outer: int, element: markup.Element, tag: str) -> int:
    """Return the traits of a block that starts with this element, inside one with traits `outer`."""
    trait = _TAGS.get(tag, 0) | (outer & (FURNITURE | CELL | FORM))
    if tag == "li":
        trait &= ~CELL
    if tag in _FORM_TAGS:
        return trait | FORM
    if tag in _FURNITURE_TAGS or (tag == "header" and _is_page_header(element)):
        return trait | FURNITURE
    if ((role := element.get("role")) and role.lower() in _FURNITURE_ROLES) or element.get("aria-hidden") == "true":
        return trait | FURNITURE
    if tag in _CONTENT_TAGS:
        return trait if tag == "article" else trait & ~FURNITURE
    if not trait & FURNITURE:
        named = f"{element.get('class') or ''} {element.get('id') or ''}"
        if named != " " and _named_furniture(named):
            return trait | FURNITURE
    return trait


def _is_page_header(element: markup.Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag == "body"


@lru_cache(maxsize=4096)
def _named_furniture(named: str) -> bool:
    return _FURNITURE_WORDS.search(named[:400]) is not None


def _address(code: str) -> str | None:
    """Return the mail address that a CDN hides as hex, each byte XORed with the first."""
    if not _CFEMAIL.fullmatch(code) or len(code) % 2:
        return None
    first, *rest = bytes.fromhex(code)
    return bytes(byte ^ first for byte in rest).decode("utf-8", "replace")


def _settled(walk: _Walk, partial: bool) -> Blocks:
    traits = walk.traits
    furniture = sum(len(text) for text, trait in zip(walk.texts, traits, strict=True) if trait & FURNITURE)
    if furniture > _MOSTLY_FURNITURE * walk.characters:
        traits = [trait & ~FURNITURE for trait in traits]
    return Blocks(tuple(walk.texts), tuple(traits), tuple(walk.linked), partial)
