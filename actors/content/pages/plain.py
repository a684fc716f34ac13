"""Documents without HTML elements, as blocks: JSON, CSV, XML other than feeds, plain text, and the files
that extras read.

A block is one unit for a reader: a paragraph or list item of a text, a row of a table, a small JSON object or XML
element on one line. Keys, rows and lines keep their order; numbers keep their spelling. Of a calendar (iCalendar, RFC
5545) a block is an event, a task or a journal entry, without what its readers do not see: the fields that programs
renew on each export (UID, DTSTAMP, SEQUENCE, CREATED, LAST-MODIFIED), attendees, alarms and time zone rules.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from itertools import pairwise, zip_longest
from typing import Any, Final, NamedTuple

from lxml import etree
from msgspec import Struct
from msgspec.structs import replace

from actors.content.bodies.encoding import end_of_prolog
from actors.content.bodies.markup import MOST_COLUMNS, NOT_XML, Element
from actors.content.bodies.sniffing import (
    CALENDAR,
    SITEMAP,
    binary_text,
    elements_in,
    image_kind,
    is_document,
    lines_of,
    looks_like_html,
    text_kind,
)
from actors.content.bodies.text import plain
from actors.content.errors import ContentError, NoParts
from actors.content.feeds import feed_root
from actors.content.messages import FILE, not_chosen_by, selector_kind
from actors.content.pages import selectors
from actors.content.pages.blocks import MOST_BLOCKS, MOST_CHARACTERS, Blocks, read_blocks
from actors.content.pages.selectors import chosen_by, stands_of
from actors.content.pages.traits import CELL, HEADING, ITEM, CellLabels
from actors.content.wording import json_text
from actors.content.wording.json_text import Location
from actors.extras import always_on

ROOT: Final = "plain"  # the tag of the tree that replaces a page's
_ON_ONE_LINE: Final = 160  # maximum characters of an object, a list or an element in one block
_LONGEST: Final = 2_000  # characters of a block; a longer one continues in the next
_MOST_MARKUP: Final = 4 << 20
_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLED, _FEWEST_ROWS = 50, 3
_MARK: Final = re.compile(r"\s*(?:[-*+•·‣▪–>|]|#{1,6}|\(?\d{1,3}[.)]|\[[ xX]?\])(?=\s|$)")
_HEAD: Final = re.compile(r"\s{0,3}#{1,6}\s+\S")
_UNDERLINE: Final = re.compile(r"\s{0,3}(?:={3,}|-{3,}|~{3,})\s*")
_DECLARATION: Final = re.compile(r"\s*<\?xml[^>]*\?>")
_KINDS_OF_LINES: Final = frozenset({CALENDAR, "a contact card (vCard)", "a playlist (M3U)"})
_SEARCHED: Final = 64 * 1024
_DENSE: Final = 0.2  # minimum HTML elements per line of a page that does not begin with one
_GAP: Final = re.compile(r"\n[ \t\r]*\n")
_LOWER, _EVEN = 1 / 3, 0.6
_NARROWEST, _WIDEST = 40, 120

# Now, not at the first file: a worker may open no file once it has a task.
_READERS: Final = tuple(extra.documents() for extra in always_on() if extra.documents is not None)


class Plain(Struct, frozen=True):
    """A document without HTML elements. says: a checkable description for a person."""

    format: str
    says: str
    blocks: Blocks
    sitemap: bool = False


def read_file(body: bytes) -> Plain | None:
    """Return the blocks of an office file or PDF, else None. Raises ContentError if locked, damaged or too large."""
    read = (reader(body) for reader in _READERS)
    if (found := next((document for document in read if document is not None), None)) is None:
        return None
    blocks = read_blocks(found.root, judge_furniture=False)
    if not blocks.texts:
        raise ContentError(f"This is {found.says}: it contains no text.")
    labels = found.labels
    if blocks.partial or len(blocks.texts) > MOST_BLOCKS:  # joined blocks have no place
        labels = (*labels[: min(len(blocks.texts), MOST_BLOCKS)], *[""] * (len(blocks.texts) - MOST_BLOCKS))
    if any(labels) and len(labels) == len(blocks.texts):
        blocks = replace(blocks, places=tuple(CellLabels(label) if label else None for label in labels))
    return Plain(found.format, found.says, replace(blocks, partial=blocks.partial or found.partial))


def read_bytes(kind: str, body: bytes) -> Plain:
    lines = [(line, CELL) for line in lines_of(kind, body)]
    return _made(FILE, f"{kind} of {len(body):,} bytes: its bytes are compared, not its contents", lines)


def unwatchable(text: str) -> str | None:
    """Return the kind of a text with nothing to read; None if there may be something."""
    return image_kind(text) or (None if looks_like_html(text) or not binary_text(text) else "binary data")


def read_plain(text: str, was: str = "") -> Plain | None:
    """Return the blocks of a document without HTML elements, else None. was: its first format, or ""."""
    value = json_text.read(text)
    if value is not json_text.NO_VALUE:
        return _made("json", _describe_json(value), _json_lines(json_text.lines(value)))
    kind = text_kind(text)
    is_page = kind is None and _is_page(text)
    is_xml = feed_root(text) is not None or (not is_page and text[end_of_prolog(text) :][:1] == "<")
    if is_xml and (root := _xml(text)) is not None:
        says = f"{kind}, as XML" if kind else f"XML (root element <{_name(root)}>)"
        document = _made("xml", says, ((line, CELL) for line in _xml_lines(root)), counted="line")
        return replace(document, sitemap=kind == SITEMAP)
    if is_page:
        return None
    if kind == CALENDAR and was != "text" and (entries := list(entries_of(text))):
        says = f"{CALENDAR}, {len(entries):,} {'entry' if len(entries) == 1 else 'entries'}"
        return _made("calendar", says, ((entry, ITEM) for entry in entries))
    return _read_lines(text, was, kind if kind in _KINDS_OF_LINES else "plain text")


def _read_lines(text: str, was: str, named: str = "plain text") -> Plain:
    rows = None if was == "text" else _table(text, known=was == "csv")
    if rows is not None:
        says = f"CSV, {_count(len(rows), 'row')} of {_count(max(map(len, rows)), 'column')}"
        return _made("csv", says, ((" | ".join(filter(None, row)), CELL) for row in rows))
    says = f"{named}, {_count(sum(1 for line in text.splitlines() if line.strip()), 'line')}"
    return _made("text", says, list(_paragraphs(text)) or [(text.strip(), 0)])


class DocumentSection(NamedTuple):
    """part: None if nothing was chosen. matched: places chosen, None without a selector. removed: by each `ignore`."""

    found: Plain | None
    matched: int | None
    removed: tuple[int, ...]


def part_of(text: str, document: Plain, selector: str | None, ignore: tuple[str, ...]) -> DocumentSection:
    """Return the chosen part of a document without HTML elements. Raises NoParts if the selectors can never apply to
    this format, ContentError for a selector that cannot be used.
    """
    says = not_chosen_by(document.format, filter(None, (selector, *ignore)))
    if says:
        raise NoParts(f"This is {document.says}: {says}" + ("" if says.endswith(".") else "."))
    if document.format == "json":
        return _part_of_json(json_text.read(text), selector, ignore)
    if document.format == "xml":
        root = _xml(text)
        assert root is not None
        return _part_of_xml(root, selector, ignore)
    by_path = any(selector_kind(text) == "path" for text in (selector, *ignore) if text is not None)
    if document.format in ("text", "csv") and not by_path:
        return _part_of_lines(text, document.format, selector, ignore)
    if document.format == "csv":
        placed = [(cell.text, cell.place) for cell in cells_of(text)]
        count, partial = min(len(placed), MOST_BLOCKS), len(placed) > MOST_BLOCKS
        texts, places = zip(*placed[:count], strict=True) if placed else ((), ())
        document = replace(document, blocks=Blocks(texts, (CELL,) * count, (0,) * count, partial, places))
    return _part_of_blocks(document, selector, ignore)


def _part_of_blocks(document: Plain, selector: str | None, ignore: tuple[str, ...]) -> DocumentSection:
    """Apply paths and regular expressions to blocks; `lines:` counts the blocks."""
    blocks, stands = document.blocks, stands_of(document.format, document.blocks)
    texts = dict(enumerate(blocks.texts, 1))

    def find(selector: str) -> dict[int, str]:
        if selector_kind(selector) == "path":
            return {at + 1: blocks.texts[at] for at in chosen_by(selector, stands)}
        return {at: text for at, text in _found_in(texts, selector).items() if text.strip()}

    left, matched, removed = _left(texts, find, selector, ignore)
    some = Blocks(
        tuple(left.values()),
        tuple(blocks.traits[at - 1] for at in left),
        tuple(blocks.linked[at - 1] for at in left),
        blocks.partial,
        tuple(blocks.places[at - 1] for at in left) if blocks.places else (),
    )
    return DocumentSection(replace(document, blocks=some) if left else None, matched, removed)


def _found_in(texts: Mapping[int, str], selector: str) -> dict[int, str]:
    test = selectors.line_test(selector)
    with selectors.bounded(selector):
        return {at: said for at, text in texts.items() if (said := test(at, text)) is not None}


def _left(
    texts: dict[int, str], find: Callable[[str], Mapping[int, str]], selector: str | None, ignore: tuple[str, ...]
) -> tuple[dict[int, str], int | None, tuple[int, ...]]:
    removed = []
    for unwanted in ignore:
        gone = find(unwanted).keys() & texts.keys()
        removed.append(len(gone))
        texts = {at: text for at, text in texts.items() if at not in gone}
    if selector is None:
        return texts, None, tuple(removed)
    texts = {at: text for at, text in find(selector).items() if at in texts}
    return texts, len(texts), tuple(removed)


class TableCell(NamedTuple):
    """A cell of a CSV table. at: the number of its row, from 0 for the heads. number: in its row, from 1."""

    at: int
    number: int
    text: str
    place: CellLabels


def cells_of(text: str) -> list[TableCell]:
    """Return the non-empty cells of a CSV table; the first row has the column heads."""
    heads, *rows = _table(text, known=True) or [[]]
    return [
        TableCell(at, number, cell, CellLabels(row[0] if number > 1 else "", head))
        for at, row in enumerate(rows, 1)
        for number, (cell, head) in enumerate(zip_longest(row[:MOST_COLUMNS], heads[:MOST_COLUMNS], fillvalue=""), 1)
        if cell
    ]


def root_of(found: Plain) -> Element:
    """Return a tree in place of a page's: without elements, so it has no title, and no wall is detected."""
    root = etree.Element(ROOT)
    root.set("format", found.format)
    return root


