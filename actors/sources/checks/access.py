"""A user's headers and body for one origin, and the cookies that a check renews.

If the user gave a `Cookie`, the origin's cookies are updated from request to request, as in a browser.

A site that issues a new session on each visit has ended the old one by the time its response begins. So new cookies
are taken, and sent to storage, before the body is read: a crash, a cut body or an edit of the source during a check
loses none. The previous cookies are kept until the check is over. If the check finds a signed-out page, they are
restored.

Several checks may share cookies that one source lends. Each sends the current ones when its turn at the host comes and
adds its response's, without judging those that another check received since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from http import HTTPStatus
from typing import NamedTuple

from actors.egress import cookies
from actors.egress.cookies import Jar, SetCookies
from actors.egress.failures import CheckFailed, ReadingStopped
from actors.egress.headers import given_request
from actors.egress.url import Url, parse_url
from actors.sources.lending import ResolvedSource
from actors.sources.ports import Ports
from actors.sources.session_cookies import SessionCookies

_PASSWORD = re.compile(rb"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_SCANNED = 2 << 20


_COOKIE = b"cookie"


class Access(NamedTuple):
    """Headers, and their origin, "" for none. body: posted to it; None: GET. jar: the current cookies; None while they
    are the headers' own, or not tracked. before: the previous cookies, until the current ones are known to be good.
    """

    origin: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes | None = None
    jar: Jar | None = None
    before: Jar | None = None

    def headers_to(self, url: Url, now: int) -> Sequence[tuple[bytes, bytes]]:
        if url.origin != self.origin:
            return ()
        if self.jar is None:
            return self.headers
        cookie = cookies.header(self.jar, url, now).encode("latin-1")
        without_cookie = tuple(pair for pair in self.headers if pair[0].lower() != _COOKIE)
        return (*without_cookie, (b"Cookie", cookie)) if cookie else without_cookie

    @property
    def cookies(self) -> str:
        """The cookies in stored form, "" if none were renewed."""
        return "" if self.jar is None else cookies.written(self.jar, self.before)

    @property
    def own_cookies(self) -> Jar | None:
        return _cookies_in(self.headers)

    def after_response(self, url: Url, set_cookies: SetCookies, now: int) -> Access:
        """Return the access after a URL's response; only the origin's own responses set cookies."""
        if not set_cookies.lines or url.origin != self.origin or (own := self.own_cookies) is None:
            return self
        known = own if self.jar is None else self.jar
        after = cookies.taken(known, url, set_cookies, now)
        if after == known:
            return self
        unconfirmed = self.before is None and cookies.sends(after) != cookies.sends(known)
        return self._replace(jar=after, before=known if unconfirmed else self.before)

    def with_stored(self, stored: str) -> Access:
        jar = cookies.read(stored)
        return self if jar is None else self._replace(jar=jar, before=cookies.doubted(stored))


NO_ACCESS = Access("", ())


def _cookies_in(headers: Sequence[tuple[bytes, bytes]]) -> Jar | None:
    text = next((value for name, value in headers if name.lower() == _COOKIE), None)
    return None if text is None else cookies.parse_cookies(text.decode())


def access_to(url: Url, headers: str | None) -> Access:
    if not headers:
        return NO_ACCESS
    request = given_request(headers)
    pairs = tuple((name.encode(), value.encode()) for name, value in request.pairs)
    return Access(url.origin, pairs, None if request.body is None else request.body.encode())


def cache_key(url: str, headers: str | None, rendering: str = "") -> str:
    """Return the cache key of a body: other headers may yield another body. rendering: of a browser."""
    key = f"{url}\n{blake2b(headers.encode(), digest_size=16).hexdigest()}" if headers else url
    return f"{key}\n{rendering}" if rendering else key


def asks_password(body: bytes) -> bool:
    """Return whether a page has a field for a password.

    >>> asks_password(b'<form><INPUT name=p type="Password"></form>'), asks_password(b"<p>type=password</p>")
    (True, False)
    """
    return _PASSWORD.search(body[:_SCANNED]) is not None


SIGNED_OUT_STATUSES = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""Statuses whose cookies are ignored: a rejected request often gets those of a new visitor."""


