"""The screens of Sources."""

from __future__ import annotations

from api.dashboard.screen import Screen
from api.dashboard.sources import (
    add,
    changing,
    choosing,
    comparing,
    deleted,
    inherited,
    listing,
    moving,
    one,
    pricing,
    tagging,
    told,
)

SCREENS: tuple[Screen, ...] = (
    *listing.SCREENS,
    *add.SCREENS,
    *moving.SCREENS,
    *one.SCREENS,
    *told.SCREENS,
    *comparing.SCREENS,
    *deleted.SCREENS,
    *tagging.SCREENS,
    *inherited.SCREENS,
    *changing.SCREENS,
    *choosing.SCREENS,
    *pricing.SCREENS,
)
