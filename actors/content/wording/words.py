"""Words of a text: their number, search as people expect it, and lists of words by language. Imports no parser.

The words that differ between two wordings, and texts on one line, cut at a good place. A word is a run of letters and
digits with their marks ("19,90" is one); in scripts without spaces (Japanese, Chinese, Thai, ...) it is one character
with its marks. No cut separates a letter from its mark. The cost is n log n. Patience diff (Bram Cohen): elements that
occur once on both sides are anchors; their longest increasing subsequence is kept, and the gaps in between are
processed recursively. Each level is O(n log n) and the number of levels is bounded, so a hostile page costs no more
than a long one.

Hashes of content: exact (`content_hash`) and for similarity (`simhash`).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from configparser import ConfigParser
from functools import cache
from importlib.resources import files
from itertools import pairwise
from operator import lt
from typing import TypeVar

from storage.records.event import MOST_SUMMARY, Span, Spans

# Kana and Han (two characters a word, as segmenters find in newspapers); Thai, Lao, Burmese and Khmer (four).
_JOINED = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]")
_JOINED_LONG = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]")
UNSPACED = f"{_JOINED.pattern}|{_JOINED_LONG.pattern}".replace("]|[", "")
"""A pattern of one character of a script without spaces."""
_ANY = re.compile(UNSPACED)


def word_counts(texts: Iterable[str]) -> tuple[int, ...]:
    return tuple([text.count(" ") + 1 if text.isascii() else words_in(text) for text in texts])


def words_in(text: str) -> int:
    """Estimate the words of a text with folded white space, at least 1.

    >>> words_in("The fee is 10 euros."), words_in("料金は10円です。"), words_in("Å")
    (5, 4, 1)
    """
    spaced = text.count(" ") + 1
    if text.isascii() or not _ANY.search(text):
        return spaced
    return spaced + len(_JOINED.findall(text)) // 2 + len(_JOINED_LONG.findall(text)) // 4


_WHOLE = 20


def folded(text: str) -> str:
    """Fold text for search: no case, no accents, white space as one blank.

    >>> folded("  Ça\u00a0coûte ") == folded("ca coute")
    True
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(text.casefold().split())


def holds(text: str, wanted: str) -> bool:
    """Whether a text contains the wanted one (already folded), or is a long part of it."""
    here = folded(text)
    return bool(wanted) and (wanted in here or (len(here) >= _WHOLE and here in wanted))


