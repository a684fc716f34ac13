"""Sources that change their type fail with that reason, and report nothing."""

from __future__ import annotations

import pytest
import trio

from actors.messages.sources import CheckNow, DescribeSource
from tests.actors.sources.harness import SITE, page, rss, watching

FEED, PAGE = f"https://{SITE}/feed", f"https://{SITE}/page"
TEXTS = [f"A paragraph of a page about the {word}, with a dozen words or more in it, as it was." for word in "abcde"]
LOGIN = b"<html><title>Log in</title><body><h1>Log in</h1><form><input type=password></form></body></html>"
CHALLENGE = b"<html><title>Just a moment...</title><body>Checking your browser</body></html>"


async def fails_as(was: bytes, now: bytes) -> tuple[str, str]:
    """Return the last error and the breaker's state one check after the change of type; then change it back."""
    async with watching() as (service, origin):
        url = FEED if b"<rss" in was else PAGE
        path = url.removeprefix(f"https://{SITE}")
        origin.bodies[path] = was
        source = (await service.add(url, schedule="2h")).view.source.id
        origin.bodies[path] = now
        await trio.sleep(61)
        await service.registry_box.ask(lambda reply: CheckNow(source, reply))
        await trio.sleep(5)
        view = await service.registry_box.ask(lambda reply: DescribeSource(source, reply))
        assert await service.news() == []
        failed = (view.hot.last_error or "", view.hot.breaker.state)
        origin.bodies[path] = was
        await trio.sleep(4 * 3600)
        view = await service.registry_box.ask(lambda reply: DescribeSource(source, reply))
        assert (view.hot.last_error, view.hot.breaker.state) == (None, "closed")
        assert await service.news() == []
        return failed


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        (rss("a"), page(*TEXTS), "this was a feed and is now a page (an HTML document"),
        (rss("a"), LOGIN, "this was a feed and is now a login wall"),
        (rss("a"), b"%PDF-1.7", "this was a feed and is now neither a feed nor a page (the body begins with b'%PDF-'"),
        (rss("a"), b'{"error": "gone"}', "this was a feed and is now neither"),
        (page(*TEXTS), rss("a", "b"), "this was a page and is now a feed (root element <rss"),
        (page(*TEXTS), b"%PDF-1.7", "this was a page and is now neither"),
        (page(*TEXTS), b'{"html": "<p>x</p>"}', "this was a page and is now neither"),
    ],
)
async def test_a_source_that_becomes_something_else_has_lost_its_type(
    was: bytes, now: bytes, words: str, autojump_clock: object
) -> None:
    error, breaker = await fails_as(was, now)
    assert error.startswith("type lost: ") and words in error
    assert breaker == "open", "it does not mend by itself, so it is left alone at once"


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        (rss("a"), CHALLENGE, "not the feed itself: challenge page"),
        (rss("a"), b"", "empty"),
        (page(*TEXTS), b"", "empty"),
        (page(*TEXTS), LOGIN, "not the page itself: login wall"),
    ],
)
async def test_walls_and_accidents_are_waited_for(was: bytes, now: bytes, words: str, autojump_clock: object) -> None:
    error, breaker = await fails_as(was, now)
    assert words in error and "type lost" not in error
    assert breaker == "closed"


async def test_a_source_requested_as_a_page_stays_a_page_for_any_body(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"] = rss("a", "b")
        source = (await service.add(FEED, type="html")).view.source
        assert source.detection.forced
        await trio.sleep(3600)
        origin.bodies["/feed"] = rss("c", "a", "b")
        await trio.sleep(3600)
        view = await service.registry_box.ask(lambda reply: DescribeSource(source.id, reply))
        assert view.hot.last_error is None
