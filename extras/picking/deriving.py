"""HTML selectors for elements that a person chose, made to last for months; the durability of names.

There are many ways to name an element. Each consists of *steps*, and each step has a cost: how often such a step was
wrong on later versions of real pages (`python -m bench.picking`). A hand-written id costs little, the third `div` of a
`div` much. The ways are tried by cost, and the first that chooses exactly these elements of this page wins.

A descriptive name ("price", "opening-hours") outlives a place. Generated names (`css-1x2y3z`, `Button_root__3xYz1`,
`post-48213`) change with the next build or belong to one entry; names of states (`is-open`, `active`) come and go;
names of styles (`col-6`, `text-center`, `mt-4`) say nothing about content.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, Literal, NamedTuple

from lxml import etree

from actors.content.bodies.markup import Element
from actors.content.pages import selectors
from actors.content.wording.words import word_lists

NEVER: Final = 100.0  # the cost of a name that must not be used
_LONGEST = 60
_PLAIN: Final = re.compile(r"-?[A-Za-z_\u0080-\uffff][\w-]*", re.A | re.I)
_MADE, _STATE, _LOOK = (re.compile(word_lists("parts")["names"][name], re.I) for name in ("made", "state", "look"))
_CAMEL: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_VOWEL: Final = re.compile(r"[aeiouyåäöüéèáàóíæø]", re.I)
_SHORTEST_WORD = 3.0


@lru_cache(maxsize=8192)
def cost_of(name: str) -> float:
    """Return the cost of trusting a name, from 0; NEVER for an invalid CSS name, or one that will not last.

    >>> cost_of("price"), cost_of("col-md-6"), cost_of("css-1x2y3z"), cost_of("is-open"), cost_of("post-48213")
    (0.0, 3.0, 100.0, 100.0, 100.0)
    """
    if not 1 < len(name) <= _LONGEST or not _PLAIN.fullmatch(name) or _MADE.search(name) or _STATE.search(name):
        return NEVER
    if _is_drawn(name):
        return NEVER
    return 3.0 if _LOOK.match(name) else 1.0 if any(sign.isdigit() for sign in name) else 0.0


def _is_drawn(name: str) -> bool:
    """Whether a name looks like random letters: VfPpkd, a3Xk9q.

    >>> [_is_drawn(name) for name in ("VfPpkd", "a3Xk9q", "priceBox", "h2-title", "opening_hours")]
    [True, True, False, False, False]
    """
    return any(_is_drawn_word(word) for word in re.split(r"[-_]+", name) if word)


def _is_drawn_word(word: str) -> bool:
    if not word.isascii() or len(word) < 5:
        return False
    parts = _CAMEL.findall(word)
    letters = [part for part in parts if part.isalpha()]
    if (any(part.isdigit() for part in parts[:-1]) and len(parts) > 2) or not _VOWEL.search(word):
        return True
    return len(letters) > 1 and sum(map(len, letters)) / len(letters) < _SHORTEST_WORD


Kind = Literal["css", "xpath"]

LONGEST: Final = 600  # maximum characters of a proposed selector
_TRIES = 5  # ways to one element that are tried on the page
_ANCHORS = 10
_MOST_ANCHORS = 200
_CLIMBS = 4
_CLASSES = 6
_MARKS = ("itemprop", "data-testid", "data-test", "data-qa", "data-field", "property", "role", "name", "headers")
_LANDMARKS = frozenset({"main", "h1", "article", "table", "dl", "address", "header", "footer", "nav", "aside", "form"})
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "summary")
_TAG = re.compile(r"[a-z][a-z0-9-]*")
_QUOTABLE = re.compile(r"[^\"'\\\x00-\x1f]{1,120}")
_SPOKEN = re.compile(r"[^\"\x00-\x1f]{1,120}|[^'\x00-\x1f]{1,120}")
"""Words that XPath can quote: it cannot write both quotes in one text."""
_WORDS = re.compile(r"[^\W\d_]{2}|\d\.\d")  # a sign of meaning: two letters, or a version
_COUNTED = re.compile(r"\(\d|(?<![\w.,/-])\d{1,6}(?: [^\W\d_]|$)")
"""A count ("Comments (12)", "12 comments"); in "3.2.0" a number is part of a name."""
_NUMBER = re.compile(r"\d+")
_PREFIX = re.compile(r"[^\d:：\"'\\]{2,40}[:：]")
_LONGEST_WORDS = 80
_AFTER_HEADING = 4
_OVER = 3  # the cost of counting from a heading past the next one: new parts in between are counted too
_PLACE, _PLACE_ON = 4.5, 0.3  # the cost of a place among siblings, and of each sibling before it
_FIRST_WORDS = 50
_BESIDE = 6.5
_FAR = 2  # paragraphs before or after an element whose beginnings are tried
_LONG, _OWN = 160, 7.6
"""Minimum characters of a text that usually keeps its beginning when edited; the cost of naming it by that."""
_CLAUSE = re.compile(r"(?:§ ?)?\d{1,3}(?:\.\d{1,3})*[.)]? (?=[^\W\d_])")
"""The number of a clause, its name in a contract; a new clause before it shifts its place on the page."""
_LINK_PATH = re.compile(r"(?:https?://[^/]+)?/?[^?#]{3,100}")


class SelectorStep(NamedTuple):
    """A way to name an element, in CSS and in XPath, and its cost. key: of all such elements in the index."""

    css: str
    xpath: str
    cost: float
    key: tuple[str, ...]


class SelectorCandidate(NamedTuple):
    """css: "" if only XPath can express it. sure: the index shows that it chooses one element; no trial needed."""

    cost: float
    css: str
    xpath: str
    sure: bool = True


class PageIndex:
    """The elements of a page by name, in page order. order: the number of each. last: that of its last descendant."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.order: dict[Element, int] = {}
        self.last: dict[Element, int] = {}
        self.headings: list[Element] = []
        self._numbered: Counter[tuple[str, str]] | None = None
        self._by_key: dict[tuple[str, ...], list[int]] = {}
        self._elements: list[Element] = []
        self._steps: dict[Element, list[SelectorStep]] = {}
        for event, element in etree.iterwalk(root, events=("start", "end")):
            if not isinstance(element.tag, str):
                continue
            if event == "end":
                self.last[element] = len(self._elements) - 1
                continue
            self.order[element] = len(self._elements)
            for step in _steps(element):
                self._by_key.setdefault(step.key, []).append(len(self._elements))
            if element.tag in _HEADINGS:
                self.headings.append(element)
            self._elements.append(element)

    def steps(self, element: Element) -> list[SelectorStep]:
        """Return the ways to name an element by itself, cheapest first."""
        known = self._steps.get(element)
        if known is None:
            self._steps[element] = known = sorted(_steps(element), key=lambda step: step.cost)
        return known

    def is_alone(self, step: SelectorStep) -> bool:
        return len(self._by_key[step.key]) == 1

    def is_alone_in(self, anchor: SelectorStep, step: SelectorStep) -> bool:
        anchors, found = self._by_key[anchor.key], set[int]()
        if len(anchors) > _MOST_ANCHORS:
            return False
        places = self._by_key[step.key]
        for anchor_at in anchors:
            first, end = bisect_right(places, anchor_at), self.last[self._elements[anchor_at]]
            found.update(place for place in places[first : first + 2] if place <= end)
            if len(found) > 1:
                return False
        return len(found) == 1

    def is_numbered(self, heading: Element) -> bool:
        """Whether a heading differs from another on the page only in its number: "Notice 1", "Notice 2"."""
        if self._numbered is None:
            self._numbered = Counter((each.tag, _NUMBER.sub("#", words_of(each))) for each in self.headings)
        return self._numbered[heading.tag, _NUMBER.sub("#", words_of(heading))] > 1

    def count(self, step: SelectorStep, first: int, last: int) -> int:
        places = self._by_key[step.key]
        return bisect_right(places, last) - bisect_left(places, first)


