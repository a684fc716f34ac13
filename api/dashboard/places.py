"""The places of the navigation, in its order. A place is shown once its screen is there."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A path, its name, and the key that leads there after `g`."""

    path: str
    name: str
    key: str


PLACES = (
    Place("/", "Today", "t"),
    Place("/sources", "Sources", "s"),
    Place("/alerts", "Alerts", "a"),
    Place("/destinations", "Destinations", "d"),
    Place("/templates", "Templates", "m"),
    Place("/publications", "Publications", "f"),
    Place("/webhook-bins", "Bins", "b"),
    Place("/stream", "Stream", "l"),
    Place("/keys", "API keys", "k"),
    Place("/system", "System", "y"),
    Place("/settings", "Settings", "p"),
)
