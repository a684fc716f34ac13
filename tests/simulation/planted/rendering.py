"""Bugs of the pages that a browser shows: of what is remembered of them, whom to blame, and whom to ask before."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from msgspec import structs

from actors.egress.failures import Blame, LookFailed
from actors.egress.http import FetchedResponse
from actors.sources.looks import looking, progress, rendering
from storage.records.source import SourceRuntime

Plant = AbstractContextManager[Any]


def shells_read_as_they_are_sent() -> Plant:
    """A page that is empty when it is looked at is no matter for a browser."""

    async def wrong(ports: Any, claim: Any, source: Any, plain: FetchedResponse, *_: Any, **__: Any) -> FetchedResponse:
        return plain

    return patch.object(looking, "_unless_empty", wrong)


def browsers_blamed_on_pages() -> Plant:
    """That a browser dies is the page's fault."""
    right = rendering._blamed

    def wrong(error: Any) -> LookFailed:
        failure = right(error)
        return LookFailed(Blame.REMOTE_TRANSIENT, failure.reason) if failure.blame is Blame.LOCAL else failure

    return patch.object(rendering, "_blamed", wrong)


def shells_stand_in_for_pages() -> Plant:
    """While there is no browser, a page is compared as it is sent with what a browser showed."""
    right = looking._unless_empty

    async def wrong(*args: Any, renewal: Any, rendered: bool) -> FetchedResponse:
        return await right(*args, renewal=renewal, rendered=False)

    return patch.object(looking, "_unless_empty", wrong)


def hung_browsers_waited_for() -> Plant:
    """A browser that says nothing is waited for."""
    return patch.object(rendering, "PATIENCE", 1e9)


def validators_of_shells_kept() -> Plant:
    """What makes the next request conditional is kept of an empty page, which never changes."""
    right = looking._unless_empty

    async def wrong(
        ports: Any, claim: Any, source: Any, plain: FetchedResponse, *args: Any, **named: Any
    ) -> FetchedResponse:
        fetched = await right(ports, claim, source, plain, *args, **named)
        return replace(fetched, etag=plain.etag, last_modified=plain.last_modified)

    return patch.object(looking, "_unless_empty", wrong)


def robots_not_asked() -> Plant:
    """What a browser asks for is nothing that robots.txt is about."""

    async def wrong(*_: Any) -> None:
        return

    return patch.object(rendering, "ask_robots", wrong)


def unmarked_memories() -> Plant:
    """Nobody remembers that what is remembered was rendered."""
    right = progress.succeeded

    def wrong(*args: Any) -> SourceRuntime:
        return structs.replace(right(*args), rendered=False)

    return patch.object(progress, "succeeded", wrong)