def format_of(root: Element) -> str:
    return str(root.get("format")) if root.tag == ROOT else "html"


def _is_page(text: str) -> bool:
    """Whether a text is HTML, as opposed to one that mentions an element here and there."""
    if not looks_like_html(text):
        return False
    if is_document(text) or text[end_of_prolog(text) :][:1] == "<":
        return True
    head = text[:_SEARCHED]
    return elements_in(head) >= _DENSE * sum(1 for line in head.splitlines() if line.strip())


def _made(
    format: str, says: str, lines: Iterable[tuple[str, int] | tuple[str, int, str, bool]], *, counted: str = ""
) -> Plain:
    """Build a document. lines: text and trait; for JSON also the place, and whether it is a line of JSON."""
    texts, traits, labels, json, characters, partial = [], [], list[str](), list[bool](), 0, False
    for line, trait, *more in lines:
        for piece in _pieces(" ".join(line.split())):
            texts.append(piece)
            traits.append(trait)
            if more:
                labels.append(str(more[0]))
                json.append(bool(more[1]))
            characters += len(piece)
        if partial := len(texts) >= MOST_BLOCKS or characters >= MOST_CHARACTERS:
            break
    says = f"{says}, {_count(len(texts), counted)}" if counted else says
    places = tuple(CellLabels(label) if label else None for label in labels) if any(labels) else ()
    blocks = Blocks(tuple(texts), tuple(traits), (0,) * len(texts), partial, places, tuple(json))
    return Plain(format, says, blocks)


