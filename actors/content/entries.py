"""An entry of a feed, whatever its format: identity, material fingerprint, capped text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from actors.content.canonical import canonical
from actors.content.fingerprint import content_hash, digest16, simhash
from actors.content.hints import NO_HINTS, FeedHints
from actors.content.text import cap, normalise
from storage.records.identity import Millis

MOST_ENTRIES = 5_000
MOST_KEY = 200
_MOST_LABEL = 1_000
_MOST_TAGS = 20
_TRACKING = re.compile(r"[?&](?:utm_\w+|fbclid|gclid|mc_[ce]id)=[^&#]*|#.*$")
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


class Entry(Struct, frozen=True):
    """An entry with its identity (`key`) and the 16 hex digits that change when its material content does.

    `content` is capped at 64 KiB; `content_hash` and `simhash` are of the uncut text. `published_at` is the feed's
    word.
    """

    key: str
    url: str
    title: str
    author: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]
    fingerprint: str
    content_hash: str = ""
    simhash: int = 0
    content_truncated: bool = False


class FeedReading(Struct, frozen=True):
    """A feed. `entries` are in document order; `damaged`: it is ill-formed or some bytes were not text."""

    title: str
    url: str
    format: str
    entries: tuple[Entry, ...]
    hints: FeedHints = NO_HINTS
    damaged: bool = False


def entry_of(raw: Raw, *, repeated: bool) -> Entry:
    """Return the entry; `repeated` says that other entries of the document bear the same id."""
    content, truncated = cap(raw.content)
    return Entry(
        key=_key(raw, repeated=repeated),
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
    )


def _key(raw: Raw, *, repeated: bool) -> str:
    """Return the identity: id, else link, else a hash of title and content; a repeated id is joined by the link.

    Long ones are hashed, because a source remembers thousands.
    """
    key = raw.id or raw.url
    if repeated and raw.id and raw.url:
        key = f"{raw.id} {raw.url}"
    if not key or (repeated and not raw.url):
        key = f"{raw.id} {digest16(raw.title + chr(0) + raw.content)}".strip()
    return key if len(key) <= MOST_KEY else digest16(key)


def fingerprint(title: str, content: str, url: str) -> str:
    """Return 16 hex digits of the material content: canonical words, so clocks, counters and space do not count."""
    lines = [canonical(line) for line in (title, *content.splitlines())]
    return digest16(" ".join(line for line in (*lines, _TRACKING.sub("", url)) if line))


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
