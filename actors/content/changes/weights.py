"""The weight of a block that came or went: 1 is a paragraph of content, 0 something that no reader would call news.

The kind of page comes first. On a *text page* most words stand in paragraphs of a dozen words and more, and content
lies between the page's heading and its last paragraph; short linked blocks around it are navigation. On a *list page*
(news fronts, release lists, tables) the short linked blocks are the content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby

from msgspec import Struct

from actors.content.pages.traits import CELL, CONTROL, HEADING, ITEM, LINK, TOP
from actors.content.values import currencies
from actors.content.wording.dates import dates_in
from actors.content.wording.stamps import is_dated, is_only_date, speaks_of_edits
from actors.content.wording.words import words_in

LONG, MIDDLE = 12, 5
"""Words from which a block counts as a paragraph, and as more than a label."""
FIGURE = 0.35
"""What a figure in a table or a label weighs: the new one and the old one together make a change."""

LABEL, BARE = "a label of a few words", "a figure by itself"
FIGURES = "only figures or what changes by itself"

_TEXT_PAGE_WORDS = 60
_TEXT_PAGE_PARAGRAPHS = 4
_AFTER_LAST = 4
_HEAD_BEFORE = 6
"""Blocks between a text's heading and its first paragraph: date, author, lead, the caption of a picture."""
_OUTSIDE = 0.05
_TAIL = 0.95
"""From where the blocks of a text page are its foot, though a paragraph in small print may follow."""
COOKIES = re.compile(
    r"cookie|evästei|ciastecz|sušenk|kolačić|piškot|sütik|çerez|informasjonskapsl|küpsis|slapuk|sīkdat|куки|クッキー|쿠키",
    re.I,
)
"""A last paragraph that speaks of them is most often a banner: a heading before it ends the text."""
_CODES = r"(?:kr|usd|eur|euros?|chf|sek|nok|dkk|gbp|pln|czk|cad|aud|inr|jpy|zł|kč)"
_SYMBOLS = "[$€£¥₹₽₺₩₪฿]"
_AFTER = "[円元원]"
"""What only follows an amount: before a figure these characters mean something else."""
_MONEY = re.compile(
    rf"{_SYMBOLS}\s?\d|\d(?:[.,:][-–—]{{1,2}})?\s?(?:{_SYMBOLS}|%|{_AFTER}|{_CODES}\b)|\b{_CODES}\.?\s?\d|\d[.,:][-–—](?!\w)",
    re.I,
)
"""A price or a share; "49,-€", "CHF 20" and "99:-" are prices, too."""
_AMOUNT = re.compile(rf"[\d.,\u00a0]*(?:{_MONEY.pattern})[\d.,]*", re.I)
_CURRENCY = re.compile(rf"{_SYMBOLS}|\d\s?{_AFTER}|\b{_CODES}\b", re.I)
VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)+")
_BEFORE_FIGURE = re.compile(rf"{currencies.BEFORE}\s?$")
_BEHIND_FIGURE = re.compile(rf"\s?{currencies.AFTER}")
_LONGEST_CURRENCY = 8
"""Characters that are looked at before a figure: the longest currency, a space, and what shows that no word ends so."""
LETTERS = re.compile(r"[^\W\d_]{2}")
_MASK = re.compile(r"⟨\w+⟩")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SIGNED = re.compile(rf"[+-]?{NUMBER.pattern}")
_TICKER_NUMBERS = 3
_ROW, _PLAIN_ROW = 3, 4
LONGEST_LABEL = 80
"""Characters of a label that may be an entry of its own, or dated."""
_ICON = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+(?: [a-z0-9]+(?:_[a-z0-9]+)+)*")
"""Names of icons as fonts have them, where no class says that they are."""
_FILE = re.compile(r"\(\S+\.\w{2,5}\)$")
"""As `files` says to which file a link leads."""
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2})*[.)]\s+[^\W\d_]")
"""The number of a section, which its page's foot has not."""
_COPYRIGHT = re.compile(
    r"©|\(c\)\s?(?:19|20)\d\d|\bcopyright\b.*\b(?:19|20)\d\d\b|\b(?:19|20)\d\d\b.*\bcopyright\b|^copyright\b", re.I
)
_LONGEST_FOOT = 24
"""Words of a copyright line: what is longer, or only names the word, is a paragraph about copyright."""
_FOOT_BEFORE = 2
_MOST_FOOT = 0.34


class Zone(Struct, frozen=True):
    """Where on a page the content lies: block positions from `first` to `last`; `text` says that it is a text page.

    paragraph: where the last one is. foot: where the page's foot begins, by its copyright line. today: the ordinal of
    the day of the look, 0 if unknown.
    """

    text: bool
    first: int
    last: int
    paragraph: int
    blocks: int
    foot: int
    today: int = 0

    def holds(self, position: int) -> bool:
        """Return whether a block position lies in the content."""
        return self.first <= position <= self.last

    def ends(self, position: int) -> bool:
        """Return whether a block stands where the version is that of the site's own software."""
        if position >= self.foot - _FOOT_BEFORE:
            return True
        return self.text and (position > self.paragraph or position >= _TAIL * self.blocks)


