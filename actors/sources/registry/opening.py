"""Access to an unwatched URL: headers given with it, or lent by another source."""

from __future__ import annotations

from typing import NamedTuple

from actors.egress.url import Url
from actors.sources.detection.classify import Classification
from actors.sources.lending import cookies_at, is_own
from actors.sources.looks.access import shelved_as
from actors.sources.looks.renewal import Renewal
from actors.sources.ports import Ports


class Opening(NamedTuple):
    """The headers and cookies for an unwatched URL, if any; lent: by another source."""

    headers: str | None
    renewal: Renewal | None
    lent: bool = False

    def judge(self, found: Classification) -> None:
        """Judge the cookies by the classification. A password field rejects only lent ones: it may be on the page that
        the user wants to watch.
        """
        if self.renewal is None:
            return
        if not found.detection.asks_password:
            self.renewal.works(at_once=self.lent)
        elif self.lent:
            self.renewal.shut_out()


async def opening(ports: Ports, url: Url, headers: str | None, *, reads: bool, stays: bool = False) -> Opening:
    """Return the access for a URL: its own headers, else those that a source lends.

    They are lent only to callers that may read sources (`reads`), since the answer shows the page behind them; for a
    mere preview (not `stays`), only at the lender's own origin. Adding a previewed URL continues with its renewed
    cookies.
    """
    if headers is not None:
        return Opening(headers, Renewal(ports, headers, ports.tried.of(tried_as(url, headers))))
    lender = ports.lenders.at(url) if reads else None
    if lender is None or not (stays or is_own(lender.source, url)):
        return Opening(None, None)
    kept = cookies_at(lender, url)
    if kept is not None and not ports.ownership.watches(lender.source):  # another node may have renewed them
        stored = await ports.storage.sources.get(lender.source.id)
        kept = kept if stored is None else kept.met(stored.hot.cookies)
    return Opening(lender.source.headers, Renewal(ports, lender.source.headers, kept), lent=True)


def tried_as(url: Url, headers: str) -> str:
    """Return the key of a previewed URL's cookies, shared by WebSockets and pages."""
    return shelved_as(f"{url.authority} {url.secure}", headers)
