"""The items of a list page, found without selectors: links that repeat in one structure. Pure.

Links are grouped by the tags around them. If groups alternate down the page (title, author, comments, title, author,
comments, ...), the one with the longest texts names the items, and the others belong to it. Skips menus and parts that
the page marks as no content, pages and filters of the same list, and links that share a page.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from urllib.parse import SplitResult, parse_qsl, urlsplit

from lxml import etree

from actors.content.bodies import markup
from actors.content.bodies.text import absolute, normalise
from actors.content.messages import Item, item_form
from actors.content.pages.traits import _OFFER, ASIDE, CONTROL, FURNITURE, HEADING, NAMED, plain_traits, traits_of
from actors.content.wording.words import word_lists

MOST_ITEMS = 1_000
MOST_TITLE = 300  # characters of an item's title
_MOST_LINKS = 10_000
_DEEPEST = 40  # the nearest tags of a link's path, which are compared
_INTERLEAVED = 0.6
_LESSER = 0.6  # a group below this share of another's worth may belong to it
_FEW = 2
_BESIDE = 4  # if an element has at most this many links, each has its own place
_SIBLINGS = 30  # siblings of an element that are checked
_MANY = 8  # links of a group that count; more do not make its texts better names
_NAME = 6  # words of a name that count; more do not make it better
_HEADED = 0.5  # minimum worth of headings in a list; variants of one product (colours) all have similar names
_LONG_TITLE = 4  # minimum words of a lone link that may be an item
_HOLDING = ("li", "tr", "article", "section", "div", "dd", "p")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_RELATIONS = frozenset({"tag", "author", "category", "nofollow-tag", "prev", "next", "first", "last", "search", "help"})
_NO_PAGE = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|avif|ico|css|js|woff2?|mp3|mp4|ics)$", re.I)
_SHARING, _OTHER, _FACETS, _NAMES, _KICKER = (
    re.compile(word_lists("parts")["links"][name], re.I) for name in ("sharing", "others", "facets", "names", "kicker")
)
_NETWORKS = re.compile(word_lists("parts")["links"]["networks"])
_ROW = re.compile(r"(?i:odd|even|alt\w*|first|last|row.?\d|.*\d.*)")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(slots=True, eq=False)
class _Link:
    """seen: its text is visible, unlike that of a picture. says: its own text, if all its kind have the same."""

    element: markup.Element
    url: str
    form: str
    text: str
    seen: bool
    group: tuple[str, ...]
    at: int
    headed: bool
    says: str = ""


def items_of(
    root: markup.Element, watched: Sequence[markup.Element], url: str, *, judged: bool = True
) -> tuple[Item, ...]:
    """Return the items in the `watched` elements, in reading order. judged: skip menus; off for a user's choice."""
    links = _links(root, watched, url, judged=judged)
    groups: dict[tuple[str, ...], list[_Link]] = defaultdict(list)
    for link in links:
        groups[link.group].append(link)
    groups = _parted(groups)
    for alike in groups.values():
        # Links that all have one text, for example "Read more", are named by the text near each of them.
        if len({link.form for link in alike}) >= _FEW and len({link.text for link in alike}) == 1:
            for link in alike:
                link.says, link.text, link.seen = link.text, _beside(link), False
    return tuple(_items(_primary(_of_the_site(groups, url)), links))[:MOST_ITEMS]


def _parted(groups: Mapping[tuple[str, ...], list[_Link]]) -> dict[tuple[str, ...], list[_Link]]:
    """Split groups where two or three kinds of links alternate in the same tags: events and their places."""
    parted: dict[tuple[str, ...], list[_Link]] = {}
    for group, links in groups.items():
        parents = (link.element.getparent() for link in links)
        names = ((parent.get("class") or "").split() if parent is not None else () for parent in parents)
        kinds = [" ".join(name for name in own if not _ROW.fullmatch(name)) for own in names]
        turns = sum(1 for kind, other in pairwise(kinds) if kind != other)
        if _FEW <= len(set(kinds)) < _BESIDE and len(links) > _BESIDE and turns >= _INTERLEAVED * (len(links) - 1):
            for link, kind in zip(links, kinds, strict=True):
                parted.setdefault((*group, kind), []).append(link)
        else:
            parted[group] = links
    return parted


