"""Feeds as entries, whatever their format (RSS, Atom, JSON Feed), and sitemaps. All pure.

Reads RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0 by feedparser; JSON Feed 1.0 and 1.1
(https://www.jsonfeed.org/version/1.1/), as leniently; and lists of feeds: OPML, FOAF and iGoogle. feedparser gets a
stream of decoded UTF-8, never a str or bare bytes: it would open a file or address that they name. Its sanitiser and
its rewriting of links in HTML are off, since no markup survives `text.plain`. listparser gets UTF-8 bytes with a BOM;
it uses libxml2's HTML parser, which knows only HTML's own entities and opens nothing.

Sitemaps and their indexes (sitemaps.org 0.9), read as a stream: neither text nor tree is ever complete in memory. A
file of 50,000 addresses is a few megabytes of XML, but fifty as a tree.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeVar

import feedparser
import listparser
from feedparser import api
from lxml import etree
from msgspec import Struct

from actors.content.bodies.encoding import DecodedText, decode, end_of_prolog, unpacked
from actors.content.bodies.markup import BREAKS, NOT_XML, UNSEEN
from actors.content.bodies.text import absolute, cap, entry_address, normalise, plain
from actors.content.errors import ContentError
from actors.content.messages import Entry, FeedReading, Identity, hints_of, link_form
from actors.content.values.kinds import values_of_entry
from actors.content.wording.canonical import UNIT, canonical
from actors.content.wording.dates import moment
from actors.content.wording.words import content_hash, digest16, simhash
from actors.messages.views import FeedLine, Outline
from storage.records.identity import Millis
from storage.records.source import OWN_NAMESPACES

T = TypeVar("T")
MOST_ENTRIES, MOST_KEY, _MOST_LABEL, _MOST_TAGS = 5_000, 200, 1_000, 20
MOST_ENTRY_LINES = 40  # lines of an entry that are compared one by one
_LONGEST_COUNT = 120
_WORD = r"[^\W\d_]{3,}"
_COUNT = rf"\d{{1,3}}(?:[.,]?\d{{3}})*[km]?\s+(?!(?:{UNIT}|percent|prozent|degrees|grad)\b){_WORD}(?:\s{_WORD})?"
_COUNTS = re.compile(rf"\W*{_COUNT}(?:\s*[-–—·•|/,]\s*{_COUNT})*\W*", re.I)
_TAG_WORD = re.compile(r"[^\w.+/ -]+")


class Raw(Struct, frozen=True, dict=True):
    """A parsed entry: plain texts, an absolute link or "", the document's own id or ""."""

    id: str
    url: str
    title: str
    author: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]

    @cached_property
    def marks(self) -> Mapping[str, Any]:
        """The fields of an `Entry` that are computed from its text."""
        lines = [line for line in map(_without_counts, self.content.splitlines()) if line]
        each = (_digest(line, 3) for line in lines[:MOST_ENTRY_LINES])
        return {
            "fingerprint": fingerprint(self.title, self.content, self.url),
            "content_hash": content_hash(self.content),
            "simhash": simhash(self.content or self.title),
            "prints": b"".join((_digest(canonical(self.title), 4), _digest(" ".join(lines), 4), *each)),
        }


def entries_of(raws: Sequence[Raw]) -> tuple[Entry, ...]:
    """Return the entries of one document. Entries that differ in id, link, title, date or content get distinct keys."""
    crowd = _Crowd(raws)
    return tuple(_entry(raw, *crowd.names(raw)) for raw in raws)


def newest(found: Sequence[T], published: Callable[[T], Millis | None]) -> Sequence[T]:
    """Return at most `MOST_ENTRIES` items in their order: the newest by date, without dates those at both ends."""
    if len(found) <= MOST_ENTRIES:
        return found
    dates = [published(entry) for entry in found]
    places = list(range(len(found)))
    if None not in dates and len(set(dates)) > 1:
        places.sort(key=lambda place: dates[place] or 0, reverse=True)
        return [found[place] for place in sorted(places[:MOST_ENTRIES])]
    # The newest may be at either end of this document.
    half = MOST_ENTRIES // 2
    return [*found[:half], *found[-half:]]


