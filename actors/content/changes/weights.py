"""The weight of an added or removed block: 1 is a paragraph of content, 0 is nothing worth reporting.

The kind of page comes first. On a *text page* most words are in paragraphs of a dozen words and more, the content runs
from the page's heading to its last paragraph, and short linked blocks around it are navigation. On a *list page* (news
fronts, release lists, tables) the short linked blocks are the content.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from itertools import groupby

from msgspec import Struct

from actors.content.pages.traits import CELL, CONTROL, HEADING, ITEM, LINK, TOP
from actors.content.values import amounts
from actors.content.wording.dates import dates_in, is_dated, is_only_date, speaks_of_edits
from actors.content.wording.words import words_in

LONG, MIDDLE = 12, 5
"""Minimum words of a paragraph, and of a block that is more than a label."""
FIGURE = 0.35
"""Weight of a figure in a table or label: the old and the new one together make a change."""

LABEL, BARE = "a label of a few words", "a figure by itself"
FIGURES = "only figures or what changes by itself"

_TEXT_PAGE_WORDS = 60
_TEXT_PAGE_PARAGRAPHS = 4
_AFTER_LAST = 4
_HEAD_BEFORE = 6
"""Blocks between a text's heading and its first paragraph: date, author, lead, a caption."""
_OUTSIDE = 0.05
_TAIL = 0.95
"""Start of a text page's foot, as a share of its blocks, even if a paragraph of small print follows."""
COOKIES = re.compile(
    r"cookie|evästei|ciastecz|sušenk|kolačić|piškot|sütik|çerez|informasjonskapsl|küpsis|slapuk|sīkdat|куки|クッキー|쿠키",
    re.I,
)
"""A last paragraph about cookies is usually a banner: a heading before it ends the text."""
_CODES = r"(?:kr|usd|eur|euros?|chf|sek|nok|dkk|gbp|pln|czk|cad|aud|inr|jpy|zł|kč)"
_SYMBOLS = "[$€£¥₹₽₺₩₪฿]"
_AFTER = "[円元원]"
"""Characters that follow an amount; before a figure they mean something else."""
_MONEY = re.compile(
    rf"{_SYMBOLS}\s?\d|\d(?:[.,:][-–—]{{1,2}})?\s?(?:{_SYMBOLS}|%|{_AFTER}|{_CODES}\b)|\b{_CODES}\.?\s?\d|\d[.,:][-–—](?!\w)",
    re.I,
)
"""A price or a percentage; "49,-€", "CHF 20" and "99:-" are prices too."""
_AMOUNT = re.compile(rf"[\d.,\u00a0]*(?:{_MONEY.pattern})[\d.,]*", re.I)
_CURRENCY = re.compile(rf"{_SYMBOLS}|\d\s?{_AFTER}|\b{_CODES}\b", re.I)
VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)+")
_BEFORE_FIGURE = re.compile(rf"{amounts.BEFORE}\s?$")
_BEHIND_FIGURE = re.compile(rf"\s?{amounts.AFTER}")
_LONGEST_CURRENCY = 8
"""Characters checked before a figure: the longest currency, a space, and one more to exclude the end of a word."""
LETTERS = re.compile(r"[^\W\d_]{2}")
_MASK = re.compile(r"⟨\w+⟩")
_TIME = "⟨clock⟩"
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SIGNED = re.compile(rf"[+-]?{NUMBER.pattern}")
_TICKER_NUMBERS = 3
_ROW, _PLAIN_ROW = 3, 4
LONGEST_LABEL = 80
"""Characters of a label that may be a list entry, or dated."""
_ICON = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+(?: [a-z0-9]+(?:_[a-z0-9]+)+)*")
"""Icon names as in icon fonts, when no class marks them."""
_FILE = re.compile(r"\(\S+\.\w{2,5}\)$")
"""The suffix `files` writes for the file behind a link."""
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2})*[.)]\s+[^\W\d_]")
"""A section number; a page's foot has none."""
_COPYRIGHT = re.compile(
    r"©|\(c\)\s?(?:19|20)\d\d|\bcopyright\b.*\b(?:19|20)\d\d\b|\b(?:19|20)\d\d\b.*\bcopyright\b|^copyright\b", re.I
)
_LONGEST_FOOT = 24
"""Words of a copyright line: a longer text, or one that only names the word, is a paragraph about copyright."""
_FOOT_BEFORE = 2
_MOST_FOOT = 0.34


