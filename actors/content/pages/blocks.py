"""The visible blocks of a page in reading order, each with its traits, and links to files.

Everything that blocks need is read from the tree here, and `blocks.blocks_of` is a function of the rows alone. So two
checks with the same rows have the same blocks, whatever else differs in their bytes: scripts, nonces, hidden parts. The
walk is one loop that avoids calls: a page has thousands of elements.

A block is the text between two breaks (`markup.BREAKS`): a paragraph, a list item, a cell, a heading.

Measured on the labelled pages: if only a link's address changed under the same text, it was navigation, a moved site or
a relative address made absolute in ten of eleven cases, and never worth a report. Documents and downloads differ:
"Monthly report" with a new file is a new report. So a block names its linked file, without hosts, folders, queries and
the hashes of build tools, which come and go.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias
from urllib.parse import unquote
from zlib import crc32

import msgspec
from lxml import etree
from msgspec import Struct

from actors.content.bodies import markup
from actors.content.errors import ContentError
from actors.content.pages.traits import (
    BY_NAME,
    CELL,
    CONTROL,
    FURNITURE,
    LINK,
    MARKED,
    PLACING,
    TOLD,
    CellLabels,
    Tables,
    mark_cells,
    mark_furniture,
    plain_traits,
    traits_of,
)

_FILE_KINDS = frozenset([
    "pdf", "doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "csv", "tsv", "ppt", "pptx", "odp", "epub", "ics", "zip",
    "tgz", "gz", "xz", "bz2", "zst", "7z", "rar", "tar", "dmg", "exe", "msi", "pkg", "deb", "rpm", "apk", "ipa", "jar",
    "whl", "iso", "img", "bin",
])  # fmt: skip
_HASH = re.compile(r"[._-]?(?<![0-9a-z])(?=[0-9a-f]*\d)(?:[0-9a-f]{10,}|\d{9,})(?![0-9a-z])", re.I)
_MAY_BE_HASH = re.compile(r"[0-9a-fA-F]{9}|\d{9}")
_LONGEST_NAME = 120
_ENDING = max(map(len, _FILE_KINDS)) + 1


def file_of(address: str) -> str:
    """Return the name of a link's file, "" for a page.

    >>> file_of("https://x.example/2026/Report%20May.pdf?utm_source=a#page=2")
    'Report May.pdf'
    >>> file_of("/download")
    ''
    """
    address = address.partition("#")[0].partition("?")[0]
    if address.rpartition(".")[2].lower() not in _FILE_KINDS:
        return ""
    name = unquote(address.rpartition("/")[2])
    if _MAY_BE_HASH.search(name):
        name = _HASH.sub("", name)
    return " ".join(name.split())[-_LONGEST_NAME:] if name.isprintable() else ""


def with_files(text: str, names: list[str]) -> str:
    """Append the names of a block's linked files that its text does not mention."""
    shown = text.casefold()
    unnamed = [name for name in dict.fromkeys(names) if name.casefold() not in shown]
    return f"{text} ({', '.join(unnamed)})" if unnamed else text


BLOCK, BEGIN = 3, 2  # the lengths of tuple rows: of a block, and of an element's start; an element's end has 1
_MOST_ROWS = 100_000
_CFEMAIL = re.compile(r"[0-9a-fA-F]{4,400}")
_HIDING = markup.HIDEABLE - {"class"}
_SAYING = ("alt", "title", "aria-label")  # attributes that describe an element without text; the first one counts
_HOLDING = {"data-cfemail", "srcdoc", "disabled", "aria-disabled", "value", "checked"}
_DISTINCTIVE = _HIDING | TOLD | MARKED | _HOLDING | {*_SAYING}
"""Attributes that need attention; most elements have none of them."""
Note: TypeAlias = tuple[int, Any, bool]
"""For a text: the number of rows before it, the element, and whether it is the element's tail. Its block is the first
block row after these rows.
"""
Notes: TypeAlias = list[Note] | None
_INLINE, _LINK, _UNSEEN, _BREAK, _PLACING, _UNSEEN_BREAK, _SELECT = range(7)
_KINDS = {
    **dict.fromkeys(markup.BREAKS, _BREAK),
    **dict.fromkeys(PLACING, _PLACING),
    **dict.fromkeys(markup.UNSEEN - markup.BREAKS, _UNSEEN),
    **dict.fromkeys(markup.UNSEEN & markup.BREAKS, _UNSEEN_BREAK),
    "a": _LINK,
    "select": _SELECT,
    "text": _BREAK,
}
_MOST_OPTIONS = 40  # readers do not wait for one item of a longer list, such as countries or years
_LONGEST_SAYING, _LONGEST_DOCUMENT = 40, 64 * 1024
_CONTROLS = frozenset({"button", "option", "input", "a"})
_INPUTS = frozenset({"", "text", "number", "tel", "email", "url", "submit", "button"})
_SKIPPED = frozenset({_UNSEEN, _UNSEEN_BREAK})
_MAY_FOLD = _SKIPPED | {_SELECT}
_UNFOLDED = frozenset({"iframe", "svg"})
_DATA_NAME = re.compile(r"data-[a-z][a-z0-9-]*")
_UNREAD = ("nonce", "integrity", "crossorigin", "src", "srcset", "sizes", "width", "height", "onclick")
_NOTHING = dict[str, str]()
_BEGINS = {tag: (tag, dict[str, str]()) for tag in PLACING}
_ENDS: Mapping[str, tuple[tuple[str, ...], ...]] = {tag: ((tag,),) for tag in PLACING}