def zone_of(texts: Sequence[str], words: Sequence[int], traits: Sequence[int], today: int = 0) -> Zone:
    """Return the content's zone among the blocks outside of furniture; `words` is how many each text has."""
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
    """Return where the copyright line is, if it is one of the last blocks; the number of blocks where there is none."""
    end = len(texts)
    last = range(end - 1, int(end * (1 - _MOST_FOOT)), -1)
    return next((i for i in last if words[i] <= _LONGEST_FOOT and _is_copyright(texts[i], ends=i > last_long)), end)


def _is_copyright(text: str, *, ends: bool) -> bool:
    if not _may_be_foot(text.lower()):
        return False
    found = _COPYRIGHT.search(text)
    return found is not None and (ends or found[0].lower() != "copyright")


def _may_be_foot(lowered: str) -> bool:
    """Return whether a text has a sign of `_COPYRIGHT`: an expression that ignores case is slow on all the others."""
    return "©" in lowered or "(c)" in lowered or "copyr" in lowered


def weigh(text: str, canonical: str, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    """Return what a block outside of furniture weighs when it comes or goes, and why it weighs little ("" if not)."""
    if not canonical or (_ICON.fullmatch(text) and not trait & CELL):
        return 0.0, "no words"
    money = _MONEY.search(text) is not None or any(_of_table(text))
    figure = money or (VERSION.search(canonical) is not None and not zone.ends(position))
    bare = _MASK.sub("", canonical)
    if not LETTERS.search(bare):
        datum = figure or trait & CELL
        return (FIGURE, BARE) if datum else (0.0, FIGURES)
    if is_only_date(bare):
        if trait & CELL or lies_ahead(bare, zone.today):
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
    elif lies_ahead(bare, zone.today):
        plain = max(plain, 0.5)
    if zone.text and not trait & LINK and is_dated(bare):
        plain = max(plain, FIGURE)
    return _placed(plain, words, trait, position, zone)


def _placed(plain: float, words: int, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    """Return a weight with what place and links take from it on a text page."""
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
    """Return whether a label stands where its figure is a fact: in a text, no link, no date of an edit."""
    if not zone.text or not zone.holds(position) or trait & LINK:
        return False
    if zone.ends(position) and not _SECTION.match(text):
        return False
    bare = _MASK.sub("", canonical)
    return LETTERS.search(bare) is not None and not is_only_date(bare) and not speaks_of_edits(bare)


def entries_of(texts: Sequence[str], traits: Sequence[int]) -> frozenset[int]:
    """Return the positions of entries: items of lists, and short blocks of one kind in rows, linked or not."""
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
    """Return whether a label may be what a reader looks for: no stamp and no date that is past; in a text no link, and
    in its zone."""
    bare = _MASK.sub("", canonical).strip()
    if bare != canonical or not (LETTERS.search(bare) or NUMBER.search(bare) or len(bare) > 1):
        return False
    if speaks_of_edits(bare) or (is_only_date(bare) and not lies_ahead(bare, zone.today)) or position >= zone.foot:
        return False
    if VERSION.search(bare) is not None and zone.ends(position):
        return False
    return not zone.text or (zone.holds(position) and not zone.ends(position) and not trait & LINK)


def may_count(before: tuple[str, str], after: tuple[str, str]) -> bool:
    """Return whether the figures in which two texts differ may be a counter's: none of a price, version, file or date.

    Each is a text and its canonical form. What both have alike does not differ, and a line of many shares is a ticker.
    """
    if _amounts(before[0]) != _amounts(after[0]):
        return not names_currency(after[0]) and len(NUMBER.findall(after[1])) >= _TICKER_NUMBERS
    if VERSION.findall(before[1]) != VERSION.findall(after[1]) or _FILE.search(after[0]):
        return False
    return not dates_in(after[1]) and not dates_in(before[1])


def _amounts(text: str) -> list[str]:
    """Return the prices and shares in a text, each with all of its figures."""
    return [*(found[0] for found in _AMOUNT.finditer(text)), *_of_table(text)]


def _of_table(text: str) -> Iterator[str]:
    """Yield the figures of a text beside which the table of currencies knows one: "95 ريال", "Rs. 500", "12 RM"."""
    for found in NUMBER.finditer(text):
        start, end = found.span()
        before = text[max(0, start - _LONGEST_CURRENCY) : start]
        if _BEHIND_FIGURE.match(text, end) or (before and _BEFORE_FIGURE.search(before)):
            yield found[0]


def names_currency(text: str) -> bool:
    """Return whether a text has a price, or names what prices are in."""
    return _CURRENCY.search(text) is not None or any(_of_table(text))


def lies_ahead(canonical: str, today: int) -> bool:
    """Return whether a text says a day after `today` (an ordinal, 0 if unknown): what is to come is no stamp."""
    if not today:
        return False
    days = (reading for at in dates_in(canonical) if at.has_year for reading in at.readings)
    return any(date(year, month or 1, day or 1).toordinal() > today for year, month, day in days)


def ticker_shape(text: str, canonical: str, trait: int) -> str:
    """Return what a line of figures (quotes, weather, counters) looks like whatever they are, "" for another block.

    A line of which only the figures change, and have changed before, changes by itself. Prices, versions and table
    cells are never taken for one.
    """
    if trait & CELL or words_in(canonical) > LONG or names_currency(text) or VERSION.search(canonical):
        return ""
    shape, numbers = SIGNED.subn("0", canonical)
    return f"figures {shape}" if numbers >= _TICKER_NUMBERS and not dates_in(canonical) else ""
