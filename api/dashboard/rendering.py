"""Templates to HTML. Whatever a template shows is escaped: none can switch it off (a rule tests that)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from api.dashboard import pictures
from api.dashboard.amounts import size
from api.dashboard.assets import asset
from api.dashboard.language import speaking
from api.dashboard.language.catalogues import ENGLISH
from api.dashboard.language.sentences import translated
from api.dashboard.moments import by_clock, span
from api.dashboard.notes import Note
from api.dashboard.places import PLACES, Place
from api.dashboard.preferences import NONE, Preferences
from api.dashboard.screen import Page, Visit
from storage.records.source import called
from storage.records.states import ALERTS, ATTEMPTS
from storage.records.tiers import TIERS

_BREAKS: Final = re.compile(r"(?:\\[rnt])+")
_SAID: Final = re.compile(r'\bsay\("([^"]*)"')


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
        extensions=["jinja2.ext.i18n"],
    )
    made.policies["ext.i18n.trimmed"] = True
    # `{% trans %}` lets in the tags of the text, which is ours, and escapes every value.
    i18n: Any = made
    i18n.install_gettext_callables(speaking.gettext, speaking.ngettext, newstyle=False)
    made.globals.update(
        say=speaking.say,
        say_many=speaking.say_many,
        say_as=speaking.say_as,
        number=speaking.number,
        decimal=speaking.decimal,
        spoken=speaking.language,
        script_words=script_words,
        unbroken=unbroken,
        by_clock=by_clock,
        translated=translated,
        asset=lambda name: asset(name).url,
        line=pictures.line,
        bars=pictures.bars,
        web=web_url,
        span=span,
        size=size,
        called=called,
        tiers=TIERS,
        attempt_states=ATTEMPTS,
        alert_states=ALERTS,
    )
    return made


def script_words() -> str:
    """Return what the scripts say in the language that is spoken, as JSON; "" for English, which they have."""
    if speaking.language() == ENGLISH:
        return ""
    return json.dumps({text: speaking.gettext(text) for text in said_by_scripts()}, ensure_ascii=False)


@cache
def said_by_scripts() -> tuple[str, ...]:
    """Return the texts of the scripts: what they give to `say`."""
    code = "".join(asset(name).body.decode() for name in ("dashboard.js", "live.js"))
    return tuple(dict.fromkeys(_SAID.findall(code)))


def unbroken(text: str, between: str = " ") -> str:
    r"""Return what a receiver answered, whose line breaks are kept as escapes, with something else in their place.

    >>> unbroken("no room\\r\\nat the inn"), unbroken("no\\nroom", "\n")
    ('no room at the inn', 'no\nroom')
    """
    return _BREAKS.sub(between, text)


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
        preferences=visit.preferences,
    )


def plain(template: str, preferences: Preferences = NONE, /, **shows: Any) -> bytes:
    """Return a page that belongs to no visit: an error, a detour."""
    return _render(template, shows, preferences=preferences)


def _render(template: str, shows: Any, **more: Any) -> bytes:
    return environment().get_template(template).render({**shows, **more}).encode()


def shown_places(paths: frozenset[str]) -> tuple[Place, ...]:
    """Return the places whose screen is there."""
    return tuple(place for place in PLACES if place.path in paths)
