"""The places of the navigation, in order. A place appears once its screen exists."""

from __future__ import annotations

from typing import NamedTuple

from api.dashboard.language.speaking import noted


class Place(NamedTuple):
    """A path, its name, and its shortcut key after `g`. first: in the phone's navigation."""

    path: str
    name: str
    key: str
    first: bool = False

    @property
    def section(self) -> str:
        """The first part of its path, as in screens."""
        return self.path.split("/")[1]


PLACES = (
    Place("/", noted("Today"), "t", first=True),
    Place("/sources", noted("Sources"), "s", first=True),
    Place("/alerts", noted("Alerts"), "a", first=True),
    Place("/destinations", noted("Destinations"), "d"),
    Place("/templates", noted("Templates"), "m"),
    Place("/publications", noted("Publications"), "f"),
    Place("/webhook-bins", noted("Bins"), "b"),
    Place("/stream", noted("Stream"), "l", first=True),
    Place("/keys", noted("API keys"), "k"),
    Place("/system", noted("System"), "y"),
    Place("/settings", noted("Settings"), "p"),
)
