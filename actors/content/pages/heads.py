"""Content outside a page's body: title parts without a block, the description, and picture files on pages with few
words. They become blocks below the heading, weighed as lightly as controls.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from actors.content.bodies.markup import Element
from actors.content.bodies.text import normalise
from actors.content.pages.blocks import Blocks
from actors.content.pages.evidence import LITTLE, parts_of_title
from actors.content.pages.offers import inserted
from actors.content.pages.traits import CONTROL, TOP
from actors.content.wording.words import words_in

_MOST_PICTURES = 3
_LONGEST = 300


def heads_of(root: Element, text: str) -> tuple[str, ...]:
    """Return a page's title, description and picture files, "" if missing."""
    title = normalise(" ".join((root.findtext(".//head/title") or "").split()))
    described = root.find(".//meta[@name='description']")
    found = [title[:_LONGEST], "" if described is None else normalise(described.get("content") or "")[:_LONGEST]]
    if 0 < text.count("<img") <= _MOST_PICTURES:
        images = (image for image in root.iterfind(".//img") if not image.get("alt"))
        found += [unquote(urlsplit(image.get("src") or "").path.rpartition("/")[2])[:_LONGEST] for image in images]
    return tuple(found)


def with_heads(blocks: Blocks, heads: tuple[str, ...]) -> Blocks:
    """Add title and description below a page's heading, and its pictures if it has few words."""
    if not heads or not any(trait & TOP for trait in blocks.traits):
        return blocks
    title, description, *pictures = heads
    shown = {text.casefold() for text in map(normalise, blocks.texts)} if title or description else set()
    parts = [part for part in parts_of_title(title) if part.casefold() not in shown]
    said = [" – ".join(parts), "" if description.casefold() in shown else description]
    if pictures and sum(map(words_in, blocks.texts)) < LITTLE:
        said += pictures
    return inserted(blocks, [(text, None) for text in said if text], CONTROL)
