"""A page in one check: its head, its blocks with their keys, and whether it is a page at all; a page in a preview."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from itertools import islice
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from actors.content.bodies import markup
from actors.content.bodies.encoding import decode, unpacked
from actors.content.bodies.markup import Element
from actors.content.bodies.sniffing import NO_FILES, binary_kind
from actors.content.bodies.text import normalise
from actors.content.errors import ContentError
from actors.content.messages.readings import CHOSEN_BY, FILE, StandIn
from actors.content.messages.requests import PageRequest
from actors.content.pages import selectors
from actors.content.pages.blocks import Blocks, WalkedTree, blocks_of, digest, read_blocks, rough_digest, walk
from actors.content.pages.event_text import code_of, event_text
from actors.content.pages.listing import items_of
from actors.content.pages.offers import Offer, inserted, offers_of, with_offers
from actors.content.pages.places import CellLabels
from actors.content.pages.plain import (
    ROOT,
    Plain,
    format_of,
    part_of,
    read_bytes,
    read_file,
    read_plain,
    root_of,
    unwatchable,
)
from actors.content.pages.selectors import BlockPlace, stands_of, written
from actors.content.pages.traits import ASIDE, CELL, CONTROL, FURNITURE, HEADING, TOP
from actors.content.pages.walls import LITTLE, NO_EVIDENCE, Evidence, evidence_of, kind_of, parts_of_title, trouble_of
from actors.content.values.amounts import Writing
from actors.content.wording import canonical, json_text
from actors.content.wording.moments import moment
from actors.content.wording.words import words_in
from actors.messages.previews import EXCERPT, Ignored, ListedItem, PagePreview, PreviewBlock
from storage.records.identity import Millis

_MOST_PICTURES = 3
_LONGEST = 300


def heads_of(root: Element, text: str) -> tuple[str, ...]:
    title = normalise(" ".join((root.findtext(".//head/title") or "").split()))
    described = next((meta for meta in root.iter("meta") if meta.get("name") == "description"), None)
    found = [title[:_LONGEST], "" if described is None else normalise(described.get("content") or "")[:_LONGEST]]
    if 1 < len(text.split("<img", _MOST_PICTURES + 1)) <= _MOST_PICTURES + 1:
        images = (image for image in root.iterfind(".//img") if not image.get("alt"))
        found += [unquote(urlsplit(image.get("src") or "").path.rpartition("/")[2])[:_LONGEST] for image in images]
    return tuple(found)


def with_heads(blocks: Blocks, heads: tuple[str, ...]) -> Blocks:
    if not heads or not any(trait & TOP for trait in blocks.traits):
        return blocks
    title, description, *pictures = heads
    parts = parts_of_title(title)
    lengths = {len(part.casefold()) for part in (*parts, description)}
    # Folding a plain ASCII text keeps its length.
    like = (text for text in blocks.texts if len(text) in lengths or not (text.isascii() and text.isprintable()))
    shown = {text.casefold() for text in map(normalise, like)}
    kept = (part for part in parts if part.casefold() not in shown)
    said = [" – ".join(kept), "" if description.casefold() in shown else description]
    if pictures and sum(map(words_in, blocks.texts)) < LITTLE:
        said += pictures
    return inserted(blocks, [(text, None) for text in said if text], CONTROL)


NOTHING = "(nothing)"
"""The one block of a missing part."""
_NOTHING_CHOSEN = Blocks((NOTHING,), (CELL,), (0,), partial=False)
_MOST_LABEL = 1_000
_VALUE_WORDS = 8
_DIGIT = re.compile(r"\d")
_TITLE_NAMES = ("og:title", "twitter:title", "dc.title")
_AUTHOR_NAMES = ("author", "article:author", "dc.creator", "parsely-author", "byl")
_DATE_NAMES = (
    "article:published_time", "og:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "pubdate",
)  # fmt: skip
_JSON_LD_DATE = re.compile(r"\"datePublished\"\s*:\s*\"([^\"]{8,40})\"")


class PageReading(Struct, frozen=True):
    """The reading of a page. blocks, keys, traits (see `blocks`): for the decision. places: for the contexts in an
    event; () if no block is in a table. json: it is a JSON document. trouble: why this is not the page; such a check
    has failed. partial: it exceeds the limits on depth or length. evidence: signs of another page.
    """

    title: str
    author: str
    published_at: Millis | None
    blocks: tuple[str, ...]
    keys: tuple[str, ...]
    trouble: StandIn | None = None
    traits: tuple[int, ...] = ()
    partial: bool = False
    evidence: Evidence = NO_EVIDENCE
    places: tuple[CellLabels | None, ...] = ()
    json: bool = False


class OpenedPage(Struct, frozen=True, dict=True):
    """A page's tree and its watched elements; a document without elements has `plain` blocks, and none watched. judged:
    furniture is marked; not in a user's choice. offers: its machine-readable data. heads: its title and description,
    and its picture files if they are few. empty: the selector matches nothing. matched, removed: what the selector and
    each of `ignore` matched, as in `plain.Part`.
    """

    root: markup.Element
    watched: tuple[markup.Element, ...]
    text: str = ""
    judged: bool = True
    plain: Blocks | None = None
    offers: tuple[Offer, ...] = ()
    heads: tuple[str, ...] = ()
    empty: bool = False
    matched: int | None = None
    removed: tuple[int, ...] = ()

    @cached_property
    def walked(self) -> tuple[WalkedTree, ...]:
        return tuple(walk(element, judge_furniture=self.judged) for element in self.watched)

    @cached_property
    def seen(self) -> bytes:
        """Digest of everything the blocks are made of, b"" for a document without elements."""
        if not self.watched:
            return b""
        return digest(self.walked, (*self.offers, *self.heads))

    @cached_property
    def rough(self) -> bytes:
        """Digest of everything a walk could read and more, b"" for a document without elements."""
        declared = (*self.offers, *self.heads)
        return rough_digest(self.watched, self.text, declared, judged=self.judged) if self.watched else b""


def open_page(
    body: bytes, content_type: str, selector: str | None, ignore: tuple[str, ...], was: str = ""
) -> OpenedPage:
    """Parse a page and find its watched elements; `walked` reads them on demand. was: its first format, or ""."""
    body = unpacked(body)
    if not body.strip():
        raise ContentError("The body is empty.")
    text, document = "", read_file(body)
    if document is None:
        text = decode(body, content_type).text
        if kind := binary_kind(body) or unwatchable(text):
            if kind in NO_FILES or was not in {"", FILE}:
                raise ContentError(f"This is {kind}, not a page.")
            document = read_bytes(kind, body)
        else:
            document = read_plain(text, was)
    if document is not None:
        return _open_document(text, document, selector, ignore)
    root = markup.parse(text)
    removed = tuple(selectors.remove(root, unwanted) for unwanted in ignore)
    if selector is None:
        offers, heads = offers_of(root, text), heads_of(root, text)
        return OpenedPage(root, (root,), text, offers=offers, heads=heads, removed=removed)
    chosen = selectors.select(root, selector)
    if not chosen:
        # A wall or an error in the page's place says nothing about the part.
        if trouble := trouble_of(root, head_of(root).written, read_blocks(root)):
            raise ContentError(f"{selector!r} matches nothing, and this is not the page itself: {trouble}.")
        return OpenedPage(root, (), plain=_NOTHING_CHOSEN, judged=False, empty=True, matched=0, removed=removed)
    return OpenedPage(root, tuple(chosen), text, judged=False, matched=len(chosen), removed=removed)


def _open_document(text: str, document: Plain, selector: str | None, ignore: tuple[str, ...]) -> OpenedPage:
    if selector is None and not ignore:
        return OpenedPage(root_of(document), (), plain=document.blocks)
    found, matched, removed = part_of(text, document, selector, ignore)
    if found is None and selector is None:
        raise ContentError("`ignore` removes the whole document.")
    blocks = _NOTHING_CHOSEN if found is None else found.blocks
    root = root_of(found or document)
    return OpenedPage(root, (), plain=blocks, empty=found is None, matched=matched, removed=removed)


def blocks_in(opened: OpenedPage) -> Blocks:
    """Return the blocks of a page, made only from the walked rows, not from the rest of the tree."""
    if opened.plain is not None:
        return opened.plain
    if len(opened.watched) == 1:
        blocks = blocks_of(opened.walked[0])
        return with_offers(with_heads(blocks, opened.heads) if opened.judged else blocks, opened.offers)
    parts = [blocks_of(walked) for walked in opened.walked]
    return Blocks(
        texts=tuple(text for part in parts for text in part.texts),
        traits=tuple(trait for part in parts for trait in part.traits),
        linked=tuple(linked for part in parts for linked in part.linked),
        partial=any(part.partial for part in parts),
        places=tuple(place for part in parts for place in part.places or (None,) * len(part.texts))
        if any(part.places for part in parts)
        else (),
    )


def reading_of(
    root: markup.Element,
    blocks: Blocks,
    *,
    narrowed: bool,
    known: canonical.KnownKeys = ({}, {}),
    exact: bool = False,
) -> PageReading:
    """Return the reading of a tree. known: keys from an earlier check, as keys are expensive. exact: mask nothing."""
    head = head_of(root)
    texts, keys = _keyed(blocks, known, exact=exact)
    return PageReading(
        title=head.title,
        author=head.author,
        published_at=head.published_at,
        blocks=tuple(texts),
        keys=tuple(keys),
        trouble=None if narrowed or root.tag == ROOT else trouble_of(root, head.written, blocks),
        traits=blocks.traits,
        partial=blocks.partial,
        evidence=evidence_of(root, blocks),
        places=blocks.places,
        json=bool(blocks.json),
    )


def writing_of(root: markup.Element, reading: PageReading) -> Writing:
    """Return a document's number format: by its declared language, else by its words."""
    if format_of(root) == "json":
        return Writing(exact=True)
    return Writing(reading.evidence.language or code_of(reading.blocks))


