"""The registry's answers about a URL: its tier, the events of watching it."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from actors.egress.failures import LookFailed
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse
from actors.egress.url import Url, parse_url
from actors.errors import TooSoon, Unprocessable
from actors.inheritance import part_shown
from actors.messages.previews import Preview, Previewed
from actors.messages.requests import DetectRequest
from actors.messages.sources import DetectUrl, PreviewSource
from actors.ordering import KeyedLocks
from actors.sources.checks.access import Renewal, cache_key
from actors.sources.checks.source_fetch import body_cache_key, fetch_for_user
from actors.sources.detection.classify import Classification, ClassifyRequest, classify, refused
from actors.sources.index import SourceIndex
from actors.sources.lending import cookies_at, is_own
from actors.sources.page.preview import Narrowing, check_selectors, preview_page
from actors.sources.ports import LiveSource, Ports
from actors.sources.push.preview import LISTEN
from actors.sources.registry.validation import blaming_tags, check_filter, check_headers, check_rendering
from actors.sources.tiers import BEHAVIOURS
from storage.records.identity import Millis, SourceId
from storage.records.source import Source
from storage.records.tiers import SOCKETS, WITH_DIFF


class Opening(NamedTuple):
    """The headers and cookies for an unwatched URL, if any; lent: by another source."""

    headers: str | None
    renewal: Renewal
    lent: bool = False

    def judge(self, found: Classification) -> None:
        """Judge the cookies by the classification. A password field rejects only lent ones: it may be on the page that
        the user wants to watch.
        """
        if not found.detection.asks_password:
            self.renewal.confirm(at_once=self.lent)
        elif self.lent:
            self.renewal.reject()


async def opening(ports: Ports, url: Url, headers: str | None, *, reads: bool, stays: bool = False) -> Opening:
    """Return the access for a URL: its own headers, else those that a source lends.

    They are lent only to callers that may read sources (`reads`), since the answer shows the page behind them; for a
    mere preview (not `stays`), only at the lender's own origin. Adding a previewed URL continues with its renewed
    cookies.
    """
    if headers is not None:
        return Opening(headers, Renewal(ports, headers, ports.preview_cookies.get(tried_as(url, headers))))
    lender = ports.lenders.at(url) if reads else None
    if lender is None or not (stays or is_own(lender.source, url)):
        return Opening(None, Renewal(ports, None, None))
    kept = cookies_at(lender, url)
    if kept is not None and not ports.storage.ownership.watches(lender.source):  # another node may have renewed them
        stored = await ports.storage.sources.get(lender.source.id)
        kept = kept if stored is None else kept.merge(stored.hot.cookies)
    return Opening(lender.source.headers, Renewal(ports, lender.source.headers, kept), lent=True)


def tried_as(url: Url, headers: str) -> str:
    return cache_key(f"{url.authority} {url.secure}", headers)


class Previewer:
    """Fetches and shows; stores nothing, and blocks no change of a source."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self.ports, self._table = ports, table
        self._showing = KeyedLocks()

    async def detect(self, message: DetectUrl) -> Previewed:
        request = message.request
        found = await self.classified(request, reads=message.reads)
        watched = self.as_watched(found, request)
        wish = replace(request, selector=watched.selector, ignore=watched.ignore)
        with blaming_tags(watched):
            shown = await BEHAVIOURS[found.type].preview(self.ports, found, wish)
        if found.type in WITH_DIFF:
            shown = replace(shown, part=part_shown(watched))
        known = await self.ports.storage.sources.by_url(parse_url(request.url).text)
        return Previewed(found.detection, shown, None if known is None else known.id)

    def known(self, source: SourceId) -> Source:
        """Return a source's stored record. Raises NotFound."""
        return self._table.get(source).source

    def as_watched(self, found: Classification, request: DetectRequest) -> Source:
        made = Source(SourceId(""), request.url, found.watch_url, found.type, found.detection, found.at, found.at)
        wished = {name: getattr(request, name) for name in ("tags", "selector", "ignore", "own_only")}
        return self.ports.tag_table.of(replace(made, **wished))

    async def classified(self, request: DetectRequest, *, reads: bool) -> Classification:
        """Classify a URL for a user; a body of the last minute will do."""
        url = parse_url(request.url)
        part = Narrowing(request.selector, request.ignore)
        check_filter(request.filter)
        await check_selectors(self.ports, part)
        check_headers(request.headers, socket=url.scheme in SOCKETS)
        await check_rendering(self.ports, request)
        opens = await opening(self.ports, url, request.headers, reads=reads)
        wanted = ClassifyRequest(
            request.type,
            narrowed=bool(part),
            recent=True,
            listen=LISTEN,
            headers=opens.headers,
            render=request.render,
            wait_for=request.wait_for,
        )
        found = await classify(self.ports, url, wanted, opens.renewal)
        opens.judge(found)
        return found

    async def preview(self, wish: PreviewSource) -> Preview:
        fetched, at = await self.body_of(wish.source, Narrowing(wish.selector, wish.ignore))
        own = replace(self._table.get(wish.source).source, selector=wish.selector, ignore=wish.ignore)
        shown = self.ports.tag_table.of(own)
        with blaming_tags(shown):
            page = await preview_page(self.ports, fetched, Narrowing(shown.selector, shown.ignore))
        return Preview(at, page=page, part=part_shown(shown))

    async def body_of(self, source: SourceId, part: Narrowing) -> tuple[FetchedResponse, Millis]:
        """Return a source's page to show parts of. Raises Unprocessable: no page, invalid selectors; TooSoon."""
        live = self._table.get(source)
        if "selector" not in live.source.tier.settings:
            raise Unprocessable(f"{live.source.url} is not watched as a page: it has no parts to choose from")
        await check_selectors(self.ports, part)
        async with self._showing.hold(live.source.url):  # a separate lock: it blocks no edit
            return await self._body(live)

    async def _body(self, live: LiveSource) -> tuple[FetchedResponse, Millis]:
        """Return the page of a source, fetched unless recently cached. Raises TooSoon."""
        claim, shelf = TurnRequest(live.source.id, interactive=True), self.ports.body_cache
        reader = self._table.readers["html"]
        try:
            kept = await fetch_for_user(self.ports, live, claim, reader, lambda: self._table.polite(live))
        except TooSoon:
            seen = self.ports.lenders.resolve(live).source
            if (old := shelf.find(body_cache_key(seen, rendered=live.hot.rendered))) is None:
                raise
            kept = old
        except LookFailed as failure:
            raise refused(failure, live.source.watch_url) from None
        return kept.fetched, kept.at
