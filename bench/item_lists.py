"""`python -m bench.item_lists [FOLDER]`: new items of list pages found without selectors, and their titles and links.

*Made* lists have many shapes, with the mark-up of blogs, news sites, boards, shops and forums, and with menus, boxes,
tags, authors, pagination and calendars around them; each is checked, grows, and is checked again. Some shapes were
known while the rules were written (`TUNED`), the others came later and are the test (`HELD_OUT`). *Real* lists are the
front pages in FOLDER's manifest, all known while the rules were written: `item_labels.txt` has new links that a reader
did not consider items, and items that a reader saw and no rule finds.
"""

# ruff: noqa: E501  # mark-up

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from html import escape
from pathlib import Path
from typing import NamedTuple

from actors.content.changes.listed import look_list
from actors.content.messages import Item, ListRequest, item_form
from bench.churn_material import DEFAULT, histories, pairs_of
from bench.topic import Absent, Figure, Row, Topic, size

LABELS = Path(__file__).with_name("item_labels.txt")
GOAL, GOAL_TITLES = 0.95, 0.98
URL = "https://town.example/news/"
SEEDS, PAIRS = size(50, 1), size(1_000, 2)
TOPIC = Topic(
    "New items of lists",
    "Lists of made pages in shapes that were in view while the rules were written and in others, and real fronts whose "
    "links a reader labelled.",
    ("actors/content",),
    {
        f"{key} {part}": Figure(f"{part}: {name}", "", goal)
        for part, keys in (("shapes in view", 3), ("shapes held out", 3), ("real fronts", 2))
        for key, name, goal in (
            ("recall", "recall", f">= {GOAL}"),
            ("precision", "precision", f">= {GOAL}"),
            ("titles", "titles right", f">= {GOAL_TITLES}"),
        )[:keys]
    },
)
_WORDS = [
    "harbour",
    "ferry",
    "lighthouse",
    "museum",
    "bridge",
    "council",
    "school",
    "budget",
    "library",
    "winter",
    "market",
    "railway",
    "river",
    "garden",
    "theatre",
    "festival",
    "hospital",
    "street",
    "forest",
    "energy",
    "water",
    "housing",
    "report",
    "summer",
    "island",
    "concert",
    "archive",
    "station",
    "tower",
]
_VERBS = "opens closes moves grows returns begins ends expands sinks changes".split()  # noqa: SIM905


class Made(NamedTuple):
    """An item of a made list."""

    name: str
    title: str

    @property
    def url(self) -> str:
        return f"{URL}{self.name}"


Shape = Callable[[Sequence[Made], random.Random], str]


def _cards(items: Sequence[Made], dice: random.Random) -> str:
    return "".join(
        f'<a class="card" href="{one.url}"><img src="/i/{one.name}.jpg" alt="A picture of it"><h3>{escape(one.title)}</h3>'
        f"<p>A few more words of what the {dice.choice(_WORDS)} is about.</p><time>12 March</time></a>"
        for one in items
    )


def _posts(items: Sequence[Made], dice: random.Random) -> str:
    return "".join(
        f'<article class="post-{n} post"><h2 class="entry-title"><a href="{one.url}" rel="bookmark">{escape(one.title)}</a></h2>'
        f'<p class="meta">By <a href="/author/{dice.choice(_WORDS)}" rel="author">Bo Ek</a> in <a href="/category/sea">Sea</a></p>'
        f'<p>Some words of it all.</p><a class="more" href="{one.url}">Read more</a> <a href="{one.url}#comments">3 comments</a></article>'
        for n, one in enumerate(items)
    )


def _rows(items: Sequence[Made], dice: random.Random) -> str:
    rows = "".join(
        f"<tr><td>12.03.2026</td><td><a href='{one.url}'>{escape(one.title)}</a></td><td>{dice.randint(1, 90)} pages</td></tr>"
        for one in items
    )
    return f"<table><thead><tr><th>Date</th><th>Title</th><th>Size</th></tr></thead><tbody>{rows}</tbody></table>"


def _board(items: Sequence[Made], dice: random.Random) -> str:
    rows = "".join(
        f'<tr class="athing"><td>{n}.</td><td><a href="{one.url}">{escape(one.title)}</a> <span>(<a href="/from?site=a">a.example</a>)'
        f'</span></td></tr><tr><td></td><td>{dice.randint(1, 99)} points by <a href="/user?id=u{n}{dice.randint(1, 99)}">u{n}</a> '
        f'<a href="/talk?id={n}{dice.randint(1, 999)}">2 hours ago</a> | <a href="/talk?id={n}{dice.randint(1, 999)}">{n} comments</a></td></tr>'
        for n, one in enumerate(items)
    )
    return f"<table>{rows}</table>"


def _plain(items: Sequence[Made], dice: random.Random) -> str:
    return (
        "<ul>" + "".join(f'<li>12 March: <a href="{one.url}">{escape(one.title)}</a></li>' for one in items) + "</ul>"
    )