class Renewal:
    """A check's access with a user's headers, as renewed so far. cookies: where they are stored, if anywhere."""

    def __init__(self, ports: Ports, access: Access, cookies: SessionCookies | None) -> None:
        self._ports, self._cookies = ports, cookies
        self._rollback = self._latest = self.current
        self.access = access.with_stored(self.current)
        self._received = False

    def __repr__(self) -> str:
        return f"<Renewal of {self._cookies}>"

    @property
    def current(self) -> str:
        return "" if self._cookies is None else self._cookies.current

    def begin(self) -> Access:
        if not self._received:
            self._rollback = self._latest = self.current
        self.access = self.access.with_stored(self.current)
        return self.access

    def on_response(self, url: Url, set_cookies: SetCookies) -> None:
        known = self.access.with_stored(self.current)
        self.access = known.after_response(url, set_cookies, self._ports.world.now())
        if self.access is not known:
            self._received = True
            self._set(self.access.cookies)

    def confirm(self, *, at_once: bool = False) -> None:
        """Confirm the cookies: the check was signed in. at_once: the node that watches the source needs them now."""
        if self.current == self._latest:
            self._set(cookies.settled(self.current), confirmed=True)
        if at_once and self._cookies is not None:
            self._cookies.save(self._ports.recorder, at_once=True)

    def reject(self) -> None:
        if self.current != self._latest:
            return
        cookies_before = self._rollback
        if self._received and not cookies_before and (own := self.access.own_cookies) is not None:
            cookies_before = cookies.written(own)
        self._set(cookies.turned(cookies_before))

    @contextmanager
    def rejecting_unreadable(self) -> Iterator[None]:
        """Read a page. An unreadable one may be a wall that set a new visitor's cookies; a too large one may not."""
        try:
            yield
        except ReadingStopped:
            raise
        except CheckFailed:
            self.reject()
            raise

    def _set(self, cookies: str, *, confirmed: bool = False) -> None:
        if self._cookies is not None:
            self._cookies.put(cookies, confirmed=confirmed)
            self._cookies.save(self._ports.recorder)
        self._latest = self.current


def renewal_of(ports: Ports, resolved: ResolvedSource) -> Renewal:
    """Return the access of a source's check. Raises UrlRefused."""
    source = resolved.source
    return Renewal(ports, access_to(parse_url(source.url), source.headers), resolved.cookies)


@dataclass(slots=True)
class RequestAccess:
    """The access of a request and its redirects. url: the current one. temporary: by origin, cookies where the user
    gave none; never stored.
    """

    ports: Ports
    url: Url
    renewal: Renewal
    temporary: dict[str, Jar] = field(default_factory=dict, repr=False)

    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """Return the headers to send, with the cookies of now."""
        access, now = self.renewal.begin(), self.ports.world.now()
        cookie = "" if self._has_own_cookies else cookies.header(self.temporary.get(self.url.origin, ()), self.url, now)
        return (*access.headers_to(self.url, now), *([(b"Cookie", cookie.encode("latin-1"))] if cookie else []))

    @property
    def body(self) -> bytes | None:
        access = self.renewal.access
        return access.body if self.url.origin == access.origin else None

    @property
    def _has_own_cookies(self) -> bool:
        access = self.renewal.access
        return self.url.origin == access.origin and access.own_cookies is not None

    def on_set_cookies(self, set_cookies: SetCookies, status: int) -> None:
        if status in SIGNED_OUT_STATUSES:
            return
        if not self._has_own_cookies:
            jar = self.temporary.get(self.url.origin, ())
            self.temporary[self.url.origin] = cookies.taken(jar, self.url, set_cookies, self.ports.world.now())
            return
        self.renewal.on_response(self.url, set_cookies)
