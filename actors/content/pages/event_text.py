"""The text of a page in an event, with jusText's main text; the probable language of a text, by its stop words.

jusText (Pomikálek 2011, chapter 3.3) separates running text from boilerplate by length, link density and stop words;
then neighbours decide about uncertain blocks. That second pass is quadratic, so this module does the same in linear
time, and a test compares both. It never decides whether a page changed: on list pages it finds nothing,
and the blocks outside furniture are the content.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice
from typing import Literal, NamedTuple, TypeAlias

import justext
from justext.core import LENGTH_LOW_DEFAULT, MAX_HEADING_DISTANCE_DEFAULT, classify_paragraphs

from actors.content.bodies.text import cap, normalise
from actors.content.pages.blocks import Blocks
from actors.content.pages.traits import ASIDE, HEADING
from storage.records.event import CONTENT_CAP, Diff

Class: TypeAlias = Literal["bad", "short", "neargood", "good"]

_MOST_PARAGRAPHS = 3_000
_SHARE = 0.3


class Paragraph:
    """A block with jusText's interface; chars_count_in_links: its characters inside links."""

    __slots__ = ("cf_class", "chars_count_in_links", "class_type", "heading", "is_heading", "text")
    dom_path = ""

    def __init__(self, text: str, linked: int, is_heading: bool = False) -> None:
        self.text, self.chars_count_in_links, self.is_heading = text, linked, is_heading
        self.heading = is_heading
        # The class of a short block: jusText ignores its stop words.
        self.cf_class: Class = "bad" if linked or "©" in text or "&copy" in text else "short"
        self.class_type: Class = "bad"

    def __len__(self) -> int:
        return len(self.text)

    def stopwords_density(self, stoplist: frozenset[str]) -> float:
        words = self.text.lower().split()
        return sum(map(stoplist.__contains__, words)) / max(1, len(words))

    def links_density(self) -> float:
        return self.chars_count_in_links / len(self.text)


def main_blocks(blocks: Blocks) -> list[int]:
    kept = [i for i, trait in enumerate(blocks.traits) if not trait & ASIDE]
    plain = [blocks.texts[i] for i in kept]
    headings = [bool(blocks.traits[i] & HEADING) for i in kept]
    good = [kept[n] for n in _running_text(plain, headings, [blocks.linked[i] for i in kept])]
    if sum(len(blocks.texts[i]) for i in good) >= _SHARE * sum(map(len, plain)):
        return good
    return kept or list(range(len(blocks.texts)))


def _running_text(texts: Sequence[str], headings: Sequence[bool], linked: Sequence[int]) -> list[int]:
    if not texts or len(texts) > _MOST_PARAGRAPHS:
        return []
    paragraphs = [Paragraph(*of) for of in zip(texts, linked, headings, strict=True)]
    if long := [paragraph for paragraph in paragraphs if len(paragraph.text) >= LENGTH_LOW_DEFAULT]:
        classify_paragraphs(long, stop_words(language_of(texts)))
    in_context(paragraphs)
    return [i for i, paragraph in enumerate(paragraphs) if paragraph.class_type == "good"]


def in_context(paragraphs: Sequence[Paragraph]) -> None:
    """Classify short and near-good blocks by their neighbours, as `revise_paragraph_classification` does."""
    classes = [paragraph.cf_class for paragraph in paragraphs]
    near = zip(classes, _previous(classes), _previous(classes[::-1])[::-1], strict=True)
    classes = [_of_short(before, after) if one == "short" else one for one, before, after in near]
    last: Class = "bad"
    for paragraph, one, (after, _) in zip(paragraphs, classes, _previous(classes[::-1])[::-1], strict=True):
        last = one if one != "neargood" else "bad" if last == after == "bad" else "good"
        paragraph.class_type = last
    _heads_of_good(paragraphs)


def _previous(classes: Sequence[Class]) -> list[tuple[Class, Class]]:
    """Return for each place the last class before it that is bad or good, and the last that is not short."""
    sure: Class = "bad"
    unsure: Class = "bad"
    found = []
    for one in classes:
        found.append((sure, unsure))
        if one != "short":
            sure, unsure = (sure if one == "neargood" else one), one
    return found


def _of_short(before: tuple[Class, Class], after: tuple[Class, Class]) -> Class:
    near = ("bad", "neargood") in (before, after)
    return "good" if before[0] == after[0] == "good" or (near and not before[0] == after[0] == "bad") else "bad"


def _heads_of_good(paragraphs: Sequence[Paragraph]) -> None:
    """Mark a heading shortly before a good paragraph as good."""
    for i, paragraph in enumerate(paragraphs):
        if not paragraph.heading or paragraph.class_type != "bad" or paragraph.cf_class == "bad":
            continue
        distance = 0
        for j in range(i + 1, len(paragraphs)):
            if distance > MAX_HEADING_DISTANCE_DEFAULT:
                break
            if paragraphs[j].class_type == "good":
                paragraph.class_type = "good"
                break
            distance += len(paragraphs[j])


class EventText(NamedTuple):
    """whole: the full text, which is hashed. content: the part in the event. truncated: whether they differ."""

    whole: str
    content: str
    truncated: bool


def event_text(blocks: Blocks, texts: Sequence[str], diff: Diff | None, *, whole: bool = False) -> EventText:
    """Return the text of a page with this difference. texts: the blocks', normalised. whole: all is text.

    If it exceeds the size of an event, the texts of the difference take precedence.
    """
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
    wanted = dict.fromkeys((*diff.added, *(change.after for change in diff.changed)))
    found: dict[str, list[int]] = {text: [] for text in wanted}
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
    """Fill an event with texts in page order; those named in the difference take precedence."""
    room = CONTENT_CAP
    kept: dict[int, str] = {}
    for wish in (True, False):
        for i, text in enumerate(texts):
            if named[i] is not wish:
                continue
            raw = f"{text}\n".encode()
            kept[i] = raw[:room].decode("utf-8", "ignore").rstrip("\n")
            room -= len(raw)
            if room <= 0:
                return "\n".join(kept[place] for place in sorted(kept)).strip("\n")
    return "\n".join(kept[place] for place in sorted(kept))


_LANGUAGES = (
    "English", "German", "French", "Swedish", "Spanish", "Italian", "Portuguese", "Dutch", "Danish", "Norwegian_Bokmal",
    "Finnish", "Polish", "Czech", "Hungarian", "Romanian", "Russian", "Ukrainian", "Greek", "Turkish", "Indonesian",
)  # fmt: skip
# Read once when the worker starts, before any hostile byte.
_STOPLISTS = {name: frozenset(map(str.lower, justext.get_stoplist(name))) for name in _LANGUAGES}
_CODES = dict(zip(_LANGUAGES, "en de fr sv es it pt nl da nb fi pl cs hu ro ru uk el tr id".split(), strict=True))  # noqa: SIM905
_SAMPLE, _SAMPLE_WORDS, _SAMPLE_LETTERS = 10, 100, 1_000
_FEWEST_WORDS = 30
_SPOKEN: dict[str, list[str]] = {}
"""The languages that have a stop word."""
for _name, _words in _STOPLISTS.items():
    for _word in _words:
        _SPOKEN.setdefault(_word, []).append(_name)


def language_of(texts: Sequence[str]) -> str:
    sample: set[str] = set()
    for text in sorted(texts, key=len, reverse=True)[:_SAMPLE]:
        sample.update(text.lower().split()[:_SAMPLE_WORDS])
    found = Counter(chain.from_iterable(_SPOKEN[word] for word in sample if word in _SPOKEN))
    return max(_LANGUAGES, key=found.__getitem__)


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
