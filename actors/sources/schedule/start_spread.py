"""The spread of overdue checks after a start, to avoid a stampede (B6). Pure.

After an hour's stop every source is overdue. Each gets a time within its own interval, so that the first minute has no
more requests than any other. A small library is done sooner, at a modest pace. A page first costs a second request,
because its site's robots.txt is no longer cached, so its window is longer, which keeps both within `MARGIN` times the
usual.
"""

from __future__ import annotations

from typing import Final

CATCH_UP_RATE: Final = 10.0
"""Overdue checks a second after a start; more only if that is the sources' own pace."""
MARGIN: Final = 1.15


def wait_of(late: int, interval: float, draw: float, *, page: bool) -> float:
    """Return the seconds that one of `late` overdue sources waits. interval: seconds. `draw` is in [0, 1).

    >>> [round(wait_of(late, 900.0, 0.5, page=page)) for late, page in ((50_000, False), (50_000, True), (2, False))]
    [450, 783, 0]
    """
    window = min(late / CATCH_UP_RATE, interval)
    return draw * window * (2 / MARGIN if page else 1.0)