def selector_of(index: PageIndex, targets: Sequence[Element], kind: Kind | None = None) -> str:
    """Return the cheapest selector for one of these, and nothing else; at last its place. kind: None for any."""
    wanted, tries = targets[:_CLIMBS], _TRIES
    ways = (way for target in wanted for way in _ways(index, target) if way.css or kind != "css")
    for way in sorted(ways, key=lambda way: (way.cost, len(way.xpath))):
        selector = way.xpath if kind == "xpath" or not way.css else way.css
        if len(selector) > LONGEST or (not way.sure and tries <= 0):
            continue
        tries -= not way.sure
        if way.sure or _chooses(index, selector, wanted):
            return selector
    last = from_top(wanted[0])
    return last.xpath if kind == "xpath" else last.css


def _chooses(index: PageIndex, selector: str, wanted: Sequence[Element]) -> bool:
    found = selectors.select(index.root, selector)
    return len(found) == 1 and any(found[0] is target for target in wanted)


def _ways(index: PageIndex, target: Element) -> Iterator[SelectorCandidate]:
    steps = index.steps(target)
    above = [each for each in target.iterancestors() if each.tag not in ("html", "body")][:_ANCHORS]
    for step in steps:
        if index.is_alone(step):
            yield SelectorCandidate(step.cost, step.css, f"//{step.xpath}")
            break
    for far, around in enumerate(above):
        for anchor in index.steps(around)[:3]:
            for step in steps[:5]:
                if index.is_alone_in(anchor, step):
                    cost = anchor.cost + step.cost + 0.5 + 0.05 * far
                    yield SelectorCandidate(cost, f"{anchor.css} {step.css}", f"//{anchor.xpath}//{step.xpath}")
                    break
    yield from _after_headings(index, target)
    yield from _by_labels(target)
    yield from _by_neighbours(target)
    yield from _by_own_words(target)
    yield from _by_place(index, target, above)


