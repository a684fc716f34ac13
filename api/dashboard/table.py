"""All screens of the dashboard. For a new noun, add its module here, and perhaps a place in `rendering.PLACES`."""

from __future__ import annotations

from typing import Final

from actors.extras import always_on
from api.dashboard import catalogue, events, lists, rendering, stream, system, today
from api.dashboard.account import entry, keys, settings
from api.dashboard.notifying import alerts, destinations
from api.dashboard.screen import Screen
from api.dashboard.sources import add, listing, one

_MODULES: Final = (
    *(entry, today, listing, add, one, events, stream, lists),
    *(catalogue, keys, system, settings, rendering, alerts, destinations),
)
SCREENS: Final[tuple[Screen, ...]] = (
    *(screen for module in _MODULES for screen in module.SCREENS),
    *(screen for extra in always_on() for screen in extra.screens()),
)
