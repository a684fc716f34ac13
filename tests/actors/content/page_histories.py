"""Generated histories of pages: two states, whether the step is news, and words that its event must contain."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from babel.dates import format_date, format_timedelta

from actors.content.messages import PageLook, PageRequest
from actors.content.tasks import look_page
from actors.content.wording.words import word_lists

HOUR = 3_600_000
START = 1_790_000_000_000
_NOUNS = ("Kettle", "Drill", "Lamp", "Rowing boat", "Ferry", "Piano", "Bicycle", "Ladder", "Camera", "Tent", "Stove")
_PLACES = ("Mill Lane", "North pier", "Old market", "Island line", "Harbour hall", "Stone bridge", "Upper school")
_STATES = ("Open", "Closed", "Running", "Cancelled", "Free", "Booked")
_BOXES = (
    'div class="promo-price"', 'aside', 'div role="dialog"', 'div class="card-footer"', 'div class="share-price"',
    'div class="ad-details"', 'div class="social-tariff"', 'div id="toolbar"', 'section class="related"',
)  # fmt: skip

_UPDATED = {
    "en": "Updated {}", "de": "Aktualisiert {}", "fr": "Mis à jour {}", "es": "Actualizado {}", "it": "Aggiornato {}",
    "nl": "Bijgewerkt {}", "pl": "Zaktualizowano {}", "ru": "Обновлено {}", "fi": "Päivitetty {}", "ja": "{}に更新",
    "zh": "更新于{}", "ko": "{} 업데이트", "tr": "{} güncellendi", "pt": "Atualizado {}", "sv": "Uppdaterad {}",
}  # fmt: skip
_ABOUT = {
    "en": ("over a week ago", "more than a month ago", "earlier this week", "a few days ago", "about 2 weeks ago"),
    "de": ("vor über einer Woche", "vor mehr als zwei Monaten"), "fr": ("il y a plus d'une semaine",),
    "es": ("hace más de una semana",), "it": ("più di una settimana fa",), "nl": ("meer dan een week geleden",),
    "pl": ("ponad tydzień temu",), "ru": ("больше недели назад",), "fi": ("yli viikko sitten",),
}  # fmt: skip
"""Past times that CLDR has no form for, with the number as a word."""
_TONGUES = {
    "en": (
        "Shipping and returns", "In stock", "Add to cart",
        "Our parcels leave the warehouse on each weekday before noon, and they arrive within three days.",
        "You may send goods back to us within thirty days, and we will pay for the parcel.",
        "The workshop is on the quay behind the old harbour hall, and it is open to visitors.",
    ),
    "de": (
        "Versand und Rückgabe", "Auf Lager", "In den Warenkorb",
        "Unsere Pakete verlassen das Lager an jedem Werktag vor Mittag, und sie kommen in drei Tagen an.",
        "Sie können die Ware innerhalb von dreißig Tagen an uns zurückschicken, und wir zahlen für das Paket.",
        "Die Werkstatt liegt am Kai hinter der alten Hafenhalle, und sie ist für Besucher offen.",
    ),
    "fr": (
        "Livraison et retours", "En stock", "Ajouter au panier",
        "Nos colis quittent l'entrepôt chaque jour ouvrable avant midi, et ils arrivent dans les trois jours.",
        "Vous pouvez nous renvoyer la marchandise dans les trente jours, et nous payons le colis.",
        "L'atelier se trouve sur le quai derrière la vieille halle du port, et il est ouvert aux visiteurs.",
    ),
    "ja": (
        "配送と返品", "在庫あり", "カートに入れる", "荷物は平日の正午までに倉庫を出て、三日以内に届きます。",
        "商品は三十日以内に返品でき、送料は当店が負担します。", "工房は古い港のホールの裏の岸壁にあり、見学できます。",
    ),
}  # fmt: skip
_EXCUSES = (
    "This page isn't available", "This content isn't available right now", "Page not available", "Nothing here",
    "Diese Seite ist nicht verfügbar", "Cette page n'est pas disponible", "Страница недоступна",
    "Strona jest niedostępna", "このページはご利用いただけません", "This page has wandered off",
)  # fmt: skip
_CALLS = ("Get started for free", "Book a demo", "Join our newsletter", "Register now", "Jetzt kostenlos testen")
_FOOT = ("Imprint", "Privacy", "Terms", "Careers", "Press", "Help", "Status", "Cookie settings", "Do not sell my data")
_LIMITS = ("subscribers", "views a month", "followers", "readers", "comments", "votes", "projects", "GB of storage")


class Story(NamedTuple):
    """told: words of the event, "" for any, None for no event. more: further states, for example of noise."""

    before: bytes
    after: bytes
    told: str | None
    content_type: str = "text/html"
    selector: str | None = None
    more: tuple[bytes, ...] = ()


def page(main: str, title: str = "Harbour Tools", head: str = "") -> bytes:
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body>"
        "<header><a href=/>Harbour Tools</a><nav><a href=/shop>Shop</a> <a href=/about>About us</a></nav></header>"
        f"<main>{main}</main><footer><p>Harbour Tools Ltd, 4 Quay Road</p><p>© 2026 Harbour Tools</p></footer>"
        "</body></html>"
    ).encode()


def _shop(rest: str, **more: str) -> bytes:
    text = "<p>It is made of steel and brass, and it comes with a case.</p><p>Parcels leave on each weekday.</p>"
    return page(f"<h1>Shop</h1>{text}{rest}", **more)


def _pair(before: str, after: str, told: str | None) -> Story:
    return Story(_shop(before), _shop(after), told)


def _table(rows: list[tuple[str, str]]) -> str:
    return "<table><tr><th>Name<th>Now</tr>" + "".join(f"<tr><td>{a}<td>{b}</tr>" for a, b in rows) + "</table>"


def _rows(c: random.Random) -> list[tuple[str, str]]:
    names = c.sample(_PLACES, 5)
    return [(name, f"€{10 + 7 * at + c.randrange(6)}") for at, name in enumerate(names)]


def _prices(c: random.Random) -> tuple[int, int]:
    one = c.randrange(20, 900)
    return one, one + c.randrange(1, 90)


def button_words(c: random.Random) -> Story:
    return _pair("<button>Not available</button>", "<button>Add to cart</button>", "Add to cart")


def button_enabled(c: random.Random) -> Story:
    name = c.choice(("Buy", "Register", "Add to cart"))
    return _pair(f"<button disabled>{name}</button>", f"<button>{name}</button>", name)


def option_words(c: random.Random) -> Story:
    size = c.randrange(36, 46)
    select = f"<select><option>30<option>{size}{{}}<option>50</select>"
    return _pair(select.format(" - sold out"), select.format(""), "sold out")


def field_value(c: random.Random) -> Story:
    one, other = _prices(c)
    field = "<form><label>Diesel <input value='{}.{}' readonly></label></form>"
    return _pair(field.format(1, one), field.format(1, other), str(other))


def picture_says(c: random.Random) -> Story:
    one, other = c.sample(_STATES, 2)
    how = c.choice(("<p><img src=/a.png alt='{}'></p>", "<p><span class=dot title={}></span></p>"))
    return _pair(how.format(one), how.format(other), other)


def title_alone(c: random.Random) -> Story:
    one, other = c.sample(_STATES, 2)
    return Story(_shop("", title=f"Lists {one} – Shop"), _shop("", title=f"Lists {other} – Shop"), other)


def closed_panel(c: random.Random) -> Story:
    one, other = _prices(c)
    how = c.choice(("hidden", "style='display:none'", "aria-hidden=true", "hidden=until-found"))
    panel = f"<button aria-controls=p1>Fee</button><div id=p1 {how}><p>The monthly fee is {{}} euros in all.</p></div>"
    return _pair(panel.format(one), panel.format(other), str(other))


def shadow_or_frame(c: random.Random) -> Story:
    one, other = _prices(c)
    how = c.choice(
        (
            "<x-box><template shadowrootmode=open><p>Rate: {} euros</p></template></x-box>",
            "<iframe srcdoc='<p>Rate: {} euros</p>'></iframe>",
            "<svg><text x=1 y=1>Rate: {} euros</text></svg>",
        )
    )
    return _pair(how.format(one), how.format(other), str(other))


def price_in_box(c: random.Random) -> Story:
    one, other = _prices(c)
    box = c.choice(_BOXES)
    whole = f"<{box}><p>€{{}}</p><p>In stock</p></{box.split()[0]}>"
    return _pair(whole.format(one), whole.format(other), str(other))


def list_in_box(c: random.Random) -> Story:
    box = c.choice((*_BOXES, 'nav class="toc"', 'div class="announcements"', 'div class="popular"'))
    new, *names = c.sample(_NOUNS, 4)
    items = [f"<li><a href=/{name.split()[0]}>{name} for sale</a></li>" for name in (new, *names)]
    whole = f"<{box}><ul>{{}}</ul></{box.split()[0]}>"
    return _pair(whole.format("".join(items[1:])), whole.format("".join(items)), new)


def rows_exchange(c: random.Random) -> Story:
    rows = _rows(c)
    one, other = c.sample(range(5), 2)
    after = list(rows)
    after[one], after[other] = (rows[one][0], rows[other][1]), (rows[other][0], rows[one][1])
    return _pair(_table(rows), _table(after), rows[one][1])


def rows_reordered(c: random.Random) -> Story:
    rows = _rows(c)
    return _pair(_table(rows), _table(c.sample(rows, 5)), None)


def card_moves(c: random.Random) -> Story:
    one, *names = c.sample(_NOUNS, 6)
    column = "<section><h2>{}</h2>{}</section>"
    cards = [f"<div>{name}</div>" for name in names]
    before = column.format("Planned", f"<div>{one}</div>" + "".join(cards[:3])) + column.format(
        "Done", "".join(cards[3:])
    )
    after = column.format("Planned", "".join(cards[:3])) + column.format(
        "Done", f"<div>{one}</div>" + "".join(cards[3:])
    )
    return _pair(before, after, one)


def cards_reordered(c: random.Random) -> Story:
    cards = [f"<div><h3>{name}</h3><p>{price}</p></div>" for name, price in _rows(c)]
    return _pair("".join(cards), "".join(c.sample(cards, 5)), None)


def values_exchange(c: random.Random) -> Story:
    rows = _rows(c)
    after = list(rows)
    after[0], after[1] = (rows[0][0], rows[1][1]), (rows[1][0], rows[0][1])
    before, now = (
        "".join(f"<div><h3>{name}</h3><p>{price}</p></div>" for name, price in side) for side in (rows, after)
    )
    return _pair(before, now, rows[0][1])


def one_value(c: random.Random) -> Story:
    draw: tuple[Callable[[], str], ...] = (
        lambda: f"{c.randrange(9)}.{c.randrange(20)}.{c.randrange(99)}",
        lambda: f"2026-0{c.randrange(1, 9)}-{c.randrange(10, 28)}",
        lambda: f"{c.getrandbits(128):032x}",
        lambda: str(c.getrandbits(60) + 10**12),
        lambda: f"No. {c.randrange(10, 99)}-{c.randrange(1000, 9999)}",
        lambda: f"10.{c.randrange(256)}.{c.randrange(256)}.7",
    )
    kind = c.choice(draw)
    one, other = kind(), kind()
    if one == other:
        return one_value(c)
    if c.random() < 0.5:
        return Story(one.encode(), other.encode(), other, "text/plain")
    before, after = (
        f"<html><head><title>Latest</title></head><body><h1>{text}</h1></body></html>".encode() for text in (one, other)
    )
    return Story(before, after, other)


def chosen_value(c: random.Random) -> Story:
    one, other = c.sample([f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60)], 2)
    before, after = (_shop(f"<p>Next ferry</p><p id=next>{text}</p>") for text in (one, other))
    return Story(before, after, other, selector="#next")


def long_integer(c: random.Random) -> Story:
    one = c.getrandbits(62) + 3 * 10**18
    other = one + c.choice((1, 2, 10**9))
    before, after = (f'{{"supply": {number}, "state": "ok"}}'.encode() for number in (one, other))
    return Story(before, after, str(other), "application/json")


def checksum(c: random.Random) -> Story:
    one, other = (f"{c.getrandbits(256):064x}" for _ in range(2))
    how = c.choice(("<p>SHA-256: {}</p>", "<table><tr><th>File<th>Sum</tr><tr><td>tool.zip<td>{}</tr></table>"))
    return _pair(how.format(one), how.format(other), other)


def offer_in_data(c: random.Random) -> Story:
    one, other = _prices(c)
    how = c.choice(
        (
            "<b data-price={}.00></b>",
            '<script type="application/json">{{"props": {{"product": {{"name": "D40", "price": {}}}}}}}</script>',
            '<script type="application/ld+json">{{"@type": "Offer", "price": {}, "priceCurrency": "EUR",}}</script>',
        )
    )
    return _pair(how.format(one), how.format(other), str(other))


def sentence(c: random.Random) -> Story:
    place, day, later = c.choice(_PLACES), *c.sample(range(2, 28), 2)
    text = (
        f"<p>The office at {place} takes applications for the summer until {{}} June of this year, by letter only.</p>"
    )
    return _pair(text.format(day), text.format(later), str(later))


def new_paragraph(c: random.Random) -> Story:
    text = f"<p>The {c.choice(_PLACES)} is closed until the storm has passed and its roof has been mended again.</p>"
    return _pair("<p>All is well.</p>", f"<p>All is well.</p>{text}", "storm")


def made_anew(c: random.Random) -> Story:
    how = c.choice(
        (
            lambda: f"<p>Request {c.getrandbits(64):016x}</p>",
            lambda: f"<p>Page generated on 2026-05-01 12:{c.randrange(10, 59)}:01</p>",
            lambda: f"<p>{c.randrange(2, 59)} minutes ago</p>",
            lambda: f"<p>{c.randrange(2, 900)} comments</p>",
            lambda: f"<table><tr><td>Trace<td>{c.getrandbits(128):032x}</tr></table>",
        )
    )
    bodies = [_shop(how()) for _ in range(7)]
    return Story(bodies[0], bodies[1], None, more=tuple(bodies[2:]))


def only_markup(c: random.Random) -> Story:
    rows = _table(_rows(c))
    return _pair(rows, f"<div class=x{c.randrange(99)}><section>{rows}</section></div><script>1</script>", None)


def menu_changes(c: random.Random) -> Story:
    before = _shop(_table(_rows(random.Random(c.random()))))
    return Story(before, before.replace(b"About us</a>", b"About us</a> <a href=/jobs>Jobs</a>"), None)


def time_passes(c: random.Random) -> Story:
    """A spelled-out past time advances: this week, last week, over a week ago, 3 weeks ago."""
    locale = c.choice(word_lists("cldr")["words"]["locales"].split("|"))
    today, yesterday, before, _, periods = word_lists("cldr")["said"][locale].split("; ")
    # Hungarian's "ma" is also a word in other languages.
    words = [word for part in (today, yesterday, before, periods) for word in part.split("|") if word not in {"", "ma"}]
    for unit in ("hours", "days", "weeks"):
        ago = timedelta(**{unit: -c.randrange(1, 6)})
        words.append(format_timedelta(ago, locale=locale, add_direction=True, threshold=9))
    one, other = c.sample([*words, *_ABOUT.get(locale, ())], 2)
    how = c.choice(
        ("<p>{}</p>", "<div><h3>Kettle</h3><span>{}</span></div>", "<ul><li>{}<li>Free</ul>", "<p>{} · Anna</p>")
    )
    stamp = how.format(_UPDATED.get(locale, "{}"))
    return _pair(stamp.format(one), stamp.format(other), None)


def _visited(c: random.Random, usual: bytes, other: bytes) -> Story:
    """Return a story: another version comes for a check or two, goes, and comes once more."""
    stays = [other] * c.randrange(2)
    return Story(usual, other, None, more=(*stays, usual, usual, other, usual))


def _translated(c: random.Random, tongue: str) -> str:
    heading, stock, buy, *texts = _TONGUES[tongue]
    if c.random() < 0.5:
        return f"<h1>{heading}</h1>" + "".join(f"<p>{text}</p>" for text in texts)
    cards = (f"<div><h3>D{n}</h3><p>€{c.randrange(9, 99)}</p><p>{stock}</p><button>{buy}</button></div>" for n in "123")
    return f"<h1>{heading}</h1><p>{texts[0]}</p>{''.join(cards)}<p>{texts[1]}</p>"


def other_language(c: random.Random) -> Story:
    drawn, says, named = c.random(), c.random() < 0.5, c.random() < 0.5
    one, other = (
        page(_translated(random.Random(drawn), tongue), _TONGUES[tongue][0] if named else "Harbour Tools").replace(
            b" lang=en", f" lang={tongue}".encode() if says else b""
        )
        for tongue in c.sample(sorted(_TONGUES), 2)
    )
    return _visited(c, one, other)


def not_available(c: random.Random) -> Story:
    says, head = c.choice(_EXCUSES), c.choice(("h1", "h2", "p"))
    rest = c.choice(
        (
            "",
            "<p>The link you followed may be broken, or the page may have been removed. <a href=/>Back to the shop</a>",
            "<p>Please try again later.</p><button>Reload</button>",
        )
    )
    title = c.choice(("Harbour Tools", says))
    return _visited(c, page(_translated(c, "en")), page(f"<{head}>{says}</{head}>{rest}", title))


def call_to_action(c: random.Random) -> Story:
    how = c.choice(
        (
            "<div><h2>{}</h2><a href=/go>Start</a></div>",
            "<a href=/go>{}</a>",
            "<section><h3>{}</h3><button>Start</button></section>",
            "<div><p>{}: we would like to tell you what is new in the shop once in each month.</p>"
            "<button>Yes</button><button>Later</button></div>",
        )
    )
    main, call = _translated(c, "en"), how.format(c.choice(_CALLS))
    with_call = c.choice((f"{call}{main}", main.replace("</h1>", f"</h1>{call}"), f"{main}{call}"))
    return _visited(c, *c.sample([page(main), page(with_call)], 2))


def foot_links(c: random.Random) -> Story:
    links = c.sample(_FOOT, c.randrange(4, 9))
    how = c.choice(("<li><a href=/f>{}</a></li>", "<a href=/f>{}</a> "))
    main = page(_translated(c, "en")).partition(b"<footer>")[0].decode()
    some, more = (
        f"{main}<div><ul>{''.join(map(how.format, kept))}</ul><p>© 2026 Harbour Tools</p></div></body></html>".encode()
        for kept in (links[:-1], links)
    )
    return _visited(c, *c.sample([some, more], 2))


def _plans(c: random.Random, what: str, counts: list[int]) -> str:
    rows = zip(("Free", "Team", "Company"), (0, 19, 79), counts, strict=True)
    limit = c.choice(
        ("<p class=plan-limit>{:,} {}</p>", "<ul><li>Up to {:,} {}<li>Help by mail</ul>", "<p>{1}: {0}</p>")
    )
    card = "<div><h3>{}</h3><p>€{} a month</p>{}</div>"
    return "".join(card.format(name, price, limit.format(n, what)) for name, price, n in rows)


def plan_limit(c: random.Random) -> Story:
    counts = sorted(c.sample((1, 3, 5, 10, 25, 50, 100, 500, 1_000, 2_500, 10_000), 3))
    after, at = list(counts), c.randrange(3)
    after[at] = c.choice((2, 15, 20, 200, 750, 1_500, 20_000))
    drawn, what = c.random(), c.choice(_LIMITS)
    one, other = (_plans(random.Random(drawn), what, side) for side in (counts, after))
    return _pair(one, other, f"{after[at]:,}" if f"{after[at]:,}" in other else str(after[at]))


def counters_beside_prices(c: random.Random) -> Story:
    what, counts = c.choice(("views", "watchers", "comments", "likes")), [c.randrange(101, 3_000) for _ in range(3)]
    steps = [[count + c.randrange(40) * step for count in counts] for step in range(7)]
    before, after, *more = (
        _shop("".join(f"<div><h3>{name}</h3><p>€{price}</p><p>{n} {what}</p></div>" for name, price, n in rows))
        for rows in (zip(_NOUNS, (20, 45, 70), step, strict=False) for step in steps)
    )
    return Story(before, after, None, more=tuple(more))


_DATED = {
    "en": ("Version in force on {}", "Get it by {}", "Today is {}", "Rates as of {}"),
    "de": ("Stand der Preise: {}", "Lieferung bis {}", "Heute ist {}"), "fr": ("Livraison le {}", "En vigueur le {}"),
    "es": ("Entrega el {}", "Vigente el {}"), "it": ("Consegna entro {}",), "nl": ("Bezorgd op {}",),
    "pl": ("Dostawa do {}",), "sv": ("Leverans senast {}",), "ru": ("Доставка {}",), "ja": ("お届け日：{}",),
}  # fmt: skip


def _dated(c: random.Random) -> Callable[[date], bytes]:
    """Return a page with a date in one of many languages and forms."""
    locale = c.choice(sorted(_DATED))
    text, form = c.choice(_DATED[locale]), c.choice(("long", "full", "medium"))
    how = c.choice(("<p>{}</p>", "<div>{}</div>", "<p><strong>{}</strong></p>"))
    return lambda day: _shop("<p>€129</p>" + how.format(text.format(format_date(day, form, locale=locale))))


def day_of_each_check(c: random.Random) -> Story:
    """A date that is one day later at each check."""
    shown, first = _dated(c), date(2026, 1, 1) + timedelta(days=c.randrange(300))
    before, after, *more = (shown(first + timedelta(days=n)) for n in range(9))
    return Story(before, after, None, more=tuple(more))


def day_of_the_clock(c: random.Random) -> Story:
    """A date some days from today, checked each hour for two days and more."""
    shown, days, zone = _dated(c), c.choice((-1, 0, 0, 1, 2, 3, 5)), c.randrange(24)
    at = (datetime.fromtimestamp(START / 1000, UTC) + timedelta(hours=number + zone) for number in range(1, 60))
    first, second, *rest = (shown((moment + timedelta(days=days)).date()) for moment in at)
    return Story(first, rest[0], None, more=tuple(rest[1:])) if first == second else day_of_the_clock(c)


def day_moves(c: random.Random) -> Story:
    """A moved date: by some days, or by one if it is not near."""
    shown, today = _dated(c), datetime.fromtimestamp(START / 1000, UTC).date()
    ahead, step = c.choice(((c.randrange(-10, 60), c.choice((-7, -3, 3, 4, 7, 14, 30))), (c.randrange(30, 90), 1)))
    one, other = today + timedelta(days=ahead), today + timedelta(days=ahead + step)
    return Story(shown(one), shown(other), "")


def clock_in_a_sentence(c: random.Random) -> Story:
    text = c.choice(("Teraz jest {}", "この時計は{}です", "Sett till {} idag i hamnen", "{} في الميناء"))
    zone, form = c.randrange(1440), c.choice(("%H:%M", "%H:%M:%S"))
    at = (datetime.fromtimestamp(START / 1000, UTC) + timedelta(hours=n, minutes=zone) for n in (1, 3, 4, 5, 6, 7))
    before, after, *more = (_shop(_table([("A", text.format(moment.strftime(form))), ("B", "Open")])) for moment in at)
    return Story(before, after, None, more=tuple(more))


def _drawn(c: random.Random) -> str:
    """Return a hexadecimal number with a digit in it."""
    return (
        f"{c.randrange(10)}{c.getrandbits(16):04x}" if c.random() < 0.5 else f"{c.getrandbits(16):04x}{c.randrange(10)}"
    )


def lines_of_a_server(c: random.Random) -> Story:
    """A line that a server writes for each request: how long it took, the machine, the request."""
    how = c.choice(
        (
            "<p>Page generated in 0.{0} s by web-{1:02}, request {2}</p>",
            "<p>Rendered in {0} ms on node {1}, {3} queries, trace {2}</p>",
            "<table><tr><td>Served in 0.{0} seconds by web-{1:02}, request {2}<td>Open</tr></table>",
            "<p>cache {2} · {0} ms · {3} rows</p>",
        )
    )
    before, after, *more = (
        _shop(how.format(c.randrange(100, 999), c.randrange(10), _drawn(c), c.randrange(9, 99))) for _ in range(9)
    )
    return Story(before, after, None, more=tuple(more))


def stamps_of_a_document(c: random.Random) -> Story:
    """An XML document with the time of its making, and an id drawn for each answer."""
    form = c.choice(
        (
            '<r id="{id}" generated="{at}"><item><name>A</name><v>1</v></item><item><name>B</name><v>2</v></item></r>',
            '<list created="{at}" request="{id}"><x>1</x><x>2</x></list>',
            '<out at="{at}" run="{id}" total="2"><row n="1">Open</row><row n="2">Closed</row></out>',
        )
    )
    moments = (datetime.fromtimestamp(START / 1000, UTC) + timedelta(hours=n) for n in range(2, 11))
    before, after, *more = (
        form.format(id=f"{c.getrandbits(24):x}", at=f"{moment:%Y-%m-%dT%H:%M:%SZ}").encode() for moment in moments
    )
    return Story(before, after, None, "application/xml", more=tuple(more))


def value_of_a_document(c: random.Random) -> Story:
    one, other = _prices(c)
    before, after = (f'<r><item name="A"><v>{n}</v></item><item name="B"><v>2</v></item></r>' for n in (one, other))
    return Story(before.encode(), after.encode(), str(other), "application/xml")


def shuffled_grid(c: random.Random) -> Story:
    """A grid that is in another order at each check, and leaves out one of its entries."""
    form = c.choice(("{0} model {1}{2}", "{0} from {3}"))
    nouns = c.sample(_NOUNS, c.randrange(7, 12))
    names = [form.format(noun, c.choice("ABCDEFG"), at, c.choice(_PLACES)) for at, noun in enumerate(nouns)]
    how = c.choice(
        ("<li><a href=/s/{0}>{1}</a> <span>€{2}</span></li>", "<li><a href=/s/{0}>{1}</a></li>", "<li>{1}</li>")
    )
    items = [how.format(at, name, 20 + 7 * at) for at, name in enumerate(names)]
    left_out = c.sample(range(len(items)), 7)
    before, after, *more = (
        _shop(f"<ul>{''.join(c.sample([*items[:n], *items[n + 1 :]], len(items) - 1))}</ul>") for n in left_out
    )
    return Story(before, after, None, more=tuple(more))


def entry_replaced(c: random.Random) -> Story:
    new, old, *names = (f"{name} for sale" for name in c.sample(_NOUNS, 8))
    at = c.randrange(7)
    one, other = (
        "".join(f"<li><a href=/s>{name}</a></li>" for name in [*names[:at], x, *names[at:]]) for x in (old, new)
    )
    return _pair(f"<ul>{one}</ul>", f"<ul>{other}</ul>", new)


_LATE = (
    ("On time", "Delayed until {}"), ("Planmäßig", "Verspätet bis {}"), ("À l'heure", "Retardé à {}"),
    ("Planowo", "Opóźniony do {}"), ("In orario", "In ritardo, ore {}"), ("I tid", "Försenad till {}"),
)  # fmt: skip


def departure_is_late(c: random.Random) -> Story:
    """One of several departures is late, or on time again; the others have the same remark."""
    usual, late = c.choice(_LATE)
    late, at = late.format(f"{c.randrange(10, 24)}:{c.randrange(10, 60)}"), c.randrange(5)
    how = c.choice(("<div><h3>{}</h3><p>{}</p></div>", "<div><b>{}</b><div>{}</div></div>"))
    places = c.sample(_PLACES, 5)
    one, other = ("".join(how.format(p, x if n == at else usual) for n, p in enumerate(places)) for x in (usual, late))
    one, other = c.sample((one, other), 2)
    return _pair(one, other, late)


KINDS: tuple[Callable[[random.Random], Story], ...] = (
    button_words, button_enabled, option_words, field_value, picture_says, title_alone, closed_panel, shadow_or_frame,
    price_in_box, list_in_box, rows_exchange, rows_reordered, card_moves, cards_reordered, values_exchange, one_value,
    chosen_value, long_integer, checksum, offer_in_data, sentence, new_paragraph, made_anew, only_markup, menu_changes,
    time_passes, other_language, not_available, call_to_action, foot_links, plan_limit, counters_beside_prices,
    day_of_each_check, day_of_the_clock, day_moves, clock_in_a_sentence, lines_of_a_server, stamps_of_a_document,
    value_of_a_document, shuffled_grid, entry_replaced, departure_is_late,
)  # fmt: skip


def bodies_of(story: Story) -> list[bytes]:
    """Return the first state twice, then the following states."""
    return [story.before, story.before, story.after, *(story.more or [story.after] * 4)]


def looks(story: Story) -> Iterator[PageLook]:
    """Check all states of a story."""
    memory = None
    for number, body in enumerate(bodies_of(story), 1):
        at = START + number * HOUR
        asked = PageRequest(
            body, story.content_type, "https://shore.example/", story.selector, memory=memory, number=number, at=at
        )
        look = look_page(asked)
        memory = look.memory
        yield look


def trouble_of(story: Story) -> str:
    """Return the fault in the reports of a story, "" for none."""
    events = [look for look in looks(story) if look.kind in {"changed", "moved"}]
    for look in events:
        assert look.diff is not None
        shown = {
            *look.diff.added,
            *look.diff.removed,
            *(text for one in look.diff.changed for text in (one.before, one.after)),
        }
        weightless = {one.text for one in look.withheld if not one.score} - {one.text for one in look.weighed}
        if noise := shown & weightless:
            return f"without weight, and shown: {noise}"
    if story.told is None:
        return f"told {events[0].summary!r}" if events else ""
    if not events:
        return "silent"
    return (
        ""
        if len(events) == 1 and story.told in f"{events[0].diff} {events[0].changes}"
        else f"told {events[0].summary!r}"
    )
