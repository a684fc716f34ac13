"""A user's headers and body for one origin, and the cookies that it renews. Pure.

If the user gave a `Cookie`, the origin's cookies are updated from request to request, as in a browser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from actors.egress import cookies
from actors.egress.cookies import Jar, SetCookies
from actors.egress.given_headers import given_request
from actors.egress.url import Url, parse_url
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
        """Return the body to post to a URL, None for a GET."""
        return self.body if url.origin == self.origin else None


NO_ACCESS = Access("", ())


def given_in(headers: str | None) -> Jar | None:
    """Return the cookies of a user's headers, None without any."""
    pairs = given_request(headers).pairs if headers else ()
    return _given([(name.encode(), value.encode()) for name, value in pairs])


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