def _pieces(line: str) -> Iterator[str]:
    for start in range(0, len(line), _LONGEST):
        yield line[start : start + _LONGEST]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# --- JSON ------------------------------------------------------------------------------------------------------------


def _describe_json(value: Any) -> str:
    if isinstance(value, dict):
        return f"JSON, an object of {_count(len(value), 'member')}"
    return f"JSON, a list of {_count(len(value), 'item')}"


def _part_of_json(value: Any, selector: str | None, ignore: tuple[str, ...]) -> DocumentSection:
    removed = []
    for unwanted in ignore:
        found = selectors.find_in_json(value, unwanted)
        removed.append(len(found))
        # List items after later ones: an index stays valid. A containing place may be gone already.
        for location in sorted(filter(None, found), key=lambda at: [(type(k) is str, k) for k in at], reverse=True):
            with suppress(KeyError, IndexError, TypeError):
                del json_text.at(value, location[:-1])[location[-1]]
    says = _describe_json(value)
    if selector is None:
        return DocumentSection(_made("json", says, _json_lines(json_text.lines(value))), None, tuple(removed))
    chosen = selectors.find_in_json(value, selector)
    lines = (line for location in chosen for line in _chosen_json(value, location))
    part = _made("json", f"{says}, {_count(len(chosen), 'place')} of it", _json_lines(lines))
    return DocumentSection(part if part.blocks.texts else None, len(chosen), tuple(removed))


