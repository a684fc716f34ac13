"""Templates to HTML. Whatever a template shows is escaped: none can switch it off (a rule tests that)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from api.dashboard import pictures
from api.dashboard.assets import asset
from api.dashboard.moments import span
from api.dashboard.notes import Note
from api.dashboard.places import PLACES, Place
from api.dashboard.screen import Page, Visit
from storage.records.source import called
from storage.records.states import ALERTS, ATTEMPTS
from storage.records.tiers import TIERS


@cache
def environment() -> Environment:
    """Return the one environment of all templates."""
    made = Environment(
        loader=PackageLoader("api.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(
        asset=lambda name: asset(name).url,
        line=pictures.line,
        bars=pictures.bars,
        web=web_url,
        span=span,
        called=called,
        tiers=TIERS,
        attempt_states=ATTEMPTS,
        alert_states=ALERTS,
    )
    return made


def web_url(text: str) -> str:
    """Return a URL for a link to the web, "" for anything that is not http or https (`javascript:` and the like)."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.netloc else ""


def rendered(page: Page, visit: Visit, places: Sequence[Place], notes: Sequence[Note]) -> bytes:
    return _render(
        page.template,
        page.shows,
        title=page.title,
        visit=visit,
        draft=visit.draft,
        places=places,
        notes=notes,
    )


def plain(template: str, **shows: Any) -> bytes:
    """Return a page that belongs to no visit: an error, a detour."""
    return _render(template, shows)


def _render(template: str, shows: Any, **more: Any) -> bytes:
    return environment().get_template(template).render({**shows, **more}).encode()


def shown_places(paths: frozenset[str]) -> tuple[Place, ...]:
    """Return the places whose screen is there."""
    return tuple(place for place in PLACES if place.path in paths)