def _entry(raw: Raw, identity: Identity, key: str, aliases: tuple[str, ...]) -> Entry:
    content, truncated = cap(raw.content)
    return Entry(
        key=key,
        url=raw.url,
        title=raw.title.replace("\n", " ")[:_MOST_LABEL],
        author=raw.author[:_MOST_LABEL],
        content=content,
        published_at=raw.published_at,
        tags=_tags(raw.tags),
        content_truncated=truncated,
        identity=identity,
        aliases=aliases,
        **raw.marks,
    )


class _Crowd:
    def __init__(self, raws: Sequence[Raw]) -> None:
        # Some documents list an entry twice, word for word; that is one entry.
        self._forms = {_whole(raw): _forms(raw) for raw in raws}
        self._names = Counter(name for _, names in self._forms.values() for name in set(names))

    def names(self, raw: Raw) -> tuple[Identity, str, tuple[str, ...]]:
        kinds, names = self._forms[_whole(raw)]
        at = next((at for at, name in enumerate(names) if self._names[name] == 1), len(names) - 1)
        return kinds[min(at, len(kinds) - 1)], names[at], tuple(name for name in names if name != names[at])


def _whole(raw: Raw) -> tuple[str, str, str, str, Millis | None]:
    return raw.id, raw.url, raw.title, raw.content, raw.published_at


def _forms(raw: Raw) -> tuple[tuple[Identity, ...], list[str]]:
    """Return all names of an entry, the simplest first (the last is unique), and the kinds of the first ones."""
    text, whole = digest16(raw.title + chr(0) + raw.content), digest16(repr(_whole(raw)))
    titled = f"{digest16(raw.title)} {raw.published_at}"
    kinds: tuple[Identity, ...] = ("hash",)
    names = [text, whole]
    if raw.id and raw.url:
        kinds, pair = ("guid", "guid and link", "guid and hash"), f"{raw.id} {raw.url}"
        names = [raw.id, pair, f"{pair} {digest16(raw.title)}", f"{pair} {titled}", f"{pair} {whole}"]
    elif raw.id:
        kinds, names = ("guid", "guid and hash"), [raw.id, f"{raw.id} {text}", f"{raw.id} {whole}"]
    elif raw.url:
        kinds = ("link", "link and hash")
        names = [raw.url, f"{raw.url} {digest16(raw.title)}", f"{raw.url} {titled}", f"{raw.url} {whole}"]
    return kinds, [name if len(name) <= MOST_KEY else digest16(name) for name in names]


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).digest() if text else bytes(size)


def _without_counts(line: str) -> str:
    """Return a line's canonical form; without its figures if it only counts ("3 posts - 2 participants")."""
    if len(line) <= _LONGEST_COUNT and _COUNTS.fullmatch(line) and not values_of_entry("", line):
        line = re.sub(r"\d[\d.,]*", "", line)
    return canonical(line)


def fingerprint(title: str, content: str, url: str) -> str:
    """Hash the material content to 16 hex digits: canonical words, or else the link, which redirectors change."""
    lines = [canonical(line) for line in (title, *content.splitlines())]
    return digest16(" ".join(line for line in lines if line) or link_form(url))


def _tags(words: Iterable[str]) -> tuple[str, ...]:
    """Return safe `namespace:word` tags: lower case, one line, at most 20."""
    kept: dict[str, None] = {}
    for tag in words:
        namespace, _, word = tag.partition(":")
        word = " ".join(_TAG_WORD.sub(" ", normalise(word).lower()).split())[:100]
        if word:
            kept[f"{namespace}:{word}"] = None
        if len(kept) >= _MOST_TAGS:
            break
    return tuple(kept)


_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s<>/]*)((?:[\s/][^<>]*)?)>")
_OF_TITLES: Final = frozenset("a b big br em font i img s small span strike strong sub sup tt u wbr".split())  # noqa: SIM905
_OF_CONTENT: Final = (BREAKS - UNSEEN).union(
    _OF_TITLES,
    "abbr acronym area base bdi bdo cite code col colgroup del dfn embed image ins kbd link mark meta nobr param "  # noqa: SIM905
    "picture q rp rt ruby samp script source style svg math time track var".split(),
)
"""Tags that are markup even if nothing closes them. No title is about <b>, but many are about <details>."""
_AGAIN: Final = ("dc_description", "itunes_summary", "media_description")
"""Elements that feedparser uses as the description, though they may be a caption. Best first."""


