"""The text that an event carries as `content`: jusText's main text, judged on our own blocks.

jusText (Pomikálek 2011) tells running text from boilerplate by length, link density and stop words, then lets
neighbours decide about what is in between. Its own HTML walk costs most of its time and is not used. It never decides
whether a page changed: on list pages it finds nothing, and there the blocks outside of furniture are the content.
"""

from __future__ import annotations

from collections.abc import Sequence

import justext
from justext.core import classify_paragraphs, revise_paragraph_classification

from actors.content.blocks import Blocks
from actors.content.traits import ASIDE, HEADING

_LANGUAGES = (
    "English", "German", "French", "Swedish", "Spanish", "Italian", "Portuguese", "Dutch", "Danish", "Norwegian_Bokmal",
    "Finnish", "Polish", "Czech", "Hungarian", "Romanian", "Russian", "Ukrainian", "Greek", "Turkish", "Indonesian",
)  # fmt: skip
# Read once when the worker starts, before any hostile byte.
_STOPLISTS = tuple(justext.get_stoplist(language) for language in _LANGUAGES)
_SAMPLE, _SAMPLE_WORDS = 10, 100
_MOST_PARAGRAPHS = 3_000
_SHARE = 0.3


class _Paragraph:
    """What jusText's two passes ask of a paragraph."""

    __slots__ = ("cf_class", "chars_count_in_links", "class_type", "dom_path", "heading", "is_heading", "text", "words")

    def __init__(self, text: str, linked: int, is_heading: bool) -> None:
        self.text = text
        self.words = text.lower().split()
        self.chars_count_in_links = linked
        self.is_heading = is_heading
        self.heading = False
        self.dom_path = ""
        self.cf_class = self.class_type = ""

    def __len__(self) -> int:
        return len(self.text)

    def stopwords_density(self, stoplist: frozenset[str]) -> float:
        return sum(word in stoplist for word in self.words) / max(1, len(self.words))

    def links_density(self) -> float:
        return self.chars_count_in_links / max(1, len(self.text))


def main_text(blocks: Blocks) -> str:
    """Return the main text, one block a line; where there is little of it, all blocks outside of furniture."""
    plain = [text for text, trait in zip(blocks.texts, blocks.traits, strict=True) if not trait & ASIDE]
    good = _running_text(blocks)
    if sum(map(len, good)) >= _SHARE * sum(map(len, plain)):
        return "\n".join(good)
    return "\n".join(plain or blocks.texts)


def _running_text(blocks: Blocks) -> list[str]:
    rows = zip(blocks.texts, blocks.traits, blocks.linked, strict=True)
    paragraphs = [_Paragraph(text, linked, bool(trait & HEADING)) for text, trait, linked in rows if not trait & ASIDE]
    if not paragraphs or len(paragraphs) > _MOST_PARAGRAPHS:
        return []
    classify_paragraphs(paragraphs, _stoplist(paragraphs))
    revise_paragraph_classification(paragraphs)
    return [paragraph.text for paragraph in paragraphs if paragraph.class_type == "good"]


def _stoplist(paragraphs: Sequence[_Paragraph]) -> frozenset[str]:
    """Return the stop words of the language that the page seems to be in; what it declares is too often wrong."""
    sample: set[str] = set()
    for paragraph in sorted(paragraphs, key=len, reverse=True)[:_SAMPLE]:
        sample.update(paragraph.words[:_SAMPLE_WORDS])
    return max(_STOPLISTS, key=lambda stoplist: len(sample & stoplist))
