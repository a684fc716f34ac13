"""All screens of the dashboard. For a new one, add a line here, and perhaps a place in `places.py`."""

from __future__ import annotations

from api.dashboard import (
    agreeing,
    entry,
    events,
    items,
    keys,
    live,
    phone,
    saved_views,
    settings,
    stream,
    system,
    today,
)
from api.dashboard.alerts import table as alerts
from api.dashboard.bins import table as bins
from api.dashboard.catalogue import table as catalogue
from api.dashboard.destinations import table as destinations
from api.dashboard.first_steps import table as first_steps
from api.dashboard.publications import table as publications
from api.dashboard.screen import Screen
from api.dashboard.sources import table as sources

SCREENS: tuple[Screen, ...] = (
    *entry.SCREENS,
    *agreeing.SCREENS,
    *today.SCREENS,
    *sources.SCREENS,
    *first_steps.SCREENS,
    *events.SCREENS,
    *stream.SCREENS,
    *saved_views.SCREENS,
    *live.SCREENS,
    *items.SCREENS,
    *catalogue.SCREENS,
    *bins.SCREENS,
    *publications.SCREENS,
    *keys.SCREENS,
    *system.SCREENS,
    *settings.SCREENS,
    *phone.SCREENS,
    *alerts.SCREENS,
    *destinations.SCREENS,
)
