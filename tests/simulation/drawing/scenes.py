"""Scripts of pages: their texts for a number of checks, and the changes that a reader wants."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.simulation.program import CALM, Instead, News, OriginPlan, Scene, Style

_TURNS = (
    ("Sold out", "In stock"),
    ("在庫あり", "売り切れ"),
    ("Berth: $29 a night", "Berth: $39 a night"),
    ("Operational", "Major outage"),
)
_FACES = (
    "A good sailor looks twice at the sky before she takes the rope from the ring.",
    "Nobody has ever become rich from herring, said my uncle, but nobody has been hungry.",
    "Three waves are small and the fourth one is large; count them and then row.",
    "When gulls sit on land in the morning, the wind will turn before it is noon.",
    "An old net with many knots holds more fish than a new one that is dry.",
)
_ENTRIES = ("Head of Sales", "Recruiter", "Office Manager", "Net Mender", "Cook", "Pilot", "Ferry Captain")
_DAYS = ("Spring tide: {} June 2026", "Regatta: {} June 2026", "Market: {} June 2026")
_STAYS = (5, 6)


def pages(dice: random.Random) -> tuple[OriginPlan, ...]:
    scripts: dict[str, tuple[Style, Sequence[Scene]]] = {
        "status": ("labels", _to_and_fro(dice, *dice.choice(_TURNS))),
        "figure": ("labels", _to_and_fro(dice, "10 users", "5 users")),
        "guests": ("labels", _visited(dice)),
        "home": ("labels", _replaced("home", "told")),
        "moved": ("labels", _replaced("elsewhere", "moved")),
        "closed": ("labels", (_begins("Open"), Scene(16, (), instead="error"))),
        "faces": ("labels", (Scene(24, tuple(dice.sample(_FACES, dice.randint(2, 5))), "few", rotates=True),)),
        "flicker": ("labels", (Scene(24, dice.choice(_TURNS), "several", rotates=True),)),
        "entries": ("entries", _entries(dice)),
        "counter": ("labels", _counter(dice)),
        "dates": ("entries", _zones(dice)),
    }
    return tuple(_page(dice, name, style, scenes) for name, (style, scenes) in scripts.items())


def _page(dice: random.Random, name: str, style: Style, scenes: Sequence[Scene]) -> OriginPlan:
    host, secure, added_at = f"{name}.shore.org", dice.random() < 0.5, dice.uniform(CALM - 600, CALM)
    return OriginPlan(host, "html", style, "etag", 0, secure, added_at, (), scenes=tuple(scenes))


def _begins(*lines: str) -> Scene:
    return Scene(6, lines)


def _to_and_fro(dice: random.Random, one: str, other: str) -> list[Scene]:
    """Let a label alternate: the first turn is a change, each later one a return that is reported as well."""
    scenes = [_begins(one)]
    for turn in range(5):
        news: News = "reverted" if turn else "told"
        scenes.append(Scene(dice.choice(_STAYS), ((one, other)[(turn + 1) % 2],), news))
    return scenes


def _visited(dice: random.Random) -> list[Scene]:
    """Put another page in place of the page for one to three checks, then a real change."""
    own = _begins("Open")
    scenes = [own]
    guests: list[Instead] = ["login", "loading", "error", "home"]
    dice.shuffle(guests)
    for instead in guests:
        scenes += [Scene(dice.randint(1, 3), (), instead=instead), replace(own, visits=4)]
    return [*scenes, Scene(4, ("Closed until Monday",), "told")]


def _replaced(instead: Instead, news: News) -> list[Scene]:
    return [_begins("Open"), Scene(8, (), news, instead=instead)]


def _entries(dice: random.Random) -> list[Scene]:
    """Add entries one by one, and remove them in another order."""
    names = dice.sample(_ENTRIES, 6)
    lists = [names[:3], names[:4], names[:5], names, names[1:], names[2:], [*names[2:4], names[5]]]
    return [
        Scene(6 if n == 0 else dice.choice(_STAYS), tuple(shown), "told" if n else "") for n, shown in enumerate(lists)
    ]


def _counter(dice: random.Random) -> list[Scene]:
    counter = dice.choice(("{n} guests in the house", "Readers: {n}", "{n} boats have passed"))
    return [Scene(12, (counter, "Open")), Scene(5, (counter, "Closed"), "told")]


def _zones(dice: random.Random) -> list[Scene]:
    days = [dice.randint(4, 26) for _ in _DAYS]
    here = tuple(line.format(day) for line, day in zip(_DAYS, days, strict=True))
    there = tuple(line.format(day + 1) for line, day in zip(_DAYS, days, strict=True))
    return [_begins(*here), Scene(5, there), Scene(5, here), Scene(5, there)]
