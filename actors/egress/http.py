"""Checks and deliveries over HTTP/1.1: polite requests, bounded responses, and failures sorted by fault.

The caller of a check follows at most five redirects, each a request of its own, through the guard again; never from
https to http. The client has no cookies, proxy or environment, and no credentials but its caller's headers: the user's,
or cookies of the same check. The caller gets a response's cookies as soon as its head has arrived.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf

import httpx
import trio

from actors.egress.cookies import CookieCallback, pass_cookies
from actors.egress.decoding import ACCEPT_ENCODING, Body, DecodingError, TooLarge
from actors.egress.failures import Blame, CheckFailed, CheckRefused, PostMethod, PostResult, failure, is_redirect
from actors.egress.guard import Guard
from actors.egress.headers import (
    collect,
    delivery_headers,
    freshness,
    last_modified,
    max_age,
    retry_after,
    sendable,
    sent_at,
    user_agent,
)
from actors.egress.stream_lines import kind_of
from actors.egress.transport import GuardedTransport
from actors.egress.url import Url, join
from actors.errors import UrlRefused
from actors.observer import NO_STEPS, CheckSteps
from actors.settings import Settings
from actors.world import Rendered, World

MOST_REDIRECTS = 5
ACCEPT = "application/rss+xml, application/atom+xml, application/feed+json, text/html;q=0.9, */*;q=0.8"
POST_TIMEOUT = 15.0
LINES_END_WITHIN = 2.0  # seconds after the head for JSON lines of unknown length to end; else they are a stream
POST_READ_LIMIT = 16 << 10


@dataclass(frozen=True, slots=True)
class FetchedResponse:
    """A response of status 200 or 304. url: the final one. headers: under lower-case names. body: decoded; empty for a
    304. max_age: seconds from now, None if unspecified. wire_bytes: of the body. hops: the URLs before the final one.
    rendered: the browser's details; None for a page as sent.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    content_type: str
    wire_bytes: int
    elapsed_ms: int = 0
    etag: str | None = None
    last_modified: str | None = None
    max_age: float | None = None
    hops: tuple[str, ...] = ()
    rendered: Rendered | None = None


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A URL to fetch. etag, last_modified: validators of an earlier response; sent if `validated`, the URL that gave
    them (an earlier `FetchedResponse.url`), is this one or None: they identify the client. limit: bytes of body instead
    of the setting's; with `cut` a larger body is cut there instead of refused. user_headers, body: a user's.
    on_cookies: called with the response's cookies.
    """

    url: Url
    etag: str | None = None
    last_modified: str | None = None
    validated: str | None = None
    accept: str = ACCEPT
    limit: int | None = None
    cut: bool = False
    user_headers: Sequence[tuple[bytes, bytes]] = ()
    body: bytes | None = None
    steps: CheckSteps = NO_STEPS
    on_cookies: CookieCallback | None = None

    def conditions(self) -> list[tuple[bytes, bytes]]:
        """Return the headers of a conditional request; none for a POST (RFC 9110, 13.1)."""
        if self.body is not None or self.validated not in (None, self.url.text):
            return []
        pairs = (b"If-None-Match", sendable(self.etag)), (b"If-Modified-Since", sendable(self.last_modified))
        return [(name, value) for name, value in pairs if value is not None]


Sign = Callable[[str, Url], Awaitable[Sequence[tuple[str, str]]]]
"""Returns headers that sign a request, by method and URL."""
POST_REDIRECTED = "it redirects a request with a body, which is not sent again: use the new address"


class RedirectElsewhere(Exception):
    """A redirect to another request, which takes a separate turn. hops: the URLs requested so far."""

    def __init__(self, url: Url, hops: tuple[str, ...]) -> None:
        super().__init__(url.text)
        self.url, self.hops = url, hops


class StreamFound(CheckFailed):
    """The response is an endless stream. content_type: as received. url: the final one."""

    def __init__(self, url: Url, content_type: str) -> None:
        says = f"it has become a stream ({content_type[:100]}); add it again, as push"
        super().__init__(Blame.REMOTE_PERMANENT, says, status=200)
        self.url, self.content_type = url.text, content_type


class HttpClient:
    """The one HTTP client. Call `aclose` at the end; a request cut by that, or cancelled, closes its connection."""

    def __init__(self, world: World, settings: Settings, guard: Guard, sign: Sign | None = None) -> None:
        """sign: signs checks over https."""
        self._world, self.sign = world, sign
        self._timeout, self._limit = settings.look_timeout, settings.body_limit
        self._agent = user_agent(settings.contact).encode()
        self._transport = GuardedTransport(guard, world.keep_idle)

    async def aclose(self) -> None:
        """Close all connections. Later use opens new ones, since the tree may restart the owner."""
        await self._transport.aclose()

    async def get(self, request: FetchRequest, hops: tuple[str, ...] = ()) -> FetchedResponse:
        """Return a 200, or a 304 to a conditional request. hops so far count. Raises RedirectElsewhere, CheckFailed."""
        try:
            with (
                trio.fail_after(self._timeout),
                request.steps.request(request.body is not None, request.url.text, request.url.host, request.url.port),
            ):
                return await self._fetch(request, hops)
        except trio.TooSlowError:
            raise CheckFailed(Blame.REMOTE_TRANSIENT, f"not done after {self._timeout:g} s") from None

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body and return the response of any status; redirects are not followed. At most 15 s in all. Raises
        CheckFailed without a response, ValueError for unsendable headers. Once the status is known, a long, slow or cut
        response only ends the reading.
        """
        start, raw = trio.current_time(), delivery_headers(headers, len(body))
        posted: PostResult | None = None
        with trio.move_on_after(POST_TIMEOUT):
            response = await self._send(method, url, raw, body)
            try:
                latency = round((trio.current_time() - start) * 1000)
                answer = collect(response.extensions["headers"])
                wait = retry_after(answer.get("retry-after"), sent_at(answer, self._world.wall()))
                moved = ""
                with suppress(KeyError, UrlRefused):
                    moved = _target(url, answer["location"]).text if is_redirect(response.status_code) else ""
                posted = PostResult(response.status_code, latency, b"", wait, moved)
                posted = replace(posted, body=await _read_some(response))
            finally:
                await response.aclose()
        if posted is None:
            raise CheckFailed(Blame.REMOTE_TRANSIENT, f"no answer after {POST_TIMEOUT:g} s")
        return posted

    async def _fetch(self, request: FetchRequest, hops: tuple[str, ...]) -> FetchedResponse:
        start, url, conditions = trio.current_time(), request.url, request.conditions()
        is_post = request.body is not None
        method, headers_sent = "POST" if is_post else "GET", [*_check_headers(request), *conditions]
        if self.sign is not None and url.secure:
            headers_sent += [(name.encode(), value.encode()) for name, value in await self.sign(method, url)]
        response = await self._send(method, url, headers_sent, request.body, request.steps)
        try:
            status, wall = response.status_code, self._world.wall()
            request.steps.answered(status)
            headers = pass_cookies(response.extensions["headers"], status, request.on_cookies, wall)
            if is_redirect(status) and "location" in headers:
                if is_post:
                    why = f"{POST_REDIRECTED} ({headers['location'][:200]})"
                    raise CheckFailed(Blame.REMOTE_PERMANENT, why, status=status)
                target, hops = redirect(url, headers["location"]), (*hops, url.text)
                if len(hops) > MOST_REDIRECTS:
                    raise CheckFailed(Blame.REMOTE_TRANSIENT, f"more than {MOST_REDIRECTS} redirects", status=302)
                raise RedirectElsewhere(target, hops)
            wait = retry_after(headers.get("retry-after"), sent_at(headers, wall))
            if status != 200 and not (status == 304 and conditions):
                raise failure(status, wait, freshness(headers, self._world.wall()))
            coding = headers.get("content-encoding", "") if status == 200 else ""
            body = Body(coding, request.limit or self._limit, cut=request.cut)
            kind = kind_of(headers.get("content-type", "")) if status == 200 and not is_post else None
            if kind == "sse":
                raise StreamFound(url, headers["content-type"])
            with trio.fail_after(inf if kind is None or "content-length" in headers else LINES_END_WITHIN):
                content = await _read(response, body, headers)
        except trio.TooSlowError:
            raise StreamFound(url, headers["content-type"]) from None
        except (DecodingError, TooLarge) as error:
            if isinstance(error, DecodingError) and error.cut:
                raise CheckFailed(Blame.REMOTE_TRANSIENT, error.reason) from None
            raise CheckFailed(Blame.CONTENT, f"the body can't be read: {error}") from None
        finally:
            await response.aclose()
        return FetchedResponse(
            url=url.text,
            status=status,
            headers=headers,
            body=content,
            content_type=headers.get("content-type", ""),
            etag=headers.get("etag"),
            last_modified=last_modified(headers, wall),
            max_age=max_age(headers),
            elapsed_ms=round((trio.current_time() - start) * 1000),
            wire_bytes=body.wire_bytes,
            hops=hops,
        )

    async def _send(
        self,
        method: str,
        url: Url,
        headers: list[tuple[bytes, bytes]],
        body: bytes | None = None,
        steps: CheckSteps = NO_STEPS,
    ) -> httpx.Response:
        sent = [(b"Host", url.authority.encode()), (b"User-Agent", self._agent), *headers]
        extensions = {"url": url, **steps.extensions()}
        request = httpx.Request(method, url.sent, headers=sent, content=body, extensions=extensions)
        # Without httpx's client: its cookies, redirects and timeouts would be switched off one by one.
        return await self._transport.handle_async_request(request)