def _links(root: markup.Element, watched: Iterable[markup.Element], url: str, *, judged: bool) -> list[_Link]:
    base, page, found = base_of(root, url), urlsplit(url), list[_Link]()
    for element in watched:
        places = list(_places(element, judged=judged))
        named = sum(1 for _, _, trait in places if trait & NAMED)
        is_believed = named <= len(places) / 2
        for link, group, trait in places:
            if trait & ASIDE and (is_believed or trait & CONTROL or not trait & NAMED):
                continue
            address = absolute(link.get("href") or "", base)
            if address and _may_lead_to_item(link, address, page):
                text, is_seen = _shown(link)
                headed = bool(trait & HEADING) or next(link.iter(*_HEADINGS), None) is not None
                if not _OFFER.match(text):
                    found.append(_Link(link, address, item_form(address), text, is_seen, group, len(found), headed))
            if len(found) >= _MOST_LINKS:
                return found
    return found


def _places(root: markup.Element, *, judged: bool) -> Iterator[tuple[markup.Element, tuple[str, ...], int]]:
    trait_of = traits_of if judged else plain_traits
    shown, above = markup.around_heading(root), list[int]()
    path, steps, trait = list[str](), etree.iterwalk(root, events=("start", "end")), 0
    for event, element in steps:
        if event == "end":
            path.pop()
            trait = above.pop()
            continue
        named = dict(element.items())
        classes = sorted(filter(str.isalpha, named["class"].split())) if element.tag == "a" and "class" in named else ()
        path.append(" ".join((element.tag, *classes)))
        above.append(trait)
        if element.tag in markup.BREAKS:
            outer, trait = trait, trait_of(element, element.tag, trait, named) | (trait & HEADING)
            if trait & NAMED and not outer & NAMED and _is_one_of_many(element):
                trait &= ~(FURNITURE | NAMED)
        if element.tag in markup.UNSEEN or markup.hidden(named, element, shown):
            steps.skip_subtree()
        elif element.tag == "a" and "href" in named:
            yield element, (*path[-_DEEPEST:], _place_of(element)), trait


def _is_one_of_many(element: markup.Element) -> bool:
    """Whether an element is one row among others of its kind despite an extra class, for example a pinned one."""
    parent, names = element.getparent(), set((element.get("class") or "").split())
    beside = islice(() if parent is None else parent.iterchildren(element.tag), _SIBLINGS)
    fewer = (mine for sibling in beside if (mine := set((sibling.get("class") or "").split())) and mine < names)
    return sum(1 for _ in islice(fewer, _FEW)) == _FEW


def _place_of(link: markup.Element) -> str:
    """Return a link's index among a few neighbours: the title, or the author; "" among many."""
    parent = link.getparent()
    beside = [] if parent is None else parent.findall("a")
    return str(beside.index(link)) if 1 < len(beside) <= _BESIDE else ""


def _may_lead_to_item(link: markup.Element, address: str, page: SplitResult) -> bool:
    """Whether an address may be an item's, and not the same list, a filter, a picture or a share link."""
    relations = (link.get("rel") or "").lower().split()
    if not _RELATIONS.isdisjoint(relations):
        return False
    to = urlsplit(address)
    if _NO_PAGE.search(to.path) or _SHARING.search(f"{to.netloc}{to.path}"):
        return False
    if to.path in ("", "/") and not to.query:
        return to.netloc.removeprefix("www.") != page.netloc.removeprefix("www.")
    if to.netloc == page.netloc and to.path.rstrip("/") == page.path.rstrip("/"):
        same = set(parse_qsl(page.query, keep_blank_values=True))
        names = [name for name, value in parse_qsl(to.query, keep_blank_values=True) if (name, value) not in same]
        return any(_NAMES.match(name) for name in names) and not any(_FACETS.match(name) for name in names)
    return True


