"""The practice page and feed: a newcomer changes them with a button to see the service notice. Pure.

A document is a function of its step, the number of changes made so far, and of the templates in `practice.toml`. No
state ever repeats: the service rightly reports no change for a page that returns to an earlier state. The way from a
step to a check, an event and a signature is that of every other source, from `actors/sources/registry/practice.py` on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from html import escape
from importlib.resources import files
from typing import Final, Literal, NamedTuple, get_args


class Notice(NamedTuple):
    """One notice. tongue: the language's name; language: its code."""

    language: str
    tongue: str
    title: str
    text: str


_FILE: Final = tomllib.loads(files("actors").joinpath("practice.toml").read_text("utf-8"))


def notice(number: int) -> Notice:
    """Return the notice with a number, from 0 on; no two are alike.

    >>> notice(0).title, notice(1).tongue, notice(0).language == notice(8).language
    ('Sailing 101 is moved', 'Swedish', True)
    """
    line, minutes = _FILE["notices"][number % len(_FILE["notices"])], 360 + number * 95 % 900
    values = {"n": 101 + number, "time": f"{minutes // 60}:{minutes % 60:02d}"}
    return Notice(**{name: text.format(**values) for name, text in line.items()})


_SHOWN: Final = 8
_AT_FIRST: Final = 3


def feed_at(step: int) -> bytes:
    newest = _AT_FIRST + step - 1
    numbers = range(newest, max(0, newest + 1 - _SHOWN) - 1, -1)
    items = "\n".join(
        f'    <item><guid isPermaLink="false">urn:sanderling:practice:{number}</guid><title>{escape(new.title)}</title>'
        f"<description>{escape(new.text)}</description><dc:language>{new.language}</dc:language></item>"
        for number, new in zip(numbers, map(notice, numbers), strict=True)
    )
    return str(_FILE["feed"]).format(items=items).encode()


def feed_change(step: int) -> str:
    """Return the text about a step's change.

    >>> feed_change(1)
    'An entry was added, in French.'
    """
    return f"An entry was added, in {notice(_AT_FIRST + step - 1).tongue}."


_FARES: Final = (("Single, adult", 1800), ("Day ticket, adult", 3100), ("Bicycle", 650))
"""Names, and initial prices in cents."""
_STRIDE, _SPREAD = 37, 101  # steps of 3.70 modulo 10.10: a hundred and one different prices before one repeats
_PAGE_SHOWN: Final = 5
_ON_PAGE: Final = 3


def page_at(step: int) -> bytes:
    fares = "\n".join(f"        <li>{name}: {_price(index, step)} euro</li>" for index, (name, _) in enumerate(_FARES))
    items = "\n".join(
        f'        <li lang="{new.language}">{escape(new.text)}</li>'
        for new in map(notice, range(_notices(step) - 1, max(0, _notices(step) - _PAGE_SHOWN) - 1, -1))
    )
    return str(_FILE["page"]).format(fares=fares, items=items, closing=_closing(step)).encode()


def page_change(step: int) -> str:
    """Return the text about a step's change.

    >>> page_change(1), page_change(3)
    ('The fare "Single, adult" went from 18.00 to 21.70 euro.', 'The office closes at 17:35 instead of 17:00.')
    """
    match step % 3:
        case 1:
            index = step // 3 % len(_FARES)
            before, after = _price(index, step - 1), _price(index, step)
            return f'The fare "{_FARES[index][0]}" went from {before} to {after} euro.'
        case 2:
            return f"A notice was put up, in {notice(_notices(step) - 1).tongue}."
        case _:
            return f"The office closes at {_closing(step)} instead of {_closing(step - 1)}."


def _price(index: int, step: int) -> str:
    own = ((step + 2) // 3 + len(_FARES) - 1 - index) // len(_FARES)
    cents = _FARES[index][1] + own * _STRIDE % _SPREAD * 10
    return f"{cents // 100}.{cents % 100:02d}"


def _notices(step: int) -> int:
    return _ON_PAGE + (step + 1) // 3


def _closing(step: int) -> str:
    minutes = 17 * 60 + step // 3 * 35 % 240
    return f"{minutes // 60}:{minutes % 60:02d}"


PracticeKind = Literal["page", "feed"]
PRACTICE_KINDS: tuple[PracticeKind, ...] = get_args(PracticeKind)
PATH = "/practice/"


class Document(NamedTuple):
    """One practice document. at: its bytes at a step. says: that step's change, for steps from 1 on."""

    media: str
    at: Callable[[int], bytes]
    says: Callable[[int], str]


DOCUMENTS: dict[PracticeKind, Document] = {
    "page": Document("text/html; charset=utf-8", page_at, page_change),
    "feed": Document("application/rss+xml; charset=utf-8", feed_at, feed_change),
}


def address(base_url: str, what: PracticeKind) -> str:
    """Return the URL of a document of the service at `base_url`.

    >>> address("https://shore.example", "page")
    'https://shore.example/practice/page'
    """
    return base_url + PATH + what


def kind_of_url(url: str) -> PracticeKind:
    return "feed" if url.endswith(PATH + "feed") else "page"
