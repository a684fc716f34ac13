"""Bugs of rendered pages: of their memory, of blame, and of robots.txt."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from msgspec import structs

from actors.egress.failures import Blame, CheckFailed
from actors.egress.http import FetchedResponse
from actors.sources.checks import progress, rendering, source_fetch
from storage.records.source import SourceRuntime

Plant = AbstractContextManager[Any]


def shells_read_as_they_are_sent() -> Plant:
    """A page that arrives empty is not rendered."""

    async def wrong(ports: Any, plain: FetchedResponse, *_: Any, **__: Any) -> FetchedResponse:
        return plain

    return patch.object(source_fetch, "_rendered_if_empty", wrong)


def browsers_blamed_on_pages() -> Plant:
    """A browser crash is blamed on the page."""
    right = rendering._as_failure

    def wrong(error: Any) -> CheckFailed:
        failure = right(error)
        return CheckFailed(Blame.REMOTE_TRANSIENT, failure.reason) if failure.blame is Blame.LOCAL else failure

    return patch.object(rendering, "_as_failure", wrong)


def shells_stand_in_for_pages() -> Plant:
    """Without a browser, the raw page is compared with the rendered one."""
    right = source_fetch._rendered_if_empty

    async def wrong(*args: Any, rendered: bool) -> FetchedResponse:
        return await right(*args, rendered=False)

    return patch.object(source_fetch, "_rendered_if_empty", wrong)


def hung_browsers_waited_for() -> Plant:
    """A hung browser is waited for."""
    return patch.object(rendering, "PATIENCE", 1e9)


def validators_of_shells_kept() -> Plant:
    """The validators of an empty page, which never changes, are kept."""
    right = source_fetch._rendered_if_empty

    async def wrong(ports: Any, plain: FetchedResponse, *args: Any, **named: Any) -> FetchedResponse:
        fetched = await right(ports, plain, *args, **named)
        return replace(fetched, etag=plain.etag, last_modified=plain.last_modified)

    return patch.object(source_fetch, "_rendered_if_empty", wrong)


def robots_not_asked() -> Plant:
    """A browser's requests ignore robots.txt."""

    async def wrong(*_: Any) -> None:
        return

    return patch.object(rendering, "check_robots", wrong)


def unmarked_memories() -> Plant:
    """The memory does not record that its page was rendered."""
    right = progress.succeeded

    def wrong(*args: Any) -> SourceRuntime:
        return structs.replace(right(*args), rendered=False)

    return patch.object(progress, "succeeded", wrong)
