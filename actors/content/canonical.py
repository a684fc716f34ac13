"""The canonical form of a block of text, in which two looks at a page are compared.

Canonical text has one spelling of quotes, dashes, case and white space, and no edge punctuation. What changes by itself
is masked: clocks, relative times, "generated at" stamps, counters beside their noun, copyright years, machine-made ids,
degrees. The mask is in the key only; an event shows the text as it was.

A number beside a currency sign, a percent sign or a unit is never masked, and in a table cell or a sentence only what
cannot be news is (ids, stamps, copyright years): there the figure is the content.
"""

from __future__ import annotations

import re
import unicodedata

from actors.content.fingerprint import digest16

_SPELLING = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("’‘‚‛′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
        # Soft hyphen, zero-width characters, direction marks, variation selectors.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f"),
    }
)

_MONTH = (
    r"(?:jan|feb|mar|mär|apr|may|mai|maj|jun|jul|aug|sep|oct|okt|nov|dec|dez"
    r"|fév|janv|mars|avr|juin|juil|août|déc)[a-zéûä]*\.?"
)
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\.?\s{_MONTH}\s\d{{4}}|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})"
)
_ZONE = r"(?:z|uhr|utc|gmt|a\.?m\.?|p\.?m\.?|c?est|cet|[ecmp][sd]t)"
_CLOCK = rf"\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d+)?)?\s?{_ZONE}?(?![\w%])"
_UNIT = (
    r"(?:s|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?|weeks?|months?|years?"
    r"|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|std\.?|min\."
    r"|secondes?|heures?|jours?|semaines?|mois|ans?"
    r"|sekunder|minuter|timm(?:e|ar)|dag(?:ar)?|veck(?:a|or)|månad(?:er)?|år|[mhd])"
)
_COUNTED = (
    r"(?:views?|comments?|replies|reactions?|likes?|shares?|votes?|points?|upvotes?|stars?|forks?|watchers|followers?"
    r"|subscribers?|readers?|visitors?|online|people (?:are )?(?:reading|watching|viewing)"
    r"|kommentare?|aufrufe|besucher|leser|empfehlung(?:en)?|mal geteilt|antworten|abonnenten"
    r"|commentaires?|vues?|partages?|abonnés|kommentarer?|visningar|läsare|gilla(?:r|-markeringar)|delningar)"
)
_NUMBER = r"\d[\d.,\u00a0]*\d?\s?[km]?"
_STAMPED = (
    r"(?:updated|generated|rendered|retrieved|refreshed|scraped|cached|fetched|as of|aktualisiert|generiert|erstellt"
    r"|abgerufen|stand|uppdaterad|skapad|généré\w*|actualisé\w*|mis à jour)"
)
_SOME = r"(?:\d+|eine[rmn]?|une?|en|ett)"


def _masks(*rules: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), f" ⟨{mask}⟩ ") for pattern, mask in rules)


# Masks that hold anywhere: no edit of content is only this.
_ANYWHERE = _masks(
    (rf"\b{_STAMPED}\b[^.\d]{{0,24}}{_DATE}[ ,t-]*(?:at |um |kl\.? |à )?{_CLOCK}", "stamp"),
    (r"(?:©|\(c\)|\bcopyright\b)[^.\d]{0,40}(?:19|20)\d\d(?:\s?-\s?(?:19|20)?\d\d\b)?", "copyright"),
    (r"\b(?:19|20)\d\d(?:\s?-\s?(?:19|20)\d\d)?\s?(?:©|\(c\))", "copyright"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "id"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{10,}\b", "id"),
    (r"(?<![\d.,$€£])\b\d{10,}\b(?!\s?[%€$£])", "id"),
    (rf"\b(?:vor|il y a|för|hace)\s(?:weniger als |ca\. |etwa |environ )?{_SOME}\s?{_UNIT}\b(?:\ssedan)?", "ago"),
    (rf"\b(?:about |almost |over )?(?:\d+|an?|one)\s?{_UNIT}(?:,? (?:and )?\d+\s?{_UNIT})?\s(?:ago|sedan)\b", "ago"),
    (r"\b(?:took|in)\s\d+(?:[.,]\d+)?\s?(?:s|sec|seconds|ms|milliseconds)\b", "took"),
)

# Masks for short blocks outside of table cells: labels, bylines, teasers. In a sentence these figures can be the news.
_LABELS = _masks(
    (rf"{_DATE}[ ,t•·|-]*(?:at |um |kl\.? |à )?{_CLOCK}", "when"),
    (rf"(?<![\d.,:$€£]){_CLOCK}", "clock"),
    (r"\b\d{1,2}\.\d\d\suhr\b", "clock"),
    (rf"\(?(?<![\d.,$€£])\b{_NUMBER}\s{_COUNTED}\b\)?", "count"),
    (rf"\b{_COUNTED}\s?[:(]?\s?{_NUMBER}(?![\d%€$£])\)?", "count"),
    (rf"\b\d+\s?{_UNIT}\s(?:read|lesezeit|de lecture|läsning)\b", "ago"),
    (r"[-+]?\d+(?:[.,]\d+)?\s?°\s?[cf]?\b", "degrees"),
)
_NOW = re.compile(
    r"\b(?:just now|gerade eben|à l'instant|just nu|heute|gestern|today|yesterday|idag|igår|aujourd'hui|hier)\b,?"
)
_DIGIT = re.compile(r"\d")
_GLUED = re.compile(r"(?<=[a-zäöüß])(?=\d)|(?<=\d{4})(?=\d{1,2}:\d\d)")
_EDGES = re.compile(r"(?<!\d)[.,;:!?\"'()\[\]|•·*›»-]+|[.,;:!?\"'()\[\]|•·*›»-]+(?!\d)")

LABEL_WORDS = 10
"""A block of at most so many words is a label or a teaser, not a sentence."""


def canonical(text: str, *, cell: bool = False) -> str:
    """Return the masked canonical form; `cell` for the text of td, th, dd.

    >>> canonical("Updated 3 minutes ago")  == canonical("Updated 12 minutes ago")
    True
    >>> canonical("From $9 a month") == canonical("From $8 a month")
    False
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_SPELLING)
    text = text.casefold()
    short = not cell and text.count(" ") < LABEL_WORDS
    if _DIGIT.search(text):
        text = _masked(_GLUED.sub(" ", text) if short else text, short)
    if short:
        text = _NOW.sub(" ⟨now⟩ ", text)
    return " ".join(_EDGES.sub(" ", text).split())


def _masked(text: str, short: bool) -> str:
    for pattern, mask in _ANYWHERE:
        text = pattern.sub(mask, text)
    if short:
        for pattern, mask in _LABELS:
            text = pattern.sub(mask, text)
    return text


def key(text: str, *, cell: bool = False) -> str:
    """Return the 16 hex digits by which a block is known."""
    return digest16(canonical(text, cell=cell))