def _steps(element: Element) -> Iterator[SelectorStep]:
    tag = element.tag
    if not isinstance(tag, str) or not _TAG.fullmatch(tag):
        return
    id = element.get("id") or ""
    if (cost := cost_of(id)) < NEVER:
        yield SelectorStep(f"#{id}", f"*[@id='{id}']", 1 + cost, ("id", id))
    for name in _MARKS:
        value = element.get(name) or ""
        if value and _QUOTABLE.fullmatch(value) and cost_of(value) < NEVER:
            cost = 4 if name in ("role", "name") else 2
            yield SelectorStep(f'{tag}[{name}="{value}"]', f"{tag}[@{name}='{value}']", cost, (name, tag, value))
    for one in list(dict.fromkeys((element.get("class") or "").split()))[:_CLASSES]:
        if (cost := cost_of(one)) < NEVER:
            yield SelectorStep(f"{tag}.{one}", f"{tag}[{_has_class(one)}]", 2.5 + cost, ("class", tag, one))
    yield SelectorStep(tag, tag, 4 if tag in _LANDMARKS else 6, ("tag", tag))


def _has_class(name: str) -> str:
    return f"contains(concat(' ',normalize-space(@class),' '),' {name} ')"


def _after_headings(index: PageIndex, target: Element) -> Iterator[SelectorCandidate]:
    """Yield ways by the headings before an element: "the first table after Prices"."""
    at, tag = index.order[target], target.tag
    step = next((step for step in index.steps(target) if step.key[0] == "tag"), None)
    if step is None or tag in _HEADINGS:
        return
    before = bisect_left(index.headings, at, key=index.order.__getitem__)
    for far, heading in enumerate(reversed(index.headings[max(0, before - 2) : before])):
        words = words_of(heading)
        if not words or heading in target.iterancestors():
            continue
        spoken = f"//{heading.tag}[normalize-space()={_literal(words)}]/following::"
        cost = 6 + (0 if index.is_numbered(heading) else _of_numbers(words)) + _OVER * far
        nth = index.count(step, index.last[heading] + 1, at)
        if 0 < nth <= _AFTER_HEADING:
            yield SelectorCandidate(cost + 1.5 * nth, "", f"{spoken}{tag}[{nth}]", sure=False)
        for label in _labels(target):
            yield SelectorCandidate(cost + 1.5, "", f"{spoken}{label}", sure=False)


