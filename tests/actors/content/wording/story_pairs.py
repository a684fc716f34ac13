"""Generated pairs of news with known answers: one story in two sources, or two similar stories.

`world` 0 is for development; 1 is held out, with other templates, topics and names.
"""
# ruff: noqa: E501

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple


class News(NamedTuple):
    url: str
    title: str
    text: str


class Pair(NamedTuple):
    how: str
    same: bool
    one: News
    other: News


NAMES = (
    ("Borealis", "Kestrel", "Hafenbank", "Novatek", "Ostsee Ferry", "Lumen Labs", "Grafton Water", "Mira Foods"),
    ("Tidewater", "Corvus", "Stadtwerke Celle", "Polymath", "Skagen Rail", "Ardent Health", "Vesper", "Quillon Press"),
)
PLACES = (("Hamburg", "Leeds", "Porto", "Tampere", "Gdansk"), ("Bremen", "Cork", "Malmo", "Ghent", "Trieste"))
VERBS = (
    ("opens", "delays", "recalls", "cancels", "sells", "extends"),
    ("reviews", "halts", "expands", "leases", "closes", "restores"),
)
THINGS = (
    (
        "a ferry line",
        "the northern depot",
        "a pilot programme",
        "two older models",
        "its archive",
        "the spring timetable",
    ),
    (
        "a reading room",
        "the harbour bridge",
        "an exchange of meters",
        "three night trains",
        "its clinic",
        "the mailing plant",
    ),
)
CLAUSES = (
    (
        "residents were informed by letter", "the council had asked for a second opinion", "work begins after the holidays",
        "critics call the plan too expensive", "a spokesperson declined to give further details",
        "the decision follows months of talks with the unions", "customers can ask for their money back",
        "engineers inspected the building twice", "the contract runs until the end of the decade",
        "neighbours complained about noise at night", "the court will hear the case in spring",
    ),
    (
        "commuters face longer journeys for some weeks", "the board approved the budget in a closed session",
        "volunteers collected signatures against it", "an outside auditor checked the accounts",
        "the ministry promised to pay half of the cost", "tests showed no danger to health",
        "the works council was heard beforehand", "historians welcomed the step with relief",
        "the insurer has not yet answered", "supply of spare parts had become difficult", "tenants may stay until autumn",
    ),
)  # fmt: skip
TEMPLATES = (
    (
        ("{n} {v} released", "{n} {v} is available. This release fixes {k} bugs and improves the start of large projects. "
         "Users of earlier versions should upgrade before the end of the month. Packages are signed with the usual key."),
        ("Price change: {n}", "The price of {n} has changed. It now costs {p} EUR. You get this mail because you watch "
         "this product. Delivery takes between two and four days within the country."),
        ("Minutes of the meeting of {d}", "The committee met on {d} in {l}. It approved the minutes of the previous meeting "
         "and heard {k} reports of its members. The next meeting will be announced in time on this page."),
        ("Security advisory for {n}", "A flaw in {n} allows remote attackers to read files. Versions before {v} are "
         "affected. Administrators should install the update soon. There is no workaround for this problem."),
    ),
    (
        ("Scheduled maintenance: {n}", "We will carry out maintenance on {n} on {d}. During this window, requests may fail "
         "or take longer than usual. No action is required on your side. It should last {k} minutes at most."),
        ("{n} quarterly results", "{n} reported a revenue of {p} million euros for the quarter. Analysts had expected "
         "slightly more from the company. The shares fell in early trading before they recovered somewhat."),
        ("Water level at {l}", "The level at the gauge in {l} stood at {k} centimetres on {d}. Shipping is not restricted. "
         "The forecast of the authority expects little change during the coming days."),
        ("Changelog {v}", "Version {v} of {n} brings {k} new translations and a faster search. Settings are kept during the "
         "upgrade. Please report problems in the issue tracker, as always with the log attached."),
    ),
)  # fmt: skip
BOILERPLATE = (
    (
        "Subscribe to our newsletter for more local news.",
        "Reading time about three minutes.",
        "The post appeared first here.",
    ),
    (
        "All rights reserved by the publisher.",
        "Sign up to read without advertising.",
        "Comments are closed below this text.",
    ),
)
GENERIC = (("Update", "Notice", "Price change"), ("Announcement", "News", "Status"))
SHORT = (
    ("The page was updated.", "We are aware of the problem.", "New prices apply from today."),
    ("The incident is resolved.", "There is a new document.", "Service is back to normal."),
)


class Chance(random.Random):
    def __init__(self, seed: int, world: int) -> None:
        super().__init__(seed)
        self.world = world

    def of(self, table: tuple) -> str:  # type: ignore[type-arg]
        return self.choice(table[self.world])

    def values(self) -> dict[str, str]:
        day, month = self.randrange(1, 29), self.choice(("March", "May", "June", "October"))
        return {
            "n": self.of(NAMES),
            "l": self.of(PLACES),
            "v": f"{self.randrange(1, 9)}.{self.randrange(30)}.{self.randrange(9)}",
            "p": f"{self.randrange(2, 900)}.{self.randrange(10, 99)}",
            "k": str(self.randrange(3, 200)),
            "d": f"{day} {month} 2026",
        }

    def link(self) -> str:
        host = "".join(self.choices("abcdefghiklmnoprstu", k=8))
        return f"https://www.{host}.example/{self.choice(('news', 'a', '2026/11'))}/{self.getrandbits(40):x}"

    def article(self) -> News:
        who, where = self.of(NAMES), self.of(PLACES)
        title = f"{who} {self.of(VERBS)} {self.of(THINGS)} in {where}"
        told = [f"{who} {self.of(VERBS)} {self.of(THINGS)}, as the company announced in {where}."]
        for clause in self.sample(CLAUSES[self.world], 7):
            lead = self.choice(("According to the report, ", "In addition, ", "", f"In {where}, ", "Meanwhile, "))
            told.append((lead + clause)[0].upper() + (lead + clause)[1:] + f" in {self.randrange(2, 90)} cases.")
        return News(self.link(), title, " ".join(told))

    def filled(self, template: tuple[str, str], values: dict[str, str]) -> News:
        return News(self.link(), *(each.format(**values) for each in template))