def _more_only(items: Sequence[Made], dice: random.Random) -> str:
    return "".join(
        f'<div class="teaser"><h3>{escape(one.title)}</h3><p>Words about it.</p><a href="{one.url}">Read more</a></div>'
        for one in items
    )


def _forum(items: Sequence[Made], dice: random.Random) -> str:
    return "".join(
        f'<div class="topic"><div><a class="topictitle" href="{one.url}">{escape(one.title)}</a><br>by <a href="/m/{dice.choice(_WORDS)}">'
        f'{dice.choice(_WORDS)}</a></div><div>12 replies</div><div>Last by <a href="/m/{dice.choice(_WORDS)}{dice.randint(1, 99)}">somebody</a></div></div>'
        for one in items
    )


def _shop(items: Sequence[Made], dice: random.Random) -> str:
    return "".join(
        f'<li class="product"><a href="{one.url}"><img src="x.jpg" alt="{escape(one.title)}"></a><a class="name" href="{one.url}">{escape(one.title)}'
        f'</a><span class="price">{dice.randint(5, 90)} €</span><a class="button" href="/cart/add?id={one.name}">Add to cart</a></li>'
        for one in items
    )


def _jobs(items: Sequence[Made], dice: random.Random) -> str:
    return "".join(
        f'<section class="job"><header><a href="{one.url}"><span>{escape(one.title)}</span></a></header><ul><li><a href="/jobs/in/{dice.choice(_WORDS)}">'
        f'{dice.choice(_WORDS).title()}</a></li><li>Full time</li></ul><a href="{one.url}/apply">Apply</a></section>'
        for one in items
    )


def _lines(items: Sequence[Made], dice: random.Random) -> str:
    return "<p>" + "<br>".join(f'<a href="{one.url}">{escape(one.title)}</a>' for one in items) + "</p>"


def _terms(items: Sequence[Made], dice: random.Random) -> str:
    return (
        "<dl>"
        + "".join(
            f'<dt><a href="{one.url}">{escape(one.title)}</a></dt><dd>Some words about it, with <a href="/glossary/{dice.choice(_WORDS)}">a word</a>.</dd>'
            for one in items
        )
        + "</dl>"
    )


def _divs(items: Sequence[Made], dice: random.Random) -> str:
    return "".join(
        f'<div class="css-{dice.getrandbits(24):06x}"><div><div class="css-{dice.getrandbits(24):06x}">NEWS</div><a href="{one.url}" class="css-{dice.getrandbits(24):06x}">'
        f"<div><span>{escape(one.title)}</span></div></a></div><div>{dice.randint(2, 9)} min</div></div>"
        for one in items
    )


TUNED: dict[str, Shape] = {
    "cards": _cards,
    "posts": _posts,
    "rows": _rows,
    "board": _board,
    "plain": _plain,
    "more only": _more_only,
    "jobs": _jobs,
}
HELD_OUT: dict[str, Shape] = {
    "forum": _forum,
    "shop": _shop,
    "lines": _lines,
    "terms": _terms,
    "divs": _divs,
}


def document(shape: Shape, items: Sequence[Made], seed: int) -> bytes:
    """Return a page with a list in a shape and typical surroundings, which change with the seed."""
    dice = random.Random(seed)
    menu = "".join(f'<li><a href="/{word}/">{word.title()}</a></li>' for word in _WORDS[:8])
    pages = "".join(f'<a href="{URL}page/{n}/">{n}</a> ' for n in range(2, 6)) + f'<a href="{URL}?page=2">Next</a>'
    days = "".join(f'<td><a href="/2026/{dice.randint(1, 12)}/{day}/">{day}</a></td>' for day in range(1, 29))
    tags = "".join(f'<a href="/tag/{word}-{dice.randint(1, 9)}">{word}</a> ' for word in dice.sample(_WORDS, 6))
    read = "".join(
        f'<li><a href="/old/{dice.getrandbits(32)}">The {dice.choice(_WORDS)} of old {n}</a></li>' for n in range(4)
    )
    return (
        f"<html><head><title>News of the town</title></head><body><header><nav><ul>{menu}</ul></nav></header><main><h1>News</h1>"
        f"<div class='list'>{shape(items, dice)}</div><div class='pagination'>{pages}</div></main><aside><h3>Most read</h3><ul>{read}"
        f"</ul></aside><table class='calendar'><tr>{days}</tr></table><div class='tagcloud'>{tags}</div>"
        "<footer><a href='/imprint'>Imprint</a> <a href='/privacy'>Privacy</a></footer></body></html>"
    ).encode()


def made(count: int, dice: random.Random, start: int) -> list[Made]:
    """Return items with titles of two to nine words."""
    titles = (" ".join([*dice.sample(_WORDS, dice.randint(1, 5)), dice.choice(_VERBS)]) for _ in range(count))
    return [
        Made(f"{start + n}-{title.replace(' ', '-')}", f"{title.capitalize()} {dice.choice(_WORDS)}")
        for n, title in enumerate(titles)
    ]


