"""The visible blocks of a page in reading order, each with its traits.

A block is the text between two breaks (`markup.BREAKS`): a paragraph, a list item, a cell, a heading.
"""

from __future__ import annotations

import re

from lxml import etree
from msgspec import Struct

from actors.content import markup
from actors.content.traits import LINK, believed, plain_traits, traits_of

MOST_BLOCKS = 10_000
MOST_CHARACTERS = 1 << 20

_LINKED = 0.6
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
            named = dict(element.items())
            if breaks:
                walk.flush()
                if walk.full():
                    break
                outer = walk.trait
                walk.trait = traits_of(element, tag, outer, named) if judge_furniture else plain_traits(tag, outer)
            if tag in markup.UNSEEN or (named and markup.hidden(named)):
                steps.skip_subtree()
            else:
                _enter(walk, element, tag, named)
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
    traits = believed(walk.texts, walk.traits) if judge_furniture else walk.traits
    partial = deepest >= markup.DEEPEST - 1 or walk.full()
    return Blocks(tuple(walk.texts), tuple(traits), tuple(walk.linked), partial)


def _enter(walk: _Walk, element: markup.Element, tag: str, named: dict[str, str]) -> None:
    if tag == "a":
        walk.in_link += 1
    if "data-cfemail" in named:
        element.text = _address(named["data-cfemail"]) or element.text
    if element.text:
        walk.add(element.text)


def _address(code: str) -> str | None:
    """Return the mail address that a CDN hides as hex, each byte XORed with the first."""
    if not _CFEMAIL.fullmatch(code) or len(code) % 2:
        return None
    first, *rest = bytes.fromhex(code)
    return bytes(byte ^ first for byte in rest).decode("utf-8", "replace")
