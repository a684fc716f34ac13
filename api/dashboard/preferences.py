"""A person's display preferences: language, colours, density, time zone, stored by each browser. Pure.

Each is a separate cookie, so a page is right from its first byte, without a script. A missing or invalid one falls back
to the browser's preference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, cast, get_args

from werkzeug.datastructures import LanguageAccept

from api.dashboard.language.catalogues import ENGLISH, languages
from api.dashboard.moments import is_zone

Theme = Literal["", "light", "dark"]
"""Colours; "" follows the system."""
Density = Literal["comfortable", "compact"]


class Preferences(NamedTuple):
    """language: a code, "" for the browser's. zone: an IANA name, "" for the browser's own."""

    language: str = ""
    theme: Theme = ""
    density: Density = "comfortable"
    zone: str = ""


NONE: Final = Preferences()


def preferences_of(cookies: Mapping[str, str]) -> Preferences:
    language, theme, zone = (cookies.get(name, "") for name in ("language", "theme", "zone"))
    density = cookies.get("density", "")
    return Preferences(
        language if language in languages() else "",
        cast(Theme, theme) if theme in get_args(Theme) else "",
        cast(Density, density) if density in get_args(Density) else "comfortable",
        zone if zone and is_zone(zone) else "",
    )


def spoken_to(wanted: Preferences, asks: LanguageAccept) -> str:
    """Return the language for a reader: the chosen one, else the browser's first available one.

    >>> spoken_to(NONE, LanguageAccept([("sv-SE", 1), ("en", 0.5)])), spoken_to(NONE, LanguageAccept([("de", 1)]))
    ('sv', 'en')
    """
    primary = (language.partition("-")[0].lower() for language, quality in asks if quality)
    return wanted.language or next((found for found in primary if found in languages()), ENGLISH)
