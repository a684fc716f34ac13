"""Templates to HTML. Every value is escaped, and no template can switch that off (a rule tests it)."""

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
    # `{% trans %}` keeps the tags in the text, which is ours, and escapes every value.
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
    """Return the scripts' texts in the current language, as JSON; "" for English, which they contain."""
    if speaking.language() == ENGLISH:
        return ""
    return json.dumps({text: speaking.gettext(text) for text in said_by_scripts()}, ensure_ascii=False)


@cache
def said_by_scripts() -> tuple[str, ...]:
    """Return the texts that the scripts pass to `say`."""
    code = "".join(asset(name).body.decode() for name in ("dashboard.js", "live.js"))
    return tuple(dict.fromkeys(_SAID.findall(code)))


def unbroken(text: str, between: str = " ") -> str:
    r"""Replace the line breaks in a receiver's answer, which are stored as escapes.

    >>> unbroken("no room\\r\\nat the inn"), unbroken("no\\nroom", "\n")
    ('no room at the inn', 'no\nroom')
    """
    return _BREAKS.sub(between, text)


def web_url(text: str) -> str:
    """Return a URL for a link to the web, or "" if it is not http or https (`javascript:` and the like)."""
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
    """Return a page without a visit: an error, a detour."""
    return _render(template, shows, preferences=preferences)


def _render(template: str, shows: Any, **more: Any) -> bytes:
    return environment().get_template(template).render({**shows, **more}).encode()


def shown_places(paths: frozenset[str]) -> tuple[Place, ...]:
    """Return the places whose screens exist."""
    return tuple(place for place in PLACES if place.path in paths)
