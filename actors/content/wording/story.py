"""Comparison of two news pieces, and the marks that find the earlier one.

A mark is an integer that both pieces probably share: a hash of the link, of a long title, or of three words of the
text from a word with one of the smallest hashes (after Broder, On the resemblance and containment of documents, 1997).
A shared mark proves nothing: `same_story` reads both pieces. Texts from one template share most words, so a
different number or name in the same place means two stories.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import pairwise
from urllib.parse import urlsplit
from zlib import crc32

_READ = 1_200  # characters of a text that are compared
_SKETCHED = 200  # characters of a text that its marks cover
_SKETCH = 2
_LEAST_WORDS = 7  # words of title and text together; fewer prove nothing without a link
_SHORT = 24  # a text with at most this many words must match as a whole
_SPAN = 4
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"\d+(?:[.,:/'’\u00a0\u202f-]\d+)*|[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+")
_ANY = re.compile(r"\w+")
_SPACED = bytes(byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(256))
_LONG = 5  # letters of a word that a sketch prefers
_UNSPACED_WORD = re.compile(f"[{_UNSPACED}]")
_ENDS = re.compile(r"[.!?:;…|–—\"“”„«»()\n]\s*$")
_TRACKING = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|msclkid|igshid|mc_[ce]id|wt_mc|xtor|at_\w+|ns_\w+|cmp(?:id)?|ref(?:_src|errer)?|"
    r"source|share|feature|amp|smid|rss|cid|ocid|_ga|spm|tracking\w*)(?:=|$)|$",
    re.IGNORECASE,
)
_PLAIN_LINK = re.compile(r"https?://(?:www\.)?(?:m\.)?([a-z0-9.-]+)(/[^?#\s]*)")
"""A link that needs no parser, as most."""
_PAGE = re.compile(r"(?:/amp|/index\.\w+)?/*$")
_NUMBERED = re.compile(r"[^=~]*\d[^=~]*")


class NewsItem:
    """A piece of news. url: "" if it has no own link. title: "" if it is not the piece's own."""

    def __init__(self, url: str, title: str, text: str) -> None:
        self._url, self._title, self._text = url, title, text

    @cached_property
    def link(self) -> str:
        return canonical_link(self._url) if self._url else ""

    @cached_property
    def title(self) -> list[str]:
        return _words(self._title)

    @cached_property
    def text(self) -> list[str]:
        return _words(self._text[:_READ])

    def equals(self, other: NewsItem) -> bool:
        """Whether another piece has the same title and long text: most copies are exact."""
        text = self._text[:_READ]
        return text == other._text[:_READ] and self._title == other._title and len(text.split()) > 2 * _SHORT

    def marks(self) -> tuple[int, ...]:
        title, text = _plain(self._title), _plain(self._text[:_SKETCHED])
        found = [1 << 32 | crc32(self.link.encode())] if self.link else []
        if title.count(" ") >= 3:
            found.append(2 << 32 | crc32(" ".join(_runs(title)).encode()))
        runs = _runs(text or title)
        words = " ".join([word for word in runs if text and len(word) >= _LONG] or runs).encode().split()
        each = list(map(crc32, words[:-2] or words))
        sketch = {b" ".join(words[at : at + 3]) for at in map(each.index, sorted(set(each))[:_SKETCH])}
        return (*found, *[3 << 32 | crc32(shingle) for shingle in sketch])


def canonical_link(url: str) -> str:
    """Return the part common to all spellings of a link.

    A fragment with a figure stays: it may be a version in a list.

    >>> canonical_link("https://www.Example.org/a/?utm_source=rss&id=7#top")
    'example.org:/a?id=7#'
    """
    if plain := _PLAIN_LINK.fullmatch(url):
        path = _PAGE.sub("", plain[2])
        return f"{plain[1]}:{path}?#" if path else ""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").removeprefix("www.").removeprefix("m."), parts.port
    except ValueError:
        return url
    path = _PAGE.sub("", parts.path)
    query = sorted([pair for pair in parts.query.split("&") if not _TRACKING.match(pair)]) if parts.query else ()
    part = parts.fragment if parts.fragment and _NUMBERED.fullmatch(parts.fragment) else ""
    if not (path or query or part):
        return ""
    return f"{host}:{'' if port in (80, 443) else port or ''}{path}?{'&'.join(query)}#{part}"


