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
from actors.egress.failures import LookFailed, ReadingStopped
from actors.egress.headers import given_request
from actors.egress.url import Url, parse_url
from actors.sources.lending import EffectiveSource
from actors.sources.ports import Ports
from actors.sources.session_cookies import KeptCookies
from storage.records.source import Source

_PASSWORD = re.compile(rb"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_LOOKED_THROUGH = 2 << 20


_COOKIE = b"cookie"


class Access(NamedTuple):
    """Headers, and their origin, "" for none. body: posted to it; None: GET.

    jar: the current cookies; None while they are the headers' own, or not tracked. before: the previous cookies, until
    the current ones are known to be good.
    """

    origin: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes | None = None
    jar: Jar | None = None
    before: Jar | None = None

    def to(self, url: Url, now: int) -> Sequence[tuple[bytes, bytes]]:
        """Return the headers for a URL: none if a redirect or a page has led to another origin."""
        if url.origin != self.origin:
            return ()
        if self.jar is None:
            return self.headers
        sent = cookies.header(self.jar, url, now).encode("latin-1")
        others = tuple(pair for pair in self.headers if pair[0].lower() != _COOKIE)
        return (*others, (b"Cookie", sent)) if sent else others

    @property
    def cookies(self) -> str:
        """The cookies in stored form, "" if none were renewed."""
        return "" if self.jar is None else cookies.written(self.jar, self.before)

    @property
    def given(self) -> Jar | None:
        """The cookies of the headers, None without any: then none are tracked."""
        return _given(self.headers)

    def after(self, url: Url, said: SetCookies, now: int) -> Access:
        """Return the access after a URL's response; only the origin's own responses set cookies."""
        if not said.lines or url.origin != self.origin or (given := self.given) is None:
            return self
        known = given if self.jar is None else self.jar
        after = cookies.taken(known, url, said, now)
        if after == known:
            return self
        doubted = self.before is None and cookies.sends(after) != cookies.sends(known)
        return self._replace(jar=after, before=known if doubted else self.before)

    def kept(self, text: str) -> Access:
        """Return the access with stored cookies; "" changes nothing."""
        jar = cookies.read(text)
        return self if jar is None else self._replace(jar=jar, before=cookies.doubted(text))

    def posted_to(self, url: Url) -> bytes | None:
        return self.body if url.origin == self.origin else None


NO_ACCESS = Access("", ())


def _given(headers: Sequence[tuple[bytes, bytes]]) -> Jar | None:
    text = next((value for name, value in headers if name.lower() == _COOKIE), None)
    return None if text is None else cookies.given(text.decode())


def access_to(url: Url, headers: str | None) -> Access:
    """Return the access of a user's headers. url: the user's own one."""
    if not headers:
        return NO_ACCESS
    given = given_request(headers)
    pairs = tuple((name.encode(), value.encode()) for name, value in given.pairs)
    return Access(url.origin, pairs, None if given.body is None else given.body.encode())


def access_of(source: Source, kept: str = "") -> Access:
    """Return the access of a source's checks. kept: its renewed cookies. Raises UrlRefused."""
    return access_to(parse_url(source.url), source.headers).kept(kept) if source.headers else NO_ACCESS


def shelved_as(text: str, headers: str | None, shown: str = "") -> str:
    """Return the cache key of a body: other headers may yield another body.

    shown: how a browser showed it.
    """
    name = f"{text}\n{blake2b(headers.encode(), digest_size=16).hexdigest()}" if headers else text
    return f"{name}\n{shown}" if shown else name


def asks_password(body: bytes) -> bool:
    """Return whether a page has a field for a password.

    >>> asks_password(b'<form><INPUT name=p type="Password"></form>'), asks_password(b"<p>type=password</p>")
    (True, False)
    """
    return _PASSWORD.search(body[:_LOOKED_THROUGH]) is not None


SHUT_OUT = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""Statuses whose cookies are ignored: a rejected request often gets those of a new visitor."""


class Renewal:
    """The cookies of a check with a user's headers. kept: where they are stored, if anywhere."""

    def __init__(self, ports: Ports, headers: str | None, kept: KeptCookies | None) -> None:
        self._ports, self._headers, self._kept = ports, headers, kept
        self._before = self._left = self.now
        self._has_heard = False

    def __repr__(self) -> str:
        return f"<Renewal of {self._kept}>"

    @property
    def now(self) -> str:
        return "" if self._kept is None else self._kept.kept

    def opening(self, access: Access) -> Access:
        if not self._has_heard:
            self._before = self._left = self.now
        return access.kept(self.now)

    def heard(self, access: Access, url: Url, said: SetCookies) -> Access:
        """Return the access after a response that sets cookies, which are not yet proven."""
        known = access.kept(self.now)
        after = known.after(url, said, self._ports.world.now())
        if after is not known:
            self._has_heard = True
            self._put(after.cookies)
        return after

    def works(self, *, at_once: bool = False) -> None:
        """Confirm the cookies: the check was signed in.

        at_once: store them now, not with the next state, so that the node that watches the source reads them.
        """
        if self.now == self._left:
            self._put(cookies.settled(self.now), worked=True)
        if at_once and self._kept is not None:
            self._kept.save(self._ports.recorder, at_once=True)

    def shut_out(self) -> None:
        if self.now != self._left:
            return
        before = self._before
        pairs = given_request(self._headers).pairs if self._headers else ()
        given = _given([(name.encode(), value.encode()) for name, value in pairs])
        if self._has_heard and not before and given is not None:
            before = cookies.written(given)
        self._put(cookies.turned(before))

    @contextmanager
    def unless_wall(self) -> Iterator[None]:
        """Read a page. An unreadable one may be a wall that set a new visitor's cookies; one that is too large may
        not."""
        try:
            yield
        except ReadingStopped:
            raise
        except LookFailed:
            self.shut_out()
            raise

    def _put(self, kept: str, *, worked: bool = False) -> None:
        if self._kept is not None:
            self._kept.put(kept, worked=worked)
            self._kept.save(self._ports.recorder)
        self._left = self.now


def renewal_of(ports: Ports, seen: EffectiveSource) -> Renewal:
    return Renewal(ports, seen.source.headers, seen.cookies)


@dataclass(slots=True)
class RequestAccess:
    """The access of a request, as renewed so far by responses.

    passing: by origin, cookies that the check received where the user gave none; discarded with the check.
    """

    ports: Ports
    url: Url
    access: Access
    renewal: Renewal
    passing: dict[str, Jar] = field(default_factory=dict, repr=False)

    def begin(self) -> Access:
        """Return the current access, as the request is about to be sent."""
        self.access = self.renewal.opening(self.access)
        return self.access

    def headers(self, access: Access) -> Sequence[tuple[bytes, bytes]]:
        now = self.ports.world.now()
        sent = "" if self._is_given else cookies.header(self.passing.get(self.url.origin, ()), self.url, now)
        return (*access.to(self.url, now), *([(b"Cookie", sent.encode("latin-1"))] if sent else []))

    @property
    def _is_given(self) -> bool:
        return self.url.origin == self.access.origin and self.access.given is not None

    def take(self, said: SetCookies, status: int) -> None:
        if status in SHUT_OUT:
            return
        if not self._is_given:
            jar = self.passing.get(self.url.origin, ())
            self.passing[self.url.origin] = cookies.taken(jar, self.url, said, self.ports.world.now())
            return
        self.access = self.renewal.heard(self.access, self.url, said)
