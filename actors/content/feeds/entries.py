"""An entry of a feed, whatever its format: identity, material fingerprint, capped text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from actors.content.bodies.text import cap, normalise
from actors.content.messages.readings import Entry, Identity, link_form
from actors.content.wording.canonical import canonical
from actors.content.wording.fingerprint import content_hash, digest16, simhash
from storage.records.identity import Millis

MOST_ENTRIES = 5_000
MOST_KEY = 200
_MOST_LABEL = 1_000
_MOST_TAGS = 20
_TAG_WORD = re.compile(r"[^\w.+/ -]+")


class Raw(Struct, frozen=True):
    """What a parser found: plain texts, an absolute link or "", the document's own id or ""."""

    id: str
    url: str
    title: str
    author: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]


def entries_of(raws: Sequence[Raw]) -> tuple[Entry, ...]:
    """Return the entries of one document, told apart as far as they can be."""
    crowd = _Crowd(raws)
    return tuple(_entry(raw, *crowd.names(raw)) for raw in raws)


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
    )


class _Crowd:
    """How often ids and links occur in one document; what names an entry there depends on it."""

    def __init__(self, raws: Sequence[Raw]) -> None:
        # Some documents list an entry twice, word for word; that is no other entry.
        distinct = {(raw.id, raw.url, raw.title, raw.content): raw for raw in raws}.values()
        self._ids = Counter(raw.id for raw in distinct)
        self._pairs = Counter((raw.id, raw.url) for raw in distinct)

    def names(self, raw: Raw) -> tuple[Identity, str, tuple[str, ...]]:
        """Return what names an entry, that name, and the names that it has when others come or go."""
        forms = _forms(raw)
        if raw.id:
            alone, pair = self._ids[raw.id] == 1, self._pairs[raw.id, raw.url] == 1
            chosen: Identity = "guid" if alone else "guid and link" if pair and raw.url else "guid and hash"
        elif raw.url:
            chosen = "link" if self._pairs["", raw.url] == 1 else "link and hash"
        else:
            chosen = "hash"
        names = {form: name if len(name) <= MOST_KEY else digest16(name) for form, name in forms.items()}
        return chosen, names[chosen], tuple(name for form, name in names.items() if form != chosen)


def _forms(raw: Raw) -> dict[Identity, str]:
    """Return all names that an entry may have: by its id, else by its link, else by a hash of title and content."""
    whole = digest16(raw.title + chr(0) + raw.content)
    if raw.id and raw.url:
        return {
            "guid": raw.id,
            "guid and link": f"{raw.id} {raw.url}",
            "guid and hash": f"{raw.id} {raw.url} {digest16(raw.title)}",
        }
    if raw.id:
        return {"guid": raw.id, "guid and hash": f"{raw.id} {whole}"}
    if raw.url:
        return {"link": raw.url, "link and hash": f"{raw.url} {digest16(raw.title)}"}
    return {"hash": whole}


def fingerprint(title: str, content: str, url: str) -> str:
    """Return 16 hex digits of the material content: canonical words, so clocks, counters and space do not count.

    Neither does the link, which redirectors change at every look, unless it is all there is.
    """
    lines = [canonical(line) for line in (title, *content.splitlines())]
    return digest16(" ".join(line for line in lines if line) or link_form(url))


def _tags(words: Iterable[str]) -> tuple[str, ...]:
    """Return harmless `namespace:word` tags: lower case, one line, at most 20."""
    kept: dict[str, None] = {}
    for tag in words:
        namespace, _, word = tag.partition(":")
        word = " ".join(_TAG_WORD.sub(" ", normalise(word).lower()).split())[:100]
        if word:
            kept[f"{namespace}:{word}"] = None
        if len(kept) >= _MOST_TAGS:
            break
    return tuple(kept)