def is_one_value(blocks: Blocks) -> bool:
    """Whether a page is one version, date, checksum, address or number, with at most a heading."""
    content = ((text, trait) for text, trait in zip(blocks.texts, blocks.traits, strict=True) if not trait & ASIDE)
    rows = list(islice(content, 3))
    values = [text for text, trait in rows if not trait & HEADING] or [text for text, _ in rows]
    if len(values) != 1 or len(rows) > 2 or len(values[0].split()) > _VALUE_WORDS:
        return False
    if not _DIGIT.search(values[0]) or canonical.canonical(values[0]) in {"⟨clock⟩", "⟨ago⟩"}:
        return False
    return not kind_of(values[0])


class PageMetadata(Struct, frozen=True):
    """A page's metadata; written: its raw title."""

    written: str
    title: str
    author: str
    published_at: Millis | None


def head_of(root: markup.Element) -> PageMetadata:
    named = _metas(root)
    title = _first(named, _TITLE_NAMES) or " ".join((root.findtext(".//title") or "").split())
    author = _first(named, _AUTHOR_NAMES)
    author = "" if author.startswith(("http://", "https://")) else normalise(author)[:_MOST_LABEL]
    return PageMetadata(title, normalise(title)[:_MOST_LABEL], author, _published(root, named))


