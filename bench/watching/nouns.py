"""The subjects of pages: each noun's page, written in a language, from its state at a moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from bench.watching.documents import Doc, Entry, Part, entries
from bench.watching.tongues import Tongue

DAY = 86_400_000
SPRING = 1_773_000_000_000
"""A moment in March 2026, the base of dates on pages."""


def page(t: Tongue, heading: str, *parts: Part) -> Doc:
    return Doc(t.lang, f"{heading} – {t.site}", heading, parts)


def careers(t: Tongue, jobs: Sequence[str]) -> Doc:
    places = [t.places[t.jobs.index(job) % len(t.places)] for job in jobs]
    return page(t, t.careers, Part("list", entries=entries(jobs, places)))


def about(t: Tongue, people: Sequence[tuple[str, str]]) -> Doc:
    return page(t, t.about, Part("list", entries=tuple(Entry(name, (role,)) for name, role in people)))


def plan(t: Tongue, number: int, price: str, limit: str, features: Sequence[str]) -> Part:
    return Part("card", t.plans[number], (price, limit), entries(features))


def pricing(t: Tongue, plans: Sequence[Part]) -> Doc:
    return page(t, t.pricing, *plans)


def product(t: Tongue, name: str, price: str, stock: str) -> Doc:
    return page(t, name, Part("card", t.shop, (price, stock, t.blurb), id="offer"))


def catalogue(t: Tongue, goods: Sequence[tuple[str, str, str]]) -> Doc:
    return page(t, t.shop, Part("list", entries=tuple(Entry(name, (price, stock)) for name, price, stock in goods)))


def status(t: Tongue, states: Sequence[str], incidents: Sequence[str] = ()) -> Doc:
    calm = (t.calm,) if not incidents and set(states) == {t.states[0]} else ()
    parts = [Part("prose", "", calm)] if calm else []
    rows = Part("rows", "", (), entries(t.services, states), id="services")
    more = [Part("prose", "", tuple(incidents))] if incidents else []
    return page(t, t.status, *parts, *more, rows)


def hours(t: Tongue, times: Sequence[str], note: str = "") -> Doc:
    notes = [Part("prose", "", (note,))] if note else []
    return page(t, t.hours, *notes, Part("rows", "", (), entries(t.days, times)))


def availability(t: Tongue, states: Sequence[Sequence[str]]) -> Doc:
    heads = ("", *(t.day(SPRING + n * DAY) for n in range(len(states[0]))))
    rows = tuple(Entry(room, tuple(own)) for room, own in zip(t.rooms, states, strict=True))
    return page(t, t.availability, Part("rows", "", (), rows, heads))


def listings(t: Tongue, flats: Sequence[tuple[str, str]]) -> Doc:
    return page(t, t.listings, Part("list", entries=tuple(Entry(name, (price,)) for name, price in flats)))


def timetable(t: Tongue, rows: Sequence[tuple[str, str, str]]) -> Doc:
    found = tuple(Entry(time, (stop, remark)) for time, stop, remark in rows)
    return page(t, t.timetable, Part("rows", "", (), found, t.timetable_heads))


def notices(t: Tongue, names: Sequence[str]) -> Doc:
    return page(t, t.notices, Part("list", entries=entries(names)))


def news(t: Tongue, names: Sequence[str]) -> Doc:
    return page(t, t.news, Part("list", entries=entries(names)))


def releases(t: Tongue, versions: Sequence[tuple[str, Sequence[str]]]) -> Doc:
    return page(t, t.releases, *(Part("list", t.version.format(v=v), (), entries(notes)) for v, notes in versions))


def policy(t: Tongue, prose: Sequence[str], *more: Part) -> Doc:
    return page(t, t.policy, Part("prose", "", tuple(prose)), *more)


def events(t: Tongue, planned: Sequence[tuple[str, str]]) -> Doc:
    return page(t, t.events, Part("list", entries=tuple(Entry(name, (when,)) for name, when in planned)))


def rates(t: Tongue, fees: Sequence[tuple[str, str]]) -> Doc:
    return page(t, t.rates, Part("rows", entries=tuple(Entry(name, (fee,)) for name, fee in fees)))


def downloads(t: Tongue, files: Sequence[tuple[str, str]]) -> Doc:
    return page(t, t.downloads, Part("list", entries=tuple(Entry(name, (size,)) for name, size in files)))


def staff(t: Tongue, chance: Random, count: int = 4) -> list[tuple[str, str]]:
    return list(zip(chance.sample(t.people, count), t.roles, strict=False))


def plans(t: Tongue, chance: Random) -> list[Part]:
    """Return the three initial plans."""
    features = chance.sample(t.features, 6)
    low, high = chance.choice((9, 12, 15, 19)), chance.choice((29, 39, 49, 79))
    return [
        plan(t, 0, t.free, t.limit.format(n=5), features[:2]),
        plan(t, 1, t.per_month.format(p=t.money(low)), t.limit.format(n=25), features[:3]),
        plan(t, 2, t.per_month.format(p=t.money(high)), t.limit.format(n=250), features[:5]),
    ]


def goods(t: Tongue, chance: Random) -> list[tuple[str, str, str]]:
    return [(name, t.money(chance.randrange(12, 90) * 5), t.stock[0]) for name in t.products]


def week(t: Tongue, chance: Random) -> list[str]:
    opens, closes = chance.choice(("08:30", "09:00", "10:00")), chance.choice(("17:00", "18:00", "19:30"))
    return [f"{opens} – {closes}"] * 5 + ["10:00 – 14:00", t.closed]


def board(t: Tongue, chance: Random) -> list[tuple[str, str, str]]:
    minutes = sorted(chance.sample(range(360, 1320, 5), 7))
    return [(f"{m // 60:02}:{m % 60:02}", chance.choice(t.stops), t.on_time) for m in minutes]


def calendar(t: Tongue, chance: Random) -> list[list[str]]:
    return [[chance.choice(t.vacant[:2]) for _ in range(3)] for _ in t.rooms]


def programme(t: Tongue, chance: Random) -> list[tuple[str, str]]:
    days = sorted(chance.sample(range(5, 120), len(t.gatherings)))
    return [(name, t.day(SPRING + day * DAY)) for name, day in zip(t.gatherings, days, strict=True)]


NOUNS: Mapping[str, Callable[[Tongue, Random], Doc]] = {
    "careers": lambda t, chance: careers(t, chance.sample(t.jobs, chance.choice((3, 5, 8)))),
    "about": lambda t, chance: about(t, staff(t, chance, 5)),
    "pricing": lambda t, chance: pricing(t, plans(t, chance)),
    "product": lambda t, chance: product(t, t.products[chance.randrange(6)], t.money(45), chance.choice(t.stock)),
    "shop": lambda t, chance: catalogue(t, goods(t, chance)),
    "status": lambda t, _: status(t, [t.states[0]] * len(t.services)),
    "hours": lambda t, chance: hours(t, week(t, chance)),
    "availability": lambda t, chance: availability(t, calendar(t, chance)),
    "listings": lambda t, chance: listings(t, [(f, t.money(chance.randrange(60, 200) * 10)) for f in t.flats]),
    "timetable": lambda t, chance: timetable(t, board(t, chance)),
    "notices": lambda t, chance: notices(t, chance.sample(t.board, 5)),
    "news": lambda t, chance: news(t, chance.sample(t.headlines, 6)),
    "releases": lambda t, _: releases(t, [("4.2", t.notes[:3]), ("4.1", t.notes[3:5])]),
    "policy": lambda t, _: policy(t, t.prose),
    "events": lambda t, chance: events(t, programme(t, chance)),
    "rates": lambda t, chance: rates(t, [(fee, t.money(chance.randrange(8, 90))) for fee in t.fees]),
    "downloads": lambda t, chance: downloads(t, [(f, f"{chance.randrange(90, 900)} kB") for f in t.files]),
}
