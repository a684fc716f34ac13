"""Sessions, by cookie, and the token that ties a form to its browser.

A session is 256 random bits in a cookie that scripts cannot read. Its SHA-256 is stored and looked up on every request,
so an ended session fails at its next request. Browsers that are not signed in get a similar cookie without a stored
record, because the sign-in forms need a token too. A token is an HMAC keyed by the cookie: forging one requires the
cookie, and open forms survive a restart.
"""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import urlsplit

from werkzeug.datastructures import Headers
from werkzeug.http import dump_cookie, parse_cookie

from actors.app_context import AppContext
from actors.world import World
from api.dashboard.attempts import browser_mark, known_browser
from storage.records.identity import seq_of
from storage.records.session import LIFE, Password, Session
from storage.sql.stores.people import People

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
        """Return whether a form's token is this browser's."""
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
        self._read = f"{prefix}read{suffix}"

    @classmethod
    def of_context(cls, context: AppContext) -> Sessions:
        """Return the sessions of a service. They hold no state except storage's."""
        return cls(context.world, context.storage.people, context.settings.public_url())

    async def of(self, cookies: Mapping[str, str]) -> Browser:
        """Return a request's browser, a stranger's if its session has ended."""
        secret = cookies.get(self._signed_in, "")
        if _SECRET.fullmatch(secret):
            session = await self._people.session(hashed(secret))
            if session is not None and session.ends_at > self._world.now():
                return Browser(session, secret)
        known = cookies.get(self._stranger, "")
        return Browser(None, known) if _SECRET.fullmatch(known) else Browser(None, self._draw(), new=True)

    def begin(self, agent: str, address: str) -> tuple[Session, str]:
        """Return a new session, not yet stored, and its Set-Cookie header."""
        secret, now = self._draw(), self._world.now()
        shown = "".join(letter for letter in agent if letter.isprintable())[:_AGENT_SHOWN]
        session = Session(self._world.new_id(), hashed(secret), now, now, shown, address)
        return session, self._cookie(self._signed_in, secret, LIFE // 1000)

    def greeting(self, browser: Browser) -> str:
        """Return the Set-Cookie header for a stranger."""
        return self._cookie(self._stranger, browser.secret, None)

    def remember(self, password: Password) -> str:
        """Return the Set-Cookie header that marks a browser as known. It grants no access."""
        nonce = urlsafe_b64encode(self._world.entropy(16)).rstrip(b"=").decode()
        return self._cookie(self._known, browser_mark(nonce, password), _KNOWN_FOR)

    def known(self, headers: Headers, password: Password | None) -> str:
        """Return the known browser's name, or "" without a sign-in under this password."""
        return known_browser(parse_cookie(headers.get("Cookie", "")).get(self._known, ""), password)

    def read_up_to(self, headers: Headers) -> str:
        """Return the id of the newest event marked as read in the browser, or ""."""
        id = parse_cookie(headers.get("Cookie", "")).get(self._read, "")
        try:
            seq_of(id)
        except ValueError:
            return ""
        return id

    def mark_read(self, id: str) -> str:
        """Return the Set-Cookie header that marks the events up to this one as read."""
        return self._cookie(self._read, id, _KNOWN_FOR)

    def keep(self, name: str, value: str) -> str:
        """Return the Set-Cookie header that stores a display preference; "" deletes it."""
        return self._cookie(name, value, _KNOWN_FOR if value else 0)

    def farewell(self) -> str:
        """Return the Set-Cookie header that ends the session in the browser."""
        return self._cookie(self._signed_in, "", 0)

    def _cookie(self, name: str, value: str, age: int | None) -> str:
        return dump_cookie(name, value, age, path="/", secure=self.secure, httponly=True, samesite="Strict")

    def _draw(self) -> str:
        return urlsafe_b64encode(self._world.entropy(32)).rstrip(b"=").decode()


def hashed(secret: str) -> str:
    """Return the SHA-256 (hex) that a secret is stored under."""
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
