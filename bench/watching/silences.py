"""Histories that must stay silent: churn at each check, temporary banners, temporary replacement pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random

from msgspec.structs import replace

from bench.watching import noises, nouns
from bench.watching.documents import Doc, Part, Piece, Where
from bench.watching.nouns import DAY, NOUNS, SPRING
from bench.watching.scripts import OFTEN, USUAL, Kind, Script, Step, still
from bench.watching.tongues import Tongue, languages, tongue

LOOKS = 14
LISTED = ("careers", "about", "shop", "listings", "notices", "news", "events", "downloads")


def noisy(doc: Doc, noise: noises.Noise) -> Step:
    return Step(lambda chance, at: noise(doc, chance, at), False, doc)


def some_page(t: Tongue, chance: Random, among: Sequence[str] = tuple(NOUNS)) -> Doc:
    return NOUNS[chance.choice(among)](t, chance)


def under_noise(make: noises.Made, among: Sequence[str], t: Tongue, chance: Random) -> Script:
    """A page that stays the same under one kind of churn from the first check on."""
    return Script((noisy(some_page(t, chance, among), make(t, chance)),) * LOOKS)


def episodes(pieces: Sequence[Piece], t: Tongue, chance: Random) -> Script:
    """Pieces appear and disappear, for one or several checks; one at a time."""
    doc = some_page(t, chance)
    steps = still(doc, chance.choice((2, 4)))
    while len(steps) < LOOKS + 4:
        steps += still(doc.having(chance.choice(pieces)), chance.choice((1, 1, 2, 3, 5)))
        steps += still(doc, chance.choice((1, 2, 3)))
    settled = doc
    return Script(tuple(step._replace(settled=settled) for step in steps))


def _banner(role: str, where: Sequence[Where], texts: Callable[[Tongue], Sequence[Sequence[str]]]) -> Kind:
    def told(t: Tongue, chance: Random) -> Script:
        place = chance.choice(where)
        return episodes([Piece(role, tuple(own), place, "div") for own in texts(t)], t, chance)

    return told


def served_by_lot(t: Tongue, chance: Random) -> Script:
    """A banner that every other visitor sees, at random."""
    words = chance.choice((t.cookie, t.promos[:1], (t.support,), (t.works,)))
    piece = Piece("notice-bar", tuple(words), chance.choice(("banner", "after")), "div")
    doc = some_page(t, chance)
    return Script((noisy(doc, lambda own, draw, _: own.having(piece) if draw.random() < 0.5 else own),) * LOOKS)


def swapped(words: Callable[[Tongue], Sequence[str]], bare: float, t: Tongue, chance: Random) -> Script:
    """Another page replaces this one for one to three checks, twice, then the old one returns."""
    doc, own = some_page(t, chance), words(t)
    stub = Doc(
        t.lang, own[0], own[0] if own[0] else "", (Part("prose", "", tuple(own[1:])),), bare=chance.random() < bare
    )
    steps = still(doc, chance.choice((3, 5)))
    for _ in range(2):
        steps += [Step(lambda _chance, _at: stub, False, None)] * chance.choice((1, 1, 2, 3))
        steps += still(doc, chance.choice((4, 5)))
    return Script(tuple(steps))


def empty_shell(t: Tongue, chance: Random) -> Script:
    return swapped(lambda own: (f"{own.site}", ""), 1.0, t, chance)


def foreign(t: Tongue, chance: Random) -> Script:
    """The same page in another language for a check or two, as if the server saw another visitor's country."""
    seed = chance.random()
    name = chance.choice(("policy", "notices", "news", "pricing", "careers", "hours"))
    doc = NOUNS[name](t, Random(seed))
    other = NOUNS[name](tongue(chance.choice([lang for lang in languages() if lang != t.lang])), Random(seed))
    steps = still(doc, 4)
    for _ in range(2):
        steps += [Step(lambda _chance, _at: other, False, None)] * chance.choice((1, 1, 2))
        steps += still(doc, 4)
    return Script(tuple(steps))


def shifted(t: Tongue, chance: Random) -> Script:
    """All dates are a day earlier for some checks: the same moments in another time zone."""
    seed = chance.random()
    days = sorted(Random(seed).sample(range(5, 120), 5))

    def programme(off: int) -> Doc:
        return nouns.events(t, [(n, t.day(SPRING + (d + off) * DAY)) for n, d in zip(t.gatherings, days, strict=True)])

    doc, other = programme(0), programme(chance.choice((-1, 1)))
    steps = still(doc, 4)
    for _ in range(2):
        steps += [Step(lambda _chance, _at: other, False, None)] * chance.choice((1, 2, 4))
        steps += still(doc, chance.choice((1, 3)))
    return Script(tuple(steps))


