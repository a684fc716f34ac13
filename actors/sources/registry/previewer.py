"""The registry's answers about a URL: its tier, the events of watching it."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from actors.egress.failures import CheckFailed
from actors.egress.hosts import TurnRequest
from actors.egress.http import FetchedResponse
from actors.egress.url import Url, parse_url
from actors.errors import TooSoon, Unprocessable
from actors.inheritance import shown_part
from actors.messages.requests import DetectRequest, Preview, Previewed
from actors.messages.sources import DetectUrl, PreviewSource
from actors.sources.checks.access import NO_ACCESS, Renewal, access_to, cache_key
from actors.sources.checks.source_fetch import body_cache_key, fetch_for_user
from actors.sources.detection import Classification, classify, classify_request, domain_error
from actors.sources.index import SourceIndex
from actors.sources.lending import cookies_at, is_own
from actors.sources.ordering import KeyedLocks
from actors.sources.page import PagePart, check_selectors, preview_page
from actors.sources.ports import Ports
from actors.sources.push.frames import LISTEN
from actors.sources.registry.validation import check_filter, check_headers, check_rendering, naming_tags
from actors.sources.tiers import BEHAVIOURS
from storage.records.identity import Millis, SourceId
from storage.records.source import Source
from storage.records.tiers import SOCKETS, WITH_DIFF


class UrlAccess(NamedTuple):
    """The headers and cookies for an unwatched URL, if any; lent: by another source."""

    headers: str | None
    renewal: Renewal
    is_lent: bool = False

    def judge_cookies(self, classification: Classification) -> None:
        """Judge the cookies. A password field rejects only lent ones: the user may want to watch its page."""
        if not classification.detection.asks_password:
            self.renewal.confirm(at_once=self.is_lent)
        elif self.is_lent:
            self.renewal.reject()


async def access_for(
    ports: Ports, url: Url, headers: str | None, *, may_read: bool, is_adding: bool = False
) -> UrlAccess:
    """Return the access for a URL: its own headers, else those that a source lends, only to callers that may read
    sources (`may_read`), since the answer shows the page behind them; for a mere preview (not `is_adding`), only at the
    lender's own origin. Adding a previewed URL continues with its renewed cookies.
    """
    if headers is not None:
        own = ports.preview_cookies.get(cookie_key(url, headers))
        return UrlAccess(headers, Renewal(ports, access_to(url, headers), own))
    lender = ports.lenders.at(url) if may_read else None
    if lender is None or not (is_adding or is_own(lender.source, url)):
        return UrlAccess(None, Renewal(ports, NO_ACCESS, None))
    cookies = cookies_at(lender, url)
    if cookies is not None and not ports.storage.ownership.watches(lender.source):  # another node may have renewed them
        stored = await ports.storage.sources.get(lender.source.id)
        cookies = cookies if stored is None else cookies.merge(stored.hot.cookies)
    headers = lender.source.headers
    return UrlAccess(headers, Renewal(ports, access_to(url, headers), cookies), is_lent=True)


def cookie_key(url: Url, headers: str) -> str:
    return cache_key(f"{url.authority} {url.secure}", headers)


class Previewer:
    """Fetches and shows; stores nothing, and blocks no change of a source."""

    def __init__(self, ports: Ports, table: SourceIndex) -> None:
        self.ports, self._table = ports, table
        self._page_locks = KeyedLocks()

    async def detect(self, message: DetectUrl) -> Previewed:
        request = message.request
        classification = await self.classify_url(request, reads=message.reads)
        effective = self.as_watched(classification, request)
        request_shown = replace(request, selector=effective.selector, ignore=effective.ignore)
        with naming_tags(effective):
            preview = await BEHAVIOURS[classification.type].preview(self.ports, classification, request_shown)
        if classification.type in WITH_DIFF:
            preview = replace(preview, part=shown_part(effective))
        existing = await self.ports.storage.sources.by_url(parse_url(request.url).text)
        return Previewed(classification.detection, preview, None if existing is None else existing.id)

    def known(self, source: SourceId) -> Source:
        """Return a source's stored record. Raises NotFound."""
        return self._table.get(source).source

    def as_watched(self, classification: Classification, request: DetectRequest) -> Source:
        url, at = classification.watch_url, classification.at
        source = Source(SourceId(""), request.url, url, classification.type, classification.detection, at, at)
        settings = {name: getattr(request, name) for name in ("tags", "selector", "ignore", "own_only")}
        return self.ports.tag_table.of(replace(source, **settings))

    async def classify_url(self, request: DetectRequest, *, reads: bool) -> Classification:
        url = parse_url(request.url)
        check_filter(request.filter)
        await check_selectors(self.ports, PagePart(request.selector, request.ignore))
        check_headers(request.headers, socket=url.scheme in SOCKETS)
        await check_rendering(self.ports, request)
        access = await access_for(self.ports, url, request.headers, may_read=reads)
        asked = classify_request(request, request.type, access.headers, recent=True, listen=LISTEN)
        classification = await classify(self.ports, url, asked, access.renewal)
        access.judge_cookies(classification)
        return classification

    async def preview(self, message: PreviewSource) -> Preview:
        fetched, at = await self.body_of(message.source, PagePart(message.selector, message.ignore))
        own = replace(self._table.get(message.source).source, selector=message.selector, ignore=message.ignore)
        effective = self.ports.tag_table.of(own)
        with naming_tags(effective):
            page = await preview_page(self.ports, fetched, PagePart(effective.selector, effective.ignore))
        return Preview(at, page=page, part=shown_part(effective))

    async def body_of(self, source: SourceId, part: PagePart) -> tuple[FetchedResponse, Millis]:
        """Return a source's page to show parts of. Raises Unprocessable: no page, invalid selectors; TooSoon."""
        live = self._table.get(source)
        if "selector" not in live.source.tier.settings:
            raise Unprocessable(f"{live.source.url} is not watched as a page: it has no parts to choose from")
        await check_selectors(self.ports, part)
        claim, reader = TurnRequest(live.source.id, interactive=True), self._table.readers["html"]
        async with self._page_locks.hold(live.source.url):  # a separate lock: it blocks no edit
            try:
                cached = await fetch_for_user(
                    self.ports, live, claim, reader, lambda: self._table.check_politeness(live)
                )
            except TooSoon:
                key = body_cache_key(self.ports.lenders.resolve(live).source, rendered=live.hot.rendered)
                if (expired := self.ports.body_cache.find(key)) is None:
                    raise
                cached = expired
            except CheckFailed as failure:
                raise domain_error(failure, live.source.watch_url) from None
        return cached.fetched, cached.at