def _keyed(blocks: Blocks, known: canonical.KnownKeys, *, exact: bool) -> tuple[list[str], list[str]]:
    """Return the normal form and the key of each block; a known text is already normalised."""
    outside, in_cells = known
    texts = list(blocks.texts)
    keys = [
        in_cells.get(raw, "") if trait & CELL else outside.get(raw, "")
        for raw, trait in zip(texts, blocks.traits, strict=True)
    ]
    for i in [i for i, key in enumerate(keys) if not key]:
        cell = 1 if blocks.traits[i] & CELL else 0
        texts[i] = text = normalise(texts[i])
        said = json_text.form(text) if blocks.json and blocks.json[i] else text
        keys[i] = known[cell].get(text) or canonical.key(said, cell=bool(cell), exact=exact)
    return texts, keys


def _metas(root: markup.Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop")
        content = meta.get("content")
        if name and content:
            found.setdefault(name.strip().lower(), content.strip())
    return found


def _first(named: dict[str, str], names: tuple[str, ...]) -> str:
    return next((named[name] for name in names if named.get(name)), "")


def _published(root: markup.Element, named: dict[str, str]) -> Millis | None:
    for name in _DATE_NAMES:
        if name in named and (at := moment(named[name])) is not None:
            return at
    for script in root.iter("script"):
        if script.get("type") == "application/ld+json" and (found := _JSON_LD_DATE.search(script.text or "")):
            return moment(found[1])
    return None


MOST_SHOWN, MOST_ITEMS = 40, 20
_MOST_HINTS = 6
_LANDMARKS = ("main", "article", "table", "section", "form")
_PLAIN_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def preview_page(asked: PageRequest) -> PagePreview:
    """Preview a page; if a selector matches nothing, `has` suggests others. Raises ContentError."""
    opened = open_page(asked.body, asked.content_type, asked.selector, asked.ignore)
    tree, blocks = opened.root, blocks_in(opened)
    items = items_of(tree, opened.watched, asked.url, judged=opened.judged)
    reading = reading_of(tree, blocks, narrowed=asked.selector is not None)
    shown = () if opened.empty else shown_blocks(reading)
    text = event_text(blocks, reading.blocks, None, whole=tree.tag == ROOT).content
    watched, hints = sum(block.watched for block in shown), tuple[str, ...]()
    if opened.matched == 0:
        whole = open_page(asked.body, asked.content_type, None, ())
        hints = landmarks_of(whole.root) if whole.plain is None else labels_of(format_of(whole.root), whole.plain)
    return PagePreview(
        title=reading.title,
        author=reading.author,
        published_at=reading.published_at,
        content="" if opened.empty else text[:EXCERPT],
        blocks=shown[:MOST_SHOWN],
        watched=watched,
        left_out=len(shown) - watched,
        matched=opened.matched,
        ignored=tuple(map(Ignored, asked.ignore, opened.removed)),
        has=hints,
        partial=reading.partial,
        trouble=None if reading.trouble is None else str(reading.trouble),
        listed=len(items),
        items=tuple(ListedItem(item.title[:EXCERPT], item.url) for item in items[:MOST_ITEMS]),
    )


def shown_blocks(reading: PageReading) -> tuple[PreviewBlock, ...]:
    return tuple(
        PreviewBlock(text[:EXCERPT], not why, why)
        for text, trait in zip(reading.blocks, reading.traits, strict=True)
        for why in ("furniture" if trait & FURNITURE else "control" if trait & CONTROL else "",)
    )


def labels_of(format: str, blocks: Blocks) -> tuple[str, ...]:
    """Return the paths of a document's larger parts: its headings, then its rows."""
    kinds = CHOSEN_BY.get(format, ((), ""))[0]
    if kinds[:1] != ("path",):
        return ()
    stands = stands_of(format, blocks)
    headings = [BlockPlace(stand.heading) for stand in stands if stand.heading]
    rows = [BlockPlace(row=stand.row) for stand in stands if stand.row]
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
