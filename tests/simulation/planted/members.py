"""Bugs of sources' extras: followed items, renewed sessions, pictures, and picked parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.content.messages import ItemPage
from actors.egress import cookies
from actors.egress.cookies import Cookie, SetCookies
from actors.egress.url import Url
from actors.sources import following as items
from actors.sources import polling
from actors.sources import polling as item_pages
from actors.sources.checks import rendering
from actors.sources.checks.access import Access, Renewal, RequestAccess
from actors.sources.checks.fetch import BodyCheck
from actors.sources.checks.rendering import screenshot_to_store
from actors.sources.following import FollowQueue
from actors.sources.page import PageReader
from actors.sources.registry import service
from storage.records.event import Draft, Picture
from storage.records.identity import Millis, SourceId
from storage.sql.stores import log, sources
from storage.sql.stores.log import Pictures

Plant = AbstractContextManager[Any]


def reported_and_waiting() -> Plant:
    """A reported item keeps waiting for its page."""
    return patch.object(items, "remove", lambda queue, item: queue)


def text_of_the_item_before() -> Plant:
    """An item is reported with the page fetched before its own."""
    right, pages = item_pages._completed, list[ItemPage]()

    def wrong(draft: Draft, page: ItemPage, ports: Any) -> Draft:
        pages.append(page)
        return right(draft, pages[-2:][0], ports)

    return patch.object(item_pages, "_completed", wrong)


def hops_not_counted() -> Plant:
    """The pages fetched in an hour are not counted."""

    def wrong(following: FollowQueue, now: Millis) -> FollowQueue:
        return following

    return patch.object(items, "count_fetch", wrong)


def cookies_go_along() -> Plant:
    """A page on another host is fetched with the list's cookies, if its user has named that host."""
    right = Access.headers_to

    def wrong(self: Access, url: Url, now: int) -> Any:
        return right(self._replace(origin=url.origin), url, now)

    return patch.object(Access, "headers_to", wrong)


def old_cookies_win() -> Plant:
    """A user's cookie stays, even when the site sets the same name."""
    right = cookies._put

    def wrong(kept: list[Cookie], cookie: Cookie, now: int) -> None:
        if all(one.name != cookie.name for one in kept):
            right(kept, cookie, now)

    return patch.object(cookies, "_put", wrong)


def failures_set_nothing() -> Plant:
    """Cookies of an error response are ignored."""
    right = RequestAccess.on_set_cookies

    def wrong(self: RequestAccess, said: SetCookies, status: int) -> None:
        if status < 400:
            right(self, said, status)

    return patch.object(RequestAccess, "on_set_cookies", wrong)


def failures_in_browsers_set_nothing() -> Plant:
    """Cookies of an error page in a browser are ignored."""

    class Wrong(RequestAccess):
        def on_set_cookies(self, said: SetCookies, status: int) -> None:
            if status < 400:
                super().on_set_cookies(said, status)

    return patch.object(rendering, "RequestAccess", Wrong)


def handshakes_set_nothing() -> Plant:
    """Cookies of a WebSocket handshake are ignored."""
    right = RequestAccess.on_set_cookies

    def wrong(self: RequestAccess, said: SetCookies, status: int) -> None:
        if self.url.scheme not in {"ws", "wss"}:
            right(self, said, status)

    return patch.object(RequestAccess, "on_set_cookies", wrong)


@contextmanager
def sessions_in_memory_only() -> Any:
    """Renewed sessions are not stored."""
    with ExitStack() as stack:
        for module in (log, sources):
            stack.enter_context(patch.object(module, "write_jars", lambda *_: None))
        yield


def doubts_for_ever() -> Plant:
    """A successful check confirms the cookies from before it."""

    def wrong(self: Renewal, *, at_once: bool = False) -> None:
        self._set(cookies.turned(self.current))

    return patch.object(Renewal, "confirm", wrong)


def pictures_of_the_side_before() -> Plant:
    """A change is stored with the picture of the check before."""
    last = dict[SourceId, Any]()

    def wrong(source: Any, fetched: Any, reading: Any, drafts: Any, at: Millis) -> Picture | None:
        before = last.get(source.id, fetched)
        last[source.id] = fetched
        return screenshot_to_store(source, before, reading, drafts, at)

    return patch.object(polling, "screenshot_to_store", wrong)


def pictures_outlive_their_events() -> Plant:
    """Retention deletes the event, and leaves its picture."""
    right = Pictures.prune

    async def wrong(self: Pictures, before: Millis, floor: Any, room: int, limit: int) -> int:
        return await right(self, before, type(floor)(0), room, limit)

    return patch.object(Pictures, "prune", wrong)


@contextmanager
def picks_are_compared_with_the_whole() -> Iterator[None]:
    """A page's memory is compared with the part that a user has picked since."""
    with patch.object(polling, "part_mark", lambda source: b""), patch.object(service, "OTHER_PART", b""):
        yield


def what_is_alone_is_watched_with_the_rest() -> Plant:
    """A page with one picked part is read as a whole."""
    right = PageReader.read

    async def wrong(self: PageReader, jail: Any, check: BodyCheck) -> Any:
        return await right(self, jail, check._replace(source=replace(check.source, selector=None)))

    return patch.object(PageReader, "read", wrong)


def picks_are_for_show() -> Plant:
    """Ignored parts are hidden from the user, but not from the checks."""
    right = PageReader.read

    async def wrong(self: PageReader, jail: Any, check: BodyCheck) -> Any:
        return await right(self, jail, check._replace(source=replace(check.source, ignore=())))

    return patch.object(PageReader, "read", wrong)
