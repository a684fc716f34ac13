"""The clients: `Client` blocks, `AsyncClient` is awaited, on asyncio or Trio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import httpx

from sanderling_client.calling import Page, Pairs, answer_of, given, part, request_of
from sanderling_client.operations import AsyncOperations, Operations
from sanderling_client.stream import AsyncStream, Stream

P = ParamSpec("P")
T = TypeVar("T")
SILENCE = 45.0
"""Seconds without a byte after which a stream counts as cut; the service sends a sign of life every 15."""
TRIES = 10
"""Openings of a stream that may fail in a row, which is some four minutes."""


class Client(Operations):
    """One service and one key. `http`: a client of httpx of your own (proxies, certificates), which you close."""

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 30.0, http: httpx.Client | None = None):
        self._own = http is None
        self._http = http or httpx.Client(timeout=timeout)
        self._http.base_url = _address(url)
        self._http.headers.update(_shown(key))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        if self._own:
            self._http.close()

    def each(self, operation: Callable[P, Page[T]], *place: P.args, **options: P.kwargs) -> Iterator[T]:
        """Go through a whole list, page by page: `client.each(client.list_sources)`."""
        more: dict[str, Any] = dict(options)
        while True:
            page = operation(*place, **more)
            yield from page
            if page.next_cursor is None:
                return
            more["cursor"] = page.next_cursor

    def stream(
        self,
        *,
        channel: str | None = None,
        since: str | None = None,
        source: Sequence[str] = (),
        source_type: Sequence[str] = (),
        tag: Sequence[str] = (),
        keyword: Sequence[str] = (),
        give_up: int | None = TRIES,
        silence: float = SILENCE,
    ) -> Stream:
        """Follow all events, or those of a channel, live; `since`: after what came after an id, or `earliest`.

        give_up: openings that may fail in a row, None for any number. silence: seconds without a byte that are a cut.
        """
        path, query = _followed(channel, since, source, source_type, tag, keyword)
        return Stream(self._http, path, query, give_up, silence)

    def _ask(
        self,
        method: str,
        path: str,
        kinds: Sequence[Any] = (),
        *,
        paged: bool = False,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Any:
        answer = self._http.send(request_of(self._http, method, path, body=body, query=query, headers=headers))
        return answer_of(answer, kinds, paged=paged)


class AsyncClient(AsyncOperations):
    """One service and one key. `http`: a client of httpx of your own (proxies, certificates), which you close."""

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 30.0, http: httpx.AsyncClient | None = None
    ):
        self._own = http is None
        self._http = http or httpx.AsyncClient(timeout=timeout)
        self._http.base_url = _address(url)
        self._http.headers.update(_shown(key))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        if self._own:
            await self._http.aclose()

    async def each(
        self, operation: Callable[P, Awaitable[Page[T]]], *place: P.args, **options: P.kwargs
    ) -> AsyncIterator[T]:
        """Go through a whole list, page by page: `client.each(client.list_sources)`."""
        more: dict[str, Any] = dict(options)
        while True:
            page = await operation(*place, **more)
            for one in page:
                yield one
            if page.next_cursor is None:
                return
            more["cursor"] = page.next_cursor

    def stream(
        self,
        *,
        channel: str | None = None,
        since: str | None = None,
        source: Sequence[str] = (),
        source_type: Sequence[str] = (),
        tag: Sequence[str] = (),
        keyword: Sequence[str] = (),
        give_up: int | None = TRIES,
        silence: float = SILENCE,
    ) -> AsyncStream:
        """Follow all events, or those of a channel, live; `since`: after what came after an id, or `earliest`.

        give_up: openings that may fail in a row, None for any number. silence: seconds without a byte that are a cut.
        """
        path, query = _followed(channel, since, source, source_type, tag, keyword)
        return AsyncStream(self._http, path, query, give_up, silence)

    async def _ask(
        self,
        method: str,
        path: str,
        kinds: Sequence[Any] = (),
        *,
        paged: bool = False,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Any:
        answer = await self._http.send(request_of(self._http, method, path, body=body, query=query, headers=headers))
        return answer_of(answer, kinds, paged=paged)


def _address(url: str) -> httpx.URL:
    found = httpx.URL(url)
    if found.scheme not in ("http", "https") or not found.host:
        raise ValueError(f"{url}: the service's address begins with http:// or https://.")
    return found


def _shown(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def _followed(channel: str | None, since: str | None, *filters: Sequence[str]) -> tuple[str, Pairs]:
    """Return the path and the query of a stream. A filter is a list; one text alone would be a list of letters."""
    names = ("source", "source_type", "tag", "keyword")
    listed = {name: (one,) if isinstance(one, str) else tuple(one) for name, one in zip(names, filters, strict=True)}
    path = "/v1/stream" if channel is None else f"/v1/streams/{part(channel)}"
    return path, given({**listed, "since": since})