def _labels(target: Element) -> Iterator[str]:
    """Yield an element's names in a part of a page: by the first cell of its row, or by its label."""
    tag, parent = target.tag, target.getparent()
    if tag in ("td", "th") and parent is not None and parent.tag == "tr" and parent[0] is not target:
        if words := words_of(parent[0]):
            yield f"tr[*[1][normalize-space()={_literal(words)}]][1]/*[{parent.index(target) + 1}]"
    elif prefix := _prefix_of(target):
        yield f"{tag}[starts-with(normalize-space(),{_literal(prefix)})][1]"


def words_of(element: Element) -> str:
    """Return an element's text, "" if it cannot be in a selector or has no words."""
    words = " ".join("".join(islice(element.itertext(), 20)).split())
    if len(words) > _LONGEST_WORDS or not _SPOKEN.fullmatch(words) or not _WORDS.search(words):
        return ""
    return words


def _literal(words: str) -> str:
    return f'"{words}"' if "'" in words else f"'{words}'"


def _of_numbers(words: str) -> float:
    return 0 if not _unsteady(words) else 4 if _COUNTED.search(words) else 1.5


def _unsteady(words: str) -> int:
    return sum(1 for sign in words if sign.isdigit())


def _by_labels(target: Element) -> Iterator[SelectorCandidate]:
    """Yield ways by an element's label: the first cell of its row, the term before it, the text next to it."""
    tag = target.tag
    parent, before = target.getparent(), next(target.itersiblings("*", preceding=True), None)
    if parent is None or before is None or not isinstance(tag, str) or not _TAG.fullmatch(tag):
        return
    if tag in ("td", "th") and parent.tag == "tr":
        if words := words_of(parent[0]):
            place = parent.index(target) + 1
            row = f"//tr[*[1][normalize-space()={_literal(words)}]]/*[{place}]"
            yield SelectorCandidate(4.5 + 0.5 * _unsteady(words), "", row, sure=False)
    elif (words := words_of(before)) and not _unsteady(words):
        cost = 4.5 if tag == "dd" and before.tag == "dt" else 8.0
        beside = f"//{before.tag}[normalize-space()={_literal(words)}]/following-sibling::*[1]"
        if _TAG.fullmatch(before.tag):
            yield SelectorCandidate(cost, "", beside, sure=False)


def _by_neighbours(target: Element) -> Iterator[SelectorCandidate]:
    """Yield ways by the beginning of a paragraph next to an element: in long texts places move, but these stay."""
    if not isinstance(target.tag, str) or not _TAG.fullmatch(target.tag) or target.tag in ("td", "th"):
        return
    for preceding, axis in ((True, "following"), (False, "preceding")):
        for far, beside in enumerate(islice(target.itersiblings("*", preceding=preceding), _FAR), 1):
            if not _TAG.fullmatch(beside.tag) or not (words := _beginning(beside)):
                continue
            found = f"//{beside.tag}[starts-with(normalize-space(),{_literal(words)})]/{axis}-sibling::*[{far}]"
            yield SelectorCandidate(_BESIDE + 1.5 * far - 0.5 * preceding - 1, "", found, sure=False)
            break


def _beginning(element: Element) -> str:
    """Return the first words of a longer text, "" if they cannot be in a selector, or are unsteady."""
    said = beginning_of(element)
    words = said[:_FIRST_WORDS].rpartition(" ")[0]
    if len(said) <= _FIRST_WORDS or not _SPOKEN.fullmatch(words) or _unsteady(words):
        return ""
    return words


