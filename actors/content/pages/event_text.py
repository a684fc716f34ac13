"""The text of a page in an event, with jusText's main text; the probable language of a text, by its stop words.

jusText (Pomikálek 2011, chapter 3.3) separates running text from boilerplate by length, link density and stop words;
then neighbours decide about uncertain blocks. That second pass is quadratic, so this module does the same in linear
time, and a test compares both. It never decides whether a page changed: on list pages it finds nothing,
and the blocks outside furniture are the content.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import justext
from justext.core import (
    LENGTH_HIGH_DEFAULT,
    LENGTH_LOW_DEFAULT,
    MAX_HEADING_DISTANCE_DEFAULT,
    MAX_LINK_DENSITY_DEFAULT,
    STOPWORDS_HIGH_DEFAULT,
    STOPWORDS_LOW_DEFAULT,
)

from actors.content.bodies.text import cap, normalise
from actors.content.pages.blocks import Blocks
from actors.content.pages.traits import ASIDE, HEADING
from storage.records.event import CONTENT_CAP, Diff

_MOST_PARAGRAPHS = 3_000
_SHARE = 0.3


def main_blocks(blocks: Blocks) -> list[int]:
    kept = [i for i, trait in enumerate(blocks.traits) if not trait & ASIDE]
    plain = [blocks.texts[i] for i in kept]
    sizes, headings = list(map(len, plain)), [n for n, i in enumerate(kept) if blocks.traits[i] & HEADING]
    classes = classes_of(plain, [blocks.linked[i] for i in kept]) if len(plain) <= _MOST_PARAGRAPHS else ""
    found = in_context(classes, headings, sizes)
    good = [i for i, one in zip(kept, found, strict=False) if one == GOOD]
    if sum(len(blocks.texts[i]) for i in good) >= _SHARE * sum(sizes):
        return good
    return kept or list(range(len(blocks.texts)))


BAD, SHORT, NEAR_GOOD, GOOD = "bsng"
"""jusText's classes; those of a page are a string, one letter a block."""
_NEAR_RUN = re.compile(f"{NEAR_GOOD}+")
_SHORT_RUN = re.compile(f"(?<={GOOD}){SHORT}+(?={GOOD})|(?<={NEAR_GOOD}){SHORT}+|(?<!{SHORT}){SHORT}+(?={NEAR_GOOD})")
"""Runs that may be good; other short ones are bad."""


def classes_of(texts: Sequence[str], linked: Sequence[int]) -> str:
    """Classify blocks without their neighbours, as `classify_paragraphs` does. linked: their characters in links."""
    found = [BAD if link or "©" in text or "&copy" in text else SHORT for text, link in zip(texts, linked, strict=True)]
    if long := [i for i, text in enumerate(texts) if len(text) >= LENGTH_LOW_DEFAULT]:
        is_stop = stop_words(language_of(texts)).__contains__
        for i in long:
            found[i] = _class_of_long(texts[i], linked[i], is_stop)
    return "".join(found)


def _class_of_long(text: str, linked: int, is_stop: Callable[[str], bool]) -> str:
    if linked / len(text) > MAX_LINK_DENSITY_DEFAULT or "©" in text or "&copy" in text:
        return BAD
    words = text.lower().split()
    density = sum(map(is_stop, words)) / max(1, len(words))
    if density >= STOPWORDS_HIGH_DEFAULT:
        return GOOD if len(text) > LENGTH_HIGH_DEFAULT else NEAR_GOOD
    return NEAR_GOOD if density >= STOPWORDS_LOW_DEFAULT else BAD


def in_context(classes: str, headings: Iterable[int], sizes: Sequence[int]) -> str:
    """Classify short and near-good blocks by their neighbours, as `revise_paragraph_classification` does."""
    if GOOD not in classes and NEAR_GOOD not in classes:
        return BAD * len(classes)
    # A page begins and ends as if next to a bad block.
    found = _SHORT_RUN.sub(_of_short, f"{BAD}{classes}{BAD}").replace(SHORT, BAD)
    found = _NEAR_RUN.sub(_of_near_good, found)[1:-1]
    leads = [i for i in headings if classes[i] != BAD and found[i] == BAD and _leads_to_good(i + 1, found, sizes)]
    revised = list(found)
    for i in leads:
        revised[i] = GOOD
    return "".join(revised)


def _of_short(run: re.Match[str]) -> str:
    before, after = run.string[: run.start()], run.string[run.end() :]
    near = before[-1], after[0]
    if near == (GOOD, GOOD):
        return GOOD * len(run[0])
    sure = before.rstrip(SHORT + NEAR_GOOD)[-1], after.lstrip(SHORT + NEAR_GOOD)[0]
    is_beside = (BAD, NEAR_GOOD) in zip(sure, near, strict=True)
    is_good = sure == (GOOD, GOOD) or (is_beside and sure != (BAD, BAD))
    return (GOOD if is_good else BAD) * len(run[0])


def _of_near_good(run: re.Match[str]) -> str:
    is_bad = run.string[run.start() - 1] == run.string[run.end()] == BAD
    return (BAD if is_bad else GOOD) * len(run[0])