def _json_lines(lines: Iterable[json_text.JsonUnit]) -> Iterator[tuple[str, int, str, bool]]:
    return ((line.text, CELL, line.place, not line.is_text) for line in lines)


def _chosen_json(value: Any, location: Location) -> Iterator[json_text.JsonUnit]:
    found, place = json_text.at(value, location), json_text.written(value, location)
    if isinstance(found, str):
        yield json_text.JsonUnit(found, place, is_text=not isinstance(found, json_text.Number))
    else:
        yield from json_text.lines(found, place)


# --- XML -------------------------------------------------------------------------------------------------------------


def _xml(text: str) -> Element | None:
    """Parse an XML document and return its root; entities stay unresolved, and nothing is fetched."""
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    clean = NOT_XML.sub("", _DECLARATION.sub("", text[:_MOST_MARKUP].lstrip("\ufeff"), count=1))
    try:
        root: Element | None = etree.fromstring(clean.encode(), parser)
    except (etree.LxmlError, ValueError):
        return None
    return root


def _part_of_xml(root: Element, selector: str | None, ignore: tuple[str, ...]) -> DocumentSection:
    _without_name_spaces(root)
    removed = tuple(selectors.remove(root, unwanted) for unwanted in ignore)
    says = f"XML (root element <{_name(root)}>)"
    if selector is None:
        lines = ((line, CELL) for line in _xml_lines(root))
        return DocumentSection(_made("xml", says, lines, counted="line"), None, removed)
    chosen = selectors.select(root, selector)
    lines = ((line, CELL) for element in chosen for line in _chosen_lines(element))
    part = _made("xml", f"{says}, {_count(len(chosen), 'place')} of it", lines)
    return DocumentSection(part if part.blocks.texts else None, len(chosen), removed)


def _chosen_lines(element: Element) -> Iterator[str]:
    """Yield the lines of a chosen element; a simple one without its name."""
    if not _elements(element) and not element.items():
        yield _words(element.text)
    else:
        yield from _xml_lines(element, 1)


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2][:60]


def _own(element: Element) -> str:
    said = [f"{str(name).rpartition('}')[2]}={value}" for name, value in element.items()]
    return " ".join([*said, _words(element.text)]).strip()


def _words(text: str | None) -> str:
    words = (text or "").strip()
    return plain(words).replace("\n", " ") if "<" in words else " ".join(words.split())


def _xml_lines(element: Element, depth: int = 0) -> Iterator[str]:
    return (line for line, _ in _lines_with_elements(element, depth))


def _lines_with_elements(element: Element, depth: int = 0) -> Iterator[tuple[str, Element]]:
    short = _short_element(element, _ON_ONE_LINE) if depth else None
    if short is not None:
        yield short, element
        return
    own, inside = _own(element), _elements(element)
    if own or not inside:
        yield f"{_name(element)}: {own}", element
    for child in inside:
        yield from _lines_with_elements(child, depth + 1)
        if tail := _words(child.tail):
            yield tail, element


