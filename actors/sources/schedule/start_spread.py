"""The spread of looks that are overdue after a start, so that the start is no stampede (B6). Pure.

After a stop of an hour every source is overdue. Each gets a moment within its own interval: then all of them together
ask for no more in the first minute than in any other one. A small library need not wait that long: at a modest pace all
of it has been looked at sooner. A page costs a second request at first, for nobody remembers its site's
robots.txt; so its window is longer by what keeps both within `MARGIN` times the usual.
"""

from __future__ import annotations

from typing import Final

CATCH_UP_RATE: Final = 10.0
"""Overdue looks a second after a start; more only where it is the sources' own pace."""
MARGIN: Final = 1.15


def wait_of(late: int, interval: float, draw: float, *, page: bool) -> float:
    """Return the seconds that one of `late` overdue sources waits. interval: seconds. `draw` is in [0, 1).

    >>> [round(wait_of(late, 900.0, 0.5, page=page)) for late, page in ((50_000, False), (50_000, True), (2, False))]
    [450, 783, 0]
    """
    window = min(late / CATCH_UP_RATE, interval)
    return draw * window * (2 / MARGIN if page else 1.0)