def _keep_apart(name: str) -> None:
    def start(parser: Any, attributes: Any) -> None:
        parser.push_content(name, attributes, "text/html", 1)

    def end(parser: Any) -> None:
        parser.pop_content(name)

    for parser in (api.StrictFeedParser, api.LooseFeedParser):
        setattr(parser, f"_start_{name}", start)
        setattr(parser, f"_end_{name}", end)


for _name in _AGAIN:
    _keep_apart(_name)


def title_of(fields: Any, *, atom: bool) -> str:
    return _words(fields.get("title"), fields.get("title_detail"), _OF_TITLES, atom=atom)


def content_of(entry: Any, *, atom: bool) -> str:
    """Return the first text of an entry: its content, its description, or that of its media."""
    parts = [part for part in entry.get("content") or () if not str(part.get("type")).startswith(("image", "video"))]
    found = [(part.get("value"), part) for part in parts]
    found += [(entry.get(name), entry.get(f"{name}_detail")) for name in ("summary", *_AGAIN)]
    texts = (_words(value, detail, _OF_CONTENT, atom=atom) for value, detail in found)
    return next(filter(None, texts), "")


def _words(value: object, detail: Any, known: frozenset[str], *, atom: bool) -> str:
    text = str(value or "")
    if not atom:
        return plain(_escaped(text, known))
    # RFC 4287, 3.1.1: plain text never has markup.
    return normalise(text) if (detail or {}).get("type") == "text/plain" else plain(text)


def _escaped(text: str, known: frozenset[str]) -> str:
    """Escape words in angle brackets that are text: `vector<bool>`, "the <details> element"."""
    closed = known.union(found[2].lower() for found in _TAG.finditer(text) if found[1])

    def kept(found: re.Match[str]) -> str:
        name, rest = found[2].lower(), found[3]
        if name in closed:
            return found[0]
        if "=" not in rest and not rest.endswith("/"):
            return f"&lt;{found[0][1:]}"
        return "" if name in UNSEEN else found[0]  # nothing closes it, and it would hide the rest

    return _TAG.sub(kept, text) if "<" in text else text


_ROOT = re.compile(r"<(?:[\w.-]+:)?(rss|feed|rdf|channel)(?=[\s>/])[^>]*>", re.I)
_END = re.compile(r"</(?:[\w.-]+:)?(rss|feed|rdf|channel)\s*>", re.I)
_OF_A_PAGE = re.compile(
    r"<(?:html|head|body|main|article|pre|code|svg|script|style|meta|title|link|textarea|template)\b", re.I
)
_START = re.compile(r"<\?xml|<!DOCTYPE|<!--|<(?:[\w.-]+:)?(?:rss|feed|rdf)(?=[\s>/])", re.I)
_DECLARATION = re.compile(r"^<\?xml[^>]*>\s*", re.I)
_SEARCHED = 64 * 1024
_VERSIONS = {
    "rss090": "rss 0.90", "rss091n": "rss 0.91", "rss091u": "rss 0.91", "rss092": "rss 0.92", "rss093": "rss 0.93",
    "rss094": "rss 0.94", "rss10": "rss 1.0", "rss20": "rss 2.0", "rss": "rss", "atom03": "atom 0.3", "atom10": "atom",
    "atom": "atom", "cdf": "cdf",
}  # fmt: skip
_MOST_LINKS = 5
PAGING = ("first", "previous", "next", "last", "prev-archive", "next-archive", "current")  # the relations of RFC 5005
_DATES = ("published", "updated", "created", "prism_publicationdate")
_RAW_AMPERSAND = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!#\d+;|#[xX][0-9a-fA-F]+;|[A-Za-z][\w.-]*;)", re.DOTALL)