def xml_holders(text: str) -> tuple[Element, list[Element]]:
    """Return the root of an XML document as XPath sees it, and the element of each of its blocks."""
    root = _xml(text)
    assert root is not None, "it was read as XML"
    told = [(len(list(_pieces(" ".join(line.split())))), element) for line, element in _lines_with_elements(root)]
    _without_name_spaces(root)
    return root, [element for pieces, element in told for _ in range(pieces)]


def _without_name_spaces(root: Element) -> None:
    """Remove namespaces: a name in an XPath matches in any."""
    for element in root.iter(etree.Element):
        element.tag = str(element.tag).rpartition("}")[2]


def _short_element(element: Element, most: int) -> str | None:
    """Return an element with its content on one line, None if that exceeds `most` characters."""
    parts, left = [_own(element)], most - len(_name(element))
    for child in _elements(element):
        left -= len(parts[-1]) + 2
        part = _short_element(child, left) if left > 0 else None
        if part is None:
            return None
        parts.append(part)
        if tail := _words(child.tail):
            parts.append(tail)
    said = f"{_name(element)}: {'; '.join(filter(None, parts))}"
    return said if len(said) <= most else None


def _elements(element: Element) -> list[Element]:
    return [child for child in element if isinstance(child.tag, str)]


def _part_of_lines(text: str, format: str, selector: str | None, ignore: tuple[str, ...]) -> DocumentSection:
    lines = dict(enumerate(text.lstrip("\ufeff").splitlines(), 1))
    left, matched, removed = _left(lines, lambda chosen: _found_in(lines, chosen), selector, ignore)
    part = "\n".join(left.values())
    return DocumentSection(_read_lines(part, format) if part.strip() else None, matched, removed)


# --- tables of characters --------------------------------------------------------------------------------------------


def _table(text: str, *, known: bool) -> list[list[str]] | None:
    """Return the rows of a CSV, else None: three rows of one width or more, by one delimiter; any width if `known`."""
    if not known and (_GAP.search(text.strip()) or text.count(", ") * 2 > text.count(",")):
        return None  # paragraphs, and commas as in sentences
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter) if any(row)]
        except csv.Error:
            continue
        widths = [len(row) for row in rows[:_SAMPLED]]
        if rows and widths[0] > 1 and (known or (len(rows) >= _FEWEST_ROWS and len(set(widths)) == 1)):
            return [[" ".join(cell.split()) for cell in row] for row in rows]
    return None


# --- plain text ------------------------------------------------------------------------------------------------------


def _paragraphs(text: str) -> Iterator[tuple[str, int]]:
    """Yield the blocks of a text: list items, headings, wrapped paragraphs, else single lines."""
    held: list[str] = []
    for line in text.lstrip("\ufeff").splitlines():
        if line.strip():
            held.append(line.expandtabs(4))
        else:
            yield from _paragraph(held)
            held = []
    yield from _paragraph(held)


def _paragraph(lines: list[str]) -> Iterator[tuple[str, int]]:
    wrapped = _is_wrapped(lines)
    held, trait, indent = list[str](), 0, 0
    for line, below in pairwise([*lines, ""]):
        if _UNDERLINE.fullmatch(line) or not any(sign.isalnum() for sign in line):
            continue
        marked, here = _MARK.match(line), len(line) - len(line.lstrip())
        is_head = _HEAD.match(line) is not None or _UNDERLINE.fullmatch(below) is not None
        goes_on = held and not marked and not is_head and trait != HEADING
        if goes_on and (wrapped if not trait else here > indent):
            held.append(line)
            continue
        if held:
            yield " ".join(held), trait
        held, indent = [line], here
        trait = HEADING if is_head else ITEM if marked else 0
    if held:
        yield " ".join(held), trait


def _is_wrapped(lines: list[str]) -> bool:
    """Whether lines are a wrapped paragraph: of similar length, with breaks in mid-sentence."""
    if len(lines) < 2:
        return False
    widths = [len(line.rstrip()) for line in lines]
    widest = max(widths)
    low = sum(line.lstrip()[:1].islower() for line in lines[1:])
    return _NARROWEST <= widest <= _WIDEST and min(widths[:-1]) >= _EVEN * widest and low >= _LOWER * (len(lines) - 1)


