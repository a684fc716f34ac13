"""The canonical form of a block of text, for comparing two checks of a page.

Canonical text has one spelling of quotes, dashes, case and white space, and no punctuation at word edges. Parts that
change by themselves are masked: clocks, relative times, "generated at" stamps, counters next to their noun, copyright
years, machine-made ids, degrees. Only the key has the mask; an event shows the original text.

A number next to a currency, a percent sign or a unit is never masked. In table cells and sentences the figure is the
content, so only ids, stamps and copyright years are masked there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from actors.content.wording.dates import without_past
from actors.content.wording.words import digest16, word_lists, words_in

KnownKeys: TypeAlias = tuple[dict[str, str], dict[str, str]]  # keys by text: of blocks outside table cells, and inside

_SPELLING = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("’‘‚‛′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
        # Soft hyphen, zero-width characters, direction marks, variation selectors.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f"),
        **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"),
    }
)

_WORDS = word_lists("masks")["masks"]
_MONTH, UNIT, _TIMES, _DONE = (_WORDS[name] for name in ("month", "unit", "times", "done"))


def _nouns(part: str) -> frozenset[str]:
    lines = word_lists("masks")[part].values()
    return frozenset(unicodedata.normalize("NFKC", noun).casefold() for line in lines for noun in line.split("|"))


def _any_of(nouns: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(map(re.escape, nouns), reverse=True))})"


_NOUNS, _WORD = _nouns("counted"), re.compile(r"[\w']+")
_COUNTED, _TALLIED = _any_of(_NOUNS), _any_of(_NOUNS | _nouns("tallies"))
COUNT_SIGNS = frozenset(max(_WORD.findall(noun), key=len) for noun in _NOUNS)
"""Words of which each text with a counter has one."""
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\.?\s{_MONTH}\s\d{{4}}|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}"
    # A word between a day and a year is a month in some language: used only before a time of day.
    r"|\d{1,2}\.?\s(?:de\s|d')?[^\W\d_]{3,14}\.?\s(?:del?\s)?\d{4}"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\s?\d{1,2}[./]\s?\d{2,4})"
)
_AT = r"(?:[^\W\d_]{1,3}\.? )?"  # words between a date and a time of day: at, um, kl., klo, à, o, в
_ZONE = r"(?:z|uhr|utc|gmt|a\.?m\.?|p\.?m\.?|c?est|cet|[ecmp][sd]t)"
_CLOCK = rf"\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d+)?)?\s?{_ZONE}?(?![\w%])"
_NUMBER, _SOME = r"\d[\d.,\u00a0]*\d?\s?[km]?", r"(?:\d+|eine[rmn]?|une?|en|ett)"


class _Mask(NamedTuple):
    """A pattern is tried only on text with one of its signs; most blocks have none."""

    name: str
    signs: frozenset[str]
    pattern: re.Pattern[str]


def _mask(name: str, signs: str | Iterable[str], pattern: str) -> _Mask:
    wanted = signs.split() if isinstance(signs, str) else signs
    return _Mask(f" ⟨{name}⟩ ", frozenset(wanted), re.compile(pattern))


_LONG = "⟨long⟩"  # the sign of a word that may be machine-made
_MARKS = (":", "©", "(c)", "°")

# Masks that apply anywhere: no edit of content changes only these.
_ANYWHERE = (
    _mask("stamp", ":", rf"\b{_WORDS['stamped']}\b[^.\d]{{0,24}}{_DATE}[ ,t-]*{_AT}{_CLOCK}"),
    _mask(
        "copyright",
        "© (c) copyright",
        r"(?:©|\(c\)|\bcopyright\b)[^.\d]{0,40}(?:19|20)\d\d(?:\s?-\s?(?:19|20)?\d\d\b)?"
        r"|\b(?:19|20)\d\d(?:\s?-\s?(?:19|20)\d\d)?\s?(?:©|\(c\))",
    ),
    # Seconds, milliseconds or microseconds since 1970, of the years 2020 to 2033.
    _mask("stamp", _LONG, r"(?<![\d.,$€£])\b1[6-9]\d{8}(?:\d{3}|\d{6})?\b(?!\s?[%€$£])"),
    _mask(
        "ago",
        "vor il för hace",
        rf"\b(?:vor|il y a|för|hace)\s(?:weniger als |ca\. |etwa |environ )?{_SOME}\s?{UNIT}\b(?:\s(?:sedan|sen))?",
    ),
    _mask(
        "ago",
        "ago sedan",
        rf"\b(?:about |almost |over |(?:more|less) than )?(?:\d+|an?|one|a few)\s?{UNIT}"
        rf"(?:,? (?:and )?\d+\s?{UNIT})?\s(?:ago|sedan)\b",
    ),
    _mask(
        "server",
        "serverid server host node pod instance request session trace ray correlation reference",
        r"\b(?:server|host|node|pod|instance|request|session|trace|ray|correlation|reference)[\s-]?(?:id|name|no\.?)?"
        r"\s?[:=#]\s?(?=[\w.-]*\d)[\w.-]+",
    ),
    _mask("took", "took in", r"\b(?:took|in)\s\d+(?:[.,]\d+)?\s?(?:s|sec|seconds|ms|milliseconds)\b"),
)

# Masks for short blocks outside table cells: labels, bylines, teasers. In a sentence these figures can be content.
_LABELS = (
    _mask("when", ":", rf"{_DATE}[ ,t•·|-]*{_AT}{_CLOCK}"),
    _mask("clock", ":", rf"(?<![\d.,:$€£]){_CLOCK}"),
    _mask("clock", "uhr", r"\b\d{1,2}\.\d\d\suhr\b"),
    _mask("count", COUNT_SIGNS, rf"\(?(?<![\d.,$€£])\b{_NUMBER}\s{_COUNTED}\b\)?"),
    _mask("count", COUNT_SIGNS, rf"\b{_COUNTED}\s?[:(]?\s?{_NUMBER}(?![\d%€$£])\)?"),
    _mask("count", "times mal fois gånger", rf"\b{_DONE}\s{_NUMBER}\s{_TIMES}\b|\b{_NUMBER}\s{_TIMES}\s{_DONE}\b"),
    _mask("ago", "read lesezeit lecture läsning", rf"\b\d+\s?{UNIT}\s(?:read|lesezeit|de lecture|läsning)\b"),
    _mask("degrees", "°", r"[-+]?\d+(?:[.,]\d+)?\s?°\s?[cf]?\b"),
)
# Masks for blocks of any length outside cells: a byline that ends with a counter is no sentence.
_ENDS = (_mask("count", COUNT_SIGNS, rf"(?<![\d.,$€£])\b{_NUMBER}\s{_COUNTED}$"),)
_COUNTS = re.compile(rf"(?<![\d.,$€£])\b{_NUMBER}\s{_TALLIED}\b|\b{_TALLIED}\s?[:(]?\s?{_NUMBER}(?![\d%€$£])")
_MONTH_SIGNS = frozenset(
    "january february march april june july august sept september october november december".split()  # noqa: SIM905
)
_FULL_MONTH = re.compile(
    r"\b(jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)\.?(?=\s\d)"
)
_APPOINTMENT = re.compile(
    rf"{_DATE}[ ,t•·|-]*(?:from |{_AT}){_CLOCK}\s?(?:-|to|till|until|bis|à|till)\s?{_CLOCK}"
    r"|\b(?:deadline|due|closes|closing|(?:\w*schluss|\w*frist)|date limite|clôture|senast|sista)\b"
)
"""A label with a date and a span of hours, or with a word for a deadline: a future appointment."""
_EASTERN_DATE = re.compile(r"(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]")
"""Rewritten in ISO form, for all date code."""
_DIGIT = re.compile(r"\d")
_GLUED = re.compile(
    r"\b(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3})?[0-9a-f]{10,}\b|(?<=[a-zäöüß])(?=\d)|(?<=\d{4})(?=\d{1,2}:\d\d)"
)
"""Boundaries between words without a space; or an id, which is one word."""
_POINTS = str.maketrans(dict.fromkeys(";:!?\"'()[]|•·*›»", " "))
_EDGES = re.compile(r"(?<!\d)[.,-]+|[.,-]+(?!\d)")

SHORTEST_ID, _LONGEST_KNOWN = 8, 1_000
LABEL_WORDS = 10  # a block of at most this many words is a label or a teaser, not a sentence


def canonical(text: str, *, cell: bool = False) -> str:
    """Return the masked canonical form. cell: for the text of td, th, dd.

    >>> canonical("Updated 3 minutes ago")  == canonical("Updated 12 minutes ago")
    True
    >>> canonical("From $9 a month") == canonical("From $8 a month")
    False
    """
    return _known(text, cell) if len(text) <= _LONGEST_KNOWN else _canonical(text, cell)


def _canonical(text: str, cell: bool) -> str:
    text = spelled(text)
    short = not cell and words_in(text) <= LABEL_WORDS
    figures = _DIGIT.search(text) is not None
    if figures and not cell and not short:
        text = _applied(_ENDS, text, set(text.rsplit(None, 2)[-2:]))
    if figures or short:
        signs = set(_WORD.findall(text))
        if figures and max(map(len, signs)) >= SHORTEST_ID:
            signs.add(_LONG)
        signs.update(mark for mark in _MARKS if mark in text)
        if not _MONTH_SIGNS.isdisjoint(signs):
            text = _FULL_MONTH.sub(r"\1", text)
        text = _applied(_ANYWHERE, text, signs)
        if short and figures and not (":" in text and _APPOINTMENT.search(text)):
            text = _applied(_LABELS, _GLUED.sub(lambda found: found[0] or " ", text), signs)
        text = without_past(text, signs) if short else text
    return stripped(text)


_known = lru_cache(maxsize=2048)(_canonical)  # cached, because one check needs a changed block several times


def spelled(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_SPELLING)
        text = _EASTERN_DATE.sub(lambda found: f" {found[1]}-{found[2]:0>2}-{found[3]:0>2} ", text)
    return text.casefold()


def stripped(text: str) -> str:
    text = text.translate(_POINTS)
    return " ".join((_EDGES.sub(" ", text) if "." in text or "," in text or "-" in text else text).split())


def _applied(masks: tuple[_Mask, ...], text: str, signs: set[str]) -> str:
    for name, wanted, pattern in masks:
        if not wanted.isdisjoint(signs):
            text = pattern.sub(name, text)
    return text


def differ_by_count(before: str, after: str) -> bool:
    """Whether two texts, of any length and place, differ only in figures next to the noun of a counter."""
    one, other = (_COUNTS.sub("⟨count⟩", spelled(text)) for text in (before, after))
    return one == other and "⟨count⟩" in one


def key(text: str, *, cell: bool = False, exact: bool = False) -> str:
    """Return a block's key of 16 hex digits. exact: mask nothing."""
    return digest16(stripped(spelled(text)) if exact else canonical(text, cell=cell))
