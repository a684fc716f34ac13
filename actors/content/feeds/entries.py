"""An entry of a feed, whatever its format: identity, material fingerprint, capped texts."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from feedparser import api
from msgspec import Struct

from actors.content.bodies.markup import BREAKS, UNSEEN
from actors.content.bodies.text import cap, normalise, plain
from actors.content.messages.readings import Entry, Identity, link_form
from actors.content.values.kinds import values_of_entry
from actors.content.wording.canonical import UNIT, canonical
from actors.content.wording.fingerprint import content_hash, digest16, simhash
from storage.records.identity import Millis

T = TypeVar("T")
MOST_ENTRIES = 5_000
MOST_KEY = 200
_MOST_LABEL = 1_000
_MOST_TAGS = 20
MOST_LINES = 40
"""Lines of an entry that are compared one by one."""
_LONGEST_COUNT = 120
_WORD = r"[^\W\d_]{3,}"
_COUNT = rf"\d{{1,3}}(?:[.,]?\d{{3}})*[km]?\s+(?!(?:{UNIT}|percent|prozent|degrees|grad)\b){_WORD}(?:\s{_WORD})?"
_COUNTS = re.compile(rf"\W*{_COUNT}(?:\s*[-–—·•|/,]\s*{_COUNT})*\W*", re.I)
_TAG_WORD = re.compile(r"[^\w.+/ -]+")


class Raw(Struct, frozen=True):
    """A parsed entry: plain texts, an absolute link or "", the document's own id or ""."""

    id: str
    url: str
    title: str
    author: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]


def entries_of(raws: Sequence[Raw]) -> tuple[Entry, ...]:
    """Return the entries of one document. Entries that differ in id, link, title, date or content get distinct keys."""
    crowd = _Crowd(raws)
    return tuple(_entry(raw, *crowd.names(raw)) for raw in raws)


def newest(found: Sequence[T], published: Callable[[T], Millis | None]) -> Sequence[T]:
    if len(found) <= MOST_ENTRIES:
        return found
    dates = [published(one) for one in found]
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
        fingerprint=fingerprint(raw.title, raw.content, raw.url),
        content_hash=content_hash(raw.content),
        simhash=simhash(raw.content or raw.title),
        content_truncated=truncated,
        identity=identity,
        aliases=aliases,
        prints=_prints(raw),
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


def _prints(raw: Raw) -> bytes:
    title = canonical(raw.title)
    lines = [line for line in map(_without_counts, raw.content.splitlines()) if line]
    each = (_digest(line, 3) for line in lines[:MOST_LINES])
    return b"".join((_digest(title, 4), _digest(" ".join(lines), 4), *each))


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
