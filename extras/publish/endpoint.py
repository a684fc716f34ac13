"""The endpoint of publications: GET and HEAD, without a key, for anyone with the address.

`/published/TOKEN` is a page, `/published/TOKEN/EVENT` one event, `/published/TOKEN.atom` a feed (`.rss`, `.json`).
`?before=EVENT` is the page of older events; `?source=ID` narrows a page to sources.

The pages of a publication: its events, and one event with its difference and its signature's verdict. They have no
scripts and no forms, and link only to each other, to the published URLs, and to the keys.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import msgspec
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from actors.app_context import AppContext
from actors.errors import NotFound
from actors.language.speaking import language, noted, say, set_language
from actors.notification.dialects import cut, one_line
from api.application import Application
from api.dashboard.drawing import EventChange, dated, lines_of
from api.dashboard.events import item_of
from api.dashboard.rendering import plain
from api.dashboard.sessions import NONE, spoken_to
from api.endpoint import Arrived, Endpoint, EndpointReply, Message
from api.nouns.events import END
from api.problems import Refusal
from api.ratelimit import Limiter
from api.streams.streams import Streams
from extras.publish.formats import FORMATS
from extras.publish.newest import MOST, FeedPlace, NewestEvents, PublishedPage, feed_of, query_of, told
from extras.publish.operations import HUB, PATH
from sanderling_client.verify import check_encoded
from storage.records.event import Delta, Diff, Event, Stored
from storage.records.identity import Seq, seq_of
from storage.records.publication import Publication, hash_of
from storage.records.tiers import WITH_DIFF
from storage.sql.stores.publications import Published

MOST_LINES = 12  # lines of a difference in the list; the event's own page has all
MOST_OF_A_TEXT = 300  # characters of a new entry's text in the list
_decode = msgspec.json.Decoder(Event).decode


class EventRow(NamedTuple):
    """An event. page: its page's title, "" for a feed's entry. at: when it was emitted; day, time: in words, in UTC."""

    id: str
    source: str
    title: str
    page: str
    host: str
    summary: str
    at: str
    day: str
    time: str
    lines: Sequence[object]


def sources_of(rows: Sequence[EventRow], base: str, only: Sequence[str]) -> list[tuple[str, str, bool]]:
    """Return each source's name (its host, as the owner's is private), its address, and whether it is the only one."""
    first = {row.source: row for row in reversed(rows)}
    hosts, ids = Counter(row.host for row in first.values()), dict[str, list[str]]()
    for source, row in sorted(first.items(), key=lambda one: (one[1].host, one[1].page)):
        named = f"{row.host}: {row.page}" if hosts[row.host] > 1 and row.page else row.host
        ids.setdefault(cut(named, 60), []).append(source)
    return [(name, f"{base}?source={','.join(some)}", set(some) == set(only)) for name, some in ids.items()]


def listed(publication: Publication, rows: Sequence[EventRow], base: str, **shows: object) -> bytes:
    feeds = [(f"{base}.{ending}", each.label, each.media.partition(";")[0]) for ending, each in FORMATS.items()]
    about = {"title": publication.title, "ends_on": publication.ends_on, "host": urlsplit(base).netloc}
    return plain("published/list.html", **about, **shows, rows=rows, base=base, feeds=feeds)


def one(title: str, stored: Stored, base: str, jwks: bytes) -> bytes:
    """Return the page of one event. Raises msgspec.MsgspecError if this version cannot read it."""
    event = _decode(stored.body)
    verdict = check_encoded(stored.body, jwks)
    changes = lines_of(_changed(event))
    shown = {
        "event": event,
        "item": item_of(stored.body),
        "changes": changes,
        "verdict": verdict,
        "at": ", ".join(_clock(event.emitted_at)),
        "raw": msgspec.json.format(stored.body, indent=2).decode(),
    }
    return plain("published/event.html", title=title, base=base, **shown)


def gone(says: str, *, ended: bool) -> bytes:
    """Return the page for an unknown address, or for one whose last day has passed."""
    return plain("published/gone.html", title="No longer published" if ended else "Nothing here", says=says)


def row(stored: Stored) -> EventRow:
    """Return an event as a row. Raises msgspec.MsgspecError if this version cannot read it."""
    event, item = _decode(stored.body), item_of(stored.body)
    lines = lines_of(_changed(event), MOST_LINES)
    said = "" if lines else (event.diff and event.summary) or cut(one_line(event.content), MOST_OF_A_TEXT)
    summary = "" if said == item.title else said
    page, at = (event.title or "") if event.source_type in WITH_DIFF else "", event.emitted_at
    return EventRow(item.id, stored.source, item.title, page, item.host, summary, at, *_clock(at), lines)


def _clock(at: str) -> tuple[str, str]:
    utc = datetime.fromisoformat(at).astimezone(UTC)
    return dated(utc.day, utc.month, utc.year), f"{utc:%H:%M}"


def _changed(event: Event) -> EventChange:
    diff = event.diff if isinstance(event.diff, Diff) else None
    return EventChange(diff, event.delta if isinstance(event.delta, Delta) else None)


ENDED = noted("This was shared until %(day)s.")
GONE = "Nothing is published here: the address is wrong, or was revoked."
HTML = "text/html; charset=utf-8"
_LONGEST = 200  # bytes of a path, far more than an address has
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
        before, only = _narrowed(scope["query_string"])
        if asked.event:
            return await self._event(published.publication, self._base(asked), asked.event)
        if before is None and (asked.ending or not only):
            newest = await self._newest.of(published)
            tag = newest.tag if asked.ending else f"{newest.tag}.{language()}"
            etag = f'W/"{tag}"'
            known = headers.get("If-None-Match", "")
            if known.strip() == "*" or tag in _TAGS.findall(known):
                return EndpointReply(304, "", b"", _cached(etag))
            reply = await self._document(published, newest.page, asked)
            return reply._replace(headers=(*reply.headers, *_cached(etag)))
        page = await self._newest.before(published.publication, before or END, () if asked.ending else only)
        return await self._document(published, page, asked, before, only)

    def _base(self, asked: _PublicPath) -> str:
        return f"{self._api.base_url}{PATH}{asked.token}"

    async def _document(
        self,
        published: Published,
        page: PublishedPage,
        asked: _PublicPath,
        before: Seq | None = None,
        only: Sequence[str] = (),
    ) -> EndpointReply:
        world, publication = self._api.context.world, published.publication
        base, format = self._base(asked), FORMATS.get(asked.ending)
        if format is None:
            newest = (await self._newest.of(published)).page
            recent = await told(world, newest, row)
            rows = recent if page is newest else await told(world, page, row)
            older = "" if page.older is None else base + query_of(page.older)
            older += f"&source={','.join(only)}" if older and only else ""
            sources = sources_of(recent, base, only)
            shown = listed(publication, rows, base, older=older, sources=sources, newest=before is None)
            return EndpointReply(200, HTML, shown)
        query = "" if before is None else query_of(before)
        hub = self._api.base_url + HUB
        body = await feed_of(world, publication, page, FeedPlace(base, hub, asked.ending, query))
        named = f'<{hub}>; rel="hub", <{base}.{asked.ending}{query}>; rel="self"'
        return EndpointReply(200, format.media, body, (("link", named),))

    async def _event(self, publication: Publication, base: str, id: str) -> EndpointReply:
        event = await self._api.context.storage.log.get(id)
        if event is None or not await self._newest.shows(publication, event):
            raise NotFound("This event is not published here.")
        try:
            body = one(publication.title, event, base, await self._api.context.jwks())
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise NotFound("This event cannot be shown: another version of the service wrote it.") from None
        return EndpointReply(200, HTML, body, (("cache-control", "private, no-cache"),))

    def refused(self, request: Arrived, refusal: Refusal) -> EndpointReply:
        if _wants_page(request.scope) and refusal.status in (404, 410):
            body = gone(refusal.detail, ended=refusal.slug == "gone")
            return EndpointReply(refusal.status, HTML, body, tuple(refusal.headers.items()))
        return super().refused(request, refusal)


def _wants_page(scope: Message) -> bool:
    return b"." not in scope["raw_path"]


def _asked(raw: bytes) -> _PublicPath | None:
    if len(raw) > _LONGEST:
        return None
    head, _, event = unquote(raw.decode("latin-1")).removeprefix(PATH).partition("/")
    token, _, ending = head.partition(".")
    if not token or (ending and ending not in FORMATS) or ("." in head and not ending) or (ending and event):
        return None
    return _PublicPath(token, ending, event)


def _narrowed(query: bytes) -> tuple[Seq | None, Sequence[str]]:
    """Return the position and the sources in a query. Raises Refusal (400)."""
    try:
        given = parse_qs(query.decode("latin-1"), max_num_fields=20)
        only = [str(UUID(id)) for text in given.get("source", ()) for id in text.split(",")]
        return (seq_of(given["before"][-1]) if "before" in given else None), only[:MOST]
    except ValueError:
        says = "`before` must be the id of an event, and `source` ids of sources, separated by commas."
        raise Refusal("invalid-request", says) from None


def _cached(etag: str) -> tuple[tuple[str, str], ...]:
    return (("etag", etag), ("cache-control", "private, no-cache"), ("vary", "Accept-Language"))
