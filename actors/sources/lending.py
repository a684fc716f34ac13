"""Headers that one source lends to others: one sign-in serves all pages of a site or of several hosts.

A source with headers names their places (`headers_for`): a host, or `*.` and its subdomains, by TLS only, at the named
port. Sources at such a place, or at the lender's own origin, that have no headers use these. They are never written to
the borrower: changing the lender's changes all.

Renewed cookies are kept in one place: all borrowers at the lender's own origin share the lender's. At other places its
headers are sent as given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from msgspec.structs import replace

from actors.egress.headers import given_request
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from storage.records.identity import SourceId
from storage.records.source import Source

if TYPE_CHECKING:  # an actor stores them; pure code also reads places
    from actors.sources.session_cookies import SessionCookies

WILDCARD: Final = "*."
_OWN: Final = 1 << 16  # the precision of a lender's own origin: higher than any named place


def parse_places(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return normalized places, each once. Raises UrlRefused.

    >>> parse_places(("*.Example.com", "example.com:8443", "EXAMPLE.com."))
    ('*.example.com', 'example.com:8443', 'example.com')
    """
    return tuple(dict.fromkeys(_parse_place(text) for text in texts))


def _parse_place(text: str) -> str:
    wildcard = WILDCARD if text.startswith(WILDCARD) else ""
    rest = text.removeprefix(WILDCARD)
    url = parse_url(f"https://{rest}", schemes=("https",))
    if url.target != "/" or "/" in rest:
        raise UrlRefused("url-host", f"{text[:60]!r} is no host: a host has no path")
    if wildcard and "." not in url.host:
        raise UrlRefused("url-host", f"{text[:60]!r} would match every host of a top-level domain")
    return wildcard + url.authority


def is_at(place: str, url: Url) -> bool:
    """Return whether a URL is at a place that a user has named.

    >>> url = parse_url("https://a.example.com/x")
    >>> [is_at(place, url) for place in ("*.example.com", "a.example.com", "example.com", "a.example.com:81")]
    [True, True, False, False]
    """
    if not url.secure:
        return False
    if place.startswith(WILDCARD):
        return url.authority.endswith(place[1:])
    return url.authority == place


class Keeper(Protocol):
    """A current source with its renewed cookies: `LiveSource`, which imports this module."""

    source: Source
    cookies: SessionCookies

    @property
    def effective(self) -> Source: ...


class ResolvedSource(NamedTuple):
    """A source as it is checked. cookies: to send and renew. lender: the title of the headers' owner; "": itself."""

    source: Source
    cookies: SessionCookies | None
    lender: str = ""


class Lenders:
    """The lenders and their borrowers. Only the registry writes it."""

    def __init__(self) -> None:
        self._lenders: dict[SourceId, Keeper] = {}
        self._by_borrower: dict[SourceId, Keeper | None] = {}
        """By borrower. Bound: the number of sources."""

    def put(self, live: Keeper) -> None:
        id = live.source.id
        before = self._lenders.pop(id, None)
        if live.source.headers and live.source.headers_for:
            self._lenders[id] = live
        if before is not None or id in self._lenders:
            self._by_borrower.clear()
        self._by_borrower.pop(id, None)

    def drop(self, source: SourceId) -> None:
        self._by_borrower.pop(source, None)
        if self._lenders.pop(source, None) is not None:
            self._by_borrower.clear()

    def of(self, source: Source) -> Keeper | None:
        if not self._lenders or source.headers is not None or source.practice is not None:
            return None
        if source.id not in self._by_borrower:
            try:
                self._by_borrower[source.id] = self.at(parse_url(source.url))
            except UrlRefused:  # another version took it
                self._by_borrower[source.id] = None
        return self._by_borrower[source.id]

    def at(self, url: Url) -> Keeper | None:
        ranked = ((_precision(live.source, url), live) for live in self._lenders.values())
        candidates = [(precision, live) for precision, live in ranked if precision]
        best = min(candidates, key=lambda pair: (-pair[0], pair[1].source.created_at, pair[1].source.id), default=None)
        return None if best is None else best[1]

    def resolve(self, live: Keeper) -> ResolvedSource:
        lender, source = self.of(live.source), live.effective
        if lender is None:
            return ResolvedSource(source, live.cookies)
        # The page seen before may have been the one without sign-in.
        detection = replace(source.detection, asks_password=False)
        borrowing = replace(source, headers=lender.source.headers, detection=detection)
        return ResolvedSource(borrowing, cookies_at(lender, parse_url(source.url)), lender.source.called)


def cookies_at(lender: Keeper, url: Url) -> SessionCookies | None:
    """Return a lender's cookies if a URL shares them: WebSockets and pages do (RFC 6265, 8.5)."""
    return lender.cookies if is_own(lender.source, url) else None


def is_own(lender: Source, url: Url) -> bool:
    own = parse_url(lender.url)
    return (own.secure, own.authority) == (url.secure, url.authority)


def is_lendable(headers: str | None) -> bool:
    """Return whether headers may go to other pages: not with a posted body."""
    return headers is not None and given_request(headers).body is None


def _precision(lender: Source, url: Url) -> int:
    if is_own(lender, url):
        return _OWN
    named = (place for place in lender.headers_for if is_at(place, url))
    return max((len(place) + (0 if place.startswith(WILDCARD) else _OWN // 2) for place in named), default=0)
