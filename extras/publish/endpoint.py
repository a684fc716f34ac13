"""The endpoint of publications: GET and HEAD, without a key, for anyone with the address.

`/published/TOKEN` is a page, `/published/TOKEN/EVENT` one event, `/published/TOKEN.atom` a feed (`.rss`, `.json`).
`?before=EVENT` is the page of older events.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

import msgspec
import trio
from werkzeug.datastructures import Headers, LanguageAccept
from werkzeug.http import parse_accept_header

from actors.app_context import AppContext
from actors.errors import NotFound
from actors.language.speaking import language, speak
from api.application import Application
from api.dashboard.sessions import NONE, spoken_to
from api.peers import caller
from api.problems import MEDIA, Refusal
from api.ratelimit import STRANGERS, Limiter, neighbourhood
from api.refusals import refusal_of
from api.streams.streams import Streams
from extras.publish import pages
from extras.publish.documents import FeedPlace, feed_of, query_of, told
from extras.publish.formats import FORMATS
from extras.publish.newest import NewestEvents, PublishedPage
from extras.publish.operations import HUB, PATH
from storage.errors import StorageError
from storage.records.identity import Seq, seq_of
from storage.records.publication import Publication, hash_of

GONE = "There is nothing published here: the address is wrong, or was taken back."
HTML = "text/html; charset=utf-8"
_LONGEST = 200
"""Bytes of a path, far more than an address has."""
_TAGS = re.compile(r'"([^"]*)"')
_HARMLESS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-robots-tag", b"noindex, nofollow"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
)
Message = dict[str, Any]


class Reply(NamedTuple):
    """An answer: status, type, body, and headers in addition to the common ones."""

    status: int
    media: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class _Asked(NamedTuple):
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


def is_published(scope: Message) -> bool:
    path: bytes = scope.get("raw_path", b"")
    return scope.get("type") == "http" and path.startswith(PATH.encode())


class PublicationEndpoint:
    """The ASGI application for requests that match `is_published`."""

    def __init__(self, api: Application) -> None:
        self._api = api
        self._call = PublicCall(api.context, api.streams, api.limiter, "")
        self._newest = NewestEvents(self._call)
        self._store = api.context.storage.publications

    def __repr__(self) -> str:
        return f"<PublicationEndpoint at {PATH}>"

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Answer one request. Discard a body and close its connection."""
        headers = Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]])
        address = caller((scope.get("client") or ("", 0))[0], headers, self._api.proxies)
        verdict = self._api.limiter.take(f"published {neighbourhood(address)}", STRANGERS, trio.current_time())
        wants_page = "." not in scope["raw_path"].decode("latin-1")
        asks = parse_accept_header(headers.get("Accept-Language", "") if wants_page else "", LanguageAccept)
        speak(spoken_to(NONE, asks))
        try:
            if not verdict.admitted:
                wait = {"Retry-After": str(verdict.retry_after)}
                raise Refusal("rate-limited", "Too many requests to publications.", headers=wait)
            if scope["method"] not in ("GET", "HEAD"):
                raise Refusal("method-not-allowed", "Publications are only read.", headers={"Allow": "GET, HEAD"})
            reply = await self._reply(scope, headers)
        except (Refusal, NotFound, StorageError, trio.TooSlowError) as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            reply = self._refused(refusal, page=wants_page)
        more = [*verdict.headers(), ("x-request-id", self._api.new_request_id())]
        if "Content-Length" not in headers and "Transfer-Encoding" not in headers:
            await _send(scope["method"], reply, more, send)
            return
        async with trio.open_nursery() as nursery:
            # Hypercorn's receive queue must not be full when the answer ends, or the answer waits for it.
            nursery.start_soon(_drop, receive)
            await _send(scope["method"], reply, [*more, ("connection", "close")], send)
            nursery.cancel_scope.cancel()

    async def _reply(self, scope: Message, headers: Headers) -> Reply:
        asked = _asked(scope["raw_path"])
        published = None if asked is None else await self._store.by_hash(hash_of(asked.token))
        if asked is None or published is None:
            raise NotFound(GONE)
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
                return Reply(304, "", b"", _cached(etag))
            reply = await self._document(published.publication, newest.page, base, asked.ending, "")
            return reply._replace(headers=(*reply.headers, *_cached(etag)))
        page = await self._newest.before(published.publication, before)
        return await self._document(published.publication, page, base, asked.ending, query_of(before))

    async def _document(
        self, publication: Publication, page: PublishedPage, base: str, ending: str, query: str
    ) -> Reply:
        """Return a page of events in the format of an ending. query: of the page's own address, "" for the newest."""
        world = self._api.context.world
        format = FORMATS.get(ending)
        if format is None:
            older = "" if page.older is None else query_of(page.older)
            rows = await told(world, page, pages.row)
            return Reply(200, HTML, pages.listed(publication.title, rows, base, older=older, newest=not query))
        hub = self._api.base_url + HUB
        body = await feed_of(world, publication, page, FeedPlace(base, hub, ending, query))
        links = f'<{hub}>; rel="hub", <{base}.{ending}{query}>; rel="self"'
        return Reply(200, format.media, body, (("link", links),))

    async def _event(self, publication: Publication, base: str, id: str) -> Reply:
        event = await self._api.context.storage.log.get(id)
        if event is None or not await self._newest.shows(publication, event):
            raise NotFound("This event is not published here, or no longer.")
        try:
            body = pages.one(publication.title, event, base, await self._api.context.jwks())
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise NotFound("This event cannot be shown: another version of the service has written it.") from None
        return Reply(200, HTML, body, (("cache-control", "private, no-cache"),))

    def _refused(self, refusal: Refusal, *, page: bool) -> Reply:
        headers = tuple((name.lower(), value) for name, value in refusal.headers.items())
        if page and refusal.status == 404:
            return Reply(404, HTML, pages.gone(refusal.detail), headers)
        return Reply(refusal.status, MEDIA, refusal.encode(self._api.base_url), headers)


async def _send(
    method: str, reply: Reply, more: Sequence[tuple[str, str]], send: Callable[[Message], Awaitable[None]]
) -> None:
    named = {"cache-control": "no-store", **dict(more), **dict(reply.headers)}
    if reply.media:
        named |= {"content-type": reply.media, "content-length": str(len(reply.body))}
    headers = [*_HARMLESS, *((name.lower().encode(), value.encode("latin-1")) for name, value in named.items())]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else reply.body, "more_body": False})


async def _drop(receive: Callable[[], Awaitable[Message]]) -> None:
    while (await receive())["type"] == "http.request":
        pass


def _asked(raw: bytes) -> _Asked | None:
    """Parse a path; None if it is no address."""
    if len(raw) > _LONGEST:
        return None
    path = unquote(raw.decode("latin-1")).removeprefix(PATH)
    head, _, event = path.partition("/")
    token, _, ending = head.partition(".")
    if not token or (ending and ending not in FORMATS) or ("." in head and not ending) or (ending and event):
        return None
    return _Asked(token, ending, event)


def _before(query: bytes) -> Seq | None:
    """Return the position in a query, or None. Raises Refusal (400)."""
    try:
        values = parse_qs(query.decode("latin-1"), max_num_fields=20).get("before", ())
        return seq_of(values[-1]) if values else None
    except ValueError:
        raise Refusal("invalid-request", "`before` must be the id of an event, and the only parameter.") from None


def _cached(etag: str) -> tuple[tuple[str, str], ...]:
    return (("etag", etag), ("cache-control", "private, no-cache"), ("vary", "Accept-Language"))