def _reordered(doc: Doc, draw: Random) -> Doc:
    parts = [replace(p, entries=tuple(draw.sample(p.entries, len(p.entries)))) for p in doc.parts]
    return replace(doc, parts=tuple(parts))


def reordered_once(t: Tongue, chance: Random) -> Script:
    doc = some_page(t, chance, LISTED)
    docs = [doc, _reordered(doc, chance), _reordered(doc, chance)]
    return Script(tuple(step for own in docs for step in still(own, 5)))


def reordered_always(t: Tongue, chance: Random) -> Script:
    doc = some_page(t, chance, LISTED)
    return Script((noisy(doc, lambda own, draw, _: _reordered(own, draw)),) * LOOKS)


def redesigned(t: Tongue, chance: Random) -> Script:
    """The site changes its design: the same text in another frame's markup, for good or back and forth."""
    doc = some_page(t, chance)
    other = replace(doc, frame="other")
    order = chance.choice(((5, 9), (4, 3, 7), (3, 1, 4, 1, 5)))
    steps = [step for n, looks in enumerate(order) for step in still((doc, other)[n % 2], looks)]
    return Script(tuple(step._replace(settled=doc) for step in steps))


def new_year(t: Tongue, chance: Random) -> Script:
    doc = some_page(t, chance)
    return Script((*still(doc, 5), *(step._replace(settled=doc) for step in still(replace(doc, year=2027), 9))))


def software(t: Tongue, chance: Random) -> Script:
    """The footer names the version of the site's software."""
    doc, minor = some_page(t, chance), chance.randrange(2, 30)
    steps: list[Step] = []
    for n in range(5):
        shown = doc.having(Piece("generator", (t.made_with.format(v=f"3.{minor + n}.{n * 7 % 10}"),), "foot", "small"))
        steps += still(shown, chance.choice((2, 3)))
    return Script(tuple(step._replace(settled=doc) for step in steps))


def pages_of_list(t: Tongue, chance: Random) -> Script:
    """The pagination under a list grows and shrinks with entries far down."""
    doc = some_page(t, chance, LISTED)

    def paged(own: Doc, draw: Random, _: int) -> Doc:
        return own.having(Piece("pagination", ("1 2 3 …", f"{draw.randrange(17, 20)} »"), "after", "span"))

    return Script((noisy(doc, paged),) * LOOKS)


def two_at_once(t: Tongue, chance: Random) -> Script:
    """Several kinds of churn together, as on a newspaper's page."""
    made = [noises.NOISES[name](t, chance) for name in chance.sample(list(noises.NOISES), 3)]

    def all_of(doc: Doc, draw: Random, at: int) -> Doc:
        for noise in made:
            doc = noise(doc, draw, at)
        return doc

    return Script((noisy(some_page(t, chance, LISTED), all_of),) * LOOKS)


def nothing(t: Tongue, chance: Random) -> Script:
    return Script(tuple(still(some_page(t, chance), LOOKS)), spacings=(OFTEN, USUAL))


_OF_ENTRIES = ("ages of entries", "views of entries")
SILENCES: Mapping[str, Kind] = {
    **{
        name: partial(under_noise, made, LISTED if name in _OF_ENTRIES else tuple(NOUNS))
        for name, made in noises.NOISES.items()
    },
    "cookie banner": _banner("cookie-consent", ("banner", "after", "foot"), lambda t: [t.cookie, t.cookie[:1]]),
    "promotion": _banner("promo", ("banner", "lead", "within", "after"), lambda t: [(text,) for text in t.promos]),
    "support banner": _banner("chat", ("banner", "after", "foot"), lambda t: [(t.support,)]),
    "maintenance banner": _banner("alert-bar", ("banner", "lead"), lambda t: [(t.works,)]),
    "banner by lot": served_by_lot,
    "swap: login": partial(swapped, lambda t: t.login, 0.4),
    "swap: error": partial(swapped, lambda t: t.error, 0.5),
    "swap: queue": partial(swapped, lambda t: t.queue, 0.8),
    "swap: loading": partial(swapped, lambda t: (t.loading,), 0.5),
    "swap: redirecting": partial(swapped, lambda t: (t.redirecting,), 0.9),
    "swap: home page": partial(swapped, lambda t: t.home, 0.0),
    "swap: challenge": partial(swapped, lambda t: t.challenge, 0.9),
    "swap: maintenance": partial(swapped, lambda t: t.repair, 0.8),
    "swap: empty shell": empty_shell,
    "another language": foreign,
    "dates shifted": shifted,
    "reordered once": reordered_once,
    "reordered always": reordered_always,
    "redesign": redesigned,
    "copyright year": new_year,
    "software version": software,
    "pagination": pages_of_list,
    "several noises": two_at_once,
    "nothing": nothing,
}
"""All kinds that must stay silent."""
