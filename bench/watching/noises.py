"""Churn that a server produces by itself: drawn for each request, and of no interest to readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from msgspec.structs import replace

from bench.watching.documents import Doc, Entry, Piece, Where
from bench.watching.tongues import Tongue, time_of

Noise = Callable[[Doc, Random, int], Doc]
"""From a document, a request's random source and its time to the response."""
Made = Callable[[Tongue, Random], Noise]
MINUTE, HOUR = 60_000, 3_600_000
AROUND: tuple[Where, ...] = ("banner", "lead", "within", "aside", "after", "foot")
PROBE = ("mmMwWLliI0fiflO&1", "BESbswy BESbswy BESbswy", "giItT1WQy@!-/#")
ICONS = ("expand_more", "arrow_forward", "keyboard_arrow_down", "shopping_cart", "menu_open", "chevron_right")


def _line(t: Tongue, chance: Random, role: str, words: Callable[[Random, int], str]) -> Noise:
    """Return churn of one line, always at the same place."""
    where = chance.choice(AROUND)
    tag = chance.choice(("p", "span", "div", "small"))
    return lambda doc, draw, at: doc.having(Piece(role, (words(draw, at),), where, tag))


def _count(chance: Random) -> Callable[[Random, int], int]:
    """Return a counter that grows with time, sometimes a little behind, like a cache.

    Its last digit needs one plural form in all our languages.
    """
    base, rate = chance.randrange(20, 900), chance.choice((0.02, 0.3, 2.0))

    def count(draw: Random, at: int) -> int:
        tens = base + int((at // MINUTE % 100_000) * rate) + draw.choice((0, 0, 1, 3))
        return 10 * tens + draw.choice((0, 5, 6, 7, 8, 9))

    return count


def clock(t: Tongue, chance: Random) -> Noise:
    return _line(t, chance, "clock", lambda _, at: t.clock.format(t=time_of(at)))


def generated(t: Tongue, chance: Random) -> Noise:
    return _line(t, chance, "stamp", lambda _, at: t.generated.format(date=t.day(at), t=time_of(at)))


def minutes_ago(t: Tongue, chance: Random) -> Noise:
    numbers = (*range(11, 21), *range(25, 31), *range(35, 41), *range(45, 51), *range(55, 60))
    return _line(t, chance, "updated", lambda draw, _: t.minutes_ago.format(n=draw.choice(numbers)))


def hours_ago(t: Tongue, chance: Random) -> Noise:
    return _line(t, chance, "updated", lambda draw, _: t.hours_ago.format(n=draw.randrange(5, 11)))


def day_word(t: Tongue, chance: Random) -> Noise:
    return _line(t, chance, "updated", lambda _, at: (t.today, t.yesterday)[at // (2 * HOUR) % 2])


def ages_of_entries(t: Tongue, chance: Random) -> Noise:
    """Each entry of a list shows its age, and all grow older."""
    base = chance.randrange(3)

    def aged(doc: Doc, _draw: Random, at: int) -> Doc:
        step = at // HOUR % 3
        facts = [t.hours_ago.format(n=5 + (base + step + n) % 6) for n in range(40)]
        return _with_facts(doc, facts)

    return aged


def _with_facts(doc: Doc, facts: Sequence[str]) -> Doc:
    """Return the document with one more fact in each entry of its lists."""
    parts, n = [], 0
    for part in doc.parts:
        own = []
        for entry in part.entries:
            own.append(Entry(entry.name, (*entry.facts, facts[n % len(facts)])))
            n += 1
        parts.append(replace(part, entries=tuple(own)) if part.show == "list" else part)
    return replace(doc, parts=tuple(parts))


def views(t: Tongue, chance: Random) -> Noise:
    count = _count(chance)
    return _line(t, chance, "views", lambda draw, at: t.views.format(n=count(draw, at)))


def likes(t: Tongue, chance: Random) -> Noise:
    count = _count(chance)
    return _line(t, chance, "likes", lambda draw, at: t.likes.format(n=count(draw, at)))


def viewing(t: Tongue, chance: Random) -> Noise:
    return _line(t, chance, "viewing", lambda draw, _: t.viewing.format(n=draw.choice((5, 6, 7, 8, 15, 16, 17, 18))))


def comments(t: Tongue, chance: Random) -> Noise:
    count = _count(chance)
    return _line(t, chance, "comments", lambda draw, at: t.comments.format(n=count(draw, at) // 10 * 10))


def results(t: Tongue, chance: Random) -> Noise:
    base = chance.randrange(20, 900)
    return _line(t, chance, "results", lambda draw, _: t.results.format(n=10 * (base + draw.randrange(4)) + 5))


def views_of_entries(t: Tongue, chance: Random) -> Noise:
    counts = [_count(chance) for _ in range(40)]
    return lambda doc, draw, at: _with_facts(doc, [t.views.format(n=count(draw, at)) for count in counts])


def session(t: Tongue, chance: Random) -> Noise:
    return _line(t, chance, "session", lambda draw, _: t.session.format(x=f"{draw.getrandbits(64):016x}"))


def token(t: Tongue, chance: Random) -> Noise:
    """A token in the markup, a trace in a hidden element, and changing addresses of scripts and styles."""

    def marked(doc: Doc, draw: Random, _: int) -> Doc:
        build = f"{draw.getrandbits(32):08x}"
        extra = f'<meta name="csrf-token" content="{draw.getrandbits(128):032x}"><link href="/a.{build}.css">'
        return replace(doc.having(Piece("trace", (f"{draw.getrandbits(96):024x}",), "hidden")), extra=extra)

    return marked


def trace(t: Tongue, chance: Random) -> Noise:
    return _line(
        t, chance, "ray", lambda draw, _: f"ID {draw.getrandbits(64):016x}-{draw.choice(('FRA', 'LHR', 'ARN'))}"
    )


def weather(t: Tongue, chance: Random) -> Noise:
    base = chance.randrange(5, 16)
    return _line(t, chance, "weather", lambda _, at: t.weather.format(n=base + at // HOUR * 7 % 5))


def ticker(t: Tongue, chance: Random) -> Noise:
    names = chance.sample(("NRD", "SAND", "LARK", "TERN", "KELP"), 3)
    price = chance.uniform(20, 90)

    def quoted(draw: Random, _: int) -> str:
        moves = [(name, draw.uniform(-3, 3)) for name in names]
        return "  ".join(f"{name} {price * (1 + move / 100):.2f} {move:+.2f} %" for name, move in moves)

    return _line(t, chance, "ticker", quoted)


def _faces(role: str, texts: Sequence[str], chance: Random, heading: str = "", count: int = 0) -> Noise:
    """Return churn that shows one of some texts at random, at one place."""
    shown = chance.sample(texts, min(len(texts), count or len(texts)))
    where: Where = chance.choice(("aside", "after", "within"))
    head = (heading,) if heading else ()
    return lambda doc, draw, _: doc.having(Piece(role, (*head, draw.choice(shown)), where, "section"))


def quotes(t: Tongue, chance: Random) -> Noise:
    return _faces("testimonial", t.quotes, chance, t.quotes_head, chance.choice((2, 3, 4, 6)))


def tips(t: Tongue, chance: Random) -> Noise:
    """Tips of the day, without a heading or a telling name."""
    return _faces("box", t.quotes, chance, "", chance.choice((2, 4, 5)))


def heroes(t: Tongue, chance: Random) -> Noise:
    shown = chance.sample(t.heroes, chance.choice((2, 3)))
    return lambda doc, draw, _: doc.having(Piece("hero", (draw.choice(shown),), "lead", "div"))


def related(t: Tongue, chance: Random) -> Noise:
    names, where = (*t.products, *t.flats), chance.choice(("aside", "after"))
    return lambda doc, draw, _: doc.having(Piece("related", (t.related, *draw.sample(names, 3)), where, "section"))


def advertisement(t: Tongue, chance: Random) -> Noise:
    return _faces("ad-slot", t.ads, chance)


def captcha(t: Tongue, chance: Random) -> Noise:
    return _faces("question", t.captchas, chance)


def variants(t: Tongue, chance: Random) -> Noise:
    """A random A/B test of a call to action."""
    pair = chance.sample((*t.heroes, *t.promos), 2)
    where: Where = chance.choice(("lead", "after", "banner"))
    return lambda doc, draw, _: doc.having(Piece("cta", (draw.choice(pair),), where, "div"))


def probes(t: Tongue, chance: Random) -> Noise:
    """Invisible text: font probes, icon names; some responses have it and some do not."""

    def probed(doc: Doc, draw: Random, _: int) -> Doc:
        hidden = Piece("probe", (draw.choice(PROBE),), "hidden", "span")
        icons = tuple(draw.sample(ICONS, draw.randrange(3)))
        return doc.having(hidden, Piece("icons", icons, "after", "span"))

    return probed


def skip_links(t: Tongue, chance: Random) -> Noise:
    return lambda doc, draw, _: doc.having(Piece("skip", (t.skip,) * draw.randrange(2), "banner", "div"))


def menus(t: Tongue, chance: Random) -> Noise:
    """Menu items that only some responses have."""
    items = tuple(chance.sample((t.careers, t.pricing, t.news, t.about, t.events, t.downloads), 3))
    return lambda doc, draw, _: doc.having(Piece("menu", items[: draw.choice((0, 0, 2, 3))], "menu"))


NOISES: Mapping[str, Made] = {
    "clock": clock, "generated at": generated, "minutes ago": minutes_ago, "hours ago": hours_ago,
    "today, yesterday": day_word, "ages of entries": ages_of_entries, "views": views, "likes": likes,
    "people viewing": viewing, "comments": comments, "results": results, "views of entries": views_of_entries,
    "session in text": session, "token": token, "trace": trace, "weather": weather, "ticker": ticker,
    "quotes": quotes, "tips": tips, "heroes": heroes, "related": related, "advertisement": advertisement,
    "captcha": captcha, "variants": variants, "probes": probes, "skip links": skip_links, "menus": menus,
}  # fmt: skip
BACKGROUND = ("clock", "generated at", "minutes ago", "views", "token", "session in text", "people viewing")
"""Churn mild enough to run behind a history of changes."""