_FOLD: Final = re.compile(r"\r?\n[ \t]")
_ENTRY_LINE: Final = re.compile(r"([\w-]+)((?:;[\w-]+=(?:\"[^\"]*\"|[^\";:]*))*):(.*)", re.S)
_ENTRY_ZONE: Final = re.compile(r";TZID=(?:\"([^\"]*)\"|([^\";:]*))", re.I)
_ESCAPE: Final = re.compile(r"\\(.)", re.S)
_MOMENT: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_DAY: Final = re.compile(r"(\d{4})(\d\d)(\d\d)")
_COMPONENTS: Final = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_ENTRY_WORDS: Final = ("SUMMARY", "LOCATION", "STATUS", "RRULE", "URL", "DESCRIPTION")
_LONGEST_ENTRY: Final = 600
_USUAL_STATES: Final = frozenset({"CONFIRMED", "OPAQUE", "NEEDS-ACTION"})


class Property(NamedTuple):
    """A raw value, and its time zone ("" for none)."""

    value: str
    zone: str = ""


def entries_of(text: str) -> Iterator[str]:
    """Yield each entry of a calendar as one line: time, title, place, and the rest, as far as present."""
    held: dict[str, Property] | None = None
    within = 0  # components inside an entry: its alarms
    for line in _FOLD.sub("", text).splitlines():
        found = _ENTRY_LINE.fullmatch(line.strip("\r"))
        if found is None:
            continue
        name, value = found[1].upper(), found[3]
        kind = value.strip().upper()
        if name == "BEGIN":
            if held is None and kind in _COMPONENTS:
                held = {}
            elif held is not None:
                within += 1
        elif name == "END":
            if within:
                within -= 1
            elif held is not None:
                if said := " | ".join(_parts(held)):
                    yield said
                held = None
        elif held is not None and not within and name not in held:
            zone = _ENTRY_ZONE.search(found[2])
            held[name] = Property(value, (zone[1] or zone[2]) if zone else "")


def _parts(held: Mapping[str, Property]) -> Iterator[str]:
    start, end = (held.get(name, Property("")) for name in ("DTSTART", "DTEND"))
    if end.value == "":
        end = held.get("DUE", Property(""))
    if when := _span(start, end):
        yield when
    if again := _moment(held.get("RECURRENCE-ID", Property(""))):
        yield f"instead of {again}"
    for name in _ENTRY_WORDS:
        raw = held.get(name, Property("")).value
        words = " ".join(_ESCAPE.sub(lambda found: " " if found[1] in "nN" else found[1], raw).split())
        if words and words.upper() not in _USUAL_STATES:
            yield words[:_LONGEST_ENTRY]


def _span(start: Property, end: Property) -> str:
    first, last = _moment(start), _moment(end if start.value == "" else _inclusive(end))
    if not last or last == first:
        return first
    day, _, rest = first.partition(" ")
    if first and last.startswith(f"{day} "):
        clock, _, zone = rest.partition(" ")
        until, _, other = last.removeprefix(f"{day} ").partition(" ")
        if zone == other:
            return f"{day} {clock}-{until} {zone}".strip()
    return f"{first} to {last}" if first else f"until {last}"


def _inclusive(end: Property) -> Property:
    """Return the last day of a whole-day entry: the RFC names the day after it."""
    day = _DAY.fullmatch(end.value.strip())
    try:  # strptime would import more of Python on first use, which a jailed worker may not do
        return Property(f"{date(*map(int, day.groups())) - timedelta(days=1):%Y%m%d}") if day else end
    except (ValueError, OverflowError):
        return end


def _moment(found: Property) -> str:
    moment = _MOMENT.fullmatch(found.value.strip())
    if moment is None:
        return " ".join(found.value.split())[:40]
    year, month, day, hour, minute, utc = moment.groups()
    clock = f" {hour}:{minute} {'UTC' if utc else found.zone}".rstrip() if hour else ""
    return f"{year}-{month}-{day}{clock}"
