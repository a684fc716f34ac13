"""The command line's side of the API: one service, one key, and errors as sentences.

The key comes from a file or a variable, never from a flag: flags are seen by everybody who lists processes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import trio

from sanderling.exits import CommandFailed, Exit
from sanderling.sse_reader import EventReader, ServerEvent

DEFAULT_URL = "http://127.0.0.1:8080"
SILENCE = 60.0
"""Seconds without a byte after which a stream counts as cut; the service sends a sign of life every 15."""
LONGEST_WAIT = 30.0
AGAIN = (429, 502, 503, 504)
"""Statuses that pass by themselves."""


class Client:
    """Talks to one service. Use it as an async context."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.AsyncClient(
            base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=httpx.Timeout(30.0, connect=10.0)
        )

    @classmethod
    def named(cls, url: str | None, key_file: str | None, variables: Mapping[str, str]) -> Client:
        """Return the client that flags and variables name. Raises CommandFailed (USAGE) when there is no key."""
        return cls(url or variables.get("SANDERLING_URL") or DEFAULT_URL, _key(key_file, variables))

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._http.aclose()

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Make one request and return its answer. Raises CommandFailed for no answer and for a problem document."""
        try:
            answer = await self._http.request(method, path, **request)
        except httpx.InvalidURL as error:
            raise CommandFailed(f"{self.url}: is not a URL: {error}.", Exit.USAGE) from None
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        if answer.status_code >= 400:
            raise refused(answer)
        return answer

    async def sources(self) -> AsyncIterator[dict[str, Any]]:
        """Yield all sources, worst health first, page by page."""
        path: str | None = "/v1/sources"
        while path:
            answer = await self.ask("GET", path)
            for source in answer.json():
                yield source
            path = answer.links.get("next", {}).get("url")

    async def follow(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        take: Callable[[ServerEvent], None],
        tell: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        """Read a stream for ever and hand each event to `take`; after a cut go on behind the last one.

        `tell` hears what a person should know. Raises CommandFailed when the first connection fails, or when the
        service refuses in a way that does not pass.
        """
        cursor, wait, ever = "", 0.0, False
        while True:
            reader = EventReader()
            try:
                async with self._http.stream(
                    "GET",
                    path,
                    params=list(query),
                    headers={"Accept": "text/event-stream"} | ({"Last-Event-ID": cursor} if cursor else {}),
                    timeout=httpx.Timeout(SILENCE, connect=10.0),
                ) as answer:
                    if answer.status_code >= 400:
                        await answer.aread()
                        raise refused(answer)
                    # Where the replay began: without it, a cut before the first event would leave a gap.
                    cursor = cursor or answer.headers.get("Sanderling-Replay-From", "")
                    if ever:
                        tell("connected again")
                    ever, wait = True, 0.0
                    async for chunk in answer.aiter_bytes():
                        for event in reader.feed(chunk):
                            take(event)
                            cursor = event.id or cursor
                why = "the service closed the stream"
            except httpx.InvalidURL as error:
                raise CommandFailed(f"{self.url}: is not a URL: {error}.", Exit.USAGE) from None
            except httpx.HTTPError as error:
                if not ever:
                    raise self._unreachable(error) from None
                why = str(error) or type(error).__name__
            except CommandFailed as error:
                if not ever or error.code != Exit.TRY_AGAIN:
                    raise
                why = error.message
            wait = min(LONGEST_WAIT, max(wait * 2, reader.retry or 1.0))
            tell(f"cut off ({why}); trying again in {wait:.0f} s")
            await trio.sleep(wait)

    def _unreachable(self, error: Exception) -> CommandFailed:
        return CommandFailed(
            f"{self.url} can't be reached: {str(error) or type(error).__name__}. "
            "`sanderling serve` starts a service; --url or SANDERLING_URL name another one.",
            Exit.UNREACHABLE,
        )


def refused(answer: httpx.Response) -> CommandFailed:
    """Return what an error answer means to the person at the terminal."""
    try:
        problem = answer.json()
        words = str(problem.get("detail") or problem.get("title"))
        words += "".join(f"\n  {part.get('location')}: {part.get('message')}" for part in problem.get("errors") or ())
    except (ValueError, AttributeError):
        words = answer.reason_phrase
    hint = {
        401: " Make a key with `sanderling keys create`.",
        403: " `sanderling keys list` shows what each key may do.",
    }.get(answer.status_code, "")
    code = Exit.TRY_AGAIN if answer.status_code in AGAIN else Exit.FAILED
    return CommandFailed(f"{answer.request.url.copy_with(query=None)} says {answer.status_code}: {words}{hint}", code)


def _key(key_file: str | None, variables: Mapping[str, str]) -> str:
    if key_file:
        try:
            words = Path(key_file).read_text("utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandFailed(f"{key_file}: cannot be read: {error}.", Exit.USAGE) from None
    else:
        words = variables.get("SANDERLING_KEY", "").split()
    if not words:
        raise CommandFailed(
            "No API key: put one into the variable SANDERLING_KEY, or into a file and name that with --key-file. "
            "`sanderling keys create --name me --scope ...` makes one.",
            Exit.USAGE,
        )
    return words[-1]
