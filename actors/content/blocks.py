"""The visible blocks of a page in reading order, each with its traits.

A block is the text between two breaks (`markup.BREAKS`): a paragraph, a list item, a cell, a heading.
"""

from __future__ import annotations

import re

from lxml import etree
from msgspec import Struct

from actors.content import markup
from actors.content.files import file_of, with_files
from actors.content.places import PLACING, Place, Tables
from actors.content.traits import LINK, believed, plain_traits, timed, traits_of

MOST_BLOCKS = 10_000
MOST_CHARACTERS = 1 << 20

_LINKED = 0.6
_CFEMAIL = re.compile(r"[0-9a-fA-F]{4,400}")


class Blocks(Struct, frozen=True):
    """Texts, their traits and how many characters stand in links. `partial`: depth or a cap cut some off.

    `places` says of each where it stands in a table; () when none does.
    """

    texts: tuple[str, ...]
    traits: tuple[int, ...]
    linked: tuple[int, ...]
    partial: bool
    places: tuple[Place | None, ...] = ()


class _Gathered:
    """The blocks of a page as far as they are read, and the text of the one that is not yet at its end."""

    __slots__ = ("cells", "characters", "files", "held", "in_links", "is_full", "linked", "tables", "texts", "traits")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.traits: list[int] = []
        self.linked: list[int] = []
        self.cells: dict[int, int] = {}
        """The table cell that a block stands in."""
        self.tables = Tables()
        self.held: list[str] = []
        self.files: list[str] = []
        self.in_links = 0
        self.characters = 0
        self.is_full = False
        """Whether a cap is reached."""

    def end_block(self, trait: int) -> None:
        """End the block whose text is held."""
        text = " ".join("".join(self.held).split())
        self.held.clear()
        in_links, self.in_links = self.in_links, 0
        if text and not markup.is_probe(text):
            # A link to a file is content, not a way to another page.
            self.traits.append(trait | LINK if in_links > _LINKED * len(text) and not self.files else trait)
            if self.files:
                text = with_files(text, self.files)
            if at := self.tables.at:
                self.cells[len(self.texts)] = at
            self.texts.append(text)
            self.linked.append(in_links)
            self.characters += len(text)
            self.is_full = len(self.texts) >= MOST_BLOCKS or self.characters >= MOST_CHARACTERS
        self.files.clear()


def read_blocks(root: markup.Element, *, judge_furniture: bool = True) -> Blocks:
    """Return the blocks under an element. Without `judge_furniture` none is marked (the user chose the element)."""
    gathered = _Gathered()
    deepest = _walk(root, gathered, judge_furniture)
    traits = timed(gathered.texts, gathered.traits)
    traits = believed(gathered.texts, traits) if judge_furniture else traits
    partial = deepest >= markup.DEEPEST - 1 or gathered.is_full
    places = gathered.tables.places(gathered.cells, gathered.texts)
    return Blocks(tuple(gathered.texts), tuple(traits), tuple(gathered.linked), partial, places)


def _walk(root: markup.Element, gathered: _Gathered, judge_furniture: bool) -> int:  # noqa: PLR0915  one hot loop
    """Gather the blocks under an element and return its depth.

    One loop without calls where nothing happens: a page has thousands of elements, and this is most of a look's time.
    """
    breaks, unseen, hideable, held = markup.BREAKS, markup.UNSEEN, markup.HIDEABLE, gathered.held
    placing, tables = PLACING, gathered.tables
    above: list[tuple[str, int]] = []
    trait = deepest = links = 0
    skips, shown = markup.MOST_SKIPS if judge_furniture else 0, markup.around_heading(root)
    steps = etree.iterwalk(root, events=("start", "end"))
    for event, element in steps:
        if event == "end":
            tag, outer = above.pop()  # lxml makes a tag's name anew each time
            if tag in breaks:
                if held:
                    gathered.end_block(trait)
                if tag in placing:
                    tables.leave(tag)
            elif tag == "a" and links:
                links -= 1
            trait = outer
            text = element.tail if element is not root else None
        else:
            tag = element.tag
            above.append((tag, trait))
            if len(above) > deepest:  # noqa: PLR1730  a call less
                deepest = len(above)
            named = dict(element.items())
            if tag in breaks:
                if held:
                    gathered.end_block(trait)
                if gathered.is_full:
                    break
                trait = traits_of(element, tag, trait, named) if judge_furniture else plain_traits(tag, trait)
                if tag in placing:
                    tables.enter(tag, named)
            if tag in unseen or (named and not hideable.isdisjoint(named) and markup.hidden(named, element, shown)):
                steps.skip_subtree()
                continue
            if tag == "a":
                if skips and not gathered.texts:
                    skips -= 1
                    if markup.skips_ahead(element, named):
                        steps.skip_subtree()
                        continue
                links += 1
                if "href" in named and (name := file_of(named["href"])):
                    gathered.files.append(name)
            text = element.text
            if "data-cfemail" in named:
                text = _address(named["data-cfemail"]) or text
        # Space outside of a block's text is most of a page's text nodes.
        if text and (held or not text.isspace()):
            held.append(text)
            if links:
                gathered.in_links += len(text)
    if held:
        gathered.end_block(trait)
    return deepest


def _address(code: str) -> str | None:
    """Return the mail address that a CDN hides as hex, each byte XORed with the first."""
    if not _CFEMAIL.fullmatch(code) or len(code) % 2:
        return None
    first, *rest = bytes.fromhex(code)
    return bytes(byte ^ first for byte in rest).decode("utf-8", "replace")