class Tally:
    """New items found, missed and wrongly reported, and correct titles."""

    def __init__(self) -> None:
        self.hits = self.misses = self.alarms = self.titles = 0

    def add(self, found: Sequence[Item], wanted: Sequence[Made]) -> None:
        titles = {item_form(one.url): one.title for one in wanted}
        told = {item_form(item.url): item.title for item in found}
        self.hits += len(told.keys() & titles.keys())
        self.misses += len(titles.keys() - told.keys())
        self.alarms += len(told.keys() - titles.keys())
        self.titles += sum(told[form] == titles[form] for form in told.keys() & titles.keys())

    @property
    def recall(self) -> float:
        return self.hits / max(1, self.hits + self.misses)

    @property
    def precision(self) -> float:
        return self.hits / max(1, self.hits + self.alarms)

    @property
    def named(self) -> float:
        return self.titles / max(1, self.hits)

    def __str__(self) -> str:
        return (
            f"R {self.recall:.3f}  P {self.precision:.3f}  titles {self.named:.3f}  ({self.hits + self.misses} items)"
        )


def grown(shape: Shape, seed: int, tally: Tally) -> None:
    """Check a list, add items at its top and drop some at its end, check again, and count the new items found."""
    dice = random.Random(seed)
    old, new = made(dice.randint(6, 25), dice, 100), made(dice.randint(1, 4), dice, 900)
    first = look_list(ListRequest(document(shape, old, seed), "text/html", URL))
    then = [*new, *old[: len(old) - dice.randint(0, len(new))]]
    second = look_list(ListRequest(document(shape, then, seed + 1), "text/html", URL, memory=first.memory))
    tally.add(second.new, new)


def run_made(shapes: dict[str, Shape], seeds: int) -> tuple[Tally, dict[str, Tally]]:
    """Return the tally of all shapes, and of each."""
    whole, each = Tally(), {name: Tally() for name in shapes}
    for name, shape in shapes.items():
        for seed in range(seeds):
            grown(shape, 1000 * seed, each[name])
            grown(shape, 1000 * seed, whole)
    return whole, each


def digest(form: str) -> str:
    return blake2b(form.encode(), digest_size=6).hexdigest()


def run_real(folder: Path) -> tuple[int, int, int, int]:
    """Return the number of checks of real lists, and the hits, misses and false alarms among their new items."""
    labels = dict(line.split()[:2] for line in LABELS.read_text("utf-8").splitlines() if line and line[0] != "#")
    pairs = [pair for pair in pairs_of(folder) if pair.kind == "news" and pair.labelled != "synthetic"][:PAIRS]
    looks = hits = alarms = 0
    missed: set[str] = set()
    for of_page, bodies in histories(folder, pairs):
        for pair in of_page:
            url = f"https://{pair.site}/"
            first = look_list(ListRequest(bodies[pair.before], "text/html", url))
            second = look_list(ListRequest(bodies[pair.after], "text/html", url, memory=first.memory))
            found = {digest(f"{pair.id} {item_form(item.url)}") for item in (*second.new, *second.held)}
            looks += 1
            hits += sum(labels.get(key) != "no" for key in found)
            alarms += sum(labels.get(key) == "no" for key in found)
            missed |= {key for key, label in labels.items() if label == "item"} & found
    owed = sum(label == "item" for label in labels.values())
    return looks, hits, owed - len(missed), alarms


def rows() -> Iterator[Row]:
    for part, shapes in (("shapes in view", TUNED), ("shapes held out", HELD_OUT)):
        whole, _ = run_made(shapes, SEEDS)
        yield Row(f"recall {part}", whole.recall, note=f"of {whole.hits + whole.misses}")
        yield Row(f"precision {part}", whole.precision)
        yield Row(f"titles {part}", whole.named)
    if not (DEFAULT / "manifest.jsonl").exists():
        raise Absent("the shared pages")
    looks, hits, misses, alarms = run_real(DEFAULT)
    yield Row("recall real fronts", hits / max(1, hits + misses), note=f"of {hits + misses} in {looks} checks")
    yield Row("precision real fronts", hits / max(1, hits + alarms))


def main() -> int:
    """Print the figures of each shape."""
    for name, shapes in (("made, tuned on", TUNED), ("made, held out", HELD_OUT)):
        whole, each = run_made(shapes, SEEDS)
        print(f"{name}: {whole}")
        for shape, tally in each.items():
            print(f"  {shape:10} {tally}")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if (folder / "manifest.jsonl").exists():
        looks, hits, misses, alarms = run_real(folder)
        recall, precision = hits / max(1, hits + misses), hits / max(1, hits + alarms)
        print(f"real fronts: {looks} looks, {hits + misses} new items, R {recall:.3f}  P {precision:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
