"""Templates to HTML, the static files, each at a URL with its content's hash, and the places of the navigation.

Every value is escaped, and no template can switch that off (a rule tests it). Templates show everything; the finished
page is cut to the forms, buttons and links of its reader's role, so no template can forget one. The face refuses each
screen by its scope anyway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from actors.extras import always_on
from actors.language import speaking
from actors.language.catalogues import ENGLISH
from actors.language.sentences import translated
from actors.language.speaking import noted, say
from api.dashboard import drawing
from api.dashboard.drawing import by_clock, size, span
from api.dashboard.screen import Note, Page, Screen, Visit
from api.dashboard.sessions import NONE, Preferences
from storage.records.source import ALERTS, ATTEMPTS, called
from storage.records.tiers import TIERS


class NavigationItem(NamedTuple):
    """A path, its name, and its shortcut key after `g`. first: in the phone's navigation. group: below which head."""

    path: str
    name: str
    key: str
    first: bool = False
    group: str = ""

    @property
    def section(self) -> str:
        return self.path.split("/")[1]


_SET_UP, _DEVELOPERS = noted("Set up"), noted("Developers")
PLACES = (
    NavigationItem("/", noted("Today"), "t", first=True),
    NavigationItem("/sources", noted("Sources"), "s", first=True),
    NavigationItem("/alerts", noted("Alerts"), "a", first=True),
    NavigationItem("/destinations", noted("Destinations"), "d"),
    NavigationItem("/stream", noted("Stream"), "l", first=True),
    NavigationItem("/templates", noted("Templates"), "m", group=_SET_UP),
    NavigationItem("/publications", noted("Publications"), "f", group=_SET_UP),
    NavigationItem("/settings", noted("Settings"), "p", group=_SET_UP),
    NavigationItem("/people", noted("People"), "o", group=_SET_UP),
    NavigationItem("/activity", noted("Activity"), "v", group=_SET_UP),
    NavigationItem("/keys", noted("API keys"), "k", group=_DEVELOPERS),
    NavigationItem("/apps", noted("Connected apps"), "c", group=_DEVELOPERS),
    NavigationItem("/webhook-bins", noted("Test inboxes"), "b", group=_DEVELOPERS),
    NavigationItem("/system", noted("System"), "y", group=_DEVELOPERS),
)


async def more(visit: Visit) -> Page:
    return Page("more.html", say("More"))


async def offline(visit: Visit) -> Page:
    """Show the page that browsers cache for when they are offline (`service-worker.js`)."""
    return Page("offline.html", say("The service can't be reached"))


ASSETS = "/assets"
FOR_EVER = "public, max-age=31536000, immutable"
MEDIA = {
    "style.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "service-worker.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "touch-icon.png": "image/png",
    "favicon.ico": "image/x-icon",
    "manifest.webmanifest": "application/manifest+json",
}
BY_NAME = ("/favicon.ico", "/manifest.webmanifest", "/icon.svg", "/touch-icon.png", "/service-worker.js")
"""Files with fixed names: those that programs request unasked, those of the manifest, and the service worker, which
serves only paths below its own. Cached for a day.
"""
A_DAY = "public, max-age=86400"


class Asset(NamedTuple):
    """A static file."""

    url: str
    media: str
    body: bytes


@cache
def asset(name: str) -> Asset:
    body = files("api.dashboard").joinpath("static", name).read_bytes()
    return Asset(f"{ASSETS}/{sha256(body).hexdigest()[:16]}/{name}", MEDIA[name], body)


_BREAKS: Final = re.compile(r"(?:\\[rnt])+")
_SAID: Final = re.compile(r'\bsay\("([^"]*)"')


@cache
def environment() -> Environment:
    packages = ("api.dashboard", *(extra.templates for extra in always_on() if extra.templates))
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
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
        **{name: getattr(speaking, name) for name in ("say", "say_many", "say_as", "number", "decimal")},
        spoken=speaking.language,
        script_words=script_words,
        unbroken=unbroken,
        by_clock=by_clock,
        translated=translated,
        asset=lambda name: asset(name).url,
        line=drawing.line,
        bars=drawing.bars,
        web=web_url,
        hue=lambda name: "abcdef"[crc32(name.encode("utf-8", "replace")) % 6],
        span=span,
        size=size,
        called=called,
        tiers=TIERS,
        extra_pages={screen.path for extra in always_on() for screen in extra.screens()},
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


def rendered(page: Page, visit: Visit, places: Sequence[NavigationItem], notes: Sequence[Note]) -> bytes:
    shown = {"title": page.title, "visit": visit, "draft": visit.draft, "preferences": visit.preferences}
    return _render(page.template, page.shows, **shown, places=places, notes=notes)


def plain(template: str, preferences: Preferences = NONE, /, **shows: Any) -> bytes:
    return _render(template, shows, preferences=preferences)


def _render(template: str, shows: Any, **more: Any) -> bytes:
    return environment().get_template(template).render({**shows, **more}).encode()


SCREENS: tuple[Screen, ...] = (Screen(path="/more", run=more), Screen(path="/offline", run=offline, access="anyone"))


May = Callable[[str, str], bool]
_CUT: Final = {"form": "action", "button": "formaction", "a": "href"}


class _Reader(HTMLParser):
    def __init__(self, page: str, may: May) -> None:
        super().__init__(convert_charrefs=False)
        self.pieces: list[tuple[int, int]] = []
        self._may = may
        self._open: tuple[str, int] | None = None
        self._lines = [0]
        for line in page.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self.feed(page)
        self.close()

    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._open is not None or tag not in _CUT:
            return
        values = dict(attrs)
        target = (values.get(_CUT[tag]) or "").partition("#")[0].partition("?")[0]
        posts = tag == "button" or (tag == "form" and (values.get("method") or "").lower() == "post")
        if not target.startswith("/") or self._may("POST" if posts else "GET", target):
            return
        if tag == "a" and "button" not in (values.get("class") or "").split():
            # Leave the words of a link.
            self.pieces.append((self._at(), self._at() + len(self.get_starttag_text() or "")))
            self._open = ("/a", 0)
        else:
            self._open = (tag, self._at())

    def handle_endtag(self, tag: str) -> None:
        if self._open is None or self._open[0].lstrip("/") != tag:
            return
        kind, begin = self._open
        end = self._at() + len(tag) + 3
        self.pieces.append((self._at(), end) if kind == "/a" else (begin, end))
        self._open = None


def for_role(page: str, may: May) -> str:
    """Return a page without the parts whose screen the reader may not use. may: by method and path.

    >>> for_role('<a href="/a">A</a> <a class="button" href="/b">B</a>', lambda method, path: path == "/c")
    'A '
    """
    kept, at = [], 0
    for begin, end in _Reader(page, may).pieces:
        kept.append(page[at:begin])
        at = end
    return "".join((*kept, page[at:]))
