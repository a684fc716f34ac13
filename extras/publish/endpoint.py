"""The endpoint of publications: GET and HEAD, without a key, for anyone with the address.

`/published/TOKEN` is a page, `/published/TOKEN/EVENT` one event, `/published/TOKEN.atom` a feed (`.rss`, `.json`).
`?before=EVENT` is the page of older events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, NamedTuple
from urllib.parse import parse_qs, unquote

import msgspec
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from actors.app_context import AppContext
from actors.errors import NotFound
from actors.language.speaking import language, noted, say, set_language
from api.application import Application
from api.dashboard.sessions import NONE, spoken_to
from api.endpoint import Arrived, Endpoint, EndpointReply, Message
from api.problems import Refusal
from api.ratelimit import Limiter
from api.streams.streams import Streams
from extras.publish import pages
from extras.publish.documents import FeedPlace, feed_of, query_of, told
from extras.publish.formats import FORMATS
from extras.publish.newest import NewestEvents, PublishedPage
from extras.publish.operations import HUB, PATH
from storage.records.identity import Seq, seq_of
from storage.records.publication import Publication, hash_of

ENDED = noted("This was shared until %(day)s.")
GONE = "Nothing is published here: the address is wrong, or was revoked."
HTML = "text/html; charset=utf-8"
_LONGEST = 200
"""Bytes of a path, far more than an address has."""
_TAGS = re.compile(r'"([^"]*)"')


class _PublicPath(NamedTuple):
    """A parsed path: a token, an ending of `FORMATS` ("": a page), and an event ("": the list)."""

    token: str
    ending: str
    event: str


class PublicCall(NamedTuple):
    """The context of operations for an anonymous reader."""

    context: AppContext
    streams: Streams
    limiter: Limiter
    request_id: str
    by: str = ""

    def may(self, scope: str) -> bool:
        """Return False: readers have no scopes."""
        return False


class PublicationEndpoint(Endpoint):
    """The application of the publications' addresses."""

    path, name = PATH, "publications"
    reads = False
    harmless: ClassVar[Mapping[str, str]] = {
        "x-robots-tag": "noindex, nofollow",
        "referrer-policy": "no-referrer",
        "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'",
    }

    def __init__(self, api: Application) -> None:
        super().__init__(api)
        self._newest = NewestEvents(PublicCall(api.context, api.streams, api.limiter, ""))
        self._store = api.context.storage.publications

    async def reply(self, request: Arrived) -> EndpointReply:
        """Answer one request. A body is discarded. Raises Refusal, NotFound, StorageError, TooSlowError."""
        scope, headers = request.scope, request.headers
        asks = parse_accept_header(headers.get("Accept-Language", "") if _wants_page(scope) else "", LanguageAccept)
        set_language(spoken_to(NONE, asks))
        if scope["method"] not in ("GET", "HEAD"):
            raise Refusal("method-not-allowed", "Publications are only read.", headers={"Allow": "GET, HEAD"})
        asked = _asked(scope["raw_path"])
        published = None if asked is None else await self._store.by_hash(hash_of(asked.token))
        if asked is None or published is None:
            raise NotFound(GONE)
        if published.publication.has_ended(self._api.context.world.now()):
            raise Refusal("gone", say(ENDED, day=published.publication.ends_on))
        before = _before(scope["query_string"])
        base = f"{self._api.base_url}{PATH}{asked.token}"
        if asked.event:
            return await self._event(published.publication, base, asked.event)
        if before is None:
            newest = await self._newest.of(published)
            tag = newest.tag if asked.ending else f"{newest.tag}.{language()}"
            etag = f'W/"{tag}"'
            known = headers.get("If-None-Match", "")
            if known.strip() == "*" or tag in _TAGS.findall(known):
                return EndpointReply(304, "", b"", _cached(etag))
            reply = await self._document(published.publication, newest.page, base, asked.ending, "")
            return reply._replace(headers=(*reply.headers, *_cached(etag)))
        page = await self._newest.before(published.publication, before)
        return await self._document(published.publication, page, base, asked.ending, query_of(before))

    async def _document(
        self, publication: Publication, page: PublishedPage, base: str, ending: str, query: str
    ) -> EndpointReply:
        """Return a page of events in the format of an ending. query: of the page's own address, "" for the newest."""
        world = self._api.context.world
        format = FORMATS.get(ending)
        if format is None:
            older = "" if page.older is None else query_of(page.older)
            rows = await told(world, page, pages.row)
            return EndpointReply(200, HTML, pages.listed(publication, rows, base, older=older, newest=not query))
        hub = self._api.base_url + HUB
        body = await feed_of(world, publication, page, FeedPlace(base, hub, ending, query))
        links = f'<{hub}>; rel="hub", <{base}.{ending}{query}>; rel="self"'
        return EndpointReply(200, format.media, body, (("link", links),))

    async def _event(self, publication: Publication, base: str, id: str) -> EndpointReply:
        event = await self._api.context.storage.log.get(id)
        if event is None or not await self._newest.shows(publication, event):
            raise NotFound("This event is not published here.")
        try:
            body = pages.one(publication.title, event, base, await self._api.context.jwks())
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise NotFound("This event cannot be shown: another version of the service wrote it.") from None
        return EndpointReply(200, HTML, body, (("cache-control", "private, no-cache"),))

    def refused(self, request: Arrived, refusal: Refusal) -> EndpointReply:
        if _wants_page(request.scope) and refusal.status in (404, 410):
            body = pages.gone(refusal.detail, ended=refusal.slug == "gone")
            return EndpointReply(refusal.status, HTML, body, tuple(refusal.headers.items()))
        return super().refused(request, refusal)


def _wants_page(scope: Message) -> bool:
    return b"." not in scope["raw_path"]


def _asked(raw: bytes) -> _PublicPath | None:
    """Parse a path; None if it is no address."""
    if len(raw) > _LONGEST:
        return None
    path = unquote(raw.decode("latin-1")).removeprefix(PATH)
    head, _, event = path.partition("/")
    token, _, ending = head.partition(".")
    if not token or (ending and ending not in FORMATS) or ("." in head and not ending) or (ending and event):
        return None
    return _PublicPath(token, ending, event)


def _before(query: bytes) -> Seq | None:
    """Return the position in a query, or None. Raises Refusal (400)."""
    try:
        values = parse_qs(query.decode("latin-1"), max_num_fields=20).get("before", ())
        return seq_of(values[-1]) if values else None
    except ValueError:
        raise Refusal("invalid-request", "`before` must be the id of an event, and the only parameter.") from None


def _cached(etag: str) -> tuple[tuple[str, str], ...]:
    return (("etag", etag), ("cache-control", "private, no-cache"), ("vary", "Accept-Language"))