def same_story(left: NewsItem, right: NewsItem) -> bool:
    """Whether two pieces from different sources tell the same story."""
    if left.equals(right):
        return True
    if _differ(left, right):
        return False
    title, text = (_folded(left.title), _folded(right.title)), (_folded(left.text), _folded(right.text))
    if left.link and left.link == right.link:
        # Pieces without a link of their own may share that of their list.
        said = [{*pairwise(words), *pairwise(more)} for words, more in zip(title, text, strict=True)]
        return not all(said) or not said[0].isdisjoint(said[1])
    short, long = sorted(text, key=len)
    if len(short) > _SHORT:
        return _contained(short, long) >= (0.6 if _contained(*sorted(title, key=len)) >= 0.6 else 0.75)
    words = [*title[0], *text[0]]
    if len(words) < _LEAST_WORDS or not _is_special(left):
        return False
    if not short:
        return title[0] == title[1] and len(title[0]) >= _LEAST_WORDS
    return _contained(short, long) >= 0.9 and (title[0] == title[1] or len(short) >= _LEAST_WORDS)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _runs(text: str) -> list[str]:
    """Return the matches of `_ANY`. Most texts are ASCII, and splitting is three times as fast as searching."""
    return text.encode().translate(_SPACED).decode().split() if text.isascii() else _ANY.findall(text)


@lru_cache(maxsize=256)  # most copies are exact
def _words(text: str) -> list[str]:
    """Return words in original case, but fold the first of a sentence, whose capital means nothing."""
    text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0]
        if word[0].isdigit():
            word = re.sub(r"\D", "", word)
        elif not word.islower() and (not found or _ENDS.search(text, max(end, match.start() - 4), match.start())):
            word = word.casefold()
        found.append(word)
        end = match.end()
    return found


def _folded(words: list[str]) -> list[str]:
    return [word.casefold() for word in words]


def _differ(left: NewsItem, right: NewsItem) -> bool:
    """Whether the pieces have different numbers or names in the same place."""
    title, text = _swaps(left.title, right.title), _swaps(left.text, right.text)
    return (
        any(_numbers(was) and _numbers(now) and _numbers(was) != _numbers(now) for was, now in title + text)
        or any(_names(was) and _names(now) and not _names(was) & _names(now) for was, now in text)
        # A name at the start of a sentence goes unnoticed; but a rewrite rarely makes the same replacement twice.
        or any((_folded(was), _folded(now)) in [(_folded(a), _folded(b)) for a, b in text] for was, now in title)
    )


def _swaps(left: list[str], right: list[str]) -> list[tuple[list[str], list[str]]]:
    a, b = _folded(left), _folded(right)
    steps = [] if a == b else SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [
        (left[start:end], right[begin:stop])
        for kind, start, end, begin, stop in steps
        if kind == "replace" and max(end - start, stop - begin) <= _SPAN
    ]


def _numbers(words: list[str]) -> list[str]:
    return [word for word in words if word.isdigit()]


def _names(words: list[str]) -> set[str]:
    return {word for word in words if word[0].isupper()}


def _is_special(piece: NewsItem) -> bool:
    """Whether a short piece has a name or number; any other notice fits every service."""
    words = [*piece.title[1:], *piece.text]
    return any(word[0].isdigit() or word[0].isupper() or _UNSPACED_WORD.match(word) for word in words)


def _contained(short: list[str], long: list[str]) -> float:
    """Return the share of a text's word pairs that the other has."""
    pairs = set(pairwise(short))
    return len(pairs.intersection(pairwise(long))) / len(pairs) if pairs else 1.0