def read_feed(body: bytes, content_type: str, url: str) -> FeedReading:
    """Read the feed in a body: entries in document order, links resolved against `url`. Raises ContentError if none."""
    body = unpacked(body)
    if not body.strip():
        raise ContentError("The body is empty.")
    decoded = decode(body, content_type)
    if looks_like_json(decoded.text):
        return read_json_feed(decoded, url)
    root = feed_root(decoded.text)
    if root is None:
        raise ContentError("No feed: there is no <rss>, <feed> or <rdf:RDF> element.")
    try:
        return _read_xml(decoded, url, root)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, OverflowError, RecursionError) as error:
        # feedparser's own bugs on hostile input; one of ours would show in the feeds of the tests.
        raise ContentError(f"The feed cannot be parsed ({type(error).__name__}).") from error


def feed_root(text: str) -> re.Match[str] | None:
    """Match the root element of a feed: the first element, or one after leading junk; None if there is none."""
    start = end_of_prolog(text)
    if _OF_A_PAGE.match(text, start):
        return None
    found = _ROOT.search(text, start, start + _SEARCHED)
    if found is None:
        return None
    # After <html> or <body> such an element is an example in a page; after anything else comes junk.
    return None if _OF_A_PAGE.search(text, start, found.start()) else found


def _read_xml(decoded: DecodedText, url: str, root: re.Match[str]) -> FeedReading:
    text = decoded.text
    start = _START.search(text)
    text = text[start.start() if start and start.start() < root.start() else root.start() :]
    clean = NOT_XML.sub("", _DECLARATION.sub("", text, count=1))
    # feedparser turns a raw ampersand into "AT&T;", and "&copy=3" in a link into a sign.
    clean = _RAW_AMPERSAND.sub(lambda found: "&amp;" if found[0] == "&" else found[0], clean)
    parsed, origin, raws = _parsed(clean, url, root[1].lower())
    if not parsed.get("version") and not raws and not parsed.feed.get("title"):
        raise ContentError("The document begins like a feed, but is not one.")
    found = newest(raws, lambda raw: raw.published_at)
    # A whole document has the end tag of its root, or of the channel around all entries.
    closing = {root[1].lower(), "channel"} if root[1].lower() == "rss" else {root[1].lower()}
    cut = closing.isdisjoint(map(str.lower, _END.findall(clean, max(0, clean.lower().rfind("</item")))))
    return FeedReading(
        title=title_of(parsed.feed, atom=origin.atom)[:1000].replace("\n", " "),
        url=origin.home,
        format=origin.kind,
        entries=entries_of(found),
        hints=hints_of(text),
        damaged=decoded.damaged or bool(parsed.get("bozo")),
        hubs=_links(parsed.feed, url, ("hub",))[:_MOST_LINKS],
        paging=tuple((rel, link) for rel in PAGING for link in _links(parsed.feed, url, (rel,))[:1]),
        cut=cut,
        cut_entry=cut,
        left_out=len(raws) - len(found),
    )


class _Origin(NamedTuple):
    """A feed's format, its own page ("" if it names none), and the base of its entries' links."""

    kind: str
    home: str
    base: str

    @property
    def atom(self) -> bool:
        return self.kind.startswith("atom")


class _KnownEntries(dict[bytes, tuple[_Origin, Raw]]):
    """The entries that this worker has read, by their feed and element: most of a changed feed are as before."""

    size = 0

    def keep(self, key: bytes, origin: _Origin, raw: Raw, size: int) -> None:
        """Keep an entry. size: the characters of its element."""
        if self.size + size > _MOST_KNOWN:
            self.clear()
            self.size = 0
        self.size += 0 if key in self else size
        self[key] = origin, raw


