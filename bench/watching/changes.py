"""Changes to report: lists, people, prices, stock and states. Labels follow the interests of such pages' readers."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from msgspec.structs import replace

from bench.watching import nouns
from bench.watching.documents import Part, entries, with_part
from bench.watching.scripts import Kind, Script, walk
from bench.watching.tongues import Tongue


def job_added(t: Tongue, chance: Random) -> Script:
    jobs = chance.sample(t.jobs, len(t.jobs))
    first, top = chance.choice((2, 4, 5)), chance.random() < 0.5
    lists = [jobs[:n] for n in range(first, len(jobs))]
    return Script(walk([nouns.careers(t, own[::-1] if top else own) for own in lists[:5]], chance))


def job_removed(t: Tongue, chance: Random) -> Script:
    jobs = chance.sample(t.jobs, 8)
    docs = [nouns.careers(t, jobs)]
    for _ in range(4):
        gone = chance.choice(jobs)
        jobs = [job for job in jobs if job != gone]
        docs.append(nouns.careers(t, jobs))
    return Script(walk(docs, chance))


def job_exchanged(t: Tongue, chance: Random) -> Script:
    """One goes and another comes in the same place."""
    jobs = chance.sample(t.jobs, len(t.jobs))
    shown, spare = jobs[:5], jobs[5:]
    docs = [nouns.careers(t, shown)]
    for job in spare[:4]:
        place = chance.randrange(5)
        shown = [*shown[:place], job, *shown[place + 1 :]]
        docs.append(nouns.careers(t, shown))
    return Script(walk(docs, chance))


def person_replaced(t: Tongue, chance: Random) -> Script:
    people = nouns.staff(t, chance, 4)
    names = [name for name in t.people if name not in dict(people)]
    docs = [nouns.about(t, people)]
    for name in names:
        place = chance.randrange(4)
        people = [*people[:place], (name, people[place][1]), *people[place + 1 :]]
        docs.append(nouns.about(t, people))
    return Script(walk(docs, chance))


def person_came_or_left(t: Tongue, chance: Random) -> Script:
    people = nouns.staff(t, chance, 6)
    numbers = chance.choice(((3, 4, 5, 6), (6, 5, 4, 3), (4, 5, 4, 6)))
    return Script(walk([nouns.about(t, people[:n]) for n in numbers], chance))


def role_changed(t: Tongue, chance: Random) -> Script:
    people = nouns.staff(t, chance, 4)
    docs = [nouns.about(t, people)]
    for role in t.roles[4:]:
        place = chance.randrange(4)
        people = [*people[:place], (people[place][0], role), *people[place + 1 :]]
        docs.append(nouns.about(t, people))
    return Script(walk(docs, chance))


def _plan_line(t: Tongue, chance: Random, number: int, line: int, values: list[str]) -> Script:
    base = nouns.pricing(t, nouns.plans(t, chance))
    docs = [base]
    for value in values:
        part = docs[-1].part(number)
        lines = (*part.lines[:line], value, *part.lines[line + 1 :])
        docs.append(with_part(docs[-1], number, replace(part, lines=lines)))
    return Script(walk(docs, chance))


def plan_limit(t: Tongue, chance: Random) -> Script:
    number = chance.choice((0, 1))
    limits = chance.choice(((10, 15, 10), (50, 40, 100), (20, 35, 30)))
    return _plan_line(t, chance, number, 1, [t.limit.format(n=n) for n in limits])


def plan_price(t: Tongue, chance: Random) -> Script:
    amounts = chance.choice(((17, 21, 17), (99, 89, 119), (24, 34, 44)))
    form = chance.choice((t.price, t.per_month.replace("{p}", t.price), "{n}", "$ {n}", "CHF {n}.–", "{n} USD"))
    first = form.format(n=13)
    base = nouns.plans(t, chance)
    number = chance.choice((1, 2))
    docs = []
    for value in (first, *(form.format(n=n) for n in amounts)):
        base[number] = replace(base[number], lines=(value, base[number].lines[1]))
        docs.append(nouns.pricing(t, tuple(base)))
    return Script(walk(docs, chance))


def plan_by_contact(t: Tongue, chance: Random) -> Script:
    prices = [t.from_price.format(p=t.money(n)) for n in (499, 599)]
    values = [t.contact, prices[0], chance.choice((prices[1], t.contact))]
    return _plan_line(t, chance, 2, 0, values)


def free_plan_costs(t: Tongue, chance: Random) -> Script:
    price = chance.choice((t.money(9), t.per_month.format(p=t.money(5)), "$9"))
    return _plan_line(t, chance, 0, 0, [price, t.free] if chance.random() < 0.5 else [price])


def plan_feature(t: Tongue, chance: Random) -> Script:
    base, number = nouns.plans(t, chance), chance.choice((0, 1))
    had = [entry.name for entry in base[number].entries]
    spare = [name for name in t.features if name not in had]
    lists = chance.choice(((had + spare[:1], had + spare[:2]), (had[1:], had), (had + spare[:1], had)))
    docs = [nouns.pricing(t, base)]
    docs += [with_part(docs[0], number, replace(base[number], entries=entries(names))) for names in lists]
    return Script(walk(docs, chance))


def _stocks(t: Tongue, chance: Random) -> list[str]:
    there, out, ahead, wait = t.stock
    few, fewer = t.left.format(n=3), t.left.format(n=2)
    return chance.choice(
        (
            [there, out, there, out, there],
            [out, there, few, fewer, out],
            [ahead, there, out, wait],
            [out, few, out, few],
            [there, few, out, ahead, there],
        )
    )


def stock_of_a_product(t: Tongue, chance: Random) -> Script:
    name, price = chance.choice(t.products), t.money(chance.randrange(20, 300))
    return Script(walk([nouns.product(t, name, price, stock) for stock in _stocks(t, chance)], chance))


def stock_in_a_shop(t: Tongue, chance: Random) -> Script:
    goods, place = nouns.goods(t, chance), chance.randrange(6)
    docs = []
    for stock in _stocks(t, chance):
        name, price, _ = goods[place]
        docs.append(nouns.catalogue(t, [*goods[:place], (name, price, stock), *goods[place + 1 :]]))
    return Script(walk(docs, chance))


def price_to_and_fro(t: Tongue, chance: Random) -> Script:
    form = chance.choice((t.price, t.price, t.from_price.replace("{p}", t.price), "{n},–", "{n}.00 $"))
    amounts = chance.choice(((29, 39, 29, 39), (29, 39, 29, 39, 19, 29), (1299, 1199, 1299), (450, 460, 455)))
    name, stock = chance.choice(t.products), t.stock[0]
    return Script(walk([nouns.product(t, name, form.format(n=n), stock) for n in amounts], chance))


def price_in_a_shop(t: Tongue, chance: Random) -> Script:
    goods, place = nouns.goods(t, chance), chance.randrange(6)
    docs = [nouns.catalogue(t, goods)]
    for amount in chance.choice(((33, 44, 33), (18, 17, 16), (999, 849))):
        name, _, stock = goods[place]
        docs.append(nouns.catalogue(t, [*goods[:place], (name, t.money(amount), stock), *goods[place + 1 :]]))
    return Script(walk(docs, chance))


def status_to_and_fro(t: Tongue, chance: Random) -> Script:
    place, (well, out, slow, works) = chance.randrange(5), t.states
    states = chance.choice(
        (
            [well, out, well, out, well],
            [well, slow, out, slow, well],
            [well, works, well],
            [well, slow, well, slow, well],
        )
    )
    docs = []
    for state in states:
        own = [well] * 5
        own[place] = state
        docs.append(nouns.status(t, own))
    return Script(walk(docs, chance))


def incident_told(t: Tongue, chance: Random) -> Script:
    """An incident text appears while the states stay, and disappears at the end."""
    well, _, slow, _ = t.states
    states = [well, slow, well, well, well]
    texts = chance.sample(t.incidents, 3)
    own = [texts[:1], texts[1::-1], [texts[2], *texts[1::-1]]]
    docs = [nouns.status(t, states), *(nouns.status(t, states, texts) for texts in own)]
    return Script(walk([*docs, docs[0]], chance))


def all_services(t: Tongue, chance: Random) -> Script:
    """Everything is out at once, and recovers."""
    well, out, *_ = t.states
    calm, bad = nouns.status(t, [well] * 5), nouns.status(t, [out] * 5, t.incidents[:1])
    return Script(walk([calm, bad, calm, bad, calm], chance))


def behind_a_selector(t: Tongue, chance: Random) -> Script:
    """One block is watched by its id: the shortest possible values."""
    base = nouns.product(t, chance.choice(t.products), t.money(120), t.features[0])
    block = [Part("prose", "", (value,), id="watched") for value in _stocks(t, chance)]
    return Script(walk([replace(base, parts=(*base.parts, part)) for part in block], chance), selector="#watched")


CHANGES: Mapping[str, Kind] = {
    "job added": job_added,
    "job removed": job_removed,
    "job exchanged": job_exchanged,
    "person replaced": person_replaced,
    "person came or left": person_came_or_left,
    "role changed": role_changed,
    "plan limit": plan_limit,
    "plan price": plan_price,
    "plan by contact": plan_by_contact,
    "free plan costs": free_plan_costs,
    "plan feature": plan_feature,
    "stock of a product": stock_of_a_product,
    "stock in a shop": stock_in_a_shop,
    "price to and fro": price_to_and_fro,
    "price in a shop": price_in_a_shop,
    "status to and fro": status_to_and_fro,
    "incident": incident_told,
    "all services": all_services,
    "behind a selector": behind_a_selector,
}
