"""Practice: the routes of `/v1/practice` and `/practice/page`, and the dashboard's first steps.

A newcomer changes a page that the service serves itself, and sees the event. `operations.py` asks the registry, which
has the practice sources (`actors/sources/registry/practice.py`), waits for events, and has the routes; `screens.py` has
the pages. No setting switches it: the service imports it at the start, and without practice it costs nothing more.
"""

from __future__ import annotations

from actors.extras import Extra, member

EXTRA = Extra(
    routes=lambda: {"practice": member("extras.practice.operations", "ROUTES")()},
    screens=member("extras.practice.screens", "SCREENS"),
    templates=__name__,
)
