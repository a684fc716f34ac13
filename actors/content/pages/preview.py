"""A page in a preview: its watched blocks, the others with reasons, and the effect of selectors."""

from __future__ import annotations

from collections import Counter

from actors.content.bodies import markup
from actors.content.bodies.encoding import decode, unpacked
from actors.content.bodies.text import normalise
from actors.content.messages.readings import CHOSEN_BY
from actors.content.messages.requests import PageRequest
from actors.content.pages import selectors
from actors.content.pages.listing import items_of
from actors.content.pages.page import PageReading, blocks_in, content_of, open_page, reading_of
from actors.content.pages.plain import Plain, part_of, read_file, read_plain
from actors.content.pages.selectors import Stand, stands_of, written
from actors.content.pages.traits import CONTROL, FURNITURE
from actors.previews import EXCERPT, ListedItem, PageBlock, PagePreview, Removed

MOST_BLOCKS = 40
MOST_ITEMS = 20
"""Characters of a text that are shown."""
_MOST_HINTS = 6
_LANDMARKS = ("main", "article", "table", "section", "form")
_PLAIN_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def preview_page(asked: PageRequest) -> PagePreview:
    """Preview a page. If a selector matches nothing, `matched` is 0, and `has` suggests others.

    Raises ContentError if the body is no page, or a selector is invalid.
    """
    ignored, matched, landmarks = tuple[Removed, ...](), None, tuple[str, ...]()
    if asked.selector is not None or asked.ignore:
        body = unpacked(asked.body)
        file = read_file(body)
        text = "" if file is not None else decode(body, asked.content_type).text
        if (document := file or read_plain(text)) is not None:
            _, matched, removed = part_of(text, document, asked.selector, asked.ignore)
            ignored = tuple(map(Removed, asked.ignore, removed))
            landmarks = labels_of(document)
        else:
            root = markup.parse(text)
            landmarks = landmarks_of(root)
            ignored = tuple(Removed(selector, selectors.remove(root, selector)) for selector in asked.ignore)
            matched = None if asked.selector is None else len(selectors.select(root, asked.selector))
    opened = open_page(asked.body, asked.content_type, asked.selector, asked.ignore)
    tree, blocks = opened.root, blocks_in(opened)
    items = items_of(tree, opened.watched, asked.url, judged=opened.judged)
    reading = reading_of(tree, blocks, content_of(tree, blocks), narrowed=asked.selector is not None)
    shown = () if opened.empty else blocks_of(reading)
    watched = sum(block.watched for block in shown)
    return PagePreview(
        title=reading.title,
        author=reading.author,
        published_at=reading.published_at,
        content="" if opened.empty else reading.content[:EXCERPT],
        blocks=shown[:MOST_BLOCKS],
        watched=watched,
        left_out=len(shown) - watched,
        matched=matched,
        ignored=ignored,
        has=landmarks if matched == 0 else (),
        partial=reading.partial,
        trouble=None if reading.trouble is None else str(reading.trouble),
        listed=len(items),
        items=tuple(ListedItem(item.title[:EXCERPT], item.url) for item in items[:MOST_ITEMS]),
    )


def blocks_of(reading: PageReading) -> tuple[PageBlock, ...]:
    """Return a page's blocks in reading order, each with whether it is watched."""
    return tuple(
        PageBlock(text[:EXCERPT], not why, why)
        for text, trait in zip(reading.blocks, reading.traits, strict=True)
        for why in (_why(trait),)
    )


def _why(trait: int) -> str:
    if trait & FURNITURE:
        return "furniture"
    return "control" if trait & CONTROL else ""


def labels_of(document: Plain) -> tuple[str, ...]:
    """Return the paths of a document's larger parts: its headings, then its rows."""
    kinds = CHOSEN_BY.get(document.format, ((), ""))[0]
    if kinds[:1] != ("path",):
        return ()
    stands = stands_of(document.format, document.blocks)
    headings = [Stand(stand.heading) for stand in stands if stand.heading]
    rows = [Stand(row=stand.row) for stand in stands if stand.row]
    return tuple(dict.fromkeys(map(written, dict.fromkeys((*headings, *rows)))))[:_MOST_HINTS]


def landmarks_of(root: markup.Element) -> tuple[str, ...]:
    """Return selectors of a page's larger parts, to help a person find the right one: landmarks, then ids."""
    tags = Counter(element.tag for element in root.iter(*_LANDMARKS))
    found = [tag for tag in _LANDMARKS if tags[tag]]
    sizes: list[tuple[int, str]] = []
    for element in root.iter("div", "section", "main", "article", "table", "ul", "ol"):
        name = element.get("id")
        if name and _PLAIN_NAME.issuperset(name) and not name[0].isdigit():
            sizes.append((len(normalise(" ".join(element.itertext()))[:5_000]), f"#{name}"))
        if len(sizes) >= 200:
            break
    largest = [name for size, name in sorted(sizes, key=lambda pair: -pair[0]) if size]
    return tuple(dict.fromkeys((*found, *largest)))[:_MOST_HINTS]
