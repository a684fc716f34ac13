"""Small edits of real pages for `bench.churn`: is a changed digit, "not" or date inside the content reported?

Each page's last check is remembered; then one block of its main text is edited and judged, a few times per kind. A
check that asks for a prompt repetition gets it; the first check's own reports are printed separately. The main text is
jusText's, so the judgement does not define the content itself; pages without one are left out.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from actors.content.changes.churn import judge
from actors.content.changes.memory import PageMemory
from actors.content.errors import ContentError
from actors.content.pages.page import PageReading, blocks_in, main_blocks, open_page, reading_of
from actors.content.pages.traits import ASIDE, CELL
from actors.content.wording.canonical import key
from bench.churn_filters import AGAIN
from bench.churn_material import Pair

GOAL = 0.95
_OF_EACH = 3
_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|Januar|Februar|März|Mai|Juni"
    "|Juli|Oktober|Dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre"
)
_FIGURES = {
    "price": re.compile(r"[$€£]\s?\d[\d.,]*|\d[\d.,]*\s?(?:€|\$|%|EUR|USD)"),
    "date": re.compile(rf"\b\d{{1,2}}(?=\.? (?:{_MONTHS})\b)|(?<=\w )\d{{1,2}}(?=, (?:19|20)\d\d)"),
    "number": re.compile(r"\d+"),
}
_NEGATED = {
    " is ": " is not ",
    " are ": " are not ",
    " will ": " will not ",
    " may ": " may not ",
    " ist ": " ist nicht ",
    " wird ": " wird nicht ",
    " est ": " n'est pas ",
    " är ": " är inte ",
}


def edits_of(text: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the kinds of edits that a text allows, with the edited text."""
    said = next((words for words in _NEGATED if words in text), None)
    if said is not None:
        yield "negation", text.replace(said, _NEGATED[said], 1)
    for kind, pattern in _FIGURES.items():
        if places := list(pattern.finditer(text)):
            place = chance.choice(places)
            at = chance.choice([i for i in range(*place.span()) if text[i].isdigit()])
            yield kind, f"{text[:at]}{(int(text[at]) + chance.randint(1, 8)) % 10}{text[at + 1 :]}"


def told(pairs: Sequence[Pair], bodies: Mapping[str, bytes]) -> dict[str, list[int]]:
    """Return for each kind of edit the checks that reported it (0 for never), for some edits of a page."""
    last = max(pair.after for pair in pairs)
    chance = random.Random(last)
    try:
        opened = open_page(bodies[last], "text/html", None, ())
    except ContentError:
        return {}
    blocks = blocks_in(opened)
    reading = reading_of(opened, blocks, narrowed=False)
    content = frozenset(blocks.texts[i] for i in main_blocks(blocks))
    everything = {text for text, trait in zip(blocks.texts, blocks.traits, strict=True) if not trait & ASIDE}
    if reading.trouble is not None or content >= everything:
        return {}
    edits: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for i, text in enumerate(reading.blocks):
        if blocks.texts[i] in content:
            for kind, edited in edits_of(text, chance):
                edits[kind].append((i, edited))
    memory = judge(None, reading).memory
    return {
        kind: [_told_at(memory, _edited(reading, *edit)) for edit in chance.sample(found, min(_OF_EACH, len(found)))]
        for kind, found in edits.items()
    }


def _told_at(memory: PageMemory, reading: PageReading) -> int:
    """Return the number of the check that reports a page. Requested prompt checks are made, as in the service."""
    for look in range(1, AGAIN + 2):
        verdict = judge(memory, reading)
        if verdict.kind == "changed":
            return look
        if not verdict.soon:
            break
        memory = verdict.memory
    return 0


def _edited(reading: PageReading, i: int, text: str) -> PageReading:
    blocks, keys = list(reading.blocks), list(reading.keys)
    blocks[i], keys[i] = text, key(text, cell=bool(reading.traits[i] & CELL))
    return replace(reading, blocks=tuple(blocks), keys=tuple(keys))


def report(found: Mapping[str, Sequence[int]]) -> None:
    """Print the reported share of each kind, at once and with the checks that settle a doubt."""
    print(f"\none small edit inside the main text of each page, {_OF_EACH} of each kind (goal: >= {GOAL} told)")
    for kind, looks in sorted(found.items()):
        settled, at_once = sum(look > 0 for look in looks), sum(look == 1 for look in looks)
        share, first = settled / len(looks), at_once / len(looks)
        print(f"  {kind:10}{settled:4} of {len(looks):4} told  {share:.3f}  at the first look {at_once:4}  {first:.3f}")