class _Lists(ConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr  # the case of a word counts


@cache
def word_lists(name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the sections of a file of the folder `lists`, each by its keys; words are usually between bars."""
    read = _Lists(interpolation=None, delimiters=("=",))
    read.read_string(files("actors.content.wording").joinpath("lists", f"{name}.ini").read_text("utf-8"))
    return {part: {key: text.replace("\n", "") for key, text in read[part].items()} for part in read.sections()}


_LEVELS, _STRETCH = 12, 32
Item = TypeVar("Item")

Gap = tuple[int, int, int, int]  # a span of old elements [a, b) that became a span of new ones [c, d)


def gaps(before: Sequence[str], after: Sequence[str]) -> list[Gap]:
    """Return the gaps between common elements, in reading order; no gap is empty on both sides."""
    before, after = tuple(before), tuple(after)
    done: list[Gap] = []
    waiting = [(0, len(before), 0, len(after), _LEVELS)]
    while waiting:
        a, b, c, d, levels = waiting.pop()
        # Most elements are equal, and slices compare faster than single elements.
        while before[a : min(b, a + _STRETCH)] == after[c : min(d, c + _STRETCH)] and a < b and c < d:
            a, c = min(b, a + _STRETCH), min(d, c + _STRETCH)
        while a < b and c < d and before[a] == after[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and before[b - 1] == after[d - 1]:
            b, d = b - 1, d - 1
        anchors = _anchors(before, after, (a, b, c, d)) if levels and a < b and c < d else []
        if not anchors:
            if a < b or c < d:
                done.append((a, b, c, d))
            continue
        edges = [(a - 1, c - 1), *anchors, (b, d)]
        waiting += [(i + 1, k, j + 1, m, levels - 1) for (i, j), (k, m) in pairwise(edges) if k > i + 1 or m > j + 1]
    return sorted(done)


def surplus(ours: Iterable[Item], theirs: Iterable[Item], value: Callable[[Item], Hashable]) -> list[Item]:
    """Return the items without an equal in the other multiset, by a value of theirs."""
    left, kept = Counter(map(value, theirs)), list[Item]()
    for gap in ours:
        if left[value(gap)]:
            left[value(gap)] -= 1
        else:
            kept.append(gap)
    return kept


def _anchors(before: Sequence[str], after: Sequence[str], gap: Gap) -> list[tuple[int, int]]:
    """Return the longest run, in order on both sides, of elements that are unique on both sides of a gap."""
    a, b, c, d = gap
    if set(before[a:b]).isdisjoint(after[c:d]):
        return []
    old, new = Counter(before[a:b]), Counter(after[c:d])
    place = {text: j for j, text in enumerate(after[c:d], c) if new[text] == 1}
    common = [(i, place[text]) for i, text in enumerate(before[a:b], a) if old[text] == 1 and text in place]
    places = [j for _, j in common]
    if all(map(lt, places, places[1:])):
        return common  # the usual case: common elements are in the same order
    tails, ends, back = list[int](), list[int](), list[int]()
    for n, j in enumerate(places):
        at = bisect_left(tails, j)
        back.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            ends.append(n)
        else:
            tails[at], ends[at] = j, n
    run, n = list[tuple[int, int]](), ends[-1] if ends else -1
    while n >= 0:
        run.append(common[n])
        n = back[n]
    return run[::-1]


MOST_WORDS = 4_000  # words of both texts together beyond which none is marked
_LIKE = 0.5  # texts with a smaller share of common words are shown whole
_JOINER, _FIGURE = "\u200d", r"(?:(?<=\d)[.,:]\d+)*"
_WORD = re.compile(rf"{UNSPACED}|(?:(?!{UNSPACED})\w)+{_FIGURE}|[^\w\s]")
_PLAIN = re.compile(rf"\w+{_FIGURE}|[^\w\s]")


def spans_of(before: str, after: str) -> Spans | None:
    """Return the words that differ; None if the texts are equal apart from white space, too different or too long."""
    old, new = words_of(before), words_of(after)
    if len(old) + len(new) > MOST_WORDS:
        return None
    found = gaps([before[i:j] for i, j in old], [after[i:j] for i, j in new])
    unlike = sum(b - a + d - c for a, b, c, d in found)
    if not found or unlike > (1 - _LIKE) * (len(old) + len(new)):
        return None
    return Spans(
        tuple((old[a][0], old[b - 1][1]) for a, b, _, _ in found if a < b),
        tuple((new[c][0], new[d - 1][1]) for _, _, c, d in found if c < d),
    )


def words_of(text: str) -> list[Span]:
    """Return the start and end of each word and sign of a text.

    >>> words_of("12 kr")
    [(0, 2), (3, 5)]
    >>> words_of("値上げ"), words_of("e\u0301t")
    ([(0, 1), (1, 2), (2, 3)], [(0, 3)])
    """
    if text.isascii():
        return [found.span() for found in _PLAIN.finditer(text)]
    words: list[Span] = []
    was_mark = False
    for found in _WORD.finditer(text):
        start, end = found.span()
        is_mark = clings(text[start])
        is_joined = (is_mark or was_mark) and words and words[-1][1] == start
        # The character after a mark belongs to the same word if letters surround it, or after a joiner; not in scripts
        # where each character is a word.
        continues = text[start].isalnum() and not re.match(UNSPACED, text[start])
        if is_joined and (is_mark or text[start - 1] == _JOINER or continues):
            words[-1] = (words[-1][0], end)
        else:
            words.append((start, end))
        was_mark = clings(text[end - 1])
    return words


def clings(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, a joiner, a skin tone."""
    if character.isascii():
        return False
    is_mark = character == _JOINER or unicodedata.category(character)[0] == "M"
    return is_mark or "\U0001f3fb" <= character <= "\U0001f3ff"


def border(text: str, end: int) -> int:
    """Return the last place up to `end` that is between two characters as people see them (UAX #29, roughly).

    >>> border("e\u0301", 1), border("\U0001f1f8\U0001f1ea", 1), border("👩\u200d🚀", 2), border("ab", 1)
    (0, 0, 0, 1)
    """
    while 0 < end < len(text):
        flags = _FLAGS.search(text, 0, end) if _FLAGS.match(text[end]) else None
        is_half = flags is not None and len(flags[0]) % 2 == 1
        joined = text[end - 1] == _JOINER or (text[end].isalpha() and unicodedata.combining(text[end - 1]) == _VIRAMA)
        if not (is_half or joined or clings(text[end]) or _ATTACHED.match(text[end])):
            break
        end -= 1
    return end


CUT = "…"
_ATTACHED = re.compile("[\u0e33\u0eb3\u1160-\u11ff\u200c\ud7b0-\ud7ff\uff9e\uff9f]")
"""Letters that belong to the one before: vowels of Thai and Lao, the later parts of a Korean syllable."""
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+\\Z")
_VIRAMA = 9
_WORD_END = 16  # how far back a cut goes for the end of a word
_READ = 1_000
# Control characters, line separators, and direction marks: an override would affect the text after it.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def of_text(*texts: str) -> str:
    """Return the beginning of the first non-empty text: an entry's title, its content, its address.

    >>> of_text("", "  Low tide\\nat nine", "https://shore.example/")
    'Low tide at nine'
    """
    return next((said for text in texts if (said := cut(line(text), MOST_SUMMARY))), CUT)


def line(text: str) -> str:
    """Return the beginning of a text on one line, without direction marks."""
    return " ".join(_UNSAFE.sub(" ", text[:_READ]).split())


def cut(text: str, most: int) -> str:
    """Cut a line to `most` characters, at the end of a word if one is near, never inside a character as people see it.

    >>> cut("Day tickets cost 12 euros", 19)
    'Day tickets cost…'
    """
    if len(text) <= most:
        return text
    end = border(text, most - len(CUT))
    space = text.rfind(" ", max(1, end - _WORD_END), end + 1)
    return text[: space if space > 0 else end].rstrip(" ,;:–—-") + CUT


BITS = 53  # JavaScript and RFC 8785 keep integers of this size exact

_SHINGLE, _MOST_WORDS, _MASK = 3, 20_000, (1 << 64) - 1
# Odd constants (of the golden ratio and two primes) make a shingle's hash depend on the order of its words.
_FIRST, _SECOND, _THIRD = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_FEATURE = re.compile(r"\w+")
_MARKS = bytes.maketrans(b".,:;!?\"'`()[]{}<>-/\\|&%$+*=#@~^", b" " * 31)
_FURTHER_MARKS = "–—−•·«»“”„‘’…€©®™¶→"
_PART = 9  # bytes of a word's part in a shingle: 8 of its hash, and space for the carry of three summands
_LANE = _PART * _SHINGLE
_MOST_KNOWN = 8192


def content_hash(text: str) -> str:
    """Return `sha256:<hex>` of the NFC form of the full text.

    >>> content_hash("")[:15]
    'sha256:e3b0c442'
    """
    return "sha256:" + hashlib.sha256(unicodedata.normalize("NFC", text).encode("utf-8", "replace")).hexdigest()


def digest16(text: str) -> str:
    """Hash to 64 bits of BLAKE2b, as 16 hex digits: the short key of blocks and entries."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def simhash(text: str) -> int:
    """Return a 53-bit similarity hash over 3-word shingles (Charikar 2002), 0 without words. Texts that differ in at
    most 3 bits look the same, in up to 10 related. For grouping only: most small real edits leave it unchanged.
    """
    words = _words_of(unicodedata.normalize("NFKC", text).casefold())[:_MOST_WORDS]
    if not words:
        return 0
    lanes = max(1, len(words) - _SHINGLE + 1)
    # One long integer has a lane per word, with its parts as first, second and third word of a shingle. Adding it to
    # itself, shifted by one and by two lanes and parts, sums each shingle in the first part of its lane. Then set bits
    # are counted over each column of bytes: neither lanes nor the 53 sums need an interpreted loop.
    laid = int.from_bytes(b"".join(map(_WORD_HASHES.__getitem__, words)), "little")
    further = 8 * (_LANE + _PART)
    summed = (laid + (laid >> further) + (laid >> 2 * further)).to_bytes(_LANE * len(words), "little")
    columns = [int.from_bytes(summed[byte : _LANE * lanes : _LANE], "little") for byte in range(8)]
    ones = int.from_bytes(b"\x01" * lanes, "little")
    masks = [ones << bit for bit in range(8)]
    value = 0
    for place in range(64 - BITS, 64):  # the low bits of a product are its weakest
        set_bits = (columns[place >> 3] & masks[place & 7]).bit_count()
        value |= (2 * set_bits > lanes) << (place - 64 + BITS)
    return value


def _words_of(text: str) -> list[str]:
    """Return the matches of `_WORD`; usual marks are replaced first, because a split is faster than a search."""
    spaced = text.encode("utf-8", "surrogatepass").translate(_MARKS).decode("utf-8", "surrogatepass")
    for mark in "" if text.isascii() else _FURTHER_MARKS:
        spaced = spaced.replace(mark, " ")
    words = spaced.split()
    return words if "".join(words).replace("_", "").isalnum() else _FEATURE.findall(text)


class _WordHashes(dict[str, bytes]):
    """A word's parts as first, second and third word of a shingle, concatenated."""

    def __missing__(self, word: str) -> bytes:
        plain = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[word] = parts = b"".join(
            (plain * odd & _MASK).to_bytes(_PART, "little") for odd in (_FIRST, _SECOND, _THIRD)
        )
        return parts


_WORD_HASHES = _WordHashes()
