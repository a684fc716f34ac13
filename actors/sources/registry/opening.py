"""Access to a URL that is not watched yet: headers that are given with it, or those that another source lends."""

from __future__ import annotations

from typing import NamedTuple

from actors.egress.url import Url
from actors.sources.detection.classify import Classification
from actors.sources.lending import cookies_at, is_own
from actors.sources.looks.access import shelved_as
from actors.sources.looks.renewal import Renewal
from actors.sources.ports import Ports


class Opening(NamedTuple):
    """What a URL is looked at with that is not watched yet, if it is anything; lent: by another source."""

    headers: str | None
    renewal: Renewal | None
    lent: bool = False

    def judge(self, found: Classification) -> None:
        """Say what is known of the cookies by what was found: a field for a password may be on a page for members, too,
        where that is what is to be watched.
        """
        if self.renewal is None:
            return
        if not found.detection.asks_password:
            self.renewal.works(at_once=self.lent)
        elif self.lent:
            self.renewal.shut_out()


async def opening(ports: Ports, url: Url, headers: str | None, *, reads: bool, stays: bool = False) -> Opening:
    """Return what a URL is looked at with: headers of its own, else those that others lend.

    They are lent to who may read sources (`reads`), since the answer shows the page behind them; for a URL that is only
    tried (not `stays`), at the lender's own origin. Who adds what he has just looked at goes on with what that look has
    renewed.
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
    """Return the name of the cookies of a URL that somebody has tried out: they tell no WebSocket from a page."""
    return shelved_as(f"{url.authority} {url.secure}", headers)