def beginning_of(element: Element) -> str:
    return " ".join("".join(islice(element.itertext(), 20)).split())


def _prefix_of(element: Element) -> str:
    """Return the label at the start of a text ("Version: 2.1"), "" if there is none."""
    said = beginning_of(element)
    prefix = _PREFIX.match(said)
    return prefix[0] if prefix and len(said) > len(prefix[0]) and _WORDS.search(prefix[0]) else ""


def _by_own_words(target: Element) -> Iterator[SelectorCandidate]:
    """Yield ways by a link's address, and by a label at the start of the text ("Version: 2.1")."""
    tag = target.tag
    if not isinstance(tag, str) or not _TAG.fullmatch(tag):
        return
    href = target.get("href") or "" if tag == "a" else ""
    if href and _QUOTABLE.fullmatch(href) and _LINK_PATH.fullmatch(href):
        yield SelectorCandidate(6, f'a[href="{href}"]', f"//a[@href='{href}']", sure=False)
    said = beginning_of(target)
    if (clause := _CLAUSE.match(said)) and len(said) > _LONGEST_WORDS:
        yield SelectorCandidate(5.5, "", f"//{tag}[starts-with(normalize-space(),'{clause[0]}')]", sure=False)
    if prefix := _prefix_of(target):
        yield SelectorCandidate(6.5, "", f"//{tag}[starts-with(normalize-space(),{_literal(prefix)})]", sure=False)
    if len(said) > _LONG and (words := _beginning(target)):
        yield SelectorCandidate(_OWN, "", f"//{tag}[starts-with(normalize-space(),{_literal(words)})]", sure=False)


def _by_place(index: PageIndex, target: Element, above: Sequence[Element]) -> Iterator[SelectorCandidate]:
    """Yield ways down from a named element: `#prices > ul > li:nth-of-type(2)`."""
    css, xpath, cost = "", "", 0.0
    below = target
    for around in above:
        step_css, step_xpath, step_cost = _nth(below)
        css, xpath = f" > {step_css}{css}", f"/{step_xpath}{xpath}"
        cost += step_cost
        below = around
        for anchor in index.steps(around)[:3]:
            if index.is_alone(anchor):
                yield SelectorCandidate(anchor.cost + cost + 1, f"{anchor.css}{css}", f"//{anchor.xpath}{xpath}")
                break


def _nth(element: Element) -> tuple[str, str, float]:
    tag = element.tag
    if not _TAG.fullmatch(tag):
        place = sum(1 for _ in element.itersiblings("*", preceding=True)) + 1
        return f"*:nth-child({place})", f"*[{place}]", 4.0
    before = sum(1 for _ in element.itersiblings(tag, preceding=True))
    if not before and next(element.itersiblings(tag), None) is None:
        return tag, tag, 1.0
    return f"{tag}:nth-of-type({before + 1})", f"{tag}[{before + 1}]", _PLACE + _PLACE_ON * before


def from_top(target: Element) -> SelectorCandidate:
    """Return the way by an element's place from the top of the page, which always exists and seldom lasts."""
    css, xpath = list[str](), list[str]()
    while target.getparent() is not None:
        step_css, step_xpath, _ = _nth(target)
        css.append(step_css)
        xpath.append(step_xpath)
        target = target.getparent()
    css.append(target.tag)
    xpath.append(target.tag)
    return SelectorCandidate(NEVER, " > ".join(reversed(css)), "/" + "/".join(reversed(xpath)))


def text_of(element: Element, *, after: bool) -> str:
    held = element.getparent() if after else element
    place = 1 if not after else sum(1 for text in _texts_before(held, element) if text and not text.isspace()) + 1
    return f"text()[normalize-space()][{place}]"


def _texts_before(held: Element, last: Element) -> Iterator[str | None]:
    """Yield the texts of an element up to the one after a child."""
    yield held.text
    for child in held:
        if child is last:
            return
        yield child.tail
