"""A browser's cookies: its session, the token that ties a form to it, its display preferences; the limit on attempts.

A session is 256 random bits in a cookie that scripts cannot read. Its SHA-256 is stored and looked up on every request,
so an ended session fails at its next request. A form's token is an HMAC keyed by the cookie: open forms survive a
restart. Browsers that are not signed in get a similar cookie without a stored record.

Attempts never lock out the owner (S9). Each hash costs a tenth of a second and 64 MiB, and each attempt is a guess. So
each address gets few attempts, and strangers queue for a shared pace. Separate from that queue are addresses that have
signed in, browsers that have (by a cookie that only this service can make), and sessions.
"""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast, get_args
from urllib.parse import urlsplit

import trio
from werkzeug.datastructures import Headers, LanguageAccept
from werkzeug.http import dump_cookie, parse_cookie

from actors.app_context import AppContext
from actors.language.catalogues import ENGLISH, languages
from actors.language.speaking import say
from actors.world import World
from api.dashboard.drawing import is_zone
from api.problems import Refusal, later
from api.ratelimit import Limit, counted, neighbourhood
from storage.records.access import LIFE, Password, Session
from storage.sql.stores.people import People

if TYPE_CHECKING:
    from api.ratelimit import Limiter

OF_ONE = Limit(1 / 30, 5)  # attempts from one address, one known browser, or one session
OF_STRANGERS = Limit(1.0, 30)  # attempts of all strangers together; further ones wait
MOST_WAITING = 30  # strangers in the queue; at one per second, none waits longer than half a minute
MOST_OF_ONE = 2  # queue slots per address
REMEMBERED = 256  # addresses that signed in since the start, in addition to those with open sessions


class Attempts:
    """The sign-in attempts at one service."""

    def __init__(self, limiter: Limiter, people: People) -> None:
        self._limiter, self._people = limiter, people
        self._known: OrderedDict[str, None] = OrderedDict()
        self._waiting: Counter[str] = Counter()
        self._turn = trio.Lock()

    def succeeded(self, address: str) -> None:
        place = neighbourhood(address)
        self._known[place] = None
        self._known.move_to_end(place)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    @asynccontextmanager
    async def one(self, address: str, browser: str = "") -> AsyncIterator[None]:
        """Hold a slot for one sign-in attempt. browser: from `known_browser`. Raises Refusal (429)."""
        place = neighbourhood(address)
        if browser:
            self._take(f"sign-in browser {browser}")
            yield
            return
        self._take(f"sign-in {place}")
        if await self._is_known(place):
            yield
            return
        if self._waiting.total() >= MOST_WAITING or self._waiting[place] >= MOST_OF_ONE:
            raise _too_many(MOST_WAITING)
        with counted(self._waiting, place):
            async with self._turn:
                if (wait := self._paced()) > 0:
                    await trio.sleep(wait)
                    self._paced()  # no other task takes the token in between
                yield

    def in_session(self, session_id: str) -> None:
        """Count an attempt in an open session. Raises Refusal (429)."""
        self._take(f"password {session_id}")

    def _take(self, who: str) -> None:
        verdict = self._limiter.take(who, OF_ONE, trio.current_time())
        if not verdict.admitted:
            raise _too_many(verdict.retry_after)

    def _paced(self) -> float:
        verdict = self._limiter.take("sign-in of strangers", OF_STRANGERS, trio.current_time())
        return 0.0 if verdict.admitted else float(verdict.retry_after)

    async def _is_known(self, place: str) -> bool:
        if place in self._known:
            return True
        return any(neighbourhood(session.address) == place for session in await self._people.sessions())


def browser_mark(nonce: str, password: Password) -> str:
    """Return the mark for a browser that has signed in. It cannot be forged, and a new password ends it."""
    return f"{nonce}.{_seal(nonce, password)}"


def known_browser(mark: str, password: Password | None) -> str:
    """Return the name of the browser that a mark belongs to, or "" if invalid."""
    nonce, _, seal = mark.partition(".")
    if password is None or not nonce or not hmac.compare_digest(seal.encode(), _seal(nonce, password).encode()):
        return ""
    return nonce


def _seal(nonce: str, password: Password) -> str:
    return hmac.new(password.hashed.encode(), f"browser {nonce}".encode(), sha256).hexdigest()


def _too_many(seconds: int) -> Refusal:
    return later("rate-limited", say("Too many attempts. Wait %(seconds)s s.", seconds=seconds), seconds)


