"""The visible blocks of a page in reading order, each with its traits.

A block is the text between two breaks (`markup.BREAKS`): a paragraph, a list item, a cell, a heading.
"""

from __future__ import annotations

from msgspec import Struct

from actors.content.bodies import markup
from actors.content.pages.files import with_files
from actors.content.pages.places import Place, Tables
from actors.content.pages.traits import LINK, believed, limited, timed
from actors.content.pages.walk import BEGIN, BLOCK, WalkedTree, walk

MOST_BLOCKS = 10_000
MOST_CHARACTERS = 1 << 20

_LINKED = 0.6


class Blocks(Struct, frozen=True):
    """Texts, their traits, and the number of characters in links. partial: depth or a cap cut some off.

    places: of each block in a table or in a document with paths; () without any. json: for each block, whether it is a
    line of JSON and not a text chosen from it; () without any.
    """

    texts: tuple[str, ...]
    traits: tuple[int, ...]
    linked: tuple[int, ...]
    partial: bool
    places: tuple[Place | None, ...] = ()
    json: tuple[bool, ...] = ()


def read_blocks(root: markup.Element, *, judge_furniture: bool = True) -> Blocks:
    """Return the blocks under an element. judge_furniture: whether to mark furniture; off for a user's choice."""
    return blocks_of(walk(root, judge_furniture=judge_furniture))


def blocks_of(walked: WalkedTree) -> Blocks:
    texts, traits, linked = list[str](), list[int](), list[int]()
    files, cells, tables, characters = list[str](), dict[int, int](), Tables(), 0
    is_full, is_probe = False, markup.is_probe
    for row in walked.rows:
        if type(row) is str:
            files.append(row)
        elif len(row) == BLOCK:
            held, trait, in_links = row
            text = " ".join(held.split())
            if not is_probe(text):
                # A link to a file is content, not a way to another page.
                traits.append(trait | LINK if in_links > _LINKED * len(text) and not files else trait)
                if files:
                    text = with_files(text, files)
                    files.clear()
                if tables.at:
                    cells[len(texts)] = tables.at
                texts.append(text)
                linked.append(in_links)
                characters += len(text)
                if is_full := len(texts) >= MOST_BLOCKS or characters >= MOST_CHARACTERS:
                    break
            elif files:
                files.clear()
        elif len(row) == BEGIN:
            tables.enter(row[0], row[1])
        else:
            tables.leave(row[0])
    traits = limited(texts, timed(texts, traits))
    traits = believed(texts, traits) if walked.judged else traits
    partial = walked.deep or walked.cut or is_full
    return Blocks(tuple(texts), tuple(traits), tuple(linked), partial, tables.places(cells, texts))
