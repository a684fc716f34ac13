"""The languages: the texts of pages, from `languages/*.toml`. A list is one line, its items separated by bars."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from msgspec import Struct, convert

FOLDER = Path(__file__).parent / "languages"


class Tongue(Struct, frozen=True):
    """A language's words. In braces: n a number, p a price, t a time of day, date a date, v a version."""

    lang: str
    site: str
    foot: str
    skip: str
    nav: tuple[str, ...]
    months: tuple[str, ...]
    date: str
    careers: str
    jobs: tuple[str, ...]
    places: tuple[str, ...]
    about: str
    people: tuple[str, ...]
    roles: tuple[str, ...]
    pricing: str
    plans: tuple[str, ...]
    free: str
    contact: str
    from_price: str
    per_month: str
    price: str
    limit: str
    features: tuple[str, ...]
    shop: str
    products: tuple[str, ...]
    stock: tuple[str, ...]
    """In stock, sold out, preorder, waiting list."""
    left: str
    blurb: str
    status: str
    services: tuple[str, ...]
    states: tuple[str, ...]
    """Operational, out, slow, in maintenance."""
    calm: str
    incidents: tuple[str, ...]
    hours: str
    days: tuple[str, ...]
    closed: str
    holiday: str
    availability: str
    rooms: tuple[str, ...]
    vacant: tuple[str, ...]
    """Free, booked, few left."""
    listings: str
    flats: tuple[str, ...]
    timetable: str
    stops: tuple[str, ...]
    timetable_heads: tuple[str, ...]
    on_time: str
    late: str
    cancelled: str
    notices: str
    board: tuple[str, ...]
    news: str
    headlines: tuple[str, ...]
    releases: str
    version: str
    notes: tuple[str, ...]
    policy: str
    prose: tuple[str, ...]
    edits: tuple[str, ...]
    """A paragraph of the prose, an arrow, and the paragraph after an edit."""
    negation: str
    """The same, with one changed word."""
    deadline: str
    events: str
    gatherings: tuple[str, ...]
    called_off: str
    rates: str
    fees: tuple[str, ...]
    downloads: str
    files: tuple[str, ...]
    section: str
    section_prose: tuple[str, ...]
    clock: str
    generated: str
    minutes_ago: str
    hours_ago: str
    today: str
    yesterday: str
    views: str
    likes: str
    viewing: str
    comments: str
    results: str
    session: str
    cookie: tuple[str, ...]
    promos: tuple[str, ...]
    support: str
    works: str
    quotes_head: str
    quotes: tuple[str, ...]
    heroes: tuple[str, ...]
    related: str
    ads: tuple[str, ...]
    weather: str
    captchas: tuple[str, ...]
    made_with: str
    login: tuple[str, ...]
    error: tuple[str, ...]
    queue: tuple[str, ...]
    loading: str
    redirecting: str
    home: tuple[str, ...]
    challenge: tuple[str, ...]
    repair: tuple[str, ...]

    def day(self, at: int) -> str:
        """Format a date in this language; `at` in milliseconds."""
        moment = datetime.fromtimestamp(at / 1000, UTC)
        return self.date.format(d=moment.day, m=self.months[moment.month - 1], y=moment.year)

    def money(self, amount: float) -> str:
        return self.price.format(n=f"{amount:g}")


def time_of(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC):%H:%M:%S}"


@cache
def tongue(lang: str) -> Tongue:
    words = tomllib.loads((FOLDER / f"{lang}.toml").read_text("utf-8"))
    lists = {field for field, kind in Tongue.__annotations__.items() if kind.startswith("tuple")}
    told = {name: text.split(" | ") if name in lists else text for name, text in words.items()}
    return convert({"lang": lang, **told}, Tongue)


def languages() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