_MOST_KNOWN = 4 << 20  # characters
_KNOWN = _KnownEntries()
_ELEMENT = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<(/?)((?:[\w.-]+:)?(?:item|entry))(?=[\s/>])[^>]*>", re.DOTALL
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INHERITED = re.compile(r"""\s(?:xmlns|xml|lang)\b[\w:.-]*\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)
_BASE = re.compile(r"\s(?:xml:)?base\s*=", re.IGNORECASE)


class _Element(NamedTuple):  # an outermost element of an entry
    start: int
    end: int
    key: bytes  # a digest of it and of all that it depends on


def _parsed(text: str, url: str, root: str) -> tuple[Any, _Origin, Sequence[Raw]]:
    """Return feedparser's document with all entries. It parses no element that is known, which is most of its work.

    A known element was part of a well-formed document. Its meaning depends only on the root, the attributes that it
    inherits, and the origin. If the rest is not well-formed or has other entries, all of it is parsed.
    """
    elements = _elements(text, url)
    known = [_KNOWN.get(element.key) for element in elements]
    parsed = _by_feedparser(_outside(text, [at for at, found in zip(elements, known, strict=True) if found]))
    origin = _origin_of(parsed, url, root)
    is_well = not parsed.get("bozo") and len(parsed.entries) == known.count(None)
    if any(known) and not (is_well and all(found is None or found[0] == origin for found in known)):
        known, parsed = [None] * len(elements), _by_feedparser(text)
        origin = _origin_of(parsed, url, root)
        is_well = not parsed.get("bozo") and len(parsed.entries) == len(elements)
    fresh = (_raw(entry, origin) for entry in parsed.entries)
    if not is_well:
        return parsed, origin, list(fresh)
    raws = [found[1] if found else next(fresh) for found in known]
    for element, raw in zip(elements, raws, strict=True):
        _KNOWN.keep(element.key, origin, raw, element.end - element.start)
    return parsed, origin, raws


def _outside(text: str, elements: Sequence[tuple[int, int, object]]) -> str:
    starts, ends = [0, *(end for _, end, _ in elements)], [*(start for start, _, _ in elements), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _elements(text: str, url: str) -> list[_Element]:
    """Return the elements of a feed's entries; [] if their places or what they inherit are uncertain."""
    spans, start, name, depth = list[tuple[int, int, None]](), 0, "", 0
    for found in _ELEMENT.finditer(text):
        if found[2] is None or (depth and found[2] != name):
            continue
        if not depth:
            start, name = found.start(), found[2]
        depth += -1 if found[1] else 0 if found[0].endswith("/>") else 1
        if depth < 0:
            return []
        if not depth:
            spans.append((start, found.end(), None))
    outside = _COMMENT.sub("", _outside(text, spans))
    roots = list(_ROOT.finditer(outside))
    # Entries of several channels may inherit different attributes. feedparser lets a base leak into later entries.
    if depth or not roots or len(roots) > 2 or _BASE.search(text):
        return []
    scope = repr((url, outside[: roots[0].end()], _INHERITED.findall(outside)))
    shared = hashlib.blake2b(scope.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    texts = (text[start:end].encode("utf-8", "surrogatepass") for start, end, _ in spans)
    keys = (hashlib.blake2b(each, key=shared, digest_size=16).digest() for each in texts)
    return [_Element(start, end, key) for (start, end, _), key in zip(spans, keys, strict=True)]


def _by_feedparser(text: str) -> Any:
    # No content-location: feedparser would resolve ids against it, and a moved feed would get new identities.
    headers = {"content-type": "application/xml; charset=utf-8"}
    stream = io.BytesIO(text.encode("utf-8"))
    return feedparser.parse(stream, response_headers=headers, sanitize_html=False, resolve_relative_uris=False)


def _origin_of(parsed: Any, url: str, root: str) -> _Origin:
    kind = _VERSIONS.get(str(parsed.get("version") or ""), "rss" if root != "feed" else "atom")
    home = absolute(str(parsed.feed.get("link") or ""), url)
    # Atom resolves a relative link against its document (RFC 4287, 2), RSS against its channel's page.
    return _Origin(kind, home, url if kind.startswith("atom") else home or url)


def _links(feed: Any, url: str, rels: tuple[str, ...]) -> tuple[str, ...]:
    found = (absolute(str(link.get("href") or ""), url) for link in feed.get("links") or () if link.get("rel") in rels)
    return tuple(dict.fromkeys(link for link in found if link))


def _raw(entry: Any, origin: _Origin) -> Raw:
    base, atom = origin.base, origin.atom
    own, author = normalise(str(entry.get("id") or "")), entry.get("author_detail") or {}
    return Raw(
        id=own,
        url=_link(entry, own, base),
        title=title_of(entry, atom=atom),
        author=plain(str(author.get("name") or entry.get("author") or "")).replace("\n", " "),
        content=content_of(entry, atom=atom),
        published_at=_published(entry),
        tags=(
            *(f"category:{tag.get('term') or tag.get('label') or ''}" for tag in entry.get("tags") or ()),
            *(f"enclosure:{each.get('type') or 'application/octet-stream'}" for each in entry.get("enclosures") or ()),
        ),
    )


def _link(entry: Any, own: str, base: str) -> str:
    """Return the entry's page: its alternate link, else any link, else a guid that is a link, else an enclosure."""
    links = [link for link in entry.get("links") or () if link.get("rel", "alternate") == "alternate"]
    links.sort(key=lambda link: link.get("type") not in (None, "text/html", "application/xhtml+xml"))
    candidates = [(str(link.get("href") or ""), base) for link in links]
    candidates += [(link, base) for link in [str(entry.get("link") or "")] if link != own]
    # A guid counts as an address only if it looks like one: "4711" is no path.
    candidates.append((own, base if own.startswith("/") else ""))
    candidates += [(str(each.get("href") or ""), base) for each in entry.get("enclosures") or ()]
    candidates += [(str(each.get("src") or ""), base) for each in entry.get("content") or ()]
    return next((safe for link, seen_from in candidates if (safe := entry_address(link, seen_from))), "")


def _published(entry: Any) -> Millis | None:
    # dict.get, because feedparser's own lookup falls back to a related date and warns.
    found = (moment(str(dict.get(entry, name) or "")) for name in _DATES)
    return next((at for at in found if at is not None), None)


_HEAD, _MOST_HUBS = 4096, 5
_ITEMS, _NEXT = re.compile(r'"items"\s*:\s*\['), re.compile(r"\s*,?\s*(?=[{\[\"])")
_CUT = "\0cut"  # a member that marks a truncated document
_JSON_DATES = ("date_published", "date_modified")


def looks_like_json(text: str) -> bool:
    return text[:_HEAD].lstrip("\ufeff \t\r\n")[:1] == "{"


def read_json_feed(decoded: DecodedText, url: str) -> FeedReading:
    """Read the feed in a JSON text. Raises ContentError if it is no JSON, hostile, or other JSON."""
    document = _document(decoded.text)
    version, items = document.get("version"), document.get("items")
    declared = isinstance(version, str) and "jsonfeed" in version.lower()
    signs, first = {"id", "url", "content_html", "content_text"}, _listed(document, "items")[:5]
    begins = "title" in document and all(isinstance(item, dict) and signs & item.keys() for item in first)
    if not isinstance(items, list) or not (declared or begins):
        raise ContentError("The body is JSON, but not a JSON Feed: it has no `version` of jsonfeed.org with `items`.")
    dicts = [item for item in items if isinstance(item, dict)]
    found = newest(dicts, _json_date)
    return FeedReading(
        title=normalise(_string(document, "title")).replace("\n", " "),
        url=absolute(_string(document, "home_page_url"), url),
        format="json feed",
        entries=entries_of([_json_entry(item, url) for item in found]),
        damaged=decoded.damaged,
        hubs=tuple(
            link
            for hub in _listed(document, "hubs")[:_MOST_HUBS]
            if isinstance(hub, dict) and (link := absolute(_string(hub, "url"), url))
        ),
        paging=(("next", following),) if (following := absolute(_string(document, "next_url"), url)) else (),
        cut=document.get(_CUT) is True,
        left_out=len(dicts) - len(found),
    )


def _document(text: str) -> Mapping[str, Any]:
    text = text.lstrip("\ufeff \t\r\n")
    try:
        document = json.loads(text, strict=False)
    except RecursionError:
        raise ContentError("The JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        if (salvaged := _salvaged(text)) is not None:
            return salvaged
        raise ContentError(f"The body begins like JSON, but is invalid: {error.msg} in line {error.lineno}.") from None
    except ValueError:
        raise ContentError("A number in the JSON is too long.") from None
    return document if isinstance(document, dict) else {}


def _salvaged(text: str) -> Mapping[str, Any] | None:
    start = _ITEMS.search(text)
    if start is None:
        return None
    decoder, items, at = json.JSONDecoder(strict=False), list[object](), start.end()
    try:
        head = json.loads(text[:at] + "]}", strict=False)
        while comma := _NEXT.match(text, at):
            item, at = decoder.raw_decode(text, comma.end())
            items.append(item)
    except json.JSONDecodeError as error:
        # Truncation shows as an error at the very end; an error before that is another defect.
        is_cut = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return None
    else:
        is_cut = not text[at:].strip()
    return {**head, "items": items, _CUT: True} if is_cut and items else None


def _json_entry(item: Mapping[str, Any], base: str) -> Raw:
    markup, text = _string(item, "content_html"), _string(item, "content_text")
    attached = [each for each in _listed(item, "attachments") if isinstance(each, dict)]
    candidates = [_string(item, "url"), _string(item, "external_url"), absolute(_string(item, "id"), "")]
    candidates += [str(each.get("url") or "") for each in attached]
    author = next(iter(_listed(item, "authors")), item.get("author"))
    tags = [f"category:{word}" for word in _listed(item, "tags") if isinstance(word, str)]
    tags += [f"enclosure:{kind}" for each in attached if (kind := _string(each, "mime_type"))]
    return Raw(
        id=normalise(_string(item, "id")),
        url=next((link for each in candidates if (link := entry_address(each, base))), ""),
        title=normalise(_string(item, "title")),
        author=plain(_string(author, "name")) if isinstance(author, dict) else "",
        content=plain(markup) or normalise(text) or plain(_string(item, "summary")),
        published_at=_json_date(item),
        tags=tuple(tags),
    )


def _json_date(item: Mapping[str, Any]) -> Millis | None:
    return next((at for name in _JSON_DATES if (at := moment(_string(item, name))) is not None), None)


def _string(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 256 else ""


def _listed(item: Mapping[str, Any], name: str) -> list[Any]:
    found = item.get(name)
    return found if isinstance(found, list) else []


MOST_LINES: Final = 5_000  # feeds read from one list
MOST_FOLDERS: Final = 10
_LONGEST_TITLE, _LONGEST_TAG, _LONGEST_URL = 200, 80, 2048
_NAMED = re.compile(r"([a-z0-9_-]+):\S.*")


def read_outline(body: bytes, most: int = MOST_LINES) -> Outline:
    """Return the feeds of a list, each address once. Raises ContentError for any other document."""
    text = decode(unpacked(body), "").text
    try:
        found = listparser.parse(codecs.BOM_UTF8 + text.encode("utf-8", "replace"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # listparser fails on damaged lists: it closes elements that were never opened.
        raise ContentError(f"The list of feeds cannot be parsed ({type(error).__name__}).") from error
    if not found["version"]:
        raise ContentError("This is not a list of feeds: it has no <opml> element.")
    feeds, lists = found["feeds"], found["lists"]
    if not feeds:
        names = f"; it names {len(lists)} other lists, which are not followed" if lists else ""
        raise ContentError(f"This list of feeds contains no feed{names}.")
    return Outline(
        title=_one_line(str(found["meta"].get("title", "")), _LONGEST_TITLE),
        feeds=tuple(map(_line, feeds[:most])),
        lists=tuple(_one_line(outline["url"], _LONGEST_URL) for outline in lists[:MOST_LINES]),
        left_out=max(0, len(feeds) - most),
    )


def _line(feed: Mapping[str, Any]) -> FeedLine:
    folders = [folder for path in feed.get("categories", ()) for folder in path[:MOST_FOLDERS]]
    tags = tuple(filter(None, dict.fromkeys(map(_folder_tag, folders))))[:MOST_FOLDERS]
    return FeedLine(feed["url"], _one_line(feed["title"], _LONGEST_TITLE), tags)


def _folder_tag(folder: str) -> str:
    """Return a folder's name as a tag. "Tides: north" is a title with a colon; "topic:tides" is already a tag."""
    word = _one_line(folder, _LONGEST_TAG)
    named = _NAMED.fullmatch(word)
    is_tag = named is not None and named[1] not in OWN_NAMESPACES
    return word if is_tag else _one_line(word.replace(":", " "), _LONGEST_TAG)


def _one_line(text: str, most: int) -> str:
    return " ".join(text.split())[:most].strip()


MOST_UNPACKED = 64 << 20  # bytes of a sitemap, unpacked
MOST_ADDRESSES, _STEP = 100_000, 64 << 10
_GZIP, _GZIP_WINDOW = b"\x1f\x8b\x08", 31
_BEGINS = re.compile(rb"<(?:[a-zA-Z][\w.-]*:)?(urlset|sitemapindex)[\s>/]")
_LONGEST = 2048
_NAMES = {"loc": "loc", "lastmod": "lastmod", "title": "title", "publication_date": "published"}


class SitemapEntry(Struct, frozen=True):
    """One address of a sitemap. modified: its date as written. title, published_at: from a news sitemap."""

    url: str
    modified: str = ""
    title: str = ""
    published_at: Millis | None = None


class Sitemap(Struct, frozen=True):
    """A sitemap, or an index of its files. partial: it has more addresses than the limit."""

    is_index: bool
    addresses: tuple[SitemapEntry, ...]
    partial: bool = False


def is_sitemap(body: bytes) -> bool:
    return _BEGINS.search(_head(body)) is not None


def read_sitemap(body: bytes) -> Sitemap:
    """Return the addresses up to a fault in the XML (many have a raw ampersand). Raises ContentError if it is none."""
    found = _BEGINS.search(_head(body))
    if found is None:
        raise ContentError("This is not a sitemap: it has no <urlset> and no <sitemapindex>.")
    addresses = _addresses(body)
    read = tuple(islice(addresses, MOST_ADDRESSES))
    return Sitemap(found[1] == b"sitemapindex", read, partial=next(addresses, None) is not None)


def _addresses(body: bytes) -> Iterator[SitemapEntry]:
    parser = etree.XMLPullParser(
        events=("end",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    said: dict[str, str] = {}
    for part in chain(_unpacked(body), (None,)):  # at its end the parser releases held elements
        try:
            parser.close() if part is None else parser.feed(part)
        except etree.XMLSyntaxError as error:
            raise ContentError(f"The sitemap is damaged: {error.msg}") from None
        for _, element in parser.read_events():
            tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
            if tag in _NAMES and (text := (element.text or "").strip()) and _is_its_own(element, tag):
                said.setdefault(_NAMES[tag], text[: _LONGEST + 1])
            elif tag in ("url", "sitemap"):
                if 0 < len(said.get("loc", "")) <= _LONGEST:
                    published = moment(said["published"]) if "published" in said else None
                    yield SitemapEntry(said["loc"], said.get("lastmod", "")[:40], said.get("title", ""), published)
                said = {}
                element.clear()
                parent = element.getparent()
                while parent is not None and element.getprevious() is not None:
                    del parent[0]


def _is_its_own(element: etree._Element, tag: str) -> bool:
    """Whether an element describes the page: its images and videos have addresses and titles too."""
    if tag in ("loc", "lastmod"):
        parent = element.getparent()
        return parent is not None and str(parent.tag).rpartition("}")[2] in ("url", "sitemap")
    return "news" in str(element.tag).rpartition("}")[0]


def _head(body: bytes) -> bytes:
    return next(_unpacked(body[:_STEP]), b"")[:_HEAD] if body.startswith(_GZIP) else body[:_HEAD]


def _unpacked(body: bytes) -> Iterator[bytes]:
    """Yield a body in small unpacked chunks. Raises ContentError if it is damaged or too large."""
    unpacker = zlib.decompressobj(_GZIP_WINDOW) if body.startswith(_GZIP) else None
    size = 0
    for start in range(0, len(body), _STEP):
        rest = body[start : start + _STEP]
        while rest:
            part, rest = rest, b""
            if unpacker is not None:
                try:
                    part, rest = unpacker.decompress(part, _STEP), unpacker.unconsumed_tail
                except zlib.error:
                    raise ContentError("The compressed sitemap can't be unpacked.") from None
            size += len(part)
            if size > MOST_UNPACKED:
                raise ContentError(f"The sitemap has more than {MOST_UNPACKED >> 20} MiB.")
            yield part
