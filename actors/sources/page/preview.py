"""The preview of watching a page."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from actors.content.messages.readings import selector_kind
from actors.content.messages.requests import Fault, PagePreviewAnswer, PageRequest, SelectorsRequest
from actors.egress.failures import LookFailed, ReadingStopped
from actors.egress.http import FetchedResponse
from actors.errors import Unprocessable
from actors.messages.requests import DetectRequest
from actors.previews import PagePreview, Preview
from actors.sources.detection.classify import Classification, refused
from actors.sources.looks.pace import pace_of
from actors.sources.looks.reading import body_hints, in_jail, page_patience
from actors.sources.ports import Ports


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The wanted part of a page: the matches of `selector` (None: all of it), without those of `ignore`."""

    selector: str | None = None
    ignore: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.selector is not None or bool(self.ignore)


async def check_selectors(ports: Ports, part: Narrowing) -> None:
    """Raise Unprocessable at the first invalid selector, with the position of the fault."""
    if not part:
        return
    request = msgspec.msgpack.encode(SelectorsRequest(part.selector, part.ignore))
    try:
        answer = await in_jail(ports.world.jail, "selectors", request)
    except LookFailed as failure:
        raise Unprocessable(f"the selectors can't be read: {failure.reason}", "body.selector") from None
    for fault in msgspec.msgpack.decode(answer, type=list[Fault])[:1]:
        where = "body.selector" if fault.index is None else f"body.ignore[{fault.index}]"
        raise Unprocessable(fault.reason, where, part.selector if fault.index is None else part.ignore[fault.index])


async def check_css(ports: Ports, selector: str, where: str) -> None:
    """Raise Unprocessable unless a selector is CSS, for browsers."""
    if selector_kind(selector) != "css":
        raise Unprocessable(f"{selector!r} is no CSS: a browser waits for a CSS selector", where, selector)
    try:
        await check_selectors(ports, Narrowing(selector))
    except Unprocessable as error:
        raise Unprocessable(error.detail, where, selector) from None


async def preview_page(ports: Ports, fetched: FetchedResponse, part: Narrowing) -> PagePreview:
    """Return the watched content of a page. Raises Unprocessable: a wall, too slow a selector."""
    request = PageRequest(fetched.body, fetched.content_type, fetched.url, part.selector, part.ignore)
    try:
        deadline = page_patience(ports.settings.parse_deadline, fetched.body)
        answer = await in_jail(ports.world.jail, "preview_page", msgspec.msgpack.encode(request), deadline=deadline)
    except LookFailed as failure:
        if part and isinstance(failure, ReadingStopped) and failure.too_slow:  # most likely due to the selectors
            says = "applying the selectors to this page takes too long: write simpler ones"
            raise Unprocessable(says, _blamed(part)) from None
        raise refused(failure, fetched.url) from None
    answered = msgspec.msgpack.decode(answer, type=PagePreviewAnswer)
    found = answered.page
    if found is None:
        raise Unprocessable(answered.no_parts, _blamed(part))
    if found.trouble is not None:
        raise Unprocessable(f"this is not the page itself: {found.trouble}", "body.url", fetched.url)
    return found


def nothing_chosen(page: PagePreview, selector: str | None) -> str:
    """Return a sentence if a selector matches nothing now, else ""."""
    if page.matched != 0:
        return ""
    has = f"; the page has {', '.join(page.has)}" if page.has else ""
    return f"the selector {selector!r} matches nothing now{has}"


def _blamed(part: Narrowing) -> str:
    return "body.selector" if part.selector is not None else "body.ignore"


async def preview(ports: Ports, found: Classification, asked: DetectRequest) -> Preview:
    """Return the preview of a classified page. Raises Unprocessable, Overloaded."""
    assert found.fetched is not None, "a page was fetched"
    page = await preview_page(ports, found.fetched, Narrowing(asked.selector, asked.ignore))
    rendered = found.fetched.rendered is not None
    pace = pace_of(ports, found.at, body_hints(found.fetched), (), rendered=rendered)
    return Preview(found.at, page=page, pace=pace, robots=found.robots, rendering=found.rendering)
