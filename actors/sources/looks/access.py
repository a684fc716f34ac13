"""Headers of a user, and a body, that a source's looks send to one origin. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from actors.egress.given_headers import given_request
from actors.egress.url import Url, parse_url
from storage.records.source import Source

_PASSWORD = re.compile(rb"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password\b", re.IGNORECASE)
_LOOKED_THROUGH = 2 << 20


class Access(NamedTuple):
    """Headers, and the origin that they are for: "" of nobody. body: what is posted there; None: it is only asked."""

    origin: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes | None = None

    def to(self, url: Url) -> Sequence[tuple[bytes, bytes]]:
        """Return what is sent to a URL: nothing where a redirect or a page has led to another origin."""
        return self.headers if url.origin == self.origin else ()

    def posted_to(self, url: Url) -> bytes | None:
        """Return what is posted to a URL, None where it is only asked."""
        return self.body if url.origin == self.origin else None


NO_ACCESS = Access("", ())


def access_to(url: Url, headers: str | None) -> Access:
    """Return what a user's headers open. url: the one that the user has named."""
    if not headers:
        return NO_ACCESS
    given = given_request(headers)
    pairs = tuple((name.encode(), value.encode()) for name, value in given.pairs)
    return Access(url.origin, pairs, None if given.body is None else given.body.encode())


def access_of(source: Source) -> Access:
    """Return what a source's looks send. Raises UrlRefused."""
    return access_to(parse_url(source.url), source.headers) if source.headers else NO_ACCESS


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