class WalkedTree(Struct, frozen=True):
    """The rows read under an element. deep: some parts may exceed the depth limit. cut: it has too many rows. judged:
    furniture is marked; not in an element that the user chose.
    """

    rows: list[Any]
    deep: bool
    cut: bool
    judged: bool


def walk(root: markup.Element, *, judge_furniture: bool = True, notes: Notes = None) -> WalkedTree:  # noqa: PLR0915
    """Return the visible parts under an element. notes: collects the place of each text, if given."""
    rows, above = list[Any](), list[tuple[int, int, Any]]()
    add, push, pop, kind_of, signs = rows.append, above.append, above.pop, _KINDS.get, markup.SIGNS
    is_common, is_plain, says_nothing = _DISTINCTIVE.isdisjoint, _HIDING.isdisjoint, MARKED.isdisjoint
    trait_of, skips = (traits_of, markup.MOST_SKIPS) if judge_furniture else (plain_traits, 0)
    held, said, trait, is_deep, links, in_links = "", "", 0, False, 0, 0
    shown, ids = markup.around_heading(root), cache(lambda: markup.opened(root))  # most pages need no search
    for event, element in (steps := etree.iterwalk(root, events=("start", "end"))):
        if event == "end":
            kind, outer, row = pop()
            if kind >= _BREAK:
                if held or said:
                    add((held, trait, in_links) if held else (said, trait | CONTROL, 0))
                    held, said, in_links = "", "", 0
                rows += row
                trait = outer
            elif links and kind == _LINK:
                links -= 1
            text = element.tail if above else None
        else:
            tag, items, text = element.tag, element.items(), element.text
            named, kind = dict(items) if items else _NOTHING, kind_of(tag, _INLINE)
            common = not items or is_common(named)
            if tag == "input" and not trait & CONTROL and named.get("value") and _is_shown(named):
                kind = _BREAK
            push((kind, trait, _ENDS[tag] if kind == _PLACING else ()))
            is_deep = is_deep or len(above) >= markup.DEEPEST - 1
            if kind >= _BREAK:
                if held or said:
                    add((held, trait, in_links) if held else (said, trait | CONTROL, 0))
                    held, said, in_links = "", "", 0
                if len(rows) >= _MOST_ROWS:
                    break
                key, is_usual = (tag, trait, named.get("class", ""), named.get("id", "")), common and tag != "header"
                trait = BY_NAME[key] if judge_furniture and is_usual else trait_of(element, tag, trait, named)
                if kind == _PLACING:
                    add(_BEGINS[tag] if common or says_nothing(named) else (tag, named))
            hides = items and (("class" in named and signs[named["class"]]) or not (common or is_plain(named)))
            if hides and markup.hidden(named, element, shown) and not markup.is_panel(named, ids):
                kind = _UNSEEN
            if kind == _LINK:
                kind, skips = _entered_link(element, named, rows, skips)
                links += kind == _LINK
            if not common and (kind not in _SKIPPED or tag in _UNFOLDED):
                said, text = said or _said(named), _of_control(tag, named, text)
            if kind in _MAY_FOLD and _is_folded(kind, tag, named, element):
                steps.skip_subtree()
                continue
        if text and (held or not text.isspace()):  # most text nodes of a page are space outside blocks
            if notes is not None and not text.isspace():
                notes.append((len(rows), element, event == "end"))
            held = held + text if held else text
            in_links += len(text) if links else 0
    rows += [(held, trait, in_links)] if held else []
    return WalkedTree(rows, is_deep, len(rows) >= _MOST_ROWS, judge_furniture)


