"""The text that an event carries as `content`: jusText's main text, judged on our own blocks.

jusText (Pomikálek 2011, chapter 3.3) tells running text from boilerplate by length, link density and stop words, then
lets neighbours decide about what is in between. Its stop words are used; its passes over the paragraphs are done here
in linear time, and a test compares them. It never decides whether a page changed: on list pages it finds nothing, and
there the blocks outside of furniture are the content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from actors.content.blocks import Blocks
from actors.content.language import language_of, stop_words
from actors.content.traits import ASIDE, HEADING

Class: TypeAlias = Literal["bad", "short", "neargood", "good"]

_MOST_PARAGRAPHS = 3_000
_SHARE = 0.3

# jusText's own thresholds.
_SHORTEST, _LONG = 70, 200
_FEW_STOPWORDS, _MANY_STOPWORDS = 0.30, 0.32
_MOST_LINKED = 0.2
_FARTHEST = 200


def main_text(blocks: Blocks) -> str:
    """Return the main text, one block a line; where there is little of it, all blocks outside of furniture."""
    return "\n".join(blocks.texts[i] for i in main_blocks(blocks))


def main_blocks(blocks: Blocks) -> list[int]:
    """Return the numbers of the blocks that are the main text."""
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
    stoplist = stop_words(language_of(texts))
    alone = [class_alone(text, links, stoplist) for text, links in zip(texts, linked, strict=True)]
    classes = _heads_of_good(in_context(alone), alone, texts, headings)
    return [i for i, found in enumerate(classes) if found == "good"]


def class_alone(text: str, linked: int, stoplist: frozenset[str]) -> Class:
    """Return what a paragraph is by itself; `linked` of its characters stand in links."""
    if linked > _MOST_LINKED * len(text) or "©" in text or "&copy" in text:
        return "bad"
    if len(text) < _SHORTEST:
        return "bad" if linked else "short"
    words = text.lower().split()
    density = sum(map(stoplist.__contains__, words)) / max(1, len(words))
    if density < _FEW_STOPWORDS:
        return "bad"
    return "good" if density >= _MANY_STOPWORDS and len(text) > _LONG else "neargood"


def in_context(alone: Sequence[Class]) -> list[Class]:
    """Return the classes when what is short or near good has taken the side of its neighbours."""
    sure_after, unsure_after = _next(alone)
    classes = list(alone)
    sure: Class = "bad"
    unsure: Class = "bad"
    for i, found in enumerate(alone):
        if found == "short":
            after = sure_after[i]
            near = (sure == "bad" and unsure == "neargood") or (after == "bad" and unsure_after[i] == "neargood")
            good = sure == after == "good" or (near and not sure == after == "bad")
            classes[i] = "good" if good else "bad"
        else:
            unsure = found
            sure = found if found != "neargood" else sure
    if "neargood" not in alone:
        return classes
    sure_after, _ = _next(classes)
    before: Class = "bad"
    for i, found in enumerate(classes):
        if found == "neargood":
            classes[i] = "bad" if before == sure_after[i] == "bad" else "good"
        before = classes[i]
    return classes


def _next(classes: Sequence[Class]) -> tuple[list[Class], list[Class]]:
    """Return for each place the nearest class after it that is bad or good, and the nearest that is not short; "bad"
    where there is none."""
    sure: Class = "bad"
    unsure: Class = "bad"
    all_sure, all_unsure = list[Class](), list[Class]()
    for found in reversed(classes):
        all_sure.append(sure)
        all_unsure.append(unsure)
        if found != "short":
            unsure = found
            sure = found if found != "neargood" else sure
    return all_sure[::-1], all_unsure[::-1]


def _heads_of_good(
    classes: list[Class], alone: Sequence[Class], texts: Sequence[str], headings: Sequence[bool]
) -> list[Class]:
    """Return the classes when a heading shortly before a good paragraph is good, too."""
    for i, is_heading in enumerate(headings):
        if not is_heading or classes[i] != "bad" or alone[i] == "bad":
            continue
        distance = 0
        for j in range(i + 1, len(texts)):
            if distance > _FARTHEST:
                break
            if classes[j] == "good":
                classes[i] = "good"
                break
            distance += len(texts[j])
    return classes