class Zone(Struct, frozen=True):
    """The content of a page: block positions from `first` to `last`. text: whether it is a text page. paragraph:
    position of the last one. foot: start of the page's foot, at its copyright line. today: the day's ordinal, 0 if
    unknown.
    """

    text: bool
    first: int
    last: int
    paragraph: int
    blocks: int
    foot: int
    today: int = 0

    def holds(self, position: int) -> bool:
        return self.first <= position <= self.last

    def ends(self, position: int) -> bool:
        """Whether a block is where sites put the version of their own software."""
        if position >= self.foot - _FOOT_BEFORE:
            return True
        return self.text and (position > self.paragraph or position >= _TAIL * self.blocks)


def zone_of(texts: Sequence[str], words: Sequence[int], traits: Sequence[int], today: int = 0) -> Zone:
    if len(places := [i for i in range(len(texts)) if not traits[i] & CONTROL]) < len(texts):
        zone = zone_of([texts[i] for i in places], [words[i] for i in places], [traits[i] for i in places], today)
        at = [*places, *[len(texts)] * (_AFTER_LAST + 1)]
        first, last, paragraph, foot = (at[i] for i in (zone.first, zone.last, zone.paragraph, zone.foot))
        return Zone(zone.text, first, last, paragraph, len(texts), foot, today)
    long = [i for i, count in enumerate(words) if count >= LONG and not traits[i] & LINK]
    total = sum(words)
    foot = _foot(texts, words, long[-1] if long else 0)
    if total < _TEXT_PAGE_WORDS or len(long) < _TEXT_PAGE_PARAGRAPHS or 2 * sum(words[i] for i in long) < total:
        return Zone(False, 0, len(texts), len(texts), len(texts), foot, today)
    above = range(long[0] - 1, max(-1, long[0] - _HEAD_BEFORE - 1), -1)
    first = next((i for i in above if traits[i] & HEADING), long[0])
    top = next((i for i, trait in enumerate(traits) if trait & TOP), None)
    if top is not None and top < long[len(long) // 3]:
        first = min(top, first)
    first = first if top is not None else max(0, min(first, long[0] - 2))
    last = long[-1] + _AFTER_LAST
    if COOKIES.search(texts[long[-1]]):
        last = next((i for i in range(long[-2] + 1, long[-1]) if traits[i] & HEADING), last)
    return Zone(True, first, last, long[-1], len(texts), foot, today)


def _foot(texts: Sequence[str], words: Sequence[int], last_long: int) -> int:
    """Return the position of a copyright line among the last blocks; the number of blocks if there is none."""
    end = len(texts)
    last = range(end - 1, int(end * (1 - _MOST_FOOT)), -1)
    return next((i for i in last if words[i] <= _LONGEST_FOOT and _is_copyright(texts[i], ends=i > last_long)), end)


def _is_copyright(text: str, *, ends: bool) -> bool:
    lowered = text.lower()
    if "©" not in lowered and "(c)" not in lowered and "copyr" not in lowered:  # the pattern is slow
        return False
    found = _COPYRIGHT.search(text)
    return found is not None and (ends or found[0].lower() != "copyright")


def weigh(text: str, canonical: str, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    """Return the weight of an added or removed block outside furniture, and the reason if it is low, else ""."""
    if not canonical or (_ICON.fullmatch(text) and not trait & CELL):
        return 0.0, "no words"
    money = NUMBER.search(text) is not None and (_MONEY.search(text) is not None or _of_table(text) != ())
    figure = money or (VERSION.search(canonical) is not None and not zone.ends(position))
    bare = _MASK.sub("", canonical)
    if not LETTERS.search(bare):
        datum = figure or trait & CELL
        return (FIGURE, BARE) if datum else (0.0, FIGURES)
    if is_only_date(bare):
        if trait & CELL or is_future(bare, zone.today):
            return FIGURE, "a date by itself"
        return 0.12 if zone.text and zone.holds(position) else 0.0, "only a date"
    words = words_in(canonical)
    plain = 1.0 if words >= LONG else 0.6 if words >= MIDDLE else 0.2 if words >= 2 else 0.1
    if trait & CELL:
        plain = max(plain, 0.45)
    if trait & HEADING:
        plain = max(plain, 0.5)
    if figure:
        plain = max(plain, 0.6)
    elif is_future(bare, zone.today):
        plain = max(plain, 0.5)
    if zone.text and not trait & LINK and is_dated(bare):
        plain = max(plain, FIGURE)
    return _placed(plain, words, trait, position, zone)


def _placed(plain: float, words: int, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    if position >= zone.foot and words < LONG:
        return _OUTSIDE * plain, "at the page's foot"
    if not zone.text:
        return plain, "" if plain > 0.2 else LABEL
    if not zone.holds(position):
        side = "above the text" if position < zone.first else "below the last paragraph"
        return _OUTSIDE * plain, side
    if trait & LINK:
        share = 0.9 if trait & ITEM and words >= MIDDLE else 0.3 if words < LONG else 0.6
        return plain * share, "" if share > 0.3 else "a short link in a text"
    return plain, "" if plain > 0.2 else LABEL


def is_fact(text: str, canonical: str, trait: int, position: int, zone: Zone) -> bool:
    """Whether a label's figure is a fact: inside a text, no link, not the date of an edit."""
    if not zone.text or not zone.holds(position) or trait & LINK:
        return False
    if zone.ends(position) and not _SECTION.match(text):
        return False
    bare = _MASK.sub("", canonical)
    return LETTERS.search(bare) is not None and not is_only_date(bare) and not speaks_of_edits(bare)


def entries_of(texts: Sequence[str], traits: Sequence[int]) -> frozenset[int]:
    """Return the positions of entries: list items, and rows of similar short blocks, linked or not."""
    found: set[int] = set()
    places = [i for i in range(len(texts)) if not traits[i] & CONTROL]
    kinds = (
        traits[i] & (ITEM | LINK | HEADING | CELL) if traits[i] & ITEM or len(texts[i]) <= LONGEST_LABEL else -1
        for i in places
    )
    start = 0
    for kind, run in groupby(kinds):
        end = start + sum(1 for _ in run)
        least = _ROW if kind & LINK else _PLAIN_ROW
        if kind >= 0 and (kind & ITEM or end - start >= least):
            found.update(places[start:end])
        start = end
    return frozenset(found)


def is_value(canonical: str, trait: int, position: int, zone: Zone) -> bool:
    """Whether a label may be a value: no stamp, no past date, and on a text page inside its zone and without a link."""
    timed = canonical.replace(_TIME, "").strip()
    bare = _MASK.sub("", timed).strip()
    if bare != timed or not (LETTERS.search(bare) or NUMBER.search(bare) or len(bare) > 1):
        return False
    if speaks_of_edits(bare) or (is_only_date(bare) and not is_future(bare, zone.today)) or position >= zone.foot:
        return False
    if VERSION.search(bare) is not None and zone.ends(position):
        return False
    return not zone.text or (zone.holds(position) and not zone.ends(position) and not trait & LINK)


def may_count(before: tuple[str, str], after: tuple[str, str], *, dated: bool = False) -> bool:
    """Whether the differing figures of two texts may be counters: not of a price, version or file, or of a date unless
    `dated`. before, after: text and canonical form. A line of many percentages is a ticker.
    """
    if _amounts(before[0]) != _amounts(after[0]):
        return not names_currency(after[0]) and len(NUMBER.findall(after[1])) >= _TICKER_NUMBERS
    if VERSION.findall(before[1]) != VERSION.findall(after[1]) or _FILE.search(after[0]):
        return False
    return dated or not (dates_in(after[1]) or dates_in(before[1]))


def _amounts(text: str) -> list[str]:
    return [*(found[0] for found in _AMOUNT.finditer(text)), *_of_table(text)]


@lru_cache(maxsize=16)  # a check asks several times in a row
def _of_table(text: str) -> tuple[str, ...]:
    """Return the figures next to a currency from the table: "95 ريال", "Rs. 500", "12 RM"."""
    figures = ((at, text[max(0, at.start() - _LONGEST_CURRENCY) : at.start()]) for at in NUMBER.finditer(text))
    return tuple(at[0] for at, left in figures if _BEHIND_FIGURE.match(text, at.end()) or _BEFORE_FIGURE.search(left))


def names_currency(text: str) -> bool:
    return _CURRENCY.search(text) is not None or _of_table(text) != ()


def is_future(canonical: str, today: int) -> bool:
    """Whether a text has a day after `today` (an ordinal, 0 if unknown): a future date is no stamp."""
    if not today:
        return False
    days = (reading for at in dates_in(canonical) if at.has_year for reading in at.readings)
    return any(date(year, month or 1, day or 1).toordinal() > today for year, month, day in days)


def ticker_shape(text: str, canonical: str, trait: int) -> str:
    """Return the shape of a line of figures (quotes, weather), else "". If only its figures change, and have before, it
    changes by itself; prices, versions and cells never do.
    """
    shape, numbers = ("", 0) if trait & CELL or words_in(canonical) > LONG else SIGNED.subn("0", canonical)
    if numbers < _TICKER_NUMBERS or names_currency(text) or VERSION.search(canonical) or dates_in(canonical):
        return ""
    return f"figures {shape}"