def _entered_link(element: markup.Element, named: Mapping[str, str], rows: list[Any], skips: int) -> tuple[int, int]:
    skips = 0 if skips and _has_begun(rows) else skips
    if skips:
        if markup.skips_ahead(element, named):
            return _UNSEEN, skips - 1
        skips -= 1
    href = named.get("href", "")
    # Most addresses need no call: they have no ending and no query.
    if ("." in href[-_ENDING:] or "?" in href or "#" in href) and (name := file_of(href)):
        rows.append(name)
    return _LINK, skips


def _said(named: Mapping[str, str]) -> str:
    """Return the description of an element without text, "" if it is too long for a state."""
    said = next((named[name] for name in _SAYING if name in named and not named[name].isspace()), "")
    return said if len(said) <= _LONGEST_SAYING else ""


def _of_control(tag: str, named: Mapping[str, str], text: str | None) -> str | None:
    if "data-cfemail" in named:
        return _address(named["data-cfemail"]) or text
    if "srcdoc" in named:
        return _document_in(named)
    if tag == "input":
        if named.get("type", "").lower() in {"checkbox", "radio"}:
            return "(checked)" if "checked" in named else None
        text = named.get("value") if _is_shown(named) else None
    if tag in _CONTROLS and ("disabled" in named or named.get("aria-disabled") == "true"):
        return f"(disabled) {text or ''}"
    return text


def _is_shown(named: Mapping[str, str]) -> bool:
    """Whether a reader sees the value of an input; excludes date fields, which show today."""
    return named.get("type", "").lower() in _INPUTS


def _is_folded(kind: int, tag: str, named: Mapping[str, str], element: markup.Element) -> bool:
    """Whether a browser shows nothing of a skipped element, or of a long list of options."""
    if kind not in _SKIPPED:
        return len(element) > _MOST_OPTIONS
    if tag == "template":
        return "shadowrootmode" not in named
    return not ((tag == "iframe" and "srcdoc" in named) or (tag == "svg" and element.find(".//text") is not None))


def _document_in(named: Mapping[str, str]) -> str:
    try:
        lines = markup.lines(markup.parse(named["srcdoc"][:_LONGEST_DOCUMENT]))
    except ContentError:
        return ""
    return " ".join(filter(None, (line.strip() for line in lines)))


def digest(walks: Iterable[WalkedTree], declared: Sequence[object] = ()) -> bytes:
    """Hash everything that walks have read, and a page's machine-readable data."""
    rows: list[object] = [(walked.rows, walked.deep, walked.cut, walked.judged) for walked in walks]
    packed = msgspec.msgpack.encode([rows, list(declared)] if declared else rows)
    return hashlib.blake2b(packed, digest_size=16).digest()


def rough_bytes(
    elements: Sequence[markup.Element], text: str, declared: Sequence[object] = (), *, judged: bool
) -> bytes:
    """Return at least everything that walks under these elements could read, without a walk. Removes unread parts from
    the tree: code, and attributes of code, pictures and forms. Serialised as XML, no two different trees are equal.
    """
    unread = (*_UNREAD, *(frozenset(_DATA_NAME.findall(text)) - {"data-cfemail"}))
    parts = [b"judged" if judged else b"chosen"]
    if declared:
        parts.append(msgspec.msgpack.encode(list(declared)))
    for element in elements:
        for code in element.iter("script", "style"):
            if code.get("type") != "application/ld+json":
                code.text = None
        etree.strip_attributes(element, *unread)
        parts.append(etree.tostring(element, with_tail=False))
    return b"\0".join(parts)


def folded(text: str) -> str:
    return " ".join(text.split())


def _has_begun(rows: Iterable[Any]) -> bool:
    return any(len(row) == BLOCK and type(row) is tuple and not markup.is_probe(folded(row[0])) for row in rows)


