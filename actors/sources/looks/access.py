"""Headers of a user, and a body, that a source's looks send to one origin; and the cookies that it renews. Pure.

Where the user gave a `Cookie`, what the origin sets is followed from one request to the next, as a browser does.
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
    """Headers, and the origin that they are for: "" of nobody. body: what is posted there; None: it is only asked.

    jar: the cookies as they are by now; None while they are those of the headers, or nothing is followed. before: what
    was sent before, while nobody knows whether those of now are good.
    """

    origin: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes | None = None
    jar: Jar | None = None
    before: Jar | None = None

    def to(self, url: Url, now: int) -> Sequence[tuple[bytes, bytes]]:
        """Return what is sent to a URL: nothing where a redirect or a page has led to another origin."""
        if url.origin != self.origin:
            return ()
        if self.jar is None:
            return self.headers
        sent = cookies.header(self.jar, url, now).encode("latin-1")
        others = tuple(pair for pair in self.headers if pair[0].lower() != _COOKIE)
        return (*others, (b"Cookie", sent)) if sent else others

    @property
    def cookies(self) -> str:
        """The cookies as they are kept, "" where none were renewed."""
        return "" if self.jar is None else cookies.written(self.jar, self.before)

    @property
    def given(self) -> Jar | None:
        """The cookies of the headers, None where they have none: then nothing is followed."""
        return _given(self.headers)

    def after(self, url: Url, said: SetCookies, now: int) -> Access:
        """Return what opens the origin after an answer of a URL; only the origin's own answers set anything."""
        if not said.lines or url.origin != self.origin or (given := self.given) is None:
            return self
        known = given if self.jar is None else self.jar
        after = cookies.taken(known, url, said, now)
        if after == known:
            return self
        doubted = self.before is None and cookies.sends(after) != cookies.sends(known)
        return self._replace(jar=after, before=known if doubted else self.before)

    def kept(self, text: str) -> Access:
        """Return what opens the origin with cookies that were kept; "" changes nothing."""
        jar = cookies.read(text)
        return self if jar is None else self._replace(jar=jar, before=cookies.doubted(text))

    def posted_to(self, url: Url) -> bytes | None:
        """Return what is posted to a URL, None where it is only asked."""
        return self.body if url.origin == self.origin else None


NO_ACCESS = Access("", ())


def given_in(headers: str | None) -> Jar | None:
    """Return the cookies of a user's headers, None where they have none."""
    pairs = given_request(headers).pairs if headers else ()
    return _given([(name.encode(), value.encode()) for name, value in pairs])


def _given(headers: Sequence[tuple[bytes, bytes]]) -> Jar | None:
    text = next((value for name, value in headers if name.lower() == _COOKIE), None)
    return None if text is None else cookies.given(text.decode())


def access_to(url: Url, headers: str | None) -> Access:
    """Return what a user's headers open. url: the one that the user has named."""
    if not headers:
        return NO_ACCESS
    given = given_request(headers)
    pairs = tuple((name.encode(), value.encode()) for name, value in given.pairs)
    return Access(url.origin, pairs, None if given.body is None else given.body.encode())


def access_of(source: Source, kept: str = "") -> Access:
    """Return what a source's looks send. kept: its cookies, where its origin has renewed them. Raises UrlRefused."""
    return access_to(parse_url(source.url), source.headers).kept(kept) if source.headers else NO_ACCESS


def shelved_as(text: str, headers: str | None, shown: str = "") -> str:
    """Return the name of a body among those of the last minute: who sends other headers may get another body.

    shown: of what a browser shows, in what way it does.
    """
    name = f"{text}\n{blake2b(headers.encode(), digest_size=16).hexdigest()}" if headers else text
    return f"{name}\n{shown}" if shown else name


def asks_password(body: bytes) -> bool:
    """Return whether a page has a field for a password.

    >>> asks_password(b'<form><INPUT name=p type="Password"></form>'), asks_password(b"<p>type=password</p>")
    (True, False)
    """
    return _PASSWORD.search(body[:_LOOKED_THROUGH]) is not None