def _shown(link: markup.Element) -> tuple[str, bool]:
    """Return a link's name (its heading, else its longest line, without kickers), and whether it is visible."""
    if text := max((_text_of(heading) for heading in link.iter(*_HEADINGS)), key=_words, default=""):
        return text, True
    if text := max(_lines_of(link), key=_words, default=""):
        return text[:MOST_TITLE], True
    said = link.get("aria-label") or link.get("title") or next((img.get("alt") or "" for img in link.iter("img")), "")
    return _one_line(said), False


def _text_of(element: markup.Element) -> str:
    return " ".join(_lines_of(element))[:MOST_TITLE]


def _lines_of(element: markup.Element) -> list[str]:
    small = [text for part in element.iter() if _KICKER.search(part.get("class") or "") for text in part.itertext()]
    lines = [text for line in markup.lines(element) if (text := _one_line(line))]
    kickers = sorted({text for part in small if (text := _one_line(part))}, key=len, reverse=True)
    cut = [line.removeprefix(next(filter(line.startswith, kickers), "")).strip(" :|") for line in lines]
    return [line for line in cut if line] or lines


def _one_line(text: str) -> str:
    return " ".join(normalise(text[: 4 * MOST_TITLE]).split())[:MOST_TITLE]


def _of_the_site(groups: Mapping[tuple[str, ...], list[_Link]], url: str) -> Mapping[tuple[str, ...], list[_Link]]:
    """Drop groups that only lead to other hosts, unless the page has no others of similar worth: a list of links."""
    host = urlsplit(url).netloc.removeprefix("www.")
    walls = {group for group, links in groups.items() if all(_NETWORKS.match(link.form) for link in links)}
    groups = {group: links for group, links in groups.items() if group not in walls or _NETWORKS.match(f"{host}/")}
    away = {group for group, links in groups.items() if all(_leads_away(link, host) for link in links)}
    own = [links for group, links in groups.items() if group not in away and len(links) > _FEW]
    best_away = max((_worth(groups[group]) * min(len(groups[group]), _MANY) for group in away), default=0.0)
    best = max((_worth(links) * min(len(links), _MANY) for links in own), default=0.0)
    kept = groups.keys() if best < best_away * _LESSER else groups.keys() - away
    return {group: links for group, links in groups.items() if group in kept}


def _leads_away(link: _Link, host: str) -> bool:
    there = link.form.partition("/")[0]
    return not (there == host or there.endswith(f".{host}") or host.endswith(f".{there}"))


def _primary(groups: Mapping[tuple[str, ...], list[_Link]]) -> list[_Link]:
    """Return the links of groups that name items, without groups that belong to another one, and without strays."""
    worth = {group: _worth(links) for group, links in groups.items()}
    names = {group: _as_names(links) * min(len(links), _MANY) for group, links in groups.items()}
    order = sorted(groups, key=lambda group: (-names[group], groups[group][0].at))
    leading, kept = list[_Leader](), list[_Link]()
    for group in order:
        links = _without_others(groups[group])
        if _is_list(links, worth[group]) and not any(
            leader.worth * _LESSER > _as_names(links) and leader.has(links) for leader in leading
        ):
            if len(links) > _FEW:
                leading.append(_Leader(links, worth[group]))
            kept += links
    return sorted(kept, key=lambda link: link.at)


class _Leader:
    """A group that names items: the start of each item, and the elements around exactly one item."""

    def __init__(self, links: Sequence[_Link], worth: float) -> None:
        self.worth = worth
        self._places = [link.at for link in links]
        around = Counter[markup.Element]()
        forms: dict[markup.Element, str] = {}
        for link in links:
            for above in link.element.iterancestors():
                around[above] += forms.get(above) != link.form
                forms[above] = link.form
        self._holders = {element: forms[element] for element, count in around.items() if count == 1}

    def has(self, links: Sequence[_Link]) -> bool:
        """Whether another group's links are inside these items, or one after each of them."""
        around = (filter(None, map(self._holders.get, link.element.iterancestors())) for link in links)
        inside = [item for items in around if (item := next(items, ""))]
        if len(inside) >= len(links) * _INTERLEAVED and (len(set(inside)) > 1 or len(links) <= _BESIDE):
            return True  # many links near only one of its links are a separate list
        gaps = {gap for link in links if (gap := bisect_right(self._places, link.at))}
        return len(gaps) >= max(_FEW, len(self._places) * _INTERLEAVED)