def _address(code: str) -> str | None:
    """Return the mail address that a CDN hides as hex, each byte XORed with the first; None if it hides none."""
    if not _CFEMAIL.fullmatch(code) or len(code) % 2:
        return None
    first, *rest = bytes.fromhex(code)
    found = bytes(byte ^ first for byte in rest).decode("utf-8", "replace")
    return found if "@" in found else None


MOST_BLOCKS = 10_000  # blocks of their own; those beyond are joined (see `joined`)
MOST_CHARACTERS = 1 << 20
_JOINED, _MOST_JOINED = 16, 64  # how many blocks beyond `MOST_BLOCKS` become one: in the mean, and at most

_LINKED = 0.6


class Blocks(Struct, frozen=True):
    """Texts, their traits, and the number of characters in links. partial: depth or a cap cut some off. places: of each
    block in a table or in a document with paths, else (). json: whether each block is a line of JSON, not a text chosen
    from it, else ().
    """

    texts: tuple[str, ...]
    traits: tuple[int, ...]
    linked: tuple[int, ...]
    partial: bool
    places: tuple[CellLabels | None, ...] = ()
    json: tuple[bool, ...] = ()


def read_blocks(root: markup.Element, *, judge_furniture: bool = True) -> Blocks:
    """Return the blocks under an element. judge_furniture: whether to mark furniture; off for a user's choice."""
    return blocks_of(walk(root, judge_furniture=judge_furniture))


def blocks_of(walked: WalkedTree) -> Blocks:
    texts, traits, linked = list[str](), list[int](), list[int]()
    files, cells, tables, characters = list[str](), dict[int, int](), Tables(), 0
    is_full, probe_starts = False, markup.PROBE_STARTS
    for row in walked.rows:
        if type(row) is str:
            files.append(row)
        elif len(row) == BLOCK:
            held, trait, in_links = row
            text = " ".join(held.split())
            second = text.find(" ") + 1
            # Most texts need no call: a probe begins with certain letters, or with the same word twice.
            may_probe = text[:1] in probe_starts or (second and text[second] == text[0])
            if not (may_probe and markup.is_probe(text)):
                # A link to a file is content, not a way to another page.
                traits.append(trait | LINK if in_links > _LINKED * len(text) and not files else trait)
                if files:
                    text = with_files(text, files)
                if tables.at:
                    cells[len(texts)] = tables.at
                texts.append(text)
                linked.append(in_links)
                characters += len(text)
                if is_full := characters >= MOST_CHARACTERS:
                    break
            if files:
                files.clear()
        elif len(row) == BEGIN:
            tables.enter(row[0], row[1])
        else:
            tables.leave(row[0])
    mark_cells(texts, traits)
    traits = mark_furniture(texts, traits) if walked.judged else traits
    partial = walked.deep or walked.cut or is_full
    return joined(Blocks(tuple(texts), tuple(traits), tuple(linked), partial, tables.places(cells, texts)))


def joined(blocks: Blocks) -> Blocks:
    """Join the blocks beyond `MOST_BLOCKS`, so that a long page costs no more. The words of a block decide whether it
    ends a piece, so a new row changes one piece and not all that follow.
    """
    if len(blocks.texts) <= MOST_BLOCKS:
        return blocks
    texts = [*blocks.texts[:MOST_BLOCKS]]
    traits, linked = [*blocks.traits[:MOST_BLOCKS]], [*blocks.linked[:MOST_BLOCKS]]
    start = MOST_BLOCKS
    for end in range(MOST_BLOCKS + 1, len(blocks.texts) + 1):
        aside = {trait & FURNITURE for trait in blocks.traits[end - 1 : end + 1]}
        is_end = end == len(blocks.texts) or not crc32(blocks.texts[end - 1].encode("utf-8", "replace")) % _JOINED
        if is_end or len(aside) > 1 or end - start == _MOST_JOINED:
            texts.append(" ".join(blocks.texts[start:end]))
            traits.append(blocks.traits[start] & FURNITURE | CELL)
            linked.append(sum(blocks.linked[start:end]))
            start = end
    places = blocks.places and (*blocks.places[:MOST_BLOCKS], *[None] * (len(texts) - MOST_BLOCKS))
    return Blocks(tuple(texts), tuple(traits), tuple(linked), blocks.partial, places)