_SECRET = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_AGENT_SHOWN = 200
_KNOWN_FOR = 365 * 86_400


class Browser(NamedTuple):
    """A browser: its session if signed in, its cookie's secret, and whether the cookie is new to it."""

    session: Session | None
    secret: str
    new: bool = False

    @property
    def token(self) -> str:
        return hmac.new(self.secret.encode(), b"form", sha256).hexdigest()

    @property
    def who(self) -> str:
        """Its name for data that its next page needs. Reveals nothing of the secret."""
        return self.session.id if self.session else hashed(self.secret)

    def sent(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())


class Sessions:
    """The sessions of one service. secure: the service uses https, and cookies go nowhere else."""

    def __init__(self, world: World, people: People, base_url: str) -> None:
        self._world, self._people = world, people
        self.secure = base_url.startswith("https://")
        prefix = "__Host-" if self.secure else ""
        port = urlsplit(base_url).port  # cookies ignore ports, and a machine may have two services
        suffix = f"-{port}" if port else ""
        self._signed_in, self._stranger = f"{prefix}session{suffix}", f"{prefix}visitor{suffix}"
        self._known = f"{prefix}known{suffix}"

    @classmethod
    def of_context(cls, context: AppContext) -> Sessions:
        """Return the sessions of a service. They hold no state except storage's."""
        return cls(context.world, context.storage.people, context.settings.public_url())

    async def of(self, cookies: Mapping[str, str]) -> Browser:
        secret = cookies.get(self._signed_in, "")
        if _SECRET.fullmatch(secret):
            session = await self._people.session(hashed(secret))
            if session is not None and session.ends_at > self._world.now():
                return Browser(session, secret)
        known = cookies.get(self._stranger, "")
        return Browser(None, known) if _SECRET.fullmatch(known) else Browser(None, self._draw(), new=True)

    def begin(self, agent: str, address: str) -> tuple[Session, str]:
        secret, now = self._draw(), self._world.now()
        shown = "".join(letter for letter in agent if letter.isprintable())[:_AGENT_SHOWN]
        session = Session(self._world.new_id(), hashed(secret), now, now, shown, address)
        return session, self._cookie(self._signed_in, secret, LIFE // 1000)

    def greeting(self, browser: Browser) -> str:
        return self._cookie(self._stranger, browser.secret, None)

    def remember(self, password: Password) -> str:
        """Return the Set-Cookie header that marks a browser as known. It grants no access."""
        nonce = urlsafe_b64encode(self._world.entropy(16)).rstrip(b"=").decode()
        return self._cookie(self._known, browser_mark(nonce, password), _KNOWN_FOR)

    def known(self, headers: Headers, password: Password | None) -> str:
        return known_browser(parse_cookie(headers.get("Cookie", "")).get(self._known, ""), password)

    def keep(self, name: str, value: str) -> str:
        return self._cookie(name, value, _KNOWN_FOR if value else 0)

    def farewell(self) -> str:
        return self._cookie(self._signed_in, "", 0)

    def _cookie(self, name: str, value: str, age: int | None) -> str:
        return dump_cookie(name, value, age, path="/", secure=self.secure, httponly=True, samesite="Strict")

    def _draw(self) -> str:
        return urlsafe_b64encode(self._world.entropy(32)).rstrip(b"=").decode()


def hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def is_foreign(headers: Headers, base_url: str) -> bool:
    """Return whether a change comes from another site's page, or hides its origin.

    Browsers send the page's origin with every POST. It must be the public address, or the host of the request itself.
    Without an Origin, `Sec-Fetch-Site` must say same-origin.
    """
    origins = headers.getlist("Origin")
    if not origins:
        return headers.get("Sec-Fetch-Site") != "same-origin"
    public, given = urlsplit(base_url), urlsplit(origins[0])
    if len(origins) > 1 or given.scheme not in ("http", "https") or not given.netloc:
        return True
    ours = (given.scheme, given.netloc) == (public.scheme, public.netloc) or given.netloc == headers.get("Host", "")
    return not ours


def own_path(text: str) -> str:
    """Return a path of ours for a redirect, "/" for anything that could lead elsewhere.

    >>> own_path("/sources?q=x"), own_path("//evil.test"), own_path("https://evil.test"), own_path("/\\\\evil.test")
    ('/sources?q=x', '/', '/', '/')
    """
    return text if _OWN.fullmatch(text) else "/"


_OWN = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@%?-][A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?", re.ASCII)
Theme = Literal["", "light", "dark"]  # colours; "" follows the system
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