def _worth(links: Sequence[_Link]) -> float:
    texts = [link.text for link in links if link.text]
    if not texts:
        return 0.0
    different = len(set(texts)) / len({link.form for link in links if link.text})
    words = sorted(min(_NAME, _words(text)) for text in texts)[3 * len(texts) // 4]
    return words * min(1.0, different) * (1.5 if links[0].headed else 1.0)


def _as_names(links: Sequence[_Link]) -> float:
    """Rate a group's texts against another's: "3 comments" and "5 comments" name nothing."""
    letters = {"".join(_LETTER.findall(link.says or link.text)) for link in links if link.text}
    return _worth(links) * min(1.0, len(letters) / max(1, len({link.form for link in links if link.text})))


def _words(text: str) -> int:
    """Estimate the word count; in scripts without spaces, two characters make a word."""
    return max(len(text.split()), sum(letter > "\u2e7f" for letter in text) // 2)


def _is_list(links: Sequence[_Link], worth: float) -> bool:
    lettered = sum(len(_LETTER.findall(link.text)) > 1 for link in links)
    if not links or lettered < len(links) / 2:
        return False  # page numbers, the days of a calendar
    if (count := len({link.form for link in links})) >= _FEW:
        return worth >= (_HEADED if links[0].headed and count > _FEW else 1)
    return links[0].headed or worth >= _LONG_TITLE


def _without_others(links: list[_Link]) -> list[_Link]:
    """Drop links to tags, authors and the like; drop all if most are such."""
    others = {link.form for link in links if _OTHER.search(urlsplit(link.url).path)}
    if len(others) * 2 > len({link.form for link in links}):
        return []
    return [link for link in links if link.form not in others]


def _items(kept: Sequence[_Link], links: Sequence[_Link]) -> Iterator[Item]:
    by_form: dict[str, list[_Link]] = {}
    for link in kept:
        by_form.setdefault(link.form, []).append(link)
    for form in [form for form in by_form if _belongs(by_form, form)]:
        del by_form[form]
    named = set(kept)
    for link in links:
        if link.form in by_form and link not in named:
            by_form[link.form].append(link)
    spread = Counter(text for text, _ in {(link.text, link.form) for same in by_form.values() for link in same})
    for same in by_form.values():
        # By how well their text names it.
        one = max(same, key=lambda a: (spread[a.text] == 1, a.seen, a.headed, min(_NAME, _words(a.text)), -a.at))
        if title := one.text if spread[one.text] == 1 else _beside(one):
            yield Item(same[0].url, title)


def _belongs(by_form: Mapping[str, Sequence[_Link]], form: str) -> bool:
    whole = by_form.get(form.rpartition("/")[0]) or by_form.get(form.rpartition("?")[0])
    return whole is not None and _best_name(by_form[form]) < _best_name(whole)


def _best_name(links: Sequence[_Link]) -> tuple[bool, int]:
    return max((link.seen, _words(link.text)) for link in links)


def _beside(link: _Link) -> str:
    """Return a title near a link whose own text is generic; its own text if there is none."""
    for around in islice(link.element.iterancestors(*_HOLDING), 3):
        heading = max((_text_of(element) for element in around.iter(*_HEADINGS)), key=_words, default="")
        lines = [line for line in _lines_of(around) if line != link.text]
        if title := heading or next((line for line in lines if len(_LETTER.findall(line)) > 1), ""):
            return title[:MOST_TITLE]
    return link.text


def base_of(root: markup.Element, url: str) -> str:
    """Return the address against which a page's links are resolved."""
    named = next((base.get("href") for base in root.iter("base") if base.get("href")), None)
    return (absolute(named, url) if named else "") or url