def _leads_to_good(start: int, classes: str, sizes: Sequence[int]) -> bool:
    end = classes.find(GOOD, start)
    return end >= 0 and sum(sizes[start:end]) <= MAX_HEADING_DISTANCE_DEFAULT


class EventText(NamedTuple):
    """whole: the full text, which is hashed. content: the part in the event. truncated: whether they differ."""

    whole: str
    content: str
    truncated: bool


def event_text(blocks: Blocks, texts: Sequence[str], diff: Diff | None, *, whole: bool = False) -> EventText:
    """Return the text of a page. whole: all is text. The texts of `diff` take precedence if not all of it fits."""
    chosen = set(range(len(blocks.texts))) if whole else set(main_blocks(blocks))
    named = _named(blocks, texts, diff, chosen) if diff is not None else set[int]()
    order = sorted(chosen | named)
    lines = [texts[i] for i in order]
    # A page's blocks are lines; a document's may have several lines, and keep them.
    text = normalise("\n".join(blocks.texts[i] for i in order)) if whole or not all(lines) else "\n".join(lines)
    content, truncated = cap(text)
    if truncated and named:
        content = _cut(lines, [i in named for i in order])
    return EventText(text, content, truncated)


def _named(blocks: Blocks, texts: Sequence[str], diff: Diff, chosen: set[int]) -> set[int]:
    found: dict[str, list[int]] = {text: [] for text in (*diff.added, *(change.after for change in diff.changed))}
    for i, text in enumerate(texts):
        if text in found:
            found[text].append(i)
    named: set[int] = set()
    for text, places in found.items():
        if not places:
            # The difference shows the beginning of a long text.
            places = [i for i, whole in enumerate(texts) if whole.startswith(text)][:1]  # noqa: PLW2901
        named.update([i for i in places if i in chosen or not blocks.traits[i] & ASIDE] or places[:1])
    return named


def _cut(texts: Sequence[str], named: Sequence[bool]) -> str:
    room = CONTENT_CAP
    kept: dict[int, str] = {}
    for i in sorted(range(len(texts)), key=lambda i: not named[i]):
        raw = f"{texts[i]}\n".encode()
        kept[i] = raw[:room].decode("utf-8", "ignore").rstrip("\n")
        room -= len(raw)
        if room <= 0:
            break
    text = "\n".join(kept[place] for place in sorted(kept))
    return text.strip("\n") if room <= 0 else text


_LANGUAGES = (
    "English", "German", "French", "Swedish", "Spanish", "Italian", "Portuguese", "Dutch", "Danish", "Norwegian_Bokmal",
    "Finnish", "Polish", "Czech", "Hungarian", "Romanian", "Russian", "Ukrainian", "Greek", "Turkish", "Indonesian",
)  # fmt: skip
# Read once when the worker starts, before any hostile byte.
_STOPLISTS = {name: frozenset(map(str.lower, justext.get_stoplist(name))) for name in _LANGUAGES}
_CODES = dict(zip(_LANGUAGES, "en de fr sv es it pt nl da nb fi pl cs hu ro ru uk el tr id".split(), strict=True))  # noqa: SIM905
_SAMPLE, _SAMPLE_WORDS, _SAMPLE_LETTERS = 10, 100, 1_000
_FEWEST_WORDS = 30
_LANE = 16
_SPOKEN: dict[str, int] = {}
"""For each stop word, a number with a bit in the lane of each of its languages: sums of them count languages."""
for _at, _words in enumerate(_STOPLISTS.values()):
    for _word in _words:
        _SPOKEN[_word] = _SPOKEN.get(_word, 0) | 1 << _LANE * _at


def language_of(texts: Sequence[str]) -> str:
    return _language_of(tuple(sorted(texts, key=len, reverse=True)[:_SAMPLE]))


@lru_cache(maxsize=4)
def _language_of(texts: tuple[str, ...]) -> str:
    """Cached, because one check asks several times, with the same longest texts."""
    sample: set[str] = set()
    for text in texts:
        sample.update(text.lower().split()[:_SAMPLE_WORDS])
    found = sum(filter(None, map(_SPOKEN.get, sample)))
    counts = [found >> _LANE * at & (1 << _LANE) - 1 for at in range(len(_LANGUAGES))]
    return _LANGUAGES[counts.index(max(counts))]


def tongue_of(texts: Sequence[str]) -> str:
    """Return the language, or the script of most letters if no word is from a known language."""
    sample = " ".join(sorted(texts, key=len, reverse=True)[:_SAMPLE])[:_SAMPLE_LETTERS]
    if sample.isascii() or any(word in _SPOKEN for word in sample.lower().split()):
        return language_of(texts)
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in sample if letter.isalpha())
    return max(scripts, key=scripts.__getitem__, default="")


def code_of(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of a text's language; "" if it has too few words."""
    if len(list(islice((word for text in texts for word in text.split()), _FEWEST_WORDS))) < _FEWEST_WORDS:
        return ""
    return _CODES[language_of(texts)]


def stop_words(language: str) -> frozenset[str]:
    return _STOPLISTS[language]