def syndicated(chance: Chance, news: News) -> News:
    suffix = chance.choice(("", " | Daily Post", " - Morning News", ""))
    prefix = chance.choice(("", "(dpa) - ", "LONDON, Nov 28 (Wire) - "))
    return News(chance.link(), news.title + suffix, prefix + news.text)


def cut(chance: Chance, news: News) -> News:
    keep = chance.uniform(0.4, 0.8)
    return News(chance.link(), news.title, news.text[: int(len(news.text) * keep)].rsplit(" ", 1)[0] + " …")


def wrapped(chance: Chance, news: News) -> News:
    before, after = chance.of(BOILERPLATE), " ".join(chance.sample(BOILERPLATE[chance.world], 2))
    return News(chance.link(), news.title, f"{before} {news.text} {after}")


def relinked(chance: Chance, news: News) -> News:
    link = news.url.replace("https://www.", chance.choice(("http://", "https://", "https://www.")))
    tail = chance.choice(("?utm_source=rss&utm_medium=feed", "/?fbclid=Iw2x", "#comments", "/", "?ref=home"))
    return News(
        link + tail, chance.choice((news.title, "Worth reading: " + news.title, news.title.split(" in ")[0])), ""
    )


def punctuated(chance: Chance, news: News) -> News:
    text = (
        news.text.replace(", ", " – ").replace(". ", "! ", 1).replace("In addition", "»In addition«").replace("'", "’")
    )
    return News(chance.link(), f"„{news.title}“", text.replace("  ", "\u00a0"))


def edited(chance: Chance, news: News) -> News:
    parts = news.text.split(". ")
    parts[chance.randrange(2, len(parts))] = "The mayor called it a good day for everyone who had waited so long"
    return News(chance.link(), news.title, ". ".join(parts))


def headlined(chance: Chance, news: News) -> News:
    return News(chance.link(), "What we know so far about the plans", news.text)


SAME: tuple[Callable[[Chance, News], News], ...] = (
    syndicated, cut, wrapped, relinked, punctuated, edited, headlined,
)  # fmt: skip


def template_pair(chance: Chance) -> Pair:
    """Fill one template twice, with one or all values changed: never the same story."""
    template = chance.of(TEMPLATES)
    one, other = chance.values(), chance.values()
    used = [name for name in one if "{" + name + "}" in template[0] + template[1] and one[name] != other[name]]
    if not used:
        return template_pair(chance)
    changed = {**one, **{name: other[name] for name in (used if chance.random() < 0.5 else [chance.choice(used)])}}
    return Pair("template", False, chance.filled(template, one), chance.filled(template, changed))


def alike_pair(chance: Chance) -> Pair:
    """Two articles about different things, with the same company, place and some clauses."""
    one = chance.article()
    while (other := chance.article()).title.split()[1:] == one.title.split()[1:] or other.title == one.title:
        pass
    return Pair("articles", False, one, other)


def generic_pair(chance: Chance) -> Pair:
    """Two short notices with the same words about different things."""
    title, text = chance.of(GENERIC), chance.of(SHORT)
    return Pair("generic", False, News(chance.link(), title, text), News(chance.link(), title, text))


def shared_page_pair(chance: Chance) -> Pair:
    """Two versions on one page, told apart by URL fragment."""
    page, template = chance.link(), TEMPLATES[chance.world][0 if chance.world == 0 else 3]
    one, other = chance.values(), chance.values()
    other["n"] = one["n"]
    if one["v"] == other["v"]:
        return shared_page_pair(chance)
    made = [chance.filled(template, each)._replace(url=f"{page}#v{each['v']}") for each in (one, other)]
    return Pair("versions on one page", False, *made)


def short_pair(chance: Chance) -> Pair:
    """A short message of a template, copied by another source."""
    news = chance.filled(chance.of(TEMPLATES), chance.values())
    news = news._replace(text=". ".join(news.text.split(". ")[:2]) + ".")
    other = chance.choice((relinked, syndicated, punctuated))(chance, news)
    return Pair("short, " + ("link" if not other.text else "text"), True, news, other)


def pairs(seed: int, world: int, count: int = 500) -> list[Pair]:
    """Return `count` pairs, half of them the same story."""
    chance, made = Chance(seed, world), []
    for number in range(count):
        if number % 2:
            if chance.random() < 0.15:
                made.append(short_pair(chance))
                continue
            change, news = SAME[number // 2 % len(SAME)], chance.article()
            made.append(Pair(change.__name__, True, news, change(chance, news)))
        else:
            kinds = (template_pair, template_pair, alike_pair, generic_pair, shared_page_pair)
            made.append(kinds[number // 2 % len(kinds)](chance))
    return made
