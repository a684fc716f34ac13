"""How much a block that came or went weighs: 1 is a paragraph of content, 0 something that no reader would call news.

The kind of page comes first. On a *text page* most words stand in paragraphs of a dozen words and more, and content
lies between the page's heading and its last paragraph; short linked blocks around it are navigation. On a *list page*
(news fronts, release lists, tables) the short linked blocks are the content.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from actors.content.traits import CELL, HEADING, ITEM, LINK, TOP
from actors.content.wording import words_in

LONG, MIDDLE = 12, 5
"""Words from which a block counts as a paragraph, and as more than a label."""
FIGURE = 0.35
"""What a figure in a table or a label weighs: the new one and the old one together make a change."""

LABEL = "a label of a few words"

_TEXT_PAGE_WORDS = 60
_TEXT_PAGE_PARAGRAPHS = 4
_AFTER_LAST = 4
_HEAD_BEFORE = 6
"""Blocks between a text's heading and its first paragraph: date, author, lead, the caption of a picture."""
_OUTSIDE = 0.05
_TAIL = 0.95
"""From where the blocks of a text page are its foot, though a paragraph in small print may follow."""
_CODES = r"(?:kr|usd|eur|euros?|chf|sek|nok|dkk|gbp|pln|czk|cad|aud|inr|jpy|zł|kč)"
_SYMBOLS = "[$€£¥₹₽₺₩₪฿]"
_AFTER = "[円元원]"
"""What only follows an amount: before a figure these characters mean something else."""
_MONEY = re.compile(
    rf"{_SYMBOLS}\s?\d|\d(?:[.,:][-–—]{{1,2}})?\s?(?:{_SYMBOLS}|%|{_AFTER}|{_CODES}\b)|\b{_CODES}\.?\s?\d|\d[.,:][-–—](?!\w)",
    re.I,
)
"""A price or a share; "49,-€", "CHF 20" and "99:-" are prices, too."""
CURRENCY = re.compile(rf"{_SYMBOLS}|\d\s?{_AFTER}|\b{_CODES}\b", re.I)
VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)+")
LETTERS = re.compile(r"[^\W\d_]{2}")
_MASK = re.compile(r"⟨\w+⟩")
_DATE_ONLY = re.compile(
    r"[\W\d]*(?:(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-zà-ž]*\W+)?[\W\d]*"
    r"(?:jan|feb|fév|mar|mär|apr|avr|ma[iyj]|ju[nli]|aug|aoû|sep|o[ck]t|nov|de[czs]|déc)[a-zà-ž]*[\W\d]*(?:at|um|kl|à)?[\W\d]*"
)
_DATE = (
    r"(?:\d{1,2} )?(?:jan|feb|fév|mar|mär|apr|avr|ma[iyj]|ju[nli]|aug|aoû|sep|o[ck]t|nov|de[czs]|déc)[a-zà-ž]*"
    r"(?: \d{1,2})? (?:19|20)\d\d"
)
_EDITED = (
    r"(?:updated?|modified|reviewed|checked|generated|accessed|today|stand|aktualisiert|geändert|jour|modifiée?"
    r"|uppdaterad|ändrad)"
)
_EDIT = re.compile(rf"\b{_EDITED}")
_DATED = re.compile(rf"(?!.*\b(?:{_EDITED}|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b)(?:[^\W\d_]{{2,}} ){{1,3}}{_DATE}")
"""A label with the date it is about, not the date of the page's last edit."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TICKER_NUMBERS = 3


class Zone(Struct, frozen=True):
    """Where on a page the content lies: block positions from `first` to `last`; `text` says that it is a text page."""

    text: bool
    first: int
    last: int
    blocks: int

    def holds(self, position: int) -> bool:
        """Return whether a block position lies in the content."""
        return self.first <= position <= self.last

    def ends(self, position: int) -> bool:
        """Return whether a block of a text page stands where the version is that of the site's own software."""
        return self.text and (position > self.last - _AFTER_LAST or position >= _TAIL * self.blocks)


