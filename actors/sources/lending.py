"""Headers that one source lends to others: what signs in is given once, for all pages of a site or of several hosts.

A source with headers names the places that they are for (`headers_for`): a host, or `*.` and what lies below it, by TLS
only, and at the port that is named. A source at such a place that has no headers of its own is looked at with these,
and so is each at the lender's own origin. They are never written to the borrower: who changes the lender's changes all.

What an origin sets is followed in one place: the lender's cookies are those of all borrowers at its own origin. At
other places its headers are sent as they were given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from msgspec.structs import replace

from actors.egress.given_headers import given_request
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from storage.records.identity import SourceId
from storage.records.source import Source

if TYPE_CHECKING:  # they are stored by an actor; places are also read by what reaches none
    from actors.sources.kept_cookies import KeptCookies

BELOW: Final = "*."
_OWN: Final = 1 << 16
"""How exactly a lender's own origin is meant: more than any place that it names."""


def read_places(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return places in their one spelling, each once. Raises UrlRefused.

    >>> read_places(("*.Example.com", "example.com:8443", "EXAMPLE.com."))
    ('*.example.com', 'example.com:8443', 'example.com')
    """
    return tuple(dict.fromkeys(_read(text) for text in texts))


def _read(text: str) -> str:
    below = BELOW if text.startswith(BELOW) else ""
    rest = text.removeprefix(BELOW)
    url = parse_url(f"https://{rest}", schemes=("https",))
    if url.target != "/" or "/" in rest:
        raise UrlRefused("url-host", f"{text[:60]!r} is no host: a host has no path")
    if below and "." not in url.host:
        raise UrlRefused("url-host", f"{text[:60]!r} would be every host of a top level")
    return below + url.authority


def is_at(place: str, url: Url) -> bool:
    """Return whether a URL is at a place that a user has named.

    >>> url = parse_url("https://a.example.com/x")
    >>> [is_at(place, url) for place in ("*.example.com", "a.example.com", "example.com", "a.example.com:81")]
    [True, True, False, False]
    """
    if not url.secure:
        return False
    if place.startswith(BELOW):
        return url.authority.endswith(place[1:])
    return url.authority == place


class Keeper(Protocol):
    """A source as it is now, with the cookies that its origin has renewed; see `LiveSource`."""

    source: Source
    cookies: KeptCookies

    @property
    def effective(self) -> Source:
        """The source as it is watched."""


class Borrowed(NamedTuple):
    """A source as it is looked at. cookies: those that are sent and followed, if any. lender: whose headers it is
    looked at with, "" for its own.
    """

    source: Source
    cookies: KeptCookies | None
    lender: str = ""


class Lenders:
    """The sources whose headers are lent, and to whom. Written by the registry only."""

    def __init__(self) -> None:
        self._lenders: dict[SourceId, Keeper] = {}
        self._known: dict[SourceId, Keeper | None] = {}
        """By borrower. Bound: the sources that there are."""

    def __repr__(self) -> str:
        return f"<Lenders, {len(self._lenders)}>"

    def put(self, live: Keeper) -> None:
        """Take note of a source as it is now."""
        id = live.source.id
        was = self._lenders.pop(id, None)
        if live.source.headers and live.source.headers_for:
            self._lenders[id] = live
        if was is not None or id in self._lenders:
            self._known.clear()
        self._known.pop(id, None)

    def drop(self, source: SourceId) -> None:
        """Forget a source."""
        self._known.pop(source, None)
        if self._lenders.pop(source, None) is not None:
            self._known.clear()

    def of(self, source: Source) -> Keeper | None:
        """Return whose headers a source is looked at with, None for its own or nobody's."""
        if not self._lenders or source.headers is not None or source.practice is not None:
            return None
        if source.id not in self._known:
            try:
                self._known[source.id] = self.at(parse_url(source.url))
            except UrlRefused:  # another version took it
                self._known[source.id] = None
        return self._known[source.id]

    def at(self, url: Url) -> Keeper | None:
        """Return whose headers a URL is looked at with: of several lenders the one who means it most exactly."""
        meant = ((_exactness(live.source, url), live) for live in self._lenders.values())
        found = [(exact, live) for exact, live in meant if exact]
        first = min(found, key=lambda one: (-one[0], one[1].source.created_at, one[1].source.id), default=None)
        return None if first is None else first[1]

    def borrowed(self, live: Keeper) -> Borrowed:
        """Return a source as it is looked at now."""
        lender, source = self.of(live.source), live.effective
        if lender is None:
            return Borrowed(source, live.cookies)
        # What was seen before may have been a stranger's page.
        seen = replace(source, headers=lender.source.headers, detection=replace(source.detection, asks_password=False))
        return Borrowed(seen, cookies_at(lender, parse_url(source.url)), lender.source.called)


def cookies_at(lender: Keeper, url: Url) -> KeptCookies | None:
    """Return a lender's cookies if they are those of a URL, too: they tell no WebSocket from a page (RFC 6265, 8.5)."""
    return lender.cookies if is_own(lender.source, url) else None


def is_own(lender: Source, url: Url) -> bool:
    """Return whether a URL is at a lender's own origin."""
    own = parse_url(lender.url)
    return (own.secure, own.authority) == (url.secure, url.authority)


def is_lendable(headers: str | None) -> bool:
    """Return whether there are headers that may go to other pages: not those of a body that is posted."""
    return headers is not None and given_request(headers).body is None


def _exactness(lender: Source, url: Url) -> int:
    if is_own(lender, url):
        return _OWN
    return max(
        (
            len(place) + (0 if place.startswith(BELOW) else _OWN // 2)
            for place in lender.headers_for
            if is_at(place, url)
        ),
        default=0,
    )
