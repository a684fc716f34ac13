"""HTTP client for the command line: one service, one key, errors as sentences.

The key comes from a file or variable, never from a flag: everyone can see the flags of running processes.
"""

from __future__ import annotations

import errno
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import trio
from httpx_sse import EventSource, ServerSentEvent

from sanderling.client.refusals import NO_KEY, refused
from sanderling.environment import typed
from sanderling.exits import CommandFailed, Exit

DEFAULT_URL = "http://127.0.0.1:8080"
PATIENCE = httpx.Timeout(60.0, connect=10.0)
"""A stream without a byte for so many seconds counts as cut; the service sends a comment every 15."""
LONGEST_WAIT = 30.0


class Client:
    """Talks to one service. Use as an async context manager. `transport` replaces the network in tests.

    key: None on the admin socket. called: the service's name in errors, if not its URL. absent: the message if nothing
    listens there.
    """

    def __init__(
        self,
        url: str,
        key: str | None,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        called: str = "",
        absent: str = "",
    ) -> None:
        self.url = url.rstrip("/")
        self._called, self._absent = called or self.url, absent
        if not self.url.startswith(("http://", "https://")):
            raise CommandFailed(f"{url}: the service's address must begin with http:// or https://.", Exit.USAGE)
        try:
            self._http = httpx.AsyncClient(
                base_url=self.url,
                headers={} if key is None else {"Authorization": f"Bearer {key}"},
                timeout=httpx.Timeout(30.0, connect=10.0),
                transport=transport,
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise CommandFailed(f"The service's address or the key can't be used: {error}.", Exit.USAGE) from None

    @classmethod
    def named(cls, url: str | None, key_file: str | None, variables: Mapping[str, str]) -> Client:
        """Make a client from flags and variables. Raises CommandFailed (USAGE) without a key."""
        return cls(url or variables.get("SANDERLING_URL") or DEFAULT_URL, _key(key_file, variables))

    @property
    def called(self) -> str:
        return self._called

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Make one request. Raises CommandFailed for a network error or a problem document."""
        try:
            answer = await self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        if answer.status_code >= 400:
            raise refused(answer, self._called)
        return answer

    async def every(self, path: str) -> AsyncGenerator[dict[str, Any], None]:
        """Yield all items of a list in order, page by page. Close it (aclosing) if you stop early."""
        query = b""
        while True:
            answer = await self.ask("GET", path, params=query)
            for one in answer.json():
                yield one
            if "next" not in answer.links:
                return
            # Take only the query: the link has the public address, which may differ from the one in use.
            query = httpx.URL(answer.links["next"]["url"]).query

    async def listen(self, path: str, take: Callable[[ServerSentEvent], None], silence: float) -> None:
        """Read a stream to its end or to `silence` seconds without a byte; pass each event to `take`.

        Also works on asyncio. Raises CommandFailed if it cannot open or is cut.
        """
        headers, patience = {"Accept": "text/event-stream"}, httpx.Timeout(silence, connect=10.0)
        try:
            async with self._http.stream("GET", path, headers=headers, timeout=patience) as answer:
                await _streams(answer, self._called)
                async for event in events_of(answer):
                    take(event)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    async def aclose(self) -> None:
        await self._http.aclose()

    async def follow(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        take: Callable[[ServerSentEvent], None],
        tell: Callable[[str], None] = lambda _sentence: None,
        *,
        cursor: Cursor | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Read a stream forever, pass each event to `take`, and resume after disconnects.

        tell: receives messages for the user. cursor: where to begin; keeps the last id. headers: added to each request.
        Raises CommandFailed if the first connection fails or the service refuses for good.
        """
        wait, tries, hint = 0.0, 0, 1.0
        cursor = Cursor() if cursor is None else cursor
        while True:
            try:
                async with self._open(path, query, cursor, headers or {}) as answer:
                    if tries:
                        tell("connected again")
                    tries, wait = tries + 1, 0.0
                    async for event in EventSource(answer).aiter_sse():
                        hint = hint if event.retry is None else max(0.0, event.retry / 1000)
                        if event.data:
                            take(event)
                            cursor.id = event.id or cursor.id
                why = "the service closed the stream"
            except CommandFailed as error:
                if not tries or error.code not in (Exit.TRY_AGAIN, Exit.UNREACHABLE):
                    raise
                why = error.message.partition(". ")[0]
            except httpx.HTTPError as error:
                why = str(error) or type(error).__name__
            wait = min(LONGEST_WAIT, max(wait * 2, hint))
            tell(f"cut off ({why}); trying again in {wait:.0f} s")
            await trio.sleep(wait)

    @asynccontextmanager
    async def _open(
        self, path: str, query: Sequence[tuple[str, str]], cursor: Cursor, more: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """Open a stream after the cursor. Raises CommandFailed if it cannot open, httpx.HTTPError later."""
        headers = {**more, "Accept": "text/event-stream"} | ({"Last-Event-ID": cursor.id} if cursor.id else {})
        request = self._http.build_request("GET", path, params=list(query), headers=headers, timeout=PATIENCE)
        try:
            answer = await self._http.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        try:
            await _streams(answer, self._called)
            # Keep the replay's start: a disconnect before the first event would leave a gap.
            cursor.id = cursor.id or answer.headers.get("Sanderling-Replay-From", "")
            yield answer
        finally:
            with trio.move_on_after(1, shield=True):
                await answer.aclose()

    def _unreachable(self, error: Exception) -> CommandFailed:
        why = str(error) or type(error).__name__
        if self._absent and any(f"Errno {number}]" in why for number in (errno.ENOENT, errno.ECONNREFUSED)):
            return CommandFailed(self._absent, Exit.UNREACHABLE)
        says = (
            f"{self._called} can't be reached: {_without_number(why)}. Does it run there? `sanderling serve` starts it."
        )
        return CommandFailed(says, Exit.UNREACHABLE)


def _without_number(words: str) -> str:
    """Remove the errno and Trio's wording for programmers from an error message.

    >>> _without_number("[Errno 13] Permission denied"), _without_number("All connection attempts failed")
    ('Permission denied', 'nobody answers there')
    """
    if words == "All connection attempts failed":
        return "nobody answers there"
    return re.sub(r"^\[Errno -?\d+\] (?:Error connecting to .*: )?", "", words)


async def events_of(answer: httpx.Response) -> AsyncIterator[ServerSentEvent]:
    """Yield a stream's events. The library also yields retry hints and ids without an event."""
    async for event in EventSource(answer).aiter_sse():
        if event.data:
            yield event


async def _streams(answer: httpx.Response, called: str) -> None:
    """Raise CommandFailed unless the response is an event stream."""
    if answer.status_code >= 400:
        await answer.aread()
        raise refused(answer, called)
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
    if kind != "text/event-stream":
        raise CommandFailed(
            f"{called} answers {answer.status_code} with {kind or 'nothing'}, and not with a stream of events: "
            "is the address that of the service itself?",
            Exit.FAILED,
        )


@dataclass(slots=True)
class Cursor:
    """The id of the last event taken; empty before the first."""

    id: str = ""


def _key(key_file: str | None, variables: Mapping[str, str]) -> str:
    if key_file:
        try:
            words = Path(key_file).read_text("utf-8").split()
        except OSError as error:
            raise CommandFailed(f"{key_file}: cannot be read: {error.strerror}.", Exit.USAGE) from None
        except UnicodeDecodeError:
            raise CommandFailed(f"{key_file}: this is no file with a key: it is not text.", Exit.USAGE) from None
    else:
        words = variables.get("SANDERLING_KEY", "").split()
    if not words:
        raise CommandFailed(
            f"{NO_KEY} Where it runs, `{typed('keys create --name me --scope ...')}` makes one.", Exit.USAGE
        )
    return words[-1]
