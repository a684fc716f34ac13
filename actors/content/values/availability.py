"""Availability in the labels of shops: "In stock", "ausverkauft", "残りわずか".

Only short texts are read: in a paragraph the same words mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from actors.content.wording.words import word_lists
from storage.records.event import Availability

MOST_WORDS = 12
"""Maximum words of a label."""
_BARE_WORDS = 4
"""Maximum words of a label where "available" alone counts."""

_WORDS, _LABELS = word_lists("values")["availability"], word_lists("values")["labels"]
_SCHEMA: Mapping[str, Availability] = {
    "instock": "in_stock", "instoreonly": "in_stock", "onlineonly": "in_stock", "limitedavailability": "limited",
    "preorder": "preorder", "presale": "preorder", "backorder": "backorder", "madetoorder": "backorder",
    "outofstock": "out_of_stock", "soldout": "out_of_stock", "reserved": "out_of_stock",
    "discontinued": "discontinued",
}  # fmt: skip
"""The members of schema.org's ItemAvailability, in lower case."""
_OF_SCHEMA = re.compile(rf"schema\.org/({'|'.join(_SCHEMA)})\b")
_FLAG = re.compile(r'"((?:is_?)?(?:(?:in_?)?stock|available|sold_?out|out_?of_?stock))" ?: ?(true|false)')
_STATE = re.compile("|".join(f"(?P<{state}>{words})" for state, words in _WORDS.items()))
_BY_ITSELF = re.compile(_LABELS["bare"])
_TIME_LEFT = re.compile(_LABELS["left"])
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Said(NamedTuple):
    """An availability from `start` to `end` of a text."""

    start: int
    end: int
    state: Availability


def availability_in(lowered: str) -> Iterator[Said]:
    """Yield the availabilities in a short lower-case text or in a program's record, in order."""
    for found in _OF_SCHEMA.finditer(lowered):
        yield Said(found.start(), found.end(), _SCHEMA[found[1]])
    for found in _FLAG.finditer(lowered):
        has = (found[2] == "true") != ("sold" in found[1] or "out" in found[1])
        yield Said(found.start(), found.end(), "in_stock" if has else "out_of_stock")
    words = len(lowered.split())
    if words > MOST_WORDS or len(lowered) > 160:
        return
    said = [
        Said(found.start(), found.end(), found.lastgroup)  # type: ignore[arg-type]  # a name of `_WORDS`
        for found in _STATE.finditer(lowered)
        if _stands_alone(lowered, found.start(), found.end())
        and not (found.lastgroup == "limited" and _TIME_LEFT.match(lowered, found.end()))
    ]
    are_few = any(one.state == "limited" for one in said)
    yield from (one for one in said if not (are_few and one.state == "in_stock"))
    bare = None if said or words > _BARE_WORDS else _BY_ITSELF.search(lowered)
    if bare is not None and _stands_alone(lowered, bare.start(), bare.end()):
        yield Said(bare.start(), bare.end(), "in_stock")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no letter touches a match, except in scripts without spaces."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not any(_LETTER.match(one) and not _UNSPACED.match(one) for one in (before, after))