def _check_headers(request: FetchRequest) -> list[tuple[bytes, bytes]]:
    headers = [(b"Accept-Encoding", ACCEPT_ENCODING.encode()), *request.user_headers]
    if request.body is not None:
        headers.append((b"Content-Length", str(len(request.body)).encode()))
    if not any(name.lower() == b"accept" for name, _ in headers):
        headers.append((b"Accept", request.accept.encode()))
    return headers


def _target(url: Url, location: str) -> Url:
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode()  # raw UTF-8, which browsers percent-encode
    return join(url, location)


def redirect(url: Url, location: str) -> Url:
    """Return the target of a redirect. Raises CheckFailed."""
    try:
        target = _target(url, location)
    except UrlRefused as refusal:
        raise CheckRefused(refusal) from None
    if url.secure and not target.secure:
        raise CheckRefused(UrlRefused("url-downgrade", f"redirects from https to http ({target.origin})"))
    if target.scheme not in ("http", "https"):
        raise CheckRefused(UrlRefused("url-scheme", f"redirects to {target.scheme}"))
    return target


async def _read(response: httpx.Response, body: Body, headers: Mapping[str, str]) -> bytes:
    """Return the decoded body. Raises DecodingError, TooLarge, CheckFailed."""
    length = headers.get("content-length", "")
    if length.isdigit() and not body.wants(int(length[:18])):
        raise TooLarge(f"announced as {length[:18]} bytes")
    errors: list[DecodingError | TooLarge] = []

    def take(part: bytes) -> bool:
        try:
            body.feed(part)
        except (DecodingError, TooLarge) as error:
            errors.append(error)
        return body.full or bool(errors)

    await _pump(response, take)
    if errors:
        raise errors[0]
    return body.finish()


async def _read_some(response: httpx.Response) -> bytes:
    """Read the beginning of a receiver's response, as it comes: only the status matters."""
    content = bytearray()

    def take(part: bytes) -> bool:
        content.extend(part[: POST_READ_LIMIT - len(content)])
        return len(content) >= POST_READ_LIMIT

    with suppress(CheckFailed):
        await _pump(response, take)
    return bytes(content)


async def _pump(response: httpx.Response, take: Callable[[bytes], bool]) -> None:
    """Pass the parts of a body on until `take` has enough; then close the connection. Raises CheckFailed. Leaving the
    loop would leave four nested async generators to the garbage collector: it runs to its end, which the close brings.
    """
    enough = False
    try:
        async for part in response.stream:  # type: ignore[union-attr]  # an async client's responses have async streams
            if not enough and take(part):
                enough = True
                await response.aclose()
    except CheckFailed:
        if not enough:
            raise