def zone_of(texts: Sequence[str], traits: Sequence[int]) -> Zone:
    """Return the content's zone among the blocks outside of furniture."""
    words = [words_in(text) for text in texts]
    long = [i for i, count in enumerate(words) if count >= LONG and not traits[i] & LINK]
    total = sum(words)
    if total < _TEXT_PAGE_WORDS or len(long) < _TEXT_PAGE_PARAGRAPHS or 2 * sum(words[i] for i in long) < total:
        return Zone(False, 0, len(texts), len(texts))
    above = range(long[0] - 1, max(-1, long[0] - _HEAD_BEFORE - 1), -1)
    first = next((i for i in above if traits[i] & HEADING), long[0])
    top = next((i for i, trait in enumerate(traits) if trait & TOP), None)
    if top is not None and top < long[len(long) // 3]:
        first = min(top, first)
    first = first if top is not None else max(0, min(first, long[0] - 2))
    return Zone(True, first, long[-1] + _AFTER_LAST, len(texts))


def weigh(text: str, canonical: str, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    """Return what a block outside of furniture weighs when it comes or goes, and why it weighs little ("" if not)."""
    if not canonical:
        return 0.0, "no words"
    money = _MONEY.search(text) is not None
    figure = money or (VERSION.search(canonical) is not None and not zone.ends(position))
    bare = _MASK.sub("", canonical)
    if not LETTERS.search(bare):
        datum = figure or trait & CELL
        return (FIGURE, "a figure by itself") if datum else (0.0, "only figures or what changes by itself")
    if _DATE_ONLY.fullmatch(bare):
        if trait & CELL:
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
    if zone.text and not trait & LINK and _DATED.fullmatch(bare):
        plain = max(plain, FIGURE)
    return _placed(plain, words, trait, position, zone)


def _placed(plain: float, words: int, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    """Return a weight with what place and links take from it on a text page."""
    if not zone.text:
        return plain, "" if plain > 0.2 else LABEL
    if not zone.holds(position):
        side = "above the text" if position < zone.first else "below the last paragraph"
        return _OUTSIDE * plain, side
    if trait & LINK:
        share = 0.9 if trait & ITEM and words >= MIDDLE else 0.3 if words < LONG else 0.6
        return plain * share, "" if share > 0.3 else "a short link in a text"
    return plain, "" if plain > 0.2 else LABEL


def is_fact(canonical: str, trait: int, position: int, zone: Zone) -> bool:
    """Return whether a label stands where its figure is a fact: in a text, no link, no date of an edit."""
    if not zone.text or not zone.holds(position) or zone.ends(position) or trait & LINK:
        return False
    bare = _MASK.sub("", canonical)
    return LETTERS.search(bare) is not None and not _DATE_ONLY.fullmatch(bare) and not _EDIT.search(bare)


def is_value(canonical: str, trait: int, position: int, zone: Zone) -> bool:
    """Return whether a label may be what a reader looks for: no date, no stamp; in a text no link, and in its zone."""
    bare = _MASK.sub("", canonical).strip()
    if bare != canonical or not (LETTERS.search(bare) or NUMBER.search(bare) or len(bare) > 1):
        return False
    if _DATE_ONLY.fullmatch(bare) is not None or _EDIT.search(bare) is not None:
        return False
    return not zone.text or (zone.holds(position) and not zone.ends(position) and not trait & LINK)


def ticker_shape(text: str, canonical: str, trait: int) -> str:
    """Return what a line of figures (quotes, weather, counters) looks like whatever they are, "" for another block.

    A line of which only the figures change, and have changed before, changes by itself. Prices, versions and table
    cells are never taken for one.
    """
    if trait & CELL or words_in(canonical) > LONG or CURRENCY.search(text) or VERSION.search(canonical):
        return ""
    shape, numbers = NUMBER.subn("0", canonical)
    return f"figures {shape}" if numbers >= _TICKER_NUMBERS else ""
