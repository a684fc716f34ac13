"""What a block's place in the page says about it, as bits.

*Furniture* is what stands around content: by tag, by ARIA role, by words in class and id, by the label that leads a box
("Related articles"). Each sign lies at times, so it is believed only as far as the whole page bears it out: names that
would cover most of a page (a body with class "nav-open") say nothing, and neither do tags that would cover nearly all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from actors.content.markup import Element

FURNITURE = 1
HEADING = 2
CELL = 4
"""Directly in a td, th, dd or dt."""
ITEM = 8
LINK = 16
"""Most of its text is a link."""
TOP = 32
"""The page's own heading (h1)."""
CONTROL = 64
"""A button or a field's label."""
NAMED = 128
"""Furniture by the words of a class or an id only, the weakest sign; comes with FURNITURE."""

ASIDE = FURNITURE | CONTROL

_BY_TAG = {
    **dict.fromkeys(("h2", "h3", "h4"), HEADING),
    **dict.fromkeys(("td", "th", "dd", "dt"), CELL),
    "h1": HEADING | TOP,
    "li": ITEM,
}
_INHERITED = FURNITURE | CONTROL | NAMED
_FURNITURE_TAGS = frozenset({"nav", "footer", "aside", "dialog", "menu"})
_CONTROL_TAGS = frozenset({"button", "label", "option", "legend"})
_CONTENT_TAGS = frozenset({"main", "body", "html"})
_FURNITURE_ROLES = frozenset([
    "navigation", "contentinfo", "complementary", "dialog", "alertdialog", "search", "banner", "menu", "menubar",
    "tooltip", "toolbar", "tablist", "status"
])  # fmt: skip
_FURNITURE_WORDS = re.compile(
    r"(?:^|[\s_-])(?:cookies?(?:bar|banner|notice|consent)?|consent|gdpr|cmp|onetrust|nav|navbar|navigation|menu|submenu"
    r"|dropdown|megamenu|footer|sidebar|related|recommend\w*|promo\w*|advert\w*|ads?|adslot|sponsor\w*|newsletter"
    r"|subscribe|social|share|sharing|breadcrumbs?|ticker|weather|wetter|popup|modal|login|signup|announcement\w*|topbar"
    r"|toolbar|skip|most-?read|popular|trending|anzeige|werbung|drawer|lang(?:uage)?s?|locale|paywall)(?:$|[\s_-])",
    re.I,
)
_LEADS = re.compile(
    r"(?:(?:related|recommended|similar|suggested|sponsored|popular)"
    r" (?:articles?|posts?|stories|reading|content|news|links|topics|videos)"
    r"|trending(?: now)?|(?:most|more) (?:read|popular|viewed)|you (?:may|might) also like|more from .{1,30}"
    r"|read (?:more|next|also)|editors?'? picks?|from (?:our|the) web"
    r"|meistgelesen|das könnte sie (?:auch )?interessieren|lesen sie auch|mehr zum thema|ähnliche (?:artikel|beiträge)"
    r"|à lire aussi|articles (?:similaires|liés)|les plus lus|mest lästa?|läs (?:också|mer)|relaterade? \w+)\W*",
    re.I,
)
_MOST_BY_NAME = 0.5
_MOST = 0.9


def plain_traits(tag: str, outer: int) -> int:
    """Return the traits that a tag gives, none of furniture: for a part of the page that the user chose."""
    return _BY_TAG.get(tag, outer & CELL if tag == "p" else 0)


def traits_of(element: Element, tag: str, outer: int, attributes: Mapping[str, str]) -> int:
    """Return the traits of the block that starts with this element, inside of one with traits `outer`."""
    if not attributes:
        return _traits(tag, outer, _is_head(element) if tag == "header" else False, "", False, "")
    get = attributes.get
    named = "" if outer & FURNITURE or tag == "article" else f"{get('class', '')} {get('id', '')}"
    head = _is_head(element) if tag == "header" else False
    return _traits(tag, outer, head, get("role", ""), get("aria-hidden") == "true", named)


@lru_cache(maxsize=8192)
def _traits(tag: str, outer: int, head: bool, role: str, aria_hidden: bool, named: str) -> int:  # noqa: PLR0917  a key
    trait = plain_traits(tag, outer) | (outer & _INHERITED)
    if tag in _CONTROL_TAGS:
        return trait | CONTROL
    role = role.lower()
    if tag in _CONTENT_TAGS or role == "main":
        return trait & ~(FURNITURE | NAMED)
    if head or aria_hidden or tag in _FURNITURE_TAGS or role in _FURNITURE_ROLES:
        return (trait | FURNITURE) & ~NAMED
    if not trait & FURNITURE and named and _named_furniture(named):
        return trait | FURNITURE | NAMED
    return trait


def _is_head(element: Element) -> bool:
    """Return whether a header is the page's, not that of an article or a section."""
    parent = element.getparent()
    return parent is not None and parent.tag == "body"


def _named_furniture(named: str) -> bool:
    return _FURNITURE_WORDS.search(named[:400]) is not None


def believed(texts: Sequence[str], traits: Sequence[int]) -> list[int]:
    """Return the traits of a whole page, without the marks that it does not bear out and with led boxes marked."""
    sizes = [len(text) for text in texts]
    total = sum(sizes)
    kept = list(traits)
    if sum(size for size, trait in zip(sizes, kept, strict=True) if trait & NAMED) > _MOST_BY_NAME * total:
        kept = [trait & ~(FURNITURE | NAMED) if trait & NAMED else trait for trait in kept]
    if sum(size for size, trait in zip(sizes, kept, strict=True) if trait & FURNITURE) > _MOST * total:
        return [trait & ~(FURNITURE | NAMED) for trait in kept]
    led = False
    for i, text in enumerate(texts):
        if len(text) <= 40 and _LEADS.fullmatch(text):
            led = True
        elif not kept[i] & LINK:
            led = False
        if led:
            kept[i] |= FURNITURE
    return kept
