"""The practice page: a ferry's fares, notices and opening hours. Each step changes one of them.

A fare, the list of notices and a sentence take turns. No state ever repeats: the service rightly reports no change for
a page that returns to an earlier state.
"""

from __future__ import annotations

from html import escape
from typing import Final

from actors.practice.notices import notice

_FARES: Final = (("Single, adult", 1800), ("Day ticket, adult", 3100), ("Bicycle", 650))
"""Names, and initial prices in cents."""
_STRIDE, _SPREAD = 37, 101
"""Steps of 3.70 modulo 10.10: a hundred and one different prices before one repeats."""
_SHOWN: Final = 5
_AT_FIRST: Final = 3
"""Initial notices."""


def at(step: int) -> bytes:
    """Return the page at a step."""
    fares = "\n".join(f"        <li>{name}: {_price(index, step)} euro</li>" for index, (name, _) in enumerate(_FARES))
    items = "\n".join(
        f'        <li lang="{told.language}">{escape(told.text)}</li>'
        for told in map(notice, range(_notices(step) - 1, max(0, _notices(step) - _SHOWN) - 1, -1))
    )
    return _PAGE.format(fares=fares, items=items, closing=_closing(step)).encode()


def says(step: int) -> str:
    """Return the text about a step's change.

    >>> says(1), says(3)
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
    return _AT_FIRST + (step + 1) // 3


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
