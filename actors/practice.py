"""The practice page and feed: a newcomer changes them with a button to see the service notice. Pure.

The page has a ferry's fares, notices and opening hours; each step changes one of them. No state ever repeats: the
service rightly reports no change for a page that returns to an earlier state. The feed has the notices as RSS, in
several languages; each step adds one.

All of it is pure: a document is a function of its step, the number of changes made so far. It imports nothing of ours.
The way from a step to a check, an event and a signature is that of every other source, from
`actors/sources/registry/practice.py` on.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final, Literal, NamedTuple, get_args


class Notice(NamedTuple):
    """One notice. tongue: the language's name; language: its code."""

    language: str
    tongue: str
    title: str
    text: str


_LINES: Final = (
    ("en", "English", "Sailing {n} is moved", "Sailing {n} leaves at {time} from the west pier until further notice."),
    ("sv", "Swedish", "Extra tur nummer {n}", "Extra tur nummer {n} går klockan {time} från västra bryggan på lördag."),
    ("de", "German", "Fahrt {n} fällt aus", "Wegen starken Windes fällt Fahrt {n} um {time} Uhr am Sonntag aus."),
    ("fr", "French", "Traversée {n} retardée", "La traversée {n} part à {time} en raison des travaux sur le quai."),
    ("es", "Spanish", "Nueva salida {n}", "La nueva salida {n} zarpa a las {time} desde el muelle del este."),
    ("ja", "Japanese", "第{n}便のお知らせ", "第{n}便は{time}に東桟橋から出航します。"),
    ("pl", "Polish", "Kurs {n} przełożony", "Kurs {n} zostaje przełożony na godzinę {time} z powodu mgły."),
    ("el", "Greek", "Το δρομολόγιο {n}", "Το δρομολόγιο {n} αναχωρεί στις {time} από την ανατολική προβλήτα."),
)


def notice(number: int) -> Notice:
    """Return the notice with a number, from 0 on; no two are alike.

    >>> notice(0).title, notice(1).tongue, notice(0).language == notice(8).language
    ('Sailing 101 is moved', 'Swedish', True)
    """
    language, tongue, title, text = _LINES[number % len(_LINES)]
    minutes = 360 + number * 95 % 900
    values = {"n": 101 + number, "time": f"{minutes // 60}:{minutes % 60:02d}"}
    return Notice(language, tongue, title.format(**values), text.format(**values))


_SHOWN: Final = 8
_AT_FIRST: Final = 3


def feed_at(step: int) -> bytes:
    newest = _AT_FIRST + step - 1
    items = "\n".join(map(_item, range(newest, max(0, newest + 1 - _SHOWN) - 1, -1)))
    return _FEED.format(items=items).encode()


def feed_change(step: int) -> str:
    """Return the text about a step's change.

    >>> feed_change(1)
    'An entry was added, in French.'
    """
    return f"An entry was added, in {notice(_AT_FIRST + step - 1).tongue}."


def _item(number: int) -> str:
    told = notice(number)
    guid = f'<guid isPermaLink="false">urn:sanderling:practice:{number}</guid>'
    return (
        f"    <item>{guid}<title>{escape(told.title)}</title><description>{escape(told.text)}</description>"
        f"<dc:language>{told.language}</dc:language></item>"
    )


_FEED: Final = """\
<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel>
    <title>Practice: notices of the Sandwick ferry</title>
    <description>There is no such ferry. Your own Sanderling serves this feed, so that you can add to it.</description>
{items}
  </channel>
</rss>
"""


_FARES: Final = (("Single, adult", 1800), ("Day ticket, adult", 3100), ("Bicycle", 650))
"""Names, and initial prices in cents."""
_STRIDE, _SPREAD = 37, 101
"""Steps of 3.70 modulo 10.10: a hundred and one different prices before one repeats."""
_PAGE_SHOWN: Final = 5
_ON_PAGE: Final = 3
"""Initial notices."""


def page_at(step: int) -> bytes:
    fares = "\n".join(f"        <li>{name}: {_price(index, step)} euro</li>" for index, (name, _) in enumerate(_FARES))
    items = "\n".join(
        f'        <li lang="{told.language}">{escape(told.text)}</li>'
        for told in map(notice, range(_notices(step) - 1, max(0, _notices(step) - _PAGE_SHOWN) - 1, -1))
    )
    return _PAGE.format(fares=fares, items=items, closing=_closing(step)).encode()


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
    """Return a fare: every third step changes one of them, in turn."""
    moves = (step + 2) // 3
    own = (moves + len(_FARES) - 1 - index) // len(_FARES)
    cents = _FARES[index][1] + own * _STRIDE % _SPREAD * 10
    return f"{cents // 100}.{cents % 100:02d}"


def _notices(step: int) -> int:
    return _ON_PAGE + (step + 1) // 3


def _closing(step: int) -> str:
    minutes = 17 * 60 + step // 3 * 35 % 240
    return f"{minutes // 60}:{minutes % 60:02d}"


_PAGE: Final = """\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Practice: the Sandwick ferry</title>
  </head>
  <body>
    <main>
      <h1>Practice: the Sandwick ferry</h1>
      <p>There is no such ferry. Your own Sanderling serves this page, so that you can change it and see it noticed.</p>
      <h2>Fares</h2>
      <ul>
{fares}
      </ul>
      <p>Children under six travel free when somebody takes them along. Fares hold in either direction.</p>
      <h2>Notices</h2>
      <ul>
{items}
      </ul>
      <h2>Ticket office</h2>
      <p>The ticket office on the east pier is open daily from 8:30 to {closing}. Tickets are also sold on board.</p>
    </main>
  </body>
</html>
"""


What = Literal["page", "feed"]
WHATS: tuple[What, ...] = get_args(What)
PATH = "/practice/"


class Document(NamedTuple):
    """One practice document. at: its bytes at a step. says: that step's change, for steps from 1 on."""

    media: str
    at: Callable[[int], bytes]
    says: Callable[[int], str]


DOCUMENTS: dict[What, Document] = {
    "page": Document("text/html; charset=utf-8", page_at, page_change),
    "feed": Document("application/rss+xml; charset=utf-8", feed_at, feed_change),
}


def address(base_url: str, what: What) -> str:
    """Return the URL of a document of the service at `base_url`.

    >>> address("https://shore.example", "page")
    'https://shore.example/practice/page'
    """
    return base_url + PATH + what


def named(url: str) -> What:
    return "feed" if url.endswith(PATH + "feed") else "page"
